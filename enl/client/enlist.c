/* SPDX-License-Identifier: MIT */
/* enlist.c -- bcr_enlist and bcr_arch. */
#include <limits.h>

#include <bcr.h>
#include <bcr/program.h>

#include "bcri/archtype.h"
#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

int bcr_enlist(const char *mach, int prcssr, int cceord1, const char *obj, bcr_region rgid, int nofree)
{
    BCRI_CALL_COMPOSED;
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = mach,
                                       .core = prcssr >= 0 ? prcssr : -1,
                                       .count = prcssr >= 0          ? 1
                                                : prcssr >= -INT_MAX ? -prcssr
                                                                     : INT_MAX,
                                       /* the ordinals of INT_MAX + 1 CCEs begin with 0, or are none */
                                       .ordinal = prcssr < -INT_MAX && cceord1 > 0 ? -1 : cceord1,
                                       .program = obj,
                                       .region = rgid,
                                       .nofree = nofree};
    return bcri_client_start(&spec, NULL, __func__) < 0 ? -1 : 0;
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
    return code == 0 ? cce->archtype : bcri_fail(code);
}
