/* SPDX-License-Identifier: MIT */
/* What is told of a program that does not come on. */
#ifndef CHAOS_HANG_H
#define CHAOS_HANG_H

#include <sys/types.h>

#include "board.h"

/* Prints what each CCE does, who enl says is there, and, where gdb is installed, where each
 * stands. */
void hang_tell(const struct chaos_board *board, pid_t daemon, const char *enl);

#endif
