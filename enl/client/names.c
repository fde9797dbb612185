/* SPDX-License-Identifier: MIT */
/* names.c -- bcr_publish and bcr_find: the root's daemon has the names (enl/job/names.c). */
#include <string.h>

#include <bcr/program.h>

#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

static bool may_be_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strnlen(name, BCRI_NAME_MAX + 1) <= BCRI_NAME_MAX;
}

int bcr_publish(const char *name, int cell)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    struct bcri_resolved *resolved;
    struct bcri_incoming in;
    if (ctx == NULL)
        return -1;
    int code = !may_be_name(name) ? bcrE_ARG : 0;
    if (code == 0 && cell != 0)
        code = bcri_resolved_find(ctx, 1, cell, &resolved); /* 1 is this CCE itself */
    if (code == 0 && ctx->client == NULL)
        code = bcrE_ENLIST;
    if (code == 0) {
        struct bcri_control request = {.type = BCRI_MSG_publish,
                                       .present = BCRI_HAS(text) | BCRI_HAS(cell),
                                       .text = bcri_view_of(name),
                                       .cell = (uint32_t)cell};
        code = bcri_client_ask(ctx->client, &request, -1, &in);
    }
    return code == 0 ? 0 : bcri_fail(code);
}

int bcr_find(const char *name, bcr_cce_id *cce, int *cell, int msec)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    struct bcri_client_call call;
    int id;
    if (ctx == NULL)
        return -1;
    if (!may_be_name(name))
        return bcri_fail(bcrE_ARG);
    if (ctx->client == NULL)
        return bcri_fail(bcrE_ENLIST);
    struct bcri_control request = {.type = BCRI_MSG_find,
                                   .present = BCRI_HAS(text) | BCRI_HAS(size),
                                   .text = bcri_view_of(name),
                                   .size = msec < 0 ? UINT64_MAX : (uint64_t)msec};
    int code = bcri_client_begin(ctx->client, &call, &request, NULL, 0);
    if (code == 0)
        code = bcri_client_finish(&call);
    if (code == 0)
        code = bcri_cce_decode(ctx, call.identity, &id);
    if (code != 0)
        return bcri_fail(code);
    if (cce != NULL)
        *cce = id;
    if (cell != NULL)
        *cell = (int)call.cell;
    return 0;
}
