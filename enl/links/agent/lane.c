/* SPDX-License-Identifier: MIT */
/* lane.c -- the tree's lane: a second link to a host, with keys and packet numbers of its own, by which
 * daemons say control messages when the way through the tree of daemons is lost. Here are its messages,
 * between the loop and the link, which the link thread alone touches; where its packets go is paths.c's.
 *
 * A message is a frame's contents, without a header of the link's. Its stream is its row's. What is to be sent is
 * bounded for each host (BCRI_LANE_WAITS_MAX); what has come and is not taken by
 * pausing the streams. */
#include <stdlib.h>
#include <string.h>

#include "links/agent/thread_private.h"

enum { ROWS = 2 };
#define IN_MAX (256u << 10) /* bytes that wait for the loop */

/* ---- what the link asks and tells ---- */

static bool accept_frames(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source == target && source < ROWS;
}

static bool has_room(const struct bcri_link_thread *thread)
{
    return atomic_load(&thread->lane_in_bytes) < IN_MAX;
}

static enum bcri_link_verdict frame_begins(void *owner, struct bcri_link_message *message)
{
    struct path *path = owner;
    if (message->header_bytes != 0 || message->body_bytes == 0 || message->body_bytes > BCRI_LANE_BYTES_MAX)
        return BCRI_LINK_REFUSE;
    struct lane_frame *frame =
        has_room(path->thread) ? bcri_lane_frame(path->host, message->body_bytes) : NULL;
    if (frame == NULL) {
        path->paused |= 1u << message->source;
        return BCRI_LINK_PAUSE;
    }
    message->memory = frame->content;
    message->cookie = frame;
    return BCRI_LINK_TAKE;
}

static void frame_arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    struct bcri_link_thread *thread = ((struct path *)owner)->thread;
    struct lane_frame *frame = cookie;
    (void)source, (void)target;
    atomic_fetch_add(&thread->lane_in_bytes, frame->bytes);
    if (enl_mailbox_add(&thread->lane_in, &frame->mail))
        thread->config.told(thread->config.owner);
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

/* ---- on the link thread ---- */

bool bcri_lane_send(struct path *path, struct lane_frame *frame)
{
    return bcri_link_send(path->link, frame->row, frame->row, NULL, 0, frame->content, frame->bytes, frame) ==
           0;
}

void bcri_lane_resume(struct bcri_link_thread *thread, struct path *path)
{
    for (uint32_t row = 0; path->paused != 0 && row < ROWS && has_room(thread); row++)
        if ((path->paused & 1u << row) != 0) {
            path->paused &= ~(1u << row);
            bcri_link_resume(path->link, row, row, thread->now);
        }
}

/* ---- on any thread of the daemon's ---- */

uint32_t bcri_link_thread_lane_take(struct bcri_link_thread *thread, uint32_t *host_out,
                                    uint8_t content_out[BCRI_LANE_BYTES_MAX])
{
    struct lane_frame *frame = (struct lane_frame *)enl_mailbox_take(&thread->lane_in);
    if (frame == NULL)
        return 0;
    const uint32_t bytes = frame->bytes, before = atomic_fetch_sub(&thread->lane_in_bytes, bytes);
    *host_out = frame->host;
    memcpy(content_out, frame->content, bytes);
    free(frame);
    if (before >= IN_MAX && before - bytes < IN_MAX)
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
