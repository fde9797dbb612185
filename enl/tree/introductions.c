/* SPDX-License-Identifier: MIT */
/* See introductions.h. */
#include "introductions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "secret.h"

void enl_introductions_init(struct enl_introductions *all, const struct enl_keys *keys, const char *name,
                            const char *station)
{
    all->keys = keys;
    all->self.host = keys->host;
    all->self.has_aes = keys->has_aes;
    memcpy(all->self.public, keys->own_public, sizeof all->self.public);
    enl_member_call(&all->self, name, station);
}

static void drop_members(struct enl_member **members)
{
    for (struct enl_member *member; (member = *members) != NULL;) {
        *members = member->next;
        free(member);
    }
}

void enl_introductions_drop(struct enl_introductions *all)
{
    while (all->pairs != NULL)
        enl_pair_drop(&all->pairs);
    drop_members(&all->members);
    drop_members(&all->gone);
}

void enl_member_call(struct enl_member *member, const char *name, const char *station)
{
    const char *boot_end = strchr(station, ' ');
    const char *net_end = boot_end != NULL ? strchr(boot_end + 1, ' ') : NULL;
    snprintf(member->name, sizeof member->name, "%s", name);
    snprintf(member->net, sizeof member->net, "%.*s", net_end != NULL ? (int)(net_end - station) : 0,
             station);
}

struct enl_member *enl_member_find(struct enl_introductions *all, uint32_t host)
{
    if (host == all->self.host)
        return &all->self;
    struct enl_member *member = all->members;
    while (member != NULL && member->host != host)
        member = member->next;
    return member;
}

struct enl_pair **enl_pair_find(struct enl_introductions *all, uint32_t one, uint32_t two)
{
    struct enl_pair **at = &all->pairs;
    while (*at != NULL && !((*at)->asker == one && (*at)->other == two) &&
           !((*at)->asker == two && (*at)->other == one))
        at = &(*at)->next;
    return at;
}

void enl_pair_drop(struct enl_pair **at)
{
    struct enl_pair *pair = *at;
    *at = pair->next;
    bcri_seal_wipe(pair, sizeof *pair);
    free(pair);
}

void enl_pairs_drop(struct enl_introductions *all, uint32_t host)
{
    for (struct enl_pair **at = &all->pairs; *at != NULL;)
        if ((*at)->asker == host || (*at)->other == host)
            enl_pair_drop(at);
        else
            at = &(*at)->next;
}

bool enl_pair_add(struct enl_introductions *all, uint32_t asker, uint32_t other, const uint8_t *random)
{
    struct enl_pair *pair = malloc(sizeof *pair);
    if (pair == NULL)
        return false;
    *pair = (struct enl_pair){.next = all->pairs, .asker = asker, .other = other};
    memcpy(pair->random, random, sizeof pair->random);
    all->pairs = pair;
    return true;
}

const char enl_no_memory_for_link[] = "there is no memory for a link";

struct enl_member enl_member_known_to(const struct enl_member *member, const struct enl_member *other)
{
    struct enl_member known = *other;
    if (strcmp(member->net, other->net) != 0)
        known.addresses_length = enl_addresses_drop_loopback(known.addresses, known.addresses_length);
    return known;
}

static const char *make_link(struct enl_introductions *all, const struct enl_member *member,
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
    return make_link(all, member, both_have_aes, own_random, peer_random, BCRI_LANE_ORDERS, false);
}

const char *enl_member_link_lane(struct enl_introductions *all, const struct enl_member *member,
                                 bool both_have_aes, const uint8_t *own_random, const uint8_t *peer_random,
                                 bool listens)
{
    return make_link(all, member, both_have_aes, own_random, peer_random, BCRI_LANE_TREE, listens);
}
