/* SPDX-License-Identifier: MIT */
/* message.c -- headers of orders and answers: message.h. */
#include "links/agent/message.h"

#include <endian.h>
#include <string.h>

#include "bcri/waiters.h"

/* Where the fields stand. */
enum {
    KIND = 0,
    FLAGS = 1,
    CODE = 2,
    CELL = 4,
    MSEC = 8,
    ARCHTYPE = 12,
    REQUEST = 16,
    OWNER = 24,
    VALUE = 24,
    FIRST = 36
};

static void write16(uint8_t *at, uint32_t value)
{
    const uint16_t big = htobe16((uint16_t)value);
    memcpy(at, &big, sizeof big);
}

static void write32(uint8_t *at, uint32_t value)
{
    const uint32_t big = htobe32(value);
    memcpy(at, &big, sizeof big);
}

static void write64(uint8_t *at, uint64_t value)
{
    const uint64_t big = htobe64(value);
    memcpy(at, &big, sizeof big);
}

static uint32_t read16(const uint8_t *at)
{
    uint16_t big;
    memcpy(&big, at, sizeof big);
    return be16toh(big);
}

static uint32_t read32(const uint8_t *at)
{
    uint32_t big;
    memcpy(&big, at, sizeof big);
    return be32toh(big);
}

static uint64_t read64(const uint8_t *at)
{
    uint64_t big;
    memcpy(&big, at, sizeof big);
    return be64toh(big);
}

static uint32_t bytes_of(enum bcri_message_kind kind)
{
    return kind == BCRI_MESSAGE_ANSWER ? BCRI_ANSWER_BYTES
           : kind == BCRI_MESSAGE_SAME ? BCRI_SAME_BYTES
                                       : BCRI_ORDER_BYTES;
}

uint32_t bcri_message_write(const struct bcri_message *message, uint8_t header[BCRI_LINK_HEADER_MAX])
{
    const bool answer = message->kind == BCRI_MESSAGE_ANSWER;
    const uint32_t bytes = bytes_of(message->kind);
    memset(header, 0, bytes);
    header[KIND] = (uint8_t)message->kind;
    header[FLAGS] = (uint8_t)message->flags;
    write32(header + ARCHTYPE, message->archtype);
    write64(header + REQUEST, message->request);
    if (answer) {
        write16(header + CODE, message->code);
        write32(header + CELL, message->error);
        write64(header + VALUE, message->value);
        return bytes;
    }
    write16(header + CODE, message->error);
    write32(header + CELL, (uint32_t)message->cell);
    write32(header + MSEC, (uint32_t)message->msec);
    memcpy(header + OWNER, message->owner, sizeof message->owner);
    if (message->kind == BCRI_MESSAGE_SAME)
        write64(header + FIRST, message->value);
    return bytes;
}

static bool read_answer(const uint8_t *header, uint32_t body_bytes, struct bcri_message *message)
{
    message->code = read16(header + CODE);
    message->error = read32(header + CELL);
    message->value = read64(header + VALUE);
    return message->flags <= BCRI_MESSAGE_WAITS && message->error <= UINT16_MAX &&
           ((message->code == 0 && message->flags == 0) || body_bytes == 0) &&
           (message->code == 0 || message->flags == 0);
}

static bool has_known_flags(const struct bcri_message *message)
{
    switch (message->kind) {
    case BCRI_MESSAGE_PUT: return (message->flags & ~BCRI_MESSAGE_AT_ONCE) <= BCRI_MESSAGE_RETURN;
    case BCRI_MESSAGE_SAME: return (message->flags & ~BCRI_MESSAGE_AT_ONCE) <= BCRI_MESSAGE_WRITE;
    case BCRI_MESSAGE_DATA: return (message->flags & ~BCRI_MESSAGE_AT_ONCE) == 0;
    case BCRI_MESSAGE_GET: return (message->flags & ~BCRI_MESSAGE_LOCKS) <= BCRI_WANT_LOCK;
    default: return message->flags == 0;
    }
}

bool bcri_message_read(const uint8_t *header, uint32_t header_bytes, uint32_t body_bytes,
                       struct bcri_message *message)
{
    memset(message, 0, sizeof *message);
    if (header_bytes < BCRI_ANSWER_BYTES)
        return false;
    message->kind = (enum bcri_message_kind)header[KIND];
    const bool answer = message->kind == BCRI_MESSAGE_ANSWER;
    if (header[KIND] == 0 || header[KIND] >= BCRI_MESSAGE_KINDS || header_bytes != bytes_of(message->kind))
        return false;
    message->flags = header[FLAGS];
    message->archtype = read32(header + ARCHTYPE);
    message->request = read64(header + REQUEST);
    if (answer)
        return read_answer(header, body_bytes, message);
    message->error = read16(header + CODE);
    message->cell = (int)read32(header + CELL);
    message->msec = (int)read32(header + MSEC);
    memcpy(message->owner, header + OWNER, sizeof message->owner);
    if (message->kind == BCRI_MESSAGE_SAME)
        message->value = read64(header + FIRST);
    return has_known_flags(message) && (bcri_message_has_region(message->kind) || body_bytes == 0);
}
