/* SPDX-License-Identifier: MIT */
/* The switch of stacks (bcri/coroutine.h), with Boost.Context or with ucontext, and what sanitizers
 * must be told of it.
 *
 * A coroutine that is switched to is told which coroutine it was switched from. With fcontext, the
 * new one stores where the old one is to go on. With AddressSanitizer, the new one learns where the
 * old one's stack lies; for a thread's own stack nobody else knows that. */
#include "bcri/coroutine.h"

#include <bcr/error.h>

bool bcri_sanitizer_is_told;

#if BCRI_FCONTEXT

void *make_fcontext(void *top, size_t bytes, void (*entry)(struct bcri_transfer));

static void begin(struct bcri_transfer came)
{
    struct bcri_coroutine *self = came.passed;
    self->from->context = came.context;
    bcri_sanitizer_arrived(self, self->from);
    self->body(self);
    __builtin_trap(); /* a body never returns */
}

static int make(struct bcri_coroutine *co)
{
    co->context = make_fcontext(co->low + co->bytes, co->bytes, begin);
    return 0;
}

static void drop(struct bcri_coroutine *co)
{
    (void)co;
}

const char *bcri_coroutine_kind(void)
{
    return "fcontext";
}

#else

#include <stdint.h>
#include <ucontext.h>

#include "bcri/private.h"

/* makecontext passes ints only. */
static void begin(unsigned high, unsigned low)
{
    struct bcri_coroutine *self = (struct bcri_coroutine *)(uintptr_t)((uint64_t)high << 32 | low);
    bcri_sanitizer_arrived(self, self->from);
    self->body(self);
    __builtin_trap(); /* a body never returns */
}

static int make(struct bcri_coroutine *co)
{
    ucontext_t *context = bcri_private_alloc(sizeof *context);
    if (context == NULL)
        return bcrE_NOMEM;
    getcontext(context);
    context->uc_stack.ss_sp = co->low;
    context->uc_stack.ss_size = co->bytes;
    context->uc_link = NULL;
    makecontext(context, (void (*)(void))(uintptr_t)begin, 2, (unsigned)((uint64_t)(uintptr_t)co >> 32),
                (unsigned)(uintptr_t)co);
    co->context = context;
    return 0;
}

static void drop(struct bcri_coroutine *co)
{
    bcri_private_free(co->context);
}

void bcri_coroutine_jump(struct bcri_coroutine *self, struct bcri_coroutine *to)
{
    ucontext_t own[1]; /* of a thread's own stack, on which it lies */
    ucontext_t *context = self->body != NULL ? self->context : own;
    self->context = context;
    swapcontext(context, to->context);
}

const char *bcri_coroutine_kind(void)
{
    return "ucontext";
}

#endif

int bcri_coroutine_make(struct bcri_coroutine *co, void *low, size_t bytes,
                        void (*body)(struct bcri_coroutine *self))
{
    *co = (struct bcri_coroutine){.low = low, .bytes = bytes, .body = body};
    int error = make(co);
    if (error == 0)
        bcri_sanitizer_made(co);
    return error;
}

void bcri_coroutine_drop(struct bcri_coroutine *co)
{
    bcri_sanitizer_dropped(co);
    drop(co);
    co->context = NULL;
}
