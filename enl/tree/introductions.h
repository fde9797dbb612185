/* SPDX-License-Identifier: MIT */
/* What a daemon knows for introductions (introduce.h), and what it does about them: the root's part, a child's, and
 * what both do. No loop, clock or network is here, and nothing else of a daemon: introduce.c brings these together,
 * test/sim in pretended time. */
#ifndef ENL_INTRODUCTIONS_H
#define ENL_INTRODUCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bcri/control.h"
#include "bcri/link_thread.h"
#include "bcri/seal.h"
#include "tree/addresses.h"
#include "tree/keys.h"
#include "tree/pairs.h"

/* Of `flags` in announce: that host's processor does AES-256-GCM; in introductions: both do. */
enum { ENL_HAS_AES = 1 };

/* What a host has announced. */
struct enl_member {
    LIST_ENTRY(enl_member) entry;
    uint32_t host;
    char name[256];    /* of the host */
    char net[130];     /* of the root's members: boot ID and network namespace */
    uint64_t lease_ms; /* of one that is gone */
    bool has_aes;
    uint32_t addresses_length;
    uint8_t public[BCRI_SEAL_KEY_BYTES];
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
};

/* What is asked of the daemon. */
struct enl_introductions_ops {
    /* To the daemon of that host; a child's: to the root. */
    void (*send)(void *owner, uint32_t host, const struct bcri_control *message);
    /* Makes this host's end of a link, or gives the one that is there new keys, and wipes the introduction. False: no
     * memory. */
    bool (*link)(void *owner, struct bcri_link_introduction *introduction);
    /* There is no such host (any more): who waits for a link to it is told. `is_unknown`: there may be one yet. */
    void (*absent)(void *owner, uint32_t host, bool is_unknown);
    /* There is no memory for a link to or from that host, this one or a child: it is given up. */
    void (*give_up)(void *owner, uint32_t host);
    /* Why this host's end of the link in reserve to that one cannot be made. */
    void (*no_backup)(void *owner, uint32_t host, const char *why);
    /* The root's: whether a host of that number is not up yet, and may be. */
    bool (*is_coming)(void *owner, uint32_t host);
};

struct enl_introductions {
    const struct enl_introductions_ops *ops;
    void *owner;
    const struct enl_keys *keys; /* of this daemon */
    struct enl_member self;
    /* The root's: its children, up or about to be; those that are gone and may still work on. A child's: hosts that it
     * was introduced to. */
    LIST_HEAD(enl_members, enl_member) members, gone;
    struct enl_member **by_host; /* `members` by their numbers, below `room` */
    size_t room;
    struct enl_pairs pairs; /* a child's: what itself has asked for */
};

/* This daemon's, without others; `keys` stay the caller's, `machine ID` is its own. */
void enl_introductions_init(struct enl_introductions *all, const struct enl_keys *keys, const char *name,
                            const char *machine_id);
void enl_introductions_drop(struct enl_introductions *all);

/* NULL: that host has announced nothing, or is gone; in a child: it has not been introduced. */
struct enl_member *enl_member_find(struct enl_introductions *all, uint32_t host);
/* Adds one (malloc), of a host that is not there yet. False: no memory. */
bool enl_member_add(struct enl_introductions *all, struct enl_member *member);
/* Takes that one out; NULL: there is none. */
struct enl_member *enl_member_take(struct enl_introductions *all, uint32_t host);
/* Its name, and of which machine it is, by its machine ID. */
void enl_member_call(struct enl_member *member, const char *name, const char *machine_id);
/* Two hosts of which one has no end of their link would wait for ever. So whoever has no memory for its
 * end is given up: in a child, this host; in the root, the child. */
extern const char enl_no_memory_for_link[];
/* Makes this host's end of a link to `member`, or gives it new keys. Returns NULL, or what is wrong with the
 * member, or here. */
const char *enl_member_link(struct enl_introductions *all, const struct enl_member *member,
                            bool both_have_aes, const uint8_t *own_random, const uint8_t *peer_random);

/* Makes this host's end of a control link (backup.h); `listens`: it sends nothing first. The same. */
const char *enl_member_link_control_link(struct enl_introductions *all, const struct enl_member *member,
                                         bool both_have_aes, const uint8_t *own_random,
                                         const uint8_t *peer_random, bool listens);
/* What `member` may know of `other`: addresses of the loopback mean another host elsewhere. */
struct enl_member enl_member_known_to(const struct enl_member *member, const struct enl_member *other);

/* Whether a message's byte string is a key or random bytes. */
static inline bool enl_introduction_is_key(struct bcri_view bytes)
{
    return bytes.length == BCRI_SEAL_KEY_BYTES;
}

static inline struct bcri_view enl_introduction_view(const uint8_t *bytes, uint32_t length)
{
    return (struct bcri_view){(const char *)bytes, length};
}

/* ---- the root's: introducer.c; each returns NULL, or what is wrong with the one that has said so ---- */

/* announce has come from that host, whose name and machine ID those are. */
const char *enl_introducer_announced(struct enl_introductions *all, uint32_t host, const char *name,
                                     const char *machine_id, const struct bcri_control *message);
/* want or agreed has come from it. */
const char *enl_introducer_take(struct enl_introductions *all, uint32_t host,
                                const struct bcri_control *message);
/* The root itself wants a link to that host. */
void enl_introducer_want(struct enl_introductions *all, uint32_t host);
/* That host is gone. Its daemon may work on until then (CLOCK_BOOTTIME, 0: it does not), and nobody learns of it before
 * (enl_introducer_lose). */
void enl_introducer_gone(struct enl_introductions *all, uint32_t host, uint64_t until_ms);
/* All others learn that those are lost whose daemons have ended by now. Returns when the next will have, or UINT64_MAX. */
uint64_t enl_introducer_lose(struct enl_introductions *all, uint64_t now_ms);

/* ---- a child's: introduced.c ---- */

/* What it says of itself. */
struct bcri_control enl_introduced_announce(const struct enl_introductions *all);
/* It wants a link to that host, unless it has said so before and not been answered. */
void enl_introduced_want(struct enl_introductions *all, uint32_t host);
/* introduce, introduced or lost has come. Returns NULL, or what is wrong with it. */
const char *enl_introduced_take(struct enl_introductions *all, const struct bcri_control *message);

#endif
