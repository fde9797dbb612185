/* SPDX-License-Identifier: MIT */
/* How large packets may be: RFC 8899.
 *
 * Every path carries BCRI_LINK_PACKET_MIN. From there a probe of the largest size in question is
 * tried, then sizes half way between what works and what does not. A probe that is lost says nothing
 * about congestion. If packets above the minimum are lost in a row while none of their size arrives,
 * the path has changed, and the search begins again below the size that stopped passing. */
#include "link_private.h"

enum { TRIES = 3, CLOSE_ENOUGH = 32, LOST_IN_A_ROW = 6 };
#define SEARCH_AGAIN_NS (600000 * BCRI_NS_PER_MS)

static uint32_t most(const struct bcri_link *link)
{
    uint32_t bytes =
        link->own_packet_max < link->carrier.packet_max ? link->own_packet_max : link->carrier.packet_max;
    bytes = bytes < link->peer_packet_max ? bytes : link->peer_packet_max;
    return bytes < BCRI_LINK_PACKET_MIN ? BCRI_LINK_PACKET_MIN : bytes;
}

/* Sizes up to `low` work; of the sizes up to `high` one is sought. */
static void search(struct bcri_link *link, uint32_t low, uint32_t high)
{
    struct bcri_mtu *mtu = &link->mtu;
    mtu->bytes = mtu->low = low;
    mtu->high = high;
    mtu->fails = high + 1;
    mtu->tries = mtu->large_lost = 0;
    mtu->least_lost = UINT32_MAX;
    mtu->again = link->now + SEARCH_AGAIN_NS;
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
    if (again)
        search(link, BCRI_LINK_PACKET_MIN, high);
    else
        search(link, mtu->low < high ? mtu->low : high, high);
}

/* The size to try next; 0: the search is over. */
static uint32_t candidate(const struct bcri_mtu *mtu)
{
    if (mtu->fails > mtu->high)
        return mtu->low < mtu->high ? mtu->high : 0;
    return mtu->fails - mtu->low > CLOSE_ENOUGH ? mtu->low + (mtu->fails - mtu->low) / 2 : 0;
}

uint32_t bcri_mtu_probe(struct bcri_link *link)
{
    struct bcri_mtu *mtu = &link->mtu;
    if (!mtu->confirmed || mtu->probe != 0)
        return 0;
    if (candidate(mtu) == 0 && link->now >= mtu->again)
        search(link, mtu->low, most(link));
    return candidate(mtu);
}

void bcri_mtu_acked(struct bcri_link *link, const struct bcri_sent *sent)
{
    struct bcri_mtu *mtu = &link->mtu;
    mtu->confirmed = true;
    if (sent->bytes >= mtu->least_lost) {
        mtu->large_lost = 0;
        mtu->least_lost = UINT32_MAX;
    }
    if (!sent->is_probe)
        return;
    mtu->probe = 0;
    if (sent->bytes > mtu->low && sent->bytes <= most(link)) {
        mtu->bytes = mtu->low = sent->bytes;
        mtu->tries = 0;
        mtu->again = link->now + SEARCH_AGAIN_NS;
    }
}

/* NULL: no acknowledgement came in time. */
void bcri_mtu_lost(struct bcri_link *link, const struct bcri_sent *sent)
{
    struct bcri_mtu *mtu = &link->mtu;
    if (sent != NULL && sent->is_probe) {
        mtu->probe = 0;
        if (++mtu->tries == TRIES) {
            mtu->fails = sent->bytes > mtu->low ? sent->bytes : mtu->low + 1;
            mtu->tries = 0;
        }
        return;
    }
    if (mtu->bytes == BCRI_LINK_PACKET_MIN)
        return;
    const uint32_t bytes = sent != NULL ? sent->bytes : mtu->bytes;
    if (bytes <= BCRI_LINK_PACKET_MIN)
        return;
    mtu->least_lost = bytes < mtu->least_lost ? bytes : mtu->least_lost;
    if (++mtu->large_lost < LOST_IN_A_ROW)
        return;
    link->counts.black_holes++;
    search(link, BCRI_LINK_PACKET_MIN, mtu->least_lost - 1);
}
