/* SPDX-License-Identifier: MIT */
/* See look_again.h. */
#include "bcri/look_again.h"
#include "bcri/private.h"

void bcri_look_again(struct bcri_ctx *enl, bcri_ref cell)
{
    for (size_t i = 0; i < enl->daemon.look_count; i++)
        if (enl->daemon.looks[i] == cell)
            return;
    if (enl->daemon.look_count == enl->daemon.look_room) {
        size_t room = enl->daemon.look_room != 0 ? 2 * enl->daemon.look_room : 8;
        bcri_ref *list = bcri_private_resize(enl->daemon.looks, room * sizeof *list);
        if (list == NULL)
            return;
        enl->daemon.looks = list;
        enl->daemon.look_room = room;
    }
    enl->daemon.looks[enl->daemon.look_count++] = cell;
}
