/* SPDX-License-Identifier: MIT */
/* Setting up and taking down the private side of a CCE: ctx.h. */
#include "bcri/ctx.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "bcr/error.h"
#include "bcri/archtype.h"
#include "bcri/cces.h"
#include "bcri/corrupt.h"
#include "bcri/hooks.h"
#include "bcri/lock.h"
#include "bcri/segment.h"
#include "bcri/slot.h"

#define MAP_BYTES     (BCRI_SEG_MAX * sizeof(struct bcri_mapping) + NOWHERE_BYTES)
#define NOWHERE_BYTES 65536u

void *bcri_ctx_alloc(size_t bytes)
{
    void *at = aligned_alloc(alignof(struct bcri_ctx), bytes);
    return at != NULL ? memset(at, 0, bytes) : NULL;
}

static void *private_table(size_t bytes)
{
    void *table =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return table == MAP_FAILED ? NULL : table;
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
    ctx->full_fence = !bcri_membarrier_register();
    ctx->map = private_table(MAP_BYTES);
    return ctx->map != NULL ? 0 : bcrE_NOMEM;
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
    if (error != 0)
        goto fail;
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
    free(ctx->daemon.looks);
    free(ctx->kept.list);
    free(ctx->slots.stack);
    if (ctx->map != NULL) {
        bcri_segment_unmap_all(ctx);
        munmap(ctx->map, MAP_BYTES);
    }
    memset(ctx, 0, sizeof *ctx);
}

/* False for a segment that cannot be mapped: it may exist, or have existed. */
static bool segment_never_was(const struct bcri_ctx *ctx, uint32_t seg)
{
    return seg >= bcri_host_segments(ctx->host) ||
           bcri_load_acquire(&ctx->host->segments[seg].state) == BCRI_SEG_UNUSED;
}

bool bcri_leads_nowhere(const struct bcri_ctx *ctx, bcri_ref ref)
{
    const uint32_t seg = bcri_ref_seg(ref);
    return ctx->map[seg].base != NULL ? (uint32_t)ref >= ctx->map[seg].units : segment_never_was(ctx, seg);
}

void *bcri_at_stale(struct bcri_ctx *ctx, bcri_ref ref)
{
    (void)bcri_segment_map(ctx, bcri_ref_seg(ref));
    return bcri_at_mapped(ctx, ref);
}

void *bcri_at_slow(struct bcri_ctx *ctx, bcri_ref ref)
{
    void *at = bcri_at_stale(ctx, ref);
    if (at == NULL && bcri_leads_nowhere(ctx, ref))
        bcri_corrupt(ctx, "a reference that leads nowhere", ref);
    return at;
}

void *bcri_nowhere(struct bcri_ctx *ctx)
{
    return memset((unsigned char *)(void *)ctx->map + MAP_BYTES - NOWHERE_BYTES, 0, 256);
}

bool bcri_at_has(struct bcri_ctx *ctx, bcri_ref ref, uint64_t bytes)
{
    return bcri_at_stale(ctx, ref) != NULL &&
           (ctx->map[bcri_ref_seg(ref)].units - (uint32_t)ref) * BCRI_REF_UNIT >= bytes;
}

/* A segment of records never changes, so a CCE that has found it keeps its number. */
static uint32_t learn_record_seg(struct bcri_ctx *ctx, uint32_t group)
{
    uint32_t seg = bcri_load_acquire(&ctx->host->record_seg[group]);
    if (seg == 0)
        return 0;
    bcri_ref first = bcri_ref_make(seg & (BCRI_SEG_MAX - 1), 0);
    if (seg < BCRI_SEG_MAX && ctx->host->segments[seg].kind == BCRI_SEG_RECORDS) {
        if (bcri_at_has(ctx, first, (uint64_t)BCRI_RECORDS_PER_SEG * BCRI_RECORD_BYTES))
            return ctx->record_seg[group] = seg;
        if (bcri_at(ctx, first) == NULL)
            return 0; /* it cannot be mapped */
    }
    bcri_corrupt(ctx, "the directory of records", first);
    return 0;
}

bcri_ref bcri_record_ref(struct bcri_ctx *ctx, uint32_t index)
{
    if (index >= BCRI_CCE_MAX)
        return BCRI_REF_NONE;
    uint32_t group = index / BCRI_RECORDS_PER_SEG, seg = ctx->record_seg[group];
    if (bcri_unlikely(seg == 0) && (seg = learn_record_seg(ctx, group)) == 0)
        return BCRI_REF_NONE;
    return bcri_ref_make(seg, (uint64_t)(index % BCRI_RECORDS_PER_SEG) * BCRI_RECORD_BYTES);
}

struct bcri_record_shm *bcri_record(struct bcri_ctx *ctx, uint32_t index)
{
    bcri_ref ref = bcri_record_ref(ctx, index);
    return ref != BCRI_REF_NONE ? bcri_at(ctx, ref) : NULL;
}
