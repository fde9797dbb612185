/* SPDX-License-Identifier: MIT */
/* pvm_spawns.c -- scenarios of tasks that start others, and are told of their ends. */
#include <signal.h>
#include <unistd.h>

#include "pvm_members.h"

enum { REPORT = 1, END = 2, CHILDREN = 5 };

/* A spawned task: what it is told to be. */
void spawned(void)
{
    char folder[4096];
    pvm_setopt(PvmAutoErr, 0);
    const int parent = pvm_parent();
    if (number == 1) { /* it is not told of its parent */
        IS(parent, PvmParentNotSet);
        return;
    }
    MUST(parent > 0);
    if (number == 3) /* it tells of its daemon */
        IS(pvm_packf("%+ %d", PvmDataDefault, (int)getppid()) < 0 ? -1 : pvm_send(parent, 3), PvmOk);
    if (number > 1)
        for (;;)
            pause();
    const char *word = getenv("PVM_TEST_WORD");
    MUST(getcwd(folder, sizeof folder) != NULL);
    IS(pvm_packf("%+ %d %d %*d %d %s %s", PvmDataDefault, self, count, count, tids, pvm_getcontext(),
                 word == NULL ? "none" : word, folder),
       PvmOk);
    IS(pvm_send(parent, REPORT), PvmOk);
    MUST(pvm_recv(parent, END) > 0);
}

/* Reads what a child has sent, and ends it. */
static void read_report(const int *children, int many, int context, const char *word, const char *folder)
{
    int tid, place, its_count, its_tids[CHILDREN], its_context;
    char its_word[100], its_folder[4096];
    IS(pvm_bufinfo(pvm_recv(-1, REPORT), NULL, NULL, &tid), PvmOk);
    IS(pvm_unpackf("%d %d", &place, &its_count), PvmOk);
    IS(its_count, many);
    IS(pvm_unpackf("%*d %d %s %s", many, its_tids, &its_context, its_word, its_folder), PvmOk);
    for (int i = 0; i < many; i++)
        IS(its_tids[i], children[i]);
    IS(tid, children[place]);
    IS(its_context, context);
    MUST(strcmp(its_word, word) == 0 && (folder == NULL || strcmp(its_folder, folder) == 0));
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_send(tid, END), PvmOk);
}

static void wait_for_end(int tid)
{
    while (pvm_pstat(tid) == PvmOk)
        usleep(2000);
    FAILS(pvm_pstat(tid), PvmNoTask);
}

void spawns(void)
{
    char *arguments[] = {"spawned", "0", NULL}, *waiting[] = {"spawned", "2", NULL};
    char *hidden[] = {"spawned", "1", NULL};
    int children[CHILDREN], many;
    struct pvmtaskinfo *tasks;
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_parent(), PvmNoParent);
    IS(pvm_siblings(NULL), 1);
    unsetenv("PVM_EXPORT");
    setenv("PVM_TEST_WORD", "a word", 1);
    IS(pvm_spawn(me, arguments, PvmTaskDefault, NULL, CHILDREN, children), CHILDREN);
    IS(pvm_tasks(0, &many, &tasks), PvmOk);
    IS(many, CHILDREN + 1);
    MUST(tasks[0].ti_tid == tids[0] && tasks[0].ti_ptid == 0);
    for (int i = 0; i < CHILDREN; i++) {
        IS(tasks[i + 1].ti_tid, children[i]);
        IS(tasks[i + 1].ti_ptid, tids[0]);
        MUST(strcmp(tasks[i + 1].ti_a_out, "pvm_members") == 0);
    }
    for (int i = 0; i < CHILDREN; i++)
        read_report(children, CHILDREN, 0, "none", NULL);
    /* With exported variables, in another context and directory. */
    IS(pvm_export("PVM_TEST_WORD"), PvmOk);
    IS(pvm_export("PVM_TEST_OTHER"), PvmOk); /* which is not set */
    IS(pvm_setcontext(77), 0);
    IS(pvm_spawn(me, arguments, PvmTaskDefault, ":/", 1, children), 1);
    read_report(children, 1, 77, "a word", "/");
    IS(pvm_setcontext(0), 77);
    IS(pvm_spawn(me, arguments, PvmTaskHost, ".:/", 2, NULL), 2);
    for (int i = 0; i < 2; i++) {
        int tid;
        IS(pvm_bufinfo(pvm_recv(-1, REPORT), NULL, NULL, &tid), PvmOk);
        IS(pvm_send(tid, END), PvmOk);
    }
    IS(pvm_spawn(me, hidden, PvmNoSpawnParent, NULL, 1, children), 1);
    wait_for_end(children[0]);

    /* Signals. */
    IS(pvm_spawn(me, waiting, PvmTaskDefault, NULL, 2, children), 2);
    IS(pvm_pstat(children[0]), PvmOk);
    IS(pvm_sendsig(children[0], 0), PvmOk);
    IS(pvm_kill(children[0]), PvmOk);
    wait_for_end(children[0]);
    FAILS(pvm_kill(children[0]), PvmNoTask);
    IS(pvm_pstat(children[1]), PvmOk);
    IS(pvm_sendsig(children[1], SIGKILL), PvmOk);
    wait_for_end(children[1]);
    FAILS(pvm_kill(tids[0]), PvmBadParam);
    FAILS(pvm_kill(12), PvmBadParam);
    FAILS(pvm_sendsig(0x40000 + 5000, SIGTERM), PvmBadParam);
    FAILS(pvm_sendsig(children[0], -1), PvmBadParam);
}

void places(void)
{
    char *waiting[] = {"spawned", "2", NULL};
    struct pvmhostinfo *hosts;
    struct pvmtaskinfo *tasks;
    int children[CHILDREN], count_of_hosts, many;
    char name[300], arch[40];
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_config(&count_of_hosts, NULL, &hosts), PvmOk);
    IS(count_of_hosts, number == 0 ? 1 : number);
    const int here = pvm_tidtohost(tids[0]);
    snprintf(name, sizeof name, "%s", hosts[count_of_hosts - 1].hi_name);
    snprintf(arch, sizeof arch, "%s", hosts[0].hi_arch);
    const int last = hosts[count_of_hosts - 1].hi_tid;
    IS(pvm_spawn(me, waiting, PvmTaskHost, name, 2, children), 2);
    for (int i = 0; i < 2; i++) {
        IS(pvm_tidtohost(children[i]), last);
        IS(pvm_kill(children[i]), PvmOk);
        wait_for_end(children[i]);
    }
    IS(pvm_spawn(me, waiting, PvmTaskHost, ".", 1, children), 1);
    IS(pvm_tidtohost(children[0]), here);
    IS(pvm_kill(children[0]), PvmOk);
    if (count_of_hosts > 1) {
        IS(pvm_spawn(me, waiting, PvmTaskHost | PvmHostCompl, ".", CHILDREN, children), CHILDREN);
        for (int i = 0; i < CHILDREN; i++) {
            MUST(pvm_tidtohost(children[i]) != here);
            IS(pvm_kill(children[i]), PvmOk);
        }
        IS(pvm_tasks(last, &many, &tasks), PvmOk);
    } else {
        FAILS(pvm_spawn(me, waiting, PvmTaskHost | PvmHostCompl, ".", 1, children), PvmNoHost);
    }
    IS(pvm_spawn(me, waiting, PvmTaskArch, arch, 3, children), 3);
    for (int i = 0; i < 3; i++)
        IS(pvm_kill(children[i]), PvmOk);
    FAILS(pvm_spawn(me, waiting, PvmTaskArch, "CRAY", 1, children), PvmNoHost);
    FAILS(pvm_spawn(me, waiting, PvmTaskArch | PvmHostCompl, arch, 1, children), PvmNoHost);
    FAILS(pvm_spawn(me, waiting, PvmTaskHost, "nowhere", 1, children), PvmNoHost);
    /* What is no program is told for each. */
    IS(pvm_spawn("/no/such/program", NULL, PvmTaskDefault, NULL, 3, children), 0);
    for (int i = 0; i < 3; i++)
        IS(children[i], PvmNoFile);
    unsetenv("PVM_ROOT");
    FAILS(pvm_spawn(me, waiting, PvmTaskDebug, NULL, 1, children), PvmNoFile);
    FAILS(pvm_spawn(NULL, NULL, 0, NULL, 1, children), PvmBadParam);
    FAILS(pvm_spawn("", NULL, 0, NULL, 1, children), PvmBadParam);
    FAILS(pvm_spawn(me, waiting, 0, NULL, 0, children), PvmBadParam);
    FAILS(pvm_spawn(me, waiting, -1, NULL, 1, children), PvmBadParam);
    FAILS(pvm_spawn(me, waiting, 128, NULL, 1, children), PvmBadParam);
    FAILS(pvm_spawn(me, waiting, PvmTaskHost, NULL, 1, children), PvmBadParam);
    FAILS(pvm_spawn(me, waiting, PvmTaskArch, ":/", 1, children), PvmBadParam);
    /* A debugger is a program in PVM_ROOT/lib, which gets the task's name and arguments. */
    setenv("PVM_ROOT", "folder", 1);
    IS(pvm_spawn(me, waiting, PvmTaskDebug, NULL, 1, children), 0);
    IS(children[0], PvmNoFile);
}

static void must_tell(int tag, int tid)
{
    MUST(pvm_recv(-1, tag) > 0);
    IS(next_int(), tid);
}

void notices(void)
{
    char *waiting[] = {"spawned", "2", NULL};
    int children[3], ended;
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_spawn(me, waiting, PvmTaskDefault, NULL, 3, children), 3);
    IS(pvm_notify(PvmTaskExit, 40, 3, children), PvmOk);
    IS(pvm_notify(PvmTaskExit, 41, 1, children), PvmOk); /* twice for the first one */
    IS(pvm_nrecv(-1, -1), 0);
    IS(pvm_kill(children[1]), PvmOk);
    must_tell(40, children[1]);
    IS(pvm_nrecv(-1, -1), 0);
    /* In the context in which it was asked for; a wait for anything else goes on meanwhile. */
    (void)pvm_setcontext(9);
    IS(pvm_notify(PvmTaskExit, 42, 1, &children[0]), PvmOk);
    (void)pvm_setcontext(0);
    IS(pvm_sendsig(children[0], SIGKILL), PvmOk);
    must_tell(41, children[0]);
    must_tell(40, children[0]);
    IS(pvm_nrecv(-1, -1), 0);
    (void)pvm_setcontext(9);
    must_tell(42, children[0]);
    (void)pvm_setcontext(0);
    /* Of one that has ended. */
    ended = children[0];
    IS(pvm_notify(PvmTaskExit, 43, 1, &ended), PvmOk);
    must_tell(43, ended);
    /* Cancelled: it is told now, and then no more. */
    IS(pvm_notify(PvmTaskExit | PvmNotifyCancel, 40, 1, &children[2]), PvmOk);
    MUST(pvm_nrecv(-1, 40) > 0);
    IS(next_int(), children[2]);
    IS(pvm_notify(PvmTaskExit | PvmNotifyCancel, 40, 1, &children[2]), PvmOk);
    IS(pvm_nrecv(-1, 40), 0);
    IS(pvm_notify(PvmTaskExit, 44, 1, &children[2]), PvmOk);
    IS(pvm_kill(children[2]), PvmOk);
    must_tell(44, children[2]);
    IS(pvm_nrecv(-1, -1), 0);

    FAILS(pvm_notify(0, 1, 1, children), PvmBadParam);
    FAILS(pvm_notify(6, 1, 1, children), PvmBadParam);
    FAILS(pvm_notify(PvmTaskExit, -1, 1, children), PvmBadParam);
    FAILS(pvm_notify(PvmTaskExit, 1, 0, children), PvmBadParam);
    FAILS(pvm_notify(PvmTaskExit, 1, 1, NULL), PvmBadParam);
    FAILS(pvm_notify(PvmTaskExit, 1, 1, tids), PvmBadParam);
    ended = 0x40000 + 5000;
    FAILS(pvm_notify(PvmTaskExit, 1, 1, &ended), PvmBadParam);
}

/* The last of a team ends all, and is not ended itself if it ignores the signal. */
void halts(void)
{
    if (self != count - 1) {
        send_int(count - 1, 1, 0);
        for (;;)
            pause();
    }
    for (int i = 0; i < count - 1; i++)
        MUST(pvm_recv(tids[i], 1) > 0);
    signal(SIGTERM, SIG_IGN);
    IS(pvm_halt(), PvmOk);
    printf("still here\n");
}
