/* SPDX-License-Identifier: MIT */
/* tempdir.c -- bcr_tempdir: the daemon makes the directory, and has it removed (enl/host/tempdir.c). */
#include <string.h>

#include <bcr/program.h>

#include "bcri/client.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

static int take_path(struct bcri_incoming *in, char *path, size_t length)
{
    const struct bcri_control *message = &in->message;
    bcri_incoming_close(in);
    if (message->type != BCRI_MSG_reply)
        return bcrE_ENLIST;
    if (message->status != 0)
        return (int)message->status;
    if (message->folder.length == 0 || message->folder.length >= length)
        return bcrE_ARG;
    memcpy(path, message->folder.bytes, message->folder.length);
    path[message->folder.length] = '\0';
    return 0;
}

int bcr_tempdir(char *path, size_t length)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    struct bcri_incoming in;
    if (ctx == NULL)
        return -1;
    int code = path == NULL ? bcrE_ARG : ctx->client == NULL ? bcrE_ENLIST : 0;
    if (code == 0) {
        struct bcri_control request = {.type = BCRI_MSG_tempdir};
        code = bcri_client_call(ctx->client, &request, -1, &in);
    }
    if (code == 0)
        code = take_path(&in, path, length);
    return code == 0 ? 0 : bcri_fail(code);
}
