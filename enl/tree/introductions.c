/* SPDX-License-Identifier: MIT */
/* See introductions.h. */
#include "tree/introductions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/secret.h"

void enl_introductions_init(struct enl_introductions *all, const struct enl_keys *keys, const char *name,
                            const char *machine_id)
{
    enl_pairs_init(&all->pairs);
    all->keys = keys;
    all->self.host = keys->host;
    all->self.has_aes = keys->has_aes;
    memcpy(all->self.public, keys->own_public, sizeof all->self.public);
    enl_member_call(&all->self, name, machine_id);
}

static void drop_members(struct enl_members *members)
{
    for (struct enl_member *member; (member = LIST_FIRST(members)) != NULL;) {
        LIST_REMOVE(member, entry);
        free(member);
    }
}

void enl_introductions_drop(struct enl_introductions *all)
{
    enl_pairs_free(&all->pairs);
    free(all->by_host);
    all->by_host = NULL;
    all->room = 0;
    drop_members(&all->members);
    drop_members(&all->gone);
}

void enl_member_call(struct enl_member *member, const char *name, const char *machine_id)
{
    const char *boot_end = strchr(machine_id, ' ');
    const char *net_end = boot_end != NULL ? strchr(boot_end + 1, ' ') : NULL;
    snprintf(member->name, sizeof member->name, "%s", name);
    snprintf(member->net, sizeof member->net, "%.*s", net_end != NULL ? (int)(net_end - machine_id) : 0,
             machine_id);
}

struct enl_member *enl_member_find(struct enl_introductions *all, uint32_t host)
{
    if (host == all->self.host)
        return &all->self;
    return host < all->room ? all->by_host[host] : NULL;
}

bool enl_member_add(struct enl_introductions *all, struct enl_member *member)
{
    if (!enl_grow(&all->by_host, &all->room, member->host + 1ul, sizeof(struct enl_member *)))
        return false;
    all->by_host[member->host] = member;
    LIST_INSERT_HEAD(&all->members, member, entry);
    return true;
}

struct enl_member *enl_member_take(struct enl_introductions *all, uint32_t host)
{
    struct enl_member *member = host < all->room ? all->by_host[host] : NULL;
    if (member == NULL)
        return NULL;
    LIST_REMOVE(member, entry);
    all->by_host[host] = NULL;
    return member;
}

const char enl_no_memory_for_link[] = "there is no memory for a link";

struct enl_member enl_member_known_to(const struct enl_member *member, const struct enl_member *other)
{
    struct enl_member known = *other;
    if (strcmp(member->net, other->net) != 0)
        known.addresses_length = enl_addresses_drop_loopback(known.addresses, known.addresses_length);
    return known;
}

struct enl_member enl_member_data_known_to(const struct enl_introductions *all,
                                           const struct enl_member *member, const struct enl_member *other)
{
    struct enl_member known = enl_member_known_to(member, other);
    if (member->networks != NULL && other->networks != NULL)
        known.addresses_length = enl_addresses_on_network(member->networks, other->networks, all->networks,
                                                          strcmp(member->net, other->net) == 0,
                                                          known.addresses, known.addresses_length);
    return known;
}

const char *enl_member_link(struct enl_introductions *all, const struct enl_member *member,
                            const uint8_t *own_random, const uint8_t *peer_random, uint16_t lane,
                            bool listens)
{
    const struct enl_keys *keys = all->keys;
    const struct enl_keys_met met = {
        member->host,          member->public, own_random, peer_random, all->self.has_aes && member->has_aes,
        lane == BCRI_LANE_TREE};
    struct bcri_link_introduction *introduction = enl_secret_new(sizeof *introduction);
    if (introduction == NULL)
        return enl_no_memory_for_link;
    introduction->host = member->host;
    introduction->lane = lane;
    introduction->listens = listens;
    const char *wrong = NULL;
    if (!enl_addresses_read(member->addresses, member->addresses_length, introduction->address,
                            &introduction->address_count))
        wrong = "addresses that are none";
    else if (!enl_keys_agree(keys, &met, &introduction->secret))
        wrong = "a public key that is none";
    else if (!all->ops->link(all->owner, introduction))
        wrong = enl_no_memory_for_link;
    enl_secret_free(introduction);
    return wrong;
}

/* ---- a child's part: it wants links to other hosts, makes its end when the root has introduced it, and learns which hosts
 * are lost ---- */

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
    struct enl_member member = {.host = message->host,
                                .has_aes = (message->flags & ENL_HAS_AES) != 0,
                                .addresses_length = message->addresses.length};
    struct enl_pair *pair = enl_pair_find(&all->pairs, all->self.host, message->host);
    const bool is_answer = message->type == BCRI_MSG_introduced;
    if (!enl_introduction_is_key(message->key) || !enl_introduction_is_key(message->random) ||
        message->host == all->self.host)
        return "an introduction that makes no sense";
    if (is_answer && pair == NULL)
        return "an introduction that this host has not asked for";
    if (member.has_aes && !all->self.has_aes) /* that both have it */
        return "a cipher that this host has not";
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
    const char *wrong =
        enl_member_link(all, &member, own, (const uint8_t *)message->random.bytes, BCRI_LANE_ORDERS, false);
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
