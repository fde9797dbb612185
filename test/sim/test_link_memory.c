/* SPDX-License-Identifier: MIT */
/* A link whose process has no memory left goes on when there is some. */
#include <string.h>

#include "link_private.h"
#include "link_scene.h"
#include "memory.h"

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
    run_until_completed(100 * SIM_S);
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
    run_until_completed(SIM_S);
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
    run_until_completed(10 * SIM_S);
    finish();
}
