/* SPDX-License-Identifier: MIT */
/* Setting up and taking down the private side of a CCE: ctx.h. */
#include "bcri/ctx.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/cces.h"
#include "bcri/lock.h"
#include "bcri/segment.h"
#include "bcri/slot.h"

static void *private_table(size_t bytes)
{
    void *table =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

/* Processors that CCEs may run on at the same time. Not this one's affinity: it may be pinned to one, and the CCE that it
 * waits for to another. Where that one runs is learnt from what it puts (cells/wait.c). */
static int running_cpus(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static int ctx_prepare(struct bcri_ctx *ctx, const struct bcri_upcalls *upcalls, void *up)
{
    memset(ctx, 0, sizeof *ctx);
    ctx->upcalls = upcalls;
    ctx->up = up;
    ctx->putwait_msec = -1;
    ctx->last_cpu = 255;
    ctx->cpus = running_cpus();
    ctx->full_fence = !bcri_membarrier_register();
    ctx->base = private_table(BCRI_SEG_MAX * sizeof *ctx->base);
    ctx->map_size = private_table(BCRI_SEG_MAX * sizeof *ctx->map_size);
    return ctx->base != NULL && ctx->map_size != NULL ? 0 : bcrE_NOMEM;
}

static void link_first_slots(struct bcri_ctx *ctx)
{
    ctx->slot_base[0] = ctx->record->slots;
    ctx->slot_count[0] = BCRI_FIRST_SLOTS;
    bcri_ref record = bcri_record_ref(ctx, ctx->index);
    ctx->slot_first = bcri_ref_make(bcri_ref_seg(record),
                                    bcri_ref_offset(record) + offsetof(struct bcri_record_shm, slots));
    ctx->slot_chunks = 1;
    for (uint32_t i = BCRI_FIRST_SLOTS; i-- > 0;)
        if (bcri_load(&ctx->record->slots[i].word) == 0)
            bcri_slot_give(ctx, &ctx->record->slots[i]);
}

int bcri_ctx_init(struct bcri_ctx *ctx, int host_fd, uint32_t index, uint32_t layout,
                  const struct bcri_upcalls *upcalls, void *up)
{
    struct stat status;
    if (fstat(host_fd, &status) != 0 || (uint64_t)status.st_size != sizeof(struct bcri_host_shm))
        return bcrE_ARG;
    int error = ctx_prepare(ctx, upcalls, up);
    if (error != 0)
        goto fail;
    ctx->host = bcri_segment_map_fd(ctx, BCRI_HOST_SEG, host_fd, sizeof(struct bcri_host_shm));
    error = bcrE_NOMEM;
    if (ctx->host == NULL)
        goto fail;
    error = bcrE_ARG;
    if (ctx->host->magic != BCRI_HOST_MAGIC || ctx->host->layout != layout)
        goto fail;
    ctx->index = index;
    ctx->tag = BCRI_TAG(index);
    ctx->record = bcri_record(ctx, index);
    error = bcrE_NOMEM;
    if (ctx->record == NULL)
        goto fail;
    ctx->journal = &ctx->record->journal;
    ctx->bell = &ctx->record->bell;
    link_first_slots(ctx);
    error = bcri_ids_init(ctx);
    if (error != 0)
        goto fail;
    return 0;

fail:
    bcri_ctx_fini(ctx);
    return error;
}

void bcri_ctx_fini(struct bcri_ctx *ctx)
{
    bcri_ids_fini(ctx);
    if (ctx->base != NULL) {
        if (ctx->map_size != NULL)
            bcri_segment_unmap_all(ctx);
        munmap(ctx->base, BCRI_SEG_MAX * sizeof *ctx->base);
    }
    if (ctx->map_size != NULL)
        munmap(ctx->map_size, BCRI_SEG_MAX * sizeof *ctx->map_size);
    memset(ctx, 0, sizeof *ctx);
}

void *bcri_at_slow(struct bcri_ctx *ctx, bcri_ref ref)
{
    unsigned char *base = bcri_segment_map(ctx, bcri_ref_seg(ref));
    return base != NULL ? base + bcri_ref_offset(ref) : NULL;
}

bcri_ref bcri_record_ref(struct bcri_ctx *ctx, uint32_t index)
{
    if (index >= BCRI_CCE_MAX)
        return BCRI_REF_NONE;
    uint32_t seg = bcri_load_acquire(&ctx->host->record_seg[index / BCRI_RECORDS_PER_SEG]);
    if (seg == 0)
        return BCRI_REF_NONE;
    return bcri_ref_make(seg, (uint64_t)(index % BCRI_RECORDS_PER_SEG) * BCRI_RECORD_BYTES);
}

struct bcri_record_shm *bcri_record(struct bcri_ctx *ctx, uint32_t index)
{
    bcri_ref ref = bcri_record_ref(ctx, index);
    return ref != BCRI_REF_NONE ? bcri_at(ctx, ref) : NULL;
}
