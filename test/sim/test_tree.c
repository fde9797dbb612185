/* SPDX-License-Identifier: MIT */
/* 1,024 hosts in pretended time (tree_sim.h), of which any is killed or stands still at any time; each wants links to 16
 * others, and the root to all.
 *
 * To hold: a host that was neither killed nor stood still goes on; all that the root and a host have said to each
 * other has come once and in order; the tree has three levels at most. Who wanted a link to a host that lives has it,
 * and both ends have the same keys; who wanted one to a host that does not live, or not yet, was told so, and once;
 * nobody is introduced to a host that it was told is lost; no host is lost to others before it has ended by itself.
 * When all is quiet nobody keeps anything of an introduction. What a host says grows with its partners, its children,
 * and what has died, and not with the number of hosts. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tree_sim.h"

static unsigned members(const struct enl_members *all)
{
    const struct enl_member *member;
    unsigned count = 0;
    LIST_FOREACH (member, all, entry)
        count++;
    return count;
}

static const struct ends *ends_of(uint32_t number)
{
    return number == 0 ? &sim.root : &sim.hosts[number].ends;
}

/* Nothing waits, and both ends of each link have the same keys. Returns how many links there are. */
static unsigned look_at_links(const struct ends *ends)
{
    unsigned made = 0;
    for (unsigned i = 0; i < ends->count; i++) {
        const struct link *link = &ends->links[i];
        const bool is_known = link->other <= sim.last_number;
        if (link->is_wanted)
            FAIL("host %u waits for ever for a link to host %u", ends->number, link->other);
        if (link->other != 0 && (!is_known || sim.hosts[link->other].state != R_UP)) {
            CHECK(!link->is_made && link->absent != 0);
            continue;
        }
        const struct link *back = ends_find(ends_of(link->other), ends->number);
        CHECK(!link->is_lost && (link->is_made || link->absent != 0));
        CHECK_INT(link->is_made, back != NULL && back->is_made);
        if (link->is_made && memcmp(&link->secret, &back->secret, sizeof link->secret) != 0)
            FAIL("hosts %u and %u have keys that differ", ends->number, link->other);
        made += link->is_made;
    }
    CHECK_UINT(ends->all.pairs.table.count, 0);
    CHECK(LIST_EMPTY(&ends->all.gone));
    CHECK_UINT(members(&ends->all.members), ends->number == 0 ? sim.up_count - sim.lost_count : made);
    return made;
}

struct sums {
    unsigned made, absent;
};

static struct sums sums_of(const struct ends *ends)
{
    struct sums sums = {0};
    for (unsigned i = 0; i < ends->count; i++) {
        sums.made += ends->links[i].made;
        sums.absent += ends->links[i].absent;
    }
    return sums;
}

/* See docs/protocol.md, "Messages of a host". */
static void look_at_messages(const struct host *host)
{
    const struct sums sums = sums_of(&host->ends);
    const unsigned beats = (unsigned)sim.now_ms / (TIMEOUT / 4) + 1 + (host->seeks ? 16 : 0);
    const unsigned introduced = 2 * sums.made + sums.absent;
    unsigned below = 0;
    for (size_t i = 0; i < host->routes.count; i++)
        below += sim.hosts[host->routes.rows[i].host].sent + sim.hosts[host->routes.rows[i].host].root_sent;
    CHECK(host->passed <= below);
    CHECK(host->begun <= FANOUT + sim.gone_count);
    CHECK(host->says <= 3 + introduced + host->said + host->begun + beats);
    CHECK(host->asks <= 2 * 3);
    CHECK(host->sent <= host->says + host->asks * (1 + host->says));
    CHECK(host->root_says <= 1 + introduced + sim.gone_count + host->begun + beats);
}

static void look_at(struct host *host)
{
    for (int row = 0; row < ENL_ROWS && way_is_numbered(host); row++) {
        CHECK_UINT(host->root_numbers.row[row].had, host->numbers.row[row].given);
        CHECK_UINT(host->numbers.row[row].had, host->root_numbers.row[row].given);
    }
    CHECK_UINT(host->root_heard, host->said);
    CHECK_UINT(host->wants, PARTNERS);
    CHECK(look_at_links(&host->ends) > 1);
    look_at_messages(host);
}

/* Faults in the first minute; who stands still then goes on within another, or is lost. Then all comes to rest, and is
 * looked at. */
static void run(uint64_t seed, unsigned kills, unsigned stops)
{
    unsigned most = 0, again = 0, asks = 0;
    tree_begin(seed);
    sim.ambushes = kills / 4;
    for (unsigned i = 0; i < kills; i++)
        clock_later(KILL, 1,
                    test_rand_below(&sim.random, i % 2 == 0 ? 1200 : 60000)); /* while they start, or later */
    for (unsigned i = 0; i < stops; i++)
        clock_later(CUT, 1, test_rand_below(&sim.random, 60000));
    for (unsigned i = 0; i < stops; i++)
        clock_later(STOP, 1, test_rand_below(&sim.random, i % 2 == 0 ? 1200 : 60000));
    tree_run_until(kills + stops == 0 ? 100000 : 220000);
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        if (host->state == R_GONE)
            continue;
        CHECK_INT(host->state, R_UP);
        CHECK(host->runs);
        look_at(host);
        most = host->says > most ? host->says : most;
        again = host->sent - host->says > again ? host->sent - host->says : again;
        asks = host->asks > asks ? host->asks : asks;
    }
    CHECK_UINT(look_at_links(&sim.root), sim.up_count - sim.lost_count);
    printf("%u hosts up, %u lost, %u over the lane, %u levels, all up after %u ms, %u frames; one says %u "
           "messages at most, and sends %u more, %u of which ask or answer\n",
           sim.up_count, sim.lost_count, sim.attached, sim.deepest, sim.rounds_ms, sim.frames, most, again,
           asks);
    if (kills == 0 && stops == 0) {
        CHECK_UINT(sim.up_count, HOSTS);
        CHECK_UINT(sim.gone_count + sim.attached, 0);
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
