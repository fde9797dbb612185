/* SPDX-License-Identifier: MIT */
/* What a daemon knows for introductions (introduce.h), of use to introduce.c and introducer.c alone. */
#ifndef ENL_INTRODUCTIONS_H
#define ENL_INTRODUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "addresses.h"
#include "bcri/seal.h"
#include "child.h"
#include "program.h"

/* Of `flags` in announce: that host's processor does AES-256-GCM; in introductions: both do. */
enum { ENL_HAS_AES = 1 };

/* What a host has announced. */
struct enl_member {
    struct enl_member *next;
    struct enl_child *child; /* NULL: the root's own host */
    uint32_t host;
    char name[256];    /* of the host */
    char net[130];     /* of the root's members: boot ID and network namespace */
    uint64_t lease_ms; /* of one that is gone */
    bool has_aes;
    uint32_t addresses_length;
    uint8_t public[BCRI_SEAL_KEY_BYTES];
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
};

/* Two hosts that are being introduced; in a child, what itself has asked for. */
struct enl_pair {
    struct enl_pair *next;
    uint32_t asker, other;
    uint8_t random[BCRI_SEAL_KEY_BYTES]; /* the asker's */
};

struct enl_introductions {
    struct enl_program *program;
    struct enl_member self;
    /* The root's: its children, up or about to be; those that are gone and may still work on. */
    struct enl_member *members, *gone;
    uv_timer_t lease; /* the next of `gone` is lost */
    struct enl_pair *pairs;
};

/* NULL: that host has announced nothing, or is gone; in a child: it has not been introduced. */
struct enl_member *enl_member_find(struct enl_introductions *all, uint32_t host);
/* Its name, and of which machine it is, by its station. */
void enl_member_call(struct enl_member *member, const char *name, const char *station);
/* Two hosts of which one has no end of their link would wait for ever. So whoever has no memory for its
 * end is given up: in a child, this host; in the root, the child. */
extern const char enl_no_memory_for_link[];
/* Makes this host's end of a link to `member`, or gives it new keys. Returns NULL, or what is wrong with the
 * member, or here. */
const char *enl_member_link(struct enl_program *program, const struct enl_member *member, bool both_have_aes,
                            const uint8_t *own_random, const uint8_t *peer_random);

/* Makes this host's end of a link in the tree's lane (reserve.h); `listens`: it sends nothing first. The same. */
const char *enl_member_link_lane(struct enl_program *program, const struct enl_member *member,
                                 bool both_have_aes, const uint8_t *own_random, const uint8_t *peer_random,
                                 bool listens);
/* What `member` may know of `other`: addresses of the loopback mean another host elsewhere. */
struct enl_member enl_member_known_to(const struct enl_member *member, const struct enl_member *other);

/* Where the pair of these two is, in either order; there is none if NULL is there. */
struct enl_pair **enl_pair_find(struct enl_introductions *all, uint32_t one, uint32_t two);
void enl_pair_drop(struct enl_pair **at);
/* Drops all pairs with that host. */
void enl_pairs_drop(struct enl_introductions *all, uint32_t host);
bool enl_pair_add(struct enl_introductions *all, uint32_t asker, uint32_t other, const uint8_t *random);

/* Whether a message's byte string is a key or random bytes. */
static inline bool enl_introduction_is_key(struct bcri_view bytes)
{
    return bytes.length == BCRI_SEAL_KEY_BYTES;
}

static inline struct bcri_view enl_introduction_view(const uint8_t *bytes, uint32_t length)
{
    return (struct bcri_view){(const char *)bytes, length};
}

/* The root's: `asker` wants a link to host `number`. Returns NULL, or what is wrong with the asker. */
const char *enl_introducer_arrange(struct enl_program *program, const struct enl_member *asker,
                                   uint32_t number, const uint8_t *random);

#endif
