/* SPDX-License-Identifier: MIT */
/*
 * fuzz_copydesc.c -- any bytes as a copy descriptor: nothing outside the two areas may be touched, nothing may run
 * for ever, and the result must be one of those documented.
 *
 *    0       1           2        3        4         8 ...
 *   +-------+-----------+--------+--------+---------+-----------------------+
 *   | flags | user side | region | offset | repl    | triples, 12 bytes each |
 *   +-------+-----------+--------+--------+---------+-----------------------+
 *   flags: 1 into the region, 2 the array goes on without an END; lengths and offset in bytes; ints little-endian
 *
 * The array is as long as the library may look at, so that reading further is an error that ASan reports.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>
#include <bcri/copydesc.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { HEADER_BYTES = 8, TRIPLE_BYTES = 12, TRIPLES_MAX = 65536 };

#define MUST(condition)                                                         \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                            \
        }                                                                       \
    } while (0)

static int read_int(const uint8_t *bytes)
{
    uint32_t word = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    int value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static int encode(void *ctx, int id, uint8_t out[16])
{
    (void)ctx;
    if (id < 0)
        return bcrE_NOCCE;
    memset(out, id | 1, 16);
    return 0;
}

static int decode(void *ctx, const uint8_t in[16], int *id_out)
{
    (void)ctx;
    if (in[0] == 0)
        return bcrE_NOMEM;
    *id_out = in[0];
    return 0;
}

static const struct bcri_cce_codec codec = {NULL, encode, decode};

/* An array that ends at every triple, and one that does not end. They live on from input to input. */
static int *array_of(const int filler[3])
{
    int *array = malloc(TRIPLES_MAX * 3 * sizeof(int));
    MUST(array);
    for (int i = 0; i < TRIPLES_MAX * 3; i++)
        array[i] = filler[i % 3];
    return array;
}

static int *array_for(uint8_t flags)
{
    static const int end[3] = {0, bcrT_CHAR | bcrT_END, 1}, no_end[3] = {0, bcrT_CHAR, 1};
    static int *ending, *endless;
    if (!ending)
        ending = array_of(end);
    if (!endless)
        endless = array_of(no_end);
    return flags & 2 ? endless : ending;
}

/* Exactly `length` bytes of its own, so that a sanitizer sees the first byte outside. */
static uint8_t *area(size_t length, uint8_t first)
{
    uint8_t *bytes = malloc(length ? length : 1);
    MUST(bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(i % 7 == 3 ? 0 : first + i);
    return bytes;
}

static void check_result(struct bcri_copy_result result, int source_left)
{
    if (result.ret == -2)
        MUST(result.error == bcrE_DESC || result.error == bcrE_ARG || result.error == bcrE_NOCCE ||
             result.error == bcrE_NOMEM);
    else
        MUST(result.error == 0);
    MUST(result.ret != 0 && result.ret != -1);
    MUST(result.ret <= 2 + source_left && result.ret >= -2 - source_left);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < HEADER_BYTES)
        return 0;
    int to_region = bytes[0] & 1, buflen = bytes[1], offset = bytes[3], repl = read_int(bytes + 4);
    struct bcri_copy_region region = {
        .data = area(bytes[2], 0x40),
        .length_bytes = bytes[2],
        .offset_bytes = offset,
        .archtype = bcri_archtype_native(),
    };
    uint8_t *buffer = area((size_t)buflen, 0x80);

    int *desc = array_for(bytes[0]);
    size_t words = (length - HEADER_BYTES) / TRIPLE_BYTES * 3;
    if (words > TRIPLES_MAX * 3)
        words = TRIPLES_MAX * 3;
    int *filler = malloc(words * sizeof(int) + 1);
    MUST(filler);
    memcpy(filler, desc, words * sizeof(int));
    for (size_t i = 0; i < words; i++)
        desc[i] = read_int(bytes + HEADER_BYTES + 4 * i);

    /* The source stays as it is; so does the destination if nothing was to be copied. */
    uint8_t *old_data = area(bytes[2], 0x40), *old_buffer = area((size_t)buflen, 0x80);
    int malformed = bcri_copydesc_check(desc);
    struct bcri_copy_result result;
    if (to_region)
        result = bcri_copy_to_region(desc, repl, &region, buffer, buflen, &codec);
    else
        result = bcri_copy_from_region(desc, repl, &region, buffer, buflen, &codec);
    int bad_argument = repl < 0 || offset > region.length_bytes;
    if (bad_argument || malformed)
        MUST(result.ret == -2 && result.error == (bad_argument ? bcrE_ARG : malformed));
    else
        check_result(result, to_region ? buflen : region.length_bytes);
    if (!to_region || bad_argument || malformed)
        MUST(memcmp(region.data, old_data, bytes[2]) == 0);
    if (to_region || bad_argument || malformed)
        MUST(memcmp(buffer, old_buffer, (size_t)buflen) == 0);

    memcpy(desc, filler, words * sizeof(int));
    free(filler);
    free(old_buffer);
    free(old_data);
    free(buffer);
    free(region.data);
    return 0;
}
