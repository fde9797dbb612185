/* SPDX-License-Identifier: MIT */
/* Any bytes as the packets of a peer that has the key: the link takes or refuses them, and keeps
 * within its memory. The input is a row of packets' contents, each behind its length in two bytes;
 * a packet of length 0 lets a millisecond pass, one of length 1 also ends a stream. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/link.h"
#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { TOKEN_BYTES = 8, MEMORY_MAX = 32 << 20, BODY_MAX = 1 << 16 };

static unsigned begun;

static bool accept(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source < 16 && target < 16;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    (void)owner;
    begun++;
    if (message->body_bytes > BODY_MAX || begun % 5 == 0)
        return BCRI_LINK_REFUSE;
    if (begun % 7 == 0)
        return BCRI_LINK_PAUSE;
    message->memory = message->cookie = malloc(message->body_bytes + 1);
    return message->memory != NULL ? BCRI_LINK_TAKE : BCRI_LINK_REFUSE;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)source;
    (void)target;
    free(cookie);
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
    (void)outcome;
}

static const struct bcri_link_events events = {accept, begin, arrived, arrived, completed};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const uint8_t body[100000];
    static uint8_t packet[BCRI_WIRE_HEAD_BYTES + 65535 + TOKEN_BYTES], answer[BCRI_LINK_PACKET_MAX];
    const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 1};
    const struct bcri_link_config config = {.host = 1,
                                            .peer = 2,
                                            .packet_max = 4000,
                                            .carrier = {.packet_max = 4000, .room = 100000},
                                            .secret = &secret};
    uint64_t now = 1000000000, number = 0;
    struct bcri_link *link = bcri_link_new(&config, &events, NULL, now);
    if (link == NULL)
        abort();
    begun = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (bcri_link_send(link, i, 1, "head", 4, body, i * 30000, NULL) != 0)
            abort();
    for (const uint8_t *const end = bytes + length; end - bytes >= 2;) {
        size_t size = bcri_get_u16(bytes);
        bytes += 2;
        size = size < (size_t)(end - bytes) ? size : (size_t)(end - bytes);
        if (size == 0) {
            now += 1000000;
        } else {
            memset(packet, 0, BCRI_WIRE_HEAD_BYTES);
            packet[0] = BCRI_WIRE_VERSION;
            bcri_put_u32(packet + 4, 2);
            bcri_put_u64(packet + 8, number++);
            memcpy(packet + BCRI_WIRE_HEAD_BYTES, bytes, size);
            bcri_put_u64(packet + BCRI_WIRE_HEAD_BYTES + size, 1);
            bcri_link_receive(link, packet, BCRI_WIRE_HEAD_BYTES + size + TOKEN_BYTES, now);
            if (size == 1)
                bcri_link_end_stream(link, *bytes % 16, 1);
            bytes += size;
        }
        for (unsigned i = 0; bcri_link_fill(link, answer, now) != 0; i++)
            if (i > 1000)
                abort(); /* it never has enough */
        bcri_link_resume(link, now / 1000000 % 16, 1, now);
        if (bcri_link_memory(link) > MEMORY_MAX)
            abort();
    }
    bcri_link_free(link);
    return 0;
}
