/* SPDX-License-Identifier: MIT */
/* Sealing: the keys of a link, and the two functions that use them.
 *
 * Two hosts that were introduced have the same session secret. From it come the keys, one for each
 * direction, lane and generation; a generation's key comes from the one before, which is then wiped.
 * A packet's number is its nonce: a number is sealed once under a key, since numbers only rise and
 * the engine asks for a new number before it seals.
 *
 * Which cipher: AES-256-GCM if both processors have it, else ChaCha20-Poly1305. None of them is for
 * measuring and for closed fabrics; packets then carry a random token of the receiver's instead.
 *
 * Keys lie in memory for secrets, and are wiped at the end. A child that seals with its parent's is
 * ended by SIGABRT.
 *
 * Source: RFC 9001, section 6 (key update), and its section 6.6 for limits. */
#ifndef BCRI_SEAL_H
#define BCRI_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BCRI_SEAL_KEY_BYTES       32u
#define BCRI_SEAL_TAG_BYTES       16u
#define BCRI_SEAL_PACKETS_PER_KEY (UINT64_C(1) << 20)

enum bcri_cipher { BCRI_CIPHER_NONE, BCRI_CIPHER_AES256GCM, BCRI_CIPHER_CHACHA20POLY1305 };

/* What a link's keys are made from; the same on both sides. */
struct bcri_seal_secret {
    enum bcri_cipher cipher;
    uint8_t bytes[BCRI_SEAL_KEY_BYTES];
    uint64_t token; /* with BCRI_CIPHER_NONE: what each packet carries */
};

/* What an introduction tells a host; `lower` and `higher` are the two hosts by their numbers. */
struct bcri_introduction {
    uint32_t lower_host, higher_host;
    const uint8_t *program_key;   /* BCRI_SEAL_KEY_BYTES, from the tree's pipes */
    const uint8_t *own_secret;    /* crypto_kx_SECRETKEYBYTES */
    const uint8_t *own_public;    /* crypto_kx_PUBLICKEYBYTES */
    const uint8_t *peer_public;   /* crypto_kx_PUBLICKEYBYTES */
    const uint8_t *lower_random;  /* BCRI_SEAL_KEY_BYTES, fresh for this introduction */
    const uint8_t *higher_random; /* BCRI_SEAL_KEY_BYTES, fresh for this introduction */
    bool own_is_lower;
    bool both_have_aes;
    bool encrypt;
};

/* Whether this processor does AES-256-GCM. To be called before anything else of this header in a
 * process; it prepares libsodium. Returns -1 if libsodium cannot be used at all. */
int bcri_seal_prepare(bool *has_aes_out);

/* Makes the session's secret. Returns 0, or -1 if the peer's public key is not acceptable. The
 * caller wipes it with bcri_seal_wipe when the link has it. */
int bcri_seal_agree(const struct bcri_introduction *introduction, struct bcri_seal_secret *secret_out);
void bcri_seal_wipe(void *bytes, size_t length);

/* Memory for secrets, zero at first: pages of its own, which are locked, in no core file, and empty in
 * a child. NULL: no memory. */
void *bcri_secret_new(size_t bytes);
/* Wipes it. `secret` may be NULL. */
void bcri_secret_free(void *secret, size_t bytes);
/* A sentence for the user if such memory could not be locked, or kept from core files and children, with what the
 * system said; NULL if it could, or if it has been told. Returns `out`. */
enum { BCRI_SECRET_COMPLAINT_MAX = 256 };
const char *bcri_secret_complaint(char out[BCRI_SECRET_COMPLAINT_MAX]);

struct bcri_sealing;

/* The keys of `lane` from `host` to `peer` and back. NULL: no memory. */
struct bcri_sealing *bcri_sealing_new(const struct bcri_seal_secret *secret, uint32_t host, uint32_t peer,
                                      uint16_t lane);
void bcri_sealing_free(struct bcri_sealing *sealing);

/* How many packets that do not open a link may have come to, before the chance that one of them
 * is forged and opens is too large. */
uint64_t bcri_seal_forged_max(enum bcri_cipher cipher);

/* Bytes that sealing adds to a packet. */
uint32_t bcri_sealing_overhead(const struct bcri_sealing *sealing);
/* The low bit of the generation of keys that bcri_seal uses, for the packet's head. */
unsigned bcri_sealing_phase(const struct bcri_sealing *sealing);
/* The next generation of keys is used for sending from now on. */
void bcri_sealing_advance(struct bcri_sealing *sealing);
/* The keys of the generation before, by which late packets are opened, are wiped. */
void bcri_sealing_forget(struct bcri_sealing *sealing);
/* Whether bcri_sealing_forget has anything to do. */
bool bcri_sealing_has_previous(const struct bcri_sealing *sealing);

/* Seals `length` bytes at `text` where they lie, and writes the overhead behind them. `head` is
 * authenticated with them. */
void bcri_seal(struct bcri_sealing *sealing, uint64_t number, const uint8_t *head, size_t head_bytes,
               uint8_t *text, size_t length);
/* Opens where it lies what bcri_seal has made: `length` bytes with the overhead. Returns whether it
 * is genuine; if not, nothing may be read from it. A packet of the next generation of the peer's
 * keys makes that the current one. */
bool bcri_open(struct bcri_sealing *sealing, uint64_t number, unsigned phase, const uint8_t *head,
               size_t head_bytes, uint8_t *text, size_t length);

#endif
