/* SPDX-License-Identifier: MIT */
/* Carriers that change, and that shrink. */
#include <string.h>

#include "link_private.h"
#include "link_scene.h"

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
    const struct bcri_link_carrier tree = {.packet_max = 2000, .room = 200000};
    bcri_link_use_carrier(one.end.link, &tree, sim_now(network));
    bcri_link_use_carrier(two.end.link, &tree, sim_now(network));
    run_until_completed(10 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 1);
    const uint64_t sent = counts_of(&one)->packets_sent;
    traffic_send(&one, 1, 10);
    run_until_completed(SIM_S);
    CHECK(counts_of(&one)->packets_sent <= sent + 2);
    finish();
}

TEST(a_way_that_one_side_takes_first_does_not_stall_on_lost_acknowledgements)
{
    prepare();
    start();
    warm_up();
    const struct bcri_link_carrier tree = {.packet_max = 2000, .room = 50000};
    two.end.path.cut = true; /* the UDP path back is silent */
    bcri_link_use_carrier(two.end.link, &config.carrier, sim_now(network));
    bcri_link_use_carrier(one.end.link, &tree, sim_now(network));
    traffic_send(&one, 1, 1000000);
    (void)sim_run(network, sim_now(network) + 100 * SIM_MS, never, NULL);
    two.end.path.cut = false;
    bcri_link_use_carrier(two.end.link, &tree, sim_now(network));
    run_until_completed(10 * SIM_S);
    CHECK_UINT(two.stream[1].arrived, 1);
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
    run_until_completed(10 * SIM_S);
    finish();
}

/* Where nothing passes but by the way that is tried. */
TEST(a_try_is_answered_by_a_try_and_what_it_answers_is_answered_by_the_other_way_too)
{
    uint8_t packet[BCRI_LINK_PACKET_MIN];
    prepare();
    start();
    warm_up();
    one.end.path.cut = two.end.path.cut = true;
    CHECK_UINT(bcri_link_try(one.end.link, packet, sim_clock(&one.end)), sizeof packet);
    CHECK(!bcri_link_try_passed(one.end.link));
    CHECK(bcri_link_receive(two.end.link, packet, sizeof packet, sim_clock(&two.end)));
    CHECK_UINT(bcri_link_try(two.end.link, packet, sim_clock(&two.end)), sizeof packet);
    CHECK(two.end.link->unacked != 0);
    CHECK(bcri_link_receive(one.end.link, packet, sizeof packet, sim_clock(&one.end)));
    CHECK(bcri_link_try_passed(one.end.link));
    CHECK(!bcri_link_try_passed(two.end.link));
    one.end.path.cut = two.end.path.cut = false;
    traffic_send(&one, 0, 10000);
    run_until_completed(10 * SIM_S);
    CHECK(bcri_link_try_passed(two.end.link));
    const struct bcri_link_carrier same = one.end.link->carrier;
    bcri_link_use_carrier(one.end.link, &same, sim_clock(&one.end));
    CHECK(!bcri_link_try_passed(one.end.link));
    finish();
}
