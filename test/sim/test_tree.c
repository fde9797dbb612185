/* SPDX-License-Identifier: MIT */
/* A program on 1,024 hosts in pretended time: daemons start each other as the plan says, pass frames on by their
 * tables, are killed and stand still at any time; hosts whose way is lost go over to the lane; each host is introduced
 * to 16 others, and the root to all. What decides is the daemons' own code: plan.c, routes.c, sequence.c, lease.h. What
 * carries frames, and who acts on what, is written again here, after parent.c, branch.c, starting.c and child_lane.c.
 *
 * To hold: a host that was neither killed nor stood still goes on, all that the root and a host have said to each
 * other has come once and in order, each introduction between hosts that live is made once at both ends, no host is
 * lost to others before it has ended by itself, and the tree has three levels at most. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lease.h"
#include "plan.h"
#include "routes.h"
#include "sequence.h"

enum { HOSTS = 1024, NUMBERS = 4 * HOSTS, PARTNERS = 16, FANOUT = 16, LINKS = 4 * PARTNERS, TIMEOUT = 30000 };

enum root_state { R_NONE, R_BEGUN, R_MET, R_UP, R_GONE };
enum kind { UP, DOWN, LANE_UP, LANE_DOWN, BEAT, LOOK, LOGIN, STARTED, ENDED_PIPE, CLOSED, KILL, STOP, WORK };

struct link {
    uint32_t other;
    unsigned made, lost,
        unknown; /* how often this end was made; was told that the other is lost, or not there yet */
};

struct host {
    /* the daemon itself */
    bool runs, is_up, was_killed, was_stopped, on_lane, seeks;
    uint32_t number, starter;
    uint64_t resumes; /* it stands still until then */
    struct enl_sequence numbers;
    struct enl_lease lease;
    struct enl_routes routes;
    struct link links[LINKS];
    unsigned link_count, wants, said, heard, passed, own;
    uint64_t last[8]; /* when the last frame comes, by way and row: none overtakes another */
    /* as the root knows it */
    enum root_state state;
    bool root_lane, cut_off, listens;
    uint32_t place;
    uint64_t heard_ms;
    struct enl_sequence root_numbers;
    unsigned root_said, root_heard, root_made;
};

struct event {
    uint64_t at, order;
    enum kind kind;
    uint32_t host;
    uint8_t *bytes;
    size_t length;
};

static struct host *hosts;
static uint32_t last_number;
static struct enl_plan plan;
static struct event *heap;
static size_t heap_count, heap_room;
static uint64_t now_ms, order, state;
static unsigned up_count, deepest, rounds_ms, lost_count, attached, frames;

/* ---- time ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

/* Those of one moment come in the order in which they were pushed first. */
static void push(struct event event)
{
    if (event.order == 0) {
        order++;
        event.order = order;
    }
    if (heap_count == heap_room) {
        heap_room = 2 * heap_room + 64;
        struct event *more = realloc(heap, heap_room * sizeof *heap);
        CHECK(more != NULL);
        heap = more;
    }
    size_t at = heap_count++;
    for (; at > 0 && is_before(&event, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = event;
}

static struct event pop(void)
{
    const struct event first = heap[0], last = heap[--heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap_count; at = child) {
        if (child + 1 < heap_count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
}

static void later(enum kind kind, uint32_t host, uint64_t after_ms)
{
    push((struct event){.at = now_ms + after_ms, .kind = kind, .host = host});
}

/* A frame by the pipe or lane between `host` and what is above it. */
static void post(enum kind kind, uint32_t host, const struct bcri_control *message)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    const unsigned row = enl_sequence_row(message->type) == ENL_ROW_OUTPUT;
    uint64_t *last = &hosts[host].last[2 * kind + row], at = now_ms + 1 + test_rand_below(&state, 3);
    const size_t length = bcri_control_encode(message, bytes, sizeof bytes);
    CHECK(length != 0);
    if ((kind == UP || kind == DOWN) &&
        at < hosts[host].last[2 * kind]) /* what is overtaken does not overtake */
        at = hosts[host].last[2 * kind];
    *last = at > *last ? at : *last;
    struct event event = {.at = *last, .kind = kind, .host = host, .length = length};
    CHECK((event.bytes = malloc(length)) != NULL);
    memcpy(event.bytes, bytes, length);
    push(event);
    frames++;
}

/* ---- ways ---- */

static void host_passes(void *owner, const struct bcri_control *message)
{
    struct host *host = owner;
    if (message->type == BCRI_MSG_beat && host->seeks && !host->on_lane)
        post(LANE_UP, host->number, message);
    post(host->on_lane ? LANE_UP : UP, host->number, message);
}

/* The host whose pipe, or lane, leads from the root to `number`. */
static uint32_t carrier(uint32_t number)
{
    while (!hosts[number].root_lane && hosts[number].starter != 0)
        number = hosts[number].starter;
    return number;
}

static void root_passes(void *owner, const struct bcri_control *message)
{
    const struct host *host = owner;
    struct bcri_control routed = *message;
    const uint32_t by = carrier(host->number);
    if (host->cut_off)
        return;
    if (by != host->number) {
        routed.present |= BCRI_HAS(to);
        routed.to = host->number;
    }
    post(hosts[by].root_lane ? LANE_DOWN : DOWN, by, &routed);
}

static bool is_numbered(const struct host *host)
{
    return host->starter != 0;
}

static void say(struct host *host, struct bcri_control message)
{
    host->own++;
    if (is_numbered(host) && host->is_up)
        CHECK(enl_sequence_send(&host->numbers, &message));
    else
        host_passes(host, &message);
}

static void root_says(struct host *host, struct bcri_control message)
{
    if (is_numbered(host) && host->state == R_UP)
        CHECK(enl_sequence_send(&host->root_numbers, &message));
    else
        root_passes(host, &message);
}

static struct bcri_control of_host(enum bcri_control_type type, uint32_t number)
{
    return (struct bcri_control){.type = type, .present = BCRI_HAS(host), .host = number};
}

/* ---- the root ---- */

static void root_begins(void);

static void root_says_lost(struct host *host, uint32_t number, bool is_unknown)
{
    struct bcri_control lost = of_host(BCRI_MSG_lost, number);
    lost.present |= BCRI_HAS(flags);
    lost.flags = is_unknown ? BCRI_LOST_UNKNOWN : 0;
    root_says(host, lost);
}

static void want(uint32_t place)
{
    struct host *host = &hosts[++last_number];
    CHECK(last_number < NUMBERS);
    *host = (struct host){.number = last_number, .place = place};
    host->numbers = (struct enl_sequence){.pass = host_passes, .owner = host};
    host->root_numbers = (struct enl_sequence){.pass = root_passes, .owner = host};
    CHECK(enl_plan_want(&plan, &(struct enl_plan_host){.number = last_number, .sshd = place}));
}

static void root_begins(void)
{
    uint32_t number, by;
    while (enl_plan_next(&plan, &number, &by)) {
        struct host *host = &hosts[number];
        host->state = R_BEGUN;
        host->starter = by;
        if (by == 0)
            later(LOGIN, number, 100 + test_rand_below(&state, 200));
        else {
            struct bcri_control begin = of_host(BCRI_MSG_begin, number);
            begin.present |= BCRI_HAS(machine) | BCRI_HAS(flags);
            begin.machine = bcri_view_of("host");
            root_says(&hosts[by], begin);
        }
    }
}

static bool hangs_on(const struct host *other, uint32_t number)
{
    while (!other->root_lane && other->starter != 0 && other->starter != number)
        other = &hosts[other->starter];
    return !other->root_lane && other->starter == number;
}

static void root_loses(struct host *host);

/* All whose way leads by that host have none now. */
static void way_ends(uint32_t number)
{
    const uint32_t last = last_number;
    enl_plan_ends(&plan, number);
    for (uint32_t i = 1; i <= last; i++)
        if (i != number && hosts[i].state == R_UP && hangs_on(&hosts[i], number))
            enl_plan_ends(&plan, i);
    for (uint32_t i = 1; i <= last; i++) {
        struct host *other = &hosts[i];
        if (i == number || other->state == R_NONE || other->state == R_GONE || other->cut_off ||
            !hangs_on(other, number))
            continue;
        other->cut_off = other->listens = true;
        if (other->state != R_UP)
            root_loses(other);
    }
}

static struct link *link_of(struct host *host, uint32_t other)
{
    for (unsigned i = 0; i < host->link_count; i++)
        if (host->links[i].other == other)
            return &host->links[i];
    if (host->link_count == LINKS)
        return NULL;
    host->links[host->link_count] = (struct link){.other = other};
    return &host->links[host->link_count++];
}

static void root_loses(struct host *host)
{
    const bool was_up = host->state == R_UP;
    if (was_up && !host->was_killed && !host->was_stopped)
        FAIL("host %u is lost, which was neither killed nor stood still", host->number);
    /* Whoever may still work has a lease, and nobody may act on its death before that is over. */
    if (was_up && host->runs && host->resumes <= now_ms)
        CHECK(enl_lease_is_over(&host->lease, now_ms));
    host->state = R_GONE;
    way_ends(host->number);
    enl_plan_gone(&plan, host->number);
    host->runs = false; /* its process is cut; or it has ended by itself, or will as soon as it goes on */
    if (was_up) {
        lost_count++;
        for (uint32_t i = 1; i <= last_number; i++)
            if (hosts[i].state == R_UP)
                root_says_lost(&hosts[i], host->number, false);
    } else {
        want(host->place);
    }
    root_begins();
}

static void root_attaches(struct host *host)
{
    attached++;
    host->root_lane = true;
    host->cut_off = false;
    enl_plan_ends(&plan, host->number);
    enl_sequence_ask(&host->root_numbers);
    for (uint32_t i = 1; i <= last_number; i++) {
        struct host *other = &hosts[i];
        if (i == host->number || other->state == R_NONE || other->state == R_GONE ||
            !hangs_on(other, host->number))
            continue;
        if (other->state != R_UP) {
            root_loses(other);
            continue;
        }
        enl_plan_ends(&plan, i);
        other->cut_off = false;
        enl_sequence_ask(&other->root_numbers);
    }
}

static struct bcri_control random_of(enum bcri_control_type type, uint32_t number)
{
    static const char bytes[33] = "................................";
    struct bcri_control message = of_host(type, number);
    message.present |= BCRI_HAS(random);
    message.random = (struct bcri_view){bytes, 32};
    if (type == BCRI_MSG_introduce || type == BCRI_MSG_introduced) {
        message.present |= BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags);
        message.key = message.random;
    }
    return message;
}

static void root_dispatches(struct host *host, const struct bcri_control *message)
{
    struct host *other = message->host <= last_number ? &hosts[message->host] : NULL;
    switch (message->type) {
    case BCRI_MSG_present:
        host->state = R_MET;
        enl_plan_met(&plan, host->number);
        root_says(host,
                  (struct bcri_control){.type = BCRI_MSG_end}); /* start, in place of all that begins it */
        root_begins();
        break;
    case BCRI_MSG_reply:
        host->state = R_UP;
        host->heard_ms = now_ms;
        up_count++;
        rounds_ms = (unsigned)now_ms;
        deepest =
            enl_plan_level(&plan, host->number) > deepest ? enl_plan_level(&plan, host->number) : deepest;
        enl_plan_up(&plan, host->number);
        later(LOOK, host->number, enl_lease_unrest(TIMEOUT) + 1);
        root_says(host, random_of(BCRI_MSG_introduce, 0)); /* the root wants a link to all */
        root_begins();
        break;
    case BCRI_MSG_beat: {
        struct bcri_control answer = {.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = message->id};
        if (is_numbered(host))
            enl_sequence_tell(&host->root_numbers, &answer);
        root_says(host, answer);
        host->heard_ms = now_ms;
        break;
    }
    case BCRI_MSG_want:
        if (other->state == R_UP)
            root_says(other, random_of(BCRI_MSG_introduce, host->number));
        else
            root_says_lost(host, message->host, other->state != R_GONE);
        break;
    case BCRI_MSG_agreed:
        if (message->host == 0)
            host->root_made++;
        else if (other->state == R_UP)
            root_says(other, random_of(BCRI_MSG_introduced, host->number));
        break;
    case BCRI_MSG_output: CHECK_UINT(message->ordinal, host->root_heard++); break;
    case BCRI_MSG_closed:
        if (other->state != R_GONE && !other->root_lane)
            root_loses(other);
        break;
    default: FAIL("the root gets a message of type %s", bcri_control_name(message->type));
    }
}

static void root_takes(uint32_t by, const struct bcri_control *message)
{
    const uint32_t from = (message->present & BCRI_HAS(from)) != 0 ? message->from : by;
    struct host *host = &hosts[from];
    if (host->state == R_GONE || host->cut_off || carrier(from) != by)
        return; /* late */
    if (is_numbered(host) && host->state == R_UP) {
        const enum enl_sequence_verdict verdict = enl_sequence_came(&host->root_numbers, message);
        CHECK(verdict != ENL_SEQUENCE_NONSENSE);
        if (verdict == ENL_SEQUENCE_DROP)
            return;
    }
    root_dispatches(host, message);
}

/* ---- a host ---- */

static void host_dispatches(struct host *host, const struct bcri_control *message)
{
    uint64_t sent_ms;
    struct link *link;
    switch (message->type) {
    case BCRI_MSG_end: later(STARTED, host->number, 20); break;
    case BCRI_MSG_begin:
        CHECK(enl_routes_add(&host->routes, message->host, message->host));
        later(LOGIN, message->host, 100 + test_rand_below(&state, 200));
        break;
    case BCRI_MSG_beat:
        if (enl_lease_sent(&host->lease, message->id, &sent_ms))
            enl_lease_extend(&host->lease, sent_ms, TIMEOUT);
        break;
    case BCRI_MSG_introduce:
        if (message->host != 0 && (link = link_of(host, message->host)) != NULL)
            link->made++;
        say(host, random_of(BCRI_MSG_agreed, message->host));
        break;
    case BCRI_MSG_introduced:
        link = link_of(host, message->host);
        CHECK(link != NULL);
        link->made++;
        break;
    case BCRI_MSG_lost:
        for (unsigned i = 0; i < host->link_count; i++)
            if (host->links[i].other == message->host)
                (*(message->flags == 0 ? &host->links[i].lost : &host->links[i].unknown))++;
        break;
    default: FAIL("a host gets a message of type %s", bcri_control_name(message->type));
    }
}

static void host_takes(struct host *host, const struct bcri_control *message)
{
    if ((message->present & BCRI_HAS(to)) != 0 && message->to != host->number) {
        const uint32_t neighbour = enl_routes_find(&host->routes, message->to);
        host->passed++;
        if (neighbour == 0)
            return;
        if (message->type == BCRI_MSG_begin)
            CHECK(enl_routes_add(&host->routes, message->host, neighbour));
        post(DOWN, neighbour, message);
        return;
    }
    if (is_numbered(host) && host->is_up) {
        const enum enl_sequence_verdict verdict = enl_sequence_came(&host->numbers, message);
        CHECK(verdict != ENL_SEQUENCE_NONSENSE);
        if (verdict == ENL_SEQUENCE_DROP)
            return;
    }
    host_dispatches(host, message);
}

static void beat(struct host *host)
{
    struct bcri_control message = {
        .type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = enl_lease_beat(&host->lease, now_ms)};
    if (is_numbered(host))
        enl_sequence_tell(&host->numbers, &message);
    say(host, message);
}

static void end_host(struct host *host)
{
    host->runs = false;
    for (uint32_t i = 1; i <= last_number; i++)
        if (hosts[i].starter == host->number && hosts[i].runs)
            later(ENDED_PIPE, i, 1 + test_rand_below(&state, 3));
    later(CLOSED, host->number, 1 + test_rand_below(&state, 3));
}

static void on_beat(struct host *host)
{
    if (enl_lease_is_over(&host->lease, now_ms)) {
        end_host(host);
        return;
    }
    host->seeks |= is_numbered(host) && enl_lease_is_silent(&host->lease, now_ms, TIMEOUT);
    beat(host);
    later(BEAT, host->number, host->seeks && !host->on_lane ? TIMEOUT / 16 : TIMEOUT / 4);
}

/* Wants a link to one more, and prints. */
static void on_work(struct host *host)
{
    struct bcri_control line = {
        .type = BCRI_MSG_output, .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(bytes), .kind = 1};
    line.ordinal = host->said++;
    line.bytes = bcri_view_of("line");
    say(host, line);
    const uint32_t other = (uint32_t)test_rand_below(&state, last_number) + 1;
    if (host->wants < PARTNERS && other != host->number && hosts[other].place != host->place) {
        bool is_known = false;
        for (unsigned i = 0; i < host->link_count; i++)
            is_known |= host->links[i].other == other;
        if (!is_known && link_of(host, other) != NULL) {
            host->wants++;
            say(host, random_of(BCRI_MSG_want, other));
        }
    }
    if (host->wants < PARTNERS)
        later(WORK, host->number, 200 + test_rand_below(&state, 2000));
}

/* ---- what happens ---- */

static void on_look(struct host *host)
{
    const uint64_t age = now_ms - host->heard_ms, patience = enl_lease_patience(TIMEOUT);
    if (host->state != R_UP)
        return;
    host->listens |= age > enl_lease_unrest(TIMEOUT);
    if (age > patience)
        root_loses(host);
    else
        later(LOOK, host->number, host->listens ? patience - age + 1 : enl_lease_unrest(TIMEOUT) - age + 1);
}

static void on_frame(const struct event *event)
{
    struct host *host = &hosts[event->host], *starter = &hosts[host->starter];
    struct bcri_control message;
    CHECK_PTR(bcri_control_decode(event->bytes, event->length, &message), NULL);
    switch (event->kind) {
    case UP:
        if (host->starter == 0) {
            root_takes(event->host, &message);
        } else if (starter->runs) {
            starter->passed++;
            if ((message.present & BCRI_HAS(from)) == 0) {
                message.present |= BCRI_HAS(from);
                message.from = event->host;
            }
            if (enl_routes_find(&starter->routes, message.from) == event->host)
                post(starter->on_lane ? LANE_UP : UP, starter->number, &message);
        }
        break;
    case LANE_UP:
        if (host->state != R_UP || !host->listens)
            return;
        if (!host->root_lane && (message.type != BCRI_MSG_beat || (message.present & BCRI_HAS(from)) != 0))
            return;
        if (!host->root_lane)
            root_attaches(host);
        root_takes(event->host, &message);
        break;
    default:
        if (event->kind == LANE_DOWN && !host->on_lane && message.type != BCRI_MSG_resume)
            return;
        if (event->kind == DOWN && host->on_lane)
            return; /* its pipes are closed */
        host->on_lane |= event->kind == LANE_DOWN;
        if (host->runs)
            host_takes(host, &message);
    }
}

/* Who is to act on an event; the root never stands still. */
static uint32_t actor(const struct event *event)
{
    switch (event->kind) {
    case UP: return hosts[event->host].starter;
    case LANE_UP:
    case LOOK:
    case KILL:
    case STOP: return 0;
    case CLOSED: return hosts[event->host].starter;
    default: return event->host;
    }
}

static void on_started(struct host *host)
{
    say(host, (struct bcri_control){.type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status)});
    host->is_up = true;
    enl_lease_extend(&host->lease, now_ms, TIMEOUT);
    later(BEAT, host->number, test_rand_below(&state, TIMEOUT / 4));
    later(WORK, host->number, 500 + test_rand_below(&state, 3000));
}

static void on_login(struct host *host)
{
    if (host->state != R_BEGUN || (host->starter != 0 && !hosts[host->starter].runs))
        return;
    host->runs = true;
    say(host, (struct bcri_control){.type = BCRI_MSG_present,
                                    .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                               BCRI_HAS(archtype),
                                    .machine = bcri_view_of("host"),
                                    .text = bcri_view_of("station"),
                                    .object = bcri_view_of("abi")});
}

static void on_ended_pipe(struct host *host)
{
    if (!host->runs || host->on_lane)
        return;
    if (!host->is_up || !is_numbered(host)) {
        end_host(host);
        return;
    }
    host->seeks = host->on_lane = true;
    enl_sequence_hold(&host->numbers);
    beat(host);
}

static void on_closed(struct host *host)
{
    struct host *starter = &hosts[host->starter];
    if (host->starter == 0) {
        if (host->state != R_GONE)
            root_loses(host);
    } else if (starter->runs && !host->on_lane) {
        struct bcri_control closed = of_host(BCRI_MSG_closed, host->number);
        closed.present |= BCRI_HAS(text);
        closed.text = bcri_view_of("its pipe has ended");
        say(starter, closed);
    }
}

static void on_fault(enum kind kind)
{
    struct host *host = &hosts[1 + test_rand_below(&state, last_number)];
    if (!host->runs)
        return;
    if (kind == KILL) {
        host->was_killed = true;
        end_host(host);
        return;
    }
    host->was_stopped = true;
    host->resumes = now_ms + 1000 + test_rand_below(&state, 2 * TIMEOUT);
}

static void act(struct event *event)
{
    const uint32_t by = actor(event);
    struct host *host = &hosts[event->host];
    if (by != 0 && hosts[by].resumes > now_ms && hosts[by].runs) { /* it stands still; order is kept */
        event->at = hosts[by].resumes;
        push(*event);
        return;
    }
    switch (event->kind) {
    case UP:
    case DOWN:
    case LANE_UP:
    case LANE_DOWN: on_frame(event); break;
    case BEAT:
        if (host->runs)
            on_beat(host);
        break;
    case LOOK: on_look(host); break;
    case LOGIN: on_login(host); break;
    case STARTED:
        if (host->runs)
            on_started(host);
        break;
    case ENDED_PIPE: on_ended_pipe(host); break;
    case CLOSED: on_closed(host); break;
    case WORK:
        if (host->runs)
            on_work(host);
        break;
    case KILL:
    case STOP: on_fault(event->kind); break;
    }
    free(event->bytes);
}

/* ---- a run ---- */

static void begin(uint64_t seed)
{
    hosts = calloc(NUMBERS, sizeof *hosts);
    CHECK(hosts != NULL && enl_plan_init(&plan, FANOUT, HOSTS));
    now_ms = order = heap_count = last_number = 0;
    up_count = deepest = lost_count = attached = frames = 0;
    state = seed;
    for (uint32_t place = 0; place < HOSTS; place++)
        want(place);
    root_begins();
}

static void run_until(uint64_t end_ms)
{
    while (heap_count != 0 && heap[0].at <= end_ms) {
        struct event event = pop();
        now_ms = event.at;
        act(&event);
    }
    now_ms = end_ms;
}

static void finish(void)
{
    while (heap_count != 0)
        free(pop().bytes);
    for (uint32_t i = 1; i <= last_number; i++) {
        enl_sequence_drop(&hosts[i].numbers);
        enl_sequence_drop(&hosts[i].root_numbers);
        enl_routes_free(&hosts[i].routes);
    }
    free(hosts);
    enl_plan_fini(&plan);
}

static void look_at(struct host *host)
{
    for (int row = 0; row < ENL_ROWS && is_numbered(host); row++) {
        CHECK_UINT(host->root_numbers.row[row].had, host->numbers.row[row].given);
        CHECK_UINT(host->numbers.row[row].had, host->root_numbers.row[row].given);
    }
    CHECK_UINT(host->root_heard, host->said);
    CHECK_UINT(host->root_made, 1);
    CHECK_UINT(host->wants, PARTNERS);
    for (unsigned i = 0; i < host->link_count; i++) {
        const struct link *link = &host->links[i];
        struct host *other = &hosts[link->other];
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
    begin(seed);
    for (unsigned i = 0; i < kills; i++)
        later(KILL, 1, test_rand_below(&state, i % 2 == 0 ? 1200 : 60000)); /* while they start, or later */
    for (unsigned i = 0; i < stops; i++)
        later(STOP, 1, test_rand_below(&state, i % 2 == 0 ? 1200 : 60000));
    run_until(300000);
    for (uint32_t i = 1; i <= last_number; i++) {
        struct host *host = &hosts[i];
        killed_or_stopped += host->state == R_GONE;
        if (host->state == R_GONE)
            continue;
        CHECK_INT(host->state, R_UP);
        CHECK(host->runs);
        look_at(host);
        most_own = host->own > most_own ? host->own : most_own;
    }
    printf("%u hosts up, %u lost, %u over the lane, %u levels, all up after %u ms, %u frames, %u messages of "
           "a host\n",
           up_count, lost_count, attached, deepest, rounds_ms, frames, most_own);
    if (kills == 0 && stops == 0) {
        for (uint32_t i = 1; i <= last_number; i++) {
            /* What a host says itself grows with its partners and with time, not with the number of hosts: present and
             * reply, want or agreed, what it prints, beats. */
            const struct host *host = &hosts[i];
            CHECK(host->own <= 3 + 2 * host->link_count + host->said + now_ms / (TIMEOUT / 4) + 1);
            CHECK(host->link_count < LINKS);
        }
        CHECK_UINT(up_count, HOSTS);
        CHECK_UINT(lost_count + attached + killed_or_stopped, 0);
        CHECK(deepest <= 3);
    }
    finish();
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
