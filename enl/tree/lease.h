/* SPDX-License-Identifier: MIT */
/* The lease of a host, by itself: no clock and no network. membership.c and life.c use it, with
 * CLOCK_BOOTTIME or pretended time; all in ms.
 *
 * A daemon sends beats (heartbeats), and the root's daemon answers each. It may work for hosttimeout from the *sending*
 * of the last beat that was answered. The root's daemon takes it for dead when it has heard nothing for
 * hosttimeout and a tenth, from the *arrival* of what it heard last. A beat arrives after it was
 * sent: so the lease is over before anybody acts on the death, however long messages are on their
 * way in either direction, and whichever daemon stands still meanwhile. */
#ifndef ENL_LEASE_H
#define ENL_LEASE_H

#include <stdbool.h>
#include <stdint.h>

enum { ENL_BEATS = 8 };

struct enl_lease {
    uint32_t beat; /* the last that was sent */
    uint64_t sent_ms[ENL_BEATS];
    uint64_t until_ms; /* the daemon works until then */
};

/* Returns until when it is now, counted from `from_ms` alone. */
static inline uint64_t enl_lease_extend(struct enl_lease *lease, uint64_t from_ms, uint64_t hosttimeout)
{
    const uint64_t until_ms = from_ms + hosttimeout;
    lease->until_ms = until_ms > lease->until_ms ? until_ms : lease->until_ms;
    return until_ms;
}

/* The number of the beat that is sent now. */
static inline uint32_t enl_lease_beat(struct enl_lease *lease, uint64_t now_ms)
{
    lease->beat++;
    lease->sent_ms[lease->beat % ENL_BEATS] = now_ms;
    return lease->beat;
}

/* When that beat was sent, which has been answered. False: too long ago. */
static inline bool enl_lease_sent(const struct enl_lease *lease, uint32_t beat, uint64_t *sent_ms_out)
{
    *sent_ms_out = lease->sent_ms[beat % ENL_BEATS];
    return lease->beat - beat < ENL_BEATS;
}

static inline bool enl_lease_is_over(const struct enl_lease *lease, uint64_t now_ms)
{
    return now_ms > lease->until_ms;
}

/* How long a parent waits since it has heard something. */
static inline uint64_t enl_lease_patience(uint64_t hosttimeout)
{
    return hosttimeout + hosttimeout / 10;
}

#endif
