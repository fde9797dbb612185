/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "carry/carry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/secret.h"
#include "base/watch.h"
#include "carry/outgoing.h"
#include "tree/sequence.h"

struct enl_peer {
    struct enl_carry *carry;
    const struct enl_peer_ops *ops;
    void *owner;
    struct enl_watch *in;
    struct enl_outgoing out; /* of one that has no frames: nothing */
    void (*flushed)(void *data);
    void *flush_data;
    struct bcri_frames *frames; /* secret memory; NULL: it has no pipes */
    struct enl_peer *via;       /* whose pipes it is reached by; NULL: its own, or none */
    uint32_t to;                /* its host, if it has no pipes */
    bool by_control_link;       /* it is reached by the control link to that host */
    struct enl_sequence *numbers;
};

static void look_whether_flushed(struct enl_peer *peer)
{
    void (*done)(void *data) = peer->flushed;
    const bool waits = peer->numbers != NULL ? peer->numbers->kept_bytes != 0
                                             : !peer->by_control_link && enl_outgoing_waits(&peer->out);
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

static enum enl_haste haste_of(enum bcri_control_type type)
{
    if (type == BCRI_MSG_carry || type == BCRI_MSG_said)
        return ENL_OR_DROPPED;
    /* Each row keeps its order. */
    return enl_sequence_row(type) == ENL_ROW_OUTPUT ? ENL_IN_TURN : ENL_AT_ONCE;
}

/* Sends a frame in the control link, whose two rows are each in order. */
static void send_in_control_link(struct enl_peer *peer, enum bcri_control_type type, const uint8_t *frame,
                                 size_t length, enum enl_haste haste)
{
    const unsigned row = haste == ENL_AT_ONCE ? ENL_ROW_CONTROL : ENL_ROW_OUTPUT;
    if (!peer->out.writes || peer->out.closed ||
        (haste == ENL_OR_DROPPED &&
         peer->carry->ops->control_link_waits(peer->carry->self->links, peer->to) >= ENL_PACKETS_MAX))
        return;
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

static void send_with(struct enl_peer *peer, const struct bcri_control *message, enum enl_haste haste)
{
    uint8_t bytes[BCRI_FRAME_BYTES_MAX];
    struct bcri_control routed;
    if (peer->frames == NULL) {
        routed = *message;
        routed.present |= BCRI_HAS(to);
        routed.to = peer->to;
        message = &routed;
        peer = peer->via;
    }
    if (peer != NULL && peer->out.writes && !peer->out.closed)
        send_frame(peer, message->type, bytes, bcri_frame_encode(message, bytes, sizeof bytes), haste);
}

/* What sequence.h passes, or another daemon has numbered. */
static void send_by_way(void *owner, const struct bcri_control *message)
{
    send_with(owner, message, haste_of(message->type));
}

void enl_peer_number(struct enl_peer *peer, struct enl_sequence *sequence)
{
    sequence->pass = send_by_way;
    sequence->owner = peer;
    peer->numbers = sequence;
}

void enl_peer_acknowledged(struct enl_peer *peer)
{
    look_whether_flushed(peer);
}

/* What this daemon itself tells of one that it has started overtakes output: the root waits for it. */
static bool tells_of_starting(enum bcri_control_type type)
{
    return type == BCRI_MSG_said || type == BCRI_MSG_closed || type == BCRI_MSG_ended;
}

void enl_peer_send(struct enl_peer *peer, const struct bcri_control *message)
{
    if (peer->numbers == NULL)
        send_with(peer, message, tells_of_starting(message->type) ? ENL_AT_ONCE : haste_of(message->type));
    else if (!enl_sequence_send(peer->numbers, message))
        enl_outgoing_give_up(&peer->out, bcri_control_name(message->type),
                             "too much waits, or there is no memory");
}

void enl_peer_forward(struct enl_peer *peer, const struct bcri_control *message)
{
    if ((message->present & BCRI_HAS(from)) != 0) /* its numbers are that host's */
        send_by_way(peer, message);
    else
        enl_peer_send(peer, message);
}

void enl_peer_pass(struct enl_peer *peer, const struct enl_peer *from, enum bcri_control_type type)
{
    send_frame(peer, type, from->frames->bytes, from->frames->taken, haste_of(type));
}

void enl_peer_flush(struct enl_peer *peer, void (*done)(void *data), void *data)
{
    peer->flush_data = data;
    peer->flushed = done;
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

static void on_frames_readable(void *data)
{
    struct enl_peer *peer = data;
    struct bcri_control message;
    const char *why = "its pipe has ended";
    int came = enl_peer_read(peer->frames, peer->in->fd, &why) > 0 ? 0 : -1;
    while (came == 0 && (came = bcri_frames_next(peer->frames, &message, &why)) == 1) {
        why = peer->ops->came(peer->owner, &message);
        if (peer->out.closed)
            return;
        came = why == NULL ? 0 : -1;
    }
    if (came < 0)
        peer->ops->ended(peer->owner, why);
}

void enl_peer_printed(const struct enl_peer *peer, char out[ENL_PRINTED_MAX])
{
    char line[sizeof peer->frames->greeting + 1] = "";
    if (peer->frames !=
        NULL) /* else its starter reads its pipe, and tells by `said` what was printed there */
        bcri_frames_greeting(peer->frames, line, sizeof line);
    snprintf(out, ENL_PRINTED_MAX, line[0] != '\0' ? ENL_PRINTED "%s\n" : "%s", line);
}

bool enl_peer_has_unread(struct enl_peer *peer)
{
    const struct enl_peer *pipes = enl_peer_pipes(peer);
    int bytes = 0;
    return pipes != NULL && pipes->in != NULL && ioctl(pipes->in->fd, FIONREAD, &bytes) == 0 && bytes != 0;
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

/* One that has frames; its pipe, still closed, puts its end off until libuv has done with it. NULL: no memory. */
static struct enl_peer *new_peer(struct enl_carry *carry, const struct enl_peer_ops *ops, void *owner,
                                 bool by_control_link)
{
    struct enl_peer *peer = calloc(1, sizeof *peer);
    struct bcri_frames *frames = enl_secret_new(sizeof *frames);
    if (peer == NULL || frames == NULL) {
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

/* The frame is put together again, since it may have to be passed on. */
void enl_peer_came(struct enl_peer *peer, const uint8_t *content, uint32_t bytes)
{
    struct bcri_frames *frames = peer->frames;
    struct bcri_control message;
    if (bytes > sizeof frames->bytes - BCRI_FRAME_HEAD_BYTES)
        return;
    for (unsigned i = 0; i < BCRI_FRAME_HEAD_BYTES; i++)
        frames->bytes[i] = (uint8_t)(bytes >> (24 - 8 * i));
    memcpy(frames->bytes + BCRI_FRAME_HEAD_BYTES, content, bytes);
    frames->used = frames->taken = BCRI_FRAME_HEAD_BYTES + bytes;
    const char *why = bcri_control_decode(frames->bytes + BCRI_FRAME_HEAD_BYTES, bytes, &message);
    if (why == NULL)
        why = peer->ops->came(peer->owner, &message);
    if (why != NULL && !peer->out.closed)
        peer->ops->ended(peer->owner, why);
}

void enl_peer_go_by(struct enl_peer *peer, struct enl_peer *via)
{
    peer->via = via;
}

struct enl_peer *enl_peer_pipes(struct enl_peer *peer)
{
    return peer->frames != NULL ? peer : peer->via;
}

void enl_peer_close(struct enl_peer *peer)
{
    if (peer->frames == NULL) {
        free(peer);
        return;
    }
    if (peer->out.closed)
        return;
    peer->flushed = NULL;
    enl_watch_stop(peer->in);
    enl_outgoing_close(&peer->out, on_peer_closed);
}
