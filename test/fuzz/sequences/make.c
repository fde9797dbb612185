/* SPDX-License-Identifier: MIT */
/* See make.h. */
#include "make.h"

#include <string.h>

#include "wire/wire.h"

uint8_t feed_byte(struct feed *feed)
{
    if (feed->left == 0)
        return 0;
    feed->left--;
    return *feed->at++;
}

static uint64_t feed_number(struct feed *feed, unsigned bytes)
{
    uint64_t number = 0;
    while (bytes-- > 0)
        number = number << 8 | feed_byte(feed);
    return number;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ------------------------------------------------------------------------------ values --- */

static uint64_t number_of(struct feed *feed, const struct scene *scene, unsigned key, uint64_t limit)
{
    static const uint64_t few[] = {0,  1,   2,    3,     7,     9,        12,       15,
                                   64, 255, 4096, 65535, 65536, 1u << 20, INT32_MAX};
    const uint8_t byte = feed_byte(feed);
    uint64_t number = few[byte % COUNT(few)];
    if (byte >= 250)
        number = feed_number(feed, 8);
    else if (byte >= 240)
        number = limit - (byte & 1u);
    else if ((key == BCRI_KEY_host || key == BCRI_KEY_to || key == BCRI_KEY_from) && byte >= 60)
        number = scene->host + byte % 3;
    else if (key == BCRI_KEY_team && byte >= 60) /* of the first teams that there are, or will be */
        number = 1 + byte % 8 / 7;
    else if (key == BCRI_KEY_rank && byte >= 60)
        number = byte % 4;
    if (key == BCRI_KEY_count) /* of processes that are started */
        number %= 4;
    if (key == BCRI_KEY_mask) /* the log must be readable */
        number &= 077;
    return number <= limit ? number : limit == UINT64_MAX ? number : number % (limit + 1);
}

/* Up to `limit` bytes, in `room`. */
static struct bcri_view text_of(struct feed *feed, const struct scene *scene, unsigned key, uint64_t limit,
                                char *room)
{
    const char *const texts[] = {"",       "a",           scene->self, "/bin/true", "/there/is/nothing",
                                 "onfail", "isolate",     "none",      "log",       "hosttimeout",
                                 "1000",   "h1",          "h2",        "\033[2J",   "/",
                                 "path",   scene->program};
    const uint8_t byte = feed_byte(feed);
    const char *text = texts[byte % COUNT(texts)];
    if (key == BCRI_KEY_program && byte < 240)
        text = scene->program;
    if (key == BCRI_KEY_object && byte < 100)
        text = scene->self;
    if (byte >= 250) {
        memset(room, 'x', (size_t)limit);
        return (struct bcri_view){room, (uint32_t)limit};
    }
    const size_t length = strlen(text) <= limit ? strlen(text) : (size_t)limit;
    memcpy(room, text, length);
    return (struct bcri_view){room, (uint32_t)length};
}

static struct bcri_view bytes_of(struct feed *feed, const struct scene *scene, unsigned key, uint64_t limit,
                                 char *room)
{
    static const char loopback[] = "\x04\x12\x34\x7f\0\0\x01";
    static const uint16_t lengths[] = {0, 1, 7, 16, 31, 32, 33, 64, 127, 2048};
    const uint8_t byte = feed_byte(feed);
    size_t length = lengths[byte % COUNT(lengths)];
    uint32_t random = byte * 2654435761u + 1;
    if (key != BCRI_KEY_bytes && key != BCRI_KEY_data && key != BCRI_KEY_addresses && byte < 240)
        length = key == BCRI_KEY_enlistor || key == BCRI_KEY_target ? BCRI_IDENTITY_BYTES : 32;
    if (length > limit)
        length = (size_t)limit;
    for (size_t i = 0; i < length; i++) {
        random = random * 1664525u + 1013904223u;
        room[i] = (char)(random >> 24);
    }
    if (key == BCRI_KEY_addresses && byte < 200) {
        length = byte % 2 * (sizeof loopback - 1);
        memcpy(room, loopback, sizeof loopback - 1);
    }
    if ((key == BCRI_KEY_enlistor || key == BCRI_KEY_target) && length >= 4)
        bcri_identity_name((uint8_t *)room, byte < 60 ? 0 : scene->host + (byte & 1u), byte % 3);
    return (struct bcri_view){room, (uint32_t)length};
}

static void fill(struct feed *feed, struct scene *scene, struct bcri_control *message, unsigned key,
                 char *room)
{
    const struct bcri_control_key_row *row = &bcri_control_keys[key];
    void *field = (char *)message + row->offset;
    message->present |= BCRI_KEY_BIT(key);
    switch (row->kind) {
    case BCRI_KIND_U32: *(uint32_t *)field = (uint32_t)number_of(feed, scene, key, row->limit); break;
    case BCRI_KIND_U64: *(uint64_t *)field = number_of(feed, scene, key, row->limit); break;
    case BCRI_KIND_I32: *(int32_t *)field = (int8_t)feed_byte(feed) % 4 - 1; break;
    case BCRI_KIND_STR: *(struct bcri_view *)field = text_of(feed, scene, key, row->limit, room); break;
    case BCRI_KIND_BIN: *(struct bcri_view *)field = bytes_of(feed, scene, key, row->limit, room); break;
    }
}

/* ----------------------------------------------------------------------------- mistakes --- */

/* Adds an entry to the map. */
static size_t add_entry(uint8_t out[MADE_MAX], size_t length, const uint8_t *entry, size_t bytes)
{
    if ((out[0] & 0xf0u) == 0x80u && (out[0] & 0x0fu) < 15)
        out[0]++;
    else if (out[0] == 0xde)
        out[2]++; /* no map has so many that this overflows */
    else
        return length;
    memcpy(out + length, entry, bytes);
    return length + bytes;
}

#define ENTRY(bytes) add_entry(out, length, (const uint8_t *)(bytes), sizeof(bytes) - 1)

static size_t spoil(struct feed *feed, uint8_t out[MADE_MAX], size_t length)
{
    const uint8_t place = feed_byte(feed);
    switch (feed_byte(feed) % 10) {
    case 0: return ENTRY("\xa3new\x93\x01\x80\xc2"); /* keys that nobody knows are no mistake */
    case 1: return ENTRY("\xa4new2\xc4\x03\0\xff\0");
    case 2: return ENTRY("\xa2id\x01"); /* may be there twice */
    case 3: return ENTRY("\xa2id\xa1x");
    case 4: return ENTRY("\xa5where\xdd\xff\xff\xff\xff");
    case 5: out[length] = 0; return length + 1;
    case 6: return length - 1 - place % length;
    case 7: out[3] = 2; return length; /* another version: v is the first key */
    case 8: out[place % length] ^= (uint8_t)(1u << feed_byte(feed) % 8); return length;
    default: out[0] = (uint8_t)(out[0] + 1); return length;
    }
}

size_t make_message(struct feed *feed, struct scene *scene, enum bcri_control_type type,
                    uint8_t out[MADE_MAX])
{
    static char room[BCRI_KEY_COUNT][4096];
    const struct bcri_control_type_row *row = &bcri_control_types[type];
    struct bcri_control message = {.type = type};
    const uint8_t form = feed_byte(feed);
    const uint64_t way = BCRI_HAS(to) | BCRI_HAS(from);
    for (unsigned key = 0; key < BCRI_KEY_COUNT; key++)
        if ((row->required & BCRI_KEY_BIT(key)) != 0 || ((row->allowed & ~way & BCRI_KEY_BIT(key)) != 0 &&
                                                         (form & 3u) != 0 && (feed_byte(feed) & 1u) != 0))
            fill(feed, scene, &message, key, room[key]);
    if (type == BCRI_MSG_start && message.bytes.length == 128)
        message.bytes.length = 127; /* 128 would be limits, of open files for one */
    if (type == BCRI_MSG_start)
        message.present &= ~BCRI_HAS(public); /* with it the daemon would answer by a control link */
    if ((form & 0x1cu) == 0x04u)
        fill(feed, scene, &message, BCRI_KEY_to, NULL);
    if ((form & 0x1cu) == 0x08u)
        fill(feed, scene, &message, BCRI_KEY_from, NULL);
    size_t length = bcri_control_encode(&message, out, BCRI_CONTROL_BYTES_MAX);
    if (length == 0) { /* longer than a message may be */
        memset(out, 0xff, 16);
        return 16;
    }
    return (form & 0xe0u) == 0xe0u ? spoil(feed, out, length) : length;
}

size_t make_of(struct feed *feed, struct scene *scene, const enum bcri_control_type *types, size_t count,
               uint8_t out[MADE_MAX])
{
    const uint8_t byte = feed_byte(feed);
    const enum bcri_control_type type =
        byte >= 240 ? (enum bcri_control_type)(feed_byte(feed) % BCRI_MSG_COUNT) : types[byte % count];
    return make_message(feed, scene, type, out);
}

void make_head(uint32_t length, uint8_t out[4])
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(length >> (24 - 8 * i));
}
