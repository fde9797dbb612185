/* SPDX-License-Identifier: MIT */
/* The owner's side of handler requests without handlers: what was counted and told at some cells of
 * one CCE, and waiting for it. */
#ifndef BCR_TEST_REQUESTS_H
#define BCR_TEST_REQUESTS_H

#include "bcri/bell.h"
#include "bcri/handler_request.h"
#include "check.h"

enum { REQUESTS_CELLS = 16 };
struct requests {
    struct bcri_ctx *ctx;
    int count;
    struct requests_of {
        int cell;
        const _Atomic uint64_t *counter;
        uint64_t seen, told;
    } of[REQUESTS_CELLS];
};

/* Watches one more cell, or a cell of that number anew. */
static inline void requests_watch(struct requests *requests, struct bcri_ctx *ctx, int cell)
{
    const _Atomic uint64_t *counter = bcri_watermark_counter(ctx, cell);
    int i = 0;
    CHECK(counter != NULL);
    requests->ctx = ctx;
    while (i < requests->count && requests->of[i].cell != cell)
        i++;
    CHECK(i < REQUESTS_CELLS);
    const uint64_t now = bcri_load(counter);
    requests->of[i] = (struct requests_of){.cell = cell, .counter = counter, .seen = now, .told = now};
    requests->count += i == requests->count;
}

static inline void requests_see_bits(struct requests *requests)
{
    for (uint32_t word = 0; word < BCRI_REQUEST_WORDS; word++) {
        const uint64_t bits = bcri_requests_take_bits(requests->ctx, word);
        for (int i = 0; i < requests->count; i++) {
            const uint32_t bit = bcri_request_bit((uint32_t)requests->of[i].cell);
            if (bit / 64 == word && (bits >> bit % 64 & 1) != 0)
                requests->of[i].told = bcri_load_acquire(requests->of[i].counter);
        }
    }
}

static inline void requests_look(struct requests *requests)
{
    if (!bcri_requests_any(requests->ctx))
        return;
    const struct bcri_news news = bcri_requests_take(requests->ctx);
    for (int i = 0; i < requests->count; i++) {
        struct requests_of *of = &requests->of[i];
        const uint32_t ahead = news.count - (uint32_t)of->told;
        if (of->cell == news.number && (int32_t)ahead > 0)
            of->told += ahead;
    }
    if (news.look)
        requests_see_bits(requests);
}

/* A cell that has a request, which is taken; -1: none has. */
static inline int requests_next(struct requests *requests)
{
    requests_look(requests);
    for (int i = 0; i < requests->count; i++)
        if (requests->of[i].seen != requests->of[i].told) {
            requests->of[i].seen++;
            return requests->of[i].cell;
        }
    return -1;
}

/* How many cells have counted what was not told. */
static inline int requests_untold(const struct requests *requests)
{
    int count = 0;
    for (int i = 0; i < requests->count; i++)
        count += requests->of[i].told != bcri_load_acquire(requests->of[i].counter);
    return count;
}

/* Waits, asleep, until there is news or the deadline is there. */
static inline void requests_sleep(struct bcri_ctx *ctx, uint64_t deadline_ns)
{
    struct bcri_bell_shm *bell = ctx->bell;
    const uint32_t seen = bcri_load_acquire(&bell->bell);
    atomic_store_explicit(&bell->sleeping, BCRI_SLEEPS_ON_FUTEX, memory_order_seq_cst);
    if (bcri_requests_sleep(ctx) && bcri_load_acquire(&bell->bell) == seen)
        bcri_futex_wait(&bell->bell, seen, deadline_ns);
    bcri_store(&bell->sleeping, BCRI_AWAKE);
}

#endif
