/* SPDX-License-Identifier: MIT */
/* How large packets may be: RFC 8899 (searching), RFC 4821 (black holes).
 *
 * It begins with BCRI_LINK_PACKET_BASE, which nearly every path carries. From a size that works a probe of
 * the largest size in question is tried, then sizes half way between what works and what does not. A probe
 * that is lost says nothing about congestion.
 *
 * A path that carries small packets and no large ones says nothing either: large ones are lost whenever they
 * are sent. recovery.c takes packets for lost when one that was sent later is acknowledged, and each time no
 * answer came it has sent a packet that every path carries (BCRI_LINK_PACKET_TINY). So a loss is told here
 * although nothing large arrives. Losses of ROUNDS round trips in a row, with no packet of that size
 * acknowledged between, end the present size: the search begins anew at the base, or at
 * BCRI_LINK_PACKET_MIN if the base itself does not pass. What was lost is cut anew, since bytes of streams are
 * remembered by their place, not by their packet. Losses that were chance cost a few probes: what they
 * ended is tried again at once.
 *
 * If packets of the minimum do not pass either, the path is narrow, and the owner is to use another carrier.
 * It takes more rounds, since a path that loses much looks alike for a while. */
#include "link_private.h"

enum { TRIES = 3, CLOSE_ENOUGH = 32, ROUNDS = 3, ROUNDS_AT_MIN = 8 };
#define SEARCH_AGAIN_NS (600000 * BCRI_NS_PER_MS)

static uint32_t most(const struct bcri_link *link)
{
    uint32_t bytes =
        link->own_packet_max < link->carrier.packet_max ? link->own_packet_max : link->carrier.packet_max;
    bytes = bytes < link->peer_packet_max ? bytes : link->peer_packet_max;
    return bytes < BCRI_LINK_PACKET_MIN ? BCRI_LINK_PACKET_MIN : bytes;
}

static uint32_t base(const struct bcri_link *link)
{
    return most(link) < BCRI_LINK_PACKET_BASE ? most(link) : BCRI_LINK_PACKET_BASE;
}

static void forget_losses(struct bcri_mtu *mtu)
{
    mtu->rounds = 0;
    mtu->least_lost = UINT32_MAX;
}

/* Sizes up to `low` work; of the sizes up to `high` one is sought. */
static void search(struct bcri_link *link, uint32_t low, uint32_t high)
{
    struct bcri_mtu *mtu = &link->mtu;
    mtu->bytes = low;
    mtu->high = high;
    mtu->fails = high + 1;
    mtu->tries = 0;
    mtu->again = link->now + SEARCH_AGAIN_NS;
    forget_losses(mtu);
}

void bcri_mtu_init(struct bcri_link *link)
{
    link->mtu = (struct bcri_mtu){.bytes = BCRI_LINK_PACKET_MIN};
    bcri_mtu_limits(link, true);
}

void bcri_mtu_limits(struct bcri_link *link, bool again)
{
    struct bcri_mtu *mtu = &link->mtu;
    const uint32_t high = most(link);
    mtu->is_narrow &= !again;
    mtu->is_low &= !again;
    search(link, again ? base(link) : mtu->bytes < high ? mtu->bytes : high, high);
}

/* The size to try next; 0: the search is over. What nearly every path carries is tried before what may be. */
static uint32_t candidate(const struct bcri_link *link)
{
    const struct bcri_mtu *mtu = &link->mtu;
    if (mtu->bytes < base(link) && mtu->fails > base(link))
        return base(link);
    if (mtu->fails > mtu->high)
        return mtu->bytes < mtu->high ? mtu->high : 0;
    return mtu->fails - mtu->bytes > CLOSE_ENOUGH ? mtu->bytes + (mtu->fails - mtu->bytes) / 2 : 0;
}

uint32_t bcri_mtu_probe(struct bcri_link *link)
{
    struct bcri_mtu *mtu = &link->mtu;
    if (!mtu->confirmed || mtu->probe != 0)
        return 0;
    if (candidate(link) == 0) {
        mtu->is_low = mtu->bytes < base(link);
        if (link->now >= mtu->again)
            search(link, mtu->bytes, most(link));
    }
    return candidate(link);
}

void bcri_mtu_acked(struct bcri_link *link, const struct bcri_sent *sent)
{
    struct bcri_mtu *mtu = &link->mtu;
    mtu->confirmed = true;
    if (sent->bytes >= mtu->least_lost)
        forget_losses(mtu);
    mtu->is_narrow &= sent->bytes < BCRI_LINK_PACKET_MIN;
    if (sent->is_try)
        mtu->try_passed = true;
    if (!sent->is_probe || sent->is_try)
        return;
    mtu->probe = 0;
    if (sent->bytes > mtu->bytes && sent->bytes <= most(link)) {
        mtu->bytes = sent->bytes;
        mtu->tries = 0;
        mtu->again = link->now + SEARCH_AGAIN_NS;
        mtu->is_low &= mtu->bytes < base(link);
    }
}

static void probe_lost(struct bcri_mtu *mtu, uint32_t bytes)
{
    mtu->probe = 0;
    if (++mtu->tries == TRIES) {
        mtu->fails = bytes > mtu->bytes ? bytes : mtu->bytes + 1;
        mtu->tries = 0;
    }
}

void bcri_mtu_lost(struct bcri_link *link, const struct bcri_sent *sent)
{
    struct bcri_mtu *mtu = &link->mtu;
    if (sent->is_probe && !sent->is_try)
        probe_lost(mtu, sent->bytes);
    if (sent->is_probe || sent->bytes <= BCRI_LINK_PACKET_TINY)
        return;
    mtu->least_lost = sent->bytes < mtu->least_lost ? sent->bytes : mtu->least_lost;
    if (sent->time < mtu->round_from)
        return;
    mtu->round_from = link->now;
    mtu->rounds++;
    if (mtu->bytes > BCRI_LINK_PACKET_MIN && mtu->rounds >= ROUNDS) {
        link->counts.black_holes++;
        search(link,
               mtu->bytes > base(link) && mtu->least_lost > base(link) ? base(link) : BCRI_LINK_PACKET_MIN,
               most(link));
    } else if (mtu->rounds >= ROUNDS_AT_MIN) {
        mtu->is_narrow = true;
    }
}
