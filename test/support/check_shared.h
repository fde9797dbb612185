/* SPDX-License-Identifier: MIT */
/* What the processes of one test tell the runner; lies in memory that runner and tests share. Only
 * for check*.c. */
#ifndef BCR_TEST_CHECK_SHARED_H
#define BCR_TEST_CHECK_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    CHECK_STATUS_FAILED = 101, /* a check failed and has printed why */
    CHECK_STATUS_SKIPPED = 77, /* what ctest and automake take for "skipped" */
};

/* Whether this build checks memory or threads with a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CHECK_SANITIZED 1
#endif
#endif
#ifndef CHECK_SANITIZED
#define CHECK_SANITIZED 0
#endif

struct check_shared {
    atomic_bool failed;    /* any process of the test */
    atomic_bool skipped;   /* any process of the test, after writing the reason */
    atomic_bool seed_used; /* so that it is printed once for each test */
    uint64_t seed;         /* the runner, before the first test */
    char skip_reason[512]; /* the process that set `skipped` */
    char folder[32];       /* the runner, before each test */
};

extern struct check_shared *check_shared;

#endif
