/* SPDX-License-Identifier: MIT */
/*
 * archtype.c -- making, checking and reading the int that describes a machine's data layout.
 *
 * Pure arithmetic on the encoding drawn in archtype.h. The native value is a constant that the
 * compiler computes. */
#include <bcri/archtype.h>

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>

#include <bcr/types.h>

enum {
    SHORT_SHIFT = 0,
    INT_SHIFT = 4,
    LONG_SHIFT = 8,
    LONGLONG_SHIFT = 12,
    FLOAT_SHIFT = 16,
    DOUBLE_SHIFT = 20,
    ORDER_SHIFT = 24,
    FORMAT_SHIFT = 25,
    RESERVED_SHIFT = 28,

    FORMAT_IEEE754 = 1
};

/* Log2 of a size or alignment of 1, 2, 4 or 8 bytes, as a constant expression. */
#define LOG2_BYTES(bytes)    ((bytes) == 8 ? 3 : (bytes) == 4 ? 2 : (bytes) == 2 ? 1 : 0)
#define FITS_TWO_BITS(bytes) ((bytes) == 1 || (bytes) == 2 || (bytes) == 4 || (bytes) == 8)

/* The alignment of a struct member. It decides how data lies, and _Alignof does not always say
 * it. */
#define MEMBER(type, name) \
    struct name {          \
        char before;       \
        type it;           \
    }
MEMBER(short, short_member);
MEMBER(int, int_member);
MEMBER(long, long_member);
MEMBER(long long, longlong_member);
MEMBER(float, float_member);
MEMBER(double, double_member);

#define ALIGN(name)            offsetof(struct name, it)
#define SIZE(name)             sizeof(((struct name *)0)->it)
#define NATIVE(name)           (LOG2_BYTES(SIZE(name)) | LOG2_BYTES(ALIGN(name)) << 2)
#define ENCODABLE(name)        (FITS_TWO_BITS(SIZE(name)) && FITS_TWO_BITS(ALIGN(name)))
#define IEEE754(bytes, digits) (((bytes) == 4 && (digits) == 24) || ((bytes) == 8 && (digits) == 53))

static_assert(CHAR_BIT == 8 && sizeof(int) == 4, "BCR keeps 31-bit numbers and offsets in int");
static_assert(ENCODABLE(short_member) && ENCODABLE(int_member) && ENCODABLE(long_member) &&
                  ENCODABLE(longlong_member) && ENCODABLE(float_member) && ENCODABLE(double_member),
              "a type of this machine has a size or alignment that an archtype cannot say");
static_assert(FLT_RADIX == 2 && IEEE754(sizeof(float), FLT_MANT_DIG) && IEEE754(sizeof(double), DBL_MANT_DIG),
              "this machine's floats need a float format of their own in archtype.h");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
              "this machine's byte order needs an encoding of its own in archtype.h");

int bcri_archtype_native(void)
{
    return NATIVE(short_member) << SHORT_SHIFT | NATIVE(int_member) << INT_SHIFT |
           NATIVE(long_member) << LONG_SHIFT | NATIVE(longlong_member) << LONGLONG_SHIFT |
           NATIVE(float_member) << FLOAT_SHIFT | NATIVE(double_member) << DOUBLE_SHIFT |
           (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) << ORDER_SHIFT | FORMAT_IEEE754 << FORMAT_SHIFT;
}

static int size_at(int archtype, int shift)
{
    return 1 << (archtype >> shift & 3);
}

static int align_at(int archtype, int shift)
{
    return 1 << (archtype >> (shift + 2) & 3);
}

bool bcri_archtype_valid(int archtype)
{
    if (archtype <= 0 || archtype >> RESERVED_SHIFT != 0 || (archtype >> FORMAT_SHIFT & 7) != FORMAT_IEEE754)
        return false;
    for (int shift = SHORT_SHIFT; shift <= DOUBLE_SHIFT; shift += 4)
        if (align_at(archtype, shift) > size_at(archtype, shift))
            return false;
    int short_size = size_at(archtype, SHORT_SHIFT), int_size = size_at(archtype, INT_SHIFT);
    int long_size = size_at(archtype, LONG_SHIFT), longlong_size = size_at(archtype, LONGLONG_SHIFT);
    int float_size = size_at(archtype, FLOAT_SHIFT), double_size = size_at(archtype, DOUBLE_SHIFT);
    return 2 <= short_size && short_size <= int_size && int_size <= long_size && 4 <= long_size &&
           longlong_size == 8 && 4 <= float_size && float_size <= double_size;
}

static int shift_of(int type)
{
    switch (type) {
    case bcrT_SHORT: return SHORT_SHIFT;
    case bcrT_INT: return INT_SHIFT;
    case bcrT_LONG: return LONG_SHIFT;
    case bcrT_LONGLONG: return LONGLONG_SHIFT;
    case bcrT_FLOAT: return FLOAT_SHIFT;
    default: assert(type == bcrT_DOUBLE); return DOUBLE_SHIFT;
    }
}

int bcri_archtype_size(int archtype, int type)
{
    if (type == bcrT_CHAR)
        return 1;
    if (type == bcrT_CCE)
        return BCRI_CCE_SIZE_BYTES;
    return size_at(archtype, shift_of(type));
}

int bcri_archtype_align(int archtype, int type)
{
    if (type == bcrT_CHAR)
        return 1;
    if (type == bcrT_CCE)
        return BCRI_CCE_ALIGN_BYTES;
    return align_at(archtype, shift_of(type));
}

bool bcri_archtype_bigendian(int archtype)
{
    return archtype >> ORDER_SHIFT & 1;
}
