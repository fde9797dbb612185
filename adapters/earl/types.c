/* SPDX-License-Identifier: MIT */
#include "types.h"

#include <limits.h>
#include <string.h>

unsigned earl_format_own(void)
{
    const uint16_t one = 1;
    const bool is_big = *(const unsigned char *)&one == 0;
    return EARL_FORMAT_SET | (is_big ? (unsigned)EARL_FORMAT_BIG : 0) |
           (sizeof(long) == 8 ? (unsigned)EARL_FORMAT_LONG8 : 0);
}

size_t earl_type_size(enum earl_type type, unsigned format)
{
    switch (type) {
    case EARL_BYTE: return 1;
    case EARL_SHORT:
    case EARL_USHORT: return 2;
    case EARL_INT:
    case EARL_UINT:
    case EARL_FLOAT: return 4;
    case EARL_LONG:
    case EARL_ULONG:
        return format == EARL_FORMAT_NONE ? sizeof(long) : (format & EARL_FORMAT_LONG8) != 0 ? 8 : 4;
    case EARL_DOUBLE:
    case EARL_COMPLEX: return 8;
    case EARL_DCOMPLEX: return 16;
    default: return 0;
    }
}

/* `size` bytes, the least significant first or last, as a number. */
static uint64_t read_bytes(const unsigned char *from, size_t size, bool is_big)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | from[is_big ? i : size - 1 - i];
    return value;
}

/* A long of the other size. */
static bool translate_long(bool is_signed, void *to, const unsigned char *from, size_t size, bool is_big)
{
    uint64_t value = read_bytes(from, size, is_big);
    if (is_signed) {
        const int64_t number = size == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
        const long fits = (long)number;
        if (number < LONG_MIN || number > LONG_MAX)
            return false;
        memcpy(to, &fits, sizeof fits);
        return true;
    }
    const unsigned long fits = (unsigned long)value;
    if (value > ULONG_MAX)
        return false;
    memcpy(to, &fits, sizeof fits);
    return true;
}

static void reverse(unsigned char *to, const unsigned char *from, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, to += size, from += size)
        for (size_t k = 0; k < size; k++)
            to[k] = from[size - 1 - k];
}

bool earl_translate(enum earl_type type, unsigned format, void *to, const void *from, size_t count)
{
    const unsigned own = earl_format_own();
    const size_t size = earl_type_size(type, format);
    const bool is_long = type == EARL_LONG || type == EARL_ULONG;
    const bool is_big = (format & EARL_FORMAT_BIG) != 0;
    if (is_long && size != sizeof(long)) {
        for (size_t i = 0; i < count; i++)
            if (!translate_long(type == EARL_LONG, (char *)to + i * sizeof(long),
                                (const unsigned char *)from + i * size, size, is_big))
                return false;
        return true;
    }
    if (format == EARL_FORMAT_NONE || is_big == ((own & EARL_FORMAT_BIG) != 0)) {
        memcpy(to, from, count * size);
        return true;
    }
    /* A complex number is two. */
    const size_t parts = type == EARL_COMPLEX || type == EARL_DCOMPLEX ? 2 : 1;
    reverse(to, from, count * parts, size / parts);
    return true;
}
