/* SPDX-License-Identifier: MIT */
/* Making and ending a link, and the owner's calls. */
#include <errno.h>
#include <stdlib.h>

#include "link_private.h"

/* Until the peer has said what it can receive. */
enum { FIRST_ROOM = 64 << 10 };

struct bcri_link *bcri_link_new(const struct bcri_link_config *config, const struct bcri_link_events *events,
                                void *owner, uint64_t now)
{
    struct bcri_link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return NULL;
    link->sealing = bcri_sealing_new(config->secret, config->host, config->peer, config->lane);
    if (link->sealing == NULL) {
        free(link);
        return NULL;
    }
    link->events = events;
    link->owner = owner;
    link->host = config->host;
    link->peer = config->peer;
    link->lane = config->lane;
    link->carrier = config->carrier;
    link->own_packet_max = config->packet_max < BCRI_LINK_PACKET_MIN   ? BCRI_LINK_PACKET_MIN
                           : config->packet_max > BCRI_LINK_PACKET_MAX ? BCRI_LINK_PACKET_MAX
                                                                       : config->packet_max;
    link->now = link->heard_at = now;
    link->ack_at = link->key_forget_at = link->retry_at = link->slack_at = BCRI_LINK_NEVER;
    link->keepalive_ns = config->keepalive_ns;
    link->keepalive_at = config->keepalive_ns != 0 ? now + config->keepalive_ns : BCRI_LINK_NEVER;
    link->peer_room = FIRST_ROOM;
    link->peer_packet_max = BCRI_LINK_PACKET_BASE;
    link->host_due = true;
    link->packets_per_key =
        config->packets_per_key != 0 ? config->packets_per_key : BCRI_SEAL_PACKETS_PER_KEY;
    link->forged_max =
        config->forged_max != 0 ? config->forged_max : bcri_seal_forged_max(config->secret->cipher);
    bcri_recovery_init(link);
    bcri_congestion_init(link);
    bcri_mtu_init(link);
    return link;
}

static void end_all(struct bcri_link *link)
{
    for (uint32_t i = 0; i < link->out.buckets; i++)
        while (link->out.bucket[i] != NULL)
            bcri_out_end(link, (void *)link->out.bucket[i], false);
    for (uint32_t i = 0; i < link->in.buckets; i++)
        while (link->in.bucket[i] != NULL)
            bcri_in_end(link, (void *)link->in.bucket[i], false);
    while (link->turn != NULL) /* ended before, and its receiver was still to be told */
        bcri_out_forget(link, BCRI_STREAM_OF(struct bcri_out_stream, turn, link->turn));
}

void bcri_link_free(struct bcri_link *link)
{
    if (link == NULL)
        return;
    link->ending = true;
    end_all(link);
    bcri_sent_free(link);
    bcri_sealing_free(link->sealing);
    bcri_ranges_free(&link->numbers);
    free(link->out.bucket);
    free(link->in.bucket);
    free(link);
}

int bcri_link_send(struct bcri_link *link, uint32_t source, uint32_t target, const void *header,
                   uint32_t header_bytes, const void *body, uint32_t body_bytes, void *cookie)
{
    if (header_bytes > BCRI_LINK_HEADER_MAX || body_bytes > BCRI_LINK_BODY_MAX)
        return -EMSGSIZE;
    if (link->ending)
        return -ESHUTDOWN;
    return bcri_out_queue(link, source, target, header, header_bytes, body, body_bytes, cookie);
}

void bcri_link_resume(struct bcri_link *link, uint32_t source, uint32_t target, uint64_t now)
{
    bcri_link_tell_time(link, now);
    struct bcri_in_stream *stream = bcri_stream_find(&link->in, source, target);
    if (stream != NULL && stream->paused)
        bcri_in_resume(link, stream);
}

void bcri_link_end_stream(struct bcri_link *link, uint32_t source, uint32_t target)
{
    struct bcri_out_stream *out = bcri_stream_find(&link->out, source, target);
    struct bcri_in_stream *in = bcri_stream_find(&link->in, source, target);
    if (out != NULL)
        bcri_out_end(link, out, true);
    if (in != NULL)
        bcri_in_end(link, in, true);
}

void bcri_link_use_carrier(struct bcri_link *link, const struct bcri_link_carrier *carrier, uint64_t now)
{
    bcri_link_tell_time(link, now);
    for (uint64_t number = link->sent.oldest; number != link->sent.next; number++)
        if (bcri_sent_at(link, number)->state == BCRI_SENT_IN_FLIGHT)
            bcri_sent_lost(link, number);
    bcri_sent_trim(link);
    link->carrier = *carrier;
    link->host_due = true;
    /* Acknowledgements may have been lost with the last carrier. */
    if (link->numbers.count != 0)
        link->unacked = link->pressing = 2;
    bcri_recovery_init(link);
    bcri_congestion_init(link);
    link->mtu.probe = 0;
    link->mtu.try_passed = false;
    bcri_mtu_limits(link, true);
}

void bcri_link_set_room(struct bcri_link *link, uint32_t room)
{
    link->host_due |= link->carrier.room != room;
    link->carrier.room = room;
}

void bcri_link_ping(struct bcri_link *link)
{
    link->ping_due = true;
}

uint64_t bcri_link_waits_since(struct bcri_link *link)
{
    bcri_sent_trim(link);
    return link->sent.oldest != link->sent.next ? bcri_sent_at(link, link->sent.oldest)->time
                                                : BCRI_LINK_NEVER;
}

bool bcri_link_is_worn_out(const struct bcri_link *link)
{
    return link->counts.forged - link->forged_before >= link->forged_max;
}

bool bcri_link_wears_out(const struct bcri_link *link)
{
    return link->counts.forged - link->forged_before >= link->forged_max / 2;
}

int bcri_link_renew(struct bcri_link *link, const struct bcri_seal_secret *secret, uint64_t now)
{
    struct bcri_sealing *sealing = bcri_sealing_new(secret, link->host, link->peer, link->lane);
    if (sealing == NULL)
        return -ENOMEM;
    bcri_link_tell_time(link, now);
    bcri_sealing_free(link->sealing);
    link->sealing = sealing;
    link->key_first = link->sent.next;
    link->key_confirmed = false;
    link->key_forget_at = BCRI_LINK_NEVER;
    link->forged_before = link->counts.forged;
    link->counts.renewed++;
    link->ping_due = true; /* the other side may have been silent for want of what it could open */
    return 0;
}

uint64_t bcri_link_now(const struct bcri_link *link)
{
    return link->now;
}

uint64_t bcri_link_heard_at(const struct bcri_link *link)
{
    return link->heard_at;
}

size_t bcri_link_memory(const struct bcri_link *link)
{
    enum { PAGE = 4096 };
    size_t ranges = link->numbers.capacity;
    for (uint32_t i = 0; i < link->out.buckets; i++)
        for (const struct bcri_stream_key *key = link->out.bucket[i]; key != NULL; key = key->next)
            ranges += ((const struct bcri_out_stream *)(const void *)key)->lost.capacity;
    return sizeof *link + PAGE + link->memory +
           (link->out.buckets + link->in.buckets) * sizeof(struct bcri_stream_key *) +
           ranges * sizeof(struct bcri_range);
}

bool bcri_link_is_idle(const struct bcri_link *link)
{
    return link->incomplete == 0;
}

uint32_t bcri_link_packet_bytes(const struct bcri_link *link)
{
    return link->mtu.bytes;
}

uint32_t bcri_link_path_bytes(const struct bcri_link *link)
{
    return link->mtu.is_low ? link->mtu.bytes : 0;
}

bool bcri_link_is_narrow(const struct bcri_link *link)
{
    return link->mtu.is_narrow;
}

bool bcri_link_try_passed(const struct bcri_link *link)
{
    return link->mtu.try_passed;
}

const struct bcri_link_counts *bcri_link_counts(const struct bcri_link *link)
{
    return &link->counts;
}
