/* SPDX-License-Identifier: MIT */
/* macros.c -- the functions behind the macros of bcr.h, for callers that have no preprocessor (other languages)
 * and for pointers to them. A C program that calls one by name gets the macro, one call less. */
#include <bcr.h>

int(bcr_write)(bcr_region rgid, bcr_cce_id cce, int cell, int nofree)
{
    return bcr_put(0, rgid, cce, cell, nofree);
}

int(bcr_enq)(bcr_region rgid, bcr_cce_id cce, int cell, int nofree)
{
    return bcr_put(1, rgid, cce, cell, nofree);
}

int(bcr_writem)(bcr_region rgid, int ncells, const int *cells, int nofree)
{
    return bcr_putm(0, rgid, ncells, cells, nofree);
}

int(bcr_enqm)(bcr_region rgid, int ncells, const int *cells, int nofree)
{
    return bcr_putm(1, rgid, ncells, cells, nofree);
}

bcr_region(bcr_read)(bcr_cce_id cce, int cell, int msec)
{
    return bcr_get(0, cce, cell, msec);
}

bcr_region(bcr_deq)(bcr_cce_id cce, int cell, int msec)
{
    return bcr_get(1, cce, cell, msec);
}
