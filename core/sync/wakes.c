/* SPDX-License-Identifier: MIT */
/* The table of wakes (wakes.h): four levels of 256 by the bytes of a cell's number, since a program may choose its
 * numbers far apart. A part is published by one store when it is whole. */
#include "bcri/wakes.h"

#include "bcr/error.h"
#include "bcri/private.h"

enum { WIDTH = 256, LEVEL_BITS = 8, INNER_LEVELS = 3 };

struct bcri_wake_part {
    _Atomic(void *) below[WIDTH]; /* parts; at the lowest inner level arrays of WIDTH wakes */
};

static size_t index_at(uint32_t number, int level)
{
    return number >> (INNER_LEVELS - level) * LEVEL_BITS & (WIDTH - 1);
}

static void *make_below(_Atomic(void *) *link, bool leaf)
{
    if (bcri_load(link) == NULL) {
        void *const part =
            bcri_private_zeroed(1, leaf ? WIDTH * sizeof(struct bcri_wake) : sizeof(struct bcri_wake_part));
        if (part != NULL)
            bcri_store_release(link, part);
        return part;
    }
    return bcri_load(link);
}

static bool make_leaf(struct bcri_ctx *ctx, uint32_t number)
{
    _Atomic(void *) *link = &ctx->wakes.table;
    for (int level = 0; level < INNER_LEVELS; level++) {
        struct bcri_wake_part *const part = make_below(link, false);
        if (part == NULL)
            return false;
        link = &part->below[index_at(number, level)];
    }
    return make_below(link, true) != NULL;
}

int bcri_wakes_make(struct bcri_ctx *ctx, uint32_t first, uint32_t count)
{
    const uint64_t end = (uint64_t)first + count;
    for (uint64_t number = first; number < end; number = (number / WIDTH + 1) * WIDTH)
        if (!make_leaf(ctx, (uint32_t)number))
            return bcrE_NOMEM;
    return 0;
}

static void free_part(void *at, int level)
{
    if (at == NULL)
        return;
    for (int i = 0; level < INNER_LEVELS && i < WIDTH; i++)
        free_part(bcri_load(&((struct bcri_wake_part *)at)->below[i]), level + 1);
    bcri_private_free(at);
}

void bcri_wakes_fini(struct bcri_ctx *ctx)
{
    free_part(bcri_load(&ctx->wakes.table), 0);
    bcri_store(&ctx->wakes.table, NULL);
}

struct bcri_wake *bcri_wake_at(const struct bcri_ctx *ctx, int number)
{
    void *at = number >= 0 ? bcri_load_acquire(&ctx->wakes.table) : NULL;
    for (int level = 0; level < INNER_LEVELS && at != NULL; level++)
        at = bcri_load_acquire(&((struct bcri_wake_part *)at)->below[index_at((uint32_t)number, level)]);
    return at != NULL ? (struct bcri_wake *)at + (uint32_t)number % WIDTH : NULL;
}

/* Model: wakefd.pml */
void bcri_wakes_open(struct bcri_ctx *ctx, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct bcri_wake *const wake = bcri_wake_at(ctx, (int)(first + i));
        const uint64_t was = atomic_fetch_or_explicit(&wake->word, BCRI_WAKE_CELL, memory_order_seq_cst);
        wake->taken = was & BCRI_WAKE_COUNT;
    }
}

/* Takes the wakes that `word` tells of. */
static uint64_t take_up_to(struct bcri_ctx *ctx, struct bcri_wake *wake, uint64_t word)
{
    const uint64_t count = (word & BCRI_WAKE_COUNT) - wake->taken;
    wake->taken += count;
    ctx->wakes.over += count;
    return count;
}

/* Model: wakefd.pml */
void bcri_wakes_close(struct bcri_ctx *ctx, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct bcri_wake *const wake = bcri_wake_at(ctx, (int)(first + i));
        (void)take_up_to(ctx, wake,
                         atomic_fetch_and_explicit(&wake->word, BCRI_WAKE_COUNT, memory_order_seq_cst));
    }
}

/* The handler's bit is set, or cleared, and the count read, in one step.
 * Model: wakefd.pml */
uint64_t bcri_wake_handled(struct bcri_ctx *ctx, int number)
{
    struct bcri_wake *const wake = bcri_wake_at(ctx, number);
    return take_up_to(ctx, wake,
                      atomic_fetch_or_explicit(&wake->word, BCRI_WAKE_HANDLER, memory_order_seq_cst));
}

uint64_t bcri_wake_unhandled(struct bcri_ctx *ctx, int number)
{
    struct bcri_wake *const wake = bcri_wake_at(ctx, number);
    return take_up_to(ctx, wake,
                      atomic_fetch_and_explicit(&wake->word, ~BCRI_WAKE_HANDLER, memory_order_seq_cst));
}

uint64_t bcri_wake_take_all(struct bcri_ctx *ctx, int number)
{
    struct bcri_wake *const wake = bcri_wake_at(ctx, number);
    return take_up_to(ctx, wake, bcri_load_acquire(&wake->word));
}
