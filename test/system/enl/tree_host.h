/* SPDX-License-Identifier: MIT */
/* A host that a test is: it has keys, which it derives by docs/protocol.md alone, and a UDP socket on the
 * loopback, and opens links as its end of them. */
#ifndef TREE_HOST_H
#define TREE_HOST_H

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>

#include "bcri/control.h"
#include "bcri/link.h"
#include "tree/introductions.h"

struct tree_own {
    uint32_t number;
    uint8_t public[32], secret[32], random[32];
    int udp;
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
    uint32_t addresses_length;
};

/* What it knows of another. */
struct tree_other {
    uint32_t number, flags;
    uint8_t public[32], random[32];
    struct bcri_link_address address[BCRI_INTRODUCED_MAX];
    uint32_t address_count;
};

/* What two hosts have, and what follows from it: docs/protocol.md, "Sealing". */
struct tree_derived {
    uint8_t kx[64]; /* from higher to lower, and back */
    struct bcri_seal_secret session;
    uint8_t to[32], from[32]; /* the keys of generation 0 */
};

static inline struct bcri_view tree_view(const void *bytes, size_t length)
{
    return (struct bcri_view){bytes, (uint32_t)length};
}

/* CLOCK_MONOTONIC. */
uint64_t tree_now_ns(void);
void tree_become(struct tree_own *own, uint32_t number);
uint32_t tree_own_flags(void);
/* Keeps what a message says of the other: key, addresses, flags; its random bytes. */
void tree_know(struct tree_other *other, const struct bcri_control *message);
void tree_know_random(struct tree_other *other, const struct bcri_control *message);
enum bcri_cipher tree_cipher_with(const struct tree_other *other);
struct tree_derived tree_derive(const struct tree_own *own, const struct tree_other *other,
                                const uint8_t *program_key, enum bcri_cipher cipher);
struct bcri_link *tree_link_to(const struct tree_own *own, const struct tree_other *other,
                               const struct tree_derived *derived);
void tree_ping(const struct tree_own *own, const struct tree_other *other, struct bcri_link *link);
/* Whether a packet is there in time that the link opens. */
bool tree_hears(const struct tree_own *own, struct bcri_link *link, int msec);
/* Pings until it is answered. */
void tree_is_answered(const struct tree_own *own, const struct tree_other *other, struct bcri_link *link);

#endif
