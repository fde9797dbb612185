/* SPDX-License-Identifier: MIT */
/* A later version's messages: all of today's keys, and behind them some that nobody knows yet, with values of every
 * kind that msgpack has. */
#include <string.h>

#include "bcri/control.h"

size_t versions_encode_known(const struct bcri_control *message, uint8_t *out, size_t capacity);

static const uint8_t
    further
        [] =
            {
                0xa4, 'n',  'i', 'l', '9',  0xc0, /* nil */
                0xa4, 'y',  'e', 's', '9',  0xc3, /* true */
                0xa4, 'b',  'i', 'g', '9',  0xcf, 255, 255, 255,  255, 255,  255,  255, 255,
                0xa4, 'n',  'e', 'g', '9',  0xd3, 128, 0,   0,    0,   0,    0,    0,   0,
                0xa4, 'f',  'l', 't', '9',  0xcb, 63,  240, 0,    0,   0,    0,    0,   0,
                0xa4, 't',  'x', 't', '9',  0xd9, 3,   'n', 'e',  'w', 0xa4, 'b',  'i', 'n',
                '9',  0xc4, 2,   0,   255,  0xa4, 'e', 'x', 't',  '9', 0xd4, 7,    1,   0xa4,
                'm',  'a',  'p', '9', 0x81, 0xa2, 'i', 'd', 0x93, 1,   0x80, 0xc2, /* {"id": [1, {}, false]} */
};
enum { FURTHER = 9 };

size_t bcri_control_encode(const struct bcri_control *message, uint8_t *out, size_t capacity)
{
    const size_t length = versions_encode_known(message, out, capacity);
    const bool is_short = length != 0 && (out[0] & 0xf0u) == 0x80u; /* a map of fewer than 16 entries */
    const size_t head = is_short ? 1 : 3, new_length = length - head + 3 + sizeof further;
    if (length == 0 || new_length > capacity || new_length > BCRI_CONTROL_BYTES_MAX)
        return length;
    const unsigned count = FURTHER + (is_short ? out[0] & 0x0fu : (unsigned)out[1] << 8 | out[2]);
    memmove(out + 3, out + head, length - head);
    out[0] = 0xde; /* a map, its count in two bytes */
    out[1] = (uint8_t)(count >> 8);
    out[2] = (uint8_t)count;
    memcpy(out + 3 + length - head, further, sizeof further);
    return new_length;
}
