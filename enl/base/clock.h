/* SPDX-License-Identifier: MIT */
/* By how much the root's clock is ahead of this host's, from heartbeats, by itself: no clock, no
 * network. uplink.c gives it both clocks of this host, test_clock_ahead pretended ones; all in ns.
 *
 * An answer to a beat has the root's time. That was somewhere between sending and arrival: half the
 * round trip is the most by which the difference can be wrong. A measurement is told when it is the
 * first, when it contradicts what was told (a clock was set, or runs at another rate), or when it is
 * much better. */
#ifndef ENL_CLOCK_H
#define ENL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { ENL_CLOCK_BEATS = 8, ENL_CLOCK_SLACK_NS = 1000000 };
/* No clock is taken to be further off: so sums of times stay within 64 bits. */
#define ENL_CLOCK_MOST_NS INT64_C(3200000000000000000)

struct enl_clock {
    int64_t sent_ns[ENL_CLOCK_BEATS]; /* CLOCK_MONOTONIC */
    uint32_t beat;                    /* the last that was sent; 0: none */
    bool known;
    int64_t ahead_ns, round_trip_ns; /* as told last */
};

static inline void enl_clock_sent(struct enl_clock *clock, uint32_t beat, int64_t monotonic_ns)
{
    clock->beat = beat;
    clock->sent_ns[beat % ENL_CLOCK_BEATS] = monotonic_ns;
}

/* `beat` was answered at `root_ns` of the root's clock; now are `monotonic_ns` and `real_ns` here.
 * True: ahead_ns is new, and to be told. */
static inline bool enl_clock_answered(struct enl_clock *clock, uint32_t beat, uint64_t root_ns,
                                      int64_t monotonic_ns, int64_t real_ns)
{
    if (beat == 0 || clock->beat - beat >= ENL_CLOCK_BEATS || root_ns > (uint64_t)ENL_CLOCK_MOST_NS ||
        real_ns < 0 || real_ns > ENL_CLOCK_MOST_NS)
        return false;
    const int64_t round_trip = monotonic_ns - clock->sent_ns[beat % ENL_CLOCK_BEATS];
    if (round_trip < 0 || round_trip > ENL_CLOCK_MOST_NS)
        return false;
    const int64_t ahead = (int64_t)root_ns + round_trip / 2 - real_ns, differs = ahead - clock->ahead_ns;
    const int64_t allowed = (round_trip + clock->round_trip_ns) / 2 + ENL_CLOCK_SLACK_NS;
    if (clock->known && differs <= allowed && differs >= -allowed && round_trip >= clock->round_trip_ns / 4)
        return false;
    clock->known = true;
    clock->ahead_ns = ahead;
    clock->round_trip_ns = round_trip;
    return true;
}

#endif
