/* SPDX-License-Identifier: MIT */
/* The keys of a daemon: the program's, which the root's daemon has made, and a crypto_kx pair of its
 * own. docs/protocol.md, "Sealing", says what is derived from them. */
#ifndef ENL_KEYS_H
#define ENL_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/seal.h"

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
};
/* What the link to that host is sealed with. False: its public key is none. */
bool enl_keys_agree(const struct enl_keys *keys, const struct enl_keys_met *met,
                    struct bcri_seal_secret *secret_out);

#endif
