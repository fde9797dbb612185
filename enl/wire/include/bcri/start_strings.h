/* SPDX-License-Identifier: MIT */
/* Start strings: the directory, the arguments and the variables that a CCE is started with, as one block of bytes.
 *
 *     | arguments (u32) | variables (u32) | directory \0 | argument \0 ... | variable \0 ... |      u32: big-endian
 *
 * The first argument is that behind the program's name. Strings may be empty and hold any byte but 0; without a
 * directory that one is empty. A block in which the strings are not as many as it says, or whose last byte is not 0, is
 * malformed. A request to start CCEs brings a short block in itself, and a longer one in a memory file beside it, or, between daemons,
 * in pieces that the receiver asks for (docs/protocol.md, "Start strings"). */
#ifndef BCRI_START_STRINGS_H
#define BCRI_START_STRINGS_H

#include <stdint.h>

#define BCRI_STRINGS_HEAD_BYTES 8u
#define BCRI_STRINGS_INLINE_MAX 2048u /* of a block that a request brings in itself */
/* The largest block, with the pointers to its strings, BCRI_STRINGS_POINTER_BYTES each: the most that Linux takes for a program,
 * however large the stack may be (3/4 of 8 MiB). */
#define BCRI_STRINGS_MAX           (6u << 20)
#define BCRI_STRINGS_POINTER_BYTES 8u
/* The longest string that Linux takes, without its zero byte: 32 pages of 4 KiB with it. */
#define BCRI_STRING_MAX 131071u

static inline void bcri_strings_write_u32(uint8_t *at, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (24 - 8 * i));
}

static inline uint32_t bcri_strings_read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

#endif
