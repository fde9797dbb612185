/* SPDX-License-Identifier: MIT */
/*
 * copy_floors.c -- the same copies, written by hand for the one layout that they know.
 *
 * The region's layout is that of the descriptor: item after item, each aligned. Compiled with -O3.
 */
#include <stdint.h>
#include <string.h>

#include <bcr/types.h>

#include "copy.h"

/* Keeps the compiler from doing all turns at once. */
static inline bool turn_over(void)
{
    __asm__ volatile("" ::: "memory");
    return true;
}
#define EACH_TURN(n) for (long turn = 0; turn < (n); turn++, turn_over())

void floor_memcpy(const struct copy_case *copy, void *region, const void *user, long n)
{
    EACH_TURN(n) memcpy(region, user, (size_t)copy->user_bytes);
}

/* What a call cannot do without: finding something by a hash of the descriptor's content, which is
 * then compared, and eight bytes. */
struct entry {
    const struct entry *next;
    uint64_t hash;
    int words;
    int content[24];
};

static __attribute__((noinline)) const struct entry *lookup(const struct entry **table, const int *desc)
{
    uint64_t hash = 0;
    int words = 0;
    do {
        for (int i = 0; i < 3; i++)
            hash = (hash << 9 | hash >> 55) ^ (uint32_t)desc[words++];
    } while ((desc[words - 2] & bcrT_END) == 0);
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    const struct entry *entry = table[hash >> 56];
    while (entry != NULL && (entry->hash != hash || entry->words != words ||
                             memcmp(entry->content, desc, (size_t)words * sizeof(int)) != 0))
        entry = entry->next;
    if (entry != NULL)
        return entry;
    static struct entry made; /* one descriptor at a time */
    made = (struct entry){.hash = hash, .words = words};
    memcpy(made.content, desc, (size_t)words * sizeof(int));
    table[hash >> 56] = &made;
    return &made;
}

void floor_lookup(const struct copy_case *copy, void *region, const void *user, long n)
{
    static const struct entry *table[256];
    EACH_TURN(n)
    {
        const struct entry *entry = lookup(table, copy->desc);
        if (entry != NULL)
            memcpy(region, user, 8);
    }
}

/* The widest vectors that this processor has, made by the compiler from a plain loop. */
#if defined(__x86_64__)
#define VECTORISED(extension) __attribute__((target(extension)))
#define HAS(extension)        __builtin_cpu_supports(extension)
#else
#define VECTORISED(extension)
#define HAS(extension) 0
#endif

#define REVERSE(bits)                                                                                      \
    static inline __attribute__((always_inline)) void reverse_##bits(                                      \
        uint8_t *restrict to, const uint8_t *restrict from, int bytes)                                     \
    {                                                                                                      \
        for (int i = 0; i < bytes; i += (bits) / 8) {                                                      \
            uint##bits##_t item;                                                                           \
            memcpy(&item, from + i, sizeof item);                                                          \
            item = __builtin_bswap##bits(item);                                                            \
            memcpy(to + i, &item, sizeof item);                                                            \
        }                                                                                                  \
    }                                                                                                      \
    VECTORISED("avx512f,avx512bw")                                                                         \
    static void reverse_##bits##_avx512(uint8_t *to, const uint8_t *from, int bytes)                       \
    {                                                                                                      \
        reverse_##bits(to, from, bytes);                                                                   \
    }                                                                                                      \
    VECTORISED("avx2") static void reverse_##bits##_avx2(uint8_t *to, const uint8_t *from, int bytes)      \
    {                                                                                                      \
        reverse_##bits(to, from, bytes);                                                                   \
    }                                                                                                      \
    static void reverse_##bits##_plain(uint8_t *to, const uint8_t *from, int bytes)                        \
    {                                                                                                      \
        reverse_##bits(to, from, bytes);                                                                   \
    }                                                                                                      \
    static void reverse_turns_##bits(const struct copy_case *copy, void *region, const void *user, long n) \
    {                                                                                                      \
        void (*reverse)(uint8_t *, const uint8_t *, int) = HAS("avx512bw") ? reverse_##bits##_avx512       \
                                                           : HAS("avx2")   ? reverse_##bits##_avx2         \
                                                                           : reverse_##bits##_plain;         \
        EACH_TURN(n) reverse(region, user, copy->user_bytes);                                              \
    }

REVERSE(16)
REVERSE(32)
REVERSE(64)

void floor_reverse_2(const struct copy_case *copy, void *region, const void *user, long n)
{
    reverse_turns_16(copy, region, user, n);
}
void floor_reverse_4(const struct copy_case *copy, void *region, const void *user, long n)
{
    reverse_turns_32(copy, region, user, n);
}
void floor_reverse_8(const struct copy_case *copy, void *region, const void *user, long n)
{
    reverse_turns_64(copy, region, user, n);
}

/* ---- structs ---- */

static inline void put_2(uint8_t *to, short value, bool swapped)
{
    uint16_t bits = (uint16_t)value;
    if (swapped)
        bits = __builtin_bswap16(bits);
    memcpy(to, &bits, sizeof bits);
}

static inline void put_4(uint8_t *to, int value, bool swapped)
{
    uint32_t bits = (uint32_t)value;
    if (swapped)
        bits = __builtin_bswap32(bits);
    memcpy(to, &bits, sizeof bits);
}

static inline void put_8(uint8_t *to, double value, bool swapped)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (swapped)
        bits = __builtin_bswap64(bits);
    memcpy(to, &bits, sizeof bits);
}

/* In the region each record but the first begins in the padding behind the one before. */
static inline void pack_records(uint8_t *restrict region, const struct record *restrict user, int count,
                                bool swapped)
{
    for (int i = 0; i < count; i++) {
        uint8_t *to = region + 24 * i;
        to[i == 0 ? 0 : -2] = (uint8_t)user[i].tag;
        put_4(to + (i == 0 ? 4 : 0), user[i].id, swapped);
        put_8(to + 8, user[i].at, swapped);
        for (int k = 0; k < 3; k++)
            put_2(to + 16 + 2 * k, user[i].rest[k], swapped);
    }
}

void floor_record(const struct copy_case *copy, void *region, const void *user, long n)
{
    EACH_TURN(n) pack_records(region, user, copy->repl, false);
}

void floor_record_swapped(const struct copy_case *copy, void *region, const void *user, long n)
{
    EACH_TURN(n) pack_records(region, user, copy->repl, true);
}

static inline void pack_doubles(uint8_t *restrict region, const double *restrict user, int count,
                                bool swapped)
{
    for (int i = 0; i < count; i++)
        put_8(region + 8 * i, user[2 * i], swapped);
}

void floor_other_double(const struct copy_case *copy, void *region, const void *user, long n)
{
    EACH_TURN(n) pack_doubles(region, user, copy->repl, false);
}

void floor_other_double_swapped(const struct copy_case *copy, void *region, const void *user, long n)
{
    EACH_TURN(n) pack_doubles(region, user, copy->repl, true);
}

/* An outer record takes 80 bytes in the region: int, 3 x (short, two doubles), 5 chars. */
static inline void pack_nested(uint8_t *restrict region, const struct outer *restrict user, int count,
                               bool swapped)
{
    for (int i = 0; i < count; i++) {
        uint8_t *to = region + 80 * i;
        put_4(to, user[i].id, swapped);
        for (int k = 0; k < 3; k++) {
            put_2(to + (k == 0 ? 4 : 24 * k), user[i].in[k].kind, swapped);
            put_8(to + 24 * k + 8, user[i].in[k].x, swapped);
            put_8(to + 24 * k + 16, user[i].in[k].y, swapped);
        }
        memcpy(to + 72, user[i].name, 5);
    }
}

void floor_nested(const struct copy_case *copy, void *region, const void *user, long n)
{
    EACH_TURN(n) pack_nested(region, user, copy->repl, false);
}

void floor_nested_swapped(const struct copy_case *copy, void *region, const void *user, long n)
{
    EACH_TURN(n) pack_nested(region, user, copy->repl, true);
}
