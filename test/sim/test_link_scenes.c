/* SPDX-License-Identifier: MIT */
/* One scene for each rule of the engine. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "link_private.h"
#include "memory.h"
#include "traffic.h"

static struct sim_network *network;
static struct traffic one, two;
static struct bcri_link_config config;
static struct bcri_seal_secret secret;

/* Two ends a millisecond apart, nothing else wrong. */
static void prepare(void)
{
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    network = sim_new(test_seed());
    traffic_secret(&secret, BCRI_CIPHER_CHACHA20POLY1305);
    config = (struct bcri_link_config){.packet_max = 1400,
                                       .carrier = {.packet_max = BCRI_LINK_PACKET_MAX, .room = 1 << 20},
                                       .secret = &secret};
    one.end.path = two.end.path = (struct sim_path){.delay_ns = SIM_MS};
}

static void start(void)
{
    traffic_start(network, &one, &two, &config);
}

static bool settled(void *context)
{
    return traffic_is_settled(context);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void run_until_settled(uint64_t within_ns)
{
    if (!sim_run(network, sim_now(network) + within_ns, settled, &one))
        FAIL("%llu and %llu messages are settled, not all", (unsigned long long)one.messages_settled,
             (unsigned long long)two.messages_settled);
}

static void finish(void)
{
    traffic_end(&one, &two);
    sim_free(network);
}

static const struct bcri_link_counts *counts_of(const struct traffic *traffic)
{
    return bcri_link_counts(traffic->end.link);
}

/* Learns sizes, and that the peer is there. */
static void warm_up(void)
{
    traffic_send(&one, 0, 10);
    traffic_send(&two, 0, 10);
    run_until_settled(SIM_S);
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
}

TEST(a_last_packet_that_is_lost_is_sent_again_without_anything_behind_it)
{
    prepare();
    start();
    warm_up();
    one.end.path.cut = true;
    traffic_send(&one, 1, 100);
    sim_flush(&one.end);
    one.end.path.cut = false;
    run_until_settled(SIM_S);
    CHECK(counts_of(&one)->probes != 0);
    CHECK_UINT(two.messages_arrived, 2);
    finish();
}

TEST(what_was_sent_again_for_nothing_arrives_once)
{
    prepare();
    start();
    warm_up();
    /* The path becomes ten times as long: everything in flight is sent again before it is answered. */
    one.end.path.delay_ns = two.end.path.delay_ns = 50 * SIM_MS;
    for (unsigned i = 0; i < 200; i++)
        traffic_send(&one, i % TRAFFIC_STREAMS, 500);
    run_until_settled(10 * SIM_S);
    CHECK(counts_of(&one)->resent != 0);
    CHECK_UINT(two.messages_arrived, 201);
    finish();
}

TEST(a_path_that_carries_less_than_before_is_noticed)
{
    prepare();
    config.packet_max = 9000;
    start();
    traffic_send(&one, 0, 100000);
    run_until_settled(SIM_S);
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), 9000);
    one.end.path.packet_max = 1400;
    traffic_send(&one, 0, 100000);
    run_until_settled(20 * SIM_S);
    CHECK_UINT(counts_of(&one)->black_holes, 1);
    CHECK(bcri_link_packet_bytes(one.end.link) <= 1400);
    finish();
}

TEST(the_largest_packet_that_the_path_carries_is_found)
{
    prepare();
    config.packet_max = BCRI_LINK_PACKET_MAX;
    one.end.path.packet_max = 8952;
    start();
    traffic_send(&one, 0, 1000000);
    run_until_settled(20 * SIM_S);
    (void)sim_run(network, sim_now(network) + 20 * SIM_S, never, NULL);
    CHECK(bcri_link_packet_bytes(one.end.link) <= 8952);
    CHECK(bcri_link_packet_bytes(one.end.link) > 8952 - 64);
    CHECK_UINT(bcri_link_packet_bytes(two.end.link), BCRI_LINK_PACKET_MAX);
    finish();
}

TEST(a_probe_of_the_packet_size_that_is_lost_says_nothing_about_congestion)
{
    prepare();
    config.packet_max = 9000;
    one.end.path.packet_max = 2000;
    start();
    const uint64_t window = one.end.link->congestion.window;
    for (unsigned i = 0; i < 200; i++) {
        traffic_send(&one, 1, 500);
        (void)sim_run(network, sim_now(network) + 100 * SIM_MS, never, NULL);
    }
    CHECK(counts_of(&one)->lost > 3);
    CHECK_UINT(counts_of(&one)->resent, 0);
    CHECK(bcri_link_packet_bytes(one.end.link) > 2000 - 64);
    CHECK_UINT(one.end.link->congestion.window, window);
    CHECK_UINT(one.end.link->congestion.threshold, UINT64_MAX);
    finish();
}

TEST(the_smaller_packet_limit_of_both_sides_counts)
{
    prepare();
    traffic_start_with(network, &one, &two, &config, 1300);
    traffic_send(&one, 0, 100000);
    traffic_send(&two, 0, 100000);
    run_until_settled(SIM_S);
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), 1300);
    CHECK_UINT(bcri_link_packet_bytes(two.end.link), 1300);
    finish();
}

static uint64_t most_pieces;

static bool remember_memory(void *context)
{
    const uint64_t memory = bcri_link_memory(two.end.link);
    (void)context;
    most_pieces = memory > most_pieces ? memory : most_pieces;
    return false;
}

static void pause_for_ever(struct traffic *traffic)
{
    traffic->pause = 1000;
    traffic->pause_ns = 1000 * SIM_S;
}

TEST(a_stream_whose_receiver_waits_stops_no_other_and_takes_a_bounded_memory)
{
    prepare();
    start();
    warm_up();
    pause_for_ever(&two);
    for (unsigned i = 0; i < 2000; i++)
        traffic_send(&one, 1, 1000);
    (void)sim_run(network, sim_now(network) + 100 * SIM_MS, remember_memory, NULL);
    CHECK(two.stream[1].paused);
    two.pause = 0;
    for (unsigned i = 0; i < 100; i++)
        traffic_send(&one, 2, 1000);
    sim_flush(&one.end);
    (void)sim_run(network, sim_now(network) + 200 * SIM_MS, remember_memory, NULL);
    CHECK_UINT(two.stream[2].arrived, 100);
    CHECK_UINT(two.stream[1].arrived, 0);
    CHECK(most_pieces > BCRI_LINK_BUFFER_MAX);
    CHECK(most_pieces < BCRI_LINK_BUFFER_MAX + (128u << 10));
    /* The window is zero now. When the receiver goes on, so does the stream. */
    run_until_settled(2000 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 2000);
    finish();
}

TEST(eight_bytes_are_not_held_up_by_a_hundred_megabytes)
{
    prepare();
    one.end.path.bytes_per_s = 1000000000;
    one.end.path.queue_bytes = 200000;
    config.carrier.room = 100000;
    start();
    warm_up();
    traffic_send(&one, 1, 100000000);
    sim_flush(&one.end);
    (void)sim_run(network, sim_now(network) + 10 * SIM_MS, never, NULL);
    CHECK_UINT(two.stream[1].arrived, 0);
    traffic_send(&one, 2, 8);
    sim_flush(&one.end);
    /* One delay, and what was in flight before it. */
    (void)sim_run(network, sim_now(network) + 4 * SIM_MS, never, NULL);
    CHECK_UINT(two.stream[2].arrived, 1);
    CHECK_UINT(two.stream[1].arrived, 0);
    run_until_settled(100 * SIM_S);
    finish();
}

TEST(a_large_message_that_is_refused_is_not_sent_to_its_end)
{
    prepare();
    config.carrier.room = 100000;
    start();
    warm_up();
    two.refuse = 1000;
    traffic_send(&one, 1, 100000000);
    run_until_settled(10 * SIM_S);
    CHECK(counts_of(&one)->bytes_sent < 2000000);
    two.refuse = 0;
    traffic_send(&one, 1, 100);
    run_until_settled(10 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 2);
    finish();
}

TEST(keys_change_under_way_and_late_packets_of_the_last_key_are_opened)
{
    prepare();
    config.packets_per_key = 20;
    one.end.path.held = 300;
    start();
    for (unsigned i = 0; i < 1000; i++)
        traffic_send(&one, i % TRAFFIC_STREAMS, 1000);
    run_until_settled(100 * SIM_S);
    CHECK(counts_of(&one)->rekeyed > 5);
    CHECK_UINT(counts_of(&two)->malformed, 0);
    finish();
}

TEST(a_carrier_may_change_in_the_midst_of_a_message)
{
    prepare();
    one.end.path.bytes_per_s = 100000000;
    one.end.path.queue_bytes = 100000;
    start();
    warm_up();
    traffic_send(&one, 1, 5000000);
    (void)sim_run(network, sim_now(network) + 10 * SIM_MS, never, NULL);
    one.end.path.cut = two.end.path.cut = true; /* the UDP path is silent now */
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    one.end.path = two.end.path = (struct sim_path){.delay_ns = 3 * SIM_MS};
    const struct bcri_link_carrier pipe = {.reliable = true, .packet_max = 20000, .room = 200000};
    bcri_link_use_carrier(one.end.link, &pipe, sim_now(network));
    bcri_link_use_carrier(two.end.link, &pipe, sim_now(network));
    run_until_settled(10 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 1);
    const uint64_t sent = counts_of(&one)->packets_sent;
    traffic_send(&one, 1, 10);
    run_until_settled(SIM_S);
    CHECK(counts_of(&one)->packets_sent <= sent + 2);
    finish();
}

TEST(an_idle_link_is_small_and_wants_to_be_called_for_its_keepalive_only)
{
    prepare();
    start();
    warm_up();
    CHECK(bcri_link_memory(one.end.link) <= 16u << 10);
    CHECK_UINT(bcri_link_deadline(one.end.link), BCRI_LINK_NEVER);
    CHECK_UINT(bcri_link_deadline(two.end.link), BCRI_LINK_NEVER);
    finish();
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    prepare();
    config.keepalive_ns = 5 * SIM_S;
    start();
    warm_up();
    const uint64_t before = counts_of(&one)->packets_sent;
    (void)sim_run(network, sim_now(network) + 101 * SIM_S, never, NULL);
    CHECK(counts_of(&one)->packets_sent - before >= 18);
    CHECK(counts_of(&one)->packets_sent - before <= 45);
    CHECK(sim_now(network) - bcri_link_heard_at(one.end.link) < 6 * SIM_S);
    finish();
}

TEST(what_is_under_way_when_a_stream_or_link_ends_is_told_as_lost)
{
    prepare();
    start();
    warm_up();
    one.end.path.cut = true;
    traffic_send(&one, 1, 100);
    traffic_send(&one, 2, 100);
    sim_flush(&one.end);
    one.lost_is_fine = two.lost_is_fine = true;
    bcri_link_end_stream(one.end.link, 1, 101);
    CHECK_UINT(one.messages_lost, 1);
    one.end.path.cut = false;
    (void)sim_run(network, sim_now(network) + 10 * SIM_S, never, NULL);
    CHECK_UINT(one.stream[2].settled, 1);
    CHECK_UINT(one.messages_lost, 1);
    traffic_send(&one, 3, 100);
    finish();
    CHECK_UINT(one.messages_lost, 2);
}

TEST(a_fork_can_send_nothing_in_its_parents_name)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare();
    start();
    warm_up();
    traffic_send(&one, 1, 100);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(bcri_link_fill(one.end.link, packet, sim_now(network)) != 0 ? 1 : 0);
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    run_until_settled(SIM_S);
    finish();
}

TEST(messages_beyond_the_limits_are_refused_at_once)
{
    uint8_t header[BCRI_LINK_HEADER_MAX + 1] = {0};
    prepare();
    start();
    CHECK_INT(bcri_link_send(one.end.link, 1, 101, header, sizeof header, NULL, 0, NULL), -EMSGSIZE);
    CHECK_INT(bcri_link_send(one.end.link, 1, 101, header, 0, header, BCRI_LINK_BODY_MAX + 1, NULL),
              -EMSGSIZE);
    CHECK(bcri_link_is_idle(one.end.link));
    finish();
}

TEST(the_sender_of_a_stream_that_is_not_accepted_is_told)
{
    prepare();
    one.end.path.lost = two.end.path.lost = 300;
    start();
    one.lost_is_fine = two.stream[1].closed = true;
    for (unsigned i = 0; i < 50; i++) {
        traffic_send(&one, 1, 3000);
        traffic_send(&one, 2, 3000);
    }
    run_until_settled(100 * SIM_S);
    CHECK_UINT(one.messages_lost, 50);
    CHECK_UINT(two.stream[2].arrived, 50);
    CHECK_UINT(two.stream[1].begun, 0);
    /* Neither keeps anything of it when all that was under way has come. */
    (void)sim_run(network, sim_now(network) + 10 * SIM_S, never, NULL);
    CHECK(bcri_stream_find(&one.end.link->out, 1, 101) == NULL);
    CHECK(bcri_stream_find(&two.end.link->in, 1, 101) == NULL);
    CHECK_UINT(two.end.link->gone, 0);
    finish();
}

TEST(what_a_receiver_ends_is_lost_at_its_sender)
{
    prepare();
    start();
    warm_up();
    pause_for_ever(&two);
    for (unsigned i = 0; i < 20; i++)
        traffic_send(&one, 1, 100);
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK_UINT(one.stream[1].settled, 0);
    two.pause = 0;
    /* Nothing more is sent in this stream, so nothing that comes reminds the receiver. */
    one.lost_is_fine = two.lost_is_fine = two.stream[1].closed = true;
    bcri_link_end_stream(two.end.link, 1, 101);
    two.end.path.cut = true; /* the news is lost, more than once */
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK_UINT(one.messages_lost, 0);
    two.end.path.cut = false;
    run_until_settled(10 * SIM_S);
    CHECK_UINT(one.messages_lost, 20);
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK(bcri_stream_find(&two.end.link->in, 1, 101) == NULL);
    finish();
}

TEST(what_a_sender_ends_is_dropped_at_its_receiver)
{
    prepare();
    one.end.path.bytes_per_s = 10000000;
    one.end.path.queue_bytes = 100000;
    start();
    warm_up();
    const size_t before = bcri_link_memory(two.end.link);
    traffic_send(&one, 1, 1000000);
    traffic_send(&one, 2, 1000000);
    (void)sim_run(network, sim_now(network) + 20 * SIM_MS, never, NULL);
    CHECK_UINT(two.stream[1].begun, 1);
    one.lost_is_fine = two.lost_is_fine = two.stream[1].closed = true;
    bcri_link_end_stream(one.end.link, 1, 101);
    CHECK_UINT(one.messages_lost, 1);
    one.end.path.cut = true; /* the news is lost, more than once */
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK(bcri_stream_find(&two.end.link->in, 1, 101) != NULL);
    one.end.path.cut = false;
    run_until_settled(10 * SIM_S);
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK_UINT(two.stream[2].arrived, 1);
    CHECK_UINT(two.messages_dropped, 1);
    CHECK(bcri_stream_find(&two.end.link->in, 1, 101) == NULL);
    CHECK(bcri_link_memory(two.end.link) < before + 4096);
    finish();
}

TEST(a_link_may_be_freed_while_streams_end)
{
    prepare();
    start();
    warm_up();
    one.end.path.cut = two.end.path.cut = true;
    one.lost_is_fine = two.lost_is_fine = true;
    for (unsigned i = 0; i < 4; i++) {
        traffic_send(&one, i, 100);
        traffic_send(&two, i, 100);
    }
    sim_flush(&one.end);
    sim_flush(&two.end);
    for (unsigned i = 0; i < 4; i += 2) {
        bcri_link_end_stream(one.end.link, i, 100 + i);
        bcri_link_end_stream(two.end.link, i, 100 + i);
        sim_flush(i == 0 ? &one.end : &two.end);
    }
    finish();
}

TEST(a_pipe_that_one_side_uses_first_does_not_stall_on_lost_acknowledgements)
{
    prepare();
    start();
    warm_up();
    const struct bcri_link_carrier pipe = {.reliable = true, .packet_max = 20000, .room = 50000};
    two.end.path.cut = true; /* the UDP path back is silent */
    bcri_link_use_carrier(two.end.link, &config.carrier, sim_now(network));
    bcri_link_use_carrier(one.end.link, &pipe, sim_now(network));
    traffic_send(&one, 1, 1000000);
    (void)sim_run(network, sim_now(network) + 100 * SIM_MS, never, NULL);
    two.end.path.cut = false;
    bcri_link_use_carrier(two.end.link, &pipe, sim_now(network));
    run_until_settled(10 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 1);
    finish();
}

TEST(what_a_receiver_on_a_pipe_could_not_keep_is_sent_again)
{
    prepare();
    config.carrier.reliable = true;
    start();
    warm_up();
    one.end.path.cut = true; /* as if the receiver had no memory for this packet */
    traffic_send(&one, 1, 100);
    sim_flush(&one.end);
    one.end.path.cut = false;
    traffic_send(&one, 1, 100);
    run_until_settled(SIM_S);
    CHECK_UINT(two.stream[1].arrived, 2);
    finish();
}

TEST(the_last_packet_that_a_receiver_on_a_pipe_could_not_keep_is_sent_again)
{
    prepare();
    config.carrier.reliable = true;
    start();
    warm_up();
    CHECK_UINT(bcri_link_deadline(one.end.link), BCRI_LINK_NEVER);
    one.end.path.cut = true; /* as if the receiver had no memory for this packet */
    traffic_send(&one, 1, 100);
    sim_flush(&one.end);
    one.end.path.cut = false;
    run_until_settled(3 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 1);
    (void)sim_run(network, sim_now(network) + 3 * SIM_S, never, NULL);
    CHECK_UINT(bcri_link_deadline(one.end.link), BCRI_LINK_NEVER);
    finish();
}

TEST(on_a_pipe_whose_room_has_shrunk_an_answer_is_asked_for_nevertheless)
{
    prepare();
    config.carrier.reliable = true;
    config.packet_max = 20000;
    start();
    warm_up();
    one.end.path.cut = true; /* as if the receiver had no memory for these packets */
    traffic_send(&one, 1, 500000);
    sim_flush(&one.end);
    one.end.path.cut = false;
    bcri_link_set_room(two.end.link, 20000);
    sim_flush(&two.end);
    (void)sim_run(network, sim_now(network) + 100 * SIM_MS, never, NULL);
    CHECK_UINT(one.end.link->peer_room, 20000);
    CHECK(one.end.link->sent.bytes > 20000 + 4 * 20000);
    run_until_settled(10 * SIM_S);
    finish();
}

TEST(many_small_packets_of_a_stream_that_is_paused_are_kept)
{
    prepare();
    start();
    warm_up();
    pause_for_ever(&two);
    for (unsigned i = 0; i < 3 * BCRI_LINK_PIECES_MAX; i++) {
        traffic_send(&one, 1, 8);
        sim_flush(&one.end);
        if (i % 16 == 0)
            (void)sim_run(network, sim_now(network) + 5 * SIM_MS, never, NULL);
    }
    (void)sim_run(network, sim_now(network) + 100 * SIM_MS, remember_memory, NULL);
    CHECK(two.stream[1].paused);
    CHECK_UINT(counts_of(&one)->lost, 0);
    two.pause = 0;
    run_until_settled(2000 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 3 * BCRI_LINK_PIECES_MAX);
    finish();
}

TEST(a_clock_that_jumps_by_years_leaves_deadlines_of_seconds)
{
    prepare();
    start();
    warm_up();
    traffic_send(&one, 1, 100);
    sim_flush(&one.end);
    /* The answer is on its way when the clock jumps. */
    (void)sim_run(network, sim_now(network) + 5 * SIM_MS / 2, never, NULL);
    one.end.asleep_until = two.end.asleep_until = sim_now(network) + UINT64_C(20) * 365 * 86400 * SIM_S;
    run_until_settled(UINT64_C(30) * 365 * 86400 * SIM_S);
    one.end.path.cut = true;
    traffic_send(&one, 1, 100);
    sim_flush(&one.end);
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t at = bcri_link_deadline(one.end.link);
        CHECK(at > sim_now(network) && at <= sim_now(network) + 61 * SIM_S);
        (void)sim_run(network, at, never, NULL);
    }
    one.end.path.cut = false;
    run_until_settled(61 * SIM_S);
    finish();
}

static uint64_t least_window;

static bool remember_window(void *context)
{
    const uint64_t window = one.end.link->congestion.window;
    least_window = window < least_window ? window : least_window;
    return settled(context);
}

TEST(after_a_long_silence_the_congestion_window_begins_anew)
{
    prepare();
    one.end.path.bytes_per_s = 100000000;
    one.end.path.queue_bytes = 100000;
    start();
    warm_up();
    traffic_send(&one, 1, 10000000);
    (void)sim_run(network, sim_now(network) + 50 * SIM_MS, never, NULL);
    one.end.path.cut = two.end.path.cut = true;
    (void)sim_run(network, sim_now(network) + 10 * SIM_S, never, NULL);
    one.end.path.cut = two.end.path.cut = false;
    least_window = UINT64_MAX;
    CHECK(sim_run(network, sim_now(network) + 100 * SIM_S, remember_window, &one));
    CHECK(least_window <= UINT64_C(2) * bcri_link_packet_bytes(one.end.link));
    CHECK(one.end.link->congestion.window > 10 * least_window);
    finish();
}

static unsigned told;

static void settled_sends(void *owner, uint32_t source, uint32_t target, void *cookie,
                          enum bcri_link_outcome outcome)
{
    struct bcri_link **link = owner;
    (void)cookie;
    CHECK_INT(outcome, BCRI_LINK_LOST);
    told++;
    for (uint32_t i = 0; i < 20; i++)
        CHECK_INT(bcri_link_send(*link, source + i, target, NULL, 0, NULL, 0, NULL), -ESHUTDOWN);
}

TEST(nothing_can_be_sent_while_the_link_is_freed)
{
    static const struct bcri_link_events sends = {.settled = settled_sends};
    struct bcri_link *link;
    prepare();
    config.host = 1;
    config.peer = 2;
    link = bcri_link_new(&config, &sends, &link, 1);
    CHECK(link != NULL);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_INT(bcri_link_send(link, i, 1, NULL, 0, NULL, 0, NULL), 0);
    bcri_link_free(link);
    CHECK_UINT(told, 8);
    sim_free(network);
}

TEST(a_loss_halves_the_congestion_window_once)
{
    prepare();
    one.end.path.bytes_per_s = 100000000;
    one.end.path.queue_bytes = 10000000;
    config.carrier.room = 500000;
    start();
    warm_up();
    traffic_send(&one, 1, 20000000);
    (void)sim_run(network, sim_now(network) + 50 * SIM_MS, never, NULL);
    const uint64_t before = one.end.link->congestion.window;
    CHECK(before > 100000);
    one.end.path.lost = 200;
    (void)sim_run(network, sim_now(network) + SIM_MS, never, NULL);
    one.end.path.lost = 0;
    (void)sim_run(network, sim_now(network) + 60 * SIM_MS, never, NULL);
    CHECK(counts_of(&one)->lost > 1);
    CHECK(one.end.link->congestion.window >= before / 2);
    CHECK(one.end.link->congestion.window < before * 3 / 4);
    run_until_settled(100 * SIM_S);
    finish();
}

TEST(the_key_before_is_wiped_soon_after_a_key_has_changed)
{
    prepare();
    config.packets_per_key = 20;
    start();
    for (unsigned i = 0; i < 200; i++)
        traffic_send(&one, i % TRAFFIC_STREAMS, 1000);
    run_until_settled(SIM_S);
    CHECK(counts_of(&one)->rekeyed > 1);
    CHECK(bcri_sealing_has_previous(two.end.link->sealing));
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK(!bcri_sealing_has_previous(two.end.link->sealing));
    finish();
}

TEST(an_owner_sees_which_way_works_and_which_is_silent)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX], copy[BCRI_LINK_PACKET_MAX];
    uint32_t host;
    prepare();
    start();
    warm_up();
    CHECK_UINT(bcri_link_waits_since(one.end.link), BCRI_LINK_NEVER);
    CHECK_UINT(bcri_link_fill(one.end.link, packet, sim_now(network)), 0);
    bcri_link_ping(one.end.link);
    const size_t bytes = bcri_link_fill(one.end.link, packet, sim_now(network));
    CHECK(bytes != 0 && bytes < 64);
    CHECK_UINT(bcri_link_waits_since(one.end.link), sim_now(network));
    CHECK(bcri_link_sender(packet, bytes, &host));
    CHECK_UINT(host, one.end.link->host);
    CHECK(!bcri_link_sender(packet, BCRI_WIRE_HEAD_BYTES - 1, &host));
    memcpy(copy, packet, bytes);
    copy[0]++;
    CHECK(!bcri_link_sender(copy, bytes, &host));
    /* By the first way that works it is new; by the others it is not. */
    memcpy(copy, packet, bytes);
    copy[bytes - 1] ^= 1;
    CHECK(!bcri_link_receive(two.end.link, copy, bytes, sim_now(network)));
    memcpy(copy, packet, bytes);
    CHECK(bcri_link_receive(two.end.link, copy, bytes, sim_now(network)));
    CHECK(!bcri_link_receive(two.end.link, packet, bytes, sim_now(network)));
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK_UINT(bcri_link_waits_since(one.end.link), BCRI_LINK_NEVER);
    finish();
}

TEST(a_room_that_changes_is_told_and_kept)
{
    prepare();
    start();
    warm_up();
    bcri_link_set_room(two.end.link, 20000);
    sim_flush(&two.end);
    (void)sim_run(network, sim_now(network) + 100 * SIM_MS, never, NULL);
    CHECK_UINT(one.end.link->peer_room, 20000);
    traffic_send(&one, 1, 100000);
    sim_flush(&one.end);
    /* A packet takes more of a socket's memory than its bytes. */
    CHECK(one.end.link->sent.bytes + one.end.link->sent.eliciting * BCRI_LINK_PACKET_COST <= 20000);
    CHECK(one.end.link->sent.bytes > 10000);
    run_until_settled(10 * SIM_S);
    finish();
}

TEST(a_packet_that_is_larger_than_was_allowed_is_not_taken)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare();
    traffic_start_with(network, &one, &two, &config, 1300);
    warm_up();
    struct bcri_sealing *ours = bcri_sealing_new(&secret, one.end.link->host, two.end.link->host, 0);
    CHECK(ours != NULL);
    for (unsigned i = 0; i < 2; i++) {
        const size_t bytes = 1301 - i;
        packet[0] = BCRI_WIRE_VERSION;
        bcri_put_u32(packet + 4, one.end.link->host);
        bcri_put_u64(packet + 8, 1000 + i);
        memset(packet + BCRI_WIRE_HEAD_BYTES, BCRI_FRAME_PAD, bytes - BCRI_WIRE_HEAD_BYTES);
        bcri_seal(ours, 1000 + i, packet, BCRI_WIRE_HEAD_BYTES, packet + BCRI_WIRE_HEAD_BYTES,
                  bytes - BCRI_WIRE_HEAD_BYTES - BCRI_SEAL_TAG_BYTES);
        CHECK(bcri_link_receive(two.end.link, packet, bytes, sim_now(network)) == (i == 1));
    }
    CHECK_UINT(counts_of(&two)->refused, 1);
    CHECK_UINT(counts_of(&two)->forged, 0);
    bcri_sealing_free(ours);
    finish();
}

TEST(after_too_many_forged_packets_nothing_is_opened_any_more)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    CHECK_UINT(bcri_seal_forged_max(BCRI_CIPHER_AES256GCM), UINT64_C(1) << 52);
    CHECK_UINT(bcri_seal_forged_max(BCRI_CIPHER_CHACHA20POLY1305), UINT64_C(1) << 36);
    prepare();
    config.forged_max = 10;
    start();
    warm_up();
    for (unsigned i = 0; i < 10; i++) {
        CHECK(!bcri_link_is_worn_out(two.end.link));
        packet[0] = BCRI_WIRE_VERSION;
        bcri_put_u32(packet + 4, one.end.link->host);
        bcri_put_u64(packet + 8, 1000 + i);
        CHECK(!bcri_link_receive(two.end.link, packet, 100, sim_now(network)));
    }
    CHECK(bcri_link_is_worn_out(two.end.link));
    bcri_link_ping(one.end.link);
    const size_t bytes = bcri_link_fill(one.end.link, packet, sim_now(network));
    CHECK(!bcri_link_receive(two.end.link, packet, bytes, sim_now(network)));
    CHECK_UINT(counts_of(&two)->forged, 10);
    finish();
}

TEST(a_clock_that_stands_still_delays_and_loses_nothing)
{
    prepare();
    one.end.path.lost = two.end.path.lost = 100;
    start();
    warm_up();
    one.end.clock_stopped_at = sim_clock(&one.end);
    for (unsigned i = 0; i < 200; i++) {
        traffic_send(&one, i % TRAFFIC_STREAMS, 500);
        traffic_send(&two, i % TRAFFIC_STREAMS, 500);
    }
    (void)sim_run(network, sim_now(network) + 5 * SIM_S, never, NULL);
    one.end.clock_stopped_at = 0;
    run_until_settled(60 * SIM_S);
    finish();
}

TEST(a_clock_that_goes_back_is_waited_for)
{
    prepare();
    one.end.path.lost = two.end.path.lost = 100;
    one.end.clock_ahead = 10 * SIM_S;
    start();
    warm_up();
    for (unsigned i = 0; i < 200; i++)
        traffic_send(&one, i % TRAFFIC_STREAMS, 500);
    sim_flush(&one.end);
    one.end.clock_ahead = 0;
    run_until_settled(60 * SIM_S);
    finish();
}

/* Some of everything; each message that could not be sent for want of memory is sent again. */
static void send_some_of_everything(void)
{
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    prepare();
    network = (sim_free(network), sim_new(1));
    one.end.path.lost = two.end.path.lost = 100;
    one.refuse = two.refuse = one.pause = two.pause = 100;
    one.pause_ns = two.pause_ns = 10 * SIM_MS;
    config.packets_per_key = 20;
    start();
    for (unsigned i = 0; i < 60; i++)
        for (struct traffic *from = &one; from != NULL; from = from == &one ? &two : NULL)
            while (!traffic_send(from, i % 3, i % 7 == 0 ? 20000 : 10 * i))
                continue;
    run_until_settled(100 * SIM_S);
    traffic_check_limits(one.end.link);
    traffic_check_limits(two.end.link);
    finish();
}

TEST_TIMEOUT(any_allocation_may_fail_and_nothing_is_lost, 120)
{
    memory_fails_after(UINT64_MAX - 1);
    send_some_of_everything();
    const uint64_t all = memory_asked();
    CHECK(all > 50);
    for (uint64_t n = 0; n < all; n++) {
        memory_fails_after(n);
        send_some_of_everything();
    }
}

TEST(what_has_come_and_finds_no_memory_when_its_stream_goes_on_is_tried_again)
{
    prepare();
    start();
    warm_up();
    two.held = 2;
    for (unsigned i = 0; i < 20; i++)
        traffic_send(&one, 1, 100);
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK(two.stream[1].paused);
    memory_fails(1000, 1);
    traffic_release(&two); /* more messages than there are records for begin */
    CHECK(two.stream[1].begun > 0 && two.stream[1].begun < 20);
    memory_fails(0, 0);
    run_until_settled(SIM_S);
    finish();
}

TEST(a_link_for_which_there_is_no_memory_is_not_made)
{
    prepare();
    start();
    memory_fails_after(0);
    memory_watch(true);
    config.host = 1;
    config.peer = 2;
    struct bcri_link *link = bcri_link_new(&config, one.end.link->events, NULL, 1);
    memory_watch(false);
    CHECK(link == NULL);
    CHECK_UINT(memory_asked(), 1);
    finish();
}

TEST(what_waits_for_memory_asks_for_it_until_it_is_there)
{
    prepare();
    start();
    warm_up();
    traffic_send(&one, 1, 10);
    memory_fails(1000, 1);
    for (unsigned i = 0; i < 40; i++) /* more packets than there are records for */
        traffic_send(&one, 2, 1000);
    sim_flush(&one.end);
    CHECK(bcri_link_deadline(one.end.link) <= sim_now(network) + SIM_S);
    (void)sim_run(network, sim_now(network) + 10 * SIM_S, never, NULL);
    memory_fails(0, 0);
    run_until_settled(10 * SIM_S);
    finish();
}

static uint64_t answers_awaited;

static bool has_come(void *context)
{
    return ((const struct traffic *)context)->messages_arrived == answers_awaited;
}

static void pass(struct traffic *from, struct traffic *to)
{
    traffic_send(from, 1, 8);
    sim_flush(&from->end);
    answers_awaited = to->messages_arrived + 1;
    CHECK(sim_run(network, sim_now(network) + SIM_S, has_come, to));
}

TEST(ends_that_answer_each_other_send_a_packet_a_message_whatever_went_before)
{
    enum { ROUNDS = 50 };
    prepare();
    start();
    warm_up();
    pass(&one, &two);
    /* The acknowledgement goes on its own, and a message right behind it. */
    (void)sim_run(network, sim_now(network) + BCRI_ACK_DELAY_NS, never, NULL);
    const uint64_t before = counts_of(&one)->packets_sent + counts_of(&two)->packets_sent;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pass(&two, &one);
        pass(&one, &two);
    }
    CHECK(counts_of(&one)->packets_sent + counts_of(&two)->packets_sent <= before + 2 * ROUNDS + 2);
    finish();
}
