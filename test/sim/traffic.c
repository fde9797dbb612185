/* SPDX-License-Identifier: MIT */
#include "traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/seal.h"
#include "check.h"
#include "link_private.h"
#include "memory.h"

enum { HEADER_LEAST = 16, HOST_ONE = 3, HOST_TWO = 70000 };

/* What lies behind a cookie of a message under way to this end. */
struct arriving {
    uint32_t number, bytes;
    uint8_t body[];
};

static void put_number(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get_number(const uint8_t *at)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)at[i] << 8 * i;
    return value;
}

static uint8_t byte_of(uint32_t number, uint32_t at)
{
    return (uint8_t)(number * 151 + at + (at >> 8) * 7);
}

/* Each message says how many of a stream in the other direction had arrived when it was sent. */
static uint32_t stream_told_of(uint32_t stream, uint32_t number)
{
    return (stream + number) % TRAFFIC_STREAMS;
}

static uint32_t header_bytes_of(uint32_t number)
{
    return HEADER_LEAST + number % (BCRI_LINK_HEADER_MAX - HEADER_LEAST + 1);
}

static bool accept(void *owner, uint32_t source, uint32_t target)
{
    const struct traffic *traffic = owner;
    return source < TRAFFIC_STREAMS && target == source + 100 && !traffic->stream[source].closed;
}

static void resume(void *context, uint64_t stream)
{
    struct traffic *traffic = context;
    traffic->stream[stream].paused = false;
    if (traffic->end.link == NULL)
        return;
    memory_watch(true);
    bcri_link_resume(traffic->end.link, (uint32_t)stream, (uint32_t)stream + 100, sim_clock(&traffic->end));
    memory_watch(false);
    sim_flush(&traffic->end);
}

static enum bcri_link_verdict decide(struct traffic *traffic, struct bcri_link_message *message)
{
    struct traffic_stream *stream = &traffic->stream[message->source];
    if (traffic->trusting) {
        if (message->body_bytes > 1 << 20)
            return BCRI_LINK_REFUSE;
        message->memory = message->cookie = malloc(message->body_bytes + 1);
        return message->memory != NULL ? BCRI_LINK_TAKE : BCRI_LINK_REFUSE;
    }
    CHECK(!stream->paused);
    const uint32_t number = stream->begun;
    CHECK(message->header_bytes >= HEADER_LEAST);
    CHECK_UINT(get_number(message->header), number);
    CHECK_UINT(get_number(message->header + 4), message->source);
    CHECK_UINT(get_number(message->header + 8), message->body_bytes);
    CHECK_UINT(message->header_bytes, header_bytes_of(number));
    CHECK(traffic->stream[stream_told_of(message->source, number)].completed >=
          get_number(message->header + 12)); /* all change hands */
    for (uint32_t i = HEADER_LEAST; i < message->header_bytes; i++)
        CHECK_UINT(message->header[i], byte_of(number, i));
    if (traffic->held == message->source + 1) {
        stream->paused = true;
        return BCRI_LINK_PAUSE;
    }
    const uint64_t drawn = sim_random(traffic->end.network, 1000);
    if (drawn < traffic->pause) {
        stream->paused = true;
        sim_alarm(traffic->end.network,
                  sim_now(traffic->end.network) + 1 + sim_random(traffic->end.network, traffic->pause_ns),
                  resume, traffic, message->source);
        return BCRI_LINK_PAUSE;
    }
    const enum bcri_link_verdict verdict =
        drawn < traffic->pause + traffic->refuse ? BCRI_LINK_REFUSE : BCRI_LINK_TAKE;
    if (stream->begun == stream->verdicts) {
        stream->verdicts = stream->verdicts == 0 ? 16 : stream->verdicts * 2;
        stream->verdict = realloc(stream->verdict, stream->verdicts);
        CHECK(stream->verdict != NULL);
    }
    stream->verdict[stream->begun++] = (uint8_t)verdict;
    if (verdict == BCRI_LINK_TAKE) {
        struct arriving *arriving = malloc(sizeof *arriving + message->body_bytes);
        CHECK(arriving != NULL);
        arriving->number = number;
        arriving->bytes = message->body_bytes;
        message->memory = message->body_bytes != 0 ? arriving->body : NULL;
        message->cookie = arriving;
        message->changes_hands = true;
    }
    return verdict;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    const bool before = memory_watch(false);
    const enum bcri_link_verdict verdict = decide(owner, message);
    memory_watch(before);
    return verdict;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    struct traffic *traffic = owner;
    struct traffic_stream *stream = &traffic->stream[source];
    struct arriving *arriving = cookie;
    if (traffic->trusting) {
        free(cookie);
        return;
    }
    CHECK_UINT(target, source + 100);
    while (stream->arrived < stream->begun && stream->verdict[stream->arrived] == BCRI_LINK_REFUSE)
        stream->arrived++;
    CHECK_UINT(arriving->number, stream->arrived);
    stream->arrived++;
    for (uint32_t i = 0; i < arriving->bytes; i++)
        if (arriving->body[i] != byte_of(arriving->number, i))
            FAIL("byte %u of message %u of stream %u is wrong", i, arriving->number, source);
    traffic->bytes_arrived += arriving->bytes;
    traffic->messages_arrived++;
    free(arriving);
}

static void dropped(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    struct traffic *traffic = owner;
    (void)source;
    (void)target;
    CHECK(traffic->lost_is_fine);
    traffic->messages_dropped++;
    free(cookie);
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    struct traffic *traffic = owner;
    struct traffic_stream *stream = &traffic->stream[source];
    const struct traffic_stream *there = &traffic->peer->stream[source];
    CHECK_UINT(target, source + 100);
    const uint32_t number = stream->completed++;
    traffic->messages_completed++;
    free(cookie); /* the body */
    if (outcome == BCRI_LINK_LOST || traffic->trusting) {
        CHECK(traffic->lost_is_fine);
        traffic->messages_lost++;
        return;
    }
    CHECK(number < there->begun);
    if (there->verdict[number] == BCRI_LINK_REFUSE) {
        CHECK_INT(outcome, BCRI_LINK_REFUSED);
    } else {
        CHECK_INT(outcome, BCRI_LINK_ARRIVED);
        CHECK(number < there->arrived);
    }
}

static const struct bcri_link_events events = {accept, begin, arrived, dropped, completed};

void traffic_secret(struct bcri_seal_secret *secret_out, enum bcri_cipher cipher)
{
    *secret_out = (struct bcri_seal_secret){.cipher = cipher, .token = 0x1234567890abcdefu};
    for (unsigned i = 0; i < sizeof secret_out->bytes; i++)
        secret_out->bytes[i] = (uint8_t)(i * 7 + 1);
}

static void introduce(struct traffic *one, struct traffic *two, const struct bcri_link_config *config,
                      uint32_t packet_max)
{
    struct bcri_link_config mine = *config;
    mine.host = one->host != 0 ? one->host : HOST_ONE;
    mine.peer = two->host != 0 ? two->host : HOST_TWO;
    one->end.link = bcri_link_new(&mine, &events, one, sim_clock(&one->end));
    const uint32_t host = mine.host;
    mine.host = mine.peer;
    mine.peer = host;
    mine.packet_max = packet_max;
    two->end.link = bcri_link_new(&mine, &events, two, sim_clock(&two->end));
    CHECK(one->end.link != NULL && two->end.link != NULL);
}

void traffic_start(struct sim_network *network, struct traffic *one, struct traffic *two,
                   const struct bcri_link_config *config)
{
    traffic_start_with(network, one, two, config, config->packet_max);
}

void traffic_start_with(struct sim_network *network, struct traffic *one, struct traffic *two,
                        const struct bcri_link_config *config, uint32_t packet_max)
{
    one->peer = two;
    two->peer = one;
    sim_join(network, &one->end, &two->end);
    introduce(one, two, config, packet_max);
}

static void forget_streams(struct traffic *traffic)
{
    for (unsigned i = 0; i < TRAFFIC_STREAMS; i++)
        free(traffic->stream[i].verdict);
    memset(traffic->stream, 0, sizeof traffic->stream);
}

void traffic_introduce(struct traffic *one, struct traffic *two, const struct bcri_link_config *config)
{
    forget_streams(one);
    forget_streams(two);
    one->lost_is_fine = two->lost_is_fine = false;
    introduce(one, two, config, config->packet_max);
}

void traffic_crash(struct traffic *traffic)
{
    traffic->lost_is_fine = true;
    bcri_link_free(traffic->end.link);
    traffic->end.link = NULL;
    for (unsigned i = 0; i < TRAFFIC_STREAMS; i++)
        CHECK_UINT(traffic->stream[i].completed, traffic->stream[i].sent);
}

void traffic_end(struct traffic *one, struct traffic *two)
{
    traffic_crash(one);
    traffic_crash(two);
    for (unsigned i = 0; i < TRAFFIC_STREAMS; i++) {
        free(one->stream[i].verdict);
        free(two->stream[i].verdict);
        one->stream[i].verdict = two->stream[i].verdict = NULL;
    }
}

bool traffic_send(struct traffic *from, uint32_t stream, uint32_t body_bytes)
{
    const uint32_t number = from->stream[stream].sent;
    uint8_t header[BCRI_LINK_HEADER_MAX];
    put_number(header, number);
    put_number(header + 4, stream);
    put_number(header + 8, body_bytes);
    put_number(header + 12, from->stream[stream_told_of(stream, number)].arrived);
    for (uint32_t i = HEADER_LEAST; i < sizeof header; i++)
        header[i] = byte_of(number, i);
    uint8_t *body = malloc(body_bytes + 1);
    CHECK(body != NULL);
    for (uint32_t i = 0; i < body_bytes; i++)
        body[i] = byte_of(number, i);
    memory_watch(true);
    const int result = bcri_link_send(from->end.link, stream, stream + 100, header, header_bytes_of(number),
                                      body, body_bytes, body);
    memory_watch(false);
    if (result != 0) {
        CHECK_INT(result, -ENOMEM);
        CHECK(memory_may_fail());
        free(body);
        return false;
    }
    from->stream[stream].sent++;
    return true;
}

/* Of all streams but `held` - 1. */
static bool all_completed(const struct traffic *one, uint32_t held)
{
    for (unsigned i = 0; i < TRAFFIC_STREAMS; i++)
        if (one->stream[i].completed != one->stream[i].sent && i + 1 != held)
            return false;
    return true;
}

bool traffic_is_completed(const struct traffic *one)
{
    return all_completed(one, 0) && all_completed(one->peer, 0);
}

bool traffic_is_completed_but_held(const struct traffic *two)
{
    return all_completed(two, 0) && all_completed(two->peer, two->held);
}

void traffic_release(struct traffic *traffic)
{
    const uint32_t stream = traffic->held - 1;
    traffic->held = 0;
    if (traffic->stream[stream].paused)
        resume(traffic, stream);
}

void traffic_check_limits(const struct bcri_link *link)
{
    CHECK(link->numbers.count <= BCRI_LINK_NUMBERS_MAX);
    CHECK(link->sent.next - link->sent.oldest <= BCRI_LINK_SENT_MAX);
    CHECK(link->sent.chunk_next - link->sent.chunk_first <= BCRI_LINK_CHUNKS_MAX);
    CHECK(link->in.count >= link->gone && link->gone <= BCRI_LINK_GONE_MAX);
    uint64_t kept = 0, in_use = 0;
    for (uint32_t i = 0; i < link->in.buckets; i++) {
        for (const struct bcri_stream_key *key = link->in.bucket[i]; key != NULL; key = key->next) {
            const struct bcri_in_stream *stream = (const void *)key;
            uint64_t bytes = 0, count = 0;
            for (const struct bcri_piece *piece = stream->piece; piece != NULL; piece = piece->next) {
                bytes += piece->bytes;
                kept += sizeof *piece + piece->capacity;
                count++;
            }
            in_use += sizeof *stream + stream->capacity * sizeof *stream->message +
                      stream->placed.capacity * sizeof *stream->placed.range;
            CHECK_UINT(count, stream->pieces);
            CHECK(count <= BCRI_LINK_PIECES_MAX);
            CHECK(bytes <= BCRI_LINK_BUFFER_MAX);
            CHECK(stream->messages <= BCRI_LINK_BEGUN_MAX);
            /* What has begun may add a range of its own, and a piece that is cut two. */
            CHECK(stream->placed.count <= BCRI_LINK_PIECES_MAX + stream->messages + 2);
            uint32_t refused = 0;
            for (uint32_t m = 0; m < stream->messages; m++) {
                const struct bcri_in_message *message =
                    &stream->message[(stream->first + m) & (stream->capacity - 1)];
                refused += message->refused && !message->skipped;
            }
            CHECK_UINT(stream->refused, refused);
        }
    }
    CHECK_UINT(link->kept, kept);
    CHECK(link->in_use >= in_use); /* streams that have ended may wait for acknowledgements */
    CHECK(kept <= BCRI_LINK_KEPT_MAX + (256u << 10) && link->in_use <= BCRI_LINK_IN_MAX + (1u << 20));
    uint64_t incomplete = 0;
    for (uint32_t i = 0; i < link->out.buckets; i++) {
        for (const struct bcri_stream_key *key = link->out.bucket[i]; key != NULL; key = key->next) {
            const struct bcri_out_stream *stream = (const void *)key;
            uint32_t due = 0;
            for (uint32_t m = 0; m < stream->messages; m++)
                due += stream->message[(stream->first + m) & (stream->capacity - 1)].skip_due;
            CHECK_UINT(stream->skips_due, due);
            CHECK(stream->sending <= stream->messages);
            const struct bcri_out_message *sending =
                &stream->message[(stream->first + stream->sending) & (stream->capacity - 1)];
            if (stream->sending == stream->messages)
                CHECK_UINT(stream->next, stream->end);
            else
                CHECK(sending->start <= stream->next &&
                      stream->next < sending->start + sending->head_bytes + sending->body_bytes);
            incomplete += stream->messages;
        }
    }
    CHECK_UINT(incomplete, link->incomplete);
}
