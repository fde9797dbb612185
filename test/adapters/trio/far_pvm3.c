/* SPDX-License-Identifier: MIT */
/* far_pvm3.c -- far_pvm3 HOST LINE: a PVM program that adds HOST, by a line as pvm_addhosts takes it, to the
 * hosts that it has, spawns a task on each, talks to them, and loses them in each way: killed, with its host, and
 * by their own end. It is told of all that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvm3.h>

enum { WORK = 1, RESULT = 2, END = 3, ADDED = 20, EXITED = 21, DELETED = 22, MOST = 16, ITEMS = 20000 };

#define MUST(condition)                                                                           \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "far_pvm3: line %d: not %s (%d)\n", __LINE__, #condition, pvm_errno); \
            exit(3);                                                                              \
        }                                                                                         \
    } while (0)

static double items[ITEMS];

/* A spawned task: adds up what it gets, until it is told to end. */
static void work(int parent)
{
    MUST(pvm_recv(parent, WORK) > 0 && pvm_upkdouble(items, ITEMS, 1) == PvmOk);
    double sum = 0;
    for (int i = 0; i < ITEMS; i++)
        sum += items[i];
    MUST(pvm_initsend(PvmDataDefault) >= 0 && pvm_pkdouble(&sum, 1, 1) == PvmOk);
    MUST(pvm_send(parent, RESULT) == PvmOk && pvm_recv(parent, END) > 0);
    pvm_exit();
}

/* The next notice with that tag is of that host or task. */
static void must_be_told(int tag, int of)
{
    int number, many = 1;
    MUST(pvm_recv(-1, tag) > 0);
    if (tag == ADDED)
        MUST(pvm_upkint(&many, 1, 1) == PvmOk && many == 1);
    MUST(pvm_upkint(&number, 1, 1) == PvmOk && number == of);
}

static void must_compute(int *tasks, int count)
{
    double wanted = 0, sum;
    for (int i = 0; i < ITEMS; i++)
        wanted += items[i] = i * 0.25;
    MUST(pvm_initsend(PvmDataDefault) >= 0 && pvm_pkdouble(items, ITEMS, 1) == PvmOk);
    MUST(pvm_mcast(tasks, count, WORK) == PvmOk);
    for (int i = 0; i < count; i++)
        MUST(pvm_recv(tasks[i], RESULT) > 0 && pvm_upkdouble(&sum, 1, 1) == PvmOk && sum == wanted);
}

static int add(char *line, const char *name, struct pvmhostinfo **hosts)
{
    int before, count, added = 0, place = 0;
    MUST(pvm_config(&before, NULL, NULL) == PvmOk && before > 2);
    MUST(pvm_notify(PvmHostAdd, ADDED, -1, NULL) == PvmOk);
    MUST(pvm_addhosts(&line, 1, &added) == 1 && added > 0);
    must_be_told(ADDED, added);
    MUST(pvm_config(&count, NULL, hosts) == PvmOk && count == before + 1 && count < MOST);
    while (place < count && (*hosts)[place].hi_tid != added)
        place++;
    MUST(place < count && strcmp((*hosts)[place].hi_name, name) == 0);
    return count;
}

int main(int argc, char **argv)
{
    int tasks[MOST], doomed = -1, own = -1;
    struct pvmhostinfo *hosts;
    pvm_setopt(PvmAutoErr, 0);
    MUST(pvm_mytid() > 0);
    if (pvm_parent() > 0) {
        work(pvm_parent());
        return 0;
    }
    if (argc != 3)
        return 2;
    const int count = add(argv[2], argv[1], &hosts);
    for (int i = 0; i < count; i++) {
        MUST(pvm_spawn(argv[0], NULL, PvmTaskHost, hosts[i].hi_name, 1, &tasks[i]) == 1);
        MUST(pvm_tidtohost(tasks[i]) == hosts[i].hi_tid);
        if (strcmp(hosts[i].hi_name, argv[1]) == 0)
            doomed = i;
        if (hosts[i].hi_tid == pvm_tidtohost(pvm_mytid()))
            own = i;
    }
    MUST(doomed >= 0 && own >= 0 && doomed != own);
    must_compute(tasks, count);
    MUST(pvm_notify(PvmTaskExit, EXITED, count, tasks) == PvmOk);
    MUST(pvm_notify(PvmHostDelete, DELETED, 1, &hosts[doomed].hi_tid) == PvmOk);
    int killed = 0;
    while (killed == own || killed == doomed)
        killed++;
    MUST(pvm_kill(tasks[killed]) == PvmOk);
    must_be_told(EXITED, tasks[killed]);
    const int lost = hosts[doomed].hi_tid;
    int info = 1;
    MUST(pvm_delhosts(&argv[1], 1, &info) == 1 && info == PvmOk);
    must_be_told(DELETED, lost);
    must_be_told(EXITED, tasks[doomed]);
    MUST(pvm_initsend(PvmDataDefault) >= 0);
    for (int i = 0; i < count; i++)
        if (i != killed && i != doomed) {
            MUST(pvm_send(tasks[i], END) == PvmOk);
            must_be_told(EXITED, tasks[i]);
        }
    printf("%d hosts, %d ends\n", count, count);
    pvm_exit();
    return 0;
}
