/* SPDX-License-Identifier: MIT */
/* carried.c -- packets that go over the tree of daemons, between the link thread and the loop: a queue
 * each way, both bounded. What finds the way in full is dropped, as by a network; the way out is not
 * filled further than the loop takes. */
#include <stdlib.h>
#include <string.h>

#include "links/agent/thread_private.h"

enum { OUT_MAX = 64, IN_MAX = 512 }; /* packets */

void bcri_carried_init(struct bcri_link_thread *thread)
{
    thread->out.end = &thread->out.first;
    thread->in.end = &thread->in.first;
}

static struct carried *new_carried(uint32_t host, const void *packet, uint32_t bytes)
{
    struct carried *carried = malloc(sizeof *carried + bytes);
    if (carried == NULL)
        return NULL;
    *carried = (struct carried){.host = host, .bytes = bytes};
    memcpy(carried->packet, packet, bytes);
    return carried;
}

/* With the mutex. */
static void add_carried(struct carried_queue *queue, struct carried *carried)
{
    carried->next = NULL;
    *queue->end = carried;
    queue->end = &carried->next;
    queue->count++;
}

static struct carried *take_all(struct carried_queue *queue)
{
    struct carried *first = queue->first;
    queue->first = NULL;
    queue->end = &queue->first;
    queue->count = 0;
    return first;
}

static void free_all(struct carried *carried)
{
    while (carried != NULL) {
        struct carried *next = carried->next;
        free(carried);
        carried = next;
    }
}

void bcri_carried_drop(struct bcri_link_thread *thread)
{
    free_all(take_all(&thread->out));
    free_all(take_all(&thread->in));
}

bool bcri_carried_has_room(struct bcri_link_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    const bool has_room = thread->out.count < OUT_MAX;
    thread->out_full = !has_room;
    pthread_mutex_unlock(&thread->mutex);
    return has_room;
}

void bcri_carried_send(struct bcri_link_thread *thread, uint32_t host, const uint8_t *packet, uint32_t bytes)
{
    struct carried *carried = new_carried(host, packet, bytes);
    if (carried == NULL)
        return; /* the link sends it again */
    pthread_mutex_lock(&thread->mutex);
    const bool was_empty = thread->out.count == 0;
    add_carried(&thread->out, carried);
    pthread_mutex_unlock(&thread->mutex);
    if (was_empty)
        thread->config.told(thread->config.owner);
}

uint32_t bcri_link_thread_take_packet(struct bcri_link_thread *thread, uint32_t *host_out,
                                      uint8_t packet_out[BCRI_CARRIED_MAX])
{
    pthread_mutex_lock(&thread->mutex);
    struct carried *carried = thread->out.first;
    if (carried != NULL && (thread->out.first = carried->next) == NULL)
        thread->out.end = &thread->out.first;
    thread->out.count -= carried != NULL;
    const bool rings = thread->out_full && thread->out.count <= OUT_MAX / 2;
    if (rings)
        thread->out_full = false;
    pthread_mutex_unlock(&thread->mutex);
    if (rings)
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
    struct carried *carried = bytes <= BCRI_CARRIED_MAX ? new_carried(0, packet, bytes) : NULL;
    if (carried == NULL)
        return;
    pthread_mutex_lock(&thread->mutex);
    const bool fits = thread->in.count < IN_MAX, was_empty = thread->in.count == 0;
    if (fits)
        add_carried(&thread->in, carried);
    pthread_mutex_unlock(&thread->mutex);
    if (!fits)
        free(carried);
    else if (was_empty)
        bcri_thread_ring(thread);
}

struct carried *bcri_carried_take(struct bcri_link_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    struct carried *first = take_all(&thread->in);
    pthread_mutex_unlock(&thread->mutex);
    return first;
}
