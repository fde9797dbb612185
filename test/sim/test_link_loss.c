/* SPDX-License-Identifier: MIT */
/* Lost packets, the size of packets, and the congestion window. */
#include "link_private.h"
#include "link_scene.h"

TEST(a_last_packet_that_is_lost_is_sent_again_without_anything_behind_it)
{
    prepare();
    start();
    warm_up();
    one.end.path.cut = true;
    traffic_send(&one, 1, 100);
    sim_flush(&one.end);
    one.end.path.cut = false;
    run_until_completed(SIM_S);
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
    run_until_completed(10 * SIM_S);
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
    run_until_completed(SIM_S);
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), 9000);
    one.end.path.packet_max = 1400;
    traffic_send(&one, 0, 100000);
    run_until_completed(20 * SIM_S);
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
    run_until_completed(20 * SIM_S);
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
    run_until_completed(SIM_S);
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), 1300);
    CHECK_UINT(bcri_link_packet_bytes(two.end.link), 1300);
    finish();
}

static uint64_t least_window;

static bool remember_window(void *context)
{
    const uint64_t window = one.end.link->congestion.window;
    least_window = window < least_window ? window : least_window;
    return completed(context);
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
    run_until_completed(100 * SIM_S);
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
