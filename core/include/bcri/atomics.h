/* SPDX-License-Identifier: MIT */
/* Atomic access with the order in the helper's name, and the compiler fence between journal steps.
 *
 * Every word that one process may change while another uses it is _Atomic (only the trace ring is
 * not). The helpers below are the only way to access it, except for read-modify-write operations,
 * which name their order in the call. bcri_step() keeps program order in the compiled code and
 * nothing more. That is enough for journals: a killed process has executed a prefix of its program,
 * and the daemon sees every store of that prefix by the time the kernel tells it of the death.
 * bcri_step() orders nothing between two running processes.
 *
 * Source: C11 memory model; Linux membarrier(2) for the asymmetric fences in lock.c. */
#ifndef BCRI_ATOMICS_H
#define BCRI_ATOMICS_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define BCRI_CACHELINE 64
/* Some processors fetch the other line of an aligned pair with each line that they miss. Lines of
 * which each belongs to a process of its own are not one pair (docs/adr/0024). */
#define BCRI_LINE_PAIR 128

#define bcri_load(p)             atomic_load_explicit((p), memory_order_relaxed)
#define bcri_load_acquire(p)     atomic_load_explicit((p), memory_order_acquire)
#define bcri_store(p, v)         atomic_store_explicit((p), (v), memory_order_relaxed)
#define bcri_store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define bcri_step()              atomic_signal_fence(memory_order_seq_cst)

static_assert(ATOMIC_INT_LOCK_FREE == 2, "32-bit words must be lock-free");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit words must be lock-free");

static inline void bcri_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* For the few routines on the fast paths whose callers pass constants, which decide most of the
 * routine's branches at compile time. */
#define BCRI_INLINE static inline __attribute__((always_inline))

#define bcri_likely(x)   __builtin_expect(!!(x), 1)
#define bcri_unlikely(x) __builtin_expect(!!(x), 0)

/* Fetches the cache line of `p` for writing. On x86-64 the instruction is written out: unless a
 * compiler is told that every processor knows PREFETCHW, it turns the builtin into a prefetch for
 * reading, which leaves the line shared. (A 64-bit processor that does not know PREFETCHW does
 * nothing.) */
static inline void bcri_prefetch_write(const volatile void *p)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const volatile char *)p));
#else
    __builtin_prefetch((const void *)p, 1, 3);
#endif
}

#endif
