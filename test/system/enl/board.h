/* SPDX-License-Identifier: MIT */
/* What test_stops and its CCEs see of each other: a file that all map. */
#ifndef SYS_BOARD_H
#define SYS_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BOARD_CCES = 5 };

struct board_place {
    atomic_int pid; /* 0: not yet */
    atomic_uint calls;
    atomic_bool rests;
};

struct board {
    uint64_t seed;
    atomic_bool over;
    struct board_place place[BOARD_CCES];
};

#endif
