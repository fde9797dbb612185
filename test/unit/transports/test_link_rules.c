/* SPDX-License-Identifier: MIT */
/* Rules of the engine that show only when single packets are held back, lost or turned round: two
 * links whose packets are handed over one by one. */
#include <string.h>

#include "check.h"
#include "link_private.h"

enum { HELD_MAX = 200, HELD_BYTES = 1500 };

static struct bcri_link *a, *b;
static uint64_t now = 1000000000;
static enum bcri_link_verdict verdict = BCRI_LINK_TAKE;
static uint8_t body[1 << 20], memory[1 << 20];
static bool changes_hands;
static unsigned arrivals, completions;
static unsigned completions_at_begin; /* of the last message */
static enum bcri_link_outcome last_outcome;
static struct held {
    uint8_t bytes[HELD_BYTES];
    size_t length;
} held[HELD_MAX];

static bool accept(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source != 0 && target != 0;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    (void)owner;
    message->memory = memory;
    message->changes_hands = changes_hands;
    completions_at_begin = completions;
    return verdict;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
    arrivals++;
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
    completions++;
    last_outcome = outcome;
}

static const struct bcri_link_events events = {accept, begin, arrived, arrived, completed};

static void prepare(uint64_t packets_per_key)
{
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_CHACHA20POLY1305, .bytes = {1, 2, 3}};
    struct bcri_link_config config = {.host = 1,
                                      .peer = 2,
                                      .packet_max = 1200,
                                      .carrier = {.packet_max = 1200, .room = 1 << 20},
                                      .secret = &secret,
                                      .packets_per_key = packets_per_key};
    a = bcri_link_new(&config, &events, NULL, now);
    config.host = 2;
    config.peer = 1;
    b = bcri_link_new(&config, &events, NULL, now);
    CHECK(a != NULL && b != NULL);
}

static void finish(void)
{
    bcri_link_free(a);
    bcri_link_free(b);
}

/* The next packet of `from` is kept in `held[which]`. */
static void hold(struct bcri_link *from, unsigned which)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    CHECK(which < HELD_MAX);
    held[which].length = bcri_link_fill(from, packet, now);
    CHECK(held[which].length != 0 && held[which].length <= HELD_BYTES);
    memcpy(held[which].bytes, packet, held[which].length);
}

/* Whether it was opened. */
static bool give(struct bcri_link *to, unsigned which)
{
    const uint64_t before = to->counts.packets_received;
    (void)bcri_link_receive(to, held[which].bytes, held[which].length, now);
    return to->counts.packets_received != before;
}

/* A packet that has nothing but a question. */
static void hold_ping(struct bcri_link *from, unsigned which)
{
    bcri_link_ping(from);
    hold(from, which);
}

/* All that either has to say now reaches the other. */
static void pass_all(void)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    for (bool more = true; more;) {
        more = false;
        for (size_t bytes; (bytes = bcri_link_fill(a, packet, now)) != 0; more = true)
            CHECK(bcri_link_receive(b, packet, bytes, now));
        for (size_t bytes; (bytes = bcri_link_fill(b, packet, now)) != 0; more = true)
            CHECK(bcri_link_receive(a, packet, bytes, now));
    }
}

/* The same, acknowledgements included that wait for company. */
static void pass_all_and_wait(void)
{
    pass_all();
    now += 2 * BCRI_ACK_DELAY_NS;
    pass_all();
}

static void send(struct bcri_link *from, uint32_t stream, uint32_t body_bytes)
{
    CHECK_INT(bcri_link_send(from, stream, stream, "head", 4, body, body_bytes, NULL), 0);
}

TEST(a_late_packet_of_the_key_before_is_opened)
{
    prepare(5);
    pass_all_and_wait();
    /* Two packets between which the key changes. */
    for (unsigned i = 0; i < 100; i++) {
        hold_ping(a, 1);
        hold_ping(a, 2);
        if (held[1].bytes[1] != held[2].bytes[1])
            break;
        CHECK(give(b, 1));
        CHECK(give(b, 2));
        pass_all_and_wait();
    }
    CHECK(held[1].bytes[1] != held[2].bytes[1]);
    CHECK(give(b, 2));
    CHECK(give(b, 1));
    CHECK_UINT(b->counts.refused, 0);
    finish();
}

TEST(a_packet_of_the_next_key_that_overtakes_is_opened_and_so_are_those_it_overtook)
{
    prepare(10);
    pass_all_and_wait();
    send(a, 1, 20000); /* a row of packets in which the key changes */
    const uint64_t first = a->sent.next;
    unsigned count = 0;
    for (; count < 16; count++)
        hold(a, count);
    CHECK_UINT(a->counts.rekeyed, 1);
    CHECK(a->key_first > first && a->key_first < a->sent.next);
    for (unsigned i = count; i-- != 0;)
        CHECK(give(b, i));
    pass_all_and_wait();
    CHECK_UINT(b->counts.refused, 0);
    CHECK_UINT(a->counts.resent, 0);
    CHECK_UINT(arrivals, 1);
    finish();
}

TEST(what_an_acknowledged_acknowledgement_told_is_forgotten_but_for_the_last_eight_ranges)
{
    prepare(0);
    pass_all_and_wait();
    const uint64_t first = a->sent.next;
    for (unsigned i = 0; i < 21; i++)
        hold_ping(a, i);
    CHECK_UINT(first + 21, a->sent.next);
    CHECK_UINT(b->numbers.range[b->numbers.count - 1].to, first);
    /* Every other one: with the one range before them ten more. */
    for (unsigned i = 1; i < 21; i += 2)
        CHECK(give(b, i));
    CHECK_UINT(b->numbers.count, 11);
    send(b, 1, 1); /* so that the packet with the acknowledgement is itself acknowledged */
    hold(b, 100);
    CHECK(give(a, 100));
    now += 2 * BCRI_ACK_DELAY_NS;
    hold(a, 101);
    CHECK(give(b, 101));
    /* Ranges 5, 7, ..., 19 are the last eight. */
    CHECK_UINT(b->floor, first + 5);
    CHECK(!give(b, 2));
    CHECK(!give(b, 4));
    CHECK(give(b, 6));
    CHECK(give(b, 20));
    CHECK_UINT(b->counts.repeated, 2);
    finish();
}

TEST(of_more_ranges_than_are_kept_the_lowest_are_forgotten_and_no_others)
{
    prepare(0);
    pass_all_and_wait();
    const uint64_t first = a->sent.next;
    for (unsigned i = 0; i < 2 * BCRI_LINK_NUMBERS_MAX + 2; i++)
        hold_ping(a, i);
    for (unsigned i = 1; i < 2 * BCRI_LINK_NUMBERS_MAX; i += 2)
        CHECK(give(b, i));
    /* With the range before them there are one too many. */
    CHECK_UINT(b->numbers.count, BCRI_LINK_NUMBERS_MAX);
    CHECK_UINT(b->floor, first + 1);
    CHECK(!give(b, 0));
    CHECK(give(b, 2));
    finish();
}

TEST(a_gap_is_told_at_once)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare(0);
    pass_all_and_wait();
    for (unsigned i = 0; i < 3; i++)
        hold_ping(a, i);
    CHECK(give(b, 0));
    CHECK_UINT(bcri_link_fill(b, packet, now), 0); /* one packet that wants an acknowledgement can wait */
    pass_all_and_wait();
    CHECK_UINT(b->unacked, 0);
    CHECK(give(b, 2));
    hold(b, 3);
    CHECK(give(a, 3));
    CHECK_UINT(a->recovery.largest_acked, a->sent.next - 1);
    finish();
}

TEST(a_packet_that_fills_a_gap_is_told_at_once)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare(0);
    pass_all_and_wait();
    for (unsigned i = 0; i < 3; i++)
        hold_ping(a, i);
    CHECK(give(b, 2));
    hold(b, 3);
    CHECK_UINT(bcri_link_fill(b, packet, now), 0);
    CHECK(give(b, 1));
    hold(b, 4);
    finish();
}

/* The first packets of a long message, which the receiver will refuse. */
static void hold_what_is_refused(unsigned count)
{
    prepare(0);
    pass_all_and_wait();
    verdict = BCRI_LINK_REFUSE;
    send(a, 1, 500000);
    for (unsigned i = 0; i < count; i++)
        hold(a, i);
}

/* The lost parts of a message that is refused: those lost after the refusal is known. */
TEST(what_is_lost_of_a_refused_message_is_not_sent_again)
{
    enum { COUNT = 24 };
    hold_what_is_refused(COUNT);
    CHECK(give(b, 0));
    hold(b, 100); /* the refusal */
    CHECK(give(a, 100));
    CHECK(give(b, COUNT - 1));
    hold(b, 101); /* says which packets are missing */
    CHECK(give(a, 101));
    CHECK(a->counts.lost > 10);
    pass_all_and_wait();
    CHECK_UINT(a->counts.resent, 0);
    CHECK_UINT(completions, 1);
    CHECK_INT(last_outcome, BCRI_LINK_REFUSED);
    finish();
}

/* Those that were to be sent again when the refusal became known. */
TEST(what_is_to_be_sent_again_of_a_message_is_forgotten_when_it_is_refused)
{
    enum { COUNT = 24 };
    hold_what_is_refused(COUNT);
    CHECK(give(b, COUNT - 1));
    hold(b, 100);
    CHECK(give(a, 100));
    CHECK(a->counts.lost > 10);
    CHECK_UINT(completions, 0);
    CHECK(give(b, 0));
    hold(b, 101);
    CHECK(give(a, 101));
    pass_all_and_wait();
    /* Its head alone: whether that has arrived the sender does not know. */
    CHECK(a->counts.resent <= BCRI_LINK_HEADER_MAX + 6);
    CHECK_INT(last_outcome, BCRI_LINK_REFUSED);
    finish();
}

TEST(a_packet_number_far_ahead_is_a_number_like_any)
{
    prepare(0);
    pass_all_and_wait();
    send(a, 1, 100);
    pass_all_and_wait();
    CHECK_UINT(completions, 1);
    CHECK_UINT(a->sent.eliciting, 0);
    hold_ping(a, 0); /* comes late */
    const uint64_t ahead = BCRI_VARINT_MAX - 100;
    CHECK(give(b, 0));
    pass_all_and_wait();
    a->sent.oldest = a->sent.next = ahead;
    send(a, 1, 100000);
    pass_all_and_wait();
    CHECK_UINT(completions, 2);
    CHECK(a->sent.next > ahead + 80);
    CHECK_UINT(b->numbers.range[b->numbers.count - 1].to, a->sent.next);
    CHECK_UINT(b->counts.refused + b->counts.repeated + b->counts.malformed, 0);
    finish();
}

TEST(an_acknowledgement_of_what_was_never_sent_is_malformed)
{
    prepare(0);
    pass_all_and_wait();
    hold_ping(a, 0);
    a->sent.oldest = a->sent.next = 1000000;
    hold_ping(a, 1);
    CHECK(give(b, 1));
    a->sent.oldest = a->sent.next = 10; /* as if it had never been */
    now += 2 * BCRI_ACK_DELAY_NS;
    hold(b, 2);
    CHECK(give(a, 2));
    CHECK_UINT(a->counts.malformed, 1);
    finish();
}

TEST(a_window_of_zero_opens_though_the_news_is_lost)
{
    prepare(0);
    pass_all_and_wait();
    verdict = BCRI_LINK_PAUSE;
    for (unsigned i = 0; i < 12; i++)
        send(a, 1, 100000);
    pass_all_and_wait();
    const struct bcri_out_stream *stream = bcri_stream_find(&a->out, 1, 1);
    CHECK_UINT(stream->next, stream->limit);
    CHECK_UINT(completions, 0);
    verdict = BCRI_LINK_TAKE;
    bcri_link_resume(b, 1, 1, now);
    hold(b, 0); /* and no end gets it */
    for (unsigned i = 0; i < 100 && completions < 12; i++) {
        now = bcri_link_deadline(b) < bcri_link_deadline(a) ? bcri_link_deadline(b) : bcri_link_deadline(a);
        CHECK(now != BCRI_LINK_NEVER);
        pass_all();
    }
    CHECK_UINT(completions, 12);
    CHECK_UINT(arrivals, 12);
    finish();
}

TEST(small_packets_do_not_wait_for_each_other_however_large_packets_may_be)
{
    uint8_t packet[HELD_BYTES];
    prepare(0);
    send(a, 1, 8);
    pass_all_and_wait();
    a->mtu.bytes = 65507; /* as on a loopback device; the window began with 32 of 1,200 */
    for (unsigned i = 0; i < 3; i++) {
        send(a, 1, 8);
        CHECK(bcri_link_fill(a, packet, now) != 0);
    }
    finish();
}

TEST(only_a_window_that_holds_packets_back_grows)
{
    prepare(0);
    const uint64_t first = a->congestion.window;
    for (unsigned i = 0; i < 500; i++) {
        send(a, 1, 1000);
        pass_all_and_wait();
    }
    CHECK_UINT(a->congestion.window, first);
    send(a, 1, sizeof body);
    pass_all_and_wait();
    CHECK(a->congestion.window > 2 * first);
    finish();
}

TEST_TIMEOUT(what_is_remembered_of_packets_is_bounded_however_large_the_window, 120)
{
    enum { ROUNDS = 3000, STREAMS = 60, MESSAGES = ROUNDS * STREAMS };
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare(0);
    pass_all_and_wait();
    a->peer_room = UINT32_MAX;
    a->congestion.window = UINT32_MAX;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < STREAMS; i++)
            CHECK_INT(bcri_link_send(a, 1 + i, 1, NULL, 0, NULL, 0, NULL), 0);
        for (unsigned packets = 0; bcri_link_fill(a, packet, now) != 0; packets++) /* no end gets them */
            CHECK(packets < 10);
    }
    CHECK(a->sent.chunk_next - a->sent.chunk_first > BCRI_LINK_CHUNKS_MAX - 200);
    CHECK(a->sent.chunk_next - a->sent.chunk_first <= BCRI_LINK_CHUNKS_MAX);
    CHECK_UINT(a->counts.lost, 0);
    for (unsigned i = 0; i < 1000 && completions < MESSAGES; i++) {
        const uint64_t first = bcri_link_deadline(a), second = bcri_link_deadline(b);
        now = first < second ? first : second;
        pass_all();
    }
    CHECK_UINT(completions, MESSAGES);
    finish();
}

/* SKIP frames may come in any order. */
TEST(refused_messages_are_listed_in_order_whatever_order_they_are_skipped_in)
{
    enum { REFUSED = 60 };
    uint64_t state = test_seed();
    prepare(0);
    pass_all_and_wait();
    verdict = BCRI_LINK_REFUSE;
    for (unsigned i = 0; i < REFUSED; i++)
        send(a, 1, 10);
    hold(a, 0);
    CHECK(give(b, 0));
    struct bcri_in_stream *stream = bcri_stream_find(&b->in, 1, 1);
    CHECK(stream != NULL);
    CHECK_UINT(stream->refused, REFUSED);
    for (unsigned left = REFUSED; left != 0; left--) {
        uint64_t which = test_rand_below(&state, left);
        uint32_t i = 0;
        for (; stream->message[(stream->first + i) & (stream->capacity - 1)].skipped || which-- != 0; i++)
            continue;
        const struct bcri_in_message chosen = stream->message[(stream->first + i) & (stream->capacity - 1)];
        CHECK_INT(bcri_in_skip(b, 1, 1, chosen.body, chosen.end), BCRI_IN_OK);
        CHECK_UINT(stream->refused, left - 1);
        uint32_t index = stream->first_refused;
        for (uint32_t m = 0; m < stream->messages; m++) {
            const struct bcri_in_message *message =
                &stream->message[(stream->first + m) & (stream->capacity - 1)];
            if (message->skipped)
                continue;
            CHECK_UINT(index, stream->first + m);
            index = message->after;
        }
    }
    CHECK_UINT(stream->messages, 0);
    finish();
}

/* More has changed hands than a packet can tell of; and what is told is lost, or is not. */
static void bytes_wait_for_the_word(bool is_lost)
{
    enum { STREAMS = 100 };
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    unsigned told = 0;
    arrivals = completions = 0;
    prepare(0);
    pass_all_and_wait();
    changes_hands = true;
    for (uint32_t stream = 1; stream <= STREAMS; stream++)
        send(a, stream, 1);
    for (size_t bytes; (bytes = bcri_link_fill(a, packet, now)) != 0;)
        CHECK(bcri_link_receive(b, packet, bytes, now));
    CHECK_UINT(arrivals, STREAMS);
    changes_hands = false;
    send(b, STREAMS + 1, 1);
    for (size_t bytes; (bytes = bcri_link_fill(b, packet, now)) != 0; told++) {
        CHECK(told < HELD_MAX && bytes <= HELD_BYTES);
        memcpy(held[told].bytes, packet, held[told].length = bytes);
    }
    CHECK(told >= 2);
    for (unsigned which = is_lost ? told - 1 : 0; which < told; which++)
        CHECK(give(a, which));
    CHECK_UINT(arrivals, STREAMS); /* none of them had bytes */
    for (unsigned turns = 0; completions <= STREAMS; turns++) {
        CHECK(turns < 1000);
        pass_all();
        now += BCRI_ACK_DELAY_NS;
    }
    CHECK_UINT(arrivals, STREAMS + 1);
    CHECK_UINT(completions_at_begin, STREAMS);
    finish();
}

TEST(bytes_wait_for_room_for_the_word_of_all_that_has_changed_hands)
{
    bytes_wait_for_the_word(false);
}

TEST(bytes_wait_for_the_word_of_all_that_has_changed_hands_if_it_was_lost)
{
    bytes_wait_for_the_word(true);
}

TEST(what_a_burst_took_is_given_back_by_an_idle_link)
{
    enum { MESSAGES = 20000, STREAMS = 5, IDLE_MAX = 16 << 10 };
    prepare(0);
    pass_all_and_wait();
    completions = 0;
    for (unsigned i = 0; i < MESSAGES; i++)
        send(a, i % STREAMS, 100);
    /* What comes out of order takes pieces and ranges. */
    for (unsigned i = 0; i < 8; i++)
        hold(a, i);
    for (unsigned i = 8; i-- != 0;)
        CHECK(give(b, i));
    CHECK(bcri_link_memory(a) > 10 * IDLE_MAX);
    while (completions != MESSAGES)
        pass_all_and_wait();
    now += 2 * BCRI_SLACK_NS;
    bcri_link_ping(a);
    pass_all_and_wait();
    CHECK(bcri_link_memory(a) <= IDLE_MAX);
    CHECK(bcri_link_memory(b) <= IDLE_MAX);
    CHECK_UINT(a->slack_at, BCRI_LINK_NEVER);
    /* And all goes on. */
    for (unsigned i = 0; i < MESSAGES; i++)
        send(a, i % STREAMS, 100);
    while (completions != 2 * MESSAGES)
        pass_all_and_wait();
    finish();
}
