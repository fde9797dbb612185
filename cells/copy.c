/* SPDX-License-Identifier: MIT */
/* bcr_copyto, bcr_copyfm, bcr_copytofm, bcr_copytosz, bcr_descshow: from region IDs to what
 * copydesc copies. bcr.h is their manual. */
#include <bcr.h>

#include "bcri/archtype.h"
#include "bcri/copier.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/own.h"
#include "bcri/region.h"
#include "bcri/self.h"
#include "bcri/slot.h"

static int refuse(int code)
{
    bcri_set_errno(code);
    return -2;
}

/* The calling CCE's context, and the slot of the region to copy. NULL: bcr_errno says why. */
BCRI_INLINE struct bcri_ctx *begin(bcr_region rgid, struct bcri_slot_shm **slot_out)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    const int error = bcri_likely(ctx != NULL) ? bcri_id_live(ctx, rgid, slot_out) : 0;
    if (bcri_likely(error == 0))
        return ctx;
    bcri_set_errno(error);
    return NULL;
}

int bcr_copyfm(const int *copydesc, int repl, bcr_region rgid, int offset, void *buffer, int buflen)
{
    BCRI_CALL;
    struct bcri_slot_shm *slot;
    struct bcri_ctx *ctx = begin(rgid, &slot);
    if (bcri_unlikely(ctx == NULL))
        return -2;
    const struct bcri_copy_region region = bcri_copy_describe(ctx, slot, offset);
    return bcri_copy_finish(bcri_copy_out(ctx, copydesc, repl, &region, buffer, buflen));
}

static bool is_own(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot)
{
    const struct bcri_region_shm *header = bcri_at(ctx, bcri_slot_region(bcri_load(&slot->word)));
    return bcri_load_acquire(&header->count) == BCRI_COUNT_ONE;
}

/* Makes the region that is to be written the caller's alone. A copy that will be refused must not
 * cost the sharers their common region, so a bad descriptor is refused before; the caller has
 * checked the other arguments. */
static int own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, const int *copydesc)
{
    if (is_own(ctx, slot))
        return 0;
    const struct bcri_region_shm *header = bcri_at(ctx, bcri_slot_region(bcri_load(&slot->word)));
    if (!bcri_archtype_valid((int)header->archtype))
        return 0; /* nothing will be written */
    struct bcri_copier *copier = bcri_copier_of(ctx);
    int error = copier ? bcri_copydesc_check(copier, copydesc) : bcrE_NOMEM;
    return error != 0 ? error : bcri_region_own(ctx, slot);
}

int bcr_copyto(const int *copydesc, int repl, bcr_region rgid, int offset, const void *buffer, int buflen)
{
    BCRI_CALL;
    struct bcri_slot_shm *slot;
    struct bcri_ctx *ctx = begin(rgid, &slot);
    if (bcri_unlikely(ctx == NULL))
        return -2;
    struct bcri_copy_region region = bcri_copy_describe(ctx, slot, offset);
    if (bcri_unlikely(!is_own(ctx, slot))) {
        const int error = bcri_copy_arguments_good(copydesc, repl, &region, buffer, buflen)
                              ? own(ctx, slot, copydesc)
                              : bcrE_ARG;
        if (error != 0)
            return refuse(error);
        region = bcri_copy_describe(ctx, slot, offset);
    }
    return bcri_copy_finish(bcri_copy_in(ctx, copydesc, repl, &region, buffer, buflen));
}

int bcr_copytofm(const int *copydesc, int repl, bcr_region rgid_to, int off_to, bcr_region rgid_fm,
                 int off_fm)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -2;
    struct bcri_slot_shm *slot_to, *slot_fm;
    int error = bcri_id_live(ctx, rgid_to, &slot_to);
    if (error == 0)
        error = bcri_id_live(ctx, rgid_fm, &slot_fm);
    if (error != 0)
        return refuse(error);
    struct bcri_copy_region to = bcri_copy_describe(ctx, slot_to, off_to);
    struct bcri_copy_region from = bcri_copy_describe(ctx, slot_fm, off_fm);
    if (!bcri_copy_arguments_good(copydesc, repl, &to, NULL, 0) ||
        !bcri_copy_arguments_good(copydesc, repl, &from, NULL, 0))
        return refuse(bcrE_ARG);
    error = bcri_archtype_valid(from.archtype) ? own(ctx, slot_to, copydesc) : 0;
    struct bcri_copier *copier = bcri_copier_of(ctx);
    if (error == 0 && copier == NULL)
        error = bcrE_NOMEM;
    if (error != 0)
        return refuse(error);
    to = bcri_copy_describe(ctx, slot_to, off_to); /* `to` may have moved, and `from` with it */
    from = bcri_copy_describe(ctx, slot_fm, off_fm);
    return bcri_copy_finish(bcri_copy_between(copier, copydesc, repl, &to, &from));
}

int bcr_copytosz(const int *copydesc, int repl, int archtype, int offset, const void *buffer, int buflen)
{
    BCRI_CALL;
    (void)buffer; /* alignment counts from its start, wherever that is */
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_copier *copier = bcri_copier_of(ctx);
    if (copier == NULL)
        return bcri_fail(bcrE_NOMEM);
    return bcri_copy_finish(bcri_copy_size(
        copier, copydesc, repl, archtype != 0 ? archtype : bcri_archtype_native(), offset, buflen));
}

int bcr_descshow(const int *copydesc, int archtype, char *text, int size)
{
    int length = bcri_copydesc_show(copydesc, archtype != 0 ? archtype : bcri_archtype_native(), text, size);
    return length >= 0 ? length : bcri_fail(-length);
}
