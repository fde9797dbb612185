/* SPDX-License-Identifier: MIT */
/* What happens to a host's daemon of tree_sim.h, and what is done about it, as membership.c
 * decides: as uplink.c does it. */
#include "check.h"
#include "tree_sim.h"

enum { LAST_MSEC = 1000 };

unsigned sim_happened_there[ENL_MEMBERSHIP_STATES][ENL_MEMBERSHIP_EVENTS];

static uint64_t soon_ms(void)
{
    return 1 + test_rand_below(&sim.random, 3);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Looks at the deadline when it comes; one that is put off is met too early, once. */
static void look_later(struct host *host)
{
    if (host->membership.until_ms >= host->ticks_ms)
        return;
    host->ticks_ms = later_of(host->membership.until_ms, sim.now_ms);
    clock_later(TICK, host->life.number, host->ticks_ms - sim.now_ms);
}

/* ---- the lease, counted once more ---- */

static void has_lease_from(struct host *host, uint64_t from_ms)
{
    host->lease_ms = later_of(host->lease_ms, from_ms + TIMEOUT);
}

static void beat(struct host *host)
{
    const uint32_t number = enl_membership_beat(&host->membership, sim.now_ms);
    if (sim.now_ms > host->lease_ms)
        FAIL("host %u works on without a lease (seed %#llx)", host->life.number,
             (unsigned long long)sim.seed);
    host->beats[number % ENL_BEATS].number = number;
    host->beats[number % ENL_BEATS].ms = sim.now_ms;
    member_says(host, (struct bcri_control){.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = number});
}

void member_is_answered(struct host *host, uint32_t number)
{
    if (sim.now_ms <= host->lease_ms && host->beats[number % ENL_BEATS].number == number)
        has_lease_from(host, host->beats[number % ENL_BEATS].ms);
    CHECK_PTR(enl_membership_answered(&host->membership, number, sim.now_ms), NULL);
    member_happens(host, ENL_MEMBERSHIP_ANSWERED);
}

/* ---- what is done ---- */

static void warn_branches(const struct host *host)
{
    const struct bcri_control lost = message_of(BCRI_MSG_lost, 0);
    for (uint32_t at = host->first_branch; at != 0; at = sim.hosts[at].next_branch)
        if (!sim.hosts[at].command_is_over)
            way_post(DOWN, at, &lost);
}

static void say_end(struct host *host)
{
    host->said_end_ms = sim.now_ms;
    member_says(host, ended_message(host->life.number));
}

static void carry_out(struct host *host, unsigned actions)
{
    if ((actions & ENL_MEMBERSHIP_DO_WARN) != 0)
        warn_branches(host);
    if ((actions & ENL_MEMBERSHIP_DO_LEAVE) != 0)
        CHECK(host->by_link && !host->has_pipe);
    if ((actions & ENL_MEMBERSHIP_DO_BEAT) != 0)
        beat(host);
    if ((actions & ENL_MEMBERSHIP_DO_SAY) != 0)
        say_end(host);
    if ((actions & ENL_MEMBERSHIP_DO_AWAIT) != 0)
        clock_later(CAME, host->life.number, soon_ms());
    if ((actions & (ENL_MEMBERSHIP_DO_LOSE | ENL_MEMBERSHIP_DO_DONE)) != 0)
        member_ends(host);
}

/* ---- what happens ---- */

/* Its last word is not waited for, whatever comes behind it. */
static void look_at_last_word(const struct host *host)
{
    if (host->said_end_ms != 0 &&
        sim.now_ms > later_of(host->said_end_ms + LAST_MSEC, host->troubled_ms) + LAST_MSEC)
        FAIL("host %u is there %llu ms after its last word (seed %#llx)", host->life.number,
             (unsigned long long)(sim.now_ms - host->said_end_ms), (unsigned long long)sim.seed);
}

/* Its links do nothing any more when the root may take it for lost. */
static void look_at_links(const struct host *host)
{
    if (host->life.was_up && host->membership.state != ENL_MEMBERSHIP_STOPPED &&
        host->membership.links_ms > host->life.heard_ms + enl_lease_patience(TIMEOUT))
        FAIL("the links of host %u work longer than the root waits for it (seed %#llx)", host->life.number,
             (unsigned long long)sim.seed);
}

void member_happens(struct host *host, enum enl_membership_event event)
{
    const enum enl_membership_state before = host->membership.state;
    const unsigned actions = enl_membership_happens(&host->membership, event, sim.now_ms);
    const enum enl_membership_state after = host->membership.state;
    sim_happened_there[before][event]++;
    if (after != before)
        sim_trace("  host %u itself: %s, %s: %s", host->life.number, enl_membership_state_name(before),
                  enl_membership_event_name(event), enl_membership_state_name(after));
    if (event == ENL_MEMBERSHIP_GO_ON || (before == ENL_MEMBERSHIP_STOPPED && after != before))
        has_lease_from(host, sim.now_ms);
    if (event == ENL_MEMBERSHIP_FLUSHED && host->by_link)
        host->has_said_end |= host->troubled_ms < sim.now_ms && enl_life_has_way(&host->life);
    look_at_last_word(host);
    look_at_links(host);
    look_later(host);
    carry_out(host, actions);
}

void member_ticks(struct host *host)
{
    enum enl_membership_event event;
    if (!host->runs || sim.now_ms < host->ticks_ms)
        return; /* there is another */
    host->ticks_ms = UINT64_MAX;
    if (enl_membership_due(&host->membership, sim.now_ms, &event))
        member_happens(host, event);
    else
        look_later(host);
}

void member_joins(struct host *host)
{
    enl_membership_begin(&host->membership, host->by_link, TIMEOUT, sim.now_ms);
    has_lease_from(host, sim.now_ms);
    host->is_up = true;
    look_later(host);
}

/* It waits for those that it has begun, which the root ends. */
void member_finishes(struct host *host)
{
    if (host->runs && host->is_done && host->membership.state == ENL_MEMBERSHIP_ENDING &&
        !(sim.is_over && member_has_branches(host)))
        member_happens(host, ENL_MEMBERSHIP_FLUSH);
}

void member_looks_whether_all_came(struct host *host)
{
    const struct way *way = &host->ways[LINK_UP];
    const bool leaves =
        host->membership.state == ENL_MEMBERSHIP_FLUSHES || host->membership.state == ENL_MEMBERSHIP_LAST;
    if (host->runs && leaves && (!host->by_link || way->answered >= way->words))
        member_happens(host, ENL_MEMBERSHIP_FLUSHED);
}

/* A root whose end a starter tells may live, and be only out of its reach. */
void member_hears_that_root_is_lost(struct host *host)
{
    host->is_excused |= host->membership.state == ENL_MEMBERSHIP_STOPPED;
    host->was_warned |= host->membership.state != ENL_MEMBERSHIP_STOPPED;
    member_happens(host, ENL_MEMBERSHIP_ROOT_LOST);
}

void member_has_no_pipe(struct host *host)
{
    if (host->runs && !host->is_up)
        member_ends(host);
    else if (host->runs)
        member_happens(host, host->by_link ? ENL_MEMBERSHIP_PIPE_ENDS : ENL_MEMBERSHIP_WAY_ENDS);
}
