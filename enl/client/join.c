/* SPDX-License-Identifier: MIT */
/* join.c -- the handshake with the daemon.
 *
 *   CCE                                            enl
 *    | -- hello {layout, ...} + private socket -->  |   on the inherited socket; credentials name
 *    |                                              |   the process. enl waits until it is enlisted
 *    |                                              |   and its birth region is in cell 0
 *    | <-- welcome {index, ...} + host segment,     |   on the private socket
 *    |            kill socket                       |
 *
 * A process that enters a program by itself says enter in place of hello; enl enlists it at once.
 *
 * The kill socket is armed before anything else. From then on the daemon's death, by whatever
 * signal, kills this process even if it only computes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/archtype.h"
#include "bcri/client.h"
#include "bcri/failure.h"
#include "bcri/signature.h"

/* Called in the middle of an operation, so it must not wait: a message for which the socket has no
 * room is not sent. */
static void tell_of_holder(struct bcri_ctx *ctx, uint32_t index)
{
    bcri_client_tell(
        ctx->client,
        &(const struct bcri_control){.type = BCRI_MSG_blocked_by, .present = BCRI_HAS(index), .index = index},
        false);
}

/* Asks for SIGKILL when the other end is closed. Any process that shares the open file may ask; the
 * kernel sends the signal to the process that is named here, not to its forks. */
static void arm_kill_socket(struct bcri_client *client)
{
    struct pollfd look = {.fd = client->kill_socket, .events = 0};
    if (fcntl(client->kill_socket, F_SETSIG, SIGKILL) != 0 ||
        fcntl(client->kill_socket, F_SETOWN, getpid()) != 0 ||
        fcntl(client->kill_socket, F_SETFL, O_NONBLOCK | O_ASYNC) != 0)
        bcri_client_complain("cannot watch enl (%s); should enl be killed, this process will live on",
                             strerror(errno));
    if (poll(&look, 1, 0) == 1)
        raise(SIGKILL); /* it was closed before the signal was asked for */
}

static int take_welcome(struct bcri_client *client, struct bcri_incoming *in, int flags)
{
    const struct bcri_control *message = &in->message;
    int host_fd = bcri_incoming_take(in, 0);
    client->kill_socket = bcri_incoming_take(in, 1);
    const bool has_team = (message->flags & BCRI_WELCOME_TEAM) != 0;
    if (host_fd < 0 || client->kill_socket < 0 || message->enlistor.length != BCRI_IDENTITY_BYTES ||
        message->random.length != (client->awaited != 0 ? BCRI_NONCE_BYTES : message->random.length)) {
        bcri_client_complain(
            "enl's welcome lacks a part; are this program and enl from the same installation?");
        bcri_incoming_close(in);
        if (host_fd >= 0)
            close(host_fd);
        return bcrE_ENLIST;
    }
    arm_kill_socket(client);
    if (client->direct) /* it ends with enl even if the program closes enl's sockets */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    int code = has_team ? bcri_client_take_team(client, in->fds[2], message->rank) : 0;
    if (code == 0)
        code = bcri_ctx_init(&client->ctx, host_fd, message->index, bcri_layout_signature(),
                             &bcri_client_upcalls, client);
    close(host_fd);
    if (code != 0) {
        bcri_incoming_close(in);
        close(client->kill_socket);
        if (code != bcrE_ARG)
            return code;
        bcri_client_complain(
            "enl lays out shared memory differently; link this program with enl's own library");
        return bcrE_ENLIST;
    }
    memcpy(client->enlistor, message->enlistor.bytes, BCRI_IDENTITY_BYTES);
    bcri_client_take_cores(client, message);
    if (has_team)
        close(bcri_incoming_take(in, 2));
    client->ctx.client = client;
    client->ctx.fd_upcalls = &bcri_client_fd_upcalls;
    client->ctx.holder_stays = tell_of_holder;
    client->ctx.bell_fd = bcri_incoming_take(in, has_team ? 3 : 2);
    client->ctx.flags = flags;
    client->reports_crashes = (message->flags & BCRI_WELCOME_CRASHES) != 0;
    client->reports_locals = (message->flags & BCRI_WELCOME_LOCALS) != 0;
    prctl(PR_SET_PTRACER, (unsigned long)client->ctx.host->enl_pid, 0, 0, 0);
    return 0;
}

/* Reports why the daemon has refused this process. Returns a code. */
static int explain_refusal(const struct bcri_incoming *in)
{
    char text[1024];
    bcri_view_copy(in->message.text, text, sizeof text);
    int status = in->message.type == BCRI_MSG_reply ? (int)in->message.status : 0;
    bcri_client_complain("enl does not take this process: %s", text[0] != '\0' ? text : "no reason given");
    return status != 0 ? status : bcrE_ENLIST;
}

/* Whether `fd` leads to a program's address, to which enl --join has connected it, and not to the
 * daemon that has started this process. */
static bool is_visit(int fd)
{
    struct sockaddr_un peer;
    socklen_t length = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && length > sizeof peer.sun_family;
}

int bcri_client_join(struct bcri_client *client, int fd, int flags, const char *ccename)
{
    char name[256];
    snprintf(name, sizeof name, "%s",
             ccename != NULL && ccename[0] != '\0' ? ccename : program_invocation_short_name);

    int pair[2];
    if (bcri_channel_pair(pair) != 0) {
        char failure[BCRI_FAILURE_TEXT_MAX];
        bcri_client_complain("no socket for enl: %s", bcri_failure_text("", failure));
        close(fd);
        return bcrE_NOMEM;
    }
    struct stat status = {0};
    fstat(pair[1], &status);
    if (is_visit(fd) && !client->enters && client->awaited == 0)
        bcri_client_complain("pid %ld waits until a bcr_enlist asks for %s", (long)getpid(), name);
    client->pid = getpid();
    client->fd = pair[1];
    client->fd_device = status.st_dev;
    client->fd_inode = status.st_ino;
    client->last_id = 1;
    struct bcri_control hello = {.type = client->enters ? BCRI_MSG_enter : BCRI_MSG_hello,
                                 .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) |
                                            BCRI_HAS(flags) | BCRI_HAS(ccename),
                                 .id = 1,
                                 .layout = bcri_layout_signature(),
                                 .archtype = (uint32_t)bcri_archtype_native(),
                                 .flags = (uint32_t)flags,
                                 .ccename = bcri_view_of(name)};
    int error = bcri_channel_send(fd, &hello, &pair[0], 1, true);
    close(pair[0]);
    close(fd);
    struct bcri_incoming in;
    int came = error == 0 ? bcri_channel_recv(client->fd, &in, true) : 0;
    int code = bcrE_ENLIST;
    /* The other end is gone with the first two. */
    if ((error != 0 && error != -EPIPE && error != -ECONNRESET) || came < 0)
        bcri_client_complain("cannot %s enl: %s: %s", error != 0 ? "tell" : "hear",
                             error != 0 ? "sendmsg" : "recvmsg", strerror(error != 0 ? -error : -came));
    else if (came == 0 && client->direct)
        bcri_client_complain(
            "enl ended before this program was its root; unless it has said why, see whether "
            "enlistpath names an enl (enl --show-config)");
    else if (came == 0)
        bcri_client_complain("enl has not taken this process: the program has ended, or its log says why");
    else if (in.wrong != NULL)
        bcri_client_complain("enl's answer makes no sense (%s)", in.wrong);
    else if (in.message.type != BCRI_MSG_welcome)
        code = explain_refusal(&in);
    else
        code = take_welcome(client, &in, flags);
    if (came <= 0 && client->direct)
        exit(127);
    if (code != 0)
        close(client->fd);
    return code;
}
