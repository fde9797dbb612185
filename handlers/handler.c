/* SPDX-License-Identifier: MIT */
/* bcr_handler, bcr_handler_arg, bcr_priority, bcr_getpriority, bcr_allow, bcr_block. bcr.h is their manual. */
#include <bcr.h>

#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/scheduler.h"
#include "bcri/self.h"

static struct bcri_scheduler *find(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(bcri_load(&ctx->section.open))) { /* the caller is a signal handler */
        bcri_set_errno(bcrE_INSIDE);
        return NULL;
    }
    struct bcri_scheduler *sched = bcri_sched_of(ctx);
    if (sched == NULL)
        bcri_set_errno(bcrE_NOMEM);
    return sched;
}

/* The scheduler of the calling CCE, after the invocations that may interrupt the caller have run.
 * NULL: bcr_errno says why. */
static struct bcri_scheduler *enter(void)
{
    struct bcri_ctx *ctx = bcri_enter();
    return ctx != NULL ? find(ctx) : NULL;
}

/* The same for bcr_allow and bcr_block, which let other invocations run by a rule of their own. */
static struct bcri_scheduler *enter_to_stop(void)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return NULL;
    const int error =
        ctx->hooks == NULL || bcri_in_place(ctx) ? 0 : bcri_sched_out_of_place(ctx->handlers.sched);
    if (error == 0)
        return find(ctx);
    bcri_set_errno(error);
    return NULL;
}

static int result(int error)
{
    return error == 0 ? 0 : bcri_fail(error);
}

static int install(const struct bcri_handler *like, int watermark)
{
    struct bcri_scheduler *sched = enter();
    if (sched == NULL)
        return -1;
    if ((like->run != NULL || like->run_with != NULL) && (like->activep < 0 || like->blockp < 0))
        return bcri_fail(bcrE_ARG);
    return result(bcri_sched_install(sched, like, watermark));
}

int bcr_handler(int cell, void (*handler)(int), int watermark, int activep, int blockp)
{
    BCRI_CALL;
    return install(&(struct bcri_handler){.run = handler, .cell = cell, .activep = activep, .blockp = blockp},
                   watermark);
}

int bcr_handler_arg(int cell, void (*handler)(int, void *), void *argument, int watermark, int activep,
                    int blockp)
{
    BCRI_CALL;
    return install(
        &(struct bcri_handler){
            .run_with = handler, .argument = argument, .cell = cell, .activep = activep, .blockp = blockp},
        watermark);
}

int bcr_priority(int activep, int blockp)
{
    BCRI_CALL;
    struct bcri_scheduler *sched = enter();
    if (sched == NULL)
        return -1;
    if (activep < 0 || blockp < 0)
        return bcri_fail(bcrE_ARG);
    int error = bcri_sched_set_priority(sched, activep, blockp);
    if (error != 0)
        return bcri_fail(error);
    bcri_sched_yield(sched);
    return 0;
}

int bcr_getpriority(int *activep, int *blockp)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    struct bcri_scheduler *sched = ctx != NULL ? find(ctx) : NULL;
    if (sched == NULL)
        return -1;
    if (activep != NULL)
        *activep = sched->current->activep;
    if (blockp != NULL)
        *blockp = sched->current->blockp;
    return 0;
}

int bcr_allow(int priority)
{
    BCRI_CALL;
    struct bcri_scheduler *sched = enter_to_stop();
    if (sched == NULL)
        return -1;
    return result(bcri_sched_allow(sched, priority >= 0 ? priority : sched->current->activep));
}

int bcr_block(void)
{
    BCRI_CALL;
    struct bcri_scheduler *sched = enter_to_stop();
    if (sched == NULL)
        return -1;
    bcri_sched_block(sched);
}
