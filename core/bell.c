/* SPDX-License-Identifier: MIT */
/* Futexes and the current processor: bell.h. */
#include "bcri/bell.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void bcri_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};
    /* FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock. */
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, deadline_ns != UINT64_MAX ? &until : NULL, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

void bcri_futex_wake(_Atomic uint32_t *word, int32_t most)
{
    syscall(SYS_futex, word, FUTEX_WAKE, most, NULL, NULL, 0);
}

uint32_t bcri_current_cpu(void)
{
    /* The C library registers a restartable-sequence area per thread, in which the kernel keeps the processor number. */
    if (__rseq_size != 0) {
        const struct rseq *area =
            (const struct rseq *)(const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);
        uint32_t cpu = *(const volatile uint32_t *)&area->cpu_id;
        if ((int32_t)cpu >= 0)
            return cpu % 255;
    }
    int cpu = sched_getcpu();
    return cpu >= 0 ? (uint32_t)cpu % 255 : 0;
}
