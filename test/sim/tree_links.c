/* SPDX-License-Identifier: MIT */
/* What a daemon of tree_sim.h has of links: the product's introductions, and in place of a link
 * thread the keys of each link. Whatever holds at any moment is looked at here. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tree_sim.h"

struct link *ends_find(const struct ends *ends, uint32_t other)
{
    for (unsigned i = 0; i < ends->count; i++)
        if (ends->links[i].other == other)
            return &ends->links[i];
    return NULL;
}

static struct link *link_of(struct ends *ends, uint32_t other)
{
    struct link *link = ends_find(ends, other);
    if (link != NULL)
        return link;
    if (ends->count == ends->room) {
        ends->room = 2 * ends->room + 16;
        struct link *more = realloc(ends->links, ends->room * sizeof *more);
        CHECK(more != NULL);
        ends->links = more;
    }
    ends->links[ends->count] = (struct link){.other = other};
    return &ends->links[ends->count++];
}

/* ---- what introductions ask of the daemon ---- */

static bool is_gone(uint32_t number)
{
    return enl_lives_find(&sim.lives, number) == NULL;
}

static void send_to(void *owner, uint32_t host, const struct bcri_control *message)
{
    const struct ends *ends = owner;
    const bool introduces = message->type == BCRI_MSG_introduce || message->type == BCRI_MSG_introduced;
    if (ends->number == 0 && ((introduces && message->host != 0 && is_gone(message->host)) || is_gone(host)))
        FAIL("the root says %s of host %u to host %u, and one of them is gone",
             bcri_control_name(message->type), message->host, host);
    if (ends->number == 0)
        root_says(&sim.hosts[host], *message);
    else
        member_says(&sim.hosts[ends->number], *message);
}

/* The control link's: once at each end, of which one sends first, and both have the same keys. */
static bool make_control_link(const struct ends *ends, const struct bcri_link_introduction *introduction)
{
    if (fails(32))
        return false; /* there is no memory */
    const bool is_root = ends->number == 0;
    struct host *host = &sim.hosts[is_root ? introduction->host : ends->number];
    struct bcri_seal_secret *own = is_root ? &host->root_secret : &host->secret;
    const struct bcri_seal_secret *other = is_root ? &host->secret : &host->root_secret;
    CHECK_INT(introduction->listens, is_root);
    CHECK(own->cipher == BCRI_CIPHER_NONE && introduction->secret.cipher != BCRI_CIPHER_NONE);
    *own = introduction->secret;
    if (other->cipher != BCRI_CIPHER_NONE)
        CHECK(memcmp(own->bytes, other->bytes, sizeof own->bytes) == 0);
    return true;
}

static bool make_link(void *owner, struct bcri_link_introduction *introduction)
{
    struct ends *ends = owner;
    CHECK(introduction->host != ends->number);
    if (introduction->lane == BCRI_LANE_TREE)
        return make_control_link(ends, introduction);
    struct link *link = link_of(ends, introduction->host);
    if (link->is_lost)
        FAIL("host %u is introduced to host %u, of which it was told that it is lost", ends->number,
             link->other);
    link->secret = introduction->secret;
    link->is_made = true;
    link->is_wanted = false;
    link->made++;
    return true;
}

/* It has ended, or does nothing any more before it has looked at its lease. */
bool host_works(const struct host *host)
{
    return host->life.was_up && host->runs && host->membership.state != ENL_MEMBERSHIP_STOPPED &&
           host->resumes <= sim.now_ms && sim.now_ms <= host->membership.links_ms;
}

static void absent(void *owner, uint32_t number, bool is_unknown)
{
    struct ends *ends = owner;
    struct link *link = link_of(ends, number);
    link->absent++;
    link->answered += link->is_wanted;
    if (is_unknown) {
        CHECK(!link->is_made && !link->is_lost && link->is_wanted);
        member_is_refused(&sim.hosts[ends->number]);
    } else {
        CHECK(number <= sim.last_number); /* perhaps again, if its want has met that */
        if (host_works(&sim.hosts[number]))
            FAIL("host %u is told that host %u is lost, which works", ends->number, number);
        link->is_lost = true;
    }
    link->is_made = link->is_wanted = false;
}

static void give_up(void *owner, uint32_t host)
{
    FAIL("host %u gives up host %u", ((struct ends *)owner)->number, host);
}

static bool is_coming(void *owner, uint32_t host)
{
    CHECK_UINT(((struct ends *)owner)->number, 0);
    return host > sim.last_number ||
           (host != 0 && !sim.hosts[host].life.was_up && sim.hosts[host].life.state != ENL_LIFE_GONE);
}

static const struct enl_introductions_ops ops = {send_to, make_link, absent, give_up, is_coming};

/* ---- what the link thread would say ---- */

static void want(struct ends *ends, struct link *link)
{
    link->is_wanted = true;
    if (ends->number == 0)
        enl_introducer_want(&ends->all, link->other);
    else
        enl_introduced_want(&ends->all, link->other);
}

bool ends_want(struct ends *ends, uint32_t other)
{
    struct link *link = link_of(ends, other);
    if (link->is_made || link->is_wanted || link->is_lost)
        return false;
    want(ends, link);
    return true;
}

void ends_renew(struct ends *ends, struct link *link)
{
    if (link->is_made && !link->is_wanted)
        want(ends, link);
}

void ends_begin(struct ends *ends, uint32_t number, const uint8_t *program_key)
{
    *ends = (struct ends){.number = number};
    CHECK(enl_keys_make(&ends->keys, program_key));
    ends->keys.host = number;
    ends->keys.encrypts = true;
    ends->keys.has_aes = number % 3 != 0;
    ends->all.ops = &ops;
    ends->all.owner = ends;
    enl_introductions_init(&ends->all, &ends->keys, "host", "boot net user abi");
}

void ends_end(struct ends *ends)
{
    enl_introductions_drop(&ends->all);
    free(ends->links);
}
