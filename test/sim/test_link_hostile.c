/* SPDX-License-Identifier: MIT */
/* What strangers, and peers gone mad, can do to a link: nothing. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "link_private.h"
#include "traffic.h"

enum { CAUGHT_MAX = 4000 };

static struct sim_network *network;
static struct traffic one, two;
static struct bcri_seal_secret secret;
static struct caught {
    uint8_t *packet;
    size_t bytes;
} caught[CAUGHT_MAX];
static unsigned caught_count;

static void catch (void *context, struct sim_end *from, const uint8_t *packet, size_t bytes)
{
    (void)context;
    if (from != &one.end || caught_count == CAUGHT_MAX)
        return;
    uint8_t *copy = malloc(bytes);
    CHECK(copy != NULL);
    memcpy(copy, packet, bytes);
    caught[caught_count++] = (struct caught){copy, bytes};
}

static bool completed(void *context)
{
    return traffic_is_completed(context);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

/* A link that has carried some messages; the packets of `one` were caught on their way. */
static void prepare(enum bcri_cipher cipher, uint64_t packets_per_key)
{
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    network = sim_new(test_seed());
    traffic_secret(&secret,
                   cipher == BCRI_CIPHER_AES256GCM && !has_aes ? BCRI_CIPHER_CHACHA20POLY1305 : cipher);
    const struct bcri_link_config config = {.packet_max = 4000,
                                            .carrier = {.packet_max = 65507, .room = 1 << 20},
                                            .secret = &secret,
                                            .packets_per_key = packets_per_key};
    one.end.path = two.end.path = (struct sim_path){.delay_ns = SIM_MS};
    sim_tap(network, catch, NULL);
    traffic_start(network, &one, &two, &config);
    for (unsigned i = 0; i < 300; i++) {
        traffic_send(&one, i % TRAFFIC_STREAMS, (uint32_t)sim_random(network, 3000));
        traffic_send(&two, i % TRAFFIC_STREAMS, (uint32_t)sim_random(network, 3000));
    }
    CHECK(sim_run(network, sim_now(network) + 60 * SIM_S, completed, &one));
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    sim_tap(network, NULL, NULL);
    CHECK(caught_count > 100);
}

/* What a stranger must not change: all but what is refused or repeated. */
struct state {
    struct bcri_link_counts counts;
    size_t memory;
    uint64_t heard_at, deadline, arrived;
};

static struct state look(void)
{
    struct state state = {.counts = *bcri_link_counts(two.end.link),
                          .memory = bcri_link_memory(two.end.link),
                          .heard_at = bcri_link_heard_at(two.end.link),
                          .deadline = bcri_link_deadline(two.end.link),
                          .arrived = two.messages_arrived};
    state.counts.refused = state.counts.forged = state.counts.repeated = 0;
    return state;
}

static void receive(const uint8_t *packet, size_t bytes)
{
    static uint8_t copy[65536];
    memcpy(copy, packet, bytes);
    bcri_link_receive(two.end.link, copy, bytes, sim_now(network));
}

static void check_unchanged(const struct state *before)
{
    static uint8_t answer[BCRI_LINK_PACKET_MAX];
    const struct state after = look();
    CHECK_MEM(&after, before, sizeof after);
    CHECK_UINT(bcri_link_fill(two.end.link, answer, sim_now(network)), 0);
}

static void check_still_works(void)
{
    traffic_send(&one, 3, 1000);
    traffic_send(&two, 3, 1000);
    CHECK(sim_run(network, sim_now(network) + 10 * SIM_S, completed, &one));
    traffic_end(&one, &two);
    sim_free(network);
    for (unsigned i = 0; i < caught_count; i++)
        free(caught[i].packet);
}

static void strangers_change_nothing(enum bcri_cipher cipher)
{
    prepare(cipher, 0);
    const struct state before = look();
    static uint8_t bad[65536];
    for (unsigned i = 0; i < caught_count; i++) {
        const struct caught *c = &caught[i];
        receive(c->packet, c->bytes); /* as it was */
        for (unsigned n = 0; n < 20; n++) {
            memcpy(bad, c->packet, c->bytes);
            switch (sim_random(network, 3)) {
            case 0: /* cut */ receive(bad, (size_t)sim_random(network, c->bytes)); break;
            case 1: /* one bit turned */
                bad[sim_random(network, c->bytes)] ^= (uint8_t)(1u << sim_random(network, 8));
                receive(bad, c->bytes);
                break;
            default: /* another number, also one far ahead */
                bcri_put_u64(bad + 8, sim_random(network, 2) == 0 ? sim_random(network, UINT64_MAX)
                                                                  : sim_random(network, 1000));
                receive(bad, c->bytes);
            }
        }
    }
    check_unchanged(&before);
    check_still_works();
}

TEST(captured_packets_that_are_replayed_cut_turned_or_renumbered_change_nothing_with_aes)
{
    strangers_change_nothing(BCRI_CIPHER_AES256GCM);
}

TEST(captured_packets_that_are_replayed_cut_turned_or_renumbered_change_nothing_with_chacha)
{
    strangers_change_nothing(BCRI_CIPHER_CHACHA20POLY1305);
}

TEST(random_packets_of_every_size_change_nothing)
{
    prepare(BCRI_CIPHER_CHACHA20POLY1305, 0);
    const struct state before = look();
    static uint8_t packet[65536];
    for (unsigned i = 0; i < sizeof packet; i++)
        packet[i] = (uint8_t)sim_random(network, 256);
    for (size_t bytes = 0; bytes < sizeof packet; bytes++) {
        receive(packet, bytes);
        /* The same with a head that could be the peer's. */
        uint8_t head[BCRI_WIRE_HEAD_BYTES];
        memcpy(head, packet, sizeof head);
        memcpy(packet, caught[0].packet, sizeof head);
        bcri_put_u64(packet + 8, 1000000 + bytes);
        receive(packet, bytes);
        memcpy(packet, head, sizeof head);
    }
    check_unchanged(&before);
    check_still_works();
}

TEST(a_hosts_own_packets_that_come_back_to_it_are_not_opened)
{
    prepare(BCRI_CIPHER_CHACHA20POLY1305, 0);
    static uint8_t copy[65536];
    const uint64_t received = bcri_link_counts(one.end.link)->packets_received;
    const size_t memory = bcri_link_memory(one.end.link);
    for (unsigned i = 0; i < caught_count; i++) {
        for (unsigned as_peers = 0; as_peers < 2; as_peers++) {
            memcpy(copy, caught[i].packet, caught[i].bytes);
            bcri_put_u64(copy + 8, 1000000 + i); /* not one that it has had of its peer */
            if (as_peers)
                bcri_put_u32(copy + 4, two.end.link->host);
            CHECK(!bcri_link_receive(one.end.link, copy, caught[i].bytes, sim_now(network)));
        }
    }
    CHECK_UINT(bcri_link_counts(one.end.link)->packets_received, received);
    CHECK_UINT(bcri_link_counts(one.end.link)->forged, caught_count);
    CHECK_UINT(bcri_link_memory(one.end.link), memory);
    check_still_works();
}

TEST(packets_of_a_host_number_that_is_no_more_are_not_opened)
{
    prepare(BCRI_CIPHER_CHACHA20POLY1305, 0);
    one.lost_is_fine = two.lost_is_fine = true;
    traffic_crash(&one);
    traffic_crash(&two);
    secret.bytes[0]++; /* a new introduction: random bytes of both sides */
    const struct bcri_link_config config = {
        .packet_max = 4000, .carrier = {.packet_max = 65507, .room = 1 << 20}, .secret = &secret};
    one.host = 4;
    traffic_introduce(&one, &two, &config);
    CHECK(sim_run(network, sim_now(network) + 10 * SIM_S, completed, &one));
    const struct state before = look();
    for (unsigned i = 0; i < caught_count; i++)
        receive(caught[i].packet, caught[i].bytes);
    CHECK_UINT(bcri_link_counts(two.end.link)->refused, caught_count);
    CHECK_UINT(bcri_link_counts(two.end.link)->forged, 0);
    /* As if the host had its old number: the keys are others nevertheless. */
    for (unsigned i = 0; i < caught_count; i++) {
        static uint8_t copy[65536];
        memcpy(copy, caught[i].packet, caught[i].bytes);
        bcri_put_u32(copy + 4, 4);
        receive(copy, caught[i].bytes);
    }
    CHECK_UINT(bcri_link_counts(two.end.link)->forged, caught_count);
    check_unchanged(&before);
    check_still_works();
}

TEST(packets_of_a_key_that_was_given_up_are_not_opened)
{
    prepare(BCRI_CIPHER_CHACHA20POLY1305, 10);
    CHECK(bcri_link_counts(one.end.link)->rekeyed > 3);
    const struct state before = look();
    const uint64_t refused = bcri_link_counts(two.end.link)->refused;
    /* Numbers that were never used, under keys that are gone. */
    for (unsigned i = 0; i < 20; i++) {
        static uint8_t copy[65536];
        memcpy(copy, caught[i].packet, caught[i].bytes);
        bcri_put_u64(copy + 8, 1000000 + i);
        receive(copy, caught[i].bytes);
    }
    check_unchanged(&before);
    CHECK_UINT(bcri_link_counts(two.end.link)->refused, refused + 20);
    check_still_works();
}

TEST(packets_of_other_hosts_lanes_versions_and_programs_are_not_opened)
{
    prepare(BCRI_CIPHER_CHACHA20POLY1305, 0);
    const struct state before = look();
    uint8_t text[256], packet[BCRI_WIRE_HEAD_BYTES + sizeof text + BCRI_SEAL_TAG_BYTES];
    /* Another program's secret, this link's head. */
    struct bcri_seal_secret other = secret;
    other.bytes[0] ^= 1;
    struct bcri_sealing *strangers = bcri_sealing_new(&other, 3, 70000, 0);
    struct bcri_sealing *ours = bcri_sealing_new(&secret, 3, 70000, 0);
    CHECK(strangers != NULL && ours != NULL);
    for (unsigned i = 0; i < 5; i++) {
        memset(packet, 0, sizeof packet);
        memcpy(packet, caught[0].packet, BCRI_WIRE_HEAD_BYTES);
        bcri_put_u64(packet + 8, 1000000 + i);
        if (i == 1)
            packet[0]++;
        if (i == 2)
            bcri_put_u16(packet + 2, 1);
        if (i == 3)
            bcri_put_u32(packet + 4, 4);
        if (i == 4)
            packet[1] = 2;
        packet[BCRI_WIRE_HEAD_BYTES] = BCRI_FRAME_PING;
        bcri_seal(i == 0 ? strangers : ours, 1000000 + i, packet, BCRI_WIRE_HEAD_BYTES,
                  packet + BCRI_WIRE_HEAD_BYTES, sizeof text);
        receive(packet, sizeof packet);
    }
    check_unchanged(&before);
    bcri_sealing_free(strangers);
    bcri_sealing_free(ours);
    check_still_works();
}

/* What a peer with the right key may say: frames of every kind, with numbers near what is true and
 * near every limit. The link may stop working with such a peer; it may not break. */
static uint64_t draw_number(void)
{
    switch (sim_random(network, 6)) {
    case 0: return sim_random(network, 8);
    case 1: return sim_random(network, 400);
    case 2: return sim_random(network, 400000);
    case 3: return UINT32_MAX - sim_random(network, 3) + sim_random(network, 3);
    case 4: return BCRI_VARINT_MAX - sim_random(network, 3);
    default: return sim_random(network, TRAFFIC_STREAMS);
    }
}

static size_t draw_frames(uint8_t *at, size_t room)
{
    uint8_t *const start = at, *const end = at + room;
    for (uint64_t frames = 1 + sim_random(network, 4); frames != 0; frames--) {
        *at++ = (uint8_t)sim_random(network, BCRI_FRAME_KINDS + 1);
        for (uint64_t numbers = sim_random(network, 7); numbers != 0 && end - at > 100; numbers--)
            at = bcri_varint_put(at, draw_number());
        for (uint64_t bytes = sim_random(network, 40); bytes != 0 && end - at > 1; bytes--)
            *at++ = (uint8_t)sim_random(network, sim_random(network, 2) == 0 ? 4 : 256);
    }
    return (size_t)(at - start);
}

TEST_TIMEOUT(frames_of_a_peer_gone_mad_break_nothing, 120)
{
    for (unsigned round = 0; round < test_scale(30, 1000); round++) {
        memset(&one, 0, sizeof one);
        memset(&two, 0, sizeof two);
        caught_count = 0;
        prepare(BCRI_CIPHER_CHACHA20POLY1305, 0);
        one.lost_is_fine = two.lost_is_fine = true;
        struct bcri_sealing *ours = bcri_sealing_new(&secret, 3, 70000, 0);
        CHECK(ours != NULL);
        traffic_send(&two, 3, 100000);
        sim_flush(&two.end);
        for (unsigned i = 0; i < 3000; i++) {
            static uint8_t packet[2048], answer[BCRI_LINK_PACKET_MAX];
            memcpy(packet, caught[0].packet, BCRI_WIRE_HEAD_BYTES);
            bcri_put_u64(packet + 8, 1000000 + i);
            const size_t bytes = draw_frames(packet + BCRI_WIRE_HEAD_BYTES, 1500);
            bcri_seal(ours, 1000000 + i, packet, BCRI_WIRE_HEAD_BYTES, packet + BCRI_WIRE_HEAD_BYTES, bytes);
            two.trusting = true;
            receive(packet, BCRI_WIRE_HEAD_BYTES + bytes + BCRI_SEAL_TAG_BYTES);
            while (bcri_link_fill(two.end.link, answer, sim_now(network) + i * SIM_MS) != 0)
                continue;
            CHECK(bcri_link_memory(two.end.link) < 16u << 20);
        }
        CHECK(bcri_link_counts(two.end.link)->malformed != 0);
        bcri_sealing_free(ours);
        traffic_end(&one, &two);
        sim_free(network);
        for (unsigned i = 0; i < caught_count; i++)
            free(caught[i].packet);
    }
}

static struct bcri_sealing *peers_key;

/* A packet of `one` that only a peer with the key can make; its frames end at `end`. */
static void receive_made(uint8_t *packet, const uint8_t *end, uint64_t number)
{
    const size_t bytes = (size_t)(end - packet) - BCRI_WIRE_HEAD_BYTES;
    memcpy(packet, caught[0].packet, BCRI_WIRE_HEAD_BYTES);
    bcri_put_u64(packet + 8, number);
    bcri_seal(peers_key, number, packet, BCRI_WIRE_HEAD_BYTES, packet + BCRI_WIRE_HEAD_BYTES, bytes);
    receive(packet, BCRI_WIRE_HEAD_BYTES + bytes + BCRI_SEAL_TAG_BYTES);
}

static void prepare_mad_peer(void)
{
    prepare(BCRI_CIPHER_CHACHA20POLY1305, 0);
    peers_key = bcri_sealing_new(&secret, 3, 70000, 0);
    CHECK(peers_key != NULL);
}

static void finish_mad_peer(void)
{
    bcri_sealing_free(peers_key);
    one.lost_is_fine = two.lost_is_fine = true;
    traffic_end(&one, &two);
    sim_free(network);
    for (unsigned i = 0; i < caught_count; i++)
        free(caught[i].packet);
}

TEST(a_peer_that_says_it_has_half_a_head_is_not_believed)
{
    uint8_t packet[200], *at = packet + BCRI_WIRE_HEAD_BYTES;
    prepare_mad_peer();
    const struct bcri_out_stream *stream = bcri_stream_find(&two.end.link->out, 3, 103);
    const uint64_t taken = stream->taken;
    two.end.path.cut = true;
    for (unsigned i = 0; i < 3; i++)
        traffic_send(&two, 3, 0);
    sim_flush(&two.end);
    *at++ = BCRI_FRAME_TAKEN;
    at = bcri_varint_put(at, 3);
    at = bcri_varint_put(at, 103);
    at = bcri_varint_put(at, taken + 5);
    at = bcri_varint_put(at, stream->limit);
    at = bcri_varint_put(at, 0);
    receive_made(packet, at, 1000000);
    CHECK_UINT(bcri_link_counts(two.end.link)->malformed, 1);
    CHECK_UINT(stream->taken, taken);
    two.end.path.cut = false;
    CHECK(sim_run(network, sim_now(network) + 10 * SIM_S, completed, &one));
    finish_mad_peer();
}

TEST(of_two_frames_that_say_what_a_host_receives_the_later_counts)
{
    prepare_mad_peer();
    for (unsigned i = 0; i < 2; i++) {
        uint8_t packet[200], *at = packet + BCRI_WIRE_HEAD_BYTES;
        *at++ = BCRI_FRAME_HOST;
        at = bcri_varint_put(at, 50000 + i);
        at = bcri_varint_put(at, 4000 + i);
        receive_made(packet, at, 1000001 - i);
    }
    CHECK_UINT(two.end.link->peer_room, 50000);
    CHECK_UINT(two.end.link->peer_packet_max, 4000);
    finish_mad_peer();
}

TEST(a_peer_that_acknowledges_nothing_takes_a_bounded_memory)
{
    static uint8_t packet[200], answer[BCRI_LINK_PACKET_MAX];
    prepare_mad_peer();
    traffic_send(&two, 3, 100000);
    for (unsigned i = 0; i < 4 * BCRI_LINK_SENT_MAX; i++) {
        packet[BCRI_WIRE_HEAD_BYTES] = BCRI_FRAME_PING;
        receive_made(packet, packet + BCRI_WIRE_HEAD_BYTES + 1, 1000000 + i);
        while (bcri_link_fill(two.end.link, answer, sim_now(network)) != 0)
            continue;
    }
    CHECK(bcri_link_memory(two.end.link) < BCRI_LINK_SENT_MAX * sizeof(struct bcri_sent) + (256u << 10));
    finish_mad_peer();
}

/* BYTES of stream 5 from `one`, at `offset`. */
static uint8_t *put_bytes(uint8_t *at, uint64_t offset, const uint8_t *bytes, uint32_t count)
{
    *at++ = BCRI_FRAME_BYTES;
    at = bcri_varint_put(at, 5);
    at = bcri_varint_put(at, 105);
    at = bcri_varint_put(at, offset);
    at = bcri_varint_put(at, count);
    memcpy(at, bytes, count);
    return at + count;
}

TEST(a_peer_that_begins_and_never_ends_takes_a_bounded_memory)
{
    static const uint8_t empty[2000];
    static uint8_t packet[2200];
    prepare_mad_peer();
    struct bcri_in_stream *stream = bcri_stream_find(&two.end.link->in, 5, 105);
    two.trusting = true;
    uint8_t head[8], *end = bcri_varint_put(bcri_varint_put(head, 0), 1000000);
    receive_made(packet,
                 put_bytes(packet + BCRI_WIRE_HEAD_BYTES, stream->begun, head, (uint32_t)(end - head)),
                 1000000);
    CHECK_UINT(stream->messages, 1);
    /* Every other byte of it. */
    for (uint32_t i = 0; i < 3 * BCRI_LINK_PIECES_MAX; i++)
        receive_made(packet,
                     put_bytes(packet + BCRI_WIRE_HEAD_BYTES, stream->message[stream->first].body + 1 + 2 * i,
                               empty, 1),
                     1000001 + i);
    CHECK(stream->placed.count <= BCRI_LINK_PIECES_MAX);
    /* Messages of nothing behind it, which all wait for it. */
    for (uint64_t i = 0, offset = stream->begun; i < 30; i++, offset += sizeof empty)
        receive_made(packet, put_bytes(packet + BCRI_WIRE_HEAD_BYTES, offset, empty, sizeof empty),
                     1100000 + i);
    CHECK_UINT(stream->messages, BCRI_LINK_BEGUN_MAX);
    CHECK(stream->pieces != 0);
    /* Once it is there, so are they. */
    const uint64_t from = stream->message[stream->first].body;
    for (uint64_t done = 0; done < 1000000; done += sizeof empty)
        receive_made(packet, put_bytes(packet + BCRI_WIRE_HEAD_BYTES, from + done, empty, sizeof empty),
                     1200000 + done);
    CHECK_UINT(stream->messages, 0);
    CHECK_UINT(stream->pieces, 0);
    CHECK_UINT(stream->taken, from + 1000000 + 30 * sizeof empty);
    finish_mad_peer();
}

TEST(a_peer_that_begins_streams_that_are_not_accepted_takes_a_bounded_memory)
{
    static uint8_t packet[200];
    prepare_mad_peer();
    const size_t before = bcri_link_memory(two.end.link);
    for (uint32_t i = 0; i < 4 * BCRI_LINK_GONE_MAX; i++) {
        uint8_t *at = packet + BCRI_WIRE_HEAD_BYTES;
        *at++ = BCRI_FRAME_BYTES;
        at = bcri_varint_put(at, 1000 + i);
        at = bcri_varint_put(at, 1);
        at = bcri_varint_put(at, 0);
        at = bcri_varint_put(at, 2);
        *at++ = 0;
        *at++ = 0;
        receive_made(packet, at, 1000000 + i);
    }
    CHECK_UINT(two.end.link->gone, BCRI_LINK_GONE_MAX);
    CHECK(bcri_link_memory(two.end.link) <
          before + BCRI_LINK_GONE_MAX * (sizeof(struct bcri_in_stream) + 64));
    finish_mad_peer();
}

TEST(a_stream_for_which_there_is_no_room_stops_no_other_in_the_same_packet)
{
    static uint8_t packet[200];
    prepare_mad_peer();
    struct bcri_in_stream *full = bcri_stream_find(&two.end.link->in, 5, 105);
    struct bcri_in_stream *other = bcri_stream_find(&two.end.link->in, 6, 106);
    two.trusting = true;
    for (uint32_t i = 0; i < BCRI_LINK_PIECES_MAX; i++)
        receive_made(
            packet,
            put_bytes(packet + BCRI_WIRE_HEAD_BYTES, full->begun + 10 + 2 * i, (const uint8_t *)"", 1),
            1000000 + i);
    CHECK_UINT(full->pieces, BCRI_LINK_PIECES_MAX);
    const uint64_t taken = other->taken;
    uint8_t *at = put_bytes(packet + BCRI_WIRE_HEAD_BYTES, full->begun + 9000, (const uint8_t *)"", 1);
    uint8_t *const next = at;
    at = put_bytes(at, other->begun, (const uint8_t *)"\0\0", 2);
    next[1] = 6; /* the stream's ends */
    bcri_put_u16(next + 2, 106 | 0x4000);
    const uint32_t known = two.end.link->numbers.count;
    receive_made(packet, at, 1000000 + BCRI_LINK_PIECES_MAX);
    CHECK_UINT(other->taken, taken + 2);
    CHECK_UINT(two.end.link->numbers.count, known);
    CHECK(!bcri_ranges_holds(&two.end.link->numbers, 1000000 + BCRI_LINK_PIECES_MAX));
    finish_mad_peer();
}
