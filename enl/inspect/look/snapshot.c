/* SPDX-License-Identifier: MIT */
/* See look.h. */
#include "inspect/look/look.h"

#include <assert.h>
#include <msgpack/pack.h>
#include <string.h>

/* How many numbers and texts a row of each kind has. In memory its numbers come first. */
static const struct shape {
    uint32_t numbers, texts;
} shapes[LOOK_KIND_COUNT] = {
#define ONE(name)         +1
#define NONE(name)        +0
#define SHAPE(KIND, kind) [LOOK_KIND_##KIND] = {0 LOOK_##KIND(ONE, NONE), 0 LOOK_##KIND(NONE, ONE)},
    LOOK_KINDS(SHAPE)
#undef SHAPE
};

/* Checks what the numbers' and texts' places are computed from. */
#define PLACES(KIND, kind)                                                                      \
    static_assert(sizeof(struct look_##kind) == (0 LOOK_##KIND(ONE, NONE)) * sizeof(uint64_t) + \
                                                    (0 LOOK_##KIND(NONE, ONE)) * LOOK_TEXT_MAX, \
                  "a row has numbers first, then texts");
LOOK_KINDS(PLACES)
#undef PLACES

static uint64_t *number_at(struct look_row *row, uint32_t n)
{
    return &((uint64_t *)(void *)&row->host)[n];
}
static char *text_at(struct look_row *row, uint32_t n)
{
    return (char *)number_at(row, shapes[row->kind].numbers) + (size_t)n * LOOK_TEXT_MAX;
}

static int write_bytes(void *data, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, (FILE *)data) == length ? 0 : -1;
}

bool look_write(FILE *out, const struct look_row *row)
{
    struct look_row copy = *row;
    const struct shape shape = shapes[row->kind];
    msgpack_packer packer;
    msgpack_packer_init(&packer, out, write_bytes);
    msgpack_pack_array(&packer, 1 + (size_t)shape.texts + shape.numbers);
    msgpack_pack_uint32(&packer, row->kind);
    for (uint32_t i = 0; i < shape.texts; i++) {
        const size_t length = strnlen(text_at(&copy, i), LOOK_TEXT_MAX - 1);
        msgpack_pack_str(&packer, length);
        msgpack_pack_str_body(&packer, text_at(&copy, i), length);
    }
    for (uint32_t i = 0; i < shape.numbers; i++)
        msgpack_pack_uint64(&packer, *number_at(&copy, i));
    return ferror(out) == 0;
}

static bool read_text(struct bcri_cursor *cursor, char *out)
{
    const struct bcri_item item = bcri_unpack(cursor);
    const size_t length = item.length < LOOK_TEXT_MAX ? item.length : LOOK_TEXT_MAX - 1;
    if (item.class != BCRI_ITEM_STR)
        return false;
    if (length != 0)
        memcpy(out, item.bytes, length);
    return true;
}

static bool read_number(struct bcri_cursor *cursor, uint64_t *out)
{
    const struct bcri_item item = bcri_unpack(cursor);
    *out = item.number;
    return item.class == BCRI_ITEM_UINT;
}

/* Reads the `left` fields of a row. */
static bool read_fields(struct bcri_cursor *cursor, uint64_t left, struct look_row *row)
{
    const struct shape shape = shapes[row->kind];
    for (uint32_t i = 0; i < shape.texts && left > 0; i++, left--)
        if (!read_text(cursor, text_at(row, i)))
            return false;
    for (uint32_t i = 0; i < shape.numbers && left > 0; i++, left--)
        if (!read_number(cursor, number_at(row, i)))
            return false;
    for (; left > 0; left--)
        if (!bcri_unpack_skip(cursor))
            return false;
    return true;
}

int look_read(struct bcri_cursor *cursor, struct look_row *row_out)
{
    while (cursor->left != 0) {
        const struct bcri_item array = bcri_unpack(cursor);
        uint64_t kind;
        if (array.class != BCRI_ITEM_ARRAY || array.number == 0 || array.number > cursor->left ||
            !read_number(cursor, &kind))
            return -1;
        memset(row_out, 0, sizeof *row_out);
        const bool known = kind > LOOK_KIND_NONE && kind < LOOK_KIND_COUNT;
        row_out->kind = known ? (enum look_kind)kind : LOOK_KIND_NONE;
        if (!read_fields(cursor, array.number - 1, row_out))
            return -1;
        if (known)
            return 1;
    }
    return 0;
}
