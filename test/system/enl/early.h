/* SPDX-License-Identifier: MIT */
/* What test_early and its processes see of each other: a file that all map. */
#ifndef SYS_EARLY_H
#define SYS_EARLY_H

#include <stdatomic.h>
#include <stdint.h>

struct early_board {
    uint64_t seed;
    atomic_uint begun,
        through; /* processes that are about to call bcr_init, and that have come back from it */
};

#endif
