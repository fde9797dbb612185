/* SPDX-License-Identifier: MIT */
/* See introductions.h. */
#include "tree/introductions.h"

#include <stdlib.h>
#include <string.h>

/* The link is made once. A link's two ends must not differ in who has which bytes; `own` are this side's. */
static bool make(struct enl_backup *backup, struct enl_introductions *all, const struct enl_member *other,
                 bool listens)
{
    if (!backup->is_there || backup->is_made)
        return false;
    const char *wrong = enl_member_link(all, other, backup->own, backup->other, BCRI_LANE_TREE, listens);
    if (wrong == enl_no_memory_for_link)
        return false; /* there is no link, and no packet number was used: it is tried again */
    backup->is_made = true;
    bcri_seal_wipe(backup->own, sizeof backup->own);
    bcri_seal_wipe(backup->other, sizeof backup->other);
    if (wrong != NULL)
        all->ops->no_backup(all->owner, other->host, wrong);
    return wrong == NULL;
}

/* ---- the root's ---- */

void enl_backup_offer(struct enl_backup *backup, const struct enl_introductions *all,
                      const struct enl_member *there, struct bcri_control *start,
                      uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX])
{
    const struct enl_member *self = &all->self;
    const struct enl_member known = enl_member_known_to(there, self);
    enl_keys_random(backup->own);
    memcpy(addresses, known.addresses, sizeof known.addresses);
    start->present |= BCRI_HAS(public) | BCRI_HAS(random) | BCRI_HAS(addresses);
    start->public = enl_introduction_view(self->public, sizeof self->public);
    start->random = enl_introduction_view(backup->own, sizeof backup->own);
    start->addresses = enl_introduction_view(addresses, known.addresses_length);
    start->flags |= self->has_aes ? BCRI_START_AES : 0;
    backup->is_offered = true;
}

void enl_backup_accept(struct enl_backup *backup, const struct bcri_control *announce)
{
    if (!backup->is_offered || !enl_introduction_is_key(announce->random))
        return;
    memcpy(backup->other, announce->random.bytes, sizeof backup->other);
    backup->is_there = true;
}

void enl_backup_listen(struct enl_backup *backup, struct enl_introductions *all, uint32_t host)
{
    const struct enl_member *member = enl_member_find(all, host);
    if (member == NULL)
        return;
    const struct enl_member known = enl_member_known_to(&all->self, member);
    (void)make(backup, all, &known, true);
}

bool enl_backup_is_first(const uint8_t *content, uint32_t bytes)
{
    struct bcri_control message;
    return bcri_control_decode(content, bytes, &message) == NULL && message.type == BCRI_MSG_beat &&
           (message.present & BCRI_HAS(from)) == 0;
}

/* ---- a child's ---- */

struct enl_backup_up *enl_backup_take(const struct bcri_control *start)
{
    struct enl_backup_up *up = NULL;
    if (!enl_introduction_is_key(start->public) || !enl_introduction_is_key(start->random) ||
        (up = calloc(1, sizeof *up)) == NULL)
        return NULL;
    up->root.has_aes = (start->flags & BCRI_START_AES) != 0;
    up->root.addresses_length = start->addresses.length;
    memcpy(up->root.public, start->public.bytes, sizeof up->root.public);
    if (start->addresses.length != 0)
        memcpy(up->root.addresses, start->addresses.bytes, start->addresses.length);
    memcpy(up->backup.other, start->random.bytes, sizeof up->backup.other);
    enl_keys_random(up->backup.own);
    up->backup.is_there = true;
    return up;
}

void enl_backup_drop(struct enl_backup_up *up)
{
    if (up != NULL)
        bcri_seal_wipe(&up->backup, sizeof up->backup);
    free(up);
}

bool enl_backup_answer(const struct enl_backup_up *up, struct bcri_control *announce)
{
    if (up == NULL)
        return false;
    announce->present |= BCRI_HAS(random);
    announce->random = enl_introduction_view(up->backup.own, sizeof up->backup.own);
    return true;
}

bool enl_backup_make(struct enl_backup_up *up, struct enl_introductions *all)
{
    return up != NULL && make(&up->backup, all, &up->root, false);
}
