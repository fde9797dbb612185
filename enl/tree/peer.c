/* SPDX-License-Identifier: MIT */
/* See peer.h. */
#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "links.h"
#include "secret.h"
#include "sequence.h"

/* More than the environments (setup.c) of all hosts that are started at one time by way of one daemon. */
#define PENDING_MAX (40u << 20)
/* Packets are dropped when more waits. */
#define PACKETS_MAX (256u << 10)

struct piece {
    uv_write_t request;
    struct piece *next; /* of those that wait */
    struct enl_peer *peer;
    bool output;
    bool secret; /* it lies in secret memory */
    size_t length;
    uint8_t bytes[];
};

struct enl_peer {
    struct enl_program *program;
    const struct enl_peer_ops *ops;
    void *owner;
    struct enl_watch *in;
    uv_pipe_t out;
    bool writes;                /* what is sent may arrive */
    bool closed;                /* libuv frees it later */
    bool output_under_way;      /* libuv has a piece of output */
    struct piece *first, *last; /* output and packets that wait */
    size_t waiting;             /* bytes of them */
    void (*flushed)(struct enl_program *program);
    struct bcri_frames *frames; /* secret memory; NULL: it has no pipes */
    struct enl_peer *via;       /* whose pipes it is reached by; NULL: its own, or none */
    uint32_t to;                /* its host, if it has no pipes */
    bool by_lane;               /* it is reached by the tree's lane to that host */
    struct enl_sequence *numbers;
};

static void look_whether_flushed(struct enl_peer *peer)
{
    void (*done)(struct enl_program *) = peer->flushed;
    const bool waits =
        peer->numbers != NULL
            ? peer->numbers->kept_bytes != 0
            : !peer->by_lane &&
                  (peer->first != NULL || uv_stream_get_write_queue_size((uv_stream_t *)&peer->out) != 0);
    if (done == NULL || (peer->writes && waits))
        return;
    peer->flushed = NULL;
    done(peer->program);
}

static void free_piece(struct piece *piece)
{
    if (piece->secret)
        enl_secret_free(piece);
    else
        free(piece);
}

static void drop_output(struct enl_peer *peer)
{
    while (peer->first != NULL) {
        struct piece *piece = peer->first;
        peer->first = piece->next;
        free_piece(piece);
    }
    peer->last = NULL;
    peer->waiting = 0;
}

/* Nothing can be written any more; that the neighbour is gone is read from the other pipe, and told then. */
static void give_up(struct enl_peer *peer, const char *what, const char *why)
{
    if (peer->writes)
        bcri_log_write(&peer->program->log, BCRI_LOG_WARN, "%s for another daemon cannot be sent (%s)", what,
                       why);
    peer->writes = false;
    drop_output(peer);
}

/* A neighbour that has ended, before that was read, is no news of its own. */
static void give_up_writing(struct enl_peer *peer, int status)
{
    if (status == UV_EPIPE) {
        peer->writes = false;
        drop_output(peer);
    } else {
        give_up(peer, "a message", uv_strerror(status));
    }
}

static void write_piece(struct piece *piece);

static void on_written(uv_write_t *request, int status)
{
    struct piece *piece = request->data;
    struct enl_peer *peer = piece->peer;
    if (piece->output)
        peer->output_under_way = false;
    free_piece(piece);
    if (peer->closed)
        return;
    if (status != 0)
        give_up_writing(peer, status);
    piece = peer->first;
    if (piece != NULL && !peer->output_under_way &&
        uv_stream_get_write_queue_size((uv_stream_t *)&peer->out) == 0) {
        peer->first = piece->next;
        if (peer->first == NULL)
            peer->last = NULL;
        peer->waiting -= piece->length;
        write_piece(piece);
    }
    look_whether_flushed(peer);
}

static void write_piece(struct piece *piece)
{
    struct enl_peer *peer = piece->peer;
    const uv_buf_t part = {(char *)piece->bytes, piece->length};
    piece->request.data = piece;
    peer->output_under_way |= piece->output;
    const int failed = uv_write(&piece->request, (uv_stream_t *)&peer->out, &part, 1, on_written);
    if (failed == 0)
        return;
    free_piece(piece);
    give_up_writing(peer, failed);
}

static void *take_memory(bool secret, size_t bytes)
{
    return secret ? enl_secret_new(bytes) : malloc(bytes);
}

/* How a message goes: at once; behind what waits; so, or not at all if much waits. */
enum way { AT_ONCE, IN_TURN, OR_DROPPED };

static enum way way_of(enum bcri_control_type type)
{
    if (type == BCRI_MSG_carry || type == BCRI_MSG_said)
        return OR_DROPPED;
    return enl_sequence_row(type) == ENL_ROW_OUTPUT ? IN_TURN : AT_ONCE; /* each row keeps its order */
}

/* Wipes the bytes if they are secret. */
static struct piece *new_piece(struct enl_peer *peer, enum bcri_control_type type, uint8_t *bytes,
                               size_t length, bool output)
{
    const bool secret = type == BCRI_MSG_start; /* it brings the program key */
    struct piece *piece = length != 0 ? take_memory(secret, sizeof *piece + length) : NULL;
    if (piece == NULL) {
        give_up(peer, bcri_control_name(type), length == 0 ? "it has no form" : "no memory");
        enl_secret_wipe(bytes, length);
        return NULL;
    }
    *piece = (struct piece){.peer = peer, .output = output, .secret = secret, .length = length};
    memcpy(piece->bytes, bytes, length);
    if (secret)
        enl_secret_wipe(bytes, length);
    return piece;
}

struct raw {
    uv_write_t request;
    struct enl_peer *peer;
    char *bytes;
    void (*written)(void *data, bool goes_on);
    void *data;
};

static void end_raw(struct raw *raw, bool goes_on)
{
    const struct raw copy = *raw;
    free(copy.bytes);
    free(raw);
    copy.written(copy.data, goes_on);
}

static void on_raw_written(uv_write_t *request, int status)
{
    struct raw *raw = request->data;
    struct enl_peer *peer = raw->peer;
    if (status != 0 && !peer->closed)
        give_up_writing(peer, status);
    end_raw(raw, status == 0 && !peer->closed);
}

void enl_peer_send_raw(struct enl_peer *peer, char *bytes, size_t length,
                       void (*written)(void *data, bool goes_on), void *data)
{
    struct raw *raw = peer->writes && !peer->closed ? malloc(sizeof *raw) : NULL;
    if (raw == NULL) {
        free(bytes);
        written(data, false);
        return;
    }
    *raw = (struct raw){.peer = peer, .bytes = bytes, .written = written, .data = data};
    raw->request.data = raw;
    const uv_buf_t part = {bytes, length};
    if (uv_write(&raw->request, (uv_stream_t *)&peer->out, &part, 1, on_raw_written) != 0)
        end_raw(raw, false);
}

static void queue(struct enl_peer *peer, struct piece *piece)
{
    if (peer->first == NULL && uv_stream_get_write_queue_size((uv_stream_t *)&peer->out) == 0 &&
        !peer->output_under_way) {
        write_piece(piece);
        return;
    }
    if (peer->last != NULL)
        peer->last->next = piece;
    else
        peer->first = piece;
    peer->last = piece;
    peer->waiting += piece->length;
}

/* Sends a frame by the peer's own pipes. */
static void send_frame(struct enl_peer *peer, enum bcri_control_type type, uint8_t *bytes, size_t length,
                       enum way way)
{
    if (!peer->writes || peer->closed || (way == OR_DROPPED && peer->waiting >= PACKETS_MAX)) {
        enl_secret_wipe(bytes, length);
        return;
    }
    if (way == AT_ONCE && uv_stream_get_write_queue_size((uv_stream_t *)&peer->out) >= PENDING_MAX) {
        give_up(peer, bcri_control_name(type), "it does not read");
        enl_secret_wipe(bytes, length);
        return;
    }
    struct piece *piece = new_piece(peer, type, bytes, length, way != AT_ONCE);
    if (piece != NULL && way == AT_ONCE)
        write_piece(piece);
    else if (piece != NULL)
        queue(peer, piece);
}

/* Sends a frame in the tree's lane, whose two rows are each in order. */
static void send_in_lane(struct enl_peer *peer, enum bcri_control_type type, const uint8_t *frame,
                         size_t length, enum way way)
{
    const unsigned row = way == AT_ONCE ? ENL_ROW_CONTROL : ENL_ROW_OUTPUT;
    if (!peer->writes || peer->closed ||
        (way == OR_DROPPED && enl_links_lane_waits(peer->program, peer->to) >= PACKETS_MAX))
        return;
    if (length == 0 || !enl_links_lane_send(peer->program, peer->to, row, frame + BCRI_FRAME_HEAD_BYTES,
                                            (uint32_t)(length - BCRI_FRAME_HEAD_BYTES)))
        give_up(peer, bcri_control_name(type),
                length == 0 ? "it has no form" : "it does not read, or there is no memory");
}

static void carry(struct enl_peer *peer, const struct bcri_control *message, enum way way)
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
    if (peer == NULL || !peer->writes || peer->closed)
        return;
    const size_t length = bcri_frame_encode(message, bytes, sizeof bytes);
    if (peer->by_lane)
        send_in_lane(peer, message->type, bytes, length, way);
    else
        send_frame(peer, message->type, bytes, length, way);
}

/* What sequence.h passes. */
static void pass(void *owner, const struct bcri_control *message)
{
    carry(owner, message, way_of(message->type));
}

static void send_message(struct enl_peer *peer, const struct bcri_control *message, enum way way)
{
    if (peer->numbers == NULL)
        carry(peer, message, way);
    else if (!enl_sequence_send(peer->numbers, message))
        give_up(peer, bcri_control_name(message->type), "too much waits, or there is no memory");
}

void enl_peer_number(struct enl_peer *peer, struct enl_sequence *sequence)
{
    sequence->pass = pass;
    sequence->owner = peer;
    peer->numbers = sequence;
}

void enl_peer_acknowledged(struct enl_peer *peer)
{
    look_whether_flushed(peer);
}

void enl_peer_send(struct enl_peer *peer, const struct bcri_control *message)
{
    send_message(peer, message, AT_ONCE);
}

void enl_peer_send_output(struct enl_peer *peer, const struct bcri_control *message)
{
    send_message(peer, message, IN_TURN);
}

void enl_peer_send_packet(struct enl_peer *peer, const struct bcri_control *message)
{
    send_message(peer, message, OR_DROPPED);
}

void enl_peer_forward(struct enl_peer *peer, const struct bcri_control *message)
{
    if ((message->present & BCRI_HAS(from)) != 0) /* its numbers are that host's */
        carry(peer, message, way_of(message->type));
    else
        send_message(peer, message, way_of(message->type));
}

void enl_peer_pass(struct enl_peer *peer, const struct enl_peer *from, enum bcri_control_type type)
{
    if (peer->by_lane)
        send_in_lane(peer, type, from->frames->bytes, from->frames->taken, way_of(type));
    else
        send_frame(peer, type, from->frames->bytes, from->frames->taken, way_of(type));
}

void enl_peer_flush(struct enl_peer *peer, void (*done)(struct enl_program *program))
{
    peer->flushed = done;
    look_whether_flushed(peer);
}

/* Reads once. Returns 1; 0: the end, or an error, with a sentence. */
static int read_some(struct enl_peer *peer, const char **why_out)
{
    uint8_t *at;
    const size_t room = bcri_frames_room(peer->frames, &at);
    ssize_t got;
    do
        got = read(peer->in->fd, at, room);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        bcri_frames_came(peer->frames, (size_t)got);
    else if (got < 0 && errno == EAGAIN)
        got = 1;
    else if (got < 0 && errno != ECONNRESET) /* of a socket: the other has ended, and had not read all */
        *why_out = strerror(errno);
    return got > 0;
}

static void on_readable(void *data)
{
    struct enl_peer *peer = data;
    struct bcri_control message;
    const char *why = "its pipe has ended";
    int came = read_some(peer, &why) > 0 ? 0 : -1;
    while (came == 0 && (came = bcri_frames_next(peer->frames, &message, &why)) == 1) {
        why = peer->ops->came(peer->owner, &message);
        if (peer->closed)
            return;
        came = why == NULL ? 0 : -1;
    }
    if (came < 0)
        peer->ops->ended(peer->owner, why);
}

static void free_peer(struct enl_peer *peer)
{
    enl_secret_free(peer->frames);
    free(peer);
}

static void on_closed(uv_handle_t *handle)
{
    free_peer(handle->data);
}

/* One that has frames; its pipe, still closed, puts its end off until libuv has done with it. NULL: no memory. */
static struct enl_peer *new_peer(struct enl_program *program, const struct enl_peer_ops *ops, void *owner)
{
    struct enl_peer *peer = calloc(1, sizeof *peer);
    struct bcri_frames *frames = enl_secret_new(sizeof *frames);
    if (peer == NULL || frames == NULL) {
        enl_secret_free(frames);
        free(peer);
        return NULL;
    }
    *peer =
        (struct enl_peer){.program = program, .ops = ops, .owner = owner, .writes = true, .frames = frames};
    uv_pipe_init(&program->loop, &peer->out, 0);
    peer->out.data = peer;
    return peer;
}

struct enl_peer *enl_peer_new(struct enl_program *program, int in, int out, const struct bcri_frames *begun,
                              const struct enl_peer_ops *ops, void *owner)
{
    struct enl_peer *peer = new_peer(program, ops, owner);
    if (peer == NULL)
        goto close_both;
    if (begun != NULL)
        *peer->frames = *begun;
    if (uv_pipe_open(&peer->out, out) != 0) {
        uv_close((uv_handle_t *)&peer->out, on_closed);
        goto close_both;
    }
    peer->in = enl_watch_start(program, in, on_readable, peer);
    if (peer->in == NULL) {
        enl_peer_close(peer);
        return NULL;
    }
    if (begun == NULL) {
        static const char word[] = BCRI_FRAMES_MAGIC;
        struct piece *magic = malloc(sizeof *magic + BCRI_FRAMES_MAGIC_BYTES);
        if (magic == NULL) {
            enl_peer_close(peer);
            return NULL;
        }
        *magic = (struct piece){.peer = peer, .length = BCRI_FRAMES_MAGIC_BYTES};
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it is no string */
        memcpy(magic->bytes, word, BCRI_FRAMES_MAGIC_BYTES);
        write_piece(magic);
    }
    return peer;

close_both:
    close(in);
    close(out);
    return NULL;
}

struct enl_peer *enl_peer_new_by(struct enl_program *program, struct enl_peer *via, uint32_t to)
{
    struct enl_peer *peer = calloc(1, sizeof *peer);
    if (peer != NULL)
        *peer = (struct enl_peer){.program = program, .via = via, .to = to};
    return peer;
}

struct enl_peer *enl_peer_new_by_lane(struct enl_program *program, uint32_t host,
                                      const struct enl_peer_ops *ops, void *owner)
{
    struct enl_peer *peer = new_peer(program, ops, owner);
    if (peer == NULL)
        return NULL;
    peer->to = host;
    peer->by_lane = true;
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
    if (why != NULL && !peer->closed)
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
    if (peer->closed)
        return;
    peer->closed = true;
    peer->flushed = NULL;
    drop_output(peer);
    enl_watch_stop(peer->in);
    uv_close((uv_handle_t *)&peer->out, on_closed);
}
