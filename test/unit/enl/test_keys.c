/* SPDX-License-Identifier: MIT */
/* What two hosts derive from their introduction. The numbers wanted were computed by another program
 * (X25519 and BLAKE2b of Python's own), from docs/protocol.md, "Sealing". */
#include <string.h>

#include <sodium.h>

#include "base/secret.h"
#include "check.h"
#include "tree/introductions.h"

enum { LOWER = 3, HIGHER = 0x305 };

static uint8_t random_lower[32], random_higher[32];

static void count_from(uint8_t *bytes, uint8_t first)
{
    for (unsigned i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(first + i);
}

static void make(struct enl_keys *keys, uint32_t host, bool encrypts)
{
    count_from(keys->program, 0x00);
    count_from(keys->own_secret, host == LOWER ? 0x20 : 0x40);
    CHECK_INT(crypto_scalarmult_base(keys->own_public, keys->own_secret), 0);
    keys->host = host;
    keys->encrypts = encrypts;
    count_from(random_lower, 0x60);
    count_from(random_higher, 0x80);
}

static void is_hex(const uint8_t *bytes, const char *want)
{
    char hex[65];
    CHECK_STR(sodium_bin2hex(hex, sizeof hex, bytes, 32), want);
}

TEST(both_hosts_derive_what_the_protocol_says)
{
    static const struct {
        bool encrypts, both_have_aes;
        enum bcri_cipher cipher;
        const char *session;
        uint64_t token;
    } cases[] = {
        {false, true, BCRI_CIPHER_NONE, "2ef1147648fc21a86c5c230ae0ce09ec6b198aa11292e992e79a165bdfbaa343",
         UINT64_C(0x1a71c364e0a5e060)},
        {true, true, BCRI_CIPHER_AES256GCM,
         "57a10713cac996901a2cc489effaf658aec741125291c6fb4de369e9d80faea0", UINT64_C(0x8fad7e4bba5c75a4)},
        {true, false, BCRI_CIPHER_CHACHA20POLY1305,
         "d7a49e9e63483773ba3e2742589b5f3b1d038a9f6ede368f1a892769bb23b8ee", UINT64_C(0xe5ae10bdee2ac303)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct enl_keys lower, higher;
        struct bcri_seal_secret secret;
        make(&lower, LOWER, cases[i].encrypts);
        make(&higher, HIGHER, cases[i].encrypts);
        is_hex(lower.own_public, "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254");
        const struct enl_keys_met at_lower = {HIGHER,        higher.own_public,      random_lower,
                                              random_higher, cases[i].both_have_aes, false};
        const struct enl_keys_met at_higher = {LOWER,        lower.own_public,       random_higher,
                                               random_lower, cases[i].both_have_aes, false};
        CHECK(enl_keys_agree(&lower, &at_lower, &secret));
        CHECK_INT(secret.cipher, cases[i].cipher);
        CHECK_UINT(secret.token, cases[i].token);
        is_hex(secret.bytes, cases[i].session);
        CHECK(enl_keys_agree(&higher, &at_higher, &secret));
        CHECK_INT(secret.cipher, cases[i].cipher);
        CHECK_UINT(secret.token, cases[i].token);
        is_hex(secret.bytes, cases[i].session);
    }
}

/* What daemons say to each other starts programs. */
TEST(a_control_link_is_encrypted_also_without_encryption_of_data)
{
    struct enl_keys keys, other;
    struct bcri_seal_secret secret;
    uint8_t one[BCRI_SEAL_KEY_BYTES] = {1}, two[BCRI_SEAL_KEY_BYTES] = {2};
    make(&keys, LOWER, false);
    make(&other, HIGHER, false);
    struct enl_keys_met met = {HIGHER, other.own_public, one, two, false, true};
    CHECK(enl_keys_agree(&keys, &met, &secret));
    CHECK_INT(secret.cipher, BCRI_CIPHER_CHACHA20POLY1305);
    met.must_encrypt = false;
    CHECK(enl_keys_agree(&keys, &met, &secret));
    CHECK_INT(secret.cipher, BCRI_CIPHER_NONE);
}

TEST(a_public_key_of_low_order_is_no_key)
{
    static const uint8_t low[][32] = {{0}, {1}};
    struct enl_keys keys;
    struct bcri_seal_secret secret;
    CHECK(enl_keys_make(&keys, NULL));
    CHECK(enl_keys_accept(&keys, keys.own_public));
    for (size_t i = 0; i < sizeof low / sizeof low[0]; i++) {
        const struct enl_keys_met met = {9, low[i], random_lower, random_higher, true, false};
        CHECK(!enl_keys_accept(&keys, low[i]));
        CHECK(!enl_keys_agree(&keys, &met, &secret));
    }
}

TEST(the_program_key_is_the_roots_and_each_pair_is_new)
{
    struct enl_keys one, two, child;
    CHECK(enl_keys_make(&one, NULL) && enl_keys_make(&two, NULL));
    CHECK(memcmp(one.program, two.program, 32) != 0);
    CHECK(enl_keys_make(&child, one.program));
    CHECK_MEM(child.program, one.program, 32);
    CHECK(memcmp(child.own_secret, one.own_secret, 32) != 0);
}

TEST(secret_memory_is_zeroed_and_large_enough_whatever_its_size)
{
    for (size_t bytes = 1; bytes < 10000; bytes += bytes / 3 + 1) {
        unsigned char *secret = enl_secret_new(bytes);
        CHECK(secret != NULL && (uintptr_t)secret % _Alignof(max_align_t) == 0);
        CHECK(sodium_is_zero(secret, bytes));
        memset(secret, 0xff, bytes);
        enl_secret_free(secret);
    }
    enl_secret_free(NULL);
}
