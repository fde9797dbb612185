/* SPDX-License-Identifier: MIT */
/* The root's part of introductions (tree.h): it knows all hosts, brings two of them together when
 * one asks for it, and tells all others when one is lost. */
#include <stdlib.h>
#include <string.h>

#include "tree/introductions.h"

static bool is_gone(const struct enl_introductions *all, uint32_t host)
{
    const struct enl_member *member;
    LIST_FOREACH (member, &all->gone, entry)
        if (member->host == host)
            return true;
    return false;
}

/* That there is no such host (any more). */
static void tell_absent(struct enl_introductions *all, const struct enl_member *member, uint32_t host,
                        bool is_unknown)
{
    const struct bcri_control message = {.type = BCRI_MSG_lost,
                                         .present = BCRI_HAS(host) | BCRI_HAS(flags),
                                         .host = host,
                                         .flags = is_unknown ? BCRI_LOST_UNKNOWN : 0};
    if (member == &all->self)
        all->ops->absent(all->owner, host, is_unknown);
    else
        all->ops->send(all->owner, member->host, &message);
}

/* Tells `member` of `other`, whose random bytes those are. */
static void present(struct enl_introductions *all, const struct enl_member *member,
                    const struct enl_member *other, enum bcri_control_type type, const uint8_t *random)
{
    const struct enl_member known = enl_member_data_known_to(all, member, other);
    const struct bcri_control message = {.type = type,
                                         .present = BCRI_HAS(host) | BCRI_HAS(key) | BCRI_HAS(addresses) |
                                                    BCRI_HAS(random) | BCRI_HAS(flags) | BCRI_HAS(machine),
                                         .host = known.host,
                                         .machine = bcri_view_of(known.name),
                                         .key = enl_introduction_view(known.public, sizeof known.public),
                                         .addresses =
                                             enl_introduction_view(known.addresses, known.addresses_length),
                                         .random = enl_introduction_view(random, BCRI_SEAL_KEY_BYTES),
                                         .flags = member->has_aes && other->has_aes ? ENL_HAS_AES : 0};
    all->ops->send(all->owner, member->host, &message);
}

/* `requester` wants a link to host `number`. */
static const char *arrange(struct enl_introductions *all, const struct enl_member *requester, uint32_t number,
                           const uint8_t *random)
{
    const struct enl_member *other = enl_member_find(all, number);
    if (other == requester)
        return "it wants a link to itself";
    if (other == NULL && is_gone(all, number))
        return NULL; /* the requester is told with all others when that is lost */
    const bool is_coming = all->ops->is_coming(all->owner, number);
    if (other == NULL || is_coming) { /* what it is sent before it is up is lost with its way */
        tell_absent(all, requester, number, is_coming);
        return NULL;
    }
    if (enl_pair_find(&all->pairs, requester->host, number) != NULL)
        return NULL;
    if (other == &all->self) {
        uint8_t own[BCRI_SEAL_KEY_BYTES];
        enl_keys_random(own);
        const struct enl_member known = enl_member_data_known_to(all, other, requester);
        const char *wrong = enl_member_link(all, &known, own, random, BCRI_LANE_ORDERS, false);
        if (wrong == NULL)
            present(all, requester, other, BCRI_MSG_introduced, own);
        return wrong;
    }
    if (!enl_pair_add(&all->pairs, requester->host, number, random)) {
        all->ops->give_up(all->owner, other->host);
        return NULL;
    }
    present(all, other, requester, BCRI_MSG_introduce, random);
    return NULL;
}

/* `other` has made its end of a link to host `number`. */
static const char *take_agreed(struct enl_introductions *all, const struct enl_member *other, uint32_t number,
                               const uint8_t *random)
{
    const struct enl_member *requester = enl_member_find(all, number);
    struct enl_pair *pair = enl_pair_find(&all->pairs, number, other->host);
    if (requester == NULL)
        return NULL; /* it is gone, as `other` has been told */
    if (pair == NULL || pair->requester != number)
        return "it agrees to a link that nobody wanted";
    const char *wrong = NULL;
    const struct enl_member known = enl_member_data_known_to(all, requester, other);
    if (requester != &all->self)
        present(all, requester, other, BCRI_MSG_introduced, random);
    else
        wrong = enl_member_link(all, &known, pair->random, random, BCRI_LANE_ORDERS, false);
    enl_pair_drop(&all->pairs, pair);
    return wrong;
}

const char *enl_introducer_announced(struct enl_introductions *all, uint32_t host, const char *name,
                                     const char *machine_id, const struct bcri_control *message)
{
    struct bcri_link_address addresses[BCRI_INTRODUCED_MAX];
    uint32_t count;
    if (enl_member_find(all, host) != NULL)
        return "it announces itself twice";
    if (!enl_introduction_is_key(message->key) ||
        !enl_keys_accept(all->keys, (const uint8_t *)message->key.bytes))
        return "its public key is none";
    if (!enl_addresses_read((const uint8_t *)message->addresses.bytes, message->addresses.length, addresses,
                            &count))
        return "its addresses are none";
    struct enl_member *member = calloc(1, sizeof *member);
    if (member == NULL)
        return "no memory";
    *member = (struct enl_member){.host = host,
                                  .has_aes = (message->flags & ENL_HAS_AES) != 0,
                                  .addresses_length = message->addresses.length};
    enl_member_call(member, name, machine_id);
    memcpy(member->public, message->key.bytes, sizeof member->public);
    if (message->addresses.length != 0)
        memcpy(member->addresses, message->addresses.bytes, message->addresses.length);
    if (enl_member_add(all, member))
        return NULL;
    free(member);
    return "no memory";
}

const char *enl_introducer_take(struct enl_introductions *all, uint32_t host,
                                const struct bcri_control *message)
{
    if (!enl_introduction_is_key(message->random))
        return "its random bytes are too few";
    const struct enl_member *member = enl_member_find(all, host);
    const uint8_t *random = (const uint8_t *)message->random.bytes;
    return message->type == BCRI_MSG_want ? arrange(all, member, message->host, random)
                                          : take_agreed(all, member, message->host, random);
}

void enl_introducer_want(struct enl_introductions *all, uint32_t host)
{
    uint8_t random[BCRI_SEAL_KEY_BYTES];
    enl_keys_random(random);
    (void)arrange(all, &all->self, host, random);
}

/* Nobody may act on the death of a host whose daemon may still work: what that has taken would be
 * taken twice. */
void enl_introducer_gone(struct enl_introductions *all, uint32_t host, uint64_t until_ms)
{
    struct enl_member *member = enl_member_take(all, host);
    if (member == NULL)
        return;
    enl_pairs_drop(&all->pairs, host);
    member->lease_ms = until_ms;
    LIST_INSERT_HEAD(&all->gone, member, entry);
}

uint64_t enl_introducer_lose(struct enl_introductions *all, uint64_t now_ms)
{
    uint64_t next_ms = UINT64_MAX;
    for (struct enl_member *member = LIST_FIRST(&all->gone), *next; member != NULL; member = next) {
        next = LIST_NEXT(member, entry);
        if (member->lease_ms > now_ms) {
            next_ms = member->lease_ms < next_ms ? member->lease_ms : next_ms;
            continue;
        }
        LIST_REMOVE(member, entry);
        tell_absent(all, &all->self, member->host, false);
        const struct enl_member *other;
        LIST_FOREACH (other, &all->members, entry)
            tell_absent(all, other, member->host, false);
        free(member);
    }
    return next_ms;
}
