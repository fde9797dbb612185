/* SPDX-License-Identifier: MIT */
/* From references to addresses of this process: the table of mapped segments, and the records of
 * CCEs: ctx.h. */
#include "bcri/ctx.h"

#include <string.h>
#include <sys/mman.h>

#include "bcr/error.h"
#include "bcri/corrupt.h"
#include "bcri/segment.h"

#define MAP_BYTES     (BCRI_SEG_MAX * sizeof(struct bcri_mapping) + NOWHERE_BYTES)
#define NOWHERE_BYTES 65536u

static void *private_table(size_t bytes)
{
    void *table =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

int bcri_map_init(struct bcri_ctx *ctx)
{
    ctx->map = private_table(MAP_BYTES);
    return ctx->map != NULL ? 0 : bcrE_NOMEM;
}

void bcri_map_fini(struct bcri_ctx *ctx)
{
    if (ctx->map == NULL)
        return;
    bcri_segment_unmap_all(ctx);
    munmap(ctx->map, MAP_BYTES);
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

const char *bcri_cce_text(struct bcri_ctx *ctx, uint32_t index, char out[BCRI_CCE_TEXT_MAX])
{
    return bcri_record_text(ctx, bcri_record(ctx, index), index, out);
}
