/* SPDX-License-Identifier: MIT */
/* What a link does when nothing comes, and when its clock jumps, stands still or goes back. */
#include <string.h>

#include "link_scene.h"

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
    run_until_completed(UINT64_C(30) * 365 * 86400 * SIM_S);
    one.end.path.cut = true;
    traffic_send(&one, 1, 100);
    sim_flush(&one.end);
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t at = bcri_link_deadline(one.end.link);
        CHECK(at > sim_now(network) && at <= sim_now(network) + 61 * SIM_S);
        (void)sim_run(network, at, never, NULL);
    }
    one.end.path.cut = false;
    run_until_completed(61 * SIM_S);
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
    run_until_completed(60 * SIM_S);
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
    run_until_completed(60 * SIM_S);
    finish();
}
