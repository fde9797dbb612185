/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "conductor/child.h"

#include "links/links.h"
#include "wire/wire.h"

/* To another host, by the pipes; nowhere if these are closed. It may be gone, and wait for the acknowledgement of its last word. */
static void send_down(struct enl_program *program, const struct bcri_control *message)
{
    struct enl_peer *pipes = enl_tree_pipes(program, message->host);
    struct bcri_control routed = *message;
    if (pipes == NULL)
        return;
    if (program->tree->numbered[message->host].first != message->host) {
        routed.present |= BCRI_HAS(to);
        routed.to = message->host;
    }
    routed.present &= ~BCRI_HAS(from);
    enl_peer_send(pipes, &routed);
}

void enl_tunnelled_send(struct enl_program *program, uint32_t host, const void *packet, uint32_t bytes)
{
    const struct bcri_control message = {.type = BCRI_MSG_carry,
                                         .present = BCRI_HAS(host) | BCRI_HAS(bytes),
                                         .host = host,
                                         .bytes = {packet, bytes}};
    struct enl_peer *pipes = program->pipes;
    if (pipes != NULL)
        enl_peer_send(pipes, &message);
    else if (!program->self.is_child)
        send_down(program, &message);
}

const char *enl_tunnelled_of_child(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_program *program = child->program;
    if (message->host == child->life.number)
        return "it sends a packet to itself";
    if (message->host == program->self.host_number)
        bcri_link_thread_tunnelled(program->links.thread, message->bytes.bytes, message->bytes.length);
    else
        send_down(program, message);
    return NULL;
}

const char *enl_tunnelled_of_parent(struct enl_program *program, const struct bcri_control *message)
{
    if (message->host != program->self.host_number)
        return "it brings a packet for another host";
    bcri_link_thread_tunnelled(program->links.thread, message->bytes.bytes, message->bytes.length);
    return NULL;
}
