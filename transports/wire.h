/* SPDX-License-Identifier: MIT */
/* The bytes of packets: big-endian numbers, numbers of variable length, the head, the kinds of frames.
 *
 * docs/protocol.md draws them. Reading compares with what is there before it reads; a reader that
 * once failed stays failed.
 *
 * Source: RFC 9000, section 16 (variable-length integers). */
#ifndef BCRI_WIRE_H
#define BCRI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The head of each packet: version 1 byte, phase 1, lane 2, number of the sending host 4, packet number 8. */
#define BCRI_WIRE_VERSION    0xb1u
#define BCRI_WIRE_HEAD_BYTES 16u
#define BCRI_VARINT_MAX      ((UINT64_C(1) << 62) - 1)

enum bcri_frame {
    BCRI_FRAME_PAD,   /* nothing; the rest of the packet is zero */
    BCRI_FRAME_PING,  /* wants an acknowledgement */
    BCRI_FRAME_ACK,   /* largest, delay in microseconds, further ranges, length, (gap, length)... */
    BCRI_FRAME_HOST,  /* room, packet_max: what the sender of this frame can receive */
    BCRI_FRAME_BYTES, /* source, target, offset, length, bytes */
    BCRI_FRAME_TAKEN, /* source, target, taken, limit, refused messages, their offsets... */
    BCRI_FRAME_SKIP,  /* source, target, from, to: the body of a refused message, which will not come */
    BCRI_FRAME_END,   /* source, target: the sender of this frame sends nothing more in this stream */
    BCRI_FRAME_GONE,  /* source, target: the sender of this frame takes nothing more from this stream */
    BCRI_FRAME_KINDS
};

struct bcri_reader {
    const uint8_t *at, *end;
    bool failed;
};

static inline void bcri_put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void bcri_put_u32(uint8_t *at, uint32_t value)
{
    bcri_put_u16(at, (uint16_t)(value >> 16));
    bcri_put_u16(at + 2, (uint16_t)value);
}

static inline void bcri_put_u64(uint8_t *at, uint64_t value)
{
    bcri_put_u32(at, (uint32_t)(value >> 32));
    bcri_put_u32(at + 4, (uint32_t)value);
}

static inline uint16_t bcri_get_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t bcri_get_u32(const uint8_t *at)
{
    return (uint32_t)bcri_get_u16(at) << 16 | bcri_get_u16(at + 2);
}

static inline uint64_t bcri_get_u64(const uint8_t *at)
{
    return (uint64_t)bcri_get_u32(at) << 32 | bcri_get_u32(at + 4);
}

static inline size_t bcri_varint_bytes(uint64_t value)
{
    return value < 1u << 6 ? 1 : value < 1u << 14 ? 2 : value < 1u << 30 ? 4 : 8;
}

/* Writes `value`, at most BCRI_VARINT_MAX, and returns where to go on. */
static inline uint8_t *bcri_varint_put(uint8_t *at, uint64_t value)
{
    if (value < 1u << 6) {
        *at = (uint8_t)value;
        return at + 1;
    }
    if (value < 1u << 14) {
        bcri_put_u16(at, (uint16_t)(value | 0x4000u));
        return at + 2;
    }
    if (value < 1u << 30) {
        bcri_put_u32(at, (uint32_t)value | 0x80000000u);
        return at + 4;
    }
    bcri_put_u64(at, value | UINT64_C(0xc000000000000000));
    return at + 8;
}

static inline uint64_t bcri_varint_get(struct bcri_reader *reader)
{
    const size_t there = (size_t)(reader->end - reader->at);
    const size_t bytes = there == 0 ? 1 : (size_t)1 << (*reader->at >> 6);
    if (there < bytes || reader->failed) {
        reader->failed = true;
        reader->at = reader->end;
        return 0;
    }
    const uint8_t *at = reader->at;
    reader->at += bytes;
    switch (bytes) {
    case 1: return at[0];
    case 2: return bcri_get_u16(at) & 0x3fffu;
    case 4: return bcri_get_u32(at) & 0x3fffffffu;
    default: return bcri_get_u64(at) & BCRI_VARINT_MAX;
    }
}

/* The number, which must fit 32 bits. */
static inline uint32_t bcri_varint_get_u32(struct bcri_reader *reader)
{
    const uint64_t value = bcri_varint_get(reader);
    if (value > UINT32_MAX)
        reader->failed = true;
    return (uint32_t)value;
}

/* The next `bytes` bytes where they lie; NULL if there are not so many. */
static inline const uint8_t *bcri_reader_take(struct bcri_reader *reader, uint64_t bytes)
{
    if (reader->failed || bytes > (uint64_t)(reader->end - reader->at)) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *at = reader->at;
    reader->at += bytes;
    return at;
}

#endif
