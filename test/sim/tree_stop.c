/* SPDX-License-Identifier: MIT */
/* Ctrl-Z in tree_sim.h, after tree.c and uplink.c: the root has all hosts stop, then stops itself,
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

void root_stops(void)
{
    struct bcri_control stop = {.type = BCRI_MSG_stop, .present = BCRI_HAS(id), .id = 2};
    if (sim.is_stopping || sim.is_over || sim.root_until_ms > sim.now_ms)
        return;
    sim_trace("the program is stopped");
    sim.is_stopping = true;
    sim.stops++;
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        host->was_told = host->stops = enl_lives_find(&sim.lives, i) != NULL && enl_life_works(&host->life);
        if (host->stops)
            root_says(host, stop);
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
        host->is_excused |= !host->is_stopped && for_ms > HARMLESS;
        sim.untold += host->runs && host->life.state == ENL_LIFE_UP && !host->was_told;
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
        host->stops = false;
        root_happens(host, ENL_LIFE_GO_ON);
        if (host->life.state > ENL_LIFE_BEGUN) /* else it expects to be started */
            root_says(host, (struct bcri_control){.type = BCRI_MSG_go_on});
    }
}

/* ---- at a host ---- */

void member_stops(struct host *host)
{
    host->is_stopped = true;
    host->stopped_ms = sim.now_ms;
    member_says(host, (struct bcri_control){
                          .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = 2});
}

/* The root counts from when it sent this, which may be long ago: so the links rest until it has
 * answered a beat that is sent now. */
void member_goes_on(struct host *host)
{
    host->is_stopped = false;
    if (!host->is_up)
        return;
    member_has_lease(host, sim.now_ms);
    host->links_ms = 0;
    host->beats_ms = UINT64_MAX;
    member_beats_after(host, 0);
}
