/* SPDX-License-Identifier: MIT */
/* pvm_tasks.c -- scenarios of tasks, hosts, options and errors. */
#include <poll.h>
#include <unistd.h>

#include "pvm_members.h"

/* What each knows of all; number is on how many hosts they are, at least. */
void machine(void)
{
    int hosts, kinds, many;
    struct pvmhostinfo *host;
    struct pvmtaskinfo *task;
    struct timeval clock, delta;
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_mytid(), tids[self]);
    for (int i = 0; i < count; i++)
        MUST(tids[i] > 0x40000 && tids[i] < 0x80000);
    FAILS(pvm_parent(), PvmNoParent);
    IS(pvm_siblings(NULL), count);
    IS(pvm_config(&hosts, &kinds, &host), PvmOk);
    MUST(hosts >= number);
    MUST(kinds == 1 && host[0].hi_speed == 1000 && host[0].hi_name[0] != '\0');
    MUST(strncmp(host[0].hi_arch, "LINUX", 5) == 0);
    IS(pvm_archcode(host[0].hi_arch), host[0].hi_dsig);
    MUST(host[0].hi_dsig > 0);
    FAILS(pvm_archcode("CRAY"), PvmNotFound);
    FAILS(pvm_archcode(""), PvmBadParam);
    FAILS(pvm_archcode(NULL), PvmBadParam);
    IS(pvm_config(NULL, NULL, NULL), PvmOk);

    int there = 0;
    for (int i = 0; i < hosts; i++) {
        IS(pvm_tasks(host[i].hi_tid, &many, &task), PvmOk);
        for (int k = 0; k < many; k++)
            MUST(task[k].ti_host == host[i].hi_tid && pvm_tidtohost(task[k].ti_tid) == host[i].hi_tid);
        there += many;
        for (int k = 0; k < i; k++)
            MUST(host[k].hi_tid != host[i].hi_tid);
    }
    IS(there, count);
    IS(pvm_tasks(0, &many, &task), PvmOk);
    IS(many, count);
    for (int i = 0; i < many; i++) {
        const int place = place_of(task[i].ti_tid);
        MUST(task[i].ti_ptid == 0 && task[i].ti_flag == 4 && task[i].ti_pid > 0 &&
             strcmp(task[i].ti_a_out, "pvm_members") == 0);
        MUST(place != self || task[i].ti_pid == (int)getpid());
    }
    IS(pvm_tasks(tids[count - 1], &many, &task), PvmOk);
    MUST(many == 1 && task[0].ti_tid == tids[count - 1]);
    IS(pvm_tasks(0, NULL, NULL), PvmOk);
    IS(pvm_tasks(0x40000 + 5000, &many, NULL), PvmOk);
    IS(many, 0);
    FAILS(pvm_tasks((hosts + 2) << 18, NULL, NULL), PvmNoHost);
    FAILS(pvm_tasks(-1, NULL, NULL), PvmBadParam);
    FAILS(pvm_tasks(17, NULL, NULL), PvmNoHost);
    FAILS(pvm_tidtohost(0x40000 + 5000), PvmBadParam);
    FAILS(pvm_tidtohost(-1), PvmBadParam);

    const int here = pvm_tidtohost(tids[self]);
    IS(pvm_mstat(host[0].hi_name), PvmOk);
    FAILS(pvm_mstat("nowhere"), PvmNoHost);
    FAILS(pvm_mstat(NULL), PvmBadParam);
    FAILS(pvm_start_pvmd(0, NULL, 0), PvmDupHost);
    IS(pvm_pstat(tids[count - 1]), PvmOk);
    FAILS(pvm_pstat(0x40000 + 5000), PvmNoTask);
    FAILS(pvm_pstat(3), PvmBadParam);
    IS(pvm_hostsync(here, &clock, &delta), PvmOk);
    MUST(clock.tv_sec > 1000000000 && delta.tv_sec == 0 && delta.tv_usec == 0);
    IS(pvm_hostsync(here, NULL, NULL), PvmOk);
    FAILS(pvm_hostsync(tids[0], NULL, NULL), PvmNoHost);
    for (int i = 0; i < hosts; i++)
        if (host[i].hi_tid != here)
            FAILS(pvm_hostsync(host[i].hi_tid, NULL, NULL), PvmNotImpl);
    all_meet();
}

static void must_export(const char *names)
{
    const char *list = getenv("PVM_EXPORT");
    MUST(list != NULL && strcmp(list, names) == 0);
}

void exported(void)
{
    pvm_setopt(PvmAutoErr, 0);
    unsetenv("PVM_EXPORT");
    IS(pvm_export("DISPLAY"), PvmOk);
    must_export("DISPLAY");
    IS(pvm_export("PATH"), PvmOk);
    IS(pvm_export("SHELL"), PvmOk);
    IS(pvm_export("PATH"), PvmOk);
    must_export("DISPLAY:SHELL:PATH");
    IS(pvm_unexport("SHELL"), PvmOk);
    IS(pvm_unexport("PAT"), PvmOk);
    must_export("DISPLAY:PATH");
    IS(pvm_unexport("DISPLAY"), PvmOk);
    IS(pvm_unexport("PATH"), PvmOk);
    must_export("");
    FAILS(pvm_export(""), PvmBadParam);
    FAILS(pvm_export(NULL), PvmBadParam);
    FAILS(pvm_export("A:B"), PvmBadParam);
    FAILS(pvm_unexport("A=B"), PvmBadParam);
}

/* What was sent before pvm_exit comes; the process goes on. */
void leaving(void)
{
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < count; i++)
        if (i != self)
            send_int(i, 5, self);
    for (int i = 0; i < count; i++)
        if (i != self) {
            MUST(pvm_recv(tids[i], 5) > 0);
            IS(next_int(), i);
        }
    IS(pvm_exit(), PvmOk);
    FAILS(pvm_mytid(), PvmSysErr);
    FAILS(pvm_exit(), PvmSysErr);
    FAILS(pvm_send(tids[0], 1), PvmSysErr);
    FAILS(pvm_recv(-1, -1), PvmSysErr);
    FAILS(pvm_initsend(PvmDataDefault), PvmSysErr);
    FAILS(pvm_config(NULL, NULL, NULL), PvmSysErr);
}

/* A program waits for messages by poll. */
void polls(void)
{
    const int next = (self + 1) % count;
    int *descriptors, got = 0;
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_getfds(NULL), PvmBadParam);
    IS(pvm_getfds(&descriptors), 1);
    if (self == 0)
        send_int(next, 1, 0);
    while (got < number) { /* a number goes round, and grows at task 0 */
        struct pollfd ready = {.fd = descriptors[0], .events = POLLIN};
        while (pvm_nrecv(-1, 1) > 0) {
            IS(next_int(), got);
            got++;
            if (self != 0)
                send_int(next, 1, got - 1);
            else if (got < number)
                send_int(next, 1, got);
        }
        if (got < number)
            MUST(poll(&ready, 1, -1) == 1);
    }
    all_meet();
}

void options(void)
{
    static const struct {
        int what, first, value, bad;
    } known[] = {
        {PvmRoute, PvmAllowDirect, PvmRouteDirect, 4},
        {PvmDebugMask, 0, 7, 0},
        {PvmAutoErr, 0, 0, 4},
        {PvmOutputTid, 0, 0, -1},
        {PvmOutputCode, 0, 4, -1},
        {PvmTraceTid, 0, 0, -1},
        {PvmTraceCode, 0, 4, -1},
        {PvmTraceBuffer, 0, 1000, -1},
        {PvmTraceOptions, PvmTraceFull, PvmTraceCount, 4},
        {PvmFragSize, 4080, 100000, 0},
        {PvmResvTids, 0, 1, 2},
        {PvmSelfOutputTid, 0, 0, -1},
        {PvmSelfOutputCode, 0, 4, -1},
        {PvmSelfTraceTid, 0, 0, -1},
        {PvmSelfTraceCode, 0, 4, -1},
        {PvmSelfTraceBuffer, 0, 1, -1},
        {PvmSelfTraceOptions, PvmTraceFull, PvmTraceTime, 0},
        {PvmShowTids, 1, 0, -1},
        {PvmPollType, PvmPollSleep, PvmPollConstant, 3},
        {PvmPollTime, 0, 100, -1},
        {PvmOutputContext, 0, 9, -1},
        {PvmTraceContext, 0, 9, -1},
        {PvmSelfOutputContext, 0, 9, -1},
        {PvmSelfTraceContext, 0, 9, -1},
        {PvmNoReset, 0, 1, 2},
    };
    IS(pvm_getopt(PvmAutoErr), 1);
    IS(pvm_setopt(PvmAutoErr, 0), 1);
    for (int i = 0; i < 25; i++) {
        const int what = known[i].what;
        IS(what, i + 1);
        IS(pvm_getopt(what), known[i].first);
        IS(pvm_setopt(what, known[i].value), known[i].first);
        if (what != PvmDebugMask)
            FAILS(pvm_setopt(what, known[i].bad), PvmBadParam);
        IS(pvm_getopt(what), known[i].value);
    }
    FAILS(pvm_getopt(0), PvmBadParam);
    FAILS(pvm_getopt(26), PvmBadParam);
    FAILS(pvm_setopt(0, 1), PvmBadParam);
    FAILS(pvm_setopt(26, 1), PvmBadParam);
    IS(pvm_setopt(PvmOutputTid, tids[self]), 0);
    IS(pvm_setopt(PvmOutputTid, 0), tids[self]);
    FAILS(pvm_setopt(PvmSelfOutputTid, tids[self]), PvmNotImpl);
    FAILS(pvm_setopt(PvmSelfTraceTid, tids[self]), PvmNotImpl);
    MUST(strcmp(pvm_version(), PVM_VER) == 0);
}

/* What has no other scenario. */
void mistakes(void)
{
    int one = 1, answers = -1;
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_reg_hoster(), PvmNotImpl);
    FAILS(pvm_reg_tasker(), PvmNotImpl);
    FAILS(pvm_reg_rm(NULL), PvmNotImpl);
    FAILS(pvm_reg_tracer(0, 0, 0, 0, "", 0, 0), PvmNotImpl);
    IS(pvm_tickle(1, &one, &answers, NULL), PvmOk);
    IS(answers, 0);
    IS(pvm_tickle(10, &one, NULL, NULL), PvmOk);
    FAILS(pvm_tickle(0, &one, &answers, NULL), PvmBadParam);
    FAILS(pvm_tickle(11, &one, &answers, NULL), PvmBadParam);
    FAILS(pvm_tickle(1, NULL, &answers, NULL), PvmBadParam);
}

/* What is said on stderr, as PvmAutoErr wants. */
void told(void)
{
    if (number > 1)
        pvm_setopt(PvmAutoErr, number);
    if (pvm_pkint(&number, 1, 1) != PvmNoBuf)
        _Exit(4);
    pvm_perror("first");
    pvm_setopt(PvmAutoErr, 0);
    (void)pvm_send(3, 1);
    fprintf(stderr, "%s\n", pvm_strerror());
    pvm_perror(NULL);
}
