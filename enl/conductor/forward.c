/* SPDX-License-Identifier: MIT */
/* See child.h. */
#include "conductor/child.h"

#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "wire/wire.h"

bool enl_forward_add(struct enl_forwards *forwards, struct enl_conn *conn, const struct bcri_control *request,
                     struct enl_attached *attached)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    const size_t length = bcri_control_encode(request, bytes, sizeof bytes);
    struct enl_forward *forward = length != 0 ? malloc(sizeof *forward + length) : NULL;
    if (forward == NULL)
        return false;
    *forward =
        (struct enl_forward){.conn = conn,
                             .length = length,
                             .starts = request->type == BCRI_MSG_enlist ? request->count : 0,
                             .attached = attached != NULL ? enl_attached_move(attached) : ENL_ATTACHED_NONE};
    memcpy(forward->bytes, bytes, length);
    STAILQ_INSERT_TAIL(&forwards->all, forward, entry);
    return true;
}

void enl_forwards_send(struct enl_forwards *forwards, struct enl_peer *peer, uint32_t *turn)
{
    struct bcri_control request;
    struct enl_forward *forward;
    STAILQ_FOREACH (forward, &forwards->all, entry) {
        if (forward->id != 0 || bcri_control_decode(forward->bytes, forward->length, &request) != NULL)
            continue;
        if (++forwards->last_id < ENL_FORWARD_ID1)
            forwards->last_id = ENL_FORWARD_ID1;
        request.id = forward->id = forwards->last_id;
        if (turn != NULL && forward->starts != 0) {
            request.present |= BCRI_HAS(turn);
            request.turn = *turn;
            *turn += forward->starts;
        }
        enl_peer_send(peer, &request);
    }
}

uint32_t enl_forwards_start(const struct enl_forwards *forwards)
{
    uint32_t count = 0;
    const struct enl_forward *forward;
    STAILQ_FOREACH (forward, &forwards->all, entry)
        count += forward->id != 0 ? forward->starts : 0;
    return count;
}

void enl_forward_free(struct enl_forward *forward)
{
    enl_attached_close(&forward->attached);
    free(forward);
}

/* The one that was sent under that number; NULL: none was. */
static struct enl_forward *forward_of(const struct enl_forwards *forwards, uint32_t id)
{
    struct enl_forward *forward;
    STAILQ_FOREACH (forward, &forwards->all, entry)
        if (forward->id == id && id != 0)
            break;
    return forward;
}

bool enl_forward_answer(struct enl_forwards *forwards, const struct bcri_control *reply,
                        struct bcri_control *request_out)
{
    struct enl_forward *forward = forward_of(forwards, reply->id);
    struct bcri_control answer = *reply;
    if (forward == NULL)
        return false;
    STAILQ_REMOVE(&forwards->all, forward, enl_forward, entry);
    bcri_control_decode(forward->bytes, forward->length, request_out); /* this daemon has encoded it */
    answer.id = request_out->id;
    if (forward->conn != NULL)
        enl_cce_answer(forward->conn, &answer);
    enl_forward_free(forward);
    return true;
}

const char *enl_forward_started(struct enl_forwards *forwards, const struct bcri_control *message)
{
    struct bcri_control request;
    struct enl_forward *forward = forward_of(forwards, message->id);
    const uint32_t length = message->bytes.length, count = length / BCRI_IDENTITY_BYTES;
    if (forward == NULL || length == 0 || length % BCRI_IDENTITY_BYTES != 0 ||
        count > forward->starts - forward->attached.told ||
        bcri_control_decode(forward->bytes, forward->length, &request) != NULL ||
        (request.flags & (BCRI_ENLIST_IDS | BCRI_ENLIST_ENDS)) == 0)
        return "CCEs that nobody has asked for";
    const uint8_t *identities = (const uint8_t *)message->bytes.bytes;
    if ((request.flags & BCRI_ENLIST_ENDS) != 0 && forward->conn != NULL && forward->conn->cce != NULL)
        enl_starts_add(forward->conn->cce, identities, count, message->ordinal);
    enl_attached_started(&forward->attached, forward->conn, request.id, message->ordinal, identities, count);
    return NULL;
}

const char *enl_forward_strings(struct enl_forwards *forwards, struct enl_conn *conn,
                                const struct bcri_control *message)
{
    const struct enl_forward *forward = forward_of(forwards, message->id);
    return forward != NULL && enl_strings_send(forward->attached.strings, conn, message->id, message->size)
               ? NULL
               : "it wants start strings that are not there";
}

struct enl_forward *enl_forward_take(struct enl_forwards *forwards, struct bcri_control *request_out)
{
    struct enl_forward *forward = STAILQ_FIRST(&forwards->all);
    if (forward == NULL)
        return NULL;
    STAILQ_REMOVE_HEAD(&forwards->all, entry);
    bcri_control_decode(forward->bytes, forward->length, request_out); /* this daemon has encoded it */
    return forward;
}

void enl_forwards_forget(struct enl_forwards *forwards, const struct enl_conn *conn)
{
    struct enl_forward *forward;
    STAILQ_FOREACH (forward, &forwards->all, entry)
        if (forward->conn == conn)
            forward->conn = NULL;
}

void enl_forwards_drop(struct enl_forwards *forwards)
{
    struct bcri_control request;
    for (struct enl_forward *forward; (forward = enl_forward_take(forwards, &request)) != NULL;)
        enl_forward_free(forward);
}

const char *enl_forward_request(struct enl_conn *conn, const struct bcri_control *message)
{
    static struct bcri_incoming in = {.fds = {-1, -1, -1, -1}};
    in.message = *message;
    return conn->conns->ops->request(conn, &in);
}

const char *enl_forward_watched(struct enl_program *program, const struct bcri_control *message)
{
    return enl_watches_far(&program->here, message);
}

const char *enl_forward_unstarted(struct enl_program *program, const struct bcri_control *message)
{
    struct enl_origin origin;
    if (message->enlistor.length != sizeof origin.identity ||
        (program->self.is_child &&
         bcri_identity_host((const uint8_t *)message->enlistor.bytes) != program->self.host_number))
        return "a start for another host, or for none, has failed";
    memcpy(origin.identity, message->enlistor.bytes, sizeof origin.identity);
    enl_cce_tell_failure(&program->here, &origin, message->ordinal, (int)message->status);
    return NULL;
}
