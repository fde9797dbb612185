/* SPDX-License-Identifier: MIT */
/* Reading msgpack out of bytes that any process may have sent, item by item.
 *
 * A cursor passes over the bytes once, from left to right; `left` is compared before every step. It
 * takes no memory and copies nothing. */
#ifndef BCRI_UNPACK_H
#define BCRI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcri_cursor {
    const uint8_t *at;
    size_t left;
};

enum bcri_item_class {
    BCRI_ITEM_UINT,
    BCRI_ITEM_NEGATIVE,
    BCRI_ITEM_STR,
    BCRI_ITEM_BIN,
    BCRI_ITEM_MAP,
    BCRI_ITEM_ARRAY,
    BCRI_ITEM_OTHER,
    BCRI_ITEM_BAD /* cut off, or no msgpack */
};

struct bcri_item {
    enum bcri_item_class class;
    uint64_t number;      /* UINT: value; NEGATIVE: value as two's complement; MAP, ARRAY: items to follow */
    const uint8_t *bytes; /* STR, BIN, and the body of OTHER */
    uint32_t length;
};

/* The next item; of a map or array only its head. */
struct bcri_item bcri_unpack(struct bcri_cursor *cursor);
/* Skips one value, however deep it nests, without recursion. False: it is cut off. */
bool bcri_unpack_skip(struct bcri_cursor *cursor);

#endif
