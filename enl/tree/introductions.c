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

static const char *introduce_member(struct enl_introductions *all, const struct enl_member *member,
                                    bool both_have_aes, const uint8_t *own_random, const uint8_t *peer_random,
                                    uint16_t lane, bool listens)
{
    const struct enl_keys *keys = all->keys;
    const struct enl_keys_met met = {member->host, member->public, own_random, peer_random, both_have_aes};
    if (both_have_aes && !keys->has_aes)
        return "a cipher that this host has not";
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

const char *enl_member_link(struct enl_introductions *all, const struct enl_member *member,
                            bool both_have_aes, const uint8_t *own_random, const uint8_t *peer_random)
{
    return introduce_member(all, member, both_have_aes, own_random, peer_random, BCRI_LANE_ORDERS, false);
}

const char *enl_member_link_control_link(struct enl_introductions *all, const struct enl_member *member,
                                         bool both_have_aes, const uint8_t *own_random,
                                         const uint8_t *peer_random, bool listens)
{
    return introduce_member(all, member, both_have_aes, own_random, peer_random, BCRI_LANE_TREE, listens);
}
