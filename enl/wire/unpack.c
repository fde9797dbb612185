/* SPDX-License-Identifier: MIT */
/* See unpack.h. Source: msgpack specification. */
#include "bcri/unpack.h"

static uint64_t big_endian(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* Reads a number of `size` bytes; false if they are not there. */
static bool take_number(struct bcri_cursor *cursor, unsigned size, uint64_t *number_out)
{
    if (cursor->left < size)
        return false;
    *number_out = big_endian(cursor->at, size);
    cursor->at += size;
    cursor->left -= size;
    return true;
}

static struct bcri_item take_body(struct bcri_cursor *cursor, enum bcri_item_class class, uint64_t length)
{
    struct bcri_item item = {.class = BCRI_ITEM_BAD};
    if (length > cursor->left)
        return item;
    item.class = class;
    item.bytes = cursor->at;
    item.length = (uint32_t)length;
    cursor->at += length;
    cursor->left -= (size_t)length;
    return item;
}

/* Reads an item whose length is in the next `size` bytes, plus `extra` (the type byte of an
 * extension). */
static struct bcri_item take_sized(struct bcri_cursor *cursor, enum bcri_item_class class, unsigned size,
                                   unsigned extra)
{
    uint64_t length;
    if (!take_number(cursor, size, &length))
        return (struct bcri_item){.class = BCRI_ITEM_BAD};
    return take_body(cursor, class, length + extra);
}

static struct bcri_item take_count(struct bcri_cursor *cursor, enum bcri_item_class class, unsigned size,
                                   unsigned per_entry)
{
    struct bcri_item item = {.class = class};
    if (!take_number(cursor, size, &item.number))
        item.class = BCRI_ITEM_BAD;
    item.number *= per_entry;
    return item;
}

static struct bcri_item take_unsigned(struct bcri_cursor *cursor, unsigned size)
{
    return take_count(cursor, BCRI_ITEM_UINT, size, 1);
}

static struct bcri_item take_signed(struct bcri_cursor *cursor, unsigned size)
{
    struct bcri_item item = take_unsigned(cursor, size);
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if (item.class == BCRI_ITEM_UINT && (item.number & sign) != 0) {
        item.class = BCRI_ITEM_NEGATIVE;
        item.number |= ~(sign | (sign - 1));
    }
    return item;
}

struct bcri_item bcri_unpack(struct bcri_cursor *cursor)
{
    if (cursor->left == 0)
        return (struct bcri_item){.class = BCRI_ITEM_BAD};
    uint8_t tag = *cursor->at++;
    cursor->left--;
    if (tag <= 0x7f)
        return (struct bcri_item){.class = BCRI_ITEM_UINT, .number = tag};
    if (tag >= 0xe0)
        return (struct bcri_item){.class = BCRI_ITEM_NEGATIVE, .number = (uint64_t)(int64_t)(int8_t)tag};
    if (tag <= 0x8f)
        return (struct bcri_item){.class = BCRI_ITEM_MAP, .number = (tag & 0x0fu) * 2};
    if (tag <= 0x9f)
        return (struct bcri_item){.class = BCRI_ITEM_ARRAY, .number = tag & 0x0fu};
    if (tag <= 0xbf)
        return take_body(cursor, BCRI_ITEM_STR, tag & 0x1fu);
    switch (tag) {
    case 0xc0: /* nil, false, true */
    case 0xc2:
    case 0xc3: return (struct bcri_item){.class = BCRI_ITEM_OTHER};
    case 0xc4: return take_sized(cursor, BCRI_ITEM_BIN, 1, 0);
    case 0xc5: return take_sized(cursor, BCRI_ITEM_BIN, 2, 0);
    case 0xc6: return take_sized(cursor, BCRI_ITEM_BIN, 4, 0);
    case 0xc7: return take_sized(cursor, BCRI_ITEM_OTHER, 1, 1); /* extensions */
    case 0xc8: return take_sized(cursor, BCRI_ITEM_OTHER, 2, 1);
    case 0xc9: return take_sized(cursor, BCRI_ITEM_OTHER, 4, 1);
    case 0xca: return take_body(cursor, BCRI_ITEM_OTHER, 4); /* floats */
    case 0xcb: return take_body(cursor, BCRI_ITEM_OTHER, 8);
    case 0xcc: return take_unsigned(cursor, 1);
    case 0xcd: return take_unsigned(cursor, 2);
    case 0xce: return take_unsigned(cursor, 4);
    case 0xcf: return take_unsigned(cursor, 8);
    case 0xd0: return take_signed(cursor, 1);
    case 0xd1: return take_signed(cursor, 2);
    case 0xd2: return take_signed(cursor, 4);
    case 0xd3: return take_signed(cursor, 8);
    case 0xd4: return take_body(cursor, BCRI_ITEM_OTHER, 2); /* extensions of fixed size */
    case 0xd5: return take_body(cursor, BCRI_ITEM_OTHER, 3);
    case 0xd6: return take_body(cursor, BCRI_ITEM_OTHER, 5);
    case 0xd7: return take_body(cursor, BCRI_ITEM_OTHER, 9);
    case 0xd8: return take_body(cursor, BCRI_ITEM_OTHER, 17);
    case 0xd9: return take_sized(cursor, BCRI_ITEM_STR, 1, 0);
    case 0xda: return take_sized(cursor, BCRI_ITEM_STR, 2, 0);
    case 0xdb: return take_sized(cursor, BCRI_ITEM_STR, 4, 0);
    case 0xdc: return take_count(cursor, BCRI_ITEM_ARRAY, 2, 1);
    case 0xdd: return take_count(cursor, BCRI_ITEM_ARRAY, 4, 1);
    case 0xde: return take_count(cursor, BCRI_ITEM_MAP, 2, 2);
    case 0xdf: return take_count(cursor, BCRI_ITEM_MAP, 4, 2);
    default: return (struct bcri_item){.class = BCRI_ITEM_BAD}; /* 0xc1: never used */
    }
}

/* Every item takes at least a byte, so this ends within `left` steps. */
bool bcri_unpack_skip(struct bcri_cursor *cursor)
{
    for (uint64_t items = 1; items > 0; items--) {
        struct bcri_item item = bcri_unpack(cursor);
        if (item.class == BCRI_ITEM_BAD)
            return false;
        if (item.class == BCRI_ITEM_MAP || item.class == BCRI_ITEM_ARRAY) {
            if (item.number > cursor->left)
                return false;
            items += item.number;
        }
    }
    return true;
}
