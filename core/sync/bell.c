/* SPDX-License-Identifier: MIT */
/* Futexes and the current processor: bell.h. */
#include "bcri/bell.h"

#include "bcri/wakefd.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where time_t has more bits than a machine word, the kernel has another call for it. */
#ifdef SYS_futex_time64
#define FUTEX_CALL (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX_CALL SYS_futex
#endif

void bcri_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};
    /* FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock. */
    syscall(FUTEX_CALL, word, FUTEX_WAIT_BITSET, expected, deadline_ns != UINT64_MAX ? &until : NULL, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

void bcri_futex_wake(_Atomic uint32_t *word, int32_t most)
{
    syscall(FUTEX_CALL, word, FUTEX_WAKE, most, NULL, NULL, 0);
}

/* Model: bell.pml, wakefd.pml */
void bcri_bell_wake(const struct bcri_ctx *ctx, struct bcri_record_shm *record, uint32_t sleeping)
{
    static const uint64_t one = 1;
    if (sleeping == BCRI_SLEEPS_IN_POLL)
        bcri_wakefd_ring(ctx, record);
    else if (sleeping != BCRI_SLEEPS_IN_EPOLL)
        bcri_futex_wake(&record->bell.bell, 1);
    else if (write(ctx->bell_fd, &one, sizeof one) < 0)
        (void)0; /* its counter is full: then it is readable */
}

/* Model: bell.pml, wake.pml */
bool bcri_bell_epoll_begin(struct bcri_ctx *ctx, uint32_t seen)
{
    atomic_store_explicit(&ctx->bell->sleeping, BCRI_SLEEPS_IN_EPOLL, memory_order_seq_cst);
    return atomic_load_explicit(&ctx->bell->bell, memory_order_seq_cst) == seen;
}

/* Model: bell.pml */
void bcri_bell_epoll_end(struct bcri_ctx *ctx)
{
    bcri_store(&ctx->bell->sleeping, BCRI_AWAKE);
}

uint32_t bcri_current_cpu_slow(void)
{
    int cpu = sched_getcpu();
    return cpu >= 0 ? (uint32_t)cpu & 0xffu : 0;
}
