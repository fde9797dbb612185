/* SPDX-License-Identifier: MIT */
/* Setting up and taking down the private side of a CCE: ctx.h. */
#include "bcri/ctx.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bcr/error.h"
#include "bcri/archtype.h"
#include "bcri/cces.h"
#include "bcri/clock.h"
#include "bcri/hooks.h"
#include "bcri/lock.h"
#include "bcri/private.h"
#include "bcri/segment.h"
#include "bcri/slot.h"
#include "bcri/wakefd.h"
#include "bcri/wakes.h"

void *bcri_ctx_alloc(size_t bytes)
{
    static_assert(alignof(struct bcri_ctx) == BCRI_CACHELINE, "what bcri_private_aligned gives");
    void *at = bcri_private_aligned(bytes);
    return at != NULL ? memset(at, 0, bytes) : NULL;
}

static int ctx_prepare(struct bcri_ctx *ctx, uint32_t index, const struct bcri_upcalls *upcalls, void *up)
{
    memset(ctx, 0, sizeof *ctx);
    ctx->index = index;
    ctx->tag = BCRI_TAG(index);
    ctx->upcalls = upcalls;
    ctx->up = up;
    ctx->putwait_msec = -1;
    ctx->last_cpu = 255;
    ctx->bell_fd = -1;
    ctx->coarse_ns =
        bcri_clock_coarse_ns(); /* 0 would say that what it does before it first sleeps was never done */
    ctx->daemon.parks = upcalls->of_daemon;
    ctx->full_fence = !bcri_membarrier_register();
    return bcri_map_init(ctx);
}

static bool stack_first_slots(struct bcri_ctx *ctx)
{
    if (!bcri_slot_room(ctx, BCRI_FIRST_SLOTS))
        return false;
    ctx->slots.base[0] = ctx->record->slots;
    ctx->slots.count[0] = BCRI_FIRST_SLOTS;
    ctx->slots.chunks = 1;
    for (uint32_t i = BCRI_FIRST_SLOTS; i-- > 0;)
        if (bcri_load(&ctx->record->slots[i].word) == 0)
            bcri_slot_give(ctx, &ctx->record->slots[i]);
    return true;
}

static const _Atomic uint32_t always = 1;

int bcri_ctx_init(struct bcri_ctx *ctx, int host_fd, uint32_t index, uint32_t layout,
                  const struct bcri_upcalls *upcalls, void *up)
{
    struct stat status;
    if (fstat(host_fd, &status) != 0 || (uint64_t)status.st_size != sizeof(struct bcri_host_shm))
        return bcrE_ARG;
    int error = ctx_prepare(ctx, index, upcalls, up);
    if (error != 0)
        goto fail;
    ctx->host = bcri_segment_map_fd(ctx, BCRI_HOST_SEG, host_fd, sizeof(struct bcri_host_shm));
    error = bcrE_NOMEM;
    if (ctx->host == NULL)
        goto fail;
    error = bcrE_ARG;
    if (ctx->host->magic != BCRI_HOST_MAGIC || ctx->host->layout != layout)
        goto fail;
    /* Not the affinity of this CCE: it may be pinned to one processor, and the CCE that it waits
     * for to another. It learns where that CCE runs from what that CCE puts (cells/wait.c). */
    ctx->cpus = (int)(bcri_load(&ctx->host->cpus) & INT_MAX);
    ctx->archtype = (uint32_t)bcri_archtype_native();
    ctx->record = bcri_record(ctx, index);
    error = bcrE_NOMEM;
    if (ctx->record == NULL)
        goto fail;
    ctx->journal = &ctx->record->journal;
    ctx->bell = &ctx->record->bell;
    ctx->trace = ctx->record->trace;
    ctx->sleepers_at = ctx->full_fence ? &always : &ctx->bell->lock_sleepers;
    error = stack_first_slots(ctx) ? bcri_ids_init(ctx) : bcrE_NOMEM;
    if (error == 0)
        error = bcri_wakes_make(ctx, 0, 1);
    if (error != 0)
        goto fail;
    bcri_wakes_open(ctx, 0, 1);
    return 0;

fail:
    bcri_ctx_fini(ctx);
    return error;
}

void bcri_ctx_fini(struct bcri_ctx *ctx)
{
    if (ctx->hooks != NULL)
        ctx->hooks->fini(ctx);
    bcri_ids_fini(ctx);
    bcri_wakes_fini(ctx);
    bcri_wakefd_fini(ctx);
    bcri_private_free(ctx->daemon.looks);
    bcri_private_free(ctx->kept.list);
    bcri_private_free(ctx->slots.stack);
    bcri_map_fini(ctx);
    memset(ctx, 0, sizeof *ctx);
}
