/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/types.h>

/* ---- layouts ---- */

static int log2_of(int bytes)
{
    int log2 = 0;
    while (1 << log2 < bytes)
        log2++;
    return log2;
}

int reference_archtype(bool big_endian, const int sizes[6], const int aligns[6])
{
    int archtype = 1 << 25 | big_endian << 24;
    for (int i = 0; i < 6; i++)
        archtype |= (log2_of(sizes[i]) | log2_of(aligns[i]) << 2) << 4 * i;
    return archtype;
}

#define ALIGN_OF(type) \
    (int)offsetof(     \
        struct {       \
            char c;    \
            type t;    \
        },             \
        t)

static const int user_sizes[] = {
    0,          1, sizeof(short), sizeof(int), sizeof(long), sizeof(long long), sizeof(float), sizeof(double),
    sizeof(int)};
static const int user_aligns[] = {0,
                                  1,
                                  ALIGN_OF(short),
                                  ALIGN_OF(int),
                                  ALIGN_OF(long),
                                  ALIGN_OF(long long),
                                  ALIGN_OF(float),
                                  ALIGN_OF(double),
                                  ALIGN_OF(int)};

static int size_of(const struct reference_side *side, int type)
{
    if (side->archtype == 0)
        return user_sizes[type];
    if (type == bcrT_CHAR)
        return 1;
    if (type == bcrT_CCE)
        return 16;
    return 1 << (side->archtype >> 4 * (type - bcrT_SHORT) & 3);
}

static int align_of(const struct reference_side *side, int type)
{
    if (side->archtype == 0)
        return user_aligns[type];
    if (type == bcrT_CHAR)
        return 1;
    if (type == bcrT_CCE)
        return 4;
    return 1 << (side->archtype >> (4 * (type - bcrT_SHORT) + 2) & 3);
}

static bool big_endian(const struct reference_side *side)
{
    static const int one = 1;
    return side->archtype != 0 ? side->archtype >> 24 & 1 : *(const char *)&one == 0;
}

static long long place(const struct reference_side *side, int type)
{
    long long pos = side->pos;
    while (pos % align_of(side, type) != 0)
        pos++;
    return pos;
}

/* ---- items ---- */

/* The bytes of an item, the least significant one first. */
static void read_item(const struct reference_side *side, int type, const uint8_t *from, uint8_t item[16])
{
    int size = size_of(side, type);
    for (int i = 0; i < size; i++)
        item[i] = from[big_endian(side) ? size - 1 - i : i];
}

static void write_item(const struct reference_side *side, int type, uint8_t *to, const uint8_t item[16])
{
    int size = size_of(side, type);
    for (int i = 0; i < size; i++)
        to[big_endian(side) ? size - 1 - i : i] = item[i];
}

/* Any integer has as many sign bytes in front as one likes; what must go must be such. */
static int resize_integer(uint8_t item[16], int from_size, int to_size)
{
    uint8_t sign = item[from_size - 1] & 0x80 ? 0xff : 0;
    for (int i = from_size; i < to_size; i++)
        item[i] = sign;
    if (to_size < from_size)
        sign = item[to_size - 1] & 0x80 ? 0xff : 0;
    for (int i = to_size; i < from_size; i++)
        if (item[i] != sign)
            return bcrE_RANGE;
    return 0;
}

static int resize_float(uint8_t item[16], int from_size)
{
    uint64_t bits = 0;
    for (int i = 0; i < from_size; i++)
        bits |= (uint64_t)item[i] << 8 * i;
    float narrow;
    double wide;
    if (from_size == 4) {
        uint32_t narrow_bits = (uint32_t)bits;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        wide = narrow;
        memcpy(&bits, &wide, sizeof bits);
    } else {
        uint32_t narrow_bits;
        memcpy(&wide, &bits, sizeof wide);
        narrow = (float)wide;
        if (isinf(narrow) && isfinite(wide))
            return bcrE_RANGE;
        memcpy(&narrow_bits, &narrow, sizeof narrow);
        bits = narrow_bits;
    }
    for (int i = 0; i < 8; i++)
        item[i] = (uint8_t)(bits >> 8 * i);
    return 0;
}

static int convert_number(struct reference *ref, int type, const uint8_t *from, uint8_t *to)
{
    uint8_t item[16];
    int from_size = size_of(&ref->source, type), to_size = size_of(&ref->destination, type);
    read_item(&ref->source, type, from, item);
    int error = 0;
    if (from_size != to_size)
        error = type == bcrT_FLOAT || type == bcrT_DOUBLE ? resize_float(item, from_size)
                                                          : resize_integer(item, from_size, to_size);
    if (error)
        return error;
    write_item(&ref->destination, type, to, item);
    ref->conversions += from_size != to_size || memcmp(from, to, (size_t)to_size) != 0;
    return 0;
}

static int convert_cce(struct reference *ref, const uint8_t *from, uint8_t *to)
{
    static const uint8_t zeros[16];
    uint8_t identity[16] = {0};
    int id = -1, error = 0;
    if (ref->source.archtype != 0 && ref->destination.archtype != 0) {
        memcpy(to, from, 16);
        return 0;
    }
    if (ref->source.archtype == 0) {
        memcpy(&id, from, sizeof id);
        if (id != -1)
            error = ref->codec->encode(ref->codec->ctx, id, identity);
        if (!error)
            memcpy(to, identity, 16);
        return error;
    }
    if (memcmp(from, zeros, 16) != 0)
        error = ref->codec->decode(ref->codec->ctx, from, &id);
    if (!error)
        memcpy(to, &id, sizeof id);
    return error;
}

static enum reference_stop one_item(struct reference *ref, int type, int skip)
{
    bool take = skip == 0 || (skip & bcrT_SKIP_FM), give = skip == 0 || (skip & bcrT_SKIP_TO);
    long long from = place(&ref->source, type), to = place(&ref->destination, type);
    long long from_end = from + size_of(&ref->source, type), to_end = to + size_of(&ref->destination, type);
    if (take && from_end > ref->source.length)
        return SOURCE_RAN_OUT;
    if (give && to_end > ref->destination.length)
        return DESTINATION_FULL;
    if (skip == 0 && !ref->dry) {
        const uint8_t *source = ref->source.data + from;
        uint8_t *destination = ref->destination.data + to;
        ref->error = type == bcrT_CCE ? convert_cce(ref, source, destination)
                                      : convert_number(ref, type, source, destination);
        if (ref->error)
            return FAILED;
    }
    if (take)
        ref->source.pos = from_end;
    if (give)
        ref->destination.pos = to_end;
    return NOT_STOPPED;
}

/* ---- lists ---- */

static enum reference_stop list(struct reference *ref, int first, int skip)
{
    for (int at = first;; at++) {
        int type = ref->desc[3 * at + 1], flags = skip | (type & (bcrT_SKIP_FM | bcrT_SKIP_TO));
        struct reference_side *user = ref->source.archtype == 0        ? &ref->source
                                      : ref->destination.archtype == 0 ? &ref->destination
                                                                       : NULL;
        if (user != NULL)
            user->pos += ref->desc[3 * at];
        if (user != NULL && (user->pos < 0 || user->pos > INT_MAX)) {
            ref->error = bcrE_DESC;
            return FAILED;
        }
        for (int i = 0; i < ref->desc[3 * at + 2]; i++) {
            int low = type % (1 << 24);
            enum reference_stop stop;
            if (--ref->steps < 0)
                return TOO_LONG;
            if (type & (1 << 29))
                stop = list(ref, at + low - (1 << 23), flags);
            else
                stop = one_item(ref, low, flags);
            if (stop)
                return stop;
        }
        if (type & bcrT_END)
            return NOT_STOPPED;
    }
}

enum reference_stop reference_run(struct reference *ref, int repl)
{
    enum reference_stop stop = NOT_STOPPED;
    for (int i = 0; i < repl && !stop; i++)
        stop = --ref->steps < 0 ? TOO_LONG : list(ref, 0, 0);
    return stop;
}

struct bcri_copy_result reference_result(const struct reference *ref, enum reference_stop stop)
{
    int left = ref->source.pos > ref->source.length ? 0 : (int)(ref->source.length - ref->source.pos);
    if (stop == NOT_STOPPED)
        return (struct bcri_copy_result){left + 2, 0};
    if (stop == SOURCE_RAN_OUT || (stop == DESTINATION_FULL && left == 0))
        return (struct bcri_copy_result){1, 0};
    if (stop == DESTINATION_FULL)
        return (struct bcri_copy_result){-left - 2, 0};
    return (struct bcri_copy_result){-2, ref->error};
}

struct bcri_copy_result reference_size(const struct reference *ref, enum reference_stop stop)
{
    int used = (int)ref->destination.pos;
    if (stop == NOT_STOPPED)
        return (struct bcri_copy_result){used + 2, 0};
    if (stop == SOURCE_RAN_OUT)
        return (struct bcri_copy_result){-used - 2, 0};
    return (struct bcri_copy_result){-1, stop == DESTINATION_FULL ? bcrE_ARG : ref->error};
}
