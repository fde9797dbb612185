/* SPDX-License-Identifier: MIT */
/* The hooks by which the layer above the cells (handlers/) takes over in a CCE that has handlers.
 *
 * ctx->hooks is NULL as long as a CCE has no handlers; then each call costs one load more. The
 * CCE's own thread sets the table, outside every operation, and never removes it, but for as long as a
 * signal handler calls BCR (bcr_sigenter): then no handler is to run, and bcri_hooks_of() has the
 * table. Only that thread
 * calls the functions. It does so with the journal closed and no lock held, except for `requested`.
 * So the functions may do what a public routine may do, and may also run handlers to their end. The
 * caller must look up again what it had looked up before (a resolved cell, an area). */
#ifndef BCRI_HOOKS_H
#define BCRI_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"

struct bcri_slot_shm;

/* An event, other than a request, that a call can wait for. The thread that makes it happen rings this CCE's
 * bell afterwards. */
struct bcri_event {
    bool (*happened)(struct bcri_event *event);
    /* For tools what it is: 0, BCRI_NOTE_ROOM or BCRI_NOTE_TEAM (bell.h). Room in this CCE's comm heap can be made by its own
     * handlers, too, which then ring nobody. */
    int note;
};

struct bcri_hooks {
    /* Replaces bcri_wait_ready (cells/, wait.h), with the same results: waits until one of `count`
     * requests is ready, a wake is due, or the deadline has come. Runs eligible handlers meanwhile. The slots stay
     * the caller's until it returns. */
    int (*wait)(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns);
    /* The same for an event. Returns whether it has happened. */
    bool (*wait_for)(struct bcri_ctx *ctx, struct bcri_event *event, uint64_t deadline_ns);
    /* Whether nothing else could run while the caller waits, unless a handler is requested: then
     * the caller need not call `wait` yet. */
    bool (*alone)(const struct bcri_ctx *ctx);
    /* Called at the beginning of a public routine when handlers may be requested, or when something
     * is wrong (bcri_enter). Returns 0, or the code with which the routine must fail. */
    int (*run)(struct bcri_ctx *ctx);
    /* bcr_cafree has freed the cells [first, first + count). */
    void (*cells_gone)(struct bcri_ctx *ctx, uint32_t first, uint32_t count);
    /* An operation of this CCE has requested the handler of its own cell `number`, `count` times so
     * far. It is called in the midst of the operation, under locks, so it may only take a note. */
    void (*requested)(struct bcri_ctx *ctx, uint32_t number, uint64_t count);
    /* The context is about to end. */
    void (*fini)(struct bcri_ctx *ctx);
};

/* The table of a CCE that has handlers, whether or not they may run now. */
static inline const struct bcri_hooks *bcri_hooks_of(const struct bcri_ctx *ctx)
{
    return ctx->hooks != NULL ? ctx->hooks : ctx->section.hooks;
}

#endif
