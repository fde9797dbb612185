/* SPDX-License-Identifier: MIT */
/* Handlers come and go: installing, replacing and removing the handler of a cell. */

#include <bcr/error.h>

#include "bcri/private.h"
#include "bcri/wakes.h"
#include "bcri/watermark.h"
#include "scheduler_private.h"

static void remove_handler(struct bcri_scheduler *s, struct bcri_handler *handler)
{
    bcri_registry_remove(&s->registry, handler);
    bcri_run_queue_drop(&s->queue, &handler->requested);
    bcri_level_leave(handler->requested.level);
    bcri_private_free(handler);
}

void bcri_sched_cells_gone(struct bcri_ctx *ctx, uint32_t first, uint32_t count)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    for (uint32_t i = 0; i < count && s->registry.count != 0; i++) {
        struct bcri_handler *handler = bcri_registry_find(&s->registry, (int)(first + i));
        if (handler != NULL)
            remove_handler(s, handler);
    }
}

static int replace(struct bcri_scheduler *s, struct bcri_handler *handler, const struct bcri_handler *as,
                   int watermark)
{
    struct bcri_level *level = bcri_level_enter(&s->queue, as->activep);
    if (level == NULL)
        return bcrE_NOMEM;
    int error = bcri_watermark_set(s->ctx, as->cell, watermark);
    if (error != 0) {
        bcri_level_leave(level);
        return error;
    }
    bcri_level_leave(handler->requested.level);
    if (level != handler->requested.level)
        bcri_run_queue_move(&s->queue, &handler->requested, level);
    handler->run = as->run;
    handler->run_with = as->run_with;
    handler->argument = as->argument;
    handler->activep = as->activep;
    handler->blockp = as->blockp;
    s->ctx->handlers.due = is_due(s); /* its queued requests may have a higher priority now */
    return 0;
}

/* Drops what was told of an earlier cell of this number first. As long as a cell has no watermark
 * it counts no requests. */
static int add(struct bcri_scheduler *s, const struct bcri_handler *like, int watermark)
{
    struct bcri_handler *handler = bcri_private_alloc(sizeof *handler);
    if (handler == NULL)
        return bcrE_NOMEM;
    *handler = *like;
    int error = bcrE_NOMEM;
    handler->requested.level = bcri_level_enter(&s->queue, like->activep);
    if (handler->requested.level == NULL)
        goto free_handler;
    if (!bcri_registry_reserve(&s->registry))
        goto leave_level;
    bcri_sched_take_requests(s);
    handler->counter = bcri_watermark_counter(s->ctx, like->cell);
    handler->seen = handler->counter != NULL ? bcri_load(handler->counter) : 0;
    error = bcri_watermark_set(s->ctx, like->cell, watermark);
    if (error != 0)
        goto leave_level;
    bcri_registry_add(&s->registry, handler);
    /* What no get has been woken by requests the handler. */
    bcri_sched_see_wakes(s, handler, bcri_wake_handled(s->ctx, like->cell));
    s->ctx->handlers.due = is_due(s);
    return 0;
leave_level:
    bcri_level_leave(handler->requested.level);
free_handler:
    bcri_private_free(handler);
    return error;
}

int bcri_sched_install(struct bcri_scheduler *s, const struct bcri_handler *like, int watermark)
{
    struct bcri_handler *handler = bcri_registry_find(&s->registry, like->cell);
    if (like->run == NULL && like->run_with == NULL) {
        int error = bcri_watermark_clear(s->ctx, like->cell);
        if (error == 0 && handler != NULL) {
            (void)bcri_wake_unhandled(s->ctx, like->cell);
            remove_handler(s, handler);
        }
        return error;
    }
    bcri_exceptions_look(like->run != NULL ? (uintptr_t)like->run : (uintptr_t)like->run_with);
    return handler != NULL ? replace(s, handler, like, watermark) : add(s, like, watermark);
}
