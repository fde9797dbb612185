/* SPDX-License-Identifier: MIT */
/* streams.c -- the streams in which orders of CCEs elsewhere come, by host and CCEs; and their answers. */
#include "links/agent/serve.h"

/* Puts that are done are answered together: so many of a stream, or after that time, or with whatever else goes
 * to that host. */
enum { ANSWERS_TOGETHER = 128 };
#define ANSWERS_AFTER_NS (UINT64_C(1000) * 1000)

static uint64_t stream_key_of(const struct peer *peer, uint32_t source, uint32_t target)
{
    return (uint64_t)peer->host << 32 | (uint64_t)source << 16 | target; /* both have 16 bits */
}

struct stream_in *bcri_serve_stream_find(const struct peer *peer, uint32_t source, uint32_t target)
{
    const uint64_t key = stream_key_of(peer, source, target);
    struct entry *at = table_find(&peer->agent->streams, key);
    return at != NULL ? RECORD_OF(at, struct stream_in, at) : NULL;
}

struct stream_in *bcri_serve_stream(struct peer *peer, uint32_t source, uint32_t target)
{
    struct bcri_agent *agent = peer->agent;
    struct stream_in *stream = bcri_serve_stream_find(peer, source, target);
    if (stream != NULL || (stream = bcri_peer_alloc(peer, sizeof *stream)) == NULL)
        return stream;
    *stream = (struct stream_in){.peer = peer, .source = source, .target = target};
    STAILQ_INIT(&stream->orders);
    bcri_table_add(&agent->streams, &stream->at, stream_key_of(peer, source, target));
    list_append(&peer->streams, &stream->of_peer);
    return stream;
}

void bcri_serve_stream_over(struct stream_in *stream)
{
    struct peer *peer = stream->peer;
    if (stream->count != 0 || stream->paused || !list_is_empty(&stream->served) ||
        !list_is_empty(&stream->locks) || is_listed(&stream->in_queue) || is_listed(&stream->in_owing))
        return;
    list_remove(&stream->of_peer);
    list_remove(&stream->in_no_room);
    bcri_table_remove(&peer->agent->streams, &stream->at);
    peer->bytes -= sizeof *stream;
    record_free(stream);
}

/* ---- answers ---- */

bool bcri_serve_answer(struct stream_in *stream, const struct bcri_message *answer)
{
    struct peer *peer = stream->peer;
    return peer->link == NULL ||
           bcri_agent_send(peer, stream->target | BCRI_ANSWERS, stream->source, answer, NULL, NULL);
}

bool bcri_serve_put_answers(struct stream_in *stream)
{
    const struct bcri_message answer = {
        .kind = BCRI_MESSAGE_ANSWER, .flags = BCRI_MESSAGE_UP_TO, .request = stream->done};
    if (stream->done_count == 0)
        return true;
    if (!bcri_serve_answer(stream, &answer))
        return false;
    stream->done_count = 0;
    list_remove(&stream->in_owing);
    return true;
}

void bcri_serve_put_done(struct stream_in *stream, uint64_t request)
{
    struct peer *peer = stream->peer;
    struct bcri_agent *agent = peer->agent;
    stream->done = request;
    stream->done_count++;
    if (!is_listed(&stream->in_owing))
        list_append(&peer->owing, &stream->in_owing);
    if (!is_listed(&peer->of_owing)) {
        peer->owing_at = agent->now + ANSWERS_AFTER_NS;
        list_append(&agent->owing, &peer->of_owing);
    }
    if (stream->done_count >= ANSWERS_TOGETHER)
        (void)bcri_serve_put_answers(stream); /* without memory they are answered later */
}

/* False: no memory. */
static bool answer_all(struct peer *peer)
{
    struct stream_in *stream;
    while ((stream = FIRST_OF(&peer->owing, struct stream_in, in_owing)) != NULL) {
        if (!bcri_serve_put_answers(stream))
            return false;
        bcri_serve_stream_over(stream);
    }
    return true;
}

void bcri_serve_answer_puts(struct bcri_agent *agent)
{
    struct peer *peer;
    while ((peer = FIRST_OF(&agent->owing, struct peer, of_owing)) != NULL && peer->owing_at <= agent->now) {
        const bool done = answer_all(peer);
        list_remove(&peer->of_owing);
        if (!done) {
            peer->owing_at = agent->now + AGAIN_NS;
            list_append(&agent->owing, &peer->of_owing);
        }
    }
    if (peer != NULL)
        run_by(agent, peer->owing_at);
}
