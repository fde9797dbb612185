/* SPDX-License-Identifier: MIT */
/* lane_way.h -- By which ways the packets of a link of the tree's lane (a control link) go, as one of its two ends has it: by UDP
 * always, and through the tree of daemons, too, as long as UDP is in doubt. What comes twice does no harm.
 *
 * It is in doubt as long as nothing has come by UDP, or what came last came through the tree alone; and for a while after something
 * that was sent had no answer. UDP may be blocked in one direction, and neither side sees both: what a side hears says nothing of
 * what is heard of it.
 *
 * Pure: no socket and no clock. packets_in.c, packets_out.c and paths.c use it, and test/sim/tree_ways.c in pretended time. Times are
 * in one unit, whichever. */
#ifndef BCRI_LANE_WAY_H
#define BCRI_LANE_WAY_H

#include <stdbool.h>
#include <stdint.h>

/* Parts of the silence that is told of a link (half of hosttimeout): without an answer for the first it is in doubt; for the second,
 * and when something new is sent, as if nothing had come by UDP; for the third, that in any case. */
enum { BCRI_LANE_DOUBTS = 16, BCRI_LANE_TRIES = 8, BCRI_LANE_SILENT = 2 };

#define BCRI_LANE_NOTHING_WAITS UINT64_MAX

struct bcri_lane_way {
    bool heard; /* what came last came by UDP */
    uint64_t doubts_until;
};

/* Something new has come. That its copy by UDP has come too, later, is told like that. */
static inline void bcri_lane_way_came(struct bcri_lane_way *way, bool by_udp)
{
    way->heard = by_udp;
}

/* Something is sent. `waits`: when the oldest was sent that has no answer. Returns whether it goes through the tree, too. */
static inline bool bcri_lane_way_sends(struct bcri_lane_way *way, uint64_t now, uint64_t waits,
                                       uint64_t silence)
{
    if (waits != BCRI_LANE_NOTHING_WAITS && now > waits + silence / BCRI_LANE_DOUBTS)
        way->doubts_until = now + silence;
    return !way->heard || now < way->doubts_until;
}

/* Whether an answer is due, and nothing has come, for so long. `heard`: when anything came last. */
static inline bool bcri_lane_way_has_waited(uint64_t now, uint64_t waits, uint64_t heard, uint64_t time)
{
    const uint64_t since = waits > heard ? waits : heard;
    return time != 0 && waits != BCRI_LANE_NOTHING_WAITS && now > since + time;
}

#endif
