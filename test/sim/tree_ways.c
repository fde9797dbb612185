/* SPDX-License-Identifier: MIT */
/* The ways of tree_sim.h: what the root and a host say to each other, the frames, and by whom they
 * go. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tree_sim.h"

/* What is lost in a control link is sent again after that; silence there is told after that. */
enum { AGAIN_MSEC = 100, SILENCE = TIMEOUT / 2 };

static const char *name_of(enum kind kind)
{
    static const char *const names[] = {"up", "down", "link up", "link down"};
    return names[kind];
}

/* CCEs' output is overtaken by all else in pipes; in a control link either of the two rows may
 * overtake the other, and what a starter tells goes with output, behind what it follows from. */
static unsigned row_of(enum kind kind, enum bcri_control_type type)
{
    const bool tells = type == BCRI_MSG_closed || type == BCRI_MSG_ended || type == BCRI_MSG_said;
    return type == BCRI_MSG_output || (tells && kind >= LINK_UP);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* An answer to what is sent now is due, and as paths.c has it, something new is sent. */
static void will_wait(struct way *way)
{
    if (way->waits_ms == BCRI_LANE_NOTHING_WAITS)
        way->waits_ms = sim.now_ms;
    if (bcri_lane_way_has_waited(sim.now_ms, way->waits_ms, way->heard_ms, SILENCE / BCRI_LANE_TRIES))
        way->lane.heard = false;
}

void way_post(enum kind kind, uint32_t number, const struct bcri_control *message)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    struct host *host = &sim.hosts[number];
    struct way *way = &host->ways[kind];
    const unsigned row = row_of(kind, message->type);
    uint64_t at = sim.now_ms + 1 + test_rand_below(&sim.random, 3) + way->lag_ms;
    if (kind < LINK_UP && (!host->has_pipe || (kind == DOWN && host->is_stuck)))
        return;
    const size_t length = bcri_control_encode(message, bytes, sizeof bytes);
    sim_trace("  way %s of host %u: %s of host %u, for %u, by %u", name_of(kind), number,
              bcri_control_name(message->type), message->host, message->to, message->from);
    CHECK(length != 0);
    if (kind < LINK_UP) /* what is overtaken does not overtake */
        at = later_of(later_of(at, way->last_ms[0]), way->blocked_ms);
    way->last_ms[row] = later_of(at, way->last_ms[row]);
    if (kind >= LINK_UP)
        will_wait(way);
    way->posted++;
    way->words = message->type == BCRI_MSG_beat ? way->words : way->posted;
    struct event event = {.at = way->last_ms[row], .kind = kind, .host = number, .length = length};
    CHECK((event.bytes = malloc(length)) != NULL);
    memcpy(event.bytes, bytes, length);
    clock_push(event);
    sim.frames++;
}

uint64_t way_behind_ms(enum kind kind, const struct host *host)
{
    const struct way *way = &host->ways[kind];
    const uint64_t last_ms = later_of(way->last_ms[0], way->last_ms[1]), soon_ms = sim.now_ms + 3;
    return last_ms < sim.now_ms ? sim.now_ms : last_ms < soon_ms ? last_ms : soon_ms;
}

/* ---- control links ---- */

/* When the pipes between that host and the root bring something in that direction, for all that is
 * known. UINT64_MAX: never. */
static uint64_t pipes_bring_ms(const struct host *host, enum kind kind)
{
    uint64_t at = sim.now_ms;
    for (const struct host *below = host;; below = &sim.hosts[below->life.starter]) {
        if (!below->has_pipe || (kind == LINK_DOWN && below->is_stuck))
            return UINT64_MAX;
        at = later_of(at, below->ways[kind == LINK_UP ? UP : DOWN].blocked_ms);
        if (!is_deep(below))
            return at;
        at = later_of(at, sim.hosts[below->life.starter].resumes);
    }
}

static enum kind back_of(enum kind kind)
{
    return kind == LINK_UP ? LINK_DOWN : LINK_UP;
}

/* The sender of that direction. */
static uint64_t stands_still_until(const struct host *host, enum kind kind)
{
    return kind == LINK_UP ? host->resumes : sim.root_until_ms;
}

/* Whether a packet that is sent now gets through, and by which way: the product decides whether it
 * is sent through the tree. */
static bool passes(struct host *host, enum kind kind, bool *by_udp)
{
    struct way *way = &host->ways[kind];
    const bool pipes_bring = pipes_bring_ms(host, kind) <= sim.now_ms;
    const bool by_tree = bcri_lane_way_sends(&way->lane, sim.now_ms, way->waits_ms, SILENCE) && pipes_bring;
    *by_udp = way->blocked_ms <= sim.now_ms;
    way->closed_ms = *by_udp || pipes_bring ? 0 : way->closed_ms != 0 ? way->closed_ms : sim.now_ms;
    host->is_excused |= way->closed_ms != 0 && sim.now_ms > way->closed_ms + HARMLESS;
    return *by_udp || by_tree;
}

/* The receiver, which sends in the other direction, has had something new. */
static void has_come(struct host *host, enum kind kind, bool by_udp)
{
    struct way *back = &host->ways[back_of(kind)], *way = &host->ways[kind];
    bcri_lane_way_came(&back->lane, by_udp);
    back->heard_ms = sim.now_ms;
    way->came++;
    if (way->has_answer)
        return;
    way->has_answer = true;
    clock_later(kind == LINK_UP ? ANSWERED_UP : ANSWERED_DOWN, host->life.number, 1 + back->lag_ms);
}

static bool receives(const struct host *host, enum kind kind)
{
    return kind == LINK_DOWN
               ? host->runs
               : enl_lives_find(&sim.lives, host->life.number) != NULL && enl_life_has_way(&host->life);
}

void way_answers(enum kind kind, uint32_t number)
{
    bool by_udp = false;
    struct host *host = &sim.hosts[number];
    struct way *way = &host->ways[kind];
    const uint64_t until_ms = stands_still_until(host, back_of(kind));
    const bool waits = until_ms > sim.now_ms || !passes(host, back_of(kind), &by_udp);
    if (waits && receives(host, kind)) { /* what it answers comes again */
        clock_push((struct event){.at = later_of(until_ms, sim.now_ms + AGAIN_MSEC),
                                  .kind = kind == LINK_UP ? ANSWERED_UP : ANSWERED_DOWN,
                                  .host = number});
        host->troubled_ms = later_of(host->troubled_ms, sim.now_ms + AGAIN_MSEC);
        return;
    }
    way->has_answer = false;
    if (waits)
        return;
    bcri_lane_way_came(&way->lane, by_udp);
    way->heard_ms = sim.now_ms;
    way->answered = way->came;
    way->waits_ms = way->answered == way->posted ? BCRI_LANE_NOTHING_WAITS : sim.now_ms;
    if (kind == LINK_UP)
        member_looks_whether_all_came(host);
}

/* Whether the other end has been made, and speaks, or will: the root's end sends nothing before it
 * has had something. */
static bool has_ends(const struct host *host, enum kind kind)
{
    return kind == LINK_UP ? host->has_end : host->ways[LINK_UP].came != 0;
}

/* When that frame is to be tried again; not later than now: it has passed. */
static uint64_t tries_again_ms(struct host *host, enum kind kind, bool is_open, bool *by_udp)
{
    const struct way *way = &host->ways[kind];
    if (is_open && !has_ends(host, kind))
        return sim.now_ms + 20; /* packets are sent again */
    if (way->held_ms > sim.now_ms)
        return way->held_ms;
    return passes(host, kind, by_udp) ? sim.now_ms
                                      : later_of(sim.now_ms + AGAIN_MSEC, stands_still_until(host, kind));
}

bool way_is_through(struct event *event)
{
    bool by_udp = false;
    struct host *host = &sim.hosts[event->host];
    struct way *way = &host->ways[event->kind];
    const bool is_open = enl_lives_find(&sim.lives, event->host) != NULL && enl_life_has_way(&host->life);
    const uint64_t at = tries_again_ms(host, event->kind, is_open, &by_udp);
    const bool is_on_its_way = at <= sim.now_ms, has_sender = event->kind == LINK_UP ? host->runs : is_open;
    way->is_broken |= !is_open || (!is_on_its_way && !has_sender);
    if (way->is_broken)
        return false;
    if (is_on_its_way) {
        has_come(host, event->kind, by_udp);
        return true;
    }
    host->troubled_ms = later_of(host->troubled_ms, at);
    event->at = way->held_ms = at;
    clock_push(*event);
    event->bytes = NULL;
    return false;
}

/* ---- what is said ---- */

void member_says(struct host *host, struct bcri_control message)
{
    host->says++;
    way_post(host->by_link ? LINK_UP : UP, host->life.number, &message);
}

/* Once the root has its end of a control link nothing is sent to that host by pipes any more. */
void root_says(struct host *host, struct bcri_control message)
{
    host->root_says++;
    if (!enl_life_has_way(&host->life))
        return;
    if (host->has_end) {
        way_post(LINK_DOWN, host->life.number, &message);
        return;
    }
    const struct enl_life *top = enl_lives_highest(&sim.lives, &host->life, 0);
    if (top == NULL || !enl_life_has_way(top))
        return;
    if (top != &host->life) {
        message.present |= BCRI_HAS(to);
        message.to = host->life.number;
    }
    way_post(DOWN, top->number, &message);
}

struct bcri_control message_of(enum bcri_control_type type, uint32_t number)
{
    return (struct bcri_control){.type = type, .present = BCRI_HAS(host), .host = number};
}
