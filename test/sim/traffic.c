/* SPDX-License-Identifier: MIT */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#include "bcri/seal.h"
#include "check.h"

enum { HEADER_LEAST = 12, HOST_ONE = 3, HOST_TWO = 70000 };

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
    CHECK_INT(bcri_link_resume(traffic->end.link, (uint32_t)stream, (uint32_t)stream + 100,
                               sim_now(traffic->end.network)),
              0);
    sim_flush(&traffic->end);
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    struct traffic *traffic = owner;
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
    for (uint32_t i = HEADER_LEAST; i < message->header_bytes; i++)
        CHECK_UINT(message->header[i], byte_of(number, i));
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
    }
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

static void settled(void *owner, uint32_t source, uint32_t target, void *cookie,
                    enum bcri_link_outcome outcome)
{
    struct traffic *traffic = owner;
    struct traffic_stream *stream = &traffic->stream[source];
    const struct traffic_stream *there = &traffic->peer->stream[source];
    CHECK_UINT(target, source + 100);
    const uint32_t number = stream->settled++;
    traffic->messages_settled++;
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

static const struct bcri_link_events events = {accept, begin, arrived, dropped, settled};

void traffic_secret(struct bcri_seal_secret *secret_out, enum bcri_cipher cipher)
{
    *secret_out = (struct bcri_seal_secret){.cipher = cipher, .token = 0x1234567890abcdefu};
    for (unsigned i = 0; i < sizeof secret_out->bytes; i++)
        secret_out->bytes[i] = (uint8_t)(i * 7 + 1);
}

void traffic_start(struct sim_network *network, struct traffic *one, struct traffic *two,
                   const struct bcri_link_config *config)
{
    traffic_start_with(network, one, two, config, config->packet_max);
}

void traffic_start_with(struct sim_network *network, struct traffic *one, struct traffic *two,
                        const struct bcri_link_config *config, uint32_t packet_max)
{
    struct bcri_link_config mine = *config;
    sim_join(network, &one->end, &two->end);
    one->peer = two;
    two->peer = one;
    mine.host = HOST_ONE;
    mine.peer = HOST_TWO;
    one->end.link = bcri_link_new(&mine, &events, one, sim_now(network));
    mine.host = HOST_TWO;
    mine.peer = HOST_ONE;
    mine.packet_max = packet_max;
    two->end.link = bcri_link_new(&mine, &events, two, sim_now(network));
    CHECK(one->end.link != NULL && two->end.link != NULL);
}

static void end_one(struct traffic *traffic)
{
    traffic->lost_is_fine = true;
    bcri_link_free(traffic->end.link);
    traffic->end.link = NULL;
    for (unsigned i = 0; i < TRAFFIC_STREAMS; i++) {
        CHECK_UINT(traffic->stream[i].settled, traffic->stream[i].sent);
        free(traffic->stream[i].verdict);
        traffic->stream[i].verdict = NULL;
    }
}

void traffic_end(struct traffic *one, struct traffic *two)
{
    end_one(one);
    end_one(two);
}

void traffic_send(struct traffic *from, uint32_t stream, uint32_t body_bytes)
{
    const uint32_t number = from->stream[stream].sent;
    uint8_t header[BCRI_LINK_HEADER_MAX];
    put_number(header, number);
    put_number(header + 4, stream);
    put_number(header + 8, body_bytes);
    for (uint32_t i = HEADER_LEAST; i < sizeof header; i++)
        header[i] = byte_of(number, i);
    uint8_t *body = malloc(body_bytes + 1);
    CHECK(body != NULL);
    for (uint32_t i = 0; i < body_bytes; i++)
        body[i] = byte_of(number, i);
    CHECK_INT(bcri_link_send(from->end.link, stream, stream + 100, header, header_bytes_of(number), body,
                             body_bytes, body),
              0);
    from->stream[stream].sent++;
}

static bool all_settled(const struct traffic *one)
{
    for (unsigned i = 0; i < TRAFFIC_STREAMS; i++)
        if (one->stream[i].settled != one->stream[i].sent)
            return false;
    return true;
}

bool traffic_is_settled(const struct traffic *one)
{
    return all_settled(one) && all_settled(one->peer);
}
