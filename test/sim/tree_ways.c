/* SPDX-License-Identifier: MIT */
/* The ways of tree_sim.h: what the root and a host say to each other, the frames, and by whom they go. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tree_sim.h"

void way_post(enum kind kind, uint32_t host, const struct bcri_control *message)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    const unsigned row = enl_sequence_row(message->type) == ENL_ROW_OUTPUT;
    uint64_t *last = &sim.hosts[host].last[2 * kind + row],
             at = sim.now_ms + 1 + test_rand_below(&sim.random, 3);
    const size_t length = bcri_control_encode(message, bytes, sizeof bytes);
    sim_trace("  way %s%s of host %u: %s of host %u, number %llu, for %u, by %u",
              kind == LANE_UP || kind == LANE_DOWN ? "link " : "",
              kind == UP || kind == LANE_UP ? "up" : "down", host, bcri_control_name(message->type),
              message->host, (unsigned long long)message->seq, message->to, message->from);
    CHECK(length != 0);
    if ((kind == UP || kind == DOWN) &&
        at < sim.hosts[host].last[2 * kind]) /* what is overtaken does not overtake */
        at = sim.hosts[host].last[2 * kind];
    at = at > sim.hosts[host].blocked[kind] ? at : sim.hosts[host].blocked[kind];
    *last = at > *last ? at : *last;
    struct event event = {.at = *last, .kind = kind, .host = host, .length = length};
    CHECK((event.bytes = malloc(length)) != NULL);
    memcpy(event.bytes, bytes, length);
    clock_push(event);
    sim.frames++;
}

void way_up(void *owner, const struct bcri_control *message)
{
    struct host *host = owner;
    host->sent++;
    host->asks += message->type == BCRI_MSG_resume;
    if (message->type == BCRI_MSG_beat && host->seeks && !host->on_control_link)
        way_post(LANE_UP, host->life.number, message);
    way_post(host->on_control_link ? LANE_UP : UP, host->life.number, message);
}

void way_down(void *owner, const struct bcri_control *message)
{
    struct host *host = owner;
    struct bcri_control routed = *message;
    const struct enl_life *by = enl_lives_carrier(&sim.lives, &host->life);
    host->root_sent++;
    if (by == NULL || enl_life_is_cut_off(&host->life))
        return;
    if (by != &host->life) {
        routed.present |= BCRI_HAS(to);
        routed.to = host->life.number;
    }
    way_post(enl_life_is_linked(by) ? LANE_DOWN : DOWN, by->number, &routed);
}

bool way_is_numbered(const struct host *host)
{
    return host->life.starter != 0;
}

void member_says(struct host *host, struct bcri_control message)
{
    host->says++;
    if (way_is_numbered(host) && host->is_up)
        CHECK(enl_sequence_send(&host->numbers, &message));
    else
        way_up(host, &message);
}

void root_says(struct host *host, struct bcri_control message)
{
    host->root_says++;
    if (host->life.is_numbered)
        CHECK(enl_sequence_send(&host->root_numbers, &message));
    else
        way_down(host, &message);
}

struct bcri_control message_of(enum bcri_control_type type, uint32_t number)
{
    return (struct bcri_control){.type = type, .present = BCRI_HAS(host), .host = number};
}
