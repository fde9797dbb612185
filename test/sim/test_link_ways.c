/* SPDX-License-Identifier: MIT */
/* Hosts between which no packet passes: one is told of it, orders go over the tree of daemons, or by another address, and
 * come back. */
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "bcri/link.h"
#include "check.h"
#include "link_pair.h"
#include "regions.h"

TEST(a_host_from_which_nothing_comes_is_told_once)
{
    pair.silence_ns = PAIR_SILENCE_NS;
    pair_begin();
    hosts[0].introduction.address_count = 1; /* which leads nowhere */
    CHECK(bcri_link_thread_introduce(hosts[0].thread, &hosts[0].introduction));
    bcr_region waits = bcr_get(1, pair.there, pair.cell, bcr_PENDING);
    const struct bcri_link_news news = pair_news(&hosts[0]);
    CHECK_INT(news.told, BCRI_TOLD_WAY);
    CHECK_INT(news.way, BCRI_WAY_SILENT);
    CHECK_UINT(news.number, 2);
    CHECK_STR(news.text, "127.0.0.1, UDP port 9");
    CHECK_INT(bcr_rgwait(waits, 3 * PAIR_SILENCE_NS / 1000000, 0), 0);
    struct bcri_link_news more;
    CHECK(!bcri_link_thread_take(hosts[0].thread, &more));
    bcri_link_thread_lost(hosts[0].thread, 2);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    pair_end();
}

static void expect_told_once(void)
{
    unsigned told_of[2] = {0, 0};
    struct bcri_link_news news;
    for (int i = 0; i < 2; i++)
        while (bcri_link_thread_take(hosts[i].thread, &news))
            told_of[i] += news.told == BCRI_TOLD_WAY && news.way == BCRI_WAY_SILENT;
    CHECK(told_of[0] <= 1 && told_of[1] <= 1 && told_of[0] + told_of[1] >= 1);
}

TEST(hosts_between_which_no_packet_passes_go_on_over_the_tree_and_come_back)
{
    pair.silence_ns = PAIR_SILENCE_NS;
    pair_begin();
    atomic_store(&sockets.is_cut, true);
    pair_tree_begins();
    pair_introduce();
    for (int i = 0; i < 100; i++) {
        CHECK_INT(bcr_put(1, number(i), pair.there, pair.cell, bcr_FREE), 0);
        CHECK_INT(value_of(bcr_get(1, pair.there, pair.cell, bcr_BLOCK)), i);
    }
    CHECK(pair_tree_packets() > 100);
    expect_told_once();
    atomic_store(&sockets.is_cut, false);
    unsigned before;
    do {
        before = pair_tree_packets();
        for (int i = 0; i < 10; i++)
            CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
        usleep(10000);
    } while (pair_tree_packets() != before);
    pair_tree_ends();
    pair_end();
}

/* Until one of the two tells it. */
static void expect_way(enum bcri_way way)
{
    struct bcri_link_news news = {.way = BCRI_WAY_USUAL};
    for (unsigned i = 0; news.told != BCRI_TOLD_WAY || news.way != way; i++)
        if (!bcri_link_thread_take(hosts[i % 2].thread, &news))
            usleep(1000);
}

static void put_and_get(unsigned regions, int bytes)
{
    for (unsigned i = 0; i < regions; i++) {
        CHECK_INT(bcr_put(1, filled(bytes, 7), pair.there, pair.cell, bcr_FREE), 0);
        bcr_region region = bcr_get(1, pair.there, pair.cell, bcr_BLOCK);
        CHECK(region != NULL);
        CHECK_INT(bcr_rglen(region, NULL), bytes);
        CHECK_INT(bcr_rgfree(region), 0);
    }
}

/* Small packets pass all the time, so neither is ever silent. On the tree only what carries the least brings them back. */
TEST_TIMEOUT(hosts_between_which_the_least_packets_do_not_pass_go_on_over_the_tree_and_come_back_when_they_do,
             120)
{
    pair.most_bytes = 1400;
    pair.silence_ns = UINT64_C(3600) * 1000000000; /* a loaded machine is silent for a while */
    pair_begin();
    pair_tree_begins();
    pair_introduce();
    put_and_get(10, 6000);
    CHECK_UINT(pair_tree_packets(), 0);
    atomic_store(&sockets.most, 700);
    put_and_get(10, 6000);
    expect_way(BCRI_WAY_LOW);
    CHECK_UINT(pair_tree_packets(), 0);
    atomic_store(&sockets.most, BCRI_LINK_PACKET_MIN - 1);
    put_and_get(10, 6000);
    expect_way(BCRI_WAY_NARROW);
    CHECK(pair_tree_packets() > 0);
    atomic_store(&sockets.most, 0);
    unsigned before;
    do {
        before = pair_tree_packets();
        put_and_get(2, 6000);
        usleep(10000);
    } while (pair_tree_packets() != before);
    pair_tree_ends();
    pair_end();
}

static bool has_ipv6(void)
{
    const int probe = socket(AF_INET6, SOCK_DGRAM, 0);
    const struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const bool has = probe >= 0 && bind(probe, (const struct sockaddr *)&loopback, sizeof loopback) == 0;
    if (probe >= 0)
        close(probe);
    return has;
}

/* The two hosts have addresses of both families, and talk by IPv4, since IPv6 is cut. */
static void begin_with_two_ways(void)
{
    if (!has_ipv6())
        SKIP("this machine has no IPv6");
    sockets.has_two_ways = true;
    pair.silence_ns = PAIR_SILENCE_NS;
    pair_begin();
    pair_tree_begins();
    atomic_store(&sockets.cut_family, AF_INET6);
    pair_introduce();
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
}

static void end_with_two_ways(void)
{
    pair_tree_ends();
    pair_end();
    sockets.has_two_ways = false;
}

/* After a while on the tree. */
TEST_TIMEOUT(a_way_that_goes_away_is_left_for_another_address, 60)
{
    begin_with_two_ways();
    atomic_store(&sockets.cut_family, AF_INET); /* that was the way */
    const unsigned first = pair_tree_packets();
    unsigned before;
    do {
        before = pair_tree_packets();
        for (int call = 0; call < 10; call++)
            CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
        usleep(10000);
    } while (before == first || pair_tree_packets() != before);
    atomic_store(&sockets.cut_family, 0);
    end_with_two_ways();
}

/* The host that is not heard by IPv4 hears the other one by it, while both are on the tree. */
TEST_TIMEOUT(a_way_that_works_in_one_direction_is_left_for_another_address, 120)
{
    enum { CALLS = 200 };
    begin_with_two_ways();
    const struct bcri_link_address here = bcri_link_thread_address(hosts[1].thread);
    atomic_store(&sockets.cut_port, ((const struct sockaddr_in6 *)(const void *)&here.at)->sin6_port);
    atomic_store(&sockets.cut_family, 0);
    /* A link on a way that is no good is back on the tree after at most a second. */
    const unsigned first = pair_tree_packets();
    unsigned before;
    do {
        before = pair_tree_packets();
        for (int call = 0; call < CALLS; call++) {
            CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
            usleep(10000);
        }
    } while (before == first || pair_tree_packets() != before);
    atomic_store(&sockets.cut_port, 0);
    end_with_two_ways();
}

TEST(a_link_that_falls_silent_in_the_midst_of_regions_loses_none)
{
    enum { REGIONS = 80, BYTES = 6000 };
    pair.silence_ns = PAIR_SILENCE_NS;
    pair_begin();
    pair_tree_begins();
    pair_introduce();
    for (int i = 0; i < REGIONS; i++) {
        atomic_store(&sockets.is_cut, i >= REGIONS / 4);
        CHECK_INT(bcr_put(1, filled(BYTES, i), pair.there, pair.cell, bcr_FREE), 0);
        if (i % 8 == 7)
            CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    }
    for (int i = 0; i < REGIONS; i++) {
        bcr_region region = bcr_get(1, pair.there, pair.cell, bcr_BLOCK);
        CHECK(region != NULL);
        const unsigned char *at = *region;
        for (int byte = 0; byte < BYTES; byte++)
            if (at[byte] != i)
                CHECK_INT(at[byte], i);
        CHECK_INT(bcr_rgfree(region), 0);
    }
    CHECK(pair_tree_packets() > 100);
    expect_told_once();
    pair_tree_ends();
    atomic_store(&sockets.is_cut, false);
    pair_end();
}
