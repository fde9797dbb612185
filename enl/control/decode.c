/* SPDX-License-Identifier: MIT */
/* decode.c -- reading a message out of bytes that any process may have sent.
 *
 * A cursor passes over the bytes once, from left to right; `left` is compared before every step. An
 * item is read as one of six classes. Skipped values may nest: skipping counts the items still to
 * come, without recursion. */
#include <string.h>

#include "control_tables.h"

struct cursor {
    const uint8_t *at;
    size_t left;
};

enum class {
    CLASS_UINT,
    CLASS_NEGATIVE,
    CLASS_STR,
    CLASS_BIN,
    CLASS_MAP,
    CLASS_ARRAY,
    CLASS_OTHER,
    CLASS_BAD
};

struct item {
    enum class class;
    uint64_t number;      /* UINT: value; NEGATIVE: value as two's complement; MAP, ARRAY: items to follow */
    const uint8_t *bytes; /* STR, BIN, and the body of OTHER */
    uint32_t length;
};

static uint64_t big_endian(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* Reads a number of `size` bytes; false if they are not there. */
static bool take_number(struct cursor *cursor, unsigned size, uint64_t *number_out)
{
    if (cursor->left < size)
        return false;
    *number_out = big_endian(cursor->at, size);
    cursor->at += size;
    cursor->left -= size;
    return true;
}

static struct item take_body(struct cursor *cursor, enum class class, uint64_t length)
{
    struct item item = {.class = CLASS_BAD};
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
static struct item take_sized(struct cursor *cursor, enum class class, unsigned size, unsigned extra)
{
    uint64_t length;
    if (!take_number(cursor, size, &length))
        return (struct item){.class = CLASS_BAD};
    return take_body(cursor, class, length + extra);
}

static struct item take_count(struct cursor *cursor, enum class class, unsigned size, unsigned per_entry)
{
    struct item item = {.class = class};
    if (!take_number(cursor, size, &item.number))
        item.class = CLASS_BAD;
    item.number *= per_entry;
    return item;
}

static struct item take_unsigned(struct cursor *cursor, unsigned size)
{
    return take_count(cursor, CLASS_UINT, size, 1);
}

static struct item take_signed(struct cursor *cursor, unsigned size)
{
    struct item item = take_unsigned(cursor, size);
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if (item.class == CLASS_UINT && (item.number & sign) != 0) {
        item.class = CLASS_NEGATIVE;
        item.number |= ~(sign | (sign - 1));
    }
    return item;
}

static struct item take(struct cursor *cursor)
{
    if (cursor->left == 0)
        return (struct item){.class = CLASS_BAD};
    uint8_t tag = *cursor->at++;
    cursor->left--;
    if (tag <= 0x7f)
        return (struct item){.class = CLASS_UINT, .number = tag};
    if (tag >= 0xe0)
        return (struct item){.class = CLASS_NEGATIVE, .number = (uint64_t)(int64_t)(int8_t)tag};
    if (tag <= 0x8f)
        return (struct item){.class = CLASS_MAP, .number = (tag & 0x0fu) * 2};
    if (tag <= 0x9f)
        return (struct item){.class = CLASS_ARRAY, .number = tag & 0x0fu};
    if (tag <= 0xbf)
        return take_body(cursor, CLASS_STR, tag & 0x1fu);
    switch (tag) {
    case 0xc0: /* nil, false, true */
    case 0xc2:
    case 0xc3: return (struct item){.class = CLASS_OTHER};
    case 0xc4: return take_sized(cursor, CLASS_BIN, 1, 0);
    case 0xc5: return take_sized(cursor, CLASS_BIN, 2, 0);
    case 0xc6: return take_sized(cursor, CLASS_BIN, 4, 0);
    case 0xc7: return take_sized(cursor, CLASS_OTHER, 1, 1); /* extensions */
    case 0xc8: return take_sized(cursor, CLASS_OTHER, 2, 1);
    case 0xc9: return take_sized(cursor, CLASS_OTHER, 4, 1);
    case 0xca: return take_body(cursor, CLASS_OTHER, 4); /* floats */
    case 0xcb: return take_body(cursor, CLASS_OTHER, 8);
    case 0xcc: return take_unsigned(cursor, 1);
    case 0xcd: return take_unsigned(cursor, 2);
    case 0xce: return take_unsigned(cursor, 4);
    case 0xcf: return take_unsigned(cursor, 8);
    case 0xd0: return take_signed(cursor, 1);
    case 0xd1: return take_signed(cursor, 2);
    case 0xd2: return take_signed(cursor, 4);
    case 0xd3: return take_signed(cursor, 8);
    case 0xd4: return take_body(cursor, CLASS_OTHER, 2); /* extensions of fixed size */
    case 0xd5: return take_body(cursor, CLASS_OTHER, 3);
    case 0xd6: return take_body(cursor, CLASS_OTHER, 5);
    case 0xd7: return take_body(cursor, CLASS_OTHER, 9);
    case 0xd8: return take_body(cursor, CLASS_OTHER, 17);
    case 0xd9: return take_sized(cursor, CLASS_STR, 1, 0);
    case 0xda: return take_sized(cursor, CLASS_STR, 2, 0);
    case 0xdb: return take_sized(cursor, CLASS_STR, 4, 0);
    case 0xdc: return take_count(cursor, CLASS_ARRAY, 2, 1);
    case 0xdd: return take_count(cursor, CLASS_ARRAY, 4, 1);
    case 0xde: return take_count(cursor, CLASS_MAP, 2, 2);
    case 0xdf: return take_count(cursor, CLASS_MAP, 4, 2);
    default: return (struct item){.class = CLASS_BAD}; /* 0xc1: never used */
    }
}

/* Skips one value, however deep it nests. Every item takes at least a byte, so this ends within
 * `left` steps. */
static bool skip(struct cursor *cursor)
{
    for (uint64_t items = 1; items > 0; items--) {
        struct item item = take(cursor);
        if (item.class == CLASS_BAD)
            return false;
        if (item.class == CLASS_MAP || item.class == CLASS_ARRAY) {
            if (item.number > cursor->left)
                return false;
            items += item.number;
        }
    }
    return true;
}

static bool equals(const struct item *item, const char *name)
{
    return item->class == CLASS_STR && item->length == strlen(name) &&
           memcmp(item->bytes, name, item->length) == 0;
}

static bool store_signed(const struct item *item, int32_t *field)
{
    if (item->class == CLASS_UINT && item->number <= INT32_MAX)
        *field = (int32_t)item->number;
    else if (item->class == CLASS_NEGATIVE && (int64_t)item->number >= INT32_MIN)
        *field = (int32_t)(int64_t)item->number;
    else
        return false;
    return true;
}

static bool store_view(const struct item *item, enum class class, uint64_t limit, struct bcri_view *field)
{
    if (item->class != class || item->length > limit)
        return false;
    if (class == CLASS_STR && item->length != 0 && memchr(item->bytes, 0, item->length) != NULL)
        return false;
    *field = (struct bcri_view){(const char *)item->bytes, item->length};
    return true;
}

static bool store(const struct item *item, const struct bcri_control_key_row *row, void *field)
{
    switch (row->kind) {
    case BCRI_KIND_U32:
        *(uint32_t *)field = (uint32_t)item->number;
        return item->class == CLASS_UINT && item->number <= row->limit;
    case BCRI_KIND_U64:
        *(uint64_t *)field = item->number;
        return item->class == CLASS_UINT && item->number <= row->limit;
    case BCRI_KIND_I32: return store_signed(item, field);
    case BCRI_KIND_STR: return store_view(item, CLASS_STR, row->limit, field);
    case BCRI_KIND_BIN: return store_view(item, CLASS_BIN, row->limit, field);
    }
    return false;
}

static unsigned key_of(const struct item *name)
{
    unsigned key = 0;
    while (key < BCRI_KEY_COUNT && !equals(name, bcri_control_keys[key].name))
        key++;
    return key;
}

static unsigned type_of(const struct item *name)
{
    unsigned type = 0;
    while (type < BCRI_MSG_COUNT && !equals(name, bcri_control_types[type].name))
        type++;
    return type;
}

struct reading {
    struct bcri_control *message;
    bool has_version, has_type;
    uint64_t version;
};

/* Reads one entry of the map. */
static const char *read_entry(struct cursor *cursor, struct reading *reading)
{
    struct bcri_control *message = reading->message;
    struct item name = take(cursor);
    if (name.class != CLASS_STR)
        return "a key is no string";
    if (equals(&name, "v")) {
        struct item item = take(cursor);
        if (item.class != CLASS_UINT || reading->has_version)
            return "bad version";
        reading->has_version = true;
        reading->version = item.number;
        return NULL;
    }
    if (equals(&name, "t")) {
        struct item item = take(cursor);
        unsigned type = type_of(&item);
        if (type == BCRI_MSG_COUNT || reading->has_type)
            return "unknown type";
        reading->has_type = true;
        message->type = (enum bcri_control_type)type;
        return NULL;
    }
    unsigned key = key_of(&name);
    if (key == BCRI_KEY_COUNT)
        return skip(cursor) ? NULL : "an unknown key's value is cut off";
    struct item item = take(cursor);
    const struct bcri_control_key_row *row = &bcri_control_keys[key];
    if ((message->present & BCRI_KEY_BIT(key)) != 0)
        return "a key is there twice";
    if (!store(&item, row, (char *)message + row->offset))
        return "a value is cut off, of the wrong type, or out of range";
    message->present |= BCRI_KEY_BIT(key);
    return NULL;
}

const char *bcri_control_decode(const uint8_t *bytes, size_t length, struct bcri_control *message_out)
{
    struct cursor cursor = {bytes, length};
    struct reading reading = {.message = message_out};
    memset(message_out, 0, sizeof *message_out);
    struct item map = take(&cursor);
    const char *wrong = NULL;
    if (map.class != CLASS_MAP || map.number > cursor.left)
        wrong = "not a map, or cut off";
    for (uint64_t entry = 0; wrong == NULL && entry < map.number / 2; entry++)
        wrong = read_entry(&cursor, &reading);
    const struct bcri_control_type_row *type = &bcri_control_types[message_out->type];
    if (wrong != NULL)
        ;
    else if (cursor.left != 0)
        wrong = "bytes follow the map";
    else if (!reading.has_version || reading.version != BCRI_CONTROL_VERSION)
        wrong = "another version of the protocol; CCE and enl must come from the same installation";
    else if (!reading.has_type)
        wrong = "no type";
    else if ((message_out->present & type->required) != type->required)
        wrong = "a required key is missing";
    if (wrong != NULL) {
        struct bcri_control failed = {.present = message_out->present & BCRI_HAS(id)};
        failed.id = failed.present != 0 ? message_out->id : 0;
        *message_out = failed;
    }
    return wrong;
}
