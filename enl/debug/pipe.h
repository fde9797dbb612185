/* SPDX-License-Identifier: MIT */
/* Bytes between this process's 0 and 1 and a debugger, until one of both ends. */
#ifndef ENL_PIPE_H
#define ENL_PIPE_H

#include <stdbool.h>

/* To a debugger on another host the size of its terminal goes along with what is typed: 0xff 1 and two 16-bit numbers,
 * rows and columns, most significant byte first. A byte 0xff that was typed is sent twice. */
enum enl_pipe_marks {
    ENL_PIPE_PLAIN,
    ENL_PIPE_MARKS, /* they are put in: `fd` leads to a relay's helper */
    ENL_PIPE_MARKED /* they are taken out of what comes from 0: this is the helper, and `fd` the pty */
};

/* `daemon` is the connection by which `fd` came: its end is the end. A debugger at a terminal (`terminal`) is told of
 * the end of 0 as by a person, unless 0 is the terminal, which has hung up then; and of changes of its size. */
void enl_pipe(int fd, int daemon, bool terminal, enum enl_pipe_marks marks);

#endif
