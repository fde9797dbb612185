/* SPDX-License-Identifier: MIT */
/* What stands at the head of a packet: 32-bit words, the most significant byte first, so that unlike machines read it alike.
 *
 *    0       4         8        12       16     20   24           32
 *   +-------+---------+--------+--------+------+----+------------+
 *   | kind  | context | source | tag    | id   | no | total      |   FIRST: of a message in several packets, or that is
 *   +-------+---------+--------+--------+------+----+------------+          to be answered (SYNCHRONOUS)
 *   | kind  | context | source | tag    | data ...                  WHOLE: a message. The kind's third byte in both: the format
 *                                                                          of typed items
 *   | kind  | 0       | source | id     | data ...                  MORE: of the message with that id, the next bytes
 *   | kind  | no      | source | id     |                           MATCHED: a receive has got hold of the message
 *
 * id is the number of the sender's request, which another send has once it is over; no is its serial among all of them, so that an
 * answer that comes late is not taken for the other's. */
#ifndef EARL_PACKET_H
#define EARL_PACKET_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum earl_kind { EARL_WHOLE = 1, EARL_FIRST = 2, EARL_MORE = 3, EARL_MATCHED = 4 };
enum { EARL_SYNCHRONOUS = 0x100, EARL_FORMAT_SHIFT = 16, EARL_KIND_MASK = 0xff };
/* The id of all messages that buffers are sent as: between two processes the packets of one come together, so none is confused with
 * another's. No request has it. */
#define EARL_BUFFER_ID 0x80000000u
enum { EARL_HEAD = 16, EARL_HEAD_FIRST = 32 };

struct earl_head {
    uint32_t kind, context, source, tag;
};

static inline void earl_head_write(unsigned char *bytes, uint32_t kind, uint32_t context, uint32_t source,
                                   uint32_t tag)
{
    const uint32_t words[4] = {htobe32(kind), htobe32(context), htobe32(source), htobe32(tag)};
    memcpy(bytes, words, sizeof words);
}

static inline struct earl_head earl_head_read(const unsigned char *bytes)
{
    uint32_t words[4];
    memcpy(words, bytes, sizeof words);
    return (struct earl_head){be32toh(words[0]), be32toh(words[1]), be32toh(words[2]), be32toh(words[3])};
}

/* The second half of a FIRST. */
static inline void earl_first_write(unsigned char *bytes, uint32_t id, uint32_t serial, uint64_t total)
{
    const uint32_t words[2] = {htobe32(id), htobe32(serial)};
    const uint64_t length = htobe64(total);
    memcpy(bytes + EARL_HEAD, words, sizeof words);
    memcpy(bytes + EARL_HEAD + 8, &length, sizeof length);
}

static inline void earl_first_read(const unsigned char *bytes, uint32_t *id, uint32_t *serial,
                                   uint64_t *total)
{
    uint32_t words[2];
    uint64_t length;
    memcpy(words, bytes + EARL_HEAD, sizeof words);
    memcpy(&length, bytes + EARL_HEAD + 8, sizeof length);
    *id = be32toh(words[0]);
    *serial = be32toh(words[1]);
    *total = be64toh(length);
}

#endif
