/* SPDX-License-Identifier: MIT */
/* See tree_host.h. */
#include "tree_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "check.h"

uint32_t tree_own_flags(void)
{
    return crypto_aead_aes256gcm_is_available() ? 1 : 0;
}

void tree_become(struct tree_own *own, uint32_t number)
{
    struct bcri_link_address address = {.bytes = sizeof(struct sockaddr_in)};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    own->number = number;
    CHECK(sodium_init() >= 0);
    crypto_box_keypair(own->public, own->secret);
    randombytes_buf(own->random, sizeof own->random);
    own->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(own->udp >= 0 && bind(own->udp, (struct sockaddr *)&at, sizeof at) == 0 &&
          getsockname(own->udp, (struct sockaddr *)&at, &length) == 0);
    memcpy(&address.at, &at, sizeof at);
    own->addresses_length = enl_addresses_write(&address, 1, own->addresses);
    CHECK_UINT(own->addresses_length, 7);
}

void tree_know(struct tree_other *other, const struct bcri_control *message)
{
    CHECK_UINT(message->key.length, 32);
    memcpy(other->public, message->key.bytes, 32);
    CHECK(enl_addresses_read((const uint8_t *)message->addresses.bytes, message->addresses.length,
                             other->address, &other->address_count));
    CHECK(other->address_count > 0);
    other->flags = message->flags;
}

void tree_know_random(struct tree_other *other, const struct bcri_control *message)
{
    CHECK_UINT(message->random.length, 32);
    memcpy(other->random, message->random.bytes, 32);
    CHECK(!sodium_is_zero(other->random, 32));
}

static void put_u32(uint8_t *out, uint32_t number)
{
    number = htonl(number);
    memcpy(out, &number, sizeof number);
}

static void hash(uint8_t *out, size_t length, const uint8_t *key, const char *label, const void *rest,
                 size_t rest_length)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, key != NULL ? 32 : 0, length);
    if (label != NULL)
        crypto_generichash_update(&state, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(&state, rest, rest_length);
    crypto_generichash_final(&state, out, length);
}

enum bcri_cipher tree_cipher_with(const struct tree_other *other)
{
    return (tree_own_flags() & other->flags) != 0 ? BCRI_CIPHER_AES256GCM : BCRI_CIPHER_CHACHA20POLY1305;
}

struct tree_derived tree_derive(const struct tree_own *own, const struct tree_other *other,
                                const uint8_t *program_key, enum bcri_cipher cipher)
{
    struct tree_derived all = {0};
    uint8_t point[32 + 32 + 32], text[4 + 4 + 32 + 32 + 32 + 32 + 1], token[32], use[10] = {0};
    const bool lower = own->number < other->number;
    CHECK_INT(crypto_scalarmult(point, own->secret, other->public), 0);
    memcpy(point + 32, lower ? own->public : other->public, 32);
    memcpy(point + 64, lower ? other->public : own->public, 32);
    hash(all.kx, 64, NULL, NULL, point, sizeof point);
    put_u32(text, lower ? own->number : other->number);
    put_u32(text + 4, lower ? other->number : own->number);
    memcpy(text + 8, all.kx + 32, 32);
    memcpy(text + 40, all.kx, 32);
    memcpy(text + 72, lower ? own->random : other->random, 32);
    memcpy(text + 104, lower ? other->random : own->random, 32);
    all.session.cipher = cipher;
    text[136] = (uint8_t)all.session.cipher;
    hash(all.session.bytes, 32, program_key, "bcr session", text, sizeof text);
    hash(token, 32, all.session.bytes, "bcr token", NULL, 0);
    for (int i = 0; i < 8; i++)
        all.session.token = all.session.token << 8 | token[i];
    put_u32(use, own->number);
    put_u32(use + 4, other->number);
    hash(all.to, 32, all.session.bytes, "bcr key", use, sizeof use);
    put_u32(use, other->number);
    put_u32(use + 4, own->number);
    hash(all.from, 32, all.session.bytes, "bcr key", use, sizeof use);
    return all;
}

/* ---- packets between the two ---- */

uint64_t tree_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool accept_none(void *owner, uint32_t source, uint32_t target)
{
    (void)owner, (void)source, (void)target;
    return false;
}

static enum bcri_link_verdict begin_none(void *owner, struct bcri_link_message *message)
{
    (void)owner, (void)message;
    return BCRI_LINK_REFUSE;
}

static void arrived_none(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner, (void)source, (void)target, (void)cookie;
}

static void completed_none(void *owner, uint32_t source, uint32_t target, void *cookie,
                           enum bcri_link_outcome outcome)
{
    (void)owner, (void)source, (void)target, (void)cookie, (void)outcome;
}

struct bcri_link *tree_link_to(const struct tree_own *own, const struct tree_other *other,
                               const struct tree_derived *derived)
{
    static const struct bcri_link_events events = {accept_none, begin_none, arrived_none, arrived_none,
                                                   completed_none};
    const struct bcri_link_config config = {.host = own->number,
                                            .peer = other->number,
                                            .packet_max = BCRI_LINK_PACKET_BASE,
                                            .carrier = {.packet_max = BCRI_LINK_PACKET_BASE, .room = 65536},
                                            .secret = &derived->session};
    struct bcri_link *link = bcri_link_new(&config, &events, NULL, tree_now_ns());
    CHECK(link != NULL);
    return link;
}

void tree_ping(const struct tree_own *own, const struct tree_other *other, struct bcri_link *link)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    size_t length;
    bcri_link_ping(link);
    while ((length = bcri_link_fill(link, packet, tree_now_ns())) != 0)
        for (uint32_t i = 0; i < other->address_count; i++)
            if (other->address[i].at.ss_family == AF_INET)
                (void)sendto(own->udp, packet, length, 0, (const struct sockaddr *)&other->address[i].at,
                             other->address[i].bytes);
}

bool tree_hears(const struct tree_own *own, struct bcri_link *link, int msec)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    struct pollfd look = {.fd = own->udp, .events = POLLIN};
    while (poll(&look, 1, msec) > 0) {
        const ssize_t got = recv(own->udp, packet, sizeof packet, 0);
        if (got > 0 && bcri_link_receive(link, packet, (size_t)got, tree_now_ns()))
            return true;
    }
    return false;
}

void tree_is_answered(const struct tree_own *own, const struct tree_other *other, struct bcri_link *link)
{
    do
        tree_ping(own, other, link);
    while (!tree_hears(own, link, 100));
}
