/* SPDX-License-Identifier: MIT */
/* parcels.c -- what goes through the link thread between the loop and links, in queues that are bounded.
 *
 * Messages of the tree's lane: a second link to a host, with keys and packet numbers of its own, by which the root's daemon and
 * one that others have started say control messages. A message is a frame's contents, without a
 * header of the link's; its stream is its row's. What is to be sent is bounded for each host (BCRI_LANE_WAITS_MAX), what
 * has come and is not taken by pausing the streams.
 *
 * Packets of other links that go over the tree of daemons. What finds the way in full is dropped, as by a network; the way
 * out is not filled further than the loop takes. */
#include <stdlib.h>
#include <string.h>

#include "links/agent/thread_private.h"

enum { ROWS = 2, OUT_MAX = 64, IN_MAX = 512 }; /* _MAX: packets */
#define LANE_IN_MAX (256u << 10)               /* bytes that wait for the loop */

/* The oldest that waits for the loop: its length, and the host that it is for, or from; 0: there is none. */
static uint32_t take_parcel(struct enl_mailbox *box, uint32_t *host_out, uint8_t *content_out)
{
    struct parcel *parcel = (struct parcel *)enl_mailbox_take(box);
    if (parcel == NULL)
        return 0;
    const uint32_t bytes = parcel->bytes != 0 ? parcel->bytes : BCRI_LANE_MARK;
    *host_out = parcel->command.number;
    memcpy(content_out, parcel->content, parcel->bytes);
    free(parcel);
    return bytes;
}

/* ---- the tree's lane: what the link asks and tells ---- */

static bool accept_frames(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source == target && source < ROWS;
}

static bool has_room(const struct bcri_link_thread *thread)
{
    return atomic_load(&thread->lane_in_bytes) < LANE_IN_MAX;
}

static enum bcri_link_verdict frame_begins(void *owner, struct bcri_link_message *message)
{
    struct path *path = owner;
    if (message->header_bytes != 0 || message->body_bytes == 0 || message->body_bytes > BCRI_LANE_BYTES_MAX)
        return BCRI_LINK_REFUSE;
    struct parcel *parcel =
        has_room(path->thread) ? bcri_parcel_new(path->host, 0, NULL, message->body_bytes) : NULL;
    if (parcel == NULL) {
        path->paused |= 1u << message->source;
        return BCRI_LINK_PAUSE;
    }
    message->memory = parcel->content;
    message->cookie = parcel;
    return BCRI_LINK_TAKE;
}

void bcri_lane_came(struct bcri_link_thread *thread, struct parcel *parcel)
{
    atomic_fetch_add(&thread->lane_in_bytes, parcel->bytes);
    if (enl_mailbox_add(&thread->box[LANE_IN], &parcel->command.mail))
        thread->config.told(thread->config.owner);
}

static void frame_arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)source, (void)target;
    bcri_lane_came(((struct path *)owner)->thread, cookie);
}

static void frame_dropped(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner, (void)source, (void)target;
    free(cookie);
}

static void frame_completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                            enum bcri_link_outcome outcome)
{
    (void)source, (void)target, (void)outcome;
    bcri_lane_gone(((struct path *)owner)->thread, cookie);
}

const struct bcri_link_events bcri_lane_events = {.accept = accept_frames,
                                                  .begin = frame_begins,
                                                  .arrived = frame_arrived,
                                                  .dropped = frame_dropped,
                                                  .completed = frame_completed};

/* ---- the tree's lane, on the link thread ---- */

void bcri_lane_resume(struct bcri_link_thread *thread, struct path *path)
{
    for (uint32_t row = 0; path->paused != 0 && row < ROWS && has_room(thread); row++)
        if ((path->paused & 1u << row) != 0) {
            path->paused &= ~(1u << row);
            bcri_link_resume(path->link, row, row, thread->now);
        }
}

/* ---- the tree's lane, on any thread of the daemon's ---- */

uint32_t bcri_link_thread_lane_take(struct bcri_link_thread *thread, uint32_t *host_out,
                                    uint8_t content_out[BCRI_LANE_BYTES_MAX])
{
    const uint32_t bytes = take_parcel(&thread->box[LANE_IN], host_out, content_out);
    const uint32_t freed = bytes != BCRI_LANE_MARK ? bytes : 0;
    const uint32_t before = atomic_fetch_sub(&thread->lane_in_bytes, freed);
    if (before >= LANE_IN_MAX && before - freed < LANE_IN_MAX)
        bcri_thread_ring(thread);
    return bytes;
}

uint64_t bcri_link_thread_lane_bytes(const struct bcri_link_thread *thread)
{
    return atomic_load(&thread->lane_bytes);
}

uint32_t bcri_link_thread_lane_waits(const struct bcri_link_thread *thread, uint32_t host)
{
    return host <= BCRI_HOST_NUMBER_MAX ? atomic_load(&thread->lane_waits[host]) : 0;
}

/* ---- packets over the tree ---- */

bool bcri_tunnelled_has_room(struct bcri_link_thread *thread)
{
    if (atomic_load(&thread->box[TREE_OUT].count) < OUT_MAX)
        return true;
    atomic_store(&thread->out_full, true); /* the loop may have taken some before it could see that */
    return atomic_load(&thread->box[TREE_OUT].count) < OUT_MAX;
}

void bcri_tunnelled_send(struct bcri_link_thread *thread, uint32_t host, const uint8_t *packet,
                         uint32_t bytes)
{
    struct parcel *parcel = bcri_parcel_new(host, 0, packet, bytes);
    if (parcel != NULL &&
        enl_mailbox_add(&thread->box[TREE_OUT], &parcel->command.mail)) /* else the link sends it again */
        thread->config.told(thread->config.owner);
}

uint32_t bcri_link_thread_take_packet(struct bcri_link_thread *thread, uint32_t *host_out,
                                      uint8_t packet_out[BCRI_TUNNELLED_MAX])
{
    const uint32_t bytes = take_parcel(&thread->box[TREE_OUT], host_out, packet_out);
    if (atomic_load(&thread->box[TREE_OUT].count) <= OUT_MAX / 2 && atomic_exchange(&thread->out_full, false))
        bcri_thread_ring(thread);
    return bytes;
}

void bcri_link_thread_tunnelled(struct bcri_link_thread *thread, const void *packet, uint32_t bytes)
{
    const bool fits =
        thread != NULL && bytes <= BCRI_TUNNELLED_MAX && atomic_load(&thread->box[TREE_IN].count) < IN_MAX;
    struct parcel *parcel = fits ? bcri_parcel_new(0, 0, packet, bytes) : NULL;
    if (parcel != NULL && enl_mailbox_add(&thread->box[TREE_IN], &parcel->command.mail))
        bcri_thread_ring(thread);
}
