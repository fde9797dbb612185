/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "carry/carry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "base/watch.h"
#include "carry/outgoing.h"

struct enl_peer {
    struct enl_carry *carry;
    const struct enl_peer_ops *ops;
    void *owner;
    struct enl_watch *in;
    struct enl_outgoing out; /* of one that is reached by way of others: nothing */
    void (*flushed)(void *data);
    void *flush_data;
    struct bcri_frames *frames; /* secret memory; NULL: it has no pipes */
    struct enl_peer *via;       /* whose pipes it is reached by; NULL: its own, or the control link */
    uint32_t to;                /* its host, if it has no pipes */
    bool by_control_link;       /* it is reached by the control link to that host */
};

static void look_whether_flushed(struct enl_peer *peer)
{
    void (*done)(void *data) = peer->flushed;
    const bool waits = peer->by_control_link
                           ? peer->carry->ops->control_link_waits(peer->carry->self->links, peer->to) != 0
                           : enl_outgoing_waits(&peer->out);
    if (done == NULL || (peer->out.writes && waits))
        return;
    peer->flushed = NULL;
    done(peer->flush_data);
}

static void on_moved(struct enl_outgoing *out)
{
    look_whether_flushed(out->pipe.data);
}

static void on_failed(struct enl_outgoing *out)
{
    const struct enl_peer *peer = out->pipe.data;
    peer->ops->write_failed(peer->owner);
}

void enl_peer_send_raw(struct enl_peer *peer, const char *bytes, size_t length,
                       void (*written)(void *data, bool goes_on), void *data)
{
    enl_outgoing_send_raw(&peer->out, bytes, length, written, data);
}

/* What a daemon tells of one that it has started overtakes output in pipes, since the root waits for it. In a control link, whose
 * rows are each in order, it does not overtake what it belongs behind: a daemon's last word about itself is `ended`. */
static enum enl_haste haste_of(const struct enl_peer *peer, enum bcri_control_type type)
{
    switch (type) {
    case BCRI_MSG_carry: return ENL_OR_DROPPED;
    case BCRI_MSG_output:
    case BCRI_MSG_relay:
    case BCRI_MSG_relay_bytes:
    case BCRI_MSG_relay_window:
    case BCRI_MSG_relay_end: return ENL_IN_TURN;
    case BCRI_MSG_said:
    case BCRI_MSG_closed:
    case BCRI_MSG_ended: return peer->by_control_link ? ENL_IN_TURN : ENL_AT_ONCE;
    default: return ENL_AT_ONCE;
    }
}

/* Sends a frame in the control link, whose two rows are each in order. */
static void send_in_control_link(struct enl_peer *peer, enum bcri_control_type type, const uint8_t *frame,
                                 size_t length, enum enl_haste haste)
{
    /* A daemon that ends says beats until all else has arrived; if these counted, a long way would never be done. */
    const unsigned row = type == BCRI_MSG_beat ? ENL_ROW_PASSING : haste == ENL_AT_ONCE ? 0 : 1;
    if (length == 0 || !peer->carry->ops->control_link_send(peer->carry->self->links, peer->to, row,
                                                            frame + BCRI_FRAME_HEAD_BYTES,
                                                            (uint32_t)(length - BCRI_FRAME_HEAD_BYTES)))
        enl_outgoing_give_up(&peer->out, bcri_control_name(type),
                             length == 0 ? "it has no form" : "it does not read, or there is no memory");
}

static void send_frame(struct enl_peer *peer, enum bcri_control_type type, uint8_t *frame, size_t length,
                       enum enl_haste haste)
{
    if (peer->by_control_link)
        send_in_control_link(peer, type, frame, length, haste);
    else
        enl_outgoing_send(&peer->out, type, frame, length, haste);
}

void enl_peer_send(struct enl_peer *peer, const struct bcri_control *message)
{
    uint8_t bytes[BCRI_FRAME_BYTES_MAX];
    struct bcri_control routed;
    if (peer->via != NULL) {
        routed = *message;
        routed.present |= BCRI_HAS(to);
        routed.to = peer->to;
        message = &routed;
        peer = peer->via;
    }
    if (peer->out.writes && !peer->out.closed)
        send_frame(peer, message->type, bytes, bcri_frame_encode(message, bytes, sizeof bytes),
                   haste_of(peer, message->type));
}

void enl_peer_moved(struct enl_peer *peer)
{
    look_whether_flushed(peer);
}

void enl_peer_pass(struct enl_peer *peer, const struct enl_peer *from, enum bcri_control_type type)
{
    send_frame(peer, type, from->frames->bytes, from->frames->taken, haste_of(peer, type));
}

void enl_peer_flush(struct enl_peer *peer, void (*done)(void *data), void *data)
{
    peer->flush_data = data;
    peer->flushed = done;
    if (peer->by_control_link)
        peer->carry->ops->control_link_tell_empty(peer->carry->self->links);
    look_whether_flushed(peer);
}

int enl_peer_read(struct bcri_frames *frames, int fd, const char **why_out)
{
    uint8_t *at;
    const size_t room = bcri_frames_room(frames, &at);
    ssize_t got;
    do
        got = read(fd, at, room);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        bcri_frames_came(frames, (size_t)got);
    else if (got < 0 && errno == EAGAIN)
        return 1;
    else if (got < 0 && errno != ECONNRESET) /* of a socket: the other has ended, and had not read all */
        *why_out = strerror(errno);
    return got > 0;
}

/* `came`: 0: more has; -1: nothing comes any more, for that reason. */
static void take_frames(struct enl_peer *peer, int came, const char *why)
{
    struct bcri_control message;
    while (came == 0 && (came = bcri_frames_next(peer->frames, &message, &why)) == 1) {
        why = peer->ops->came(peer->owner, &message);
        if (peer->out.closed)
            return;
        came = why == NULL ? 0 : -1;
    }
    if (came < 0)
        peer->ops->ended(peer->owner, why);
}

static void on_frames_readable(void *data)
{
    struct enl_peer *peer = data;
    const char *why = "its pipe has ended";
    const int came = enl_peer_read(peer->frames, peer->in->fd, &why) > 0 ? 0 : -1;
    take_frames(peer, came, why);
}

void enl_peer_take_begun(struct enl_peer *peer)
{
    take_frames(peer, 0, NULL);
}

void enl_peer_printed(const struct enl_peer *peer, char out[ENL_PRINTED_MAX])
{
    char line[sizeof peer->frames->greeting + 1] = "";
    if (peer->frames !=
        NULL) /* else its starter reads its pipe, and tells by `said` what was printed there */
        bcri_frames_greeting(peer->frames, line, sizeof line);
    snprintf(out, ENL_PRINTED_MAX, line[0] != '\0' ? ENL_PRINTED "%s\n" : "%s", line);
}

static void free_peer(struct enl_peer *peer)
{
    enl_secret_free(peer->frames);
    free(peer);
}

static void on_peer_closed(uv_handle_t *handle)
{
    free_peer(handle->data);
}

/* One that sends by itself; its pipe, still closed, puts its end off until libuv has done with it. NULL: no memory. */
static struct enl_peer *new_peer(struct enl_carry *carry, const struct enl_peer_ops *ops, void *owner,
                                 bool by_control_link)
{
    struct enl_peer *peer = calloc(1, sizeof *peer);
    struct bcri_frames *frames = by_control_link ? NULL : enl_secret_new(sizeof *frames);
    if (peer == NULL || (frames == NULL && !by_control_link)) {
        enl_secret_free(frames);
        free(peer);
        return NULL;
    }
    *peer = (struct enl_peer){
        .carry = carry, .ops = ops, .owner = owner, .frames = frames, .by_control_link = by_control_link};
    enl_outgoing_init(&peer->out, &carry->self->loop, &carry->self->log, on_moved,
                      !by_control_link && ops->write_failed != NULL ? on_failed : NULL);
    peer->out.pipe.data = peer;
    return peer;
}

struct enl_peer *enl_peer_new(struct enl_carry *carry, int in, int out, const struct bcri_frames *begun,
                              const struct enl_peer_ops *ops, void *owner)
{
    struct enl_peer *peer = new_peer(carry, ops, owner, false);
    if (peer == NULL)
        goto close_both;
    if (begun != NULL)
        *peer->frames = *begun;
    if (uv_pipe_open(&peer->out.pipe, out) != 0) {
        enl_outgoing_close(&peer->out, on_peer_closed);
        goto close_both;
    }
    peer->in = enl_watch_start(carry->self, in, on_frames_readable, peer);
    if (peer->in == NULL) {
        enl_peer_close(peer);
        return NULL;
    }
    if (begun == NULL)
        enl_outgoing_send_raw(&peer->out, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES, NULL, NULL);
    return peer;

close_both:
    close(in);
    close(out);
    return NULL;
}

bool enl_peer_mark(const struct enl_peer *peer)
{
    return peer->by_control_link && peer->carry->ops->control_link_mark(peer->carry->self->links, peer->to);
}

struct enl_peer *enl_peer_new_by(struct enl_carry *carry, struct enl_peer *via, uint32_t to)
{
    struct enl_peer *peer = calloc(1, sizeof *peer);
    if (peer != NULL)
        *peer = (struct enl_peer){.carry = carry, .via = via, .to = to};
    return peer;
}

struct enl_peer *enl_peer_new_by_control_link(struct enl_carry *carry, uint32_t host,
                                              const struct enl_peer_ops *ops, void *owner)
{
    struct enl_peer *peer = new_peer(carry, ops, owner, true);
    if (peer != NULL)
        peer->to = host;
    return peer;
}

void enl_peer_came(struct enl_peer *peer, const uint8_t *content, uint32_t bytes)
{
    struct bcri_control message;
    const char *why = bcri_control_decode(content, bytes, &message);
    if (why == NULL)
        why = peer->ops->came(peer->owner, &message);
    if (why != NULL && !peer->out.closed)
        peer->ops->ended(peer->owner, why);
}

void enl_peer_close(struct enl_peer *peer)
{
    if (peer->via != NULL) {
        free(peer);
        return;
    }
    if (peer->out.closed)
        return;
    peer->flushed = NULL;
    enl_watch_stop(peer->in);
    enl_outgoing_close(&peer->out, on_peer_closed);
}
