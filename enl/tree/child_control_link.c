/* SPDX-License-Identifier: MIT */
/* A child whose way through the tree is lost, or silent, goes on by the control link (backup.h). */
#include "carry/carry.h"
#include "tree/child.h"
#include "wire/wire.h"

static bool go_by_control_link(struct enl_child *child)
{
    struct enl_program *program = child->program;
    struct enl_peer *way = child->conn->peer;
    struct enl_peer *control_link =
        enl_peer_new_by_control_link(&program->carry, child->number, &enl_child_peer_ops, child);
    if (control_link == NULL)
        return false; /* it sends another beat */
    child->conn->peer = control_link;
    child->on_control_link = true;
    enl_peer_number(control_link, &child->numbers);
    enl_peer_close(way);
    bcri_log_write(&program->self.log, BCRI_LOG_WARN, "host %s goes on over a link of its own%s",
                   child->host->name,
                   child->is_cut_off ? "" : ": nothing came from it by way of the daemon that started it");
    enl_sequence_ask(&child->numbers);
    child->ops->attached(child);
    return true;
}

void enl_child_control_link_came(struct enl_child *child, const uint8_t *content, uint32_t bytes)
{
    const bool lives = child->state == ENL_CHILD_UP || child->state == ENL_CHILD_ENDING;
    if (!child->backup.is_made || child->conn == NULL || !lives)
        return;
    if (!child->on_control_link && (!enl_backup_is_first(content, bytes) || !go_by_control_link(child)))
        return;
    enl_peer_came(child->conn->peer, content, bytes);
}
