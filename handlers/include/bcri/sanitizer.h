/* SPDX-License-Identifier: MIT */
/* A coroutine, and what AddressSanitizer, ThreadSanitizer and valgrind are told of coroutines and
 * their stacks.
 *
 * AddressSanitizer keeps the bounds of the stack that runs, and may keep frames elsewhere
 * (`fake_stack`). ThreadSanitizer keeps a call stack and a clock for each coroutine (`fiber`); a
 * switch orders what was done before it and what is done after it.
 *
 * Valgrind reads around in the stack that it takes for the running one, so it must know where each
 * stack ends. Telling it takes a few instructions when a stack is made, which do nothing outside
 * valgrind.
 *
 * Include bcri/coroutine.h, not this. */
#ifndef BCRI_SANITIZER_H
#define BCRI_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define BCRI_SANITIZER_ADDRESS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BCRI_SANITIZER_ADDRESS 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define BCRI_SANITIZER_THREAD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BCRI_SANITIZER_THREAD 1
#endif
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifdef BCRI_SANITIZER_ADDRESS
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef BCRI_SANITIZER_THREAD
#include <sanitizer/tsan_interface.h>
#endif

struct bcri_coroutine {
    void *context; /* where it goes on */
    unsigned char *low;
    size_t bytes; /* of its stack; a thread's own: as far as a sanitizer says, else 0 */
    void (*body)(struct bcri_coroutine *self); /* NULL: a thread's own */
    struct bcri_coroutine *from;               /* the coroutine that switched to it last */
    void *fake_stack;                          /* of AddressSanitizer */
    void *fiber;                               /* of ThreadSanitizer */
    unsigned valgrind_id;
};

/* Whether the tool reads guards: valgrind's leak check reads whatever it takes for memory. A page
 * that faults without a mapping of its own costs it a signal each. */
static inline bool bcri_sanitizer_reads_guards(void)
{
#ifdef RUNNING_ON_VALGRIND
    return RUNNING_ON_VALGRIND;
#else
    return false;
#endif
}

static inline void bcri_sanitizer_made(struct bcri_coroutine *co)
{
    (void)co;
#ifdef VALGRIND_STACK_REGISTER
    co->valgrind_id = (unsigned)VALGRIND_STACK_REGISTER(co->low, co->low + co->bytes);
#endif
#ifdef BCRI_SANITIZER_ADDRESS
    __lsan_register_root_region(co->low, co->bytes); /* the leak check looks there, too */
#endif
#ifdef BCRI_SANITIZER_THREAD
    co->fiber = __tsan_create_fiber(0);
#endif
}

static inline void bcri_sanitizer_dropped(struct bcri_coroutine *co)
{
    (void)co;
#ifdef VALGRIND_STACK_REGISTER
    VALGRIND_STACK_DEREGISTER(co->valgrind_id);
#endif
#ifdef BCRI_SANITIZER_ADDRESS
    __lsan_unregister_root_region(co->low, co->bytes);
#endif
#ifdef BCRI_SANITIZER_THREAD
    __tsan_destroy_fiber(co->fiber);
#endif
}

/* Just before the switch. */
static inline void bcri_sanitizer_leaving(struct bcri_coroutine *from, struct bcri_coroutine *to)
{
    (void)from;
    (void)to;
#ifdef BCRI_SANITIZER_ADDRESS
    __sanitizer_start_switch_fiber(&from->fake_stack, to->low, to->bytes);
#endif
#ifdef BCRI_SANITIZER_THREAD
    if (from->body == NULL)
        from->fiber = __tsan_get_current_fiber(); /* a thread's own */
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
}

/* Just after it, on the stack of `self`, which was switched to by `from`. */
static inline void bcri_sanitizer_arrived(struct bcri_coroutine *self, struct bcri_coroutine *from)
{
    (void)self;
    (void)from;
#ifdef BCRI_SANITIZER_ADDRESS
    const void *low;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake_stack, &low, &bytes);
    if (from->body == NULL && from->low != low) {
        /* A thread's own stack: while the thread's own code is stopped, the leak check does not
         * look into that stack unless told to. */
        if (from->low != NULL)
            __lsan_unregister_root_region(from->low, from->bytes);
        from->low = (unsigned char *)(uintptr_t)low;
        from->bytes = bytes;
        __lsan_register_root_region(low, bytes);
    }
#endif
}

#endif
