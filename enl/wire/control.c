/* SPDX-License-Identifier: MIT */
/* control.c -- the tables of keys and types, and writing messages. */
#include "bcri/control.h"

#include <msgpack/pack.h>
#include <string.h>

#include "wire/wire.h"

const struct bcri_control_key_row bcri_control_keys[BCRI_KEY_COUNT] = {
#define ROW(key, kind, limit) {#key, BCRI_KIND_##kind, (limit), offsetof(struct bcri_control, key)},
    BCRI_CONTROL_KEYS(ROW)
#undef ROW
};

#define K(key)   BCRI_HAS(key)
#define ANY_TYPE (K(to) | K(from))
const struct bcri_control_type_row bcri_control_types[BCRI_MSG_COUNT] = {
#define ROW(type, required, optional, fds) {#type, (required), (required) | (optional) | ANY_TYPE, (fds)},
    BCRI_CONTROL_TYPES(ROW)
#undef ROW
};
#undef ANY_TYPE
#undef K

struct bcri_view bcri_view_of(const char *string)
{
    return (struct bcri_view){string, (uint32_t)strlen(string)};
}

bool bcri_view_copy(struct bcri_view view, char *out, size_t capacity)
{
    bool fits = view.length < capacity;
    size_t length = fits ? view.length : 0;
    if (length != 0)
        memcpy(out, view.bytes, length);
    out[length] = '\0';
    return fits;
}

const char *bcri_control_name(enum bcri_control_type type)
{
    return (unsigned)type < BCRI_MSG_COUNT ? bcri_control_types[type].name : "?";
}

unsigned bcri_control_fds(enum bcri_control_type type)
{
    return bcri_control_types[type].fds;
}

struct writer {
    uint8_t *out;
    size_t length, capacity;
    bool overflow;
};

static int writer_write(void *data, const char *bytes, size_t length)
{
    struct writer *writer = data;
    if (length > writer->capacity - writer->length) {
        writer->overflow = true;
        return -1;
    }
    if (length != 0) /* an empty view may be at NULL */
        memcpy(writer->out + writer->length, bytes, length);
    writer->length += length;
    return 0;
}

static void pack_string(msgpack_packer *packer, const char *string, size_t length)
{
    msgpack_pack_str(packer, length);
    msgpack_pack_str_body(packer, string, length);
}

/* Writes one value; false if it is over its limit. */
static bool pack_value(msgpack_packer *packer, const struct bcri_control_key_row *row, const void *field)
{
    const struct bcri_view *view = field;
    switch (row->kind) {
    case BCRI_KIND_U32:
        msgpack_pack_uint32(packer, *(const uint32_t *)field);
        return *(const uint32_t *)field <= row->limit;
    case BCRI_KIND_U64:
        msgpack_pack_uint64(packer, *(const uint64_t *)field);
        return *(const uint64_t *)field <= row->limit;
    case BCRI_KIND_I32: msgpack_pack_int32(packer, *(const int32_t *)field); return true;
    case BCRI_KIND_STR:
        if (view->length > row->limit || memchr(view->bytes, 0, view->length) != NULL)
            return false;
        pack_string(packer, view->bytes, view->length);
        return true;
    case BCRI_KIND_BIN:
        if (view->length > row->limit)
            return false;
        msgpack_pack_bin(packer, view->length);
        msgpack_pack_bin_body(packer, view->bytes, view->length);
        return true;
    }
    return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the writer */
size_t bcri_control_encode(const struct bcri_control *message, uint8_t *out, size_t capacity)
{
    const struct bcri_control_type_row *type = &bcri_control_types[message->type];
    if ((message->present & type->required) != type->required || (message->present & ~type->allowed) != 0)
        return 0;
    struct writer writer = {.out = out, .capacity = capacity};
    msgpack_packer packer;
    msgpack_packer_init(&packer, &writer, writer_write);
    msgpack_pack_map(&packer, 2 + (size_t)__builtin_popcountll(message->present));
    pack_string(&packer, "v", 1);
    msgpack_pack_uint32(&packer, BCRI_CONTROL_VERSION);
    pack_string(&packer, "t", 1);
    pack_string(&packer, type->name, strlen(type->name));
    for (unsigned key = 0; key < BCRI_KEY_COUNT; key++) {
        if ((message->present & BCRI_KEY_BIT(key)) == 0)
            continue;
        const struct bcri_control_key_row *row = &bcri_control_keys[key];
        pack_string(&packer, row->name, strlen(row->name));
        if (!pack_value(&packer, row, (const char *)message + row->offset))
            return 0;
    }
    return writer.overflow ? 0 : writer.length;
}
