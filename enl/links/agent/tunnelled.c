/* SPDX-License-Identifier: MIT */
/* tunnelled.c -- packets that go over the tree of daemons, between the link thread and the loop: a queue
 * each way, both bounded. What finds the way in full is dropped, as by a network; the way out is not
 * filled further than the loop takes. */
#include <stdlib.h>
#include <string.h>

#include "links/agent/thread_private.h"

enum { OUT_MAX = 64, IN_MAX = 512 }; /* packets */

static struct tunnelled *new_tunnelled(uint32_t host, const void *packet, uint32_t bytes)
{
    struct tunnelled *tunnelled = malloc(sizeof *tunnelled + bytes);
    if (tunnelled == NULL)
        return NULL;
    *tunnelled = (struct tunnelled){.host = host, .bytes = bytes};
    memcpy(tunnelled->packet, packet, bytes);
    return tunnelled;
}

bool bcri_tunnelled_has_room(struct bcri_link_thread *thread)
{
    if (atomic_load(&thread->out.count) < OUT_MAX)
        return true;
    atomic_store(&thread->out_full, true); /* the loop may have taken some before it could see that */
    return atomic_load(&thread->out.count) < OUT_MAX;
}

void bcri_tunnelled_send(struct bcri_link_thread *thread, uint32_t host, const uint8_t *packet,
                         uint32_t bytes)
{
    struct tunnelled *tunnelled = new_tunnelled(host, packet, bytes);
    if (tunnelled != NULL &&
        enl_mailbox_add(&thread->out, &tunnelled->mail)) /* else the link sends it again */
        thread->config.told(thread->config.owner);
}

uint32_t bcri_link_thread_take_packet(struct bcri_link_thread *thread, uint32_t *host_out,
                                      uint8_t packet_out[BCRI_TUNNELLED_MAX])
{
    struct tunnelled *tunnelled = (struct tunnelled *)enl_mailbox_take(&thread->out);
    if (atomic_load(&thread->out.count) <= OUT_MAX / 2 && atomic_exchange(&thread->out_full, false))
        bcri_thread_ring(thread);
    if (tunnelled == NULL)
        return 0;
    const uint32_t bytes = tunnelled->bytes;
    *host_out = tunnelled->host;
    memcpy(packet_out, tunnelled->packet, bytes);
    free(tunnelled);
    return bytes;
}

void bcri_link_thread_tunnelled(struct bcri_link_thread *thread, const void *packet, uint32_t bytes)
{
    const bool fits = bytes <= BCRI_TUNNELLED_MAX && atomic_load(&thread->in.count) < IN_MAX;
    struct tunnelled *tunnelled = fits ? new_tunnelled(0, packet, bytes) : NULL;
    if (tunnelled != NULL && enl_mailbox_add(&thread->in, &tunnelled->mail))
        bcri_thread_ring(thread);
}
