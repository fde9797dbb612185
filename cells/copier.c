/* SPDX-License-Identifier: MIT */
/* From slots and contexts to what copydesc wants, for the routines that copy. */
#include "bcri/copier.h"

#include "bcr/error.h"
#include "bcri/cces.h"

static int encode(void *ctx, int id, uint8_t out[16])
{
    return bcri_cce_encode(ctx, id, out);
}

static int decode(void *ctx, const uint8_t in[16], int *id_out)
{
    return bcri_cce_decode(ctx, in, id_out);
}

struct bcri_copier *bcri_copier_make(struct bcri_ctx *ctx)
{
    ctx->copier = bcri_copier_create(bcri_reverse_best());
    return ctx->copier;
}

void bcri_copier_fini(struct bcri_ctx *ctx)
{
    bcri_copier_destroy(ctx->copier);
    ctx->copier = NULL;
}

static const struct bcri_copy_result no_memory = {-2, bcrE_NOMEM};

struct bcri_copy_result bcri_copy_in(struct bcri_ctx *ctx, const int *copydesc, int repl,
                                     const struct bcri_copy_region *region, const void *buffer, int buflen)
{
    const struct bcri_cce_codec codec = {ctx, encode, decode};
    struct bcri_copier *copier = bcri_copier_of(ctx);
    return copier ? bcri_copy_to_region(copier, copydesc, repl, region, buffer, buflen, &codec) : no_memory;
}

struct bcri_copy_result bcri_copy_out(struct bcri_ctx *ctx, const int *copydesc, int repl,
                                      const struct bcri_copy_region *region, void *buffer, int buflen)
{
    const struct bcri_cce_codec codec = {ctx, encode, decode};
    struct bcri_copier *copier = bcri_copier_of(ctx);
    return copier ? bcri_copy_from_region(copier, copydesc, repl, region, buffer, buflen, &codec) : no_memory;
}
