/* SPDX-License-Identifier: MIT */
/* What the routines that copy share: regions as copydesc wants them. */
#ifndef BCRI_COPIER_H
#define BCRI_COPIER_H

#include "bcri/atomics.h"
#include "bcri/copydesc.h"
#include "bcri/ctx.h"
#include "bcri/region.h"
#include "bcri/self.h"
#include "bcri/slot.h"

/* The CCE's copier, made at its first use; NULL if there is no memory. */
struct bcri_copier *bcri_copier_make(struct bcri_ctx *ctx);
static inline struct bcri_copier *bcri_copier_of(struct bcri_ctx *ctx)
{
    return bcri_likely(ctx->copier != NULL) ? ctx->copier : bcri_copier_make(ctx);
}
void bcri_copier_fini(struct bcri_ctx *ctx);

/* The region of a LIVE slot as copydesc wants it. */
static inline struct bcri_copy_region bcri_copy_describe(struct bcri_ctx *ctx,
                                                         const struct bcri_slot_shm *slot, int offset)
{
    bcri_ref ref = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_held(ctx, ref);
    return (struct bcri_copy_region){.data = (void *)bcri_header_data(ctx, ref, header),
                                     .length_bytes = (int)header->length,
                                     .offset_bytes = offset,
                                     .archtype = (int)header->archtype};
}

/* Copies into the region of a slot that nobody else holds, and out of one. */
struct bcri_copy_result bcri_copy_in(struct bcri_ctx *ctx, const int *copydesc, int repl,
                                     const struct bcri_copy_region *region, const void *buffer, int buflen);
struct bcri_copy_result bcri_copy_out(struct bcri_ctx *ctx, const int *copydesc, int repl,
                                      const struct bcri_copy_region *region, void *buffer, int buflen);

/* Sets bcr_errno if there is a code, and gives the value to return. */
static inline int bcri_copy_finish(struct bcri_copy_result result)
{
    if (bcri_unlikely(result.error != 0))
        bcri_set_errno(result.error);
    return result.ret;
}

#endif
