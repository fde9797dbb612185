/* SPDX-License-Identifier: MIT */
/* Cells with handlers that say which cell they were called for, and puts by both CCEs. */
#ifndef BCR_TEST_HANDLER_CALLS_H
#define BCR_TEST_HANDLER_CALLS_H

#include "cce.h"
#include "told.h"

static inline void tell(int cell)
{
    say("%d ", cell);
}

static inline void put_here(int cell, int value)
{
    CHECK_INT(bcr_enq(number(value), bcr_cce, cell, bcr_FREE), 0);
}

static inline void put_there(int cell, int value)
{
    as(two);
    CHECK_INT(bcr_enq(number(value), one_of_two, cell, bcr_FREE), 0);
    as(one);
}

static inline void start(int cells)
{
    begin();
    CHECK_INT(grow(cells, 1000, 1 << 20), 1);
}

#endif
