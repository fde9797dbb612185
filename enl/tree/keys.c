/* SPDX-License-Identifier: MIT */
/* See introductions.h. */
#include "tree/introductions.h"

#include <string.h>

#include <sodium.h>

_Static_assert(BCRI_SEAL_KEY_BYTES == crypto_kx_PUBLICKEYBYTES, "one size of keys");
_Static_assert(BCRI_SEAL_KEY_BYTES == crypto_kx_SECRETKEYBYTES, "one size of keys");

bool enl_keys_make(struct enl_keys *keys, const uint8_t *program_key)
{
    if (bcri_seal_prepare(&keys->has_aes) != 0 || crypto_kx_keypair(keys->own_public, keys->own_secret) != 0)
        return false;
    if (program_key != NULL)
        memcpy(keys->program, program_key, sizeof keys->program);
    else
        randombytes_buf(keys->program, sizeof keys->program);
    return true;
}

bool enl_keys_accept(const struct enl_keys *keys, const uint8_t *peer_public)
{
    uint8_t to[crypto_kx_SESSIONKEYBYTES], from[crypto_kx_SESSIONKEYBYTES];
    const bool is_one =
        crypto_kx_client_session_keys(from, to, keys->own_public, keys->own_secret, peer_public) == 0;
    sodium_memzero(to, sizeof to);
    sodium_memzero(from, sizeof from);
    return is_one;
}

void enl_keys_random(uint8_t random[BCRI_SEAL_KEY_BYTES])
{
    randombytes_buf(random, BCRI_SEAL_KEY_BYTES);
}

bool enl_keys_agree(const struct enl_keys *keys, const struct enl_keys_met *met,
                    struct bcri_seal_secret *secret_out)
{
    const bool lower = keys->host < met->host;
    const struct bcri_introduction introduction = {
        .lower_host = lower ? keys->host : met->host,
        .higher_host = lower ? met->host : keys->host,
        .program_key = keys->program,
        .own_secret = keys->own_secret,
        .own_public = keys->own_public,
        .peer_public = met->peer_public,
        .lower_random = lower ? met->own_random : met->peer_random,
        .higher_random = lower ? met->peer_random : met->own_random,
        .own_is_lower = lower,
        .both_have_aes = met->both_have_aes,
        .encrypt = keys->encrypts || met->must_encrypt,
    };
    return bcri_seal_agree(&introduction, secret_out) == 0;
}
