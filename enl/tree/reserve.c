/* SPDX-License-Identifier: MIT */
/* See reserve.h. */
#include "reserve.h"

#include <string.h>

#include "child.h"
#include "introductions.h"
#include "keys.h"

/* A child's. */
static struct {
    struct enl_reserve reserve;
    struct enl_member root;
} own;

/* The link is made once. A link's two ends must not differ in who has which bytes; `own` are this side's. */
static bool make(struct enl_program *program, struct enl_reserve *reserve, const struct enl_member *other,
                 bool listens)
{
    const bool both_have_aes = program->introductions->self.has_aes && other->has_aes;
    if (!reserve->is_there || reserve->is_made)
        return false;
    const char *wrong =
        enl_member_link_lane(program, other, both_have_aes, reserve->own, reserve->other, listens);
    if (wrong == enl_no_memory_for_link)
        return false; /* there is no link, and no packet number was used: it is tried again */
    reserve->is_made = true;
    bcri_seal_wipe(reserve->own, sizeof reserve->own);
    bcri_seal_wipe(reserve->other, sizeof reserve->other);
    if (wrong != NULL)
        bcri_log_write(&program->log, BCRI_LOG_WARN, "no link in reserve to host %u: %s", other->host, wrong);
    return wrong == NULL;
}

/* ---- the root's ---- */

void enl_reserve_offer(struct enl_child *child, struct bcri_control *start,
                       uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX])
{
    const struct enl_member *self = &child->program->introductions->self;
    struct enl_member there = {.host = child->number};
    enl_member_call(&there, child->host->name, child->station);
    const struct enl_member known = enl_member_known_to(&there, self);
    enl_keys_random(child->reserve.own);
    memcpy(addresses, known.addresses, sizeof known.addresses);
    start->present |= BCRI_HAS(public) | BCRI_HAS(random) | BCRI_HAS(addresses);
    start->public = enl_introduction_view(self->public, sizeof self->public);
    start->random = enl_introduction_view(child->reserve.own, sizeof child->reserve.own);
    start->addresses = enl_introduction_view(addresses, known.addresses_length);
    start->flags |= self->has_aes ? BCRI_START_AES : 0;
    child->has_offered = true;
}

void enl_reserve_accept(struct enl_child *child, const struct bcri_control *announce)
{
    if (!child->has_offered || !enl_introduction_is_key(announce->random))
        return;
    memcpy(child->reserve.other, announce->random.bytes, sizeof child->reserve.other);
    child->reserve.is_there = true;
}

void enl_reserve_listen(struct enl_child *child)
{
    struct enl_introductions *all = child->program->introductions;
    const struct enl_member *member = all != NULL ? enl_member_find(all, child->number) : NULL;
    if (member == NULL)
        return;
    const struct enl_member known = enl_member_known_to(&all->self, member);
    (void)make(child->program, &child->reserve, &known, true);
}

/* ---- a child's ---- */

void enl_reserve_take(const struct bcri_control *start)
{
    if (!enl_introduction_is_key(start->public) || !enl_introduction_is_key(start->random))
        return;
    own.root = (struct enl_member){.has_aes = (start->flags & BCRI_START_AES) != 0,
                                   .addresses_length = start->addresses.length};
    memcpy(own.root.public, start->public.bytes, sizeof own.root.public);
    if (start->addresses.length != 0)
        memcpy(own.root.addresses, start->addresses.bytes, start->addresses.length);
    memcpy(own.reserve.other, start->random.bytes, sizeof own.reserve.other);
    enl_keys_random(own.reserve.own);
    own.reserve.is_there = true;
}

bool enl_reserve_answer(struct bcri_control *announce)
{
    if (!own.reserve.is_there)
        return false;
    announce->present |= BCRI_HAS(random);
    announce->random = enl_introduction_view(own.reserve.own, sizeof own.reserve.own);
    return true;
}

bool enl_reserve_make(struct enl_program *program)
{
    return make(program, &own.reserve, &own.root, false);
}
