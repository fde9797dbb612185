/* SPDX-License-Identifier: MIT */
/* watch.c -- bcr_watch and bcr_unwatch: the daemon keeps who is to be told (enl/host/watches.c). */
#include <bcr/program.h>

#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/ids.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

static int ask(bcr_cce_id cce, int cell, bool begins)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    struct bcri_resolved *resolved;
    struct bcri_incoming in;
    if (ctx == NULL)
        return -1;
    static const uint8_t started[BCRI_IDENTITY_BYTES]; /* no CCE's: those that this CCE starts */
    const struct bcri_cce *entry = cce != bcr_STARTED ? bcri_cce_lookup(ctx, cce) : NULL;
    const uint8_t *identity = entry != NULL ? entry->identity : started;
    int code = entry == NULL && cce != bcr_STARTED ? bcrE_NOCCE
               : cce == 1                          ? bcrE_ARG
               : cell == 0                         ? bcrE_RESERVED
                                                   : 0;
    if (code == 0)
        code = bcri_resolved_find(ctx, 1, cell, &resolved); /* 1 is this CCE itself */
    if (code == 0 && ctx->client == NULL)
        code = bcrE_ENLIST;
    if (code == 0) {
        struct bcri_control request = {.type = BCRI_MSG_watch,
                                       .present = BCRI_HAS(enlistor) | BCRI_HAS(cell) | BCRI_HAS(generation) |
                                                  BCRI_HAS(kind),
                                       .enlistor = {(const char *)identity, BCRI_IDENTITY_BYTES},
                                       .cell = resolved->ref,
                                       .generation = (uint32_t)(resolved->open >> 32),
                                       .kind = begins};
        code = bcri_client_ask(ctx->client, &request, -1, &in);
    }
    return code == 0 ? 0 : bcri_fail(code);
}

int bcr_watch(bcr_cce_id cce, int cell)
{
    BCRI_CALL;
    return ask(cce, cell, true);
}

int bcr_unwatch(bcr_cce_id cce, int cell)
{
    BCRI_CALL;
    return ask(cce, cell, false);
}
