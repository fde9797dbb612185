/* SPDX-License-Identifier: MIT */
/* The tree's lane: what daemons say to each other beside the orders of their CCEs. */
#include <netinet/in.h>
#include <sched.h>
#include <string.h>

#include "bcri/clock.h"
#include "bcri/self.h"
#include "check.h"
#include "link_pair.h"
#include "regions.h"

/* Host 2 listens only. */
static void introduce_lane(void)
{
    for (int i = 0; i < 2; i++) {
        struct bcri_link_introduction introduction = hosts[i].introduction;
        introduction.lane = BCRI_LANE_TREE;
        introduction.listens = i == 1;
        memset(introduction.secret.bytes, 0x77, sizeof introduction.secret.bytes);
        CHECK(bcri_link_thread_introduce(hosts[i].thread, &introduction));
    }
}

static void say(int from, unsigned row, unsigned number, uint32_t bytes)
{
    uint8_t content[BCRI_LANE_BYTES_MAX] = {(uint8_t)row, (uint8_t)(number >> 8), (uint8_t)number};
    CHECK(bcri_link_thread_lane_send(hosts[from].thread, (uint32_t)(2 - from), row, content, bytes));
}

static unsigned heard_next[2];

/* Of either row, the next. */
static void hear(int at, uint32_t bytes)
{
    uint8_t content[BCRI_LANE_BYTES_MAX];
    uint32_t host, came;
    while ((came = bcri_link_thread_lane_take(hosts[at].thread, &host, content)) == 0)
        sched_yield();
    CHECK_UINT(came, bytes);
    CHECK_UINT(host, 2 - at);
    CHECK(content[0] < 2);
    CHECK_UINT((unsigned)content[1] << 8 | content[2], heard_next[content[0]]);
    heard_next[content[0]]++;
}

TEST(what_daemons_say_in_the_trees_lane_comes_once_and_in_the_order_of_its_row)
{
    pair_begin();
    introduce_lane();
    for (unsigned i = 0; i < 300; i++) {
        say(0, 0, i, 3 + i);
        say(0, 1, i, 3 + i);
    }
    for (int i = 0; i < 2; i++)
        heard_next[i] = 0;
    for (unsigned i = 0; i < 600; i++) {
        uint8_t content[BCRI_LANE_BYTES_MAX];
        uint32_t host, came;
        while ((came = bcri_link_thread_lane_take(hosts[1].thread, &host, content)) == 0)
            sched_yield();
        CHECK_UINT(host, 1);
        CHECK_UINT((unsigned)content[1] << 8 | content[2], heard_next[content[0]]);
        CHECK_UINT(came, 3 + heard_next[content[0]]);
        heard_next[content[0]]++;
    }
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    heard_next[0] = 0;
    say(1, 0, 0, BCRI_LANE_BYTES_MAX);
    hear(0, BCRI_LANE_BYTES_MAX);
    pair_end();
}

TEST(the_trees_lane_is_a_link_of_its_own_beside_that_of_orders)
{
    pair_begin();
    pair_introduce();
    introduce_lane();
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    say(0, 0, 0, 100);
    hear(1, 100);
    CHECK_INT(value_of(bcr_get(1, pair.there, pair.cell, bcr_BLOCK)), 7);
    introduce_lane(); /* changes sockets.nothing: a packet number would be used again */
    say(0, 0, 1, 100);
    hear(1, 100);
    pair_end();
}

TEST(a_host_that_listens_in_the_trees_lane_sends_nothing_before_it_has_heard_something)
{
    pair_begin();
    const struct bcri_link_address to = bcri_link_thread_address(hosts[0].thread);
    atomic_store(&sockets.counted_port, ((const struct sockaddr_in *)(const void *)&to.at)->sin_port);
    struct bcri_link_introduction introduction = hosts[1].introduction;
    introduction.lane = BCRI_LANE_TREE;
    introduction.listens = true;
    introduction.address[0] = introduction.address[1];
    introduction.address_count = 1;
    CHECK(bcri_link_thread_introduce(hosts[1].thread, &introduction));
    say(1, 0, 0, 100);
    bcri_link_thread_quiet(hosts[1].thread, 1); /* it has executed both when it answers */
    CHECK_INT(pair_news(&hosts[1]).told, BCRI_TOLD_QUIET);
    CHECK_UINT(atomic_load(&sockets.sends), 0);
    introduction = hosts[0].introduction;
    introduction.lane = BCRI_LANE_TREE;
    CHECK(bcri_link_thread_introduce(hosts[0].thread, &introduction));
    hear(0, 100);
    CHECK(atomic_load(&sockets.sends) > 0);
    pair_end();
}

TEST(what_the_loop_does_not_take_holds_up_the_trees_lane_and_is_not_lost)
{
    enum { FRAMES = 200 };
    pair_begin();
    introduce_lane();
    for (unsigned i = 0; i < FRAMES; i++)
        say(0, 0, i, BCRI_LANE_BYTES_MAX);
    hear(1, BCRI_LANE_BYTES_MAX);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) > (FRAMES - 30) * BCRI_LANE_BYTES_MAX)
        sched_yield();
    CHECK(bcri_link_thread_lane_bytes(hosts[0].thread) >= (FRAMES - 50) * BCRI_LANE_BYTES_MAX);
    for (unsigned i = 1; i < FRAMES; i++)
        hear(1, BCRI_LANE_BYTES_MAX);
    pair_end();
}

/* It may have asked for that itself, again and again. */
TEST(what_waits_in_the_trees_lane_for_a_host_that_takes_nothing_is_bounded)
{
    const uint8_t content[BCRI_LANE_BYTES_MAX] = {0};
    uint32_t sent = 0;
    pair_begin();
    introduce_lane(); /* host 2 listens, and hears sockets.nothing */
    atomic_store(&sockets.is_cut, true);
    while (sent <= BCRI_LANE_WAITS_MAX &&
           bcri_link_thread_lane_send(hosts[1].thread, 1, 0, content, sizeof content))
        sent += sizeof content;
    CHECK_UINT(sent, BCRI_LANE_WAITS_MAX);
    CHECK_UINT(bcri_link_thread_lane_waits(hosts[1].thread, 1), sent);
    CHECK(bcri_link_thread_lane_send(hosts[1].thread, 7, 0, content,
                                     sizeof content)); /* others are not meant */
    bcri_link_thread_lost(hosts[1].thread, 1);
    while (bcri_link_thread_lane_bytes(hosts[1].thread) != 0)
        sched_yield();
    CHECK_UINT(bcri_link_thread_lane_waits(hosts[1].thread, 1), 0);
    pair_end();
}

TEST(the_trees_lane_goes_on_while_the_lease_is_over_and_orders_do_not)
{
    pair_begin();
    pair_introduce();
    introduce_lane();
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    say(0, 0, 0, 100);
    hear(1, 100);
    for (int i = 0; i < 2; i++)
        bcri_link_thread_lease(hosts[i].thread, 1);
    bcr_region waits = bcr_get(1, pair.there, pair.cell, bcr_PENDING);
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    for (unsigned i = 0; i < 50; i++) {
        say(1, 1, i, 1000);
        heard_next[1] = i;
        hear(0, 1000);
    }
    CHECK_INT(bcr_rgwait(waits, 20, 0), 0);
    for (int i = 0; i < 2; i++)
        bcri_link_thread_lease(hosts[i].thread, BCRI_DEADLINE_NEVER);
    CHECK_INT(bcr_rgwait(waits, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(waits), 7);
    pair_end();
}

TEST(what_is_said_in_the_trees_lane_to_a_host_that_is_lost_is_dropped)
{
    pair_begin();
    introduce_lane();
    atomic_store(&sockets.is_cut, true);
    for (unsigned i = 0; i < 10; i++)
        say(0, 0, i, 1000);
    bcri_link_thread_lost(hosts[0].thread, 2);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    say(0, 0, 10, 1000);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    introduce_lane();
    say(0, 0, 11, 1000);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    pair_end();
}

TEST(what_is_said_last_in_the_trees_lane_arrives_before_the_thread_ends)
{
    pair_begin();
    introduce_lane();
    heard_next[0] = 0;
    for (unsigned i = 0; i < 30; i++)
        say(0, 0, i, BCRI_LANE_BYTES_MAX);
    bcri_self_set(NULL);
    pair_leave(&hosts[0]);
    CHECK(bcri_link_thread_stop(hosts[0].thread));
    for (unsigned i = 0; i < 30; i++)
        hear(1, BCRI_LANE_BYTES_MAX);
}

TEST(a_link_in_the_trees_lane_for_which_there_was_no_memory_is_made_before_what_is_said_there)
{
    pair_begin();
    pair_own_memory();
    atomic_store(&pair.callocs_to_fail, 5);
    introduce_lane();
    for (unsigned i = 0; i < 5; i++)
        say(0, 0, i, 1000);
    for (unsigned i = 0; i < 5; i++)
        hear(1, 1000);
    CHECK_INT(atomic_load(&pair.callocs_to_fail), 0);
    pair_end();
}

/* ---- one way to the root: the end of a host, and networks that pass no UDP ---- */

TEST(a_mark_comes_behind_what_has_come_in_the_trees_lane)
{
    enum { FRAMES = 20 };
    uint8_t content[BCRI_LANE_BYTES_MAX];
    uint32_t host;
    pair_begin();
    introduce_lane();
    heard_next[0] = 0;
    for (unsigned i = 0; i < FRAMES; i++)
        say(0, 0, i, 1000);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    CHECK(bcri_link_thread_lane_mark(hosts[1].thread, 1));
    bcri_link_thread_quiet(hosts[1].thread, 1);
    CHECK_INT(pair_news(&hosts[1]).told, BCRI_TOLD_QUIET); /* the mark is there */
    for (unsigned i = 0; i < FRAMES; i++)
        hear(1, 1000);
    CHECK_UINT(bcri_link_thread_lane_take(hosts[1].thread, &host, content), BCRI_LANE_MARK);
    CHECK_UINT(host, 1);
    CHECK_UINT(bcri_link_thread_lane_take(hosts[1].thread, &host, content), 0);
    pair_end();
}

/* Else its daemon, which waits for that, would take a second to end. */
TEST(the_last_word_of_a_host_is_acknowledged_though_its_link_goes_at_once)
{
    pair_begin();
    introduce_lane();
    heard_next[0] = 0;
    say(0, 0, 0, 100);
    hear(1, 100);
    say(0, 0, 1, 100);
    hear(1, 100);
    bcri_link_thread_lost(hosts[1].thread, 1);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    pair_end();
}

/* Or a daemon that says beats until all has arrived would never end over a long way. */
TEST(what_is_said_in_passing_is_not_counted_among_what_waits)
{
    const uint8_t content[100] = {0};
    pair_begin();
    introduce_lane();
    atomic_store(&sockets.is_cut, true);
    CHECK(bcri_link_thread_lane_send(hosts[0].thread, 2, BCRI_LANE_PASSING, content, sizeof content));
    CHECK_UINT(bcri_link_thread_lane_bytes(hosts[0].thread), 0);
    say(0, 1, 0, 100);
    CHECK_UINT(bcri_link_thread_lane_waits(hosts[0].thread, 2), 100);
    atomic_store(&sockets.is_cut, false);
    for (int i = 0; i < 2; i++) {
        uint8_t came[BCRI_LANE_BYTES_MAX];
        uint32_t host;
        while (bcri_link_thread_lane_take(hosts[1].thread, &host, came) == 0)
            sched_yield();
    }
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    pair_end();
}

/* A message there and one back. */
static void exchange(unsigned number)
{
    for (int from = 0; from < 2; from++) {
        heard_next[0] = number;
        say(from, 0, number, 1000);
        hear(1 - from, 1000);
    }
}

TEST(the_trees_lane_goes_over_the_tree_too_while_nothing_comes_by_udp)
{
    unsigned number = 0, before;
    pair.silence_ns = PAIR_SILENCE_NS;
    pair_begin();
    atomic_store(&sockets.is_cut, true);
    pair_tree_begins();
    introduce_lane();
    while (number < 50)
        exchange(number++);
    CHECK(pair_tree_packets() >= 100);
    atomic_store(&sockets.is_cut, false);
    do {
        before = pair_tree_packets();
        for (unsigned i = 0; i < 20; i++)
            exchange(number++);
    } while (pair_tree_packets() != before);
    atomic_store(&sockets.is_cut, true); /* the cable is pulled in the midst of it */
    for (unsigned i = 0; i < 10; i++)
        exchange(number++);
    CHECK(pair_tree_packets() != before);
    atomic_store(&sockets.is_cut, false);
    for (int to = 0; to < 2; to++) { /* one direction is blocked, and the sender hears the other by UDP */
        const struct bcri_link_address at = bcri_link_thread_address(hosts[to].thread);
        for (unsigned i = 0; i < 20; i++)
            exchange(number++);
        atomic_store(&sockets.cut_port, ((const struct sockaddr_in *)(const void *)&at.at)->sin_port);
        for (unsigned i = 0; i < 10; i++)
            exchange(number++);
        atomic_store(&sockets.cut_port, 0);
    }
    pair_tree_ends();
    pair_end();
}
