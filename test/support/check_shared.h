/* SPDX-License-Identifier: MIT */
/* What the processes of one test tell the runner; lies in memory that runner and tests share. Only for check*.c. */
#ifndef BCR_TEST_CHECK_SHARED_H
#define BCR_TEST_CHECK_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    CHECK_STATUS_FAILED = 101, /* a check failed and has printed why */
    CHECK_STATUS_SKIPPED = 77, /* what ctest and automake take for "skipped" */
};

struct check_shared {
    atomic_bool failed;    /* any process of the test */
    atomic_bool skipped;   /* any process of the test, after writing the reason */
    atomic_bool seed_used; /* so that it is printed once for each test */
    uint64_t seed;         /* the runner, before the first test */
    char skip_reason[512]; /* the process that set `skipped` */
};

extern struct check_shared *check_shared;

#endif
