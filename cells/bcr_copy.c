/* SPDX-License-Identifier: MIT */
/* bcr_copyto, bcr_copyfm: regions on one side, copydesc's interpreter on the other. bcr.h is their manual. */
#include <bcr.h>

#include "bcri/archtype.h"
#include "bcri/cces.h"
#include "bcri/copydesc.h"
#include "bcri/flow.h"
#include "bcri/ids.h"
#include "bcri/self.h"

static int encode(void *ctx, int id, uint8_t out[16])
{
    return bcri_cce_encode(ctx, id, out);
}
static int decode(void *ctx, const uint8_t in[16], int *id_out)
{
    return bcri_cce_decode(ctx, in, id_out);
}

static int refuse(int code)
{
    bcri_set_errno(code);
    return -2;
}

static int finish(struct bcri_copy_result result)
{
    if (result.error != 0)
        bcri_set_errno(result.error);
    return result.ret;
}

static struct bcri_copy_region describe(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, int offset)
{
    bcri_ref ref = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at(ctx, ref);
    return (struct bcri_copy_region){.data = (void *)bcri_region_data(ctx, ref),
                                     .length_bytes = (int)header->length,
                                     .offset_bytes = offset,
                                     .archtype = (int)header->archtype};
}

int bcr_copyfm(const int *copydesc, int repl, void **rgid, int offset, void *buffer, int buflen)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -2;
    struct bcri_slot_shm *slot;
    int error = bcri_id_live(ctx, rgid, &slot);
    if (error != 0)
        return refuse(error);
    const struct bcri_copy_region region = describe(ctx, slot, offset);
    const struct bcri_cce_codec codec = {ctx, encode, decode};
    return finish(bcri_copy_from_region(copydesc, repl, &region, buffer, buflen, &codec));
}

int bcr_copyto(const int *copydesc, int repl, void **rgid, int offset, const void *buffer, int buflen)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -2;
    struct bcri_slot_shm *slot;
    int error = bcri_id_live(ctx, rgid, &slot);
    if (error != 0)
        return refuse(error);
    struct bcri_copy_region region = describe(ctx, slot, offset);
    /* What cannot be copied must not cost the sharers their common copy. */
    error = bcri_copy_arguments_good(copydesc, repl, &region, buffer, buflen) ? bcri_copydesc_check(copydesc)
                                                                              : bcrE_ARG;
    if (error != 0)
        return refuse(error);
    if (region.archtype == bcri_archtype_native()) {
        error = bcri_region_own(ctx, slot);
        if (error != 0)
            return refuse(error);
        region = describe(ctx, slot, offset);
    }
    const struct bcri_cce_codec codec = {ctx, encode, decode};
    return finish(bcri_copy_to_region(copydesc, repl, &region, buffer, buflen, &codec));
}
