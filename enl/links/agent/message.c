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

/* The number of bytes is a constant wherever these are called: a load or store and a swap. */
static inline void write_number(uint8_t *at, unsigned bytes, uint64_t value)
{
    const uint64_t big = htobe64(value << (64 - 8 * bytes));
    memcpy(at, &big, bytes);
}

static inline uint64_t read_number(const uint8_t *at, unsigned bytes)
{
    uint64_t big = 0;
    memcpy(&big, at, bytes);
    return be64toh(big) >> (64 - 8 * bytes);
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
    write_number(header + ARCHTYPE, 4, message->archtype);
    write_number(header + REQUEST, 8, message->request);
    if (answer) {
        write_number(header + CODE, 2, message->code);
        write_number(header + CELL, 4, message->region_kind);
        write_number(header + VALUE, 8, message->value);
        return bytes;
    }
    write_number(header + CODE, 2, message->region_kind);
    write_number(header + CELL, 4, (uint32_t)message->cell);
    write_number(header + MSEC, 4, (uint32_t)message->msec);
    memcpy(header + OWNER, message->owner, sizeof message->owner);
    if (message->kind == BCRI_MESSAGE_SAME)
        write_number(header + FIRST, 8, message->value);
    return bytes;
}

static bool read_answer(const uint8_t *header, uint32_t body_bytes, struct bcri_message *message)
{
    message->code = (uint32_t)read_number(header + CODE, 2);
    message->region_kind = (uint32_t)read_number(header + CELL, 4);
    message->value = read_number(header + VALUE, 8);
    return message->flags <= BCRI_MESSAGE_WAITS && message->region_kind <= UINT16_MAX &&
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
    message->archtype = (uint32_t)read_number(header + ARCHTYPE, 4);
    message->request = read_number(header + REQUEST, 8);
    if (answer)
        return read_answer(header, body_bytes, message);
    message->region_kind = (uint32_t)read_number(header + CODE, 2);
    message->cell = (int)read_number(header + CELL, 4);
    message->msec = (int)read_number(header + MSEC, 4);
    memcpy(message->owner, header + OWNER, sizeof message->owner);
    if (message->kind == BCRI_MESSAGE_SAME)
        message->value = read_number(header + FIRST, 8);
    return has_known_flags(message) && (bcri_message_has_region(message->kind) || body_bytes == 0);
}
