/* SPDX-License-Identifier: MIT */
/* decode.c -- reading a message out of bytes that any process may have sent. */
#include <string.h>

#include "bcri/unpack.h"
#include "wire/wire.h"

static bool equals(const struct bcri_item *item, const char *name)
{
    return item->class == BCRI_ITEM_STR && item->length == strlen(name) &&
           memcmp(item->bytes, name, item->length) == 0;
}

static bool store_signed(const struct bcri_item *item, int32_t *field)
{
    if (item->class == BCRI_ITEM_UINT && item->number <= INT32_MAX)
        *field = (int32_t)item->number;
    else if (item->class == BCRI_ITEM_NEGATIVE && (int64_t)item->number >= INT32_MIN)
        *field = (int32_t)(int64_t)item->number;
    else
        return false;
    return true;
}

static bool store_view(const struct bcri_item *item, enum bcri_item_class class, uint64_t limit,
                       struct bcri_view *field)
{
    if (item->class != class || item->length > limit)
        return false;
    if (class == BCRI_ITEM_STR && item->length != 0 && memchr(item->bytes, 0, item->length) != NULL)
        return false;
    *field = (struct bcri_view){(const char *)item->bytes, item->length};
    return true;
}

static bool store(const struct bcri_item *item, const struct bcri_control_key_row *row, void *field)
{
    switch (row->kind) {
    case BCRI_KIND_U32:
        *(uint32_t *)field = (uint32_t)item->number;
        return item->class == BCRI_ITEM_UINT && item->number <= row->limit;
    case BCRI_KIND_U64:
        *(uint64_t *)field = item->number;
        return item->class == BCRI_ITEM_UINT && item->number <= row->limit;
    case BCRI_KIND_I32: return store_signed(item, field);
    case BCRI_KIND_STR: return store_view(item, BCRI_ITEM_STR, row->limit, field);
    case BCRI_KIND_BIN: return store_view(item, BCRI_ITEM_BIN, row->limit, field);
    }
    return false;
}

struct reading {
    struct bcri_control *message;
    bool has_version, has_type;
    uint64_t version;
};

/* Reads one entry of the map. */
static const char *read_entry(struct bcri_cursor *cursor, struct reading *reading)
{
    struct bcri_control *message = reading->message;
    struct bcri_item name = bcri_unpack(cursor);
    if (name.class != BCRI_ITEM_STR)
        return "a key is no string";
    if (equals(&name, "v")) {
        struct bcri_item item = bcri_unpack(cursor);
        if (item.class != BCRI_ITEM_UINT || reading->has_version)
            return "bad version";
        reading->has_version = true;
        reading->version = item.number;
        return NULL;
    }
    if (equals(&name, "t")) {
        struct bcri_item item = bcri_unpack(cursor);
        unsigned type = 0;
        while (type < BCRI_MSG_COUNT && !equals(&item, bcri_control_types[type].name))
            type++;
        if (type == BCRI_MSG_COUNT || reading->has_type)
            return "unknown type";
        reading->has_type = true;
        message->type = (enum bcri_control_type)type;
        return NULL;
    }
    unsigned key = 0;
    while (key < BCRI_KEY_COUNT && !equals(&name, bcri_control_keys[key].name))
        key++;
    if (key == BCRI_KEY_COUNT)
        return bcri_unpack_skip(cursor) ? NULL : "an unknown key's value is cut off";
    struct bcri_item item = bcri_unpack(cursor);
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
    struct bcri_cursor cursor = {bytes, length};
    struct reading reading = {.message = message_out};
    memset(message_out, 0, sizeof *message_out);
    struct bcri_item map = bcri_unpack(&cursor);
    const char *wrong = NULL;
    if (map.class != BCRI_ITEM_MAP || map.number > cursor.left)
        wrong = "not a map, or cut off";
    for (uint64_t entry = 0; wrong == NULL && entry < map.number / 2; entry++)
        wrong = read_entry(&cursor, &reading);
    const struct bcri_control_type_row *type = &bcri_control_types[message_out->type];
    if (reading.has_version && reading.version != BCRI_CONTROL_VERSION) /* its types may be others, too */
        wrong = "another version of the protocol; CCE and enl must come from the same installation";
    else if (wrong != NULL)
        ;
    else if (cursor.left != 0)
        wrong = "bytes follow the map";
    else if (!reading.has_version)
        wrong = "no version";
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
