/* SPDX-License-Identifier: MIT */
/* How much may be in flight: RFC 9002, section 7 (NewReno), and what the receiver's socket can hold.
 *
 * The window grows by what is acknowledged until the first loss, then by a packet a round trip; a
 * loss halves it, once a round trip. It does not grow while the owner has too little to send to fill
 * it. It has room for two packets of the largest size that was found, also where the first window was
 * smaller. */
#include "link_private.h"

enum { FIRST_PACKETS = 32, LEAST_PACKETS = 2 };

void bcri_congestion_init(struct bcri_link *link)
{
    link->congestion = (struct bcri_congestion){.window = (uint64_t)FIRST_PACKETS * BCRI_LINK_PACKET_BASE,
                                                .threshold = UINT64_MAX};
}

void bcri_congestion_acked(struct bcri_link *link, const struct bcri_sent *sent)
{
    struct bcri_congestion *c = &link->congestion;
    if (sent->time < c->recovery_start || !c->limited || c->window >= link->peer_room)
        return;
    if (c->window < c->threshold)
        c->window += sent->bytes;
    else
        c->window += (uint64_t)link->mtu.bytes * sent->bytes / c->window + 1;
}

void bcri_congestion_lost(struct bcri_link *link, uint64_t sent_at)
{
    struct bcri_congestion *c = &link->congestion;
    if (sent_at < c->recovery_start)
        return;
    const uint64_t least = (uint64_t)LEAST_PACKETS * link->mtu.bytes;
    c->recovery_start = link->now + 1;
    c->window = c->window / 2 < least ? least : c->window / 2;
    c->threshold = c->window;
}

void bcri_congestion_collapse(struct bcri_link *link)
{
    link->congestion.window = (uint64_t)LEAST_PACKETS * link->mtu.bytes;
}

uint64_t bcri_congestion_window(const struct bcri_link *link)
{
    const uint64_t least = (uint64_t)LEAST_PACKETS * link->mtu.bytes;
    const uint64_t window = link->congestion.window < least ? least : link->congestion.window;
    return window > link->peer_room ? link->peer_room : window;
}
