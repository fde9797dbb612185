/* SPDX-License-Identifier: MIT */
/* host.c -- bcr_host. */
#include <string.h>

#include <bcr.h>

#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

static int refuse_host(int code)
{
    bcri_set_errno(code);
    return -1;
}

int bcr_host(int k, char *name, int length)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    struct bcri_incoming in;
    if (ctx == NULL)
        return -1;
    if (k < 0 || length < 0 || (name == NULL && length != 0))
        return refuse_host(bcrE_ARG);
    if (k > (int)BCRI_CCE_MAX)
        return 0;
    struct bcri_control request = {
        .type = BCRI_MSG_host_name, .present = BCRI_HAS(index), .index = (uint32_t)k};
    int code = bcri_client_call(ctx->client, &request, -1, &in);
    if (code != 0)
        return refuse_host(code);
    bcri_incoming_close(&in);
    const struct bcri_control *reply = &in.message;
    if (reply->type != BCRI_MSG_reply)
        return refuse_host(bcrE_ENLIST);
    if (reply->status != 0)
        return refuse_host((int)reply->status);
    if (reply->count == 0)
        return 0;
    if (length == 0)
        return (int)reply->count;
    if (!bcri_view_copy(reply->text, name, (size_t)length))
        return refuse_host(bcrE_ARG);
    return (int)reply->count;
}
