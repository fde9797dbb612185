/* SPDX-License-Identifier: MIT */
/* See bcri/one_thread.h. */
#include "bcri/one_thread.h"

#if BCR_ASSERT_LEVEL >= 2

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bcri/ctx.h"
#include "bcri/self.h"

static uint32_t own_thread(void)
{
    static BCRI_TLS uint32_t own;
    if (own == 0)
        own = (uint32_t)syscall(SYS_gettid);
    return own;
}

/* What is shared makes no sense after this: nothing goes on, and stdio is left alone. */
static _Noreturn void end(struct bcri_ctx *ctx, uint32_t other, const char *does, const char *routine)
{
    char line[512], who[BCRI_CCE_TEXT_MAX];
    const uint32_t own = own_thread();
    const char *cce = bcri_record_text(ctx, ctx->record, ctx->index, who);
    const char *in = does != NULL ? does : "another call"; /* at its beginning or end, or in a handler */
    const int length = own != other ? snprintf(line, sizeof line,
                                               "bcr: %.64s: thread %u has called %s while thread %u of the "
                                               "same CCE was in %s: one at a time may be in "
                                               "BCR; a mutex is to see to that; %s ends\n",
                                               program_invocation_short_name, own, routine, other, in, cce)
                                    : snprintf(line, sizeof line,
                                               "bcr: %.64s: thread %u has called %s in the midst of its own "
                                               "%s: a signal handler calls BCR only after "
                                               "bcr_sigenter; %s ends\n",
                                               program_invocation_short_name, own, routine, in, cce);
    const ssize_t written = length > 0 ? write(STDERR_FILENO, line, (size_t)length) : 0;
    (void)written; /* the end says it, too */
    abort();
}

struct bcri_call bcri_call_begin(const char *routine, bool composed)
{
    struct bcri_ctx *ctx = bcri_self();
    if (ctx == NULL)
        return (struct bcri_call){NULL, NULL, false};
    const uint32_t own = own_thread();
    uint32_t inside = 0;
    const bool outermost = atomic_compare_exchange_strong_explicit(
        &ctx->calls.thread, &inside, own, memory_order_acquire, memory_order_acquire);
    const char *before = atomic_load_explicit(&ctx->calls.does, memory_order_relaxed);
    if (!outermost && (inside != own || before != NULL))
        end(ctx, inside, before, routine);
    atomic_store_explicit(&ctx->calls.does, composed ? NULL : routine, memory_order_relaxed);
    return (struct bcri_call){ctx, before, outermost};
}

void bcri_call_end(struct bcri_call *call)
{
    if (call->ctx == NULL)
        return;
    atomic_store_explicit(&call->ctx->calls.does, call->outermost ? NULL : call->before,
                          memory_order_relaxed);
    if (call->outermost)
        atomic_store_explicit(&call->ctx->calls.thread, 0, memory_order_release);
}

void bcri_call_stops(struct bcri_ctx *ctx, const char **does_out)
{
    *does_out = atomic_load_explicit(&ctx->calls.does, memory_order_relaxed);
}

void bcri_call_goes_on(struct bcri_ctx *ctx, const char *does)
{
    atomic_store_explicit(&ctx->calls.does, does, memory_order_relaxed);
}

#endif
