/* SPDX-License-Identifier: MIT */
/* The root's part of introductions (introduce.h): it knows all hosts, brings two of them together when
 * one asks for it, and tells all others when one is lost. */
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "introduce.h"
#include "introductions.h"
#include "keys.h"
#include "links.h"
#include "places.h"

static bool is_gone(const struct enl_introductions *all, uint32_t host)
{
    const struct enl_member *member = all->gone;
    while (member != NULL && member->host != host)
        member = member->next;
    return member != NULL;
}

/* Whether no CCE has ever been on a host of that number: it was not given out, or its daemon is not up yet. */
static bool never_was(const struct enl_program *program, uint32_t host)
{
    if (program->tree == NULL || host > program->tree->last_number)
        return true;
    const struct enl_child *child = enl_tree_child(program, host);
    return child != NULL && !child->announced;
}

/* It is lost, for good; or UNKNOWN. */
static void tell_lost(struct enl_program *program, const struct enl_member *member, uint32_t host)
{
    const bool is_unknown = never_was(program, host);
    const struct bcri_control message = {.type = BCRI_MSG_lost,
                                         .present = BCRI_HAS(host) | BCRI_HAS(flags),
                                         .host = host,
                                         .flags = is_unknown ? BCRI_LOST_UNKNOWN : 0};
    if (member->child != NULL)
        enl_child_send(member->child, &message);
    else if (is_unknown)
        enl_links_unknown(program, host);
    else
        enl_links_lost(program, host);
}

/* Tells `member` of `other`, whose random bytes those are. */
static void present(const struct enl_member *member, const struct enl_member *other,
                    enum bcri_control_type type, const uint8_t *random)
{
    const struct enl_member known = enl_member_known_to(member, other);
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
    enl_child_send(member->child, &message);
}

const char *enl_introducer_arrange(struct enl_program *program, const struct enl_member *asker,
                                   uint32_t number, const uint8_t *random)
{
    struct enl_introductions *all = program->introductions;
    const struct enl_member *other = enl_member_find(all, number);
    if (other == asker)
        return "it wants a link to itself";
    if (other == NULL && is_gone(all, number))
        return NULL; /* the asker is told with all others when that is lost */
    if (other == NULL) {
        tell_lost(program, asker, number);
        return NULL;
    }
    if (*enl_pair_find(all, asker->host, number) != NULL)
        return NULL;
    if (other->child == NULL) {
        uint8_t own[BCRI_SEAL_KEY_BYTES];
        enl_keys_random(own);
        const struct enl_member known = enl_member_known_to(other, asker);
        const char *wrong = enl_member_link(program, &known, asker->has_aes && other->has_aes, own, random);
        if (wrong == NULL)
            present(asker, other, BCRI_MSG_introduced, own);
        return wrong;
    }
    if (!enl_pair_add(all, asker->host, number, random)) {
        enl_child_cut(other->child, enl_no_memory_for_link);
        return NULL;
    }
    present(other, asker, BCRI_MSG_introduce, random);
    return NULL;
}

/* `other` has made its end of a link to host `number`. */
static const char *take_agreed(struct enl_program *program, const struct enl_member *other, uint32_t number,
                               const uint8_t *random)
{
    struct enl_introductions *all = program->introductions;
    const struct enl_member *asker = enl_member_find(all, number);
    struct enl_pair **at = enl_pair_find(all, number, other->host);
    if (asker == NULL)
        return NULL; /* it is gone, as `other` has been told */
    if (*at == NULL || (*at)->asker != number)
        return "it agrees to a link that nobody wanted";
    const char *wrong = NULL;
    const struct enl_member known = enl_member_known_to(asker, other);
    if (asker->child != NULL)
        present(asker, other, BCRI_MSG_introduced, random);
    else
        wrong = enl_member_link(program, &known, asker->has_aes && other->has_aes, (*at)->random, random);
    enl_pair_drop(at);
    return wrong;
}

static const char *take_announce(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_introductions *all = child->program->introductions;
    struct bcri_link_address addresses[BCRI_INTRODUCED_MAX];
    uint32_t count;
    if (enl_member_find(all, child->number) != NULL)
        return "it announces itself twice";
    if (!enl_introduction_is_key(message->key) ||
        !enl_keys_accept(child->program->keys, (const uint8_t *)message->key.bytes))
        return "its public key is none";
    if (!enl_addresses_read((const uint8_t *)message->addresses.bytes, message->addresses.length, addresses,
                            &count))
        return "its addresses are none";
    struct enl_member *member = calloc(1, sizeof *member);
    if (member == NULL)
        return "no memory";
    *member = (struct enl_member){.next = all->members,
                                  .child = child,
                                  .host = child->number,
                                  .has_aes = (message->flags & ENL_HAS_AES) != 0,
                                  .addresses_length = message->addresses.length};
    enl_member_call(member, child->host->name, child->station);
    memcpy(member->public, message->key.bytes, sizeof member->public);
    if (message->addresses.length != 0)
        memcpy(member->addresses, message->addresses.bytes, message->addresses.length);
    all->members = member;
    child->announced = true;
    enl_reserve_accept(child, message);
    return NULL;
}

const char *enl_introduce_of_child(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_program *program = child->program;
    if (message->type == BCRI_MSG_announce)
        return take_announce(child, message);
    if (!enl_introduction_is_key(message->random))
        return "its random bytes are too few";
    const struct enl_member *member = enl_member_find(program->introductions, child->number);
    const uint8_t *random = (const uint8_t *)message->random.bytes;
    return message->type == BCRI_MSG_want ? enl_introducer_arrange(program, member, message->host, random)
                                          : take_agreed(program, member, message->host, random);
}

static void on_lease(uv_timer_t *timer);

/* All others learn that those are lost whose daemons have ended by now. */
static void lose(struct enl_introductions *all)
{
    const uint64_t now_ms = enl_boottime_ms();
    uint64_t next_ms = UINT64_MAX;
    for (struct enl_member **at = &all->gone, *member; (member = *at) != NULL;) {
        if (member->lease_ms > now_ms) {
            next_ms = member->lease_ms < next_ms ? member->lease_ms : next_ms;
            at = &member->next;
            continue;
        }
        *at = member->next;
        tell_lost(all->program, &all->self, member->host);
        for (const struct enl_member *other = all->members; other != NULL; other = other->next)
            tell_lost(all->program, other, member->host);
        free(member);
    }
    if (next_ms != UINT64_MAX)
        uv_timer_start(&all->lease, on_lease, next_ms - now_ms, 0);
}

static void on_lease(uv_timer_t *timer)
{
    lose(timer->data);
}

/* Nobody may act on the death of a host whose daemon may still work: what that has taken would be
 * taken twice. */
void enl_introduce_gone(struct enl_program *program, const struct enl_child *child)
{
    struct enl_introductions *all = program->introductions;
    if (all == NULL)
        return;
    struct enl_member **at = &all->members;
    while (*at != NULL && (*at)->child != child)
        at = &(*at)->next;
    struct enl_member *member = *at;
    if (member == NULL)
        return;
    *at = member->next;
    enl_pairs_drop(all, member->host);
    member->child = NULL;
    member->lease_ms = enl_child_lease_ms(child);
    member->next = all->gone;
    all->gone = member;
    lose(all);
}
