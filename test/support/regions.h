/* SPDX-License-Identifier: MIT */
/* Regions that hold a number, and calls that must fail: for tests of the public routines. Nothing
 * here uses more than bcr.h. */
#ifndef BCR_TEST_REGIONS_H
#define BCR_TEST_REGIONS_H

#include <bcr.h>

#include "check.h"

/* What a number() counts in nbytes. */
enum { NUMBER_BYTES = sizeof(int) };

/* A region of the calling CCE that holds `value`; one of `length_bytes` bytes, each of them
 * `value`. */
bcr_region number(int value);
bcr_region filled(int length_bytes, int value);
/* The number that a region holds; the caller holds the region as before. */
int peek(bcr_region rgid);
/* The number that a region holds; the region is freed. */
int value_of(bcr_region rgid);

/* A call must return `value` and set bcr_errno, which is something else before, to `code`. */
#define FAILS_WITH(call, value, code) \
    do {                              \
        bcr_errno = -77;              \
        CHECK_INT((call), (value));   \
        CHECK_INT(bcr_errno, (code)); \
    } while (0)
#define FAILS(call, code) FAILS_WITH(call, -1, code)
#define FAILS_NULL(call, code)        \
    do {                              \
        bcr_errno = -77;              \
        CHECK_PTR((call), NULL);      \
        CHECK_INT(bcr_errno, (code)); \
    } while (0)

#endif
