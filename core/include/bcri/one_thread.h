/* SPDX-License-Identifier: MIT */
/* Whether a thread of this CCE is in BCR.
 *
 * Each public routine stores ctx->inside = 1 before it changes anything of the CCE, and 0 when it is done: two plain
 * stores. A signal handler that reads 0 has interrupted no call in its own thread, since a thread sees its stores in
 * the order of the program; the fences keep the compiler from another order. So it may call BCR (bcr_sigenter,
 * handlers/section.c). The scheduler stores 1 again whenever a handler has returned to it, so the word is 1 whenever
 * an invocation goes on within a call; while the program's own code in a handler runs it may say either, and
 * ctx->handlers.stack_low tells. A routine that calls public ones stores 1 again behind each (BCRI_CALL_GOES_ON).
 * Between the two stores the inner call is done and the outer one has begun nothing, as between two calls of the
 * program.
 *
 * One thread of a CCE at a time calls BCR. Two at once are no different, later, from a wild
 * write: what they leave in shared memory makes no sense, and the sentence that tells so comes from whoever finds it. So
 * builds with internal assertions (BCR_ASSERT_LEVEL 2) look at each public routine's beginning and end who is inside, and
 * end the process at the second one. Others have not an instruction of it.
 *
 * Handlers are no exception: they run within a call, so in the thread that makes it, and may call. An
 * invocation that has waited may go on within another thread's call; what counts is the outermost call of a
 * thread. */
#ifndef BCRI_ONE_THREAD_H
#define BCRI_ONE_THREAD_H

#include <stdbool.h>

#include "bcri/ctx.h"
#include "bcri/self.h"

static inline void bcri_call_enters(struct bcri_ctx *ctx)
{
    bcri_store(&ctx->inside, 1);
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void bcri_call_leaves(struct bcri_ctx *ctx)
{
    atomic_signal_fence(memory_order_seq_cst);
    bcri_store(&ctx->inside, 0);
}

static inline struct bcri_ctx *bcri_call_entered(void)
{
    struct bcri_ctx *const ctx = bcri_self();
    if (bcri_likely(ctx != NULL))
        bcri_call_enters(ctx);
    return ctx;
}
static inline void bcri_call_left(struct bcri_ctx *const *ctx)
{
    if (bcri_likely(*ctx != NULL))
        bcri_call_leaves(*ctx);
}

/* The first line of a public routine. */
#define BCRI_CALL   \
    BCRI_CALL_FAST; \
    BCRI_CALL_INSIDE
#define BCRI_CALL_COMPOSED   \
    BCRI_CALL_CHECKED(true); \
    BCRI_CALL_INSIDE
/* The same for one whose fast tier stores ctx->inside itself (bcri_call_enters, bcri_call_leaves). What that tier hands
 * a call to ends it by BCRI_CALL_INSIDE or BCRI_CALL_LEAVES. */
#define BCRI_CALL_FAST BCRI_CALL_CHECKED(false)
#define BCRI_CALL_INSIDE                                                                      \
    __attribute__((cleanup(bcri_call_left), unused)) struct bcri_ctx *const bcri_ctx_inside = \
        bcri_call_entered()
#define BCRI_CALL_LEAVES(ctx) \
    __attribute__((cleanup(bcri_call_left), unused)) struct bcri_ctx *const bcri_ctx_inside = (ctx)
/* In a composed routine, behind each public one. */
#define BCRI_CALL_GOES_ON(ctx) bcri_call_enters(ctx)

#ifndef BCR_ASSERT_LEVEL
#define BCR_ASSERT_LEVEL 1
#endif

#if BCR_ASSERT_LEVEL >= 2

struct bcri_call {
    struct bcri_ctx *ctx; /* NULL: this process is no CCE */
    const char *before;   /* what the thread did when it called */
    bool outermost;
};

/* `composed`: the routine calls public ones itself. */
struct bcri_call bcri_call_begin(const char *routine, bool composed);
void bcri_call_end(struct bcri_call *call);
#define BCRI_CALL_CHECKED(composed)                                                      \
    __attribute__((cleanup(bcri_call_end), unused)) struct bcri_call bcri_call_of_this = \
        bcri_call_begin(__func__, composed)

/* The executing invocation stops within a call; it goes on there; with NULL: in a handler of the user's. */
void bcri_call_stops(struct bcri_ctx *ctx, const char **does_out);
void bcri_call_goes_on(struct bcri_ctx *ctx, const char *does);

/* Around what a signal handler does in BCR. It may have interrupted a call before or behind its two stores, where nothing
 * is done. */
static inline void bcri_calls_set_aside(struct bcri_ctx *ctx)
{
    ctx->section.thread = bcri_load(&ctx->calls.thread);
    ctx->section.does = bcri_load(&ctx->calls.does);
    bcri_store(&ctx->calls.does, NULL);
    bcri_store(&ctx->calls.thread, 0);
}
static inline void bcri_calls_take_back(struct bcri_ctx *ctx)
{
    bcri_store(&ctx->calls.thread, ctx->section.thread);
    bcri_store(&ctx->calls.does, ctx->section.does);
}

#else

#define BCRI_CALL_CHECKED(composed)    (void)0
#define bcri_call_stops(ctx, does_out) (void)0
#define bcri_call_goes_on(ctx, does)   (void)0
#define bcri_calls_set_aside(ctx)      (void)0
#define bcri_calls_take_back(ctx)      (void)0

#endif

#endif
