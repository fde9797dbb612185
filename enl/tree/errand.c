/* SPDX-License-Identifier: MIT */
/* See errand.h. */
#include "tree/errand.h"

#include <stdlib.h>
#include <string.h>

#include "carry/carry.h"
#include "host/host.h"
#include "wire/wire.h"

bool enl_errand_add(struct enl_errands *errands, struct enl_conn *conn, const struct bcri_control *request)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    const size_t length = bcri_control_encode(request, bytes, sizeof bytes);
    struct enl_errand *errand = length != 0 ? malloc(sizeof *errand + length) : NULL;
    if (errand == NULL)
        return false;
    *errand = (struct enl_errand){
        .conn = conn, .length = length, .starts = request->type == BCRI_MSG_enlist ? request->count : 0};
    memcpy(errand->bytes, bytes, length);
    STAILQ_INSERT_TAIL(&errands->all, errand, entry);
    return true;
}

void enl_errands_send(struct enl_errands *errands, struct enl_peer *peer, uint32_t *turn)
{
    struct bcri_control request;
    struct enl_errand *errand;
    STAILQ_FOREACH (errand, &errands->all, entry) {
        if (errand->id != 0 || bcri_control_decode(errand->bytes, errand->length, &request) != NULL)
            continue;
        if (++errands->last_id < ENL_ERRAND_ID1)
            errands->last_id = ENL_ERRAND_ID1;
        request.id = errand->id = errands->last_id;
        if (turn != NULL && errand->starts != 0) {
            request.present |= BCRI_HAS(turn);
            request.turn = *turn;
            *turn += errand->starts;
        }
        enl_peer_send(peer, &request);
    }
}

uint32_t enl_errands_start(const struct enl_errands *errands)
{
    uint32_t count = 0;
    const struct enl_errand *errand;
    STAILQ_FOREACH (errand, &errands->all, entry)
        count += errand->id != 0 ? errand->starts : 0;
    return count;
}

bool enl_errand_answer(struct enl_errands *errands, const struct bcri_control *reply)
{
    struct enl_errand *errand;
    struct bcri_control request, answer = *reply;
    STAILQ_FOREACH (errand, &errands->all, entry)
        if (errand->id == reply->id)
            break;
    if (errand == NULL || reply->id == 0)
        return false;
    STAILQ_REMOVE(&errands->all, errand, enl_errand, entry);
    if (errand->conn != NULL && bcri_control_decode(errand->bytes, errand->length, &request) == NULL) {
        answer.id = request.id;
        enl_cce_answer(errand->conn, &answer);
    }
    free(errand);
    return true;
}

struct enl_errand *enl_errand_take(struct enl_errands *errands, struct bcri_control *request_out)
{
    struct enl_errand *errand = STAILQ_FIRST(&errands->all);
    if (errand == NULL)
        return NULL;
    STAILQ_REMOVE_HEAD(&errands->all, entry);
    bcri_control_decode(errand->bytes, errand->length, request_out); /* this daemon has encoded it */
    return errand;
}

void enl_errands_forget(struct enl_errands *errands, const struct enl_conn *conn)
{
    struct enl_errand *errand;
    STAILQ_FOREACH (errand, &errands->all, entry)
        if (errand->conn == conn)
            errand->conn = NULL;
}

void enl_errands_drop(struct enl_errands *errands)
{
    struct bcri_control request;
    for (struct enl_errand *errand; (errand = enl_errand_take(errands, &request)) != NULL;)
        free(errand);
}
