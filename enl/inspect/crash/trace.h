/* SPDX-License-Identifier: MIT */
/* enl --trace: what the daemon runs to see where a CCE is (crash.h). It is a process of its own, since it
 * reads memory and debug information that may hold anything, and since no other process of BCR's then needs libdw.
 *
 * It writes a text to its stdout, for the daemon: the stack of the thread that has crashed, a NUL, then
 * the stacks of suspended handlers and of other threads. Each line is one frame or one heading. */
#ifndef ENL_TRACE_H
#define ENL_TRACE_H

#include <sys/types.h>

/* Prints the stacks of all threads of a process that runs, which it stops one after the other, each for that moment. To be
 * called once in a process. What is no stack, but is said of the process, is a line that begins with "! ". */
void enl_trace_running(pid_t pid);

/* enl --trace PID THREAD CONTEXT COROUTINES. Returns the exit status. */
int enl_trace(int argc, char **argv);

#endif
