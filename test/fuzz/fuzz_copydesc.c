/* SPDX-License-Identifier: MIT */
/*
 * fuzz_copydesc.c -- any bytes as a copy descriptor: nothing outside the two areas may be touched,
 * nothing may run for ever, and the result must be one of those documented.
 *
 *    0       1           2        3        4         8 ...
 *   +-------+-----------+--------+--------+---------+-----------------------+
 *   | flags | user side | region | offset | repl    | triples, 12 bytes each |
 *   +-------+-----------+--------+--------+---------+-----------------------+
 *   flags: 1 into the region, 2 the array goes on without an END, 4 the region has the other byte order, 8 the sizes and
 *   alignments of another machine, 16 between two regions, 32 only count; lengths and offset in bytes; ints little-endian
 *
 * The array is as long as the library may look at, so that reading further is an error that ASan
 * reports. */
#include <stdbool.h>
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

/* An array that ends at every triple, and one that does not end. They live on from input to
 * input. */
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

struct areas {
    uint8_t *buffer;
    struct bcri_copy_region region;
};

static struct areas areas_of(const uint8_t *header)
{
    static const int archtypes[] = {0x02faffa5, 0x02babaa5};
    int archtype = header[0] & 8 ? archtypes[header[0] & 1] : bcri_archtype_native();
    return (struct areas){
        .buffer = area(header[1], 0x80),
        .region = {.data = area(header[2], 0x40),
                   .length_bytes = header[2],
                   .offset_bytes = header[3],
                   .archtype = header[0] & 4 ? archtype ^ 1 << 24 : archtype},
    };
}

static void areas_free(struct areas *areas)
{
    free(areas->buffer);
    free(areas->region.data);
}

static struct bcri_copier *the_copier(void)
{
    static struct bcri_copier *copier;
    if (!copier)
        copier = bcri_copier_create(bcri_reverse_best());
    MUST(copier);
    return copier;
}

static struct bcri_copy_result copy_once(const uint8_t *header, const int *desc, struct areas *areas)
{
    int repl = read_int(header + 4), buflen = header[1];
    struct bcri_copy_region other = {areas->buffer, buflen, 0, 0x03faffa5};
    if (header[0] & 32)
        return bcri_copy_size(the_copier(), desc, repl, areas->region.archtype, header[3], buflen);
    if (header[0] & 16)
        return header[0] & 1 ? bcri_copy_between(the_copier(), desc, repl, &areas->region, &other)
                             : bcri_copy_between(the_copier(), desc, repl, &other, &areas->region);
    return header[0] & 1
               ? bcri_copy_to_region(the_copier(), desc, repl, &areas->region, areas->buffer, buflen, &codec)
               : bcri_copy_from_region(the_copier(), desc, repl, &areas->region, areas->buffer, buflen,
                                       &codec);
}

static void check_result(struct bcri_copy_result result, int source_left)
{
    if (result.ret == -2)
        MUST(result.error == bcrE_DESC || result.error == bcrE_ARG || result.error == bcrE_NOCCE ||
             result.error == bcrE_NOMEM || result.error == bcrE_RANGE);
    else
        MUST(result.error == 0);
    MUST(result.ret != 0 && result.ret != -1);
    MUST(result.ret <= 2 + source_left && result.ret >= -2 - source_left);
}

static void check_size(struct bcri_copy_result result, const uint8_t *header)
{
    if (result.ret == -1)
        MUST(result.error == bcrE_DESC || result.error == bcrE_ARG);
    else
        MUST(result.error == 0 && (result.ret >= 2 + header[3] || result.ret <= -2 - header[3]));
}

/* Twice the same, the second time with what was kept of the first. */
static void check_copies(const uint8_t *header, const int *desc)
{
    struct areas old = areas_of(header), areas = areas_of(header), again = areas_of(header);
    bool to_region = header[0] & 1, counts = header[0] & 32;
    int malformed = bcri_copydesc_check(the_copier(), desc);
    struct bcri_copy_result result = copy_once(header, desc, &areas);
    struct bcri_copy_result second = copy_once(header, desc, &again);
    MUST(result.ret == second.ret && result.error == second.error);
    MUST(memcmp(areas.buffer, again.buffer, header[1]) == 0);
    MUST(memcmp(areas.region.data, again.region.data, header[2]) == 0);

    bool bad_argument = read_int(header + 4) < 0 || (!counts && header[3] > header[2]);
    bool refused = bad_argument || malformed != 0;
    if (refused)
        MUST(result.ret == (counts ? -1 : -2) && result.error == (bad_argument ? bcrE_ARG : malformed));
    else if (counts)
        check_size(result, header);
    else
        check_result(result, to_region ? header[1] : header[2]);
    /* The source stays as it is; so does the destination if nothing was to be copied. */
    if (!to_region || counts || refused)
        MUST(memcmp(areas.region.data, old.region.data, header[2]) == 0);
    if (to_region || counts || refused)
        MUST(memcmp(areas.buffer, old.buffer, header[1]) == 0);
    areas_free(&old);
    areas_free(&areas);
    areas_free(&again);

    char text[400];
    int shown = bcri_copydesc_show(desc, 0x02babaa5, text, sizeof text);
    MUST(malformed ? shown == -malformed : shown > 0);
    if (!malformed)
        MUST(strlen(text) == (shown < (int)sizeof text ? (size_t)shown : sizeof text - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < HEADER_BYTES)
        return 0;
    int *desc = array_for(bytes[0]);
    size_t words = (length - HEADER_BYTES) / TRIPLE_BYTES * 3;
    if (words > TRIPLES_MAX * 3)
        words = TRIPLES_MAX * 3;
    int *filler = malloc(words * sizeof(int) + 1);
    MUST(filler);
    memcpy(filler, desc, words * sizeof(int));
    for (size_t i = 0; i < words; i++)
        desc[i] = read_int(bytes + HEADER_BYTES + 4 * i);
    check_copies(bytes, desc);
    memcpy(desc, filler, words * sizeof(int));
    free(filler);
    return 0;
}
