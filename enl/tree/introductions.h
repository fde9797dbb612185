/* SPDX-License-Identifier: MIT */
/* introductions.h -- how hosts are introduced to each other: keys, addresses, what a daemon knows for introductions and does
 * about them, and the control link. No loop, clock or network is here, and nothing else of a daemon: introduce.c brings these
 * together with it, test/sim in pretended time. */
#ifndef ENL_INTRODUCTIONS_H
#define ENL_INTRODUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/table.h"
#include "bcri/control.h"
#include "bcri/link_thread.h"
#include "bcri/seal.h"

/* keys.c -- The keys of a daemon: the program's, which the root's daemon has made, and a crypto_kx pair of its
 * own. docs/protocol.md, "Sealing", says what is derived from them. */

/* To lie in secret memory (secret.h). */
struct enl_keys {
    uint8_t program[BCRI_SEAL_KEY_BYTES];
    uint8_t own_secret[BCRI_SEAL_KEY_BYTES], own_public[BCRI_SEAL_KEY_BYTES];
    uint32_t host; /* this one's number */
    bool has_aes;
    bool encrypts;
};

/* Makes the pair, and the program key too if `program_key` is NULL. False: libsodium cannot be
 * used. */
bool enl_keys_make(struct enl_keys *keys, const uint8_t *program_key);
/* Whether another host's public key is one: with some, everybody could know what two hosts agree
 * on. */
bool enl_keys_accept(const struct enl_keys *keys, const uint8_t *peer_public);
void enl_keys_random(uint8_t random[BCRI_SEAL_KEY_BYTES]);

/* What an introduction brings for the keys. */
struct enl_keys_met {
    uint32_t host;
    const uint8_t *peer_public;              /* BCRI_SEAL_KEY_BYTES, as the next two */
    const uint8_t *own_random, *peer_random; /* fresh, one of each host */
    bool both_have_aes;
    bool must_encrypt; /* whatever `security` says: what daemons say to each other starts programs */
};
/* What the link to that host is sealed with. False: its public key is none. */
bool enl_keys_agree(const struct enl_keys *keys, const struct enl_keys_met *met,
                    struct bcri_seal_secret *secret_out);

/* addresses.c -- Where a host can be reached, as daemons tell each other: for each address 4 or 6 (one byte), the
 * port (u16), and the 4 or 16 bytes of the address, one address after the other. */

enum { ENL_ONE_ADDRESS_BYTES = 19 };
_Static_assert(BCRI_ADDRESSES_BYTES_MAX == BCRI_INTRODUCED_MAX * ENL_ONE_ADDRESS_BYTES,
               "as many as an introduction has");

/* Returns the length. Addresses that nobody else could send to are left out. */
uint32_t enl_addresses_write(const struct bcri_link_address *addresses, uint32_t count,
                             uint8_t out[BCRI_ADDRESSES_BYTES_MAX]);
/* Takes out those of the loopback, which mean another host on another machine. Returns the length. */
uint32_t enl_addresses_drop_loopback(uint8_t *bytes, uint32_t length);
/* `bytes` are those of another host: where there is a network on which both hosts have an address, they become that one of the first
 * such network, with the port that they have. `mine`, `theirs`: for each network ENL_ONE_ADDRESS_BYTES, of which the first is 0 if that
 * host has none there. Addresses of the loopback are for hosts of one machine. Returns the length. */
uint32_t enl_addresses_on_network(const uint8_t *mine, const uint8_t *theirs, uint32_t networks,
                                  bool is_one_machine, uint8_t *bytes, uint32_t length);
/* False: these bytes are no addresses, or not of single hosts. */
bool enl_addresses_read(const uint8_t *bytes, size_t length,
                        struct bcri_link_address out[BCRI_INTRODUCED_MAX], uint32_t *count_out);

/* pairs.c -- Hosts that are being introduced, two by two, found by their numbers: when many hosts begin to talk at the same time
 * there are thousands. */

struct enl_pair {
    struct entry at; /* in either order */
    LIST_ENTRY(enl_pair) entry;
    uint32_t requester, other;
    uint8_t random[BCRI_SEAL_KEY_BYTES]; /* the requester's */
};

struct enl_pairs {
    struct table table;
    LIST_HEAD(, enl_pair) list;
};

void enl_pairs_init(struct enl_pairs *all);
/* In either order; NULL: there is none. */
struct enl_pair *enl_pair_find(const struct enl_pairs *all, uint32_t one, uint32_t two);
/* There is none of these two yet. False: no memory. */
bool enl_pair_add(struct enl_pairs *all, uint32_t requester, uint32_t other, const uint8_t *random);
void enl_pair_drop(struct enl_pairs *all, struct enl_pair *pair);
/* Drops all pairs with that host. */
void enl_pairs_drop(struct enl_pairs *all, uint32_t host);
void enl_pairs_free(struct enl_pairs *all);

/* introductions.c -- What the root and a child both know and do (tree.h, introduce.c, has the messages). */

/* Of `flags` in announce: that host's processor does AES-256-GCM; in introductions: both do. */
enum { ENL_HAS_AES = 1 };

/* What a host has announced. */
struct enl_member {
    LIST_ENTRY(enl_member) entry;
    uint32_t host;
    char name[256];    /* of the host */
    char net[130];     /* of the root's members: boot ID and network namespace */
    uint64_t lease_ms; /* of one that is gone */
    /* Of the root's members: their addresses on the networks that data are to go by (enl_addresses_on_network), borrowed; NULL: none. */
    const uint8_t *networks;
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
    /* The root's: whether a host of that number is not up yet, and may be. */
    bool (*is_coming)(void *owner, uint32_t host);
};

struct enl_introductions {
    const struct enl_introductions_ops *ops;
    void *owner;
    const struct enl_keys *keys; /* of this daemon */
    struct enl_member self;
    uint32_t networks; /* how many data are to go by */
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
/* Two hosts of which one has no end of their link would wait for ever. So a host that has no memory for its
 * end is given up: in a child, this host; in the root, the child. */
extern const char enl_no_memory_for_link[];
/* Makes this host's end of a link to `member`, or gives it new keys. `lane`: BCRI_LANE_ORDERS, or BCRI_LANE_TREE for a
 * control link, of which one end listens: it sends nothing first. Returns NULL, or what is wrong with the member, or
 * here. */
const char *enl_member_link(struct enl_introductions *all, const struct enl_member *member,
                            const uint8_t *own_random, const uint8_t *peer_random, uint16_t lane,
                            bool listens);
/* What `member` may know of `other`: addresses of the loopback mean another host elsewhere. */
struct enl_member enl_member_known_to(const struct enl_member *member, const struct enl_member *other);
/* The same for the link by which data go. */
struct enl_member enl_member_data_known_to(const struct enl_introductions *all,
                                           const struct enl_member *member, const struct enl_member *other);

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

/* ---- a child's ---- */

/* What it says of itself. */
struct bcri_control enl_introduced_announce(const struct enl_introductions *all);
/* It wants a link to that host, unless it has said so before and not been answered. */
void enl_introduced_want(struct enl_introductions *all, uint32_t host);
/* introduce, introduced or lost has come. Returns NULL, or what is wrong with it. */
const char *enl_introduced_take(struct enl_introductions *all, const struct bcri_control *message);

/* control_link.c -- The control link (bcri/link_thread.h) between the root and a host that another has started for it: the way of
 * all that the two say to each other once that host has announced itself. Before, they give each other 32 random bytes by
 * the pipes of the tree, in start and announce; keys come of them as of an introduction's (introductions.h), for this
 * link alone. It is made once, since its packet numbers begin at 0, and nothing replaces it.
 *
 *     the host                                              the root
 *        |<------------------ start (random) --------------------|
 *        |---------------- announce (random) ------------------->|  makes its end, which listens
 *     makes its end                                              |
 *        |====================== reply =========================>|  by the control link, as all from now on
 *
 * The pipes of the tree then carry the link's packets while UDP brings nothing, and tell of deaths. */

/* One side's. */
struct enl_control_link {
    bool is_offered; /* the root's: start has had it */
    bool is_there;   /* both hosts have given their bytes */
    uint8_t own[BCRI_SEAL_KEY_BYTES], other[BCRI_SEAL_KEY_BYTES];
};

/* A child's, and what start has said of the root for it. */
struct enl_control_link_up {
    struct enl_control_link control_link;
    struct enl_member root;
};

/* ---- the root's ---- */

/* Adds to `start` what the child needs, which is host `there`; views point into `addresses` and to what is kept. */
void enl_control_link_offer(struct enl_control_link *control_link, const struct enl_introductions *all,
                            const struct enl_member *there, struct bcri_control *start,
                            uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX]);
/* announce has come. */
void enl_control_link_accept(struct enl_control_link *control_link, const struct bcri_control *announce);
/* Makes the root's end, which listens. Returns NULL, or why it cannot be made. */
const char *enl_control_link_listen(struct enl_control_link *control_link, struct enl_introductions *all,
                                    uint32_t host);
/* ---- a child's ---- */

/* What start brings; NULL: nothing, since the root itself has started this host, or no memory for it. */
struct enl_control_link_up *enl_control_link_take(const struct bcri_control *start);
/* Wipes and frees it; NULL is allowed. */
void enl_control_link_drop(struct enl_control_link_up *up);
/* Adds this host's bytes to announce. */
void enl_control_link_answer(const struct enl_control_link_up *up, struct bcri_control *announce);
/* Makes this host's end. Returns NULL, or why it cannot be made. */
const char *enl_control_link_make(struct enl_control_link_up *up, struct enl_introductions *all);

#endif
