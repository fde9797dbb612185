/* SPDX-License-Identifier: MIT */
/* visit.c -- a client's proxied stream: here, or on another host. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <bcr/error.h>

#include "carry/carry.h"
#include "wire/wire.h"

/* A helper shall not get a file or terminal of the daemon's user as its stream: what it says is for
 * a process that reads. */
static bool is_stream(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;
    return fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

const char *enl_proxy_ask(struct enl_carry *carry, struct enl_conn *conn, struct bcri_incoming *in)
{
    const struct bcri_control *message = &in->message;
    char reason[512] = "", ordinal[16], text[BCRI_CONTROL_TEXT_MAX + 1];
    int code = bcrE_ENLIST;
    if (!is_stream(in->fds[0]))
        return "relay without a stream";
    struct enl_proxy_wish wish = {
        .kind = message->kind, .stream = in->fds[0], .requester = conn, .id = message->id};
    snprintf(ordinal, sizeof ordinal, "%u", message->ordinal);
    bcri_view_copy(message->text, text, sizeof text);
    wish.arguments[0] = ordinal;
    wish.arguments[1] = text;
    if (carry->self->phase != ENL_RUNNING)
        snprintf(reason, sizeof reason, "the program is %s",
                 carry->self->phase == ENL_PREPARING ? "not running yet" : "ending");
    else if ((message->present & BCRI_HAS(host)) != 0 && message->host != carry->self->host_number)
        code = enl_far_ask(carry, conn, message, bcri_incoming_take(in, 0), reason, sizeof reason);
    else if (enl_proxy_start(carry, &wish, reason, sizeof reason) > 0)
        code = 0;
    if (code == 0 && message->kind == BCRI_RELAY_DEBUG && strcmp(text, "pane") == 0)
        carry->ops->pane_wanted(carry->self->session, message->host, message->ordinal);
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status) |
                                                  (code == 0 ? BCRI_HAS(count) : BCRI_HAS(text)),
                                       .id = message->id,
                                       .status = (uint32_t)code,
                                       .count = carry->ops->host_numbers(carry->self->program),
                                       .text = bcri_view_of(reason)};
    enl_conn_send(conn, &reply, NULL, 0);
    return NULL;
}
