/* SPDX-License-Identifier: MIT */
/* Streams: one that waits holds up no other, and each side may refuse or end what is under way. */
#include <errno.h>

#include "link_private.h"
#include "link_scene.h"

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
    run_until_completed(2000 * SIM_S);
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
    run_until_completed(100 * SIM_S);
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
    run_until_completed(10 * SIM_S);
    CHECK(counts_of(&one)->bytes_sent < 2000000);
    two.refuse = 0;
    traffic_send(&one, 1, 100);
    run_until_completed(10 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 2);
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
    CHECK_UINT(one.stream[2].completed, 1);
    CHECK_UINT(one.messages_lost, 1);
    traffic_send(&one, 3, 100);
    finish();
    CHECK_UINT(one.messages_lost, 2);
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
    run_until_completed(100 * SIM_S);
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
    CHECK_UINT(one.stream[1].completed, 0);
    two.pause = 0;
    /* Nothing more is sent in this stream, so nothing that comes reminds the receiver. */
    one.lost_is_fine = two.lost_is_fine = two.stream[1].closed = true;
    bcri_link_end_stream(two.end.link, 1, 101);
    two.end.path.cut = true; /* the news is lost, more than once */
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK_UINT(one.messages_lost, 0);
    two.end.path.cut = false;
    run_until_completed(10 * SIM_S);
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
    run_until_completed(10 * SIM_S);
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
    run_until_completed(2000 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 3 * BCRI_LINK_PIECES_MAX);
    finish();
}

static unsigned told;

static void completed_sends(void *owner, uint32_t source, uint32_t target, void *cookie,
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
    static const struct bcri_link_events sends = {.completed = completed_sends};
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
