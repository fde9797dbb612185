/* SPDX-License-Identifier: MIT */
/* A child's part of introductions (introduce.h): it wants links to other hosts, makes its end when the root has
 * introduced it, and learns who is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/introductions.h"

static void send_random(struct enl_introductions *all, enum bcri_control_type type, uint32_t host,
                        const uint8_t *random)
{
    const struct bcri_control message = {.type = type,
                                         .present = BCRI_HAS(host) | BCRI_HAS(random),
                                         .host = host,
                                         .random = enl_introduction_view(random, BCRI_SEAL_KEY_BYTES)};
    all->ops->send(all->owner, 0, &message);
}

struct bcri_control enl_introduced_announce(const struct enl_introductions *all)
{
    const struct enl_member *self = &all->self;
    return (struct bcri_control){.type = BCRI_MSG_announce,
                                 .present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags),
                                 .key = enl_introduction_view(self->public, sizeof self->public),
                                 .addresses = enl_introduction_view(self->addresses, self->addresses_length),
                                 .flags = self->has_aes ? ENL_HAS_AES : 0};
}

void enl_introduced_want(struct enl_introductions *all, uint32_t host)
{
    uint8_t random[BCRI_SEAL_KEY_BYTES];
    if (enl_pair_find(&all->pairs, all->self.host, host) != NULL)
        return;
    enl_keys_random(random);
    if (enl_pair_add(&all->pairs, all->self.host, host, random))
        send_random(all, BCRI_MSG_want, host, random);
    else
        all->ops->give_up(all->owner, all->self.host);
}

static const char *take_lost(struct enl_introductions *all, const struct bcri_control *message)
{
    const uint32_t host = message->host;
    if (host == 0 || host == all->self.host)
        return "it says that itself or this host is lost";
    enl_pairs_drop(&all->pairs, host);
    all->ops->absent(all->owner, host, (message->flags & BCRI_LOST_UNKNOWN) != 0);
    free(enl_member_take(all, host));
    return NULL;
}

/* Keeps what a host is called that this one is introduced to. */
static void keep_name(struct enl_introductions *all, const struct enl_member *met)
{
    struct enl_member *member = enl_member_find(all, met->host);
    if (member == NULL && (member = calloc(1, sizeof *member)) != NULL) {
        *member = *met;
        if (!enl_member_add(all, member))
            free(member);
    }
}

/* introduce and introduced. */
static const char *take_introduction(struct enl_introductions *all, const struct bcri_control *message)
{
    struct enl_member member = {.host = message->host, .addresses_length = message->addresses.length};
    struct enl_pair *pair = enl_pair_find(&all->pairs, all->self.host, message->host);
    const bool is_answer = message->type == BCRI_MSG_introduced;
    if (!enl_introduction_is_key(message->key) || !enl_introduction_is_key(message->random) ||
        message->host == all->self.host)
        return "an introduction that makes no sense";
    if (is_answer && pair == NULL)
        return "an introduction that this host has not asked for";
    if (!bcri_view_copy(message->machine, member.name, sizeof member.name) || member.name[0] == '\0')
        snprintf(member.name, sizeof member.name, "%u", member.host);
    memcpy(member.public, message->key.bytes, sizeof member.public);
    if (message->addresses.length != 0)
        memcpy(member.addresses, message->addresses.bytes, message->addresses.length);
    uint8_t own[BCRI_SEAL_KEY_BYTES];
    if (is_answer)
        memcpy(own, pair->random, sizeof own);
    else
        enl_keys_random(own);
    if (pair != NULL)
        enl_pair_drop(&all->pairs, pair);
    const char *wrong = enl_member_link(all, &member, (message->flags & ENL_HAS_AES) != 0, own,
                                        (const uint8_t *)message->random.bytes);
    if (wrong == NULL)
        keep_name(all, &member);
    if (wrong == NULL && !is_answer)
        send_random(all, BCRI_MSG_agreed, message->host, own);
    bcri_seal_wipe(own, sizeof own);
    return wrong;
}

const char *enl_introduced_take(struct enl_introductions *all, const struct bcri_control *message)
{
    return message->type == BCRI_MSG_lost ? take_lost(all, message) : take_introduction(all, message);
}
