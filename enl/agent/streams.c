/* SPDX-License-Identifier: MIT */
/* streams.c -- the streams in which orders of CCEs elsewhere come, by host and CCEs; and their answers. */
#include "serve.h"

static uint64_t key_of(const struct peer *peer, uint32_t source, uint32_t target)
{
    return (uint64_t)peer->host << 32 | (uint64_t)source << 16 | target; /* both are below BCRI_CCE_MAX */
}

struct stream *bcri_serve_stream_find(const struct peer *peer, uint32_t source, uint32_t target)
{
    const uint64_t key = key_of(peer, source, target);
    struct entry *at = table_find(&peer->agent->streams, key);
    return at != NULL ? RECORD_OF(at, struct stream, at) : NULL;
}

struct stream *bcri_serve_stream(struct peer *peer, uint32_t source, uint32_t target)
{
    struct bcri_agent *agent = peer->agent;
    struct stream *stream = bcri_serve_stream_find(peer, source, target);
    if (stream != NULL || !bcri_peer_remember(peer, sizeof *stream))
        return stream;
    if ((stream = record_take(&agent->stream_records)) == NULL) {
        peer->bytes -= sizeof *stream;
        return NULL;
    }
    *stream = (struct stream){.peer = peer, .source = source, .target = target};
    stream->end = &stream->first;
    list_init(&stream->served);
    list_init(&stream->locks);
    bcri_table_add(&agent->streams, &stream->at, key_of(peer, source, target));
    list_append(&peer->streams, &stream->of_peer);
    return stream;
}

void bcri_serve_stream_over(struct stream *stream)
{
    struct peer *peer = stream->peer;
    if (stream->count != 0 || stream->paused || !list_is_empty(&stream->served) ||
        !list_is_empty(&stream->locks) || is_listed(&stream->in_queue))
        return;
    list_remove(&stream->of_peer);
    list_remove(&stream->in_no_room);
    bcri_table_remove(&peer->agent->streams, &stream->at);
    peer->bytes -= sizeof *stream;
    record_give(&peer->agent->stream_records, stream);
}

void bcri_serve_answer(struct stream *stream, uint64_t request, int code, uint64_t value)
{
    const struct bcri_message message = {
        .kind = BCRI_MESSAGE_ANSWER, .code = (uint32_t)code, .request = request, .value = value};
    if (!bcri_agent_send(stream->peer, stream->target | BCRI_ANSWERS, stream->source, &message, NULL, NULL) &&
        stream->peer->link != NULL)
        bcri_agent_note(stream->peer->agent, "no memory for an answer to host %u", stream->peer->host);
}
