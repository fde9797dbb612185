/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "carry/carry.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/error.h>

#include "wire/wire.h"

enum { FARS_MAX = 1024, WINDOW = 65536, WINDOW_STEP = WINDOW / 4, FRAME_BYTES = 2048 };

struct enl_far {
    LIST_ENTRY(enl_far) entry;
    struct enl_carry *carry;
    struct enl_conn *peer;      /* to the other daemon; NULL: nothing more is sent there */
    struct enl_conn *requester; /* the command; NULL: gone, or the helper is here */
    uint32_t id, requester_id;
    pid_t helper; /* here, not reaped; 0: none */
    int fd;       /* of the stream */
    uv_poll_t poll;
    int events;          /* that are polled */
    uint32_t may_send;   /* bytes that the other daemon takes now */
    uint32_t owed;       /* bytes written to the stream, to be told */
    uint32_t out_length; /* bytes in `out` that the stream has not taken */
    bool over;           /* nothing more is sent, but for `status` */
    bool shut;           /* the stream is of no use any more */
    bool write_failed;   /* the helper here reads no more */
    uint32_t status;
    char text[256];
    uint8_t out[WINDOW];
};

/* ---- beginning and end ---- */

static void on_event(uv_poll_t *poll, int status, int events);

static struct enl_far *far_new(struct enl_carry *carry, struct enl_conn *peer, uint32_t id, int fd)
{
    unsigned count = 0;
    struct enl_far *far;
    LIST_FOREACH (far, &carry->fars, entry)
        count++;
    far = count < FARS_MAX ? calloc(1, sizeof *far) : NULL;
    if (far == NULL || uv_poll_init(&carry->self->loop, &far->poll, fd) != 0) {
        free(far);
        close(fd);
        return NULL;
    }
    far->poll.data = far;
    far->carry = carry;
    far->peer = peer;
    far->id = id;
    far->fd = fd;
    far->may_send = WINDOW;
    LIST_INSERT_HEAD(&carry->fars, far, entry);
    return far;
}

static void on_far_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void far_free(struct enl_far *far)
{
    LIST_REMOVE(far, entry);
    uv_close((uv_handle_t *)&far->poll, on_far_closed);
    close(far->fd);
}

/* Polls the stream for what can be done with it now. */
static void watch(struct enl_far *far)
{
    const int events = (far->may_send != 0 && !far->over && far->peer != NULL ? UV_READABLE : 0) |
                       (far->out_length != 0 ? UV_WRITABLE : 0);
    if (far->shut || events == far->events)
        return;
    far->events = events;
    if (events == 0)
        uv_poll_stop(&far->poll);
    else
        uv_poll_start(&far->poll, events, on_event);
}

/* The descriptor stays, as long as libuv knows its number. */
static void shut_stream(struct enl_far *far)
{
    if (far->shut)
        return;
    uv_poll_stop(&far->poll);
    shutdown(far->fd, SHUT_RDWR);
    far->shut = true;
    far->out_length = 0;
}

/* ---- what is sent ---- */

static void send_of_proxy(struct enl_far *far, const struct bcri_control *message)
{
    if (far->peer != NULL)
        enl_peer_send(far->peer->peer, message);
}

static struct bcri_control end_of(uint32_t id, uint32_t status, const char *text)
{
    return (struct bcri_control){.type = BCRI_MSG_relay_end,
                                 .present =
                                     BCRI_HAS(id) | BCRI_HAS(status) | (text[0] != '\0' ? BCRI_HAS(text) : 0),
                                 .id = id,
                                 .status = status,
                                 .text = bcri_view_of(text)};
}

static void send_end(struct enl_far *far, uint32_t status, const char *text)
{
    const struct bcri_control end = end_of(far->id, status, text);
    send_of_proxy(far, &end);
}

static void tell_requester(struct enl_far *far, uint32_t status, const char *text)
{
    const struct bcri_control end = end_of(far->requester_id, status, text);
    if (far->requester != NULL)
        enl_conn_send(far->requester, &end, NULL, 0);
    far->requester = NULL;
}

/* The helper here has ended, and all that it has written is sent. */
static bool is_done_here(const struct enl_far *far)
{
    return far->requester_id == 0 && far->helper == 0 && far->over;
}

/* The stream has ended. At the root's that is the command, which wants no more. */
static void stream_ended(struct enl_far *far)
{
    shut_stream(far);
    far->over = true;
    if (far->requester_id != 0) {
        send_end(far, 0, "");
        tell_requester(far, 0, "");
        far_free(far);
    } else if (is_done_here(far)) {
        send_end(far, far->status, far->text);
        far_free(far);
    }
}

/* Reads from the stream. False: it has ended. */
static bool read_stream(struct enl_far *far)
{
    char bytes[FRAME_BYTES];
    const size_t most = far->may_send < sizeof bytes ? far->may_send : sizeof bytes;
    const ssize_t got = most != 0 ? recv(far->fd, bytes, most, MSG_DONTWAIT) : 1;
    if (most == 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return true;
    if (got <= 0)
        return false;
    const struct bcri_control message = {.type = BCRI_MSG_relay_bytes,
                                         .present = BCRI_HAS(id) | BCRI_HAS(bytes),
                                         .id = far->id,
                                         .bytes = {bytes, (uint32_t)got}};
    far->may_send -= (uint32_t)got;
    send_of_proxy(far, &message);
    return true;
}

/* Writes to the stream. False: the command has gone. A helper that reads no more may still have
 * written something. */
static bool write_some(struct enl_far *far)
{
    const ssize_t put = sendto(far->fd, far->out, far->out_length, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
    if (put < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (put < 0) {
        far->write_failed = true;
        far->out_length = 0;
        return far->requester_id == 0;
    }
    far->out_length -= (uint32_t)put;
    memmove(far->out, far->out + put, far->out_length);
    far->owed += (uint32_t)put;
    if (far->owed >= WINDOW_STEP) {
        const struct bcri_control window = {.type = BCRI_MSG_relay_window,
                                            .present = BCRI_HAS(id) | BCRI_HAS(size),
                                            .id = far->id,
                                            .size = far->owed};
        far->owed = 0;
        send_of_proxy(far, &window);
    }
    return true;
}

/* The other daemon has said the end, and all that came before it is written. */
static bool end_at_root(struct enl_far *far)
{
    if (far->requester_id == 0 || !far->over || far->out_length != 0)
        return false;
    shut_stream(far);
    tell_requester(far, far->status, far->text);
    far_free(far);
    return true;
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct enl_far *far = poll->data;
    if (status != 0) { /* the calls below find the error, perhaps behind what was sent before it */
        events = UV_READABLE | UV_WRITABLE;
        far->events = 0; /* libuv polls no more: watch() has to begin again */
    }
    if ((events & UV_WRITABLE) != 0 && far->out_length != 0 && !write_some(far)) {
        stream_ended(far);
        return;
    }
    if ((events & UV_READABLE) != 0 && !far->over && !read_stream(far)) {
        stream_ended(far);
        return;
    }
    if (!end_at_root(far))
        watch(far);
}

/* ---- a client's request ---- */

static int ask_other_host(struct enl_carry *carry, struct enl_conn *requester,
                          const struct bcri_control *message, int fd, char *reason, unsigned reason_size)
{
    static uint32_t last_id;
    struct enl_conn *daemon = carry->ops->daemon_of(carry->self->program, message->host);
    struct bcri_control proxy = *message;
    if (daemon == NULL || message->id == 0) {
        close(fd);
        snprintf(reason, reason_size, "host %u is not part of the program, or no longer", message->host);
        return bcrE_NOHOST;
    }
    struct enl_far *far = far_new(carry, daemon, ++last_id, fd);
    if (far == NULL) {
        snprintf(reason, reason_size, "enl has no memory, or too much to do, for another stream");
        return bcrE_NOMEM;
    }
    far->requester = requester;
    far->requester_id = message->id;
    proxy.id = far->id;
    send_of_proxy(far, &proxy);
    watch(far);
    return 0;
}

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
        code = ask_other_host(carry, conn, message, bcri_incoming_take(in, 0), reason, sizeof reason);
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

/* ---- the helper's side ---- */

static void helper_ended(void *data, int wait_status)
{
    struct enl_far *far = data;
    far->helper = 0;
    far->status =
        (uint32_t)(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status)) & 0xffu;
    if (far->peer == NULL) { /* nobody asks any more */
        far_free(far);
    } else if (is_done_here(far)) {
        send_end(far, far->status, "");
        far_free(far);
    }
}

/* Nobody wants the helper's words any more. */
static void abandon(struct enl_far *far)
{
    far->peer = NULL;
    shut_stream(far);
    if (far->helper != 0)
        kill(-far->helper, SIGKILL);
    else
        far_free(far);
}

const char *enl_far_begin(struct enl_carry *carry, struct enl_conn *parent,
                          const struct bcri_control *message)
{
    char reason[256] = "enl there has no memory", ordinal[16];
    char text[BCRI_CONTROL_TEXT_MAX + 1];
    int pair[2];
    struct enl_far *far = NULL;
    if (message->host != carry->self->host_number)
        return "it asks for a stream of another host";
    if (carry->self->phase != ENL_RUNNING)
        snprintf(reason, sizeof reason, "the program is ending");
    else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        far = far_new(carry, parent, message->id, pair[0]);
        if (far == NULL)
            close(pair[1]);
    } else
        snprintf(reason, sizeof reason, "enl there has no socket: %s", strerror(errno));
    if (far == NULL) {
        struct enl_far none = {.peer = parent, .id = message->id};
        send_end(&none, bcrE_NOMEM, reason);
        return NULL;
    }
    snprintf(ordinal, sizeof ordinal, "%u", message->ordinal);
    bcri_view_copy(message->text, text, sizeof text);
    const struct enl_proxy_wish wish = {.kind = message->kind,
                                        .arguments = {ordinal, text},
                                        .stream = pair[1],
                                        .done = helper_ended,
                                        .data = far};
    far->helper = enl_proxy_start(carry, &wish, reason, sizeof reason);
    close(pair[1]);
    if (far->helper < 0) {
        far->helper = 0;
        send_end(far, bcrE_ENLIST, reason);
        far_free(far);
        return NULL;
    }
    watch(far);
    return NULL;
}

/* ---- what the other daemon says ---- */

static const char *take_bytes(struct enl_far *far, const struct bcri_control *message)
{
    if (message->bytes.length > WINDOW - far->out_length - far->owed)
        return "it sends more of a stream than it may";
    if (far->shut || far->write_failed) { /* nobody reads it, and the window stays shut */
        far->owed += message->bytes.length;
        return NULL;
    }
    memcpy(far->out + far->out_length, message->bytes.bytes, message->bytes.length);
    far->out_length += message->bytes.length;
    if (!write_some(far))
        stream_ended(far);
    else
        watch(far);
    return NULL;
}

static void take_end(struct enl_far *far, const struct bcri_control *message)
{
    if (far->requester_id == 0) {
        abandon(far);
        return;
    }
    far->over = true;
    far->status = message->status;
    bcri_view_copy(message->text, far->text, sizeof far->text);
    if (!end_at_root(far))
        watch(far);
}

const char *enl_far_take(struct enl_carry *carry, struct enl_conn *peer, const struct bcri_control *message)
{
    struct enl_far *far;
    LIST_FOREACH (far, &carry->fars, entry)
        if (far->id == message->id && far->peer == peer)
            break;
    if (far == NULL)
        return NULL; /* it has ended here, and the other side does not know yet */
    switch (message->type) {
    case BCRI_MSG_relay_bytes: return take_bytes(far, message);
    case BCRI_MSG_relay_window:
        if (message->size > WINDOW - far->may_send)
            return "a window that is none";
        far->may_send += (uint32_t)message->size;
        watch(far);
        return NULL;
    default: take_end(far, message); return NULL;
    }
}

void enl_far_forget(struct enl_carry *carry, const struct enl_conn *conn)
{
    for (struct enl_far *far = LIST_FIRST(&carry->fars), *next; far != NULL; far = next) {
        next = LIST_NEXT(far, entry);
        if (far->requester == conn) {
            far->requester = NULL;
            stream_ended(far);
        } else if (far->peer == conn && far->requester_id == 0) {
            abandon(far);
        } else if (far->peer == conn) {
            far->peer = NULL;
            far->over = true;
            far->status = 1;
            snprintf(far->text, sizeof far->text, "its host is gone");
            shut_stream(far);
            end_at_root(far);
        }
    }
}

void enl_far_close(struct enl_carry *carry)
{
    while (!LIST_EMPTY(&carry->fars))
        far_free(LIST_FIRST(&carry->fars));
}
