/* SPDX-License-Identifier: MIT */
/* When a packet is taken for lost, and when to ask for an answer: RFC 9002, sections 5 and 6.
 *
 * A packet is lost if one sent BCRI_REORDER_PACKETS later has been acknowledged, or one sent 9/8 of a
 * round trip later. If no acknowledgement comes at all, a tiny packet and two more are sent whatever is in flight, after
 * a time that doubles. If the tiny one alone is answered, the others may have been too large (mtu.c). It goes
 * first: a queue on the way that is too short for two of the others would have no room for it behind them. */
#include "link_private.h"

void bcri_recovery_init(struct bcri_link *link)
{
    link->recovery = (struct bcri_recovery){.srtt = BCRI_FIRST_RTT_NS,
                                            .rttvar = BCRI_FIRST_RTT_NS / 2,
                                            .min_rtt = UINT64_MAX,
                                            .loss_time = BCRI_LINK_NEVER,
                                            .largest_acked = UINT64_MAX};
}

void bcri_recovery_sample(struct bcri_link *link, uint64_t rtt, uint64_t delay)
{
    struct bcri_recovery *r = &link->recovery;
    const bool first = r->min_rtt == UINT64_MAX;
    rtt = rtt < BCRI_RTT_MAX_NS ? rtt : BCRI_RTT_MAX_NS;
    r->min_rtt = rtt < r->min_rtt ? rtt : r->min_rtt;
    if (first) {
        r->srtt = rtt;
        r->rttvar = rtt / 2;
        return;
    }
    /* The peer's word for how long it waited counts only as far as it is possible. */
    if (delay > 4 * BCRI_ACK_DELAY_NS)
        delay = 4 * BCRI_ACK_DELAY_NS;
    if (rtt >= r->min_rtt + delay)
        rtt -= delay;
    const uint64_t off = r->srtt > rtt ? r->srtt - rtt : rtt - r->srtt;
    r->rttvar = (3 * r->rttvar + off) / 4;
    r->srtt = (7 * r->srtt + rtt) / 8;
}

uint64_t bcri_recovery_probe_ns(const struct bcri_link *link)
{
    const struct bcri_recovery *r = &link->recovery;
    const uint64_t off = 4 * r->rttvar > BCRI_GRANULARITY_NS ? 4 * r->rttvar : BCRI_GRANULARITY_NS;
    return r->srtt + off + BCRI_ACK_DELAY_NS;
}

void bcri_recovery_detect(struct bcri_link *link)
{
    struct bcri_recovery *r = &link->recovery;
    r->loss_time = BCRI_LINK_NEVER;
    if (r->largest_acked == UINT64_MAX)
        return;
    uint64_t delay = r->srtt + r->srtt / 8;
    delay = delay < BCRI_GRANULARITY_NS ? BCRI_GRANULARITY_NS : delay;
    uint64_t first_lost = BCRI_LINK_NEVER, last_lost = 0;
    for (uint64_t number = link->sent.oldest; number < r->largest_acked; number++) {
        const struct bcri_sent *sent = bcri_sent_at(link, number);
        if (sent->state != BCRI_SENT_IN_FLIGHT)
            continue;
        const uint64_t at = sent->time;
        if (number + BCRI_REORDER_PACKETS > r->largest_acked && at + delay > link->now) {
            r->loss_time = at + delay < r->loss_time ? at + delay : r->loss_time;
            continue;
        }
        if (!sent->is_probe) {
            bcri_congestion_lost(link, at);
            first_lost = at < first_lost ? at : first_lost;
            last_lost = at > last_lost ? at : last_lost;
        }
        bcri_sent_lost(link, number);
    }
    if (first_lost < last_lost && last_lost - first_lost > 3 * bcri_recovery_probe_ns(link) &&
        r->probe_count > 1)
        bcri_congestion_collapse(link);
    bcri_sent_trim(link);
}

uint64_t bcri_recovery_deadline(const struct bcri_link *link)
{
    const struct bcri_recovery *r = &link->recovery;
    if (r->loss_time != BCRI_LINK_NEVER)
        return r->loss_time;
    if (link->sent.eliciting == 0)
        return BCRI_LINK_NEVER;
    const uint32_t doubled = r->probe_count < 10 ? r->probe_count : 10;
    const uint64_t wait = bcri_recovery_probe_ns(link) << doubled;
    return r->last_eliciting + (wait < BCRI_PROBE_MAX_NS ? wait : BCRI_PROBE_MAX_NS);
}

void bcri_recovery_timeout(struct bcri_link *link)
{
    struct bcri_recovery *r = &link->recovery;
    if (link->now < bcri_recovery_deadline(link))
        return;
    if (r->loss_time != BCRI_LINK_NEVER) {
        bcri_recovery_detect(link);
        return;
    }
    r->probe_count++;
    r->last_eliciting = link->now; /* the next deadline is counted from here, sent or not */
    link->counts.probes++;
    r->probes_due = BCRI_PROBES;
    bcri_sent_again(link);
}
