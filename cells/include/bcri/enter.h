/* SPDX-License-Identifier: MIT */
/* How public routines begin: handlers that are requested, and that the caller's priority admits,
 * run first.
 *
 * The caller holds no lock and its journal is closed; a cell that it resolved before is out of date
 * afterwards. */
#ifndef BCRI_ENTER_H
#define BCRI_ENTER_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/handler_request.h"
#include "bcri/hooks.h"
#include "bcri/self.h"

/* An address in the caller's stack. Asking for the frame's address would make the compiler build a
 * frame in routines that need none. */
static inline uintptr_t bcri_stack_here(void)
{
#if defined(__x86_64__)
    uintptr_t here;
    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
    return here;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}
/* Whether the caller runs on the stack on which this CCE executes. If not, the program has left a
 * handler by longjmp. */
static inline bool bcri_in_place(const struct bcri_ctx *ctx)
{
    return bcri_stack_here() - bcri_load(&ctx->handlers.stack_low) < ctx->handlers.stack_bytes;
}

static inline bool bcri_enters(const struct bcri_ctx *ctx)
{
#ifdef BCRI_NO_ENTRY /* test/bench/bench_entry.c: what this look costs */
    (void)ctx;
    return false;
#endif
    if (bcri_likely(ctx->hooks == NULL))
        return false;
    return bcri_unlikely(!bcri_in_place(ctx) || ctx->handlers.due || bcri_requests_any(ctx));
}
/* The first line of public routines: runs the handlers and returns the calling CCE's context, or
 * NULL with bcr_errno set (bcrE_NOINIT, bcrE_FORK, bcrE_LONGJMP). The fast tiers of put and get
 * look themselves whether handlers are to run, and come here only if so. */
static inline struct bcri_ctx *bcri_enter(void)
{
    struct bcri_ctx *const ctx = bcri_self_or_error();
    const int error = ctx != NULL && bcri_enters(ctx) ? ctx->hooks->run(ctx) : 0;
    if (bcri_likely(error == 0))
        return ctx;
    bcri_set_errno(error);
    return NULL;
}

#endif
