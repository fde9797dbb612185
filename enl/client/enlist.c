/* SPDX-License-Identifier: MIT */
/* enlist.c -- bcr_enlist, bcr_arch and bcr_host.
 *
 * The region is copied into the request, since it has at most 64 bytes and the daemon makes one of
 * it for each new CCE. Region IDs are looked up by the public routines, so that bad ones get the
 * same codes as everywhere. */
#include <limits.h>
#include <string.h>

#include <bcr.h>

#include "bcri/archtype.h"
#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/heap.h"
#include "bcri/one_thread.h"
#include "bcri/scheduler.h"
#include "bcri/self.h"

static int refuse_call(int code)
{
    bcri_set_errno(code);
    return -1;
}

/* The answer's status, or a code. In a CCE that has handlers, these run until the answer is
 * there. */
static int ask_to_enlist(struct bcri_client *client, struct bcri_control *request)
{
    struct bcri_incoming in;
    struct bcri_client_call call;
    if (client->ctx.hooks == NULL)
        return bcri_client_ask(client, request, -1, &in);
    const int code = bcri_client_begin(client, &call, request);
    if (code != 0)
        return code;
    bcri_sched_wait_for(bcri_sched_of(&client->ctx), &call.event);
    return call.code;
}

/* What no message to the daemon has room for: 0 or a code. */
static int check_lengths(const char *mach, const char *obj, int64_t count)
{
    if (mach != NULL && strlen(mach) > 255) {
        bcri_client_complain("bcr_enlist: no machine has so long a name");
        return bcrE_NOHOST;
    }
    if (strlen(obj) >= PATH_MAX) {
        bcri_client_complain("bcr_enlist: no program has so long a name");
        return bcrE_NOPROG;
    }
    if (count > BCRI_CCE_MAX) {
        bcri_client_complain("bcr_enlist: a program has at most %u CCEs", BCRI_CCE_MAX);
        return bcrE_ENLIST;
    }
    return 0;
}

int bcr_enlist(const char *mach, int prcssr, int cceord1, const char *obj, bcr_region rgid, int nofree)
{
    BCRI_CALL_COMPOSED;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    int64_t count = prcssr >= 0 ? 1 : -(int64_t)prcssr;
    if (obj == NULL || obj[0] == '\0' || cceord1 < 0 || count - 1 > INT_MAX - cceord1)
        return refuse_call(bcrE_ARG);
    struct bcri_control request = {.type = BCRI_MSG_enlist,
                                   .present = BCRI_HAS(machine) | BCRI_HAS(core) | BCRI_HAS(count) |
                                              BCRI_HAS(ordinal) | BCRI_HAS(object),
                                   .machine = bcri_view_of(mach != NULL ? mach : ""),
                                   .core = prcssr >= 0 ? prcssr : -1,
                                   .count = (uint32_t)count,
                                   .ordinal = (uint32_t)cceord1,
                                   .object = bcri_view_of(obj)};
    if (rgid != NULL) {
        int archtype;
        int length = bcr_rglen(rgid, &archtype);
        if (length < 0)
            return -1;
        if (length > (int)BCRI_BIRTH_BYTES_MAX)
            return refuse_call(bcrE_ARG);
        const bcri_ref ref = bcri_slot_region(bcri_load(&((struct bcri_slot_shm *)(void *)rgid)->word));
        request.present |= BCRI_HAS(data) | BCRI_HAS(archtype);
        request.data = (struct bcri_view){(const void *)bcri_region_data(ctx, ref), (uint32_t)length};
        request.archtype = (uint32_t)archtype;
    }
    /* Takes back the blocks of this CCE's heap that others, such as CCEs that have ended, have
     * freed. */
    bcri_heap_collect(ctx);
    int code = check_lengths(mach, obj, count);
    if (code == 0)
        code = ask_to_enlist(ctx->client, &request);
    if (code != 0)
        return refuse_call(code);
    if (rgid != NULL && nofree == bcr_FREE)
        bcr_rgfree(rgid);
    return 0;
}

/* Asks the daemon, which may ask the root's, how CCEs of another host represent data. Returns 0 or a
 * code. CCEs that are threads of a test have no daemon: their hosts are of one machine. */
static int ask_arch(struct bcri_ctx *ctx, struct bcri_cce *cce)
{
    struct bcri_incoming in;
    struct bcri_control request = {
        .type = BCRI_MSG_host_arch, .present = BCRI_HAS(host), .host = bcri_identity_host(cce->identity)};
    if (ctx->client == NULL) {
        cce->archtype = (int)ctx->archtype;
        return 0;
    }
    const int code = bcri_client_ask(ctx->client, &request, -1, &in);
    if (code != 0)
        return code;
    if (!bcri_archtype_valid((int)in.message.archtype))
        return bcrE_ENLIST;
    cce->archtype = (int)in.message.archtype;
    return 0;
}

int bcr_arch(bcr_cce_id cceid)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_cce *cce = bcri_cce_lookup(ctx, cceid);
    if (cce != NULL && cce->record != NULL)
        return (int)cce->record->id.archtype;
    if (cce != NULL && cce->archtype != 0)
        return cce->archtype;
    int code = bcrE_NOCCE;
    if (cce != NULL && cce->absent != bcrE_NOCCE && bcri_load_acquire(&ctx->host->agent) != 0)
        code = ask_arch(ctx, cce);
    return code == 0 ? cce->archtype : refuse_call(code);
}

int bcr_host(int k, char *name, int length)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    struct bcri_incoming in;
    if (ctx == NULL)
        return -1;
    if (k < 0 || length < 0 || (name == NULL && length != 0))
        return refuse_call(bcrE_ARG);
    if (k > (int)BCRI_CCE_MAX)
        return 0;
    struct bcri_control request = {
        .type = BCRI_MSG_host_name, .present = BCRI_HAS(index), .index = (uint32_t)k};
    int code = bcri_client_ask(ctx->client, &request, -1, &in);
    if (code == 0 && in.message.count != 0 && length != 0 &&
        !bcri_view_copy(in.message.text, name, (size_t)length))
        code = bcrE_ARG;
    return code == 0 ? (int)in.message.count : refuse_call(code);
}
