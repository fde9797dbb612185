/* SPDX-License-Identifier: MIT */
/* See unpack.h. Source: msgpack specification. */
#include "bcri/unpack.h"

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

/* How an item goes on behind a tag from 0xc0 on: with a number of `size` bytes, which is its value, says how many items
 * follow, or, with `extra` added (the type byte of an extension), how long its body is. */
static const struct {
    uint8_t class, size, extra;
} of_tag[] = {
    [0x00] = {BCRI_ITEM_OTHER, 0, 0}, /* nil */
    [0x01] = {BCRI_ITEM_BAD, 0, 0},   /* never used */
    [0x02] = {BCRI_ITEM_OTHER, 0, 0}, /* false, true */
    [0x03] = {BCRI_ITEM_OTHER, 0, 0},    [0x04] = {BCRI_ITEM_BIN, 1, 0},
    [0x05] = {BCRI_ITEM_BIN, 2, 0},      [0x06] = {BCRI_ITEM_BIN, 4, 0},
    [0x07] = {BCRI_ITEM_OTHER, 1, 1}, /* extensions */
    [0x08] = {BCRI_ITEM_OTHER, 2, 1},    [0x09] = {BCRI_ITEM_OTHER, 4, 1},
    [0x0a] = {BCRI_ITEM_OTHER, 0, 4}, /* floats */
    [0x0b] = {BCRI_ITEM_OTHER, 0, 8},    [0x0c] = {BCRI_ITEM_UINT, 1, 0},
    [0x0d] = {BCRI_ITEM_UINT, 2, 0},     [0x0e] = {BCRI_ITEM_UINT, 4, 0},
    [0x0f] = {BCRI_ITEM_UINT, 8, 0},     [0x10] = {BCRI_ITEM_NEGATIVE, 1, 0}, /* or not */
    [0x11] = {BCRI_ITEM_NEGATIVE, 2, 0}, [0x12] = {BCRI_ITEM_NEGATIVE, 4, 0},
    [0x13] = {BCRI_ITEM_NEGATIVE, 8, 0}, [0x14] = {BCRI_ITEM_OTHER, 0, 2}, /* extensions of fixed size */
    [0x15] = {BCRI_ITEM_OTHER, 0, 3},    [0x16] = {BCRI_ITEM_OTHER, 0, 5},
    [0x17] = {BCRI_ITEM_OTHER, 0, 9},    [0x18] = {BCRI_ITEM_OTHER, 0, 17},
    [0x19] = {BCRI_ITEM_STR, 1, 0},      [0x1a] = {BCRI_ITEM_STR, 2, 0},
    [0x1b] = {BCRI_ITEM_STR, 4, 0},      [0x1c] = {BCRI_ITEM_ARRAY, 2, 0},
    [0x1d] = {BCRI_ITEM_ARRAY, 4, 0},    [0x1e] = {BCRI_ITEM_MAP, 2, 0},
    [0x1f] = {BCRI_ITEM_MAP, 4, 0}};

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
    const unsigned size = of_tag[tag - 0xc0].size;
    struct bcri_item item = {.class = of_tag[tag - 0xc0].class};
    if (cursor->left < size)
        return (struct bcri_item){.class = BCRI_ITEM_BAD};
    for (unsigned i = 0; i < size; i++)
        item.number = item.number << 8 | cursor->at[i];
    cursor->at += size;
    cursor->left -= size;
    if (item.class == BCRI_ITEM_STR || item.class == BCRI_ITEM_BIN || item.class == BCRI_ITEM_OTHER)
        return take_body(cursor, item.class, item.number + of_tag[tag - 0xc0].extra);
    if (item.class == BCRI_ITEM_MAP)
        item.number *= 2;
    if (item.class == BCRI_ITEM_NEGATIVE && size != 0) {
        const uint64_t sign = UINT64_C(1) << (8 * size - 1);
        if ((item.number & sign) == 0)
            item.class = BCRI_ITEM_UINT;
        else
            item.number |= ~(sign | (sign - 1));
    }
    return item;
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
