/* SPDX-License-Identifier: MIT */
/* A cell whose handler waits, and another cell for what it waits for. */
#ifndef BCR_TEST_BLOCKING_H
#define BCR_TEST_BLOCKING_H

#include "bcri/self.h"
#include "cce.h"
#include "told.h"

enum { HOME = 1, DATA = 2 };

static inline void request(int cell)
{
    struct bcri_ctx *self = bcri_self();
    as(two);
    CHECK_INT(bcr_enq(number(cell), one_of_two, cell, bcr_FREE), 0);
    as(self);
}

static inline void start(int cells, int nrgns, int nbytes, void (*handler)(int))
{
    begin();
    CHECK_INT(grow(cells, nrgns, nbytes), HOME);
    CHECK_INT(bcr_handler(HOME, handler, 1, 0, 0), 0);
}

static inline void put(int cell, int value)
{
    CHECK_INT(bcr_enq(number(value), bcr_cce, cell, bcr_FREE), 0);
}

#endif
