/* SPDX-License-Identifier: MIT */
/* See introductions.h. */
#include "tree/introductions.h"

#include <stdlib.h>
#include <string.h>

/* A link's two ends must not differ in who has which bytes; `own` are this side's. */
static const char *make(struct enl_control_link *control_link, struct enl_introductions *all,
                        const struct enl_member *other, bool listens)
{
    if (!control_link->is_there)
        return "it gives no random bytes for its control link";
    const char *wrong =
        enl_member_link(all, other, control_link->own, control_link->other, BCRI_LANE_TREE, listens);
    control_link->is_there = false; /* it is made once */
    bcri_seal_wipe(control_link->own, sizeof control_link->own);
    bcri_seal_wipe(control_link->other, sizeof control_link->other);
    return wrong;
}

/* ---- the root's ---- */

void enl_control_link_offer(struct enl_control_link *control_link, const struct enl_introductions *all,
                            const struct enl_member *there, struct bcri_control *start,
                            uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX])
{
    const struct enl_member *self = &all->self;
    const struct enl_member known = enl_member_known_to(there, self);
    enl_keys_random(control_link->own);
    memcpy(addresses, known.addresses, sizeof known.addresses);
    start->present |= BCRI_HAS(public) | BCRI_HAS(random) | BCRI_HAS(addresses);
    start->public = enl_introduction_view(self->public, sizeof self->public);
    start->random = enl_introduction_view(control_link->own, sizeof control_link->own);
    start->addresses = enl_introduction_view(addresses, known.addresses_length);
    start->flags |= self->has_aes ? BCRI_START_AES : 0;
    control_link->is_offered = true;
}

void enl_control_link_accept(struct enl_control_link *control_link, const struct bcri_control *announce)
{
    if (!control_link->is_offered || !enl_introduction_is_key(announce->random))
        return;
    memcpy(control_link->other, announce->random.bytes, sizeof control_link->other);
    control_link->is_offered = false;
    control_link->is_there = true;
}

const char *enl_control_link_listen(struct enl_control_link *control_link, struct enl_introductions *all,
                                    uint32_t host)
{
    const struct enl_member *member = enl_member_find(all, host);
    if (member == NULL)
        return enl_no_memory_for_link;
    const struct enl_member known = enl_member_known_to(&all->self, member);
    return make(control_link, all, &known, true);
}

/* ---- a child's ---- */

struct enl_control_link_up *enl_control_link_take(const struct bcri_control *start)
{
    struct enl_control_link_up *up = NULL;
    if (!enl_introduction_is_key(start->public) || !enl_introduction_is_key(start->random) ||
        (up = calloc(1, sizeof *up)) == NULL)
        return NULL;
    up->root.has_aes = (start->flags & BCRI_START_AES) != 0;
    up->root.addresses_length = start->addresses.length;
    memcpy(up->root.public, start->public.bytes, sizeof up->root.public);
    if (start->addresses.length != 0)
        memcpy(up->root.addresses, start->addresses.bytes, start->addresses.length);
    memcpy(up->control_link.other, start->random.bytes, sizeof up->control_link.other);
    enl_keys_random(up->control_link.own);
    up->control_link.is_there = true;
    return up;
}

void enl_control_link_drop(struct enl_control_link_up *up)
{
    if (up != NULL)
        bcri_seal_wipe(&up->control_link, sizeof up->control_link);
    free(up);
}

void enl_control_link_answer(const struct enl_control_link_up *up, struct bcri_control *announce)
{
    announce->present |= BCRI_HAS(random);
    announce->random = enl_introduction_view(up->control_link.own, sizeof up->control_link.own);
}

const char *enl_control_link_make(struct enl_control_link_up *up, struct enl_introductions *all)
{
    return make(&up->control_link, all, &up->root, false);
}
