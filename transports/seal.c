/* SPDX-License-Identifier: MIT */
/* Keys and sealing: seal.h.
 *
 * Receiving, a phase bit and a number tell which key a packet needs, so that each packet is tried
 * once: the bit of the current generation means the current key; the other bit means the key before
 * for numbers below the lowest that the current key has opened, else the next. */
#include "bcri/seal.h"

#include <errno.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire.h"

_Static_assert(BCRI_SEAL_KEY_BYTES == crypto_aead_aes256gcm_KEYBYTES, "one size of keys");
_Static_assert(BCRI_SEAL_KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "one size of keys");
_Static_assert(BCRI_SEAL_TAG_BYTES == crypto_aead_aes256gcm_ABYTES, "one size of tags");
_Static_assert(BCRI_SEAL_TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES, "one size of tags");
_Static_assert(crypto_aead_aes256gcm_NPUBBYTES == crypto_aead_chacha20poly1305_ietf_NPUBBYTES,
               "one size of nonces");

enum { NONCE_BYTES = crypto_aead_aes256gcm_NPUBBYTES, TOKEN_BYTES = 8 };

struct key {
    crypto_aead_aes256gcm_state expanded; /* for AES only; first, since it must be aligned */
    uint8_t bytes[BCRI_SEAL_KEY_BYTES];
};

struct bcri_sealing {
    struct key send, previous, current, next;
    uint64_t token;
    uint64_t current_first; /* the lowest number that `current` has opened */
    enum bcri_cipher cipher;
    uint8_t send_phase, current_phase;
    bool has_previous;
    bool is_ours; /* false in a child, whose copy the kernel has wiped */
};

int bcri_seal_prepare(bool *has_aes_out)
{
    if (sodium_init() < 0)
        return -1;
    *has_aes_out = crypto_aead_aes256gcm_is_available() != 0;
    return 0;
}

void bcri_seal_wipe(void *bytes, size_t length)
{
    sodium_memzero(bytes, length);
}

/* libsodium's ChaCha20 leaves the key on the stack on some machines (i386), which core files have. */
enum { CHACHA20_STACK_BYTES = 4096 };

/* out = BLAKE2b keyed with `key` over a label and what tells this use from others. */
static void derive(uint8_t out[BCRI_SEAL_KEY_BYTES], const uint8_t *key, const char *label,
                   const uint8_t *context, size_t context_bytes)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, BCRI_SEAL_KEY_BYTES, BCRI_SEAL_KEY_BYTES);
    crypto_generichash_update(&state, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(&state, context, context_bytes);
    crypto_generichash_final(&state, out, BCRI_SEAL_KEY_BYTES);
    sodium_memzero(&state, sizeof state);
}

int bcri_seal_agree(const struct bcri_introduction *intro, struct bcri_seal_secret *secret_out)
{
    struct {
        uint8_t hosts[8], from_lower[crypto_kx_SESSIONKEYBYTES], from_higher[crypto_kx_SESSIONKEYBYTES];
        uint8_t lower_random[BCRI_SEAL_KEY_BYTES], higher_random[BCRI_SEAL_KEY_BYTES];
        uint8_t cipher;
    } all;
    int failed;
    if (intro->own_is_lower)
        failed = crypto_kx_client_session_keys(all.from_higher, all.from_lower, intro->own_public,
                                               intro->own_secret, intro->peer_public);
    else
        failed = crypto_kx_server_session_keys(all.from_lower, all.from_higher, intro->own_public,
                                               intro->own_secret, intro->peer_public);
    if (failed != 0)
        return -1;
    bcri_put_u32(all.hosts, intro->lower_host);
    bcri_put_u32(all.hosts + 4, intro->higher_host);
    memcpy(all.lower_random, intro->lower_random, sizeof all.lower_random);
    memcpy(all.higher_random, intro->higher_random, sizeof all.higher_random);
    const enum bcri_cipher cipher = !intro->encrypt        ? BCRI_CIPHER_NONE
                                    : intro->both_have_aes ? BCRI_CIPHER_AES256GCM
                                                           : BCRI_CIPHER_CHACHA20POLY1305;
    all.cipher = (uint8_t)cipher;
    struct bcri_seal_secret secret = {.cipher = cipher};
    derive(secret.bytes, intro->program_key, "bcr session", (const uint8_t *)&all, sizeof all);
    uint8_t token[BCRI_SEAL_KEY_BYTES];
    derive(token, secret.bytes, "bcr token", NULL, 0);
    secret.token = bcri_get_u64(token);
    *secret_out = secret;
    sodium_memzero(&all, sizeof all);
    sodium_memzero(token, sizeof token);
    sodium_memzero(&secret, sizeof secret);
    return 0;
}

static void expand(const struct bcri_sealing *sealing, struct key *key)
{
    if (sealing->cipher == BCRI_CIPHER_AES256GCM)
        crypto_aead_aes256gcm_beforenm(&key->expanded, key->bytes);
}

static void first_key(const struct bcri_sealing *sealing, struct key *key, const uint8_t *session,
                      uint32_t sender, uint32_t receiver, uint16_t lane)
{
    uint8_t use[10];
    bcri_put_u32(use, sender);
    bcri_put_u32(use + 4, receiver);
    bcri_put_u16(use + 8, lane);
    derive(key->bytes, session, "bcr key", use, sizeof use);
    expand(sealing, key);
}

static void next_key(const struct bcri_sealing *sealing, struct key *key, const struct key *before)
{
    uint8_t bytes[BCRI_SEAL_KEY_BYTES];
    derive(bytes, before->bytes, "bcr next", NULL, 0);
    memcpy(key->bytes, bytes, sizeof bytes);
    sodium_memzero(bytes, sizeof bytes);
    expand(sealing, key);
}

enum { NOTHING = 0, TOLD = -1, IS_MADVISE = 1 << 16 };
static _Atomic int complaint; /* else an errno, of mlock, or of madvise */

static void complain_of(int call)
{
    int nothing = NOTHING;
    (void)atomic_compare_exchange_strong(&complaint, &nothing, call | errno);
}

void *bcri_secret_new(size_t bytes)
{
    void *secret = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (secret == MAP_FAILED)
        return NULL;
    if (mlock(secret, bytes) != 0)
        complain_of(0);
    if (madvise(secret, bytes, MADV_DONTDUMP) != 0 || madvise(secret, bytes, MADV_WIPEONFORK) != 0)
        complain_of(IS_MADVISE);
    return secret;
}

void bcri_secret_free(void *secret, size_t bytes)
{
    if (secret == NULL)
        return;
    sodium_memzero(secret, bytes);
    munmap(secret, bytes);
}

const char *bcri_secret_complaint(char out[BCRI_SECRET_COMPLAINT_MAX])
{
    int found = atomic_load(&complaint);
    if (found == NOTHING || found == TOLD || !atomic_compare_exchange_strong(&complaint, &found, TOLD))
        return NULL;
    const int error = found & ~IS_MADVISE;
    if ((found & IS_MADVISE) != 0)
        snprintf(out, BCRI_SECRET_COMPLAINT_MAX,
                 "keys could not be kept out of core files and forks: madvise: %s", strerror(error));
    else
        snprintf(out, BCRI_SECRET_COMPLAINT_MAX,
                 "keys could not be locked in memory, and may be swapped out to a disk: mlock: %s%s",
                 strerror(error),
                 error == ENOMEM || error == EAGAIN ? "; raise the limit of locked memory (ulimit -l)" : "");
    return out;
}

struct bcri_sealing *bcri_sealing_new(const struct bcri_seal_secret *secret, uint32_t host, uint32_t peer,
                                      uint16_t lane)
{
    struct bcri_sealing *sealing = bcri_secret_new(sizeof *sealing);
    if (sealing == NULL)
        return NULL;
    sealing->is_ours = true;
    sealing->cipher = secret->cipher;
    sealing->token = secret->token;
    sealing->current_first = UINT64_MAX;
    first_key(sealing, &sealing->send, secret->bytes, host, peer, lane);
    first_key(sealing, &sealing->current, secret->bytes, peer, host, lane);
    next_key(sealing, &sealing->next, &sealing->current);
    return sealing;
}

void bcri_sealing_free(struct bcri_sealing *sealing)
{
    bcri_secret_free(sealing, sizeof *sealing);
}

/* RFC 9001, section 6.6. A token gives no such protection, and has no limit. */
uint64_t bcri_seal_forged_max(enum bcri_cipher cipher)
{
    return cipher == BCRI_CIPHER_AES256GCM          ? UINT64_C(1) << 52
           : cipher == BCRI_CIPHER_CHACHA20POLY1305 ? UINT64_C(1) << 36
                                                    : UINT64_MAX;
}

uint32_t bcri_sealing_overhead(const struct bcri_sealing *sealing)
{
    return sealing->cipher == BCRI_CIPHER_NONE ? TOKEN_BYTES : BCRI_SEAL_TAG_BYTES;
}

unsigned bcri_sealing_phase(const struct bcri_sealing *sealing)
{
    return sealing->send_phase;
}

void bcri_sealing_advance(struct bcri_sealing *sealing)
{
    next_key(sealing, &sealing->send, &sealing->send);
    sealing->send_phase ^= 1;
}

void bcri_sealing_forget(struct bcri_sealing *sealing)
{
    sodium_memzero(&sealing->previous, sizeof sealing->previous);
    sealing->has_previous = false;
}

bool bcri_sealing_has_previous(const struct bcri_sealing *sealing)
{
    return sealing->has_previous;
}

static void make_nonce(uint8_t nonce[NONCE_BYTES], uint64_t number)
{
    memset(nonce, 0, NONCE_BYTES);
    bcri_put_u64(nonce + NONCE_BYTES - 8, number);
}

void bcri_seal(struct bcri_sealing *sealing, uint64_t number, const uint8_t *head, size_t head_bytes,
               uint8_t *text, size_t length)
{
    uint8_t nonce[NONCE_BYTES];
    if (!sealing->is_ours)
        abort(); /* a fork of the daemon must not send, least of all without a key */
    make_nonce(nonce, number);
    if (sealing->cipher == BCRI_CIPHER_AES256GCM)
        crypto_aead_aes256gcm_encrypt_detached_afternm(text, text + length, NULL, text, length, head,
                                                       head_bytes, NULL, nonce, &sealing->send.expanded);
    else if (sealing->cipher == BCRI_CIPHER_CHACHA20POLY1305) {
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(text, text + length, NULL, text, length, head,
                                                           head_bytes, NULL, nonce, sealing->send.bytes);
        sodium_stackzero(CHACHA20_STACK_BYTES);
    } else
        bcri_put_u64(text + length, sealing->token);
}

static bool open_with(const struct bcri_sealing *sealing, const struct key *key, uint64_t number,
                      const uint8_t *head, size_t head_bytes, uint8_t *text, size_t length)
{
    uint8_t nonce[NONCE_BYTES];
    make_nonce(nonce, number);
    if (sealing->cipher == BCRI_CIPHER_AES256GCM)
        return crypto_aead_aes256gcm_decrypt_detached_afternm(text, NULL, text, length, text + length, head,
                                                              head_bytes, nonce, &key->expanded) == 0;
    const int failed = crypto_aead_chacha20poly1305_ietf_decrypt_detached(
        text, NULL, text, length, text + length, head, head_bytes, nonce, key->bytes);
    sodium_stackzero(CHACHA20_STACK_BYTES);
    return failed == 0;
}

bool bcri_open(struct bcri_sealing *sealing, uint64_t number, unsigned phase, const uint8_t *head,
               size_t head_bytes, uint8_t *text, size_t length)
{
    const size_t overhead = bcri_sealing_overhead(sealing);
    if (length < overhead || !sealing->is_ours)
        return false;
    length -= overhead;
    if (sealing->cipher == BCRI_CIPHER_NONE)
        return bcri_get_u64(text + length) == sealing->token;
    if (phase == sealing->current_phase) {
        if (!open_with(sealing, &sealing->current, number, head, head_bytes, text, length))
            return false;
        if (number < sealing->current_first)
            sealing->current_first = number;
        return true;
    }
    if (number < sealing->current_first)
        return sealing->has_previous &&
               open_with(sealing, &sealing->previous, number, head, head_bytes, text, length);
    if (!open_with(sealing, &sealing->next, number, head, head_bytes, text, length))
        return false;
    sealing->previous = sealing->current;
    sealing->has_previous = true;
    sealing->current = sealing->next;
    sealing->current_phase ^= 1;
    sealing->current_first = number;
    next_key(sealing, &sealing->next, &sealing->current);
    return true;
}
