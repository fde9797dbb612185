/* SPDX-License-Identifier: MIT */
/* arrivals.c -- requests whose start strings come in pieces from the daemon that has passed them on.
 *
 * That one keeps the strings until it has the answer, and sends them when it is asked: ENL_STRINGS_WINDOW bytes at a
 * time, of one request at a time. So no more is ever under way from one daemon to another, and what a host can make
 * this one keep has the bound of all blocks (wire/attached.h). Requests without long strings overtake these. If the daemon that
 * has the rest is lost, its connection ends, and the request with it: nobody waits for the answer. */
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "wire/wire.h"

struct enl_arrival {
    STAILQ_ENTRY(enl_arrival) entry;
    struct enl_conn *conn;
    struct enl_strings *strings;
    uint32_t asked; /* bytes of them that were asked for; 0: another one of that daemon's is before it */
    size_t length;
    uint8_t request[];
};

/* The one whose strings come from that daemon now. */
static struct enl_arrival *arrival_of(const struct enl_jobs *jobs, const struct enl_conn *conn)
{
    struct enl_arrival *arrival;
    STAILQ_FOREACH (arrival, &jobs->arrivals, entry)
        if (arrival->conn == conn)
            break;
    return arrival;
}

static uint32_t id_of(const struct enl_arrival *arrival, struct bcri_control *request_out)
{
    (void)bcri_control_decode(arrival->request, arrival->length,
                              request_out); /* this daemon has encoded it */
    return request_out->id;
}

static void ask_for_more(struct enl_arrival *arrival)
{
    struct bcri_control request;
    const struct bcri_control message = {.type = BCRI_MSG_strings_next,
                                         .present = BCRI_HAS(id) | BCRI_HAS(size),
                                         .id = id_of(arrival, &request),
                                         .size = arrival->strings->came};
    const uint32_t left = arrival->strings->length - arrival->asked;
    arrival->asked += left < ENL_STRINGS_WINDOW ? left : ENL_STRINGS_WINDOW;
    enl_conn_send(arrival->conn, &message, NULL, 0);
}

void enl_arrival_free(struct enl_arrival *arrival)
{
    enl_strings_drop(arrival->strings);
    free(arrival);
}

struct enl_strings *enl_arrival_read(const struct enl_arrival *arrival, struct bcri_control *request_out)
{
    (void)id_of(arrival, request_out);
    return arrival->strings;
}

bool enl_arrival_begin(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    const size_t length = bcri_control_encode(request, bytes, sizeof bytes);
    struct enl_strings *strings = enl_strings_new(request->size);
    struct enl_arrival *arrival = strings != NULL && length != 0 ? malloc(sizeof *arrival + length) : NULL;
    const bool is_first = arrival_of(jobs, conn) == NULL;
    if (arrival == NULL) {
        enl_strings_drop(strings);
        return false;
    }
    *arrival = (struct enl_arrival){.conn = conn, .strings = strings, .length = length};
    memcpy(arrival->request, bytes, length);
    STAILQ_INSERT_TAIL(&jobs->arrivals, arrival, entry);
    if (is_first)
        ask_for_more(arrival);
    return true;
}

const char *enl_arrival_take(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *message,
                             struct enl_arrival **whole_out)
{
    struct bcri_control request;
    struct enl_arrival *arrival = arrival_of(jobs, conn);
    *whole_out = NULL;
    if (arrival == NULL || id_of(arrival, &request) != message->id || message->bytes.length == 0 ||
        message->bytes.length > arrival->asked - arrival->strings->came ||
        !enl_strings_add(arrival->strings, message->bytes))
        return "start strings that nobody has asked for";
    if (arrival->strings->came < arrival->strings->length) {
        if (arrival->strings->came == arrival->asked)
            ask_for_more(arrival);
        return NULL;
    }
    const char *wrong = enl_strings_check(arrival->strings);
    if (wrong != NULL)
        return wrong;
    STAILQ_REMOVE(&jobs->arrivals, arrival, enl_arrival, entry);
    *whole_out = arrival;
    if ((arrival = arrival_of(jobs, conn)) != NULL)
        ask_for_more(arrival);
    return NULL;
}

void enl_arrivals_forget(struct enl_jobs *jobs, const struct enl_conn *conn)
{
    struct enl_arrival *next;
    for (struct enl_arrival *arrival = STAILQ_FIRST(&jobs->arrivals); arrival != NULL; arrival = next) {
        next = STAILQ_NEXT(arrival, entry);
        if (conn != NULL && arrival->conn != conn)
            continue;
        STAILQ_REMOVE(&jobs->arrivals, arrival, enl_arrival, entry);
        enl_arrival_free(arrival);
    }
}
