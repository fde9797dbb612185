/* SPDX-License-Identifier: MIT */
/* See wakefd.h. */
#include "bcri/wakefd.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/clock.h"
#include "bcri/descriptor.h"

/* By what the daemon knows the eventfd of CCE `index`: no cell lies in the host segment. */
static bcri_ref number_of(uint32_t index)
{
    return bcri_ref_make(BCRI_HOST_SEG, (uint64_t)index * BCRI_REF_UNIT);
}

/* A record is used by one CCE after another; their identities differ in what nobody can guess. */
static uint64_t generation_of(const struct bcri_record_shm *record)
{
    uint64_t generation;
    memcpy(&generation, record->id.identity + BCRI_IDENTITY_BYTES - sizeof generation, sizeof generation);
    return generation;
}

static bool contains(int set, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return fd >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0;
}

int bcri_wakefd_make(struct bcri_ctx *ctx)
{
    if (bcri_wakefd_exists(ctx))
        return 0;
    const int set = bcri_descriptor_aside(epoll_create1(EPOLL_CLOEXEC));
    const int event = bcri_descriptor_aside(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    const int timer = bcri_descriptor_aside(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (set >= 0 && contains(set, event) && contains(set, timer) && ctx->fd_upcalls != NULL &&
        ctx->fd_upcalls->set(ctx->up, number_of(ctx->index), event) == 0) {
        ctx->wakefd = (struct bcri_ctx_wakefd){.fd = set, .event = event, .timer = timer};
        return 0;
    }
    if (set >= 0)
        close(set);
    if (event >= 0)
        close(event);
    if (timer >= 0)
        close(timer);
    return bcrE_NOMEM;
}

void bcri_wakefd_fini(struct bcri_ctx *ctx)
{
    if (!bcri_wakefd_exists(ctx))
        return;
    close(ctx->wakefd.fd);
    close(ctx->wakefd.event);
    close(ctx->wakefd.timer);
}

/* Neither blocks; what cannot be read was not readable. */
static void drain(int fd)
{
    uint64_t count;
    if (read(fd, &count, sizeof count) < 0)
        (void)0;
}

static void write_one(int fd)
{
    static const uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0)
        (void)0; /* its counter is full: then it is readable */
}

void bcri_wakefd_deadline(struct bcri_ctx *ctx, uint64_t deadline_ns)
{
    const bool never = deadline_ns == BCRI_DEADLINE_NEVER;
    if (!bcri_wakefd_armed(ctx) || (never && !ctx->wakefd.timed))
        return;
    const uint64_t at_ns = never ? 0 : deadline_ns != 0 ? deadline_ns : 1;
    const struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(at_ns / 1000000000u), .tv_nsec = (long)(at_ns % 1000000000u)}};
    ctx->wakefd.timed = !never;
    timerfd_settime(ctx->wakefd.timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Model: wakefd.pml */
void bcri_wakefd_arm(struct bcri_ctx *ctx)
{
    drain(ctx->wakefd.event);
    if (ctx->wakefd.timed)
        drain(ctx->wakefd.timer);
    atomic_store_explicit(&ctx->record->requests.asleep, 1, memory_order_seq_cst);
    atomic_store_explicit(&ctx->bell->sleeping, BCRI_SLEEPS_IN_POLL, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
}

void bcri_wakefd_ring(const struct bcri_ctx *ctx, const struct bcri_record_shm *record)
{
    if (record == ctx->record)
        write_one(ctx->wakefd.event);
    else if (ctx->fd_upcalls != NULL)
        ctx->fd_upcalls->ring(ctx->up, number_of(record->id.index), generation_of(record));
}

/* Model: wakefd.pml */
void bcri_bell_awake(struct bcri_ctx *ctx, uint32_t before)
{
    bcri_store(&ctx->bell->sleeping, BCRI_AWAKE);
    if (bcri_unlikely(before == BCRI_SLEEPS_IN_POLL))
        write_one(ctx->wakefd.event);
}
