/* SPDX-License-Identifier: MIT */
/* names.c -- bcr_publish and bcr_find: the root's daemon has the names (enl/job/names.c). */
#include <string.h>

#include <bcr/program.h>

#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

enum { NAME_MAX_BYTES = 255 };

static bool may_be_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strnlen(name, NAME_MAX_BYTES + 1) <= NAME_MAX_BYTES;
}

static int end_call(int code)
{
    if (code == 0)
        return 0;
    bcri_set_errno(code);
    return -1;
}

/* Returns a bcrE_ code. */
static int ask(struct bcri_client *client, struct bcri_control *request,
               uint8_t identity[BCRI_IDENTITY_BYTES], uint64_t *cell)
{
    struct bcri_client_call call;
    int code = bcri_client_begin(client, &call, request, NULL, 0);
    if (code != 0)
        return code;
    code = bcri_client_finish(&call);
    memcpy(identity, call.identity, BCRI_IDENTITY_BYTES);
    *cell = call.cell;
    return code;
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
    return end_call(code);
}

int bcr_find(const char *name, bcr_cce_id *cce, int *cell, int msec)
{
    BCRI_CALL_COMPOSED;
    struct bcri_ctx *ctx = bcri_enter();
    uint8_t identity[BCRI_IDENTITY_BYTES] = {0};
    uint64_t number = 0;
    if (ctx == NULL)
        return -1;
    if (!may_be_name(name))
        return end_call(bcrE_ARG);
    if (ctx->client == NULL)
        return end_call(bcrE_ENLIST);
    struct bcri_control request = {.type = BCRI_MSG_find,
                                   .present = BCRI_HAS(text) | BCRI_HAS(size),
                                   .text = bcri_view_of(name),
                                   .size = msec < 0 ? UINT64_MAX : (uint64_t)msec};
    const int code = ask(ctx->client, &request, identity, &number);
    if (code != 0)
        return end_call(code);
    int id;
    if (bcri_cce_decode(ctx, identity, &id) != 0)
        return end_call(bcrE_NOMEM);
    if (cce != NULL)
        *cce = id;
    if (cell != NULL)
        *cell = (int)number;
    return 0;
}
