/* SPDX-License-Identifier: MIT */
/* Two link threads: orders and answers between CCEs that sleep, packets, timers, processors, and sockets that are full or
 * flooded. */
#include <dirent.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bcri/clock.h"
#include "bcri/link.h"
#include "bcri/self.h"
#include "check.h"
#include "link_pair.h"
#include "regions.h"

TEST(orders_and_answers_pass_while_threads_sleep)
{
    pair_begin();
    pair_introduce();
    for (int i = 0; i < 200; i++) {
        CHECK_INT(bcr_put(1, number(i), pair.there, pair.cell, bcr_FREE), 0);
        CHECK_INT(value_of(bcr_get(1, pair.there, pair.cell, bcr_BLOCK)), i);
    }
    for (int i = 0; i < 2000; i++)
        CHECK_INT(bcr_put(1, filled(100, i & 0xff), pair.there, pair.cell, bcr_FREE) |
                      bcr_zap(pair.there, pair.cell),
                  0);
    pair_end();
}

/* The region has no room, and when it has, the pool is more than half full: so the agent asks for the second
 * piece while it uses the first one. */
TEST(a_piece_of_the_pool_may_come_while_the_one_before_is_put_to_use)
{
    enum { BYTES = 3 << 20 };
    pair.pool_bytes = 64 << 20;
    pair_begin();
    pair_introduce();
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    bcri_self_set(hosts[1].cce);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 2 * BYTES) >= 1);
    CHECK_INT(bcr_put(1, filled(BYTES, 7), bcr_cce, pair.cell, bcr_FREE), 0);
    bcri_self_set(hosts[0].cce);
    atomic_store(&pair.grows_at_once, true);
    bcr_region got = bcr_get(1, pair.there, pair.cell, bcr_BLOCK);
    CHECK(got != NULL);
    CHECK_INT(((char *)*got)[BYTES - 1], 7);
    CHECK(atomic_load(&pair.pieces) >= 2);
    atomic_store(&pair.grows_at_once, false);
    CHECK_INT(bcr_rgfree(got), 0);
    pair_end();
}

TEST(a_timer_is_not_set_anew_for_each_rest)
{
    enum { ORDERS = 2000 };
    pair_begin();
    pair_introduce();
    const unsigned before = atomic_load(&sockets.timers_set);
    const uint64_t start = bcri_clock_ns();
    for (int i = 0; i < ORDERS; i++)
        CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    const uint64_t msec = (bcri_clock_ns() - start) / BCRI_NS_PER_MS;
    const unsigned set = atomic_load(&sockets.timers_set) - before;
    CHECK(set > 0 && set <= 2 * 4 * (msec + 2)); /* by two threads, again after it went off */
    pair_end();
}

/* The slice that the kernel keeps for a thread; 0: it keeps none (before Linux 6.12). */
static uint64_t slice_of(int thread)
{
    struct {
        uint32_t size, policy;
        uint64_t flags, nice_and_priority, slice_ns, deadline_ns, period_ns;
    } scheduling = {.size = sizeof scheduling};
    return syscall(SYS_sched_getattr, thread, &scheduling, sizeof scheduling, 0) == 0 ? scheduling.slice_ns
                                                                                      : 0;
}

TEST(link_threads_take_the_processor_from_what_computes)
{
    const uint64_t usual = slice_of(0);
    int shorter = 0;
    if (usual == 0)
        return;
    pair_begin();
    pair_introduce(); /* now both run */
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    DIR *threads = opendir("/proc/self/task");
    CHECK(threads != NULL);
    for (struct dirent *at; (at = readdir(threads)) != NULL;)
        shorter += at->d_name[0] != '.' && slice_of((int)strtol(at->d_name, NULL, 10)) < usual;
    closedir(threads);
    CHECK_INT(shorter, 2);
    CHECK(slice_of(0) == usual);
    pair_end();
}

TEST(packets_have_at_most_what_their_hosts_allow)
{
    static const uint32_t limits[] = {4000, 65000};
    for (int i = 0; i < 2; i++) {
        pair.most_bytes = limits[i];
        atomic_store(&sockets.largest, 0);
        pair_begin();
        pair_introduce();
        for (int k = 0; k < 20; k++)
            CHECK_INT(bcr_put(1, filled(50000, k), pair.there, pair.cell, bcr_FREE) |
                          bcr_zap(pair.there, pair.cell),
                      0);
        pair_end();
        CHECK(atomic_load(&sockets.largest) <= limits[i]);
        CHECK(atomic_load(&sockets.largest) > (i == 0 ? BCRI_LINK_PACKET_BASE : limits[0]));
    }
}

TEST(notes_come_at_a_bounded_rate_whatever_gives_cause_for_them)
{
    struct bcri_link_news news;
    unsigned notes = 0, say_more = 0;
    pair_begin();
    pair_introduce();
    const uint64_t start = bcri_clock_ns();
    for (int i = 0; i < 2000; i++)
        CHECK_INT(bcr_put(1, number(i), pair.there, pair.cell + 1 + i, bcr_FREE),
                  0); /* there are no such cells */
    (void)bcr_putdone(bcr_BLOCK);
    const uint64_t seconds = 2 + (bcri_clock_ns() - start) / BCRI_NS_PER_S;
    while (bcri_link_thread_take(hosts[0].thread, &news)) {
        notes += news.told == BCRI_TOLD_NOTE;
        say_more += news.told == BCRI_TOLD_NOTE && strstr(news.text, "more such notes") != NULL;
    }
    CHECK(notes >= 64 && notes <= seconds * 64);
    CHECK(say_more >= 1 && say_more <= seconds);
    pair_end();
}

TEST(a_thread_looks_out_for_answers_while_all_sleep_and_rests_when_none_is_due)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    pair_begin();
    pair_introduce();
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    const unsigned before = atomic_load(&sockets.nothing);
    for (int i = 0; i < 100; i++)
        CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    CHECK(atomic_load(&sockets.nothing) > before + 50);
    unsigned idle;
    do {
        idle = atomic_load(&sockets.nothing);
        usleep(100000);
    } while (atomic_load(&sockets.nothing) > idle + 10); /* keepalives */
    pair_end();
}

TEST(a_host_whose_lease_is_over_neither_serves_nor_sends)
{
    pair_begin();
    pair_introduce();
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    const struct bcri_link_address own = bcri_link_thread_address(hosts[0].thread);
    bcri_link_thread_lease(hosts[1].thread, 1);
    usleep(50000); /* what was under way is done */
    atomic_store(&sockets.counted_port, ((const struct sockaddr_in *)(const void *)&own.at)->sin_port);
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(200), 0);
    CHECK_UINT(atomic_load(&sockets.sends), 0);
    bcri_self_set(hosts[1].cce);
    CHECK_INT(bcr_celllen(bcr_cce, pair.cell), 0);
    bcri_self_set(hosts[0].cce);
    bcri_link_thread_lease(hosts[1].thread, UINT64_MAX); /* the loop has read an answer */
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK(atomic_load(&sockets.sends) > 0);
    atomic_store(&sockets.counted_port, 0);
    pair_end();
}

TEST(a_host_that_is_lost_fails_what_waits)
{
    pair_begin();
    pair_introduce();
    bcr_region waits = bcr_get(1, pair.there, pair.cell, bcr_PENDING);
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    bcri_link_thread_lost(hosts[0].thread, 2);
    bcri_link_thread_lost(hosts[1].thread, 1);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    FAILS(bcr_celllen(pair.there, pair.cell), bcrE_DEAD);
    pair_end();
}

TEST(a_host_that_is_lost_while_the_socket_is_full_is_sent_nothing_astray)
{
    mallopt(M_PERTURB, 0x5a); /* what is freed has no address any more */
    pair_begin();
    pair_introduce();
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    atomic_store(&sockets.is_full, true);
    bcr_region waits = bcr_get(1, pair.there, pair.cell, bcr_PENDING);
    while (atomic_load(&sockets.refused) < 2)
        sched_yield();
    bcri_link_thread_lost(hosts[0].thread, 2);
    bcri_link_thread_lost(hosts[1].thread, 1);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    const unsigned before = atomic_load(&sockets.refused);
    while (atomic_load(&sockets.refused) == before && atomic_load(&sockets.elsewhere) == 0)
        (void)bcr_celllen(pair.there, pair.cell); /* wakes the thread */
    atomic_store(&sockets.is_full, false);
    pair_end();
    CHECK_UINT(atomic_load(&sockets.elsewhere), 0);
}

TEST(a_flood_of_packets_stops_no_order)
{
    pair_begin();
    atomic_store(&sockets.is_flooded, true);
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    CHECK_INT(pair_news(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    atomic_store(&sockets.is_flooded, false);
    pair_introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    pair_end();
}
