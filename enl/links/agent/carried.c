/* SPDX-License-Identifier: MIT */
/* carried.c -- packets that go over the tree of daemons, between the link thread and the loop: a queue
 * each way, both bounded. What finds the way in full is dropped, as by a network; the way out is not
 * filled further than the loop takes. */
#include <stdlib.h>
#include <string.h>

#include "links/agent/thread_private.h"

enum { OUT_MAX = 64, IN_MAX = 512 }; /* packets */

static struct carried *new_carried(uint32_t host, const void *packet, uint32_t bytes)
{
    struct carried *carried = malloc(sizeof *carried + bytes);
    if (carried == NULL)
        return NULL;
    *carried = (struct carried){.host = host, .bytes = bytes};
    memcpy(carried->packet, packet, bytes);
    return carried;
}

bool bcri_carried_has_room(struct bcri_link_thread *thread)
{
    if (atomic_load(&thread->out.count) < OUT_MAX)
        return true;
    atomic_store(&thread->out_full, true); /* the loop may have taken some before it could see that */
    return atomic_load(&thread->out.count) < OUT_MAX;
}

void bcri_carried_send(struct bcri_link_thread *thread, uint32_t host, const uint8_t *packet, uint32_t bytes)
{
    struct carried *carried = new_carried(host, packet, bytes);
    if (carried != NULL && enl_mailbox_add(&thread->out, &carried->mail)) /* else the link sends it again */
        thread->config.told(thread->config.owner);
}

uint32_t bcri_link_thread_take_packet(struct bcri_link_thread *thread, uint32_t *host_out,
                                      uint8_t packet_out[BCRI_CARRIED_MAX])
{
    struct carried *carried = (struct carried *)enl_mailbox_take(&thread->out);
    if (atomic_load(&thread->out.count) <= OUT_MAX / 2 && atomic_exchange(&thread->out_full, false))
        bcri_thread_ring(thread);
    if (carried == NULL)
        return 0;
    const uint32_t bytes = carried->bytes;
    *host_out = carried->host;
    memcpy(packet_out, carried->packet, bytes);
    free(carried);
    return bytes;
}

void bcri_link_thread_carried(struct bcri_link_thread *thread, const void *packet, uint32_t bytes)
{
    const bool fits = bytes <= BCRI_CARRIED_MAX && atomic_load(&thread->in.count) < IN_MAX;
    struct carried *carried = fits ? new_carried(0, packet, bytes) : NULL;
    if (carried != NULL && enl_mailbox_add(&thread->in, &carried->mail))
        bcri_thread_ring(thread);
}
