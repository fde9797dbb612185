/* SPDX-License-Identifier: MIT */
/* outdone.c -- bcr_outdone: the root's daemon asks all others (enl/job/outdone.c). */
#include <bcr/program.h>

#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

int bcr_outdone(int msec)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    struct bcri_client_call call;
    if (ctx == NULL)
        return -1;
    if (ctx->client == NULL)
        return bcri_fail(bcrE_ENLIST);
    struct bcri_control request = {
        .type = BCRI_MSG_outdone, .present = BCRI_HAS(size), .size = msec < 0 ? UINT64_MAX : (uint64_t)msec};
    struct bcri_client *const client = ctx->client;
    if (msec == bcr_PENDING || client->outdone.is_begun) {
        const int code = bcri_client_go_on(client, &client->outdone, &request, msec);
        return code == 0 ? 0 : bcri_fail(code);
    }
    int code = bcri_client_begin(client, &call, &request, NULL, 0);
    if (code == 0)
        code = bcri_client_finish(&call);
    return code == 0 ? 0 : bcri_fail(code);
}
