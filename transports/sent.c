/* SPDX-License-Identifier: MIT */
/* Packets in flight, by number, and the chunks that each carried.
 *
 * A packet is in flight until it is acknowledged or taken for lost. Records and chunks lie in rings
 * in the order of numbers; the front of both is given back when the oldest packet is completed. */
#include <stdlib.h>

#include "link_private.h"
#include "ring.h"

enum { FIRST_PACKETS = 16, FIRST_CHUNKS = 32 };

static bool grow_packets(struct bcri_link *link)
{
    struct bcri_sent_ring *ring = &link->sent;
    uint32_t capacity = ring->sent != NULL ? ring->mask + 1 : 0;
    struct bcri_sent *grown = bcri_ring_grown(ring->sent, &capacity, ring->oldest, ring->next - ring->oldest,
                                              sizeof *grown, FIRST_PACKETS, &link->memory);
    if (grown == NULL)
        return false;
    ring->sent = grown;
    ring->mask = capacity - 1;
    return true;
}

static bool grow_chunks(struct bcri_link *link)
{
    struct bcri_sent_ring *ring = &link->sent;
    uint32_t capacity = ring->chunk != NULL ? ring->chunk_mask + 1 : 0;
    /* Both count on past 32 bits; the difference and the place in the ring do not mind. */
    struct bcri_chunk *grown =
        bcri_ring_grown(ring->chunk, &capacity, ring->chunk_first, ring->chunk_next - ring->chunk_first,
                        sizeof *grown, FIRST_CHUNKS, &link->memory);
    if (grown == NULL)
        return false;
    ring->chunk = grown;
    ring->chunk_mask = capacity - 1;
    return true;
}

uint32_t bcri_sent_room(const struct bcri_link *link)
{
    return link->sent.chunk_end - link->sent.chunk_next;
}

bool bcri_sent_reserve(struct bcri_link *link, uint32_t chunks)
{
    struct bcri_sent_ring *ring = &link->sent;
    if ((ring->sent == NULL || ring->next - ring->oldest > ring->mask) && !grow_packets(link))
        return false;
    while (ring->chunk == NULL || ring->chunk_mask + 1 - (ring->chunk_next - ring->chunk_first) < chunks)
        if (!grow_chunks(link))
            return false;
    ring->chunk_end = ring->chunk_next + chunks;
    return true;
}

void bcri_sent_add(struct bcri_link *link, const struct bcri_chunk *chunk)
{
    link->sent.chunk[link->sent.chunk_next++ & link->sent.chunk_mask] = *chunk;
}

void bcri_sent_commit(struct bcri_link *link, const struct bcri_sent *sent)
{
    struct bcri_sent_ring *ring = &link->sent;
    *bcri_sent_at(link, ring->next++) = *sent;
    if (sent->state == BCRI_SENT_IN_FLIGHT) {
        ring->bytes += sent->bytes;
        ring->eliciting += sent->wants_ack;
    }
}

static void complete(struct bcri_link *link, struct bcri_sent *sent)
{
    sent->state = BCRI_SENT_COMPLETED;
    link->sent.bytes -= sent->bytes;
    link->sent.eliciting -= sent->wants_ack;
}

void bcri_sent_trim(struct bcri_link *link)
{
    struct bcri_sent_ring *ring = &link->sent;
    while (ring->oldest != ring->next && bcri_sent_at(link, ring->oldest)->state == BCRI_SENT_COMPLETED) {
        const struct bcri_sent *sent = bcri_sent_at(link, ring->oldest++);
        ring->chunk_first = sent->chunk + sent->chunks;
    }
    if (ring->oldest == ring->next)
        ring->chunk_first = ring->chunk_next;
}

static void again(struct bcri_link *link, const struct bcri_chunk *chunk)
{
    switch (chunk->kind) {
    case BCRI_CHUNK_BYTES:
    case BCRI_CHUNK_SKIP:
    case BCRI_CHUNK_END: bcri_out_chunk_lost(link, chunk->stream, chunk); break;
    case BCRI_CHUNK_TAKEN: bcri_in_chunk_lost(link, chunk->stream); break;
    default: link->host_due = true;
    }
}

/* The packet has nothing to do with its streams any more. */
static void let_go(struct bcri_link *link, const struct bcri_sent *sent, bool is_acked)
{
    for (uint32_t i = 0; i < sent->chunks; i++) {
        const struct bcri_chunk *chunk = &link->sent.chunk[(sent->chunk + i) & link->sent.chunk_mask];
        if (chunk->kind == BCRI_CHUNK_TAKEN && is_acked)
            bcri_in_known(link, chunk->stream, chunk->offset);
        if (chunk->kind == BCRI_CHUNK_TAKEN)
            bcri_in_chunk_completed(link, chunk->stream);
        else if (chunk->kind != BCRI_CHUNK_HOST)
            bcri_out_chunk_completed(link, chunk->stream);
    }
}

void bcri_sent_acked(struct bcri_link *link, uint64_t from, uint64_t to)
{
    from = from < link->sent.oldest ? link->sent.oldest : from;
    for (uint64_t number = from; number < to; number++) {
        struct bcri_sent *sent = bcri_sent_at(link, number);
        if (sent->state != BCRI_SENT_IN_FLIGHT)
            continue;
        complete(link, sent);
        link->key_confirmed |= number >= link->key_first;
        /* What this packet told is known there: older numbers need not be told again. */
        if (sent->acked_below > link->floor) {
            link->floor = sent->acked_below;
            bcri_ranges_drop_below(&link->numbers, link->floor);
        }
        bcri_mtu_acked(link, sent);
        bcri_congestion_acked(link, sent);
        let_go(link, sent, true);
    }
}

void bcri_sent_lost(struct bcri_link *link, uint64_t number)
{
    struct bcri_sent *sent = bcri_sent_at(link, number);
    complete(link, sent);
    link->counts.lost++;
    for (uint32_t i = 0; i < sent->chunks; i++)
        again(link, &link->sent.chunk[(sent->chunk + i) & link->sent.chunk_mask]);
    bcri_mtu_lost(link, sent);
    let_go(link, sent, false);
}

void bcri_sent_again(struct bcri_link *link)
{
    for (uint64_t number = link->sent.oldest; number != link->sent.next; number++) {
        const struct bcri_sent *sent = bcri_sent_at(link, number);
        if (sent->state != BCRI_SENT_IN_FLIGHT || sent->chunks == 0)
            continue;
        for (uint32_t i = 0; i < sent->chunks; i++)
            again(link, &link->sent.chunk[(sent->chunk + i) & link->sent.chunk_mask]);
        return;
    }
}

void bcri_sent_give_back(struct bcri_link *link)
{
    struct bcri_sent_ring *ring = &link->sent;
    bcri_sent_trim(link);
    if (ring->oldest != ring->next || ring->sent == NULL)
        return;
    link->memory -= ((size_t)ring->mask + 1) * sizeof *ring->sent;
    link->memory -= ((size_t)ring->chunk_mask + 1) * sizeof *ring->chunk;
    free(ring->sent);
    free(ring->chunk);
    ring->sent = NULL;
    ring->chunk = NULL;
    ring->mask = ring->chunk_mask = 0;
}

void bcri_sent_free(struct bcri_link *link)
{
    for (uint64_t number = link->sent.oldest; number != link->sent.next; number++) {
        struct bcri_sent *sent = bcri_sent_at(link, number);
        if (sent->state == BCRI_SENT_IN_FLIGHT) {
            complete(link, sent);
            let_go(link, sent, false);
        }
    }
    free(link->sent.sent);
    free(link->sent.chunk);
}
