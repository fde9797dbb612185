/* SPDX-License-Identifier: MIT */
/* Coroutines: several stacks in one thread. One of them runs at a time, and says which one runs
 * next.
 *
 * A switch saves the registers that a call preserves, the floating-point modes and the stack
 * pointer, and nothing else: no signal mask, no system call. It is made by Boost.Context's assembly
 * (plain C symbols). Where that library is missing it is made by ucontext(3), which is some thirty
 * times slower. Where the library is there, both are built and tested.
 *
 * The switch is inline. A processor predicts where a routine returns to by the calls before it, and
 * mispredicts each routine that returns on another stack than it was called on.
 *
 * AddressSanitizer and ThreadSanitizer are told of each switch and of each stack.
 *
 * A coroutine may be resumed by another thread than the one that ran it before, never by two at
 * once. Source: Boost.Context, "fcontext_t"; sanitizer/common_interface_defs.h,
 * sanitizer/tsan_interface.h. */
#ifndef BCRI_COROUTINE_H
#define BCRI_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>

#include "bcri/sanitizer.h"

/* Makes *co a coroutine that runs `body` on the `bytes` bytes from `low` on when it is switched to
 * for the first time. The body never returns. Returns 0 or bcrE_NOMEM. */
int bcri_coroutine_make(struct bcri_coroutine *co, void *low, size_t bytes,
                        void (*body)(struct bcri_coroutine *self));
/* Forgets a coroutine that is not running; its stack may be used for something else then. */
void bcri_coroutine_drop(struct bcri_coroutine *co);

#if BCRI_FCONTEXT

/* What libboost_context exports; its headers are C++. */
struct bcri_transfer {
    void *context; /* where the coroutine that switched is to go on */
    void *passed;
};
struct bcri_transfer jump_fcontext(void *to, void *passed);

static inline void bcri_coroutine_jump(struct bcri_coroutine *self, struct bcri_coroutine *to)
{
    struct bcri_transfer came = jump_fcontext(to->context, to);
    self->from->context = came.context;
}

#else

void bcri_coroutine_jump(struct bcri_coroutine *self, struct bcri_coroutine *to);

#endif

/* Switches from `from`, which runs, to `to`. Returns when a coroutine switches back to `from`. A
 * zeroed coroutine that was never made stands for the calling thread's own stack. */
static inline void bcri_coroutine_switch(struct bcri_coroutine *from, struct bcri_coroutine *to)
{
    to->from = from;
    bcri_sanitizer_leaving(from, to);
    bcri_coroutine_jump(from, to);
    bcri_sanitizer_arrived(from, from->from);
}

/* Which of the two switches: "fcontext" or "ucontext". */
const char *bcri_coroutine_kind(void);

#endif
