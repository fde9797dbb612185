/* SPDX-License-Identifier: MIT */
/* Private memory: contents, alignment, sizes at the limits of classes, reuse, threads. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/atomics.h"
#include "bcri/private.h"
#include "check.h"

/* The sizes around each limit of a class, of slabs and of what is kept, smallest first. */
static size_t sizes[200];
static size_t size_count;

static void make_sizes(void)
{
    size_count = 0;
    for (size_t at = 1; at <= (size_t)1 << 21; at *= 2)
        for (size_t of = at; of <= at + at / 2; of += at / 2 + 1)
            for (size_t bytes = of - 1; bytes <= of + 1; bytes++)
                sizes[size_count++] = bytes;
}

static void fill(unsigned char *at, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(seed + i * 7);
}

static bool is_filled(const unsigned char *at, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (unsigned char)(seed + i * 7))
            return false;
    return true;
}

TEST(blocks_of_every_size_are_apart_and_aligned)
{
    unsigned char *blocks[3][200];
    make_sizes();
    for (unsigned turn = 0; turn < 3; turn++)
        for (unsigned i = 0; i < size_count; i++) {
            blocks[turn][i] = bcri_private_alloc(sizes[i]);
            CHECK(blocks[turn][i] != NULL);
            CHECK_UINT((uintptr_t)blocks[turn][i] % alignof(max_align_t), 0);
            fill(blocks[turn][i], sizes[i], turn * 100 + i);
        }
    for (unsigned turn = 0; turn < 3; turn++)
        for (unsigned i = 0; i < size_count; i++) {
            CHECK(is_filled(blocks[turn][i], sizes[i], turn * 100 + i));
            bcri_private_free(blocks[turn][i]);
        }
}

TEST(an_aligned_block_begins_with_a_cache_line)
{
    make_sizes();
    for (unsigned i = 0; i < size_count; i++) {
        void *block = bcri_private_aligned(sizes[i]), *other = bcri_private_aligned(sizes[i]);
        CHECK(block != NULL && other != NULL && block != other);
        CHECK_UINT((uintptr_t)block % BCRI_CACHELINE, 0);
        CHECK_UINT((uintptr_t)other % BCRI_CACHELINE, 0);
        bcri_private_free(block);
        bcri_private_free(other);
    }
}

TEST(zeroed_memory_is_zero_also_if_it_was_used)
{
    make_sizes();
    for (unsigned i = 0; i < size_count; i++) {
        unsigned char *block = bcri_private_alloc(sizes[i]);
        CHECK(block != NULL);
        memset(block, 255, sizes[i]);
        bcri_private_free(block);
        CHECK((block = bcri_private_zeroed(sizes[i], 1)) != NULL);
        for (size_t byte = 0; byte < sizes[i]; byte++)
            CHECK_INT(block[byte], 0);
        bcri_private_free(block);
    }
}

TEST(a_resized_block_keeps_what_it_has)
{
    make_sizes();
    for (unsigned i = 0; i < size_count; i++) {
        unsigned char *block = bcri_private_resize(NULL, sizes[i]);
        CHECK(block != NULL);
        fill(block, sizes[i], i);
        for (size_t more = sizes[i]; more <= 3 * sizes[i] + 1; more += sizes[i] + 1) {
            CHECK((block = bcri_private_resize(block, more)) != NULL);
            CHECK(is_filled(block, sizes[i], i));
        }
        CHECK((block = bcri_private_resize(block, sizes[i] / 8)) != NULL);
        CHECK(is_filled(block, sizes[i] / 8, i));
        bcri_private_free(block);
    }
}

TEST(what_does_not_exist_is_refused_and_nothing_is_lost)
{
    unsigned char *volatile block = bcri_private_alloc(100);
    volatile size_t most = SIZE_MAX;
    CHECK(block != NULL);
    fill(block, 100, 1);
    if (!test_is_instrumented()) { /* the tool's malloc may end the process instead */
        CHECK_PTR(bcri_private_zeroed(most / 2, 3), NULL);
        CHECK_PTR(bcri_private_alloc(most), NULL);
        CHECK_PTR(bcri_private_alloc(PTRDIFF_MAX), NULL);
        CHECK_PTR(bcri_private_alloc((size_t)PTRDIFF_MAX - 65536), NULL);
        CHECK_PTR(bcri_private_resize(block, most), NULL);
    }
    CHECK(is_filled(block, 100, 1));
    errno = EDOM;
    bcri_private_free(block);
    bcri_private_free(NULL);
    CHECK_INT(errno, EDOM);
}

/* What the process has mapped, in KiB. */
static long mapped_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && kib < 0 && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmSize:", 7) == 0)
            kib = strtol(line + 7, NULL, 10);
    if (status != NULL)
        fclose(status);
    return kib;
}

TEST(what_is_freed_is_used_again_and_large_blocks_go_back)
{
    make_sizes();
    long before = 0;
    for (int turn = 0; turn < 100; turn++) {
        void *block[200] = {NULL};
        for (unsigned i = 0; i < size_count; i++)
            CHECK((block[i] = bcri_private_alloc(sizes[i])) != NULL);
        for (unsigned i = 0; i < size_count; i++)
            bcri_private_free(block[turn % 2 == 0 ? i : size_count - 1 - i]);
        if (turn == 0)
            before = mapped_kib();
    }
    /* What is kept of large blocks, whichever they are. */
    CHECK(test_is_instrumented() || mapped_kib() <= before + 4 * 1024);
    void *huge = bcri_private_alloc((size_t)64 << 20);
    CHECK(huge != NULL);
    bcri_private_free(huge);
    CHECK(test_is_instrumented() || mapped_kib() <= before + 4 * 1024);
}

/* ---- several threads: CCEs of one test, or the daemon's ---- */

enum { THREADS = 4, BLOCKS = 64, PASSED_ON = 16 };
static _Atomic(unsigned char *)
    passed_on[PASSED_ON]; /* freed by another thread than the one that has it allocated */

static void *allocate_at_random(void *arg)
{
    uint64_t random = test_seed() + (uintptr_t)arg;
    unsigned char *blocks[BLOCKS] = {NULL};
    size_t bytes[BLOCKS] = {0};
    for (uint64_t turn = test_scale(4000, 200000); turn > 0; turn--) {
        const unsigned i = (unsigned)test_rand_below(&random, BLOCKS);
        if (blocks[i] != NULL && test_rand_below(&random, 4) == 0) {
            CHECK(is_filled(blocks[i], bytes[i], i));
            blocks[i] = atomic_exchange(&passed_on[test_rand_below(&random, PASSED_ON)], blocks[i]);
            bcri_private_free(blocks[i]);
        } else {
            const size_t kept = bytes[i];
            bytes[i] = (size_t)1 << test_rand_below(&random, 17);
            bytes[i] += (size_t)test_rand_below(&random, bytes[i]);
            if (blocks[i] != NULL)
                CHECK(is_filled(blocks[i], kept, i));
            CHECK((blocks[i] = bcri_private_resize(blocks[i], bytes[i])) != NULL);
            if (kept != 0)
                CHECK(is_filled(blocks[i], kept < bytes[i] ? kept : bytes[i], i));
            fill(blocks[i], bytes[i], i);
            continue;
        }
        blocks[i] = NULL;
        bytes[i] = 0;
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        bcri_private_free(blocks[i]);
    return NULL;
}

TEST_TIMEOUT(threads_share_it, 120)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, allocate_at_random, (void *)(i * 1000)), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < PASSED_ON; i++)
        bcri_private_free(passed_on[i]);
}
