/* SPDX-License-Identifier: MIT */
/* bcr_send, bcr_sendm, bcr_recv: copying and communication in one. bcr.h is their manual.
 *
 * Data goes from the caller's buffer into the region that will lie in the cell, and from the region
 * into the buffer, with no buffer in between. */
#include <bcr.h>

#include "bcri/archtype.h"
#include "bcri/copier.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

static int refuse(int code)
{
    bcri_set_errno(code);
    return -2;
}

/* Frees a region after a failure; bcr_errno stays what it was. */
static void give_up(bcr_region rgid)
{
    int code = bcr_errno;
    (void)bcr_rgfree(rgid);
    bcri_set_errno(code);
}

/* Makes a region of just the size that the data take, and copies them into it. Returns what the
 * copy returned; less than 1: the caller holds nothing. */
static int pack(struct bcri_ctx *ctx, const void *buffer, int len, const int *buftype, int repl, int archtype,
                bcr_region *rgid_out)
{
    if (buffer == NULL && len != 0)
        return refuse(bcrE_ARG);
    if (archtype == 0)
        archtype = bcri_archtype_native();
    struct bcri_copier *copier = bcri_copier_of(ctx);
    if (copier == NULL)
        return refuse(bcrE_NOMEM);
    struct bcri_copy_result size = bcri_copy_size(copier, buftype, repl, archtype, 0, len);
    if (size.error != 0)
        return refuse(size.error);
    bcr_region rgid = bcr_rgalloc((size.ret < 0 ? -size.ret : size.ret) - 2, archtype);
    if (rgid == NULL)
        return -1;
    BCRI_CALL_GOES_ON(ctx);
    struct bcri_slot_shm *slot;
    int error = bcri_id_live(ctx, rgid, &slot);
    if (error != 0)
        return refuse(error);
    const struct bcri_copy_region region = bcri_copy_describe(ctx, slot, 0);
    int ret = bcri_copy_finish(bcri_copy_in(ctx, buftype, repl, &region, buffer, len));
    if (ret < 1)
        give_up(rgid);
    else
        *rgid_out = rgid;
    return ret;
}

int bcr_send(const void *buffer, int len, const int *buftype, int repl, bcr_cce_id cce, int cell, int qlike,
             int archtype)
{
    BCRI_CALL_COMPOSED;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -2;
    bcr_region rgid = NULL;
    int ret = pack(ctx, buffer, len, buftype, repl, archtype, &rgid);
    if (ret < 1)
        return ret;
    if (bcr_put(qlike, rgid, cce, cell, bcr_FREE) != 0) {
        give_up(rgid);
        return -2;
    }
    return ret;
}

int bcr_sendm(const void *buffer, int len, const int *buftype, int repl, int ncells, const int *cells,
              int qlike, int archtype)
{
    BCRI_CALL_COMPOSED;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -2;
    if (ncells < 0 || (cells == NULL && ncells != 0))
        return refuse(bcrE_ARG);
    bcr_region rgid = NULL;
    int ret = pack(ctx, buffer, len, buftype, repl, archtype, &rgid);
    if (ret < 1)
        return ret;
    /* bcr_NOFREE, since bcr_putm keeps the region after some failures and frees it after others. */
    int failed = bcr_putm(qlike, rgid, ncells, cells, bcr_NOFREE);
    BCRI_CALL_GOES_ON(ctx);
    give_up(rgid);
    return failed != 0 ? -2 : ret;
}

int bcr_recv(void *buffer, int len, const int *buftype, int repl, bcr_cce_id cce, int cell, int qlike,
             int msec)
{
    BCRI_CALL_COMPOSED;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    if (msec == bcr_PENDING)
        return bcri_fail(bcrE_ARG);
    /* A call that cannot copy must not take a region. */
    const struct bcri_copy_region none = {.data = NULL};
    if (!bcri_copy_arguments_good(buftype, repl, &none, buffer, len))
        return refuse(bcrE_ARG);
    struct bcri_copier *copier = bcri_copier_of(ctx);
    int error = copier != NULL ? bcri_copydesc_check(copier, buftype) : bcrE_NOMEM;
    if (error != 0)
        return refuse(error);
    bcr_region rgid = bcr_get(qlike, cce, cell, msec);
    if (rgid == NULL)
        return -1;
    BCRI_CALL_GOES_ON(ctx);
    struct bcri_slot_shm *slot;
    error = bcri_id_live(ctx, rgid, &slot);
    if (error != 0)
        return refuse(error);
    const struct bcri_copy_region region = bcri_copy_describe(ctx, slot, 0);
    int ret = bcri_copy_finish(bcri_copy_out(ctx, buftype, repl, &region, buffer, len));
    give_up(rgid);
    return ret;
}
