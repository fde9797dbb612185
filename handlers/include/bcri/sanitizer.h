/* SPDX-License-Identifier: MIT */
/* A coroutine, and what AddressSanitizer, ThreadSanitizer and valgrind are told of coroutines and
 * their stacks.
 *
 * AddressSanitizer keeps the bounds of the stack that runs, and may keep frames elsewhere
 * (`fake_stack`). ThreadSanitizer keeps a call stack and a clock for each coroutine (`fiber`); a
 * switch orders what was done before it and what is done after it.
 *
 * They are told by weak symbols, so a user's program that is built with one of them has it told of
 * this library's switches, too, which is not. Without them a switch costs two looks at a byte that is 0.
 *
 * Valgrind reads around in the stack that it takes for the running one, so it must know where each
 * stack ends. Telling it takes a few instructions when a stack is made, which do nothing outside
 * valgrind.
 *
 * Include bcri/coroutine.h, not this. Source: sanitizer/common_interface_defs.h,
 * sanitizer/lsan_interface.h, sanitizer/tsan_interface.h. */
#ifndef BCRI_SANITIZER_H
#define BCRI_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

/* NOLINTBEGIN(bugprone-reserved-identifier): the sanitizers' names */
void __sanitizer_start_switch_fiber(void **fake_stack, const void *low, size_t bytes) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **low_out, size_t *bytes_out)
    __attribute__((weak));
void __lsan_register_root_region(const void *low, size_t bytes) __attribute__((weak));
void __lsan_unregister_root_region(const void *low, size_t bytes) __attribute__((weak));
void *__tsan_create_fiber(unsigned flags) __attribute__((weak));
void __tsan_destroy_fiber(void *fiber) __attribute__((weak));
void *__tsan_get_current_fiber(void) __attribute__((weak));
void __tsan_switch_to_fiber(void *fiber, unsigned flags) __attribute__((weak));
/* NOLINTEND(bugprone-reserved-identifier) */

/* Whether one of the two is there: known from when the first coroutine was made. */
extern bool bcri_sanitizer_is_told;

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

static inline void bcri_sanitizer_watches(const unsigned char *low, size_t bytes, bool looks)
{
    if (__lsan_register_root_region == NULL || __lsan_unregister_root_region == NULL || low == NULL)
        return;
    if (looks)
        __lsan_register_root_region(low, bytes);
    else
        __lsan_unregister_root_region(low, bytes);
}

static inline void bcri_sanitizer_made(struct bcri_coroutine *co)
{
    (void)co;
#ifdef VALGRIND_STACK_REGISTER
    co->valgrind_id = (unsigned)VALGRIND_STACK_REGISTER(co->low, co->low + co->bytes);
#endif
    bcri_sanitizer_watches(co->low, co->bytes, true); /* the leak check looks there, too */
    if (__tsan_create_fiber != NULL)
        co->fiber = __tsan_create_fiber(0);
    bcri_sanitizer_is_told = __sanitizer_start_switch_fiber != NULL || __tsan_create_fiber != NULL;
}

static inline void bcri_sanitizer_dropped(struct bcri_coroutine *co)
{
    (void)co;
#ifdef VALGRIND_STACK_REGISTER
    VALGRIND_STACK_DEREGISTER(co->valgrind_id);
#endif
    bcri_sanitizer_watches(co->low, co->bytes, false);
    if (co->fiber != NULL)
        __tsan_destroy_fiber(co->fiber);
}

/* Just before the switch. */
static inline void bcri_sanitizer_leaving(struct bcri_coroutine *from, struct bcri_coroutine *to)
{
    if (__builtin_expect(!bcri_sanitizer_is_told, true))
        return;
    if (__sanitizer_start_switch_fiber != NULL)
        __sanitizer_start_switch_fiber(&from->fake_stack, to->low, to->bytes);
    if (__tsan_switch_to_fiber != NULL) {
        if (from->body == NULL)
            from->fiber = __tsan_get_current_fiber(); /* a thread's own */
        __tsan_switch_to_fiber(to->fiber, 0);
    }
}

/* Just after it, on the stack of `self`, which was switched to by `from`. */
static inline void bcri_sanitizer_arrived(struct bcri_coroutine *self, struct bcri_coroutine *from)
{
    const void *low;
    size_t bytes;
    if (__builtin_expect(!bcri_sanitizer_is_told, true) || __sanitizer_finish_switch_fiber == NULL)
        return;
    __sanitizer_finish_switch_fiber(self->fake_stack, &low, &bytes);
    if (from->body == NULL && from->low != low) {
        /* A thread's own stack: while the thread's own code is stopped, the leak check does not
         * look into that stack unless told to. */
        bcri_sanitizer_watches(from->low, from->bytes, false);
        from->low = (unsigned char *)(uintptr_t)low;
        from->bytes = bytes;
        bcri_sanitizer_watches(from->low, from->bytes, true);
    }
}

#endif
