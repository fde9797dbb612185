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
    CHECK_UINT(bcri_link_path_bytes(one.end.link), 0);
    finish();
}

/* Until the search is over, which goes on while nothing is sent but what it sends itself. */
static void search_on(void)
{
    for (unsigned i = 0; i < 100; i++) {
        traffic_send(&one, 1, 10);
        (void)sim_run(network, sim_now(network) + 100 * SIM_MS, never, NULL);
    }
}

static void check_found(const struct traffic *of, uint32_t limit)
{
    const uint32_t bytes = bcri_link_packet_bytes(of->end.link);
    CHECK(bytes <= limit);
    CHECK(bytes == BCRI_LINK_PACKET_MIN || bytes + 64 > limit);
    CHECK_UINT(bcri_link_path_bytes(of->end.link), bytes);
    CHECK(!bcri_link_is_narrow(of->end.link));
}

/* What tunnels carry, and the least: one message of each kind, in either direction, the first thing that is sent. */
TEST(a_path_that_never_carried_the_first_packets_carries_all_messages)
{
    static const uint32_t limits[] = {BCRI_LINK_PACKET_BASE - 1, 1000, 548, 300, BCRI_LINK_PACKET_MIN};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        for (unsigned both = 0; both < 2; both++) {
            prepare();
            config.packet_max = 9000;
            one.end.path.packet_max = limits[i];
            two.end.path.packet_max = both != 0 ? limits[i] : 0;
            start();
            traffic_send(&one, 0, 100000);
            traffic_send(&two, 0, 100000);
            run_until_completed(60 * SIM_S);
            search_on();
            check_found(&one, limits[i]);
            if (both == 0)
                CHECK_UINT(bcri_link_packet_bytes(two.end.link), 9000);
            else
                check_found(&two, limits[i]);
            finish();
        }
}

TEST(a_path_that_carries_less_and_less_is_followed_and_is_tried_again_when_it_carries_more)
{
    static const uint32_t limits[] = {8000, 1300, 1100, 600, 257};
    prepare();
    config.packet_max = 9000;
    config.keepalive_ns = SIM_S;
    start();
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        one.end.path.packet_max = limits[i];
        traffic_send(&one, 0, 100000);
        run_until_completed(60 * SIM_S);
        search_on();
        CHECK(bcri_link_packet_bytes(one.end.link) <= limits[i]);
        CHECK(bcri_link_packet_bytes(one.end.link) + 64 > limits[i]);
    }
    one.end.path.packet_max = 0;
    (void)sim_run(network, sim_now(network) + 700 * SIM_S, never, NULL);
    search_on();
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), 9000);
    CHECK_UINT(bcri_link_path_bytes(one.end.link), 0);
    finish();
}

/* Each message is one packet; half of them pass. The others' size is below that of the packets in use. */
TEST(packets_that_do_not_pass_are_found_among_smaller_ones_that_do)
{
    prepare();
    one.end.path.packet_max = 700;
    start();
    for (unsigned i = 0; i < 50; i++) {
        traffic_send(&one, i % TRAFFIC_STREAMS, i % 2 == 0 ? 400 : 900);
        (void)sim_run(network, sim_now(network) + 50 * SIM_MS, never, NULL);
    }
    run_until_completed(60 * SIM_S);
    CHECK(bcri_link_packet_bytes(one.end.link) <= 700);
    CHECK(!bcri_link_is_narrow(one.end.link));
    finish();
}

static bool is_narrow(void *link)
{
    return bcri_link_is_narrow(link);
}

TEST(a_path_that_carries_small_packets_and_not_the_least_is_narrow_until_another_takes_over)
{
    for (unsigned running = 0; running < 2; running++) {
        prepare();
        config.keepalive_ns = SIM_S; /* which is answered all the time */
        start();
        if (running != 0)
            warm_up();
        one.end.path.packet_max = BCRI_LINK_PACKET_MIN - 1;
        traffic_send(&one, 0, 10000);
        CHECK(sim_run(network, sim_now(network) + 60 * SIM_S, is_narrow, one.end.link));
        CHECK_UINT(counts_of(&two)->black_holes, 0);
        one.end.path.packet_max = 0;
        const struct bcri_link_carrier tree = {.packet_max = 2000, .room = 100000};
        bcri_link_use_carrier(one.end.link, &tree, sim_now(network));
        run_until_completed(10 * SIM_S);
        CHECK(!bcri_link_is_narrow(one.end.link));
        finish();
    }
}

/* Nothing at all is heard for long, again and again: that says nothing about sizes. */
TEST(a_path_that_is_cut_loses_nothing_of_its_packet_size)
{
    prepare();
    config.packet_max = 9000;
    start();
    traffic_send(&one, 0, 100000);
    run_until_completed(SIM_S);
    for (unsigned i = 0; i < 10; i++) {
        one.end.path.cut = two.end.path.cut = true;
        traffic_send(&one, 0, 100000);
        (void)sim_run(network, sim_now(network) + 20 * SIM_S, never, NULL);
        one.end.path.cut = two.end.path.cut = false;
        run_until_completed(100 * SIM_S);
    }
    CHECK_UINT(counts_of(&one)->black_holes, 0);
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), 9000);
    CHECK(!bcri_link_is_narrow(one.end.link));
    finish();
}

/* Bursts as a full queue loses them: many packets in a row, some behind them arrive. */
TEST(losses_of_a_crowded_path_are_not_taken_for_its_size)
{
    prepare();
    config.packet_max = 9000;
    one.end.path.bytes_per_s = 20000000;
    one.end.path.queue_bytes = 60000;
    start();
    for (unsigned i = 0; i < 5; i++) {
        traffic_send(&one, 1, 5000000);
        run_until_completed(60 * SIM_S);
    }
    CHECK(counts_of(&one)->lost > 50);
    CHECK_UINT(counts_of(&one)->black_holes, 0);
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), 9000);
    finish();
}

/* Nobody would learn that they do not pass. */
TEST(an_acknowledgement_on_its_own_is_no_larger_than_what_every_path_carries)
{
    uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare();
    start();
    warm_up();
    struct bcri_link *link = two.end.link;
    const uint64_t last = link->numbers.range[link->numbers.count - 1].to;
    for (uint64_t i = 1; i < BCRI_LINK_NUMBERS_MAX - 1; i++)
        CHECK(bcri_ranges_add(&link->numbers, last + i * 40000, last + i * 40000 + 20000));
    link->unacked = link->pressing = 2;
    const size_t bytes = bcri_link_fill(link, packet, sim_clock(&two.end));
    CHECK(bytes > BCRI_LINK_PACKET_MIN - 40);
    CHECK(bytes <= BCRI_LINK_PACKET_MIN);
    finish();
}

TEST(streams_of_which_much_is_refused_go_on_where_only_small_packets_pass)
{
    prepare();
    one.end.path.packet_max = two.end.path.packet_max = BCRI_LINK_PACKET_MIN;
    two.refuse = 900;
    start();
    for (unsigned i = 0; i < 300; i++)
        traffic_send(&one, i % 2, 2000);
    run_until_completed(200 * SIM_S);
    finish();
}

TEST(a_host_that_takes_only_small_packets_gets_no_larger_ones)
{
    prepare();
    traffic_start_with(network, &one, &two, &config, BCRI_LINK_PACKET_MIN);
    traffic_send(&one, 0, 100000); /* with packets of the base, until it has said so */
    traffic_send(&two, 0, 100000);
    run_until_completed(SIM_S);
    CHECK_UINT(bcri_link_packet_bytes(one.end.link), BCRI_LINK_PACKET_MIN);
    CHECK_UINT(bcri_link_packet_bytes(two.end.link), BCRI_LINK_PACKET_MIN);
    CHECK_UINT(counts_of(&one)->refused + counts_of(&two)->refused, 0);
    CHECK_UINT(bcri_link_path_bytes(one.end.link), 0);
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
