/* SPDX-License-Identifier: MIT */
/* The scheduler is made here, and enters the context's table of hooks, by which the layers below
 * reach it (hooks.h). */
#include "bcri/hooks.h"

#include <sys/auxv.h>

#include "bcri/enter.h"
#include "bcri/exceptions.h"
#include "bcri/handler_request.h"
#include "bcri/private.h"
#include "scheduler_private.h"
#include "settings.h"

static int run(struct bcri_ctx *ctx)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    if (bcri_unlikely(!bcri_in_place(ctx)))
        return bcri_sched_out_of_place(s);
    bcri_sched_yield(s);
    return 0;
}

static void fini(struct bcri_ctx *ctx)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    ctx->hooks = NULL;
    ctx->handlers.sched = NULL;
    bcri_stacks_fini(&s->stacks, bcri_sched_drop_invocation);
    bcri_waits_fini(&s->waits);
    bcri_run_queue_fini(&s->queue);
    bcri_registry_fini(&s->registry);
    bcri_private_free(s);
}

static bool alone(const struct bcri_ctx *ctx)
{
    const struct bcri_scheduler *s = ctx->handlers.sched;
    return s->queue.heap_count == 0 && s->waits.polled.first == NULL && s->waits.armed.first == NULL &&
           !bcri_requests_any(ctx);
}

static const struct bcri_hooks hooks = {.wait = bcri_sched_wait_ready,
                                        .wait_for = bcri_sched_wait_for_until,
                                        .alone = alone,
                                        .run = run,
                                        .cells_gone = bcri_sched_cells_gone,
                                        .requested = bcri_sched_requested,
                                        .fini = fini};

void bcri_sched_prepare(void)
{
    bcri_settings_keep();
    bcri_stacks_prepare();
    bcri_exceptions_look((uintptr_t)getauxval(AT_ENTRY));
}

struct bcri_scheduler *bcri_sched_of(struct bcri_ctx *ctx)
{
    if (bcri_likely(ctx->handlers.sched != NULL))
        return ctx->handlers.sched;
    struct bcri_scheduler *s = bcri_private_zeroed(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->ctx = ctx;
    s->current = &s->main;
    s->main.sched = s;
    bcri_run_queue_init(&s->queue);
    bcri_waits_init(&s->waits, ctx);
    s->main.resumable.level = bcri_level_enter(&s->queue, 0);
    if (s->main.resumable.level == NULL || !bcri_waits_reserve(&s->waits, 1)) {
        bcri_run_queue_fini(&s->queue);
        bcri_waits_fini(&s->waits);
        bcri_private_free(s);
        return NULL;
    }
    struct bcri_settings settings = bcri_settings();
    bcri_stacks_init(&s->stacks, sizeof(struct bcri_invocation), settings.stack_bytes, settings.most);
    ctx->handlers.sched = s;
    ctx->hooks = &hooks;
    bcri_sched_set_entry(s);
    return s;
}
