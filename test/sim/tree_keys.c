/* SPDX-License-Identifier: MIT */
/* Cheap keys for tree_sim.h, in place of libsodium's, which take nine tenths of the time
 * otherwise: two hosts still agree on the same bytes, which are others for each pair, and for each
 * two random numbers. Nothing is secret. The first test of test_tree goes without them. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tree_sim.h"

int __real_crypto_kx_keypair(unsigned char *public, unsigned char *secret);
int __wrap_crypto_kx_keypair(unsigned char *public, unsigned char *secret);
int __real_crypto_kx_client_session_keys(unsigned char *rx, unsigned char *tx, const unsigned char *public,
                                         const unsigned char *secret, const unsigned char *peer);
int __wrap_crypto_kx_client_session_keys(unsigned char *rx, unsigned char *tx, const unsigned char *public,
                                         const unsigned char *secret, const unsigned char *peer);
int __real_crypto_kx_server_session_keys(unsigned char *rx, unsigned char *tx, const unsigned char *public,
                                         const unsigned char *secret, const unsigned char *peer);
int __wrap_crypto_kx_server_session_keys(unsigned char *rx, unsigned char *tx, const unsigned char *public,
                                         const unsigned char *secret, const unsigned char *peer);
void __real_randombytes_buf(void *bytes, size_t size);
void __wrap_randombytes_buf(void *bytes, size_t size);
void *__real_sodium_malloc(size_t size);
void *__wrap_sodium_malloc(size_t size);
void __real_sodium_free(void *memory);
void __wrap_sodium_free(void *memory);
int __real_mlock(const void *memory, size_t size);
int __wrap_mlock(const void *memory, size_t size);

enum { KEY_BYTES = crypto_kx_PUBLICKEYBYTES, KEY_WORDS = KEY_BYTES / 8 };

void __wrap_randombytes_buf(void *bytes, size_t size)
{
    static uint64_t state;
    uint8_t *out = bytes;
    if (!sim.has_cheap_keys) {
        __real_randombytes_buf(bytes, size);
        return;
    }
    for (size_t at = 0, part; at < size; at += part) {
        const uint64_t word = test_rand(&state);
        part = size - at < sizeof word ? size - at : sizeof word;
        memcpy(out + at, &word, part);
    }
}

int __wrap_crypto_kx_keypair(unsigned char *public, unsigned char *secret)
{
    if (!sim.has_cheap_keys)
        return __real_crypto_kx_keypair(public, secret);
    __wrap_randombytes_buf(secret, KEY_BYTES);
    for (unsigned i = 0; i < KEY_BYTES; i++)
    public[i] = (unsigned char)~secret[i];
    return 0;
}

/* Of the client's and the server's secret or public key: what the one receives by, and the other
 * sends by. */
static void mix(unsigned char *out, const unsigned char *client, const unsigned char *server, uint64_t salt)
{
    uint64_t a[KEY_WORDS], b[KEY_WORDS];
    memcpy(a, client, sizeof a);
    memcpy(b, server, sizeof b);
    for (unsigned i = 0; i < KEY_WORDS; i++) {
        uint64_t state = a[i] + 3 * b[i] + salt;
        a[i] = test_rand(&state);
    }
    memcpy(out, a, sizeof a);
}

static void check_pair(const unsigned char *public, const unsigned char *secret)
{
    for (unsigned i = 0; i < KEY_BYTES; i++)
        CHECK_UINT(public[i] ^ secret[i], 255);
}

/* What the client receives by the server sends by. */
static void agree(unsigned char *to_client, unsigned char *to_server, const unsigned char *client,
                  const unsigned char *server)
{
    mix(to_client, client, server, 1);
    mix(to_server, client, server, 2);
}

int __wrap_crypto_kx_client_session_keys(unsigned char *rx, unsigned char *tx, const unsigned char *public,
                                         const unsigned char *secret, const unsigned char *peer)
{
    if (!sim.has_cheap_keys)
        return __real_crypto_kx_client_session_keys(rx, tx, public, secret, peer);
    check_pair(public, secret);
    agree(rx, tx, public, peer);
    return 0;
}

int __wrap_crypto_kx_server_session_keys(unsigned char *rx, unsigned char *tx, const unsigned char *public,
                                         const unsigned char *secret, const unsigned char *peer)
{
    if (!sim.has_cheap_keys)
        return __real_crypto_kx_server_session_keys(rx, tx, public, secret, peer);
    check_pair(public, secret);
    agree(tx, rx, peer, public);
    return 0;
}

/* Without pages that are locked and guarded. */
void *__wrap_sodium_malloc(size_t size)
{
    return sim.has_cheap_keys ? malloc(size) : __real_sodium_malloc(size);
}

int __wrap_mlock(const void *memory, size_t size)
{
    return sim.has_cheap_keys ? 0 : __real_mlock(memory, size);
}

void __wrap_sodium_free(void *memory)
{
    if (sim.has_cheap_keys)
        free(memory);
    else
        __real_sodium_free(memory);
}
