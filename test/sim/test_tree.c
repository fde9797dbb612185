/* SPDX-License-Identifier: MIT */
/* 1,024 hosts in pretended time (tree_sim.h), of which any is killed or stands still at any time; each is introduced to
 * 16 others, and the root to all.
 *
 * To hold: a host that was neither killed nor stood still goes on, all that the root and a host have said to each
 * other has come once and in order, each introduction between hosts that live is made once at both ends, no host is
 * lost to others before it has ended by itself, and the tree has three levels at most. */
#include <stdio.h>

#include "check.h"
#include "tree_sim.h"

static void look_at(struct host *host)
{
    for (int row = 0; row < ENL_ROWS && way_is_numbered(host); row++) {
        CHECK_UINT(host->root_numbers.row[row].had, host->numbers.row[row].given);
        CHECK_UINT(host->numbers.row[row].had, host->root_numbers.row[row].given);
    }
    CHECK_UINT(host->root_heard, host->said);
    CHECK_UINT(host->root_made, 1);
    CHECK_UINT(host->wants, PARTNERS);
    for (unsigned i = 0; i < host->link_count; i++) {
        const struct link *link = &host->links[i];
        struct host *other = &sim.hosts[link->other];
        if (other->state != R_UP) {
            CHECK(link->lost + link->unknown + link->made > 0);
            continue;
        }
        unsigned back = 0;
        for (unsigned k = 0; k < other->link_count; k++)
            back += other->links[k].other == host->number ? other->links[k].made : 0;
        CHECK(link->lost == 0);
        CHECK_UINT(link->made, back);
        CHECK(link->made <= 2); /* both may have wanted it */
        CHECK(link->made > 0 || link->unknown > 0);
    }
}

/* Faults in the first minute; then all comes to rest, and is looked at. */
static void run(uint64_t seed, unsigned kills, unsigned stops)
{
    unsigned killed_or_stopped = 0, most_own = 0;
    tree_begin(seed);
    for (unsigned i = 0; i < kills; i++)
        clock_later(KILL, 1,
                    test_rand_below(&sim.random, i % 2 == 0 ? 1200 : 60000)); /* while they start, or later */
    for (unsigned i = 0; i < stops; i++)
        clock_later(STOP, 1, test_rand_below(&sim.random, i % 2 == 0 ? 1200 : 60000));
    tree_run_until(300000);
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        killed_or_stopped += host->state == R_GONE;
        if (host->state == R_GONE)
            continue;
        CHECK_INT(host->state, R_UP);
        CHECK(host->runs);
        look_at(host);
        most_own = host->own > most_own ? host->own : most_own;
    }
    printf("%u hosts up, %u lost, %u over the lane, %u levels, all up after %u ms, %u frames, %u "
           "messages of "
           "a host\n",
           sim.up_count, sim.lost_count, sim.attached, sim.deepest, sim.rounds_ms, sim.frames, most_own);
    if (kills == 0 && stops == 0) {
        for (uint32_t i = 1; i <= sim.last_number; i++) {
            /* What a host says itself grows with its partners and with time, not with the number of hosts: present and
             * reply, want or agreed, what it prints, beats. */
            const struct host *host = &sim.hosts[i];
            CHECK(host->own <= 3 + 2 * host->link_count + host->said + sim.now_ms / (TIMEOUT / 4) + 1);
            CHECK(host->link_count < LINKS);
        }
        CHECK_UINT(sim.up_count, HOSTS);
        CHECK_UINT(sim.lost_count + sim.attached + killed_or_stopped, 0);
        CHECK(sim.deepest <= 3);
    }
    tree_finish();
}

TEST_TIMEOUT(a_thousand_hosts_are_started_in_three_levels_and_introduced_to_sixteen_others, 300)
{
    run(test_seed(), 0, 0);
}

TEST_TIMEOUT(any_daemons_are_killed_and_stand_still_and_the_others_miss_nothing, 36000)
{
    const uint64_t seed = test_seed(), runs = test_scale(1, 200);
    for (uint64_t i = 0; i < runs; i++)
        run(seed + i, 40, 10);
}
