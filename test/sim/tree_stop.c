/* SPDX-License-Identifier: MIT */
/* Ctrl-Z in tree_sim.h, after tree.c and parent.c: the root has all hosts stop, then stops itself,
 * and goes on with all of them. */
#include "check.h"
#include "tree_sim.h"

/* With hosts that do not answer. */
enum { STOP_MSEC = 1000 };

static bool is_waited_for(void)
{
    uint32_t at = 1;
    while (at <= sim.last_number && !(enl_lives_find(&sim.lives, at) != NULL && sim.hosts[at].stops))
        at++;
    return at <= sim.last_number;
}

void root_has_stop(struct host *host)
{
    host->stops = true;
    host->goes_on_late = false;
    root_says(host, (struct bcri_control){.type = BCRI_MSG_stop, .present = BCRI_HAS(id), .id = 2});
}

void root_has_go_on(struct host *host)
{
    host->stops = false;
    host->goes_on_late = enl_life_changes_way(&host->life);
    if (host->life.state > ENL_LIFE_BEGUN && !host->goes_on_late) /* else it expects to be started */
        root_says(host, (struct bcri_control){.type = BCRI_MSG_go_on});
}

void root_stops(void)
{
    if (sim.is_stopping || sim.is_over || sim.root_until_ms > sim.now_ms)
        return;
    sim_trace("the program is stopped");
    sim.is_stopping = true;
    sim.stops++;
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        if (enl_lives_find(&sim.lives, i) != NULL && enl_life_hears_stop(&host->life))
            root_has_stop(host);
    }
    if (is_waited_for())
        clock_later(PATIENCE, 0, STOP_MSEC);
    else
        root_stops_itself();
}

/* Those that have not stopped by then go on with what they do, and end with their leases. */
void root_stops_itself(void)
{
    if (!sim.is_stopping || sim.root_until_ms > sim.now_ms)
        return;
    const uint64_t for_ms = 1000 + test_rand_below(&sim.random, 2 * TIMEOUT);
    sim.root_until_ms = sim.now_ms + for_ms + 1; /* first of all it has the others go on */
    clock_later(GO_ON, 0, for_ms);
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        host->is_excused |= host->membership.state != ENL_MEMBERSHIP_STOPPED && for_ms > HARMLESS;
    }
    sim_trace("the root is stopped for %llu ms", (unsigned long long)for_ms);
}

void root_has_stopped(struct host *host)
{
    host->stops = false;
    if (!is_waited_for())
        root_stops_itself();
}

void root_goes_on(void)
{
    sim.is_stopping = false;
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        if (enl_lives_find(&sim.lives, i) == NULL)
            continue;
        root_happens(host, ENL_LIFE_GO_ON);
        root_has_go_on(host);
    }
}

/* It does nothing any more, and the pipes to it end. */
void root_dies(void)
{
    sim_trace("the root is killed");
    sim.is_dead = true;
    sim.root_until_ms = UINT64_MAX - END_MSEC; /* for ever, and a little may be added to it */
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        if (is_deep(host) || !host->has_pipe)
            continue;
        host->has_pipe = false;
        if (host->runs)
            clock_later(ENDED_PIPE, i, way_behind_ms(DOWN, host) - sim.now_ms + 1);
    }
}

/* ---- at a host ---- */

void member_stops(struct host *host)
{
    member_happens(host, ENL_MEMBERSHIP_STOP);
    member_says(host, (struct bcri_control){
                          .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = 2});
}

void member_goes_on(struct host *host)
{
    member_happens(host, ENL_MEMBERSHIP_GO_ON);
}
