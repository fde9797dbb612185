/* SPDX-License-Identifier: MIT */
/*
 * op_resize.c -- copies numbers whose size differs on the two sides, in either byte order.
 *
 * Integers keep their value and sign. A float that becomes wider keeps its value; one that becomes
 * narrower is rounded to the nearest. Infinities and NaNs stay what they are. A value that the
 * narrower side cannot hold (an integer outside its range, a finite float that would become
 * infinite) stops the copy there with bcrE_RANGE. */
#include "op.h"

#include <math.h>
#include <string.h>

#include <bcr/error.h>

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS uint64_t load(const uint8_t *bytes, int size, bool swapped)
{
    if (size == 2) {
        uint16_t item;
        memcpy(&item, bytes, 2);
        return swapped ? __builtin_bswap16(item) : item;
    }
    if (size == 4) {
        uint32_t item;
        memcpy(&item, bytes, 4);
        return swapped ? __builtin_bswap32(item) : item;
    }
    uint64_t item;
    memcpy(&item, bytes, 8);
    return swapped ? __builtin_bswap64(item) : item;
}

ALWAYS void store(uint8_t *bytes, uint64_t value, int size, bool swapped)
{
    if (size == 2) {
        uint16_t item = (uint16_t)value;
        item = swapped ? __builtin_bswap16(item) : item;
        memcpy(bytes, &item, 2);
    } else if (size == 4) {
        uint32_t item = (uint32_t)value;
        item = swapped ? __builtin_bswap32(item) : item;
        memcpy(bytes, &item, 4);
    } else {
        uint64_t item = swapped ? __builtin_bswap64(value) : value;
        memcpy(bytes, &item, 8);
    }
}

/* The low `size` bytes of `value`, sign-extended. */
ALWAYS uint64_t extend(uint64_t value, int size)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return size == 8 ? value : ((value & (2 * sign - 1)) ^ sign) - sign;
}

ALWAYS int integers(const struct op *op, const uint8_t *source, uint8_t *destination, int from_size,
                    int to_size)
{
    const struct op its = *op; /* as far as the compiler knows, stores to `to` could change `*op` */
    for (int64_t block = 0; block < its.blocks; block++) {
        const uint8_t *from = source + block * its.source_step;
        uint8_t *to = destination + block * its.destination_step;
        for (int32_t i = 0; i < its.items; i++, from += from_size, to += to_size) {
            uint64_t value = extend(load(from, from_size, its.source_swapped), from_size);
            if (to_size < from_size && extend(value, to_size) != value)
                return bcrE_RANGE;
            store(to, value, to_size, its.destination_swapped);
        }
    }
    return 0;
}

int op_integer(const struct op *op, const uint8_t *source, uint8_t *destination)
{
    switch (op->source_size * 16 + op->destination_size) {
    case 0x24: return integers(op, source, destination, 2, 4);
    case 0x28: return integers(op, source, destination, 2, 8);
    case 0x42: return integers(op, source, destination, 4, 2);
    case 0x48: return integers(op, source, destination, 4, 8);
    case 0x82: return integers(op, source, destination, 8, 2);
    default: return integers(op, source, destination, 8, 4);
    }
}

/* Converts the bits of a double to those of a float. False if the double is finite and the float
 * would not be. */
static bool narrowed(uint64_t bits, uint32_t *float_bits_out)
{
    double wide;
    memcpy(&wide, &bits, sizeof wide);
    float narrow = (float)wide;
    if (isinf(narrow) && !isinf(wide))
        return false;
    memcpy(float_bits_out, &narrow, sizeof narrow);
    return true;
}

static uint64_t widened(uint32_t bits)
{
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    double wide = (double)narrow;
    uint64_t wide_bits;
    memcpy(&wide_bits, &wide, sizeof wide);
    return wide_bits;
}

int op_float(const struct op *op, const uint8_t *source, uint8_t *destination)
{
    bool narrow = op->source_size == 8;
    for (int64_t block = 0; block < op->blocks; block++) {
        const uint8_t *from = source + block * op->source_step;
        uint8_t *to = destination + block * op->destination_step;
        for (int32_t i = 0; i < op->items; i++, from += op->source_size, to += op->destination_size) {
            uint32_t bits;
            if (!narrow)
                store(to, widened((uint32_t)load(from, 4, op->source_swapped)), 8, op->destination_swapped);
            else if (narrowed(load(from, 8, op->source_swapped), &bits))
                store(to, bits, 4, op->destination_swapped);
            else
                return bcrE_RANGE;
        }
    }
    return 0;
}
