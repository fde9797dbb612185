/* SPDX-License-Identifier: MIT */
/* bcr_sigenter, bcr_sigleave: a signal handler that calls BCR. bcr/program.h is their manual.
 *
 * The signal handler has interrupted the CCE outside BCR, or it is refused (one_thread.h). So nothing of the
 * CCE is half done, no lock of this process is held, and private memory can be had even if malloc was interrupted
 * (private.h). What the handlers of cells would notice is that they run while the main program is between two calls.
 * So for the section the CCE is one without handlers: ctx->hooks is NULL, and gets wait as they do there. Requests
 * that come meanwhile lie where other CCEs lay them (handler_request.h); the first call after the section finds them.
 *
 * `open` is stored first and cleared last, so a second signal handler that interrupts these routines, or the section,
 * is refused. */
#include <bcr/program.h>

#include <errno.h>

#include "bcri/ctx.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

/* Whether a call of this CCE has begun and not ended: also while a handler of a cell runs in it, on a stack of its
 * own. */
static bool is_inside(const struct bcri_ctx *ctx)
{
    return bcri_load(&ctx->inside) != 0 || bcri_load(&ctx->handlers.stack_low) != 0;
}

int bcr_sigenter(void)
{
    struct bcri_ctx *const ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_ctx_section *const section = &ctx->section;
    /* A thread that is inside reads `open`, and must not take another's attempt for its own section. */
    if (is_inside(ctx) || atomic_exchange_explicit(&section->open, true, memory_order_acq_rel))
        return bcri_fail(bcrE_INSIDE);
    if (is_inside(ctx)) {
        bcri_store_release(&section->open, false);
        return bcri_fail(bcrE_INSIDE);
    }
    section->system_error = errno;
    section->error = bcri_self_errno;
    section->hooks = ctx->hooks;
    ctx->hooks = NULL;
    bcri_calls_set_aside(ctx);
    return 0;
}

int bcr_sigleave(void)
{
    struct bcri_ctx *const ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_ctx_section *const section = &ctx->section;
    if (!bcri_load(&section->open))
        return bcri_fail(bcrE_ARG);
    bcri_calls_take_back(ctx);
    ctx->hooks = section->hooks;
    section->hooks = NULL;
    bcri_self_errno = section->error;
    errno = section->system_error;
    bcri_store_release(&section->open, false);
    return 0;
}
