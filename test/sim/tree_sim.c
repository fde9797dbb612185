/* SPDX-License-Identifier: MIT */
/* See tree_sim.h: who acts on what happens, and when. */
#include "tree_sim.h"

#include <stdlib.h>

#include "check.h"

struct tree_sim sim;

static void on_frame(const struct event *event)
{
    struct host *host = &sim.hosts[event->host], *starter = &sim.hosts[host->life.starter];
    struct bcri_control message;
    CHECK_PTR(bcri_control_decode(event->bytes, event->length, &message), NULL);
    switch (event->kind) {
    case UP:
        if (host->life.starter == 0) {
            root_takes(event->host, &message);
        } else if (starter->runs) {
            starter->passed++;
            if ((message.present & BCRI_HAS(from)) == 0) {
                message.present |= BCRI_HAS(from);
                message.from = event->host;
            }
            if (enl_routes_find(&starter->routes, message.from) == event->host)
                way_post(starter->on_control_link ? LANE_UP : UP, starter->life.number, &message);
        }
        break;
    case LANE_UP:
        if (!host->root_backup.is_made)
            return;
        if (!enl_life_is_linked(&host->life) && (!enl_life_takes(&host->life, ENL_LIFE_LINK) ||
                                                 !enl_backup_is_first(event->bytes, (uint32_t)event->length)))
            return;
        if (!enl_life_is_linked(&host->life))
            root_happens(host, ENL_LIFE_LINK);
        root_takes(event->host, &message);
        break;
    default:
        if (event->kind == LANE_DOWN && !host->on_control_link && message.type != BCRI_MSG_resume)
            return;
        if (event->kind == DOWN && host->on_control_link)
            return; /* its pipes are closed */
        host->on_control_link |= event->kind == LANE_DOWN;
        if (host->runs)
            member_takes(host, &message);
    }
}

/* Who is to act on an event; the root never stands still. */
static uint32_t actor(const struct event *event)
{
    switch (event->kind) {
    case UP: return sim.hosts[event->host].life.starter;
    case LANE_UP:
    case LOOK:
    case LOSE:
    case KILL:
    case STOP:
    case CUT:
    case BLOCK:
    case INTERRUPT: return 0;
    case CLOSED:
    case ENDED: return sim.hosts[event->host].life.starter;
    default: return event->host;
    }
}

/* One that has no control link, or not yet, or of which that is blocked, may be lost by it. */
static void block(struct host *host)
{
    const unsigned way = (unsigned)test_rand_below(&sim.random, 4);
    const uint64_t until_ms = sim.now_ms + 1000 + test_rand_below(&sim.random, 2 * TIMEOUT);
    host->blocked[way] = until_ms > host->blocked[way] ? until_ms : host->blocked[way];
    host->was_stopped |= way >= LANE_UP || !way_is_numbered(host) || !host->life.was_up;
}

static void on_fault(enum kind kind)
{
    struct host *host = &sim.hosts[1 + test_rand_below(&sim.random, sim.last_number)];
    if (!host->runs)
        return;
    sim_trace("fault %s of host %u",
              kind == KILL    ? "kill"
              : kind == CUT   ? "cut"
              : kind == BLOCK ? "block"
                              : "stop",
              host->life.number);
    if (kind == KILL) {
        host->was_killed = true;
        member_ends(host);
        return;
    }
    host->troubles++;
    if (kind == BLOCK) {
        block(host);
        return;
    }
    host->was_stopped = true;
    if (kind == CUT) { /* its pipes; it works on */
        command_ends(host, true);
        return;
    }
    const uint64_t resumes_ms = sim.now_ms + 1000 + test_rand_below(&sim.random, 2 * TIMEOUT);
    host->resumes = resumes_ms > host->resumes ? resumes_ms : host->resumes; /* what waits keeps its order */
}

static void act(struct event *event)
{
    const uint32_t by = actor(event);
    struct host *host = &sim.hosts[event->host];
    if (by != 0 && sim.hosts[by].resumes > sim.now_ms &&
        sim.hosts[by].runs) { /* it stands still; order is kept */
        event->at = sim.hosts[by].resumes;
        clock_push(*event);
        return;
    }
    if (by != 0 && sim.hosts[by].runs && sim.hosts[by].is_up &&
        enl_lease_is_over(&sim.hosts[by].lease, sim.now_ms))
        member_ends(&sim.hosts[by]); /* it looks at that before all else */
    switch (event->kind) {
    case UP:
    case DOWN:
    case LANE_UP:
    case LANE_DOWN: on_frame(event); break;
    case BEAT:
        if (host->runs)
            member_beats(host);
        break;
    case LOOK: root_looks(host); break;
    case LOSE: root_tells_of_lost(); break;
    case LOGIN: member_logs_in(host); break;
    case STARTED:
        if (host->runs)
            member_has_started(host);
        break;
    case ENDED_PIPE: member_has_no_pipe(host); break;
    case CLOSED: member_tells_of_closed(host); break;
    case ENDED: member_tells_of_ended(host); break;
    case WORK:
        if (host->runs)
            member_works(host);
        break;
    case KILL:
    case STOP:
    case CUT:
    case BLOCK: on_fault(event->kind); break;
    case INTERRUPT: root_ends(); break;
    }
    root_begins();
    free(event->bytes);
}

void tree_begin(uint64_t seed, unsigned places, unsigned fanout, unsigned partners)
{
    const uint32_t numbers = 4 * places + 256;
    sim = (struct tree_sim){.hosts = calloc(numbers, sizeof *sim.hosts),
                            .numbers = numbers,
                            .places = places,
                            .partners = partners,
                            .seed = seed,
                            .random = seed};
    sim.lives = (struct enl_lives){calloc(numbers, sizeof(struct enl_life *)), numbers};
    CHECK(sim.hosts != NULL && sim.lives.by_number != NULL && enl_plan_init(&sim.plan, fanout, places));
    sim.fanout = fanout;
    ends_begin(&sim.root, 0, NULL);
    for (uint32_t place = 0; place < places; place++)
        root_wants(place);
    root_begins();
}

void tree_run_until(uint64_t end_ms)
{
    struct event event;
    sim.quiet_ms = end_ms - 10000;
    while (clock_pop(end_ms, &event)) {
        sim.now_ms = event.at;
        act(&event);
    }
    sim.now_ms = end_ms;
}

void tree_finish(void)
{
    struct event event;
    while (clock_pop(UINT64_MAX, &event))
        free(event.bytes);
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        enl_sequence_drop(&sim.hosts[i].numbers);
        enl_sequence_drop(&sim.hosts[i].root_numbers);
        enl_routes_free(&sim.hosts[i].routes);
        ends_end(&sim.hosts[i].ends);
        enl_backup_drop(sim.hosts[i].backup);
    }
    ends_end(&sim.root);
    free(sim.hosts);
    free(sim.lives.by_number);
    enl_plan_fini(&sim.plan);
}
