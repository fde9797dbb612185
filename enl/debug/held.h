/* SPDX-License-Identifier: MIT */
/* enl --held DEBUGGER ... -p PROGRAM ARGUMENTS: a program that waits until a debugger has attached to it. */
#ifndef ENL_HELD_H
#define ENL_HELD_H

/* Makes the process that becomes PROGRAM, and becomes DEBUGGER ... -p PID. Returns the exit status of a failure. */
int enl_held(char **argv);

#endif
