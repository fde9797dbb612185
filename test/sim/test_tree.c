/* SPDX-License-Identifier: MIT */
/* Programs of 8 and of 1,024 hosts in pretended time (tree_sim.h), of which any is killed or
 * stands still at any time, sleeps, loses its pipe, has it or UDP blocked or slow, cannot be
 * begun, or takes too long; the program is stopped by Ctrl-Z, wants more hosts, ends single ones
 * and gives others up; each host wants links to others, and the root to all.
 *
 * To hold: each host that the program wants is up once, or it is said once that it cannot be. A
 * host that was neither killed nor stood still goes on, unless what it says was held up on all its
 * ways; all that it has said has come once and in order; nobody is given up for its silence whose
 * lease holds; and no host is lost to others before it has ended by itself, nor spoken of by the
 * root after it is gone. Each state of a host has a deadline, and the root hears of each end in
 * order.
 *
 * Who wanted a link to a host that lives has it, and both ends have the same keys; who wanted one
 * to a host that does not live, or not yet, was told so, and once; nobody is introduced to a host
 * that it was told is lost. When all is quiet nobody keeps anything of an introduction. What a
 * host says grows with its partners, its children, and what has died, and not with the number of
 * hosts. When all are told to end, at whatever moment, no host is left over at the root, and no
 * daemon runs on. When the root's daemon is killed none runs on, either. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tree_sim.h"

static bool is_up(const struct host *host)
{
    return enl_life_works(&host->life);
}

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
            FAIL("host %u waits for ever for a link to host %u (seed %#llx)", ends->number, link->other,
                 (unsigned long long)sim.seed);
        if (link->other != 0 && (!is_known || !is_up(&sim.hosts[link->other]))) {
            if (link->is_made || link->absent == 0)
                FAIL("host %u %s host %u, which is %s (seed %#llx)", ends->number,
                     link->is_made ? "has a link to" : "was not told of", link->other,
                     is_known ? enl_life_state_name(sim.hosts[link->other].life.state) : "unknown",
                     (unsigned long long)sim.seed);
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
    unsigned made, answered;
};

static struct sums sums_of(const struct ends *ends)
{
    struct sums sums = {0};
    for (unsigned i = 0; i < ends->count; i++) {
        sums.made += ends->links[i].made;
        sums.answered += ends->links[i].answered;
    }
    return sums;
}

/* See docs/protocol.md, "Messages of a host". */
static void look_at_messages(const struct host *host)
{
    const struct sums sums = sums_of(&host->ends);
    const unsigned beats = (unsigned)sim.now_ms / (TIMEOUT / 4) + 1 + sim.stops; /* and one when it goes on */
    const unsigned tells = sim.stops + 2 * host->begun; /* that it has stopped, or what is pushed, or stuck */
    const unsigned introduced = 2 * sums.made + sums.answered;
    CHECK(host->begun <= sim.fanout + sim.gone_count);
    if (host->says > 3 + introduced + host->said + 2 * host->begun + beats + tells)
        FAIL(
            "host %u says %u messages: %u for introductions, %u lines, %u hosts begun, %u beats (seed %#llx)",
            host->life.number, host->says, introduced, host->said, host->begun, beats,
            (unsigned long long)sim.seed);
    if (host->root_says >
        2 + introduced + sim.gone_count + 2 * host->begun + beats + 2 * sim.stops + host->cuts)
        FAIL("host %u is told %u messages: %u for introductions, %u hosts begun, %u gone, %u beats, %u stops "
             "(seed %#llx)",
             host->life.number, host->root_says, introduced, host->begun, sim.gone_count, beats, sim.stops,
             (unsigned long long)sim.seed);
}

static void look_at(struct host *host)
{
    CHECK_UINT(host->root_heard, host->said);
    const unsigned made = look_at_links(&host->ends);
    if (sim.places > 100) { /* else there may be nobody left to want */
        CHECK_UINT(host->wants, sim.partners);
        if (made <= 1 && sim.lost_count < sim.up_count / 4)
            FAIL("host %u has %u links (seed %#llx)", host->life.number, made, (unsigned long long)sim.seed);
    }
    look_at_messages(host);
}

/* All are told to end: nothing runs anywhere then, though one that stands still learns of it late,
 * or by its lease. */
static void end(void)
{
    unsigned stopped = 0;
    root_ends();
    clock_later(INTERRUPT, 0, test_rand_below(&sim.random, 4000)); /* once more */
    tree_run_until(sim.now_ms + 2 * TIMEOUT + 10000);
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        if (sim.hosts[i].life.state != ENL_LIFE_GONE)
            FAIL("host %u is %s when all is over (seed %#llx)", i,
                 enl_life_state_name(sim.hosts[i].life.state), (unsigned long long)sim.seed);
        const enum enl_life_process process = sim.hosts[i].life.process;
        if (sim.hosts[i].has_said_end && process != ENL_LIFE_SAID_END && process != ENL_LIFE_ENDED)
            FAIL("host %u has said that it ends, and the root has not heard that (seed %#llx)", i,
                 (unsigned long long)sim.seed);
        stopped += sim.hosts[i].runs && sim.hosts[i].membership.state == ENL_MEMBERSHIP_STOPPED;
    }
    if (stopped != 0) /* they have lost all that could tell them that the program is over */
        tree_run_until(sim.now_ms + 3700000);
    for (uint32_t i = 1; i <= sim.last_number; i++)
        if (sim.hosts[i].runs)
            FAIL("host %u runs when all is over (seed %#llx)", i, (unsigned long long)sim.seed);
}

/* Each host that the program has asked for was up, or it was said once that it cannot be;
 * `is_over`: or the program has ended before. */
static void look_at_wishes(bool is_over)
{
    for (uint32_t i = 1; i <= sim.last_wish; i++) {
        const unsigned answers = sim.wishes[i].up + sim.wishes[i].told;
        if (answers > 1 || (answers == 0 && !is_over))
            FAIL("of the wish for host %u it is told %u times that it is up, and %u times that it cannot be "
                 "(seed %#llx)",
                 i, sim.wishes[i].up, sim.wishes[i].told, (unsigned long long)sim.seed);
    }
}

struct faults {
    unsigned kills, stops, cuts, blocks;
    unsigned sleeps, sticks, suspends, wants, dismissals, nonsenses, quits, lags;
    bool is_interrupted; /* Ctrl-C, while they happen */
    bool are_harmless;   /* no host is lost by them */
    bool kill_root;
    bool has_real_keys; /* no fault */
};

static void later(enum kind kind, uint64_t within_ms)
{
    clock_later(kind, 1, test_rand_below(&sim.random, within_ms));
}

/* Half of them while the hosts start. */
static void prepare(const struct faults *faults)
{
    sim.ambushes = faults->kills / 4;
    const struct {
        enum kind kind;
        unsigned times;
    } all[] = {{KILL, faults->kills},
               {STOP, faults->stops},
               {CUT, faults->cuts},
               {BLOCK, faults->blocks},
               {SLEEP, faults->sleeps},
               {STICK, faults->sticks},
               {SUSPEND, faults->suspends},
               {WANT, faults->wants},
               {DISMISS, faults->dismissals},
               {NONSENSE, faults->nonsenses},
               {QUIT, faults->quits},
               {LAG, faults->lags},
               {INTERRUPT, faults->is_interrupted ? 2 : 0},
               {DIE, faults->kill_root}};
    for (unsigned at = 0; at < sizeof all / sizeof all[0]; at++)
        for (unsigned i = 0; i < all[at].times; i++) {
            sim.has_faults = !faults->are_harmless;
            later(all[at].kind, test_rand_below(&sim.random, 2) == 0 ? 1200 : 60000);
        }
}

static bool is_stopped_by_link(const struct host *host)
{
    return host->membership.state == ENL_MEMBERSHIP_STOPPED && host->by_link;
}

/* The daemon above it, or itself, that would have to be told of the root's death first: it is stopped, or is being started, below one
 * that runs. */
static const struct host *first_to_be_told(const struct host *host)
{
    const bool waits = is_stopped_by_link(host) || !host->is_up;
    if (host->runs && waits && is_deep(host) && host->has_pipe)
        return first_to_be_told(&sim.hosts[host->life.starter]);
    return host;
}

/* It is stopped, and has no daemon above it that runs and would tell it of the root's death; or it was being started by such a one. */
static bool waits_for_the_hour(const struct host *host)
{
    const struct host *first = first_to_be_told(host);
    return first->runs && is_stopped_by_link(first) && !first->has_pipe;
}

/* The root's daemon is killed. Those that hear of it end, and so do those whose leases run. One that is stopped, and has no daemon
 * above it any more, waits for an hour; so does one whose stop was on its way when it was told. */
static void run_without_root(uint64_t seed, struct faults faults)
{
    faults.kill_root = true;
    tree_begin(seed, 8, 2, 2, true);
    prepare(&faults);
    tree_run_until(60000 + 5 * TIMEOUT);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 1; i <= sim.last_number; i++) {
            const struct host *host = &sim.hosts[i];
            if (host->runs &&
                (pass == 1 ||
                 (faults.are_harmless && !host->was_warned && !first_to_be_told(host)->was_warned) ||
                 !waits_for_the_hour(host)))
                FAIL("host %u runs without the root (seed %#llx)", i, (unsigned long long)seed);
        }
        tree_run_until(sim.now_ms + 3700000);
    }
    tree_finish();
}

/* Faults in the first minute; who stands still then goes on within another, or is lost. Then all
 * comes to rest, and is looked at. */
static void run(uint64_t seed, unsigned hosts, struct faults faults)
{
    unsigned most = 0;
    tree_begin(seed, hosts, hosts < 100 ? 2 : 16, hosts < 100 ? 2 : 16, !faults.has_real_keys);
    prepare(&faults);
    tree_run_until(sim.has_faults || faults.are_harmless ? 320000 : 130000);
    look_at_wishes(faults.is_interrupted);
    if (faults.is_interrupted) {
        end();
        tree_finish();
        return;
    }
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        if (host->has_quit && host->runs)
            FAIL("host %u has not ended, as it wanted to (seed %#llx)", i, (unsigned long long)sim.seed);
        if (host->life.state == ENL_LIFE_GONE)
            continue;
        if (!is_up(host) || !host->runs)
            FAIL("host %u is %s and %s at the end (seed %#llx)", i, enl_life_state_name(host->life.state),
                 host->runs ? "runs" : "does not run", (unsigned long long)sim.seed);
        look_at(host);
        most = host->says > most ? host->says : most;
    }
    CHECK_UINT(look_at_links(&sim.root), sim.up_count - sim.lost_count);
    if (hosts > 100)
        printf("%u hosts up, %u lost, %u went on without their starters, %u levels, all up after %u ms, %u "
               "frames, "
               "%u events; one says %u messages at most\n",
               sim.up_count, sim.lost_count, sim.orphans, sim.deepest, sim.rounds_ms, sim.frames, sim.acts,
               most);
    if (!sim.has_faults) {
        CHECK_UINT(sim.up_count, hosts);
        if (sim.gone_count + sim.orphans != 0)
            FAIL("%u hosts are lost without a fault (seed %#llx)", sim.gone_count,
                 (unsigned long long)sim.seed);
        CHECK(sim.deepest <= 3);
    }
    end();
    tree_finish();
}

TEST_TIMEOUT(a_thousand_hosts_are_started_in_three_levels_and_introduced_to_sixteen_others, 300)
{
    run(test_seed(), 1024, (struct faults){.has_real_keys = true});
}

TEST_TIMEOUT(whatever_happens_to_some_of_a_thousand_hosts_the_others_miss_nothing, 36000)
{
    const uint64_t seed = test_seed(), runs = test_scale(1, 1000);
    for (uint64_t i = 0; i < runs; i++)
        run(seed + i, 1024,
            (struct faults){.kills = 40,
                            .stops = 10,
                            .cuts = 10,
                            .blocks = 10,
                            .sleeps = 2,
                            .sticks = 5,
                            .suspends = 1,
                            .wants = 10,
                            .dismissals = 5,
                            .nonsenses = 5,
                            .quits = 5,
                            .lags = 10});
}

static uint64_t all_acts; /* events of all programs */

/* All that the table has must happen, or what is said above is said of less. */
static void look_at_what_has_happened(void)
{
    unsigned all = 0, missed = 0;
    for (unsigned state = 0; state < ENL_LIFE_STATES; state++)
        for (unsigned event = 0; event < ENL_LIFE_EVENTS; event++) {
            const struct enl_life life = {.state = state};
            if (!enl_life_takes(&life, event))
                continue;
            all++;
            if (sim_happened[state][event] != 0)
                continue;
            missed++;
            printf("%s never has %s\n", enl_life_state_name(state), enl_life_event_name(event));
        }
    printf("%llu events; %u of %u that the table has have happened\n", (unsigned long long)all_acts,
           all - missed, all);
    CHECK(missed <= all / 6);
}

/* The same of a host's own. */
static void look_at_what_has_happened_there(void)
{
    unsigned all = 0, missed = 0;
    for (size_t i = 0; i < enl_membership_rules_count; i++)
        for (unsigned state = 0; state < ENL_MEMBERSHIP_STATES; state++) {
            const struct enl_membership_rule *rule = &enl_membership_rules[i];
            const bool is_its = (rule->states & 1u << state) != 0;
            all += is_its;
            if (!is_its || sim_happened_there[state][rule->event] != 0)
                continue;
            missed++;
            printf("%s never has %s\n", enl_membership_state_name(state),
                   enl_membership_event_name(rule->event));
        }
    printf("%u of %u that a host's own table has have happened\n", all - missed, all);
    CHECK(missed <= all / 3);
}

TEST_TIMEOUT(hosts_that_come_up_while_the_program_is_stopped_go_on_with_it, 36000)
{
    const uint64_t seed = test_seed(), runs = test_scale(200, 10000);
    for (uint64_t i = 0; i < runs; i++)
        run(seed + i, 8, (struct faults){.suspends = 2, .are_harmless = true});
}

TEST_TIMEOUT(when_the_roots_daemon_is_killed_no_other_is_left, 36000)
{
    const uint64_t seed = test_seed(), runs = test_scale(500, 25000);
    for (uint64_t i = 0; i < runs; i++)
        run_without_root(seed + i, i % 2 == 0 ? (struct faults){.kills = 1,
                                                                .stops = 1,
                                                                .cuts = 1,
                                                                .blocks = 1,
                                                                .suspends = 1 + i / 2 % 2,
                                                                .quits = 1,
                                                                .lags = 1}
                                              : (struct faults){.suspends = 2, .are_harmless = true});
}

TEST_TIMEOUT(whatever_happens_to_some_of_eight_hosts_the_others_miss_nothing, 36000)
{
    const uint64_t seed = test_seed(), runs = test_scale(2000, 100000);
    for (uint64_t i = 0; i < runs; i++) {
        uint64_t random = seed + i;
        struct faults faults = {.kills = 0};
        faults.kills = (unsigned)test_rand_below(&random, 5);
        faults.stops = (unsigned)test_rand_below(&random, 3);
        faults.cuts = (unsigned)test_rand_below(&random, 3);
        faults.blocks = (unsigned)test_rand_below(&random, 4);
        faults.sleeps = (unsigned)test_rand_below(&random, 3);
        faults.sticks = (unsigned)test_rand_below(&random, 2);
        faults.suspends = (unsigned)test_rand_below(&random, 6) / 3;
        faults.wants = (unsigned)test_rand_below(&random, 4);
        faults.dismissals = (unsigned)test_rand_below(&random, 6) / 4;
        faults.nonsenses = (unsigned)test_rand_below(&random, 6) / 4;
        faults.quits = (unsigned)test_rand_below(&random, 6) / 5;
        faults.lags = (unsigned)test_rand_below(&random, 3);
        faults.is_interrupted = test_rand_below(&random, 4) == 0;
        run(seed + i, 8, faults);
        all_acts += sim.acts;
    }
    look_at_what_has_happened();
    look_at_what_has_happened_there();
}
