/* SPDX-License-Identifier: MIT */
/* See regions.h. */
#include "regions.h"

#include <string.h>

#include "numbers.h"

bcr_region filled(int length_bytes, int value)
{
    bcr_region rgid = bcr_rgalloc(length_bytes, 0);
    CHECK(rgid != NULL);
    memset(*rgid, value, (size_t)length_bytes);
    return rgid;
}

bcr_region number(int value)
{
    bcr_region rgid = bcr_rgalloc(sizeof value, 0);
    CHECK(rgid != NULL);
    **(int **)rgid = value;
    return rgid;
}

int peek(bcr_region rgid)
{
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rglen(rgid, NULL), sizeof(int));
    return read_number(rgid);
}

int value_of(bcr_region rgid)
{
    const int value = peek(rgid);
    CHECK_INT(bcr_rgfree(rgid), 0);
    return value;
}
