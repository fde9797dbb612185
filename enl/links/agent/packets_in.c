/* SPDX-License-Identifier: MIT */
/* packets_in.c -- packets that come, by UDP or over the tree of daemons: each to the link of its path. */
#include <stdlib.h>
#include <string.h>

#include "links/agent/thread_private.h"

/* From the socket at a time, so that a flood of packets does not stop what is sent. */
enum { RECEIVES_MAX = 64 };

static void on_packet(void *context, const struct sockaddr *from, socklen_t from_bytes, uint8_t *packet,
                      size_t bytes)
{
    struct bcri_link_thread *thread = context;
    uint32_t host;
    if (!bcri_link_sender(packet, bytes, &host))
        return;
    struct path *path = bcri_path_find(thread, host, bcri_link_lane(packet));
    if (path == NULL || (thread->over && path->lane != BCRI_LANE_TREE) ||
        !bcri_link_receive(path->link, packet, bytes, thread->now) || from_bytes > sizeof path->found.at)
        return;
    path->listens = false;
    /* A host that has moved is followed, since the packet is its own and new. While the link is on the tree, it does not
     * say that packets arrive there. */
    bcri_lane_way_came(&path->by_udp, !path->on_tree);
    memcpy(&path->found.at, from, from_bytes);
    path->found.bytes = from_bytes;
}

bool bcri_packets_receive(struct bcri_link_thread *thread)
{
    int batches = 0;
    while (batches < RECEIVES_MAX && bcri_udp_receive(thread->udp, on_packet, thread) != 0) {
        batches++;
        if (!bcri_udp_has_more(thread->udp))
            break;
    }
    return batches != 0;
}

void bcri_packets_take_tunnelled(struct bcri_link_thread *thread)
{
    struct enl_mails all = STAILQ_HEAD_INITIALIZER(all);
    enl_mailbox_take_all(&thread->box[TREE_IN], &all);
    for (struct parcel *parcel; (parcel = (struct parcel *)STAILQ_FIRST(&all)) != NULL;) {
        uint32_t host;
        STAILQ_REMOVE_HEAD(&all, entry);
        struct path *path = bcri_link_sender(parcel->content, parcel->bytes, &host)
                                ? bcri_path_find(thread, host, bcri_link_lane(parcel->content))
                                : NULL;
        const bool is_tree = path != NULL && path->lane == BCRI_LANE_TREE;
        const uint64_t heard_at = path != NULL ? bcri_link_heard_at(path->link) : 0;
        if (path != NULL && (is_tree || !thread->over) &&
            bcri_link_receive(path->link, parcel->content, parcel->bytes, thread->now)) {
            path->listens = false;
            if (is_tree)
                bcri_lane_way_came(&path->by_udp, false);
            else
                bcri_path_came_by_tree(thread, path, heard_at);
        }
        free(parcel);
    }
}
