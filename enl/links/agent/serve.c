/* SPDX-License-Identifier: MIT */
/* serve.c -- the streams in which orders of CCEs elsewhere have come (orders_in.c), and in whose order they are
 * performed (perform.c). docs/states/order.md. */
#include "links/agent/serve.h"

#include <stdlib.h>

#include "links/agent/ask.h"

enum { RESUMES_MAX = 64 }; /* at a time */

/* ---- streams ---- */

static void resume_stream(struct stream_in *stream)
{
    if (!stream->paused || stream->count >= STREAM_ORDERS_MAX || stream->peer->link == NULL)
        return;
    stream->paused = false; /* unless it is paused again now */
    bcri_link_resume(stream->peer->link, stream->source, stream->target, stream->peer->agent->now);
}

static void resume_some(struct bcri_agent *agent)
{
    const struct stream_in *const last = LAST_OF(&agent->no_room, struct stream_in, in_no_room);
    bool more = last != NULL;
    for (int i = 0; more && i < RESUMES_MAX; i++) {
        struct stream_in *stream = TAKE_FIRST(&agent->no_room, struct stream_in, in_no_room);
        more = stream != last;
        resume_stream(stream);
        bcri_serve_stream_over(stream);
    }
    agent->resume_at = list_is_empty(&agent->no_room) ? AGENT_NEVER : agent->now + AGAIN_NS;
}

/* ---- running ---- */

static void perform_stream(struct stream_in *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct arrival *arrival;
    while ((arrival = STAILQ_FIRST(&stream->orders)) != NULL) {
        const enum performed performed = bcri_perform(stream, arrival);
        if (performed == PERFORM_PARKED) {
            list_append(&agent->parked_streams, &stream->in_queue);
            bcri_agent_parks(agent);
        }
        if (performed != PERFORMED)
            break;
        STAILQ_REMOVE_HEAD(&stream->orders, entry);
        bcri_arrival_free(stream, arrival);
    }
    if (!is_listed(&stream->in_no_room))
        resume_stream(stream);
    bcri_serve_stream_over(stream);
}

void bcri_serve_run(struct bcri_agent *agent)
{
    if (agent->resume_at <= agent->now)
        resume_some(agent);
    for (bool more = true; more;) {
        struct stream_in *stream;
        more = bcri_waits_run(agent);
        while ((stream = TAKE_FIRST(&agent->ready, struct stream_in, in_queue)) != NULL) {
            more = true;
            perform_stream(stream);
        }
    }
    bcri_locks_run(agent);
    bcri_serve_answer_puts(agent);
    run_by(agent, agent->resume_at);
    const struct deadline *next = deadlines_next(&agent->deadlines);
    if (next != NULL)
        run_by(agent, next->at_ns);
}

void bcri_serve_again(struct bcri_agent *agent)
{
    list_move(&agent->parked_streams, &agent->ready);
    list_move(&agent->parked_locks, &agent->dead_locks);
    bcri_waits_again(agent);
}

/* What has come whole is carried out; what waits for a region is withdrawn. */
void bcri_serve_lost(struct peer *peer)
{
    struct stream_in *stream;
    EACH_OF (stream, &peer->streams, struct stream_in, of_peer) {
        stream->paused = false;
        list_remove(&stream->in_no_room);
        list_remove(&stream->in_owing);
        bcri_serve_stream_end(stream);
        bcri_serve_stream_over(stream);
    }
    bcri_payloads_lost(peer);
}

static void free_stream(struct stream_in *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct served *served;
    struct arrival *arrival;
    list_append(&agent->ready, &stream->in_queue); /* it is not freed before the end */
    while ((served = FIRST_OF(&stream->served, struct served, of_stream)) != NULL)
        bcri_served_free(served);
    while ((arrival = STAILQ_FIRST(&stream->orders)) != NULL) {
        STAILQ_REMOVE_HEAD(&stream->orders, entry);
        bcri_arrival_free(stream, arrival);
    }
    bcri_locks_end(stream);
    stream->count = 0;
    stream->paused = false;
    list_remove(&stream->in_queue);
    list_remove(&stream->in_owing);
    bcri_serve_stream_over(stream);
}

/* There is no link any more. */
void bcri_serve_free(struct bcri_agent *agent)
{
    struct write_lock *lock;
    struct stream_in *stream;
    struct peer *peer;
    LIST_FOREACH (peer, &agent->peers, of_agent) {
        bcri_answers_go_on(peer);
        EACH_OF (stream, &peer->streams, struct stream_in, of_peer)
            list_remove(&stream->in_queue);
    }
    LIST_FOREACH (peer, &agent->peers, of_agent) {
        while ((stream = FIRST_OF(&peer->streams, struct stream_in, of_peer)) != NULL)
            free_stream(stream);
        bcri_payloads_free(peer);
    }
    list_move(&agent->parked_locks, &agent->dead_locks);
    while ((lock = FIRST_OF(&agent->dead_locks, struct write_lock, of_stream)) != NULL)
        bcri_lock_free(lock);
    free(agent->spare_cell);
    free(agent->deadlines.heap);
}
