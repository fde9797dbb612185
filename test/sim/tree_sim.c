/* SPDX-License-Identifier: MIT */
/* See tree_sim.h: who acts on what happens, and when. */
#include "tree_sim.h"

#include <stdlib.h>

#include "check.h"

struct tree_sim sim;

static void on_frame(struct event *event)
{
    struct host *host = &sim.hosts[event->host], *starter = &sim.hosts[host->life.starter];
    struct bcri_control message;
    if (event->kind >= LINK_UP && !way_is_through(event))
        return;
    CHECK_PTR(bcri_control_decode(event->bytes, event->length, &message), NULL);
    switch (event->kind) {
    case UP:
        if (!is_deep(host))
            root_takes(event->host, &message);
        else if (starter->runs)
            member_passes_up(starter, event->host, message);
        break;
    case LINK_UP: root_takes_of_link(host, &message); break;
    default:
        if (host->runs)
            member_takes(host, event->kind, &message);
    }
}

/* Who is to act on an event; 0: the root. */
static uint32_t actor(const struct event *event)
{
    switch (event->kind) {
    case DOWN:
    case LINK_DOWN:
    case TICK:
    case FINISH:
    case CAME:
    case ANSWERED_UP:
    case LOGIN:
    case STARTED:
    case ENDED_PIPE:
    case WORK: return event->host;
    case UP:
    case KILLED:
    case PUSHED:
    case CLOSED:
    case ENDED: return sim.hosts[event->host].life.starter;
    default: return 0;
    }
}

static void happen(struct event *event)
{
    struct host *host = &sim.hosts[event->host];
    switch (event->kind) {
    case UP:
    case DOWN:
    case LINK_UP:
    case LINK_DOWN: on_frame(event); break;
    case READ: root_has_read(host); break;
    case TICK: member_ticks(host); break;
    case FINISH:
        host->is_done = true;
        member_finishes(host);
        break;
    case ANSWERED_UP: way_answers(LINK_UP, event->host); break;
    case ANSWERED_DOWN: way_answers(LINK_DOWN, event->host); break;
    case CAME: member_looks_whether_all_came(host); break;
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
    case KILLED: command_ends(host, false); break;
    case PUSHED: member_tells_of_push(host); break;
    case WORK:
        if (host->runs && host->membership.state <= ENL_MEMBERSHIP_STOPPED)
            member_works(host);
        break;
    case INTERRUPT: root_ends(); break;
    case DISMISS:
    case NONSENSE: root_meddles(event->kind); break;
    case WANT:
        if (!sim.is_over)
            root_wants(sim.places + sim.last_wish);
        break;
    case PATIENCE: root_stops_itself(); break;
    case SUSPEND: root_stops(); break;
    case GO_ON:
        if (!sim.is_dead)
            root_goes_on();
        break;
    default: fault_happens(event->kind);
    }
}

/* Until when its actor stands still; what waits keeps its order, but the root reads what has come
 * before it looks at deadlines. */
static uint64_t stands_still_until(struct event *event, const struct host *by)
{
    if (by != NULL && event->kind == DOWN && by->runs && by->starts_ms > sim.now_ms)
        return by->starts_ms;
    if (by != NULL)
        return by->runs ? by->resumes : 0;
    if (event->kind >= SUSPEND)
        return 0;
    if (event->kind == INTERRUPT && sim.is_stopping)
        return sim.now_ms + 500;
    if (event->kind == LOOK && sim.root_until_ms > sim.now_ms)
        event->order = 0;
    return sim.root_until_ms;
}

static void act(struct event *event)
{
    const uint32_t number = actor(event);
    struct host *by = number != 0 ? &sim.hosts[number] : NULL;
    const uint64_t until_ms = stands_still_until(event, by);
    sim.acts++;
    if (until_ms > sim.now_ms) {
        event->at = until_ms;
        clock_push(*event);
        return;
    }
    if (by != NULL && by->is_up)
        member_ticks(by); /* timers come first */
    happen(event);
    if (sim.begins)
        root_begins();
    free(event->bytes);
}

void tree_begin(uint64_t seed, unsigned places, unsigned fanout, unsigned partners, bool has_cheap_keys)
{
    const uint32_t numbers = 4 * places + 256;
    sim = (struct tree_sim){.hosts = calloc(numbers, sizeof *sim.hosts),
                            .numbers = numbers,
                            .places = places,
                            .partners = partners,
                            .has_cheap_keys = has_cheap_keys,
                            .seed = seed,
                            .random = seed};
    sim.wishes = calloc(numbers, sizeof *sim.wishes);
    sim.lives = (struct enl_lives){.by_number = calloc(numbers, sizeof(struct enl_life *)), .room = numbers};
    TAILQ_INIT(&sim.lives.pending);
    CHECK(sim.hosts != NULL && sim.wishes != NULL && sim.lives.by_number != NULL &&
          enl_plan_init(&sim.plan, fanout));
    sim.fanout = fanout;
    ends_begin(&sim.root, 0, NULL);
    for (uint32_t place = 0; place < places; place++)
        root_wants(place);
    root_begins();
}

void tree_run_until(uint64_t end_ms)
{
    struct event event;
    sim.quiet_ms = end_ms - 40000;
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
        enl_routes_free(&sim.hosts[i].routes);
        ends_end(&sim.hosts[i].ends);
        enl_control_link_drop(sim.hosts[i].control_link);
    }
    ends_end(&sim.root);
    free(sim.hosts);
    free(sim.wishes);
    free(sim.lives.by_number);
    enl_plan_fini(&sim.plan);
}
