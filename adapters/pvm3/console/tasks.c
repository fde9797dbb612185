/* SPDX-License-Identifier: MIT */
/* tasks.c -- commands about tasks. */
#include <signal.h>
#include <string.h>

#include <pvm3.h>

#include "console.h"
#include "machine.h"

bool command_id(int count, char **words)
{
    (void)count, (void)words;
    printf("t%x\n", (unsigned)pvm_mytid());
    return true;
}

bool command_ps(int count, char **words)
{
    int tasks;
    struct pvmtaskinfo *task;
    const bool all = count == 2 && strcmp(words[1], "-a") == 0;
    if (count == 2 && !all)
        return complain("usage: ps [-a]");
    if (pvm_tasks(0, &tasks, &task) < 0)
        return complain("ps: %s", pvm_strerror());
    printf("%24s %8s %8s %8s  COMMAND\n", "HOST", "TID", "PTID", "PID");
    for (int i = 0; i < tasks; i++)
        if (all || task[i].ti_tid != pvm_mytid())
            printf("%24s %8x %8x %8d  %s\n", host_name(task[i].ti_host), (unsigned)task[i].ti_tid,
                   (unsigned)task[i].ti_ptid, task[i].ti_pid,
                   task[i].ti_tid == pvm_mytid() ? "-" : task[i].ti_a_out);
    return true;
}

/* Does that to each task that the words name. */
static bool to_each(const char *name, int count, char **words, int signal)
{
    bool is_well = true;
    for (int i = 0; i < count; i++) {
        int tid;
        if (!word_tid(words[i], &tid))
            is_well = complain("%s: \"%s\" is no tid", name, words[i]);
        else if ((signal == 0 ? pvm_kill(tid) : pvm_sendsig(tid, signal)) < 0)
            is_well = complain("%s: %s: %s", name, words[i], pvm_strerror());
    }
    return is_well;
}

bool command_kill(int count, char **words)
{
    return to_each("kill", count - 1, words + 1, 0);
}

bool command_sig(int count, char **words)
{
    int signal;
    if (!word_number(words[1], 10, &signal) || signal < 1)
        return complain("sig: \"%s\" is no signal's number", words[1]);
    return to_each("sig", count - 2, words + 2, signal);
}

bool command_pstat(int count, char **words)
{
    bool is_well = true;
    for (int i = 1; i < count; i++) {
        int tid;
        if (!word_tid(words[i], &tid)) {
            is_well = complain("pstat: \"%s\" is no tid", words[i]);
            continue;
        }
        const int code = pvm_pstat(tid);
        if (code == PvmOk || code == PvmNoTask)
            printf("%8x %s\n", (unsigned)tid, code == PvmOk ? "ok" : "no such task");
        else
            (void)complain("pstat: %s: %s", words[i], pvm_strerror());
        is_well = is_well && code == PvmOk;
    }
    return is_well;
}

bool command_reset(int count, char **words)
{
    (void)count, (void)words;
    return pvmi_end_others(true) == PvmOk || complain("reset: %s", pvm_strerror());
}

bool command_halt(int count, char **words)
{
    (void)count, (void)words;
    (void)signal(SIGTERM, SIG_IGN); /* which the caller gets, too */
    is_done = true;
    (void)fflush(stdout);
    return pvm_halt() == PvmOk || complain("halt: %s", pvm_strerror());
}
