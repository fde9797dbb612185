/* SPDX-License-Identifier: MIT */
/* The local variables of a crashed thread's functions, by gdb, if that was asked for (enl -g). */
#ifndef ENL_CRASH_LOCALS_H
#define ENL_CRASH_LOCALS_H

#include <sys/types.h>

/* Prints the frames of `thread` of process `pid` above its signal handler, each with its variables; or why there
 * are none. May take seconds. */
void enl_locals_print(pid_t pid, pid_t thread);

#endif
