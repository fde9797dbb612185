/* SPDX-License-Identifier: MIT */
/* The ways of tree_sim.h: what the root and a host say to each other, the frames, and by whom they
 * go. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tree_sim.h"

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

/* UDP brings the link's packets, or the pipes do where that is blocked. What is lost is sent
 * again, unless the sender stands still. */
static uint64_t brings_ms(const struct host *host, enum kind kind)
{
    const uint64_t blocked_ms = host->ways[kind].blocked_ms;
    if (blocked_ms <= sim.now_ms)
        return sim.now_ms;
    const uint64_t pipes_ms = pipes_bring_ms(host, kind),
                   least_ms = pipes_ms < blocked_ms ? pipes_ms : blocked_ms;
    return later_of(least_ms, kind == LINK_UP ? host->resumes : sim.root_until_ms);
}

/* Whether the other end has been made, and speaks, or will: the root's end sends nothing before it
 * has had something. */
static bool has_ends(const struct host *host, enum kind kind)
{
    return kind == LINK_UP ? host->has_end : host->ways[LINK_UP].came != 0;
}

bool way_is_through(struct event *event)
{
    struct host *host = &sim.hosts[event->host];
    struct way *way = &host->ways[event->kind];
    const bool is_open = enl_lives_find(&sim.lives, event->host) != NULL && enl_life_has_way(&host->life);
    uint64_t at = brings_ms(host, event->kind);
    if (at <= sim.now_ms && is_open && !has_ends(host, event->kind))
        at = sim.now_ms + 20; /* packets are sent again */
    at = later_of(at, way->held_ms);
    const bool is_on_its_way = at <= sim.now_ms, has_sender = event->kind == LINK_UP ? host->runs : is_open;
    way->is_broken |= !is_open || (!is_on_its_way && !has_sender);
    if (way->is_broken)
        return false;
    if (is_on_its_way) {
        way->came++;
        return true;
    }
    host->is_excused |= at > sim.now_ms + HARMLESS;
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
