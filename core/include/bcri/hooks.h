/* SPDX-License-Identifier: MIT */
/* What the floor above the cells takes over in a CCE that has handlers: the table by which calls go
 * up.
 *
 * ctx->hooks is NULL as long as a CCE has no handlers; then nothing below knows of them, and a call
 * costs one load more. The table is set by the CCE's own thread, outside every operation, and
 * stays. Its functions are called by that thread alone, but for `requested` with the journal closed
 * and no lock held: so they may do whatever a public routine may do, also run others to their end
 * in between. What a caller has looked up before such a call (a place, an area) must be looked up
 * again. */
#ifndef BCRI_HOOKS_H
#define BCRI_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct bcri_ctx;
struct bcri_slot_shm;

struct bcri_hooks {
    /* In place of bcri_wait_ready (cells/, wait.h), and with its results: waits until one of
     * `count` requests is ready or the deadline is there. Runs what may run meanwhile. The slots
     * are the caller's until it returns. */
    int (*wait)(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns);
    /* Whether nobody else could run while the caller waits, unless a handler is requested: then it
     * need not call `wait` yet. */
    bool (*alone)(const struct bcri_ctx *ctx);
    /* A public routine begins, and handlers may be requested, or not all is well (bcri_enter). 0,
     * or the code with which the routine is to fail. */
    int (*run)(struct bcri_ctx *ctx);
    /* The cells [first, first + count) are gone by bcr_cafree. */
    void (*cells_gone)(struct bcri_ctx *ctx, uint32_t first, uint32_t count);
    /* Own cell `number` has counted a request of its handler by what this CCE does itself: `count`
     * so far. Called in the midst of an operation, under locks; only remembers. */
    void (*requested)(struct bcri_ctx *ctx, uint32_t number, uint64_t count);
    /* The context is about to end. */
    void (*fini)(struct bcri_ctx *ctx);
};

#endif
