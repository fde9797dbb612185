/* SPDX-License-Identifier: MIT */
/* Kinds of signals, for the process that becomes enl, and for enl. */
#ifndef BCRI_SIGNAL_SETS_H
#define BCRI_SIGNAL_SETS_H

#include <signal.h>
#include <stdbool.h>

/* A terminal or a person asks the program by it to end, to stop or to go on. enl acts on it, unless it was ignored when
 * enl started. */
static inline bool bcri_signal_asks(int signal)
{
    return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM ||
           signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU || signal == SIGCONT;
}

/* It would end enl, to which it means nothing: a timer's, or one by which the kernel tells of a file, whose owner is the
 * process that set it up, and has become enl since. */
static inline bool bcri_signal_strays(int signal)
{
    return signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF || signal == SIGIO ||
           signal == SIGUSR1 || signal == SIGUSR2 || signal >= SIGRTMIN;
}

#endif
