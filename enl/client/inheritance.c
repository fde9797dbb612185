/* SPDX-License-Identifier: MIT */
/* inheritance.c -- what exec keeps of the process that becomes enl, and enl must not have. execve(2) has the list:
 *
 *   interval timers, the alarm     stopped, and go on in the root, which fork would have left without them
 *   signals ignored                those that ask the program to end or stop, as by nohup, stay so: enl does not act on
 *                                  them. Those that may stray are ignored, also by enl; others have their default action
 *   signals blocked, pending       none, but for those that ask the program to end or stop and are pending: enl finds
 *                                  them. One that comes before enl has begun ends the process, and so the program
 *   LD_PRELOAD, LD_AUDIT           kept for the CCEs under another name: a profiler would write two processes' figures into one
 *                                  file. Ends with exec: handlers, the alternate stack, POSIX timers, memory locks
 *   descriptors                    enl closes those above 2. So it holds no record lock (fcntl) of the process
 *   SIGIO and the like             go to the process that has set them up, which is enl: it ignores them
 *   parent-death signal            stays: whoever started the program so wants it to end
 *   limits, umask, directory, nice value, scheduling, affinity, memory policy, timer slack, namespaces, capabilities,
 *   seccomp, no_new_privs          stay: CCEs get them from enl. Of limits enl raises that of open files, for itself, and
 *                                  ignores SIGXFSZ and SIGXCPU
 *
 * It must work with any enl, and with a script that executes one, so nothing here relies on enl but for the variables. */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "bcri/client.h"
#include "bcri/environment.h"
#include "bcri/signal_sets.h"

static const int kinds[BCRI_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

void bcri_client_stop_timers(struct itimerval timers_out[BCRI_TIMERS])
{
    const struct itimerval none = {.it_value = {0}};
    for (int i = 0; i < BCRI_TIMERS; i++)
        if (setitimer((__itimer_which_t)kinds[i], &none, &timers_out[i]) != 0)
            timers_out[i] = none;
}

void bcri_client_go_on_with_timers(const struct itimerval timers[BCRI_TIMERS])
{
    for (int i = 0; i < BCRI_TIMERS; i++)
        setitimer((__itimer_which_t)kinds[i], &timers[i], NULL);
}

static bool is_ignored(int signal)
{
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* To ignore a signal discards what is pending of it. */
static void leave_signals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, end = {.sa_handler = SIG_DFL};
    sigset_t pending, stay;
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        const bool asks = bcri_signal_asks(signal);
        if (!asks)
            sigaction(signal, &ignore, NULL);
        if (asks ? !is_ignored(signal) : !bcri_signal_strays(signal))
            sigaction(signal, &end, NULL);
    }
    sigemptyset(&stay);
    sigpending(&pending);
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        if (bcri_signal_asks(signal) && sigismember(&pending, signal) == 1)
            sigaddset(&stay, signal);
    sigprocmask(SIG_SETMASK, &stay, NULL);
}

void bcri_client_leave_all(void)
{
    static const char *const variables[] = BCRI_KEPT_VARIABLES;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *name = variables[i], *value = getenv(name + strlen(BCRI_KEPT_PREFIX));
        if (value != NULL && setenv(name, value, 1) == 0)
            unsetenv(name + strlen(BCRI_KEPT_PREFIX));
    }
    leave_signals();
}
