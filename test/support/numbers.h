/* SPDX-License-Identifier: MIT */
/* The int at the beginning of a region, in whatever archtype the region is: of a CCE on another machine
 * perhaps. Ends the process if that cannot be. By bcr.h alone. */
#ifndef BCR_TEST_NUMBERS_H
#define BCR_TEST_NUMBERS_H

#include <stdbool.h>
#include <stdlib.h>

#include <bcr.h>

static inline bool is_own_kind(bcr_region rgid)
{
    int archtype;
    return bcr_rglen(rgid, &archtype) >= 0 && archtype == bcr_archtype;
}

static inline int read_number(bcr_region rgid)
{
    int value;
    if (is_own_kind(rgid))
        return **(int **)rgid;
    if (bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 2)
        abort();
    return value;
}

static inline void write_number(bcr_region rgid, int value)
{
    if (is_own_kind(rgid))
        **(int **)rgid = value;
    else if (bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 2)
        abort();
}

#endif
