/* SPDX-License-Identifier: MIT */
/* packets_out.c -- packets that the links have to send: by UDP, gathered and sent together, or over the tree of daemons. */
#include <string.h>

#include "bcri/clock.h"

#include "links/agent/thread_private.h"

enum { LAST_PACKETS = 4 };

/* Sends the packet that is in `space`, the socket's. Until the host has answered, it goes to all
 * addresses where it may be, and was: what comes twice does no harm. */
static void send_packet(struct bcri_link_thread *thread, const struct path *path, const uint8_t *space,
                        size_t bytes)
{
    const bool was_found = path->found.bytes != 0;
    const struct bcri_link_address *to = was_found ? &path->found : &path->address[0];
    bcri_udp_add(thread->udp, (const struct sockaddr *)&to->at, to->bytes, bytes);
    for (uint32_t i = was_found ? 0 : 1; !path->by_udp.heard && i < path->address_count; i++) {
        uint8_t *copy = bcri_udp_space(thread->udp);
        if (copy == NULL)
            return;
        memcpy(copy, space, bytes);
        to = &path->address[i];
        bcri_udp_add(thread->udp, (const struct sockaddr *)&to->at, to->bytes, bytes);
    }
}

static bool flush_packets(struct bcri_link_thread *thread)
{
    if (thread->gathers_orders && bcri_thread_lease_is_over(thread))
        bcri_udp_drop(thread->udp); /* links send again what is lost */
    if (!bcri_udp_flush(thread->udp))
        return false;
    thread->gathers_orders = false;
    bcri_paths_free(&thread->lost); /* nothing is gathered any more */
    return true;
}

/* What a link on the tree sends. Now and then UDP is tried, with a packet of the least size that is to pass there. */
static bool send_by_tree(struct bcri_link_thread *thread, struct path *path)
{
    bool sends = false;
    for (;;) {
        uint8_t *space = bcri_udp_space(thread->udp);
        if (space != NULL && thread->now >= path->try_at) {
            const size_t asks = bcri_link_try(path->link, space, thread->now);
            path->try_at = thread->now + PATH_TRY_NS;
            if (asks != 0) {
                send_packet(thread, path, space, asks);
                sends = true;
                continue;
            }
        }
        path->blocked = space != NULL && !bcri_tunnelled_has_room(thread);
        const size_t bytes =
            space != NULL && !path->blocked ? bcri_link_fill(path->link, space, thread->now) : 0;
        if (bytes == 0)
            return sends;
        sends = true;
        bcri_tunnelled_send(thread, path->host, space, (uint32_t)bytes);
    }
}

/* A packet of a link of the tree's lane goes over the tree, too, while UDP is in doubt (lane_way.h). */
static void send_of_lane(struct bcri_link_thread *thread, struct path *path, const uint8_t *space,
                         size_t bytes, bool is_last)
{
    const bool doubts = bcri_lane_way_sends(&path->by_udp, thread->now, bcri_link_waits_since(path->link),
                                            thread->config.silence_ns);
    if ((is_last || doubts || bcri_link_is_narrow(path->link)) && bytes <= BCRI_TUNNELLED_MAX &&
        bcri_tunnelled_has_room(thread))
        bcri_tunnelled_send(thread, path->host, space, (uint32_t)bytes);
    send_packet(thread, path, space, bytes);
}

void bcri_packets_send_last(struct bcri_link_thread *thread, struct path *path)
{
    uint8_t *space;
    size_t bytes;
    bcri_link_ping(path->link);
    for (int i = 0; i < LAST_PACKETS && (space = bcri_udp_space(thread->udp)) != NULL &&
                    (bytes = bcri_link_fill(path->link, space, thread->now)) != 0;
         i++)
        send_of_lane(thread, path, space, bytes, true); /* the first may be one that tries a larger size */
}

static bool send_by_udp(struct bcri_link_thread *thread, struct path *path)
{
    bool sends = false;
    for (;;) {
        uint8_t *space = bcri_udp_space(thread->udp);
        if (space == NULL) {
            thread->full = !flush_packets(thread);
            if (thread->full)
                return sends;
            continue;
        }
        const size_t bytes = bcri_link_fill(path->link, space, thread->now);
        if (bytes == 0)
            return sends;
        if (path->lane == BCRI_LANE_TREE)
            send_of_lane(thread, path, space, bytes, false);
        else
            send_packet(thread, path, space, bytes);
        thread->gathers_orders |= path->lane == BCRI_LANE_ORDERS;
        sends = true;
    }
}

bool bcri_packets_send(struct bcri_link_thread *thread)
{
    bool sends = false;
    struct path *path;
    LIST_FOREACH (path, &thread->paths, entry) {
        if (path->paused != 0)
            bcri_lane_resume(thread, path);
        if (!path_is_awake(thread, path))
            continue;
        if (path->on_tree)
            sends |= send_by_tree(thread, path);
        else if (!thread->full)
            sends |= send_by_udp(thread, path);
    }
    if (!flush_packets(thread))
        thread->full = true;
    return sends;
}
