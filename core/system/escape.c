/* SPDX-License-Identifier: MIT */
/* Foreign text made harmless; the rules are in bcri/escape.h. Source: The Unicode Standard, table
 * 3-7 (well-formed UTF-8); UAX #9 for the directional controls. */
#include "bcri/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The most bytes of the line that one byte of the text can become. */
#define ESCAPE_MAX 4

static bool tail_byte(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t bcri_escape_decode(const char *text, size_t left, uint32_t *code_out)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t code, least;
    size_t length;

    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        length = 2, least = 0x80, code = s[0] & 0x1fu;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        length = 3, least = 0x800, code = s[0] & 0x0fu;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        length = 4, least = 0x10000, code = s[0] & 0x07u;
    } else {
        return 0;
    }
    if (left < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (!tail_byte(s[i]))
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *code_out = code;
    return length;
}

static bool deceives(uint32_t code)
{
    return code < 0xa0                           /* C1: terminals obey them */
           || code == 0x61c                      /* Arabic letter mark */
           || code == 0x200e || code == 0x200f   /* directional marks */
           || (code >= 0x2028 && code <= 0x202e) /* line separators, directional embeddings */
           || (code >= 0x2066 && code <= 0x2069) /* directional isolates */
           || code == 0xfeff;                    /* an invisible byte order mark */
}

/* Writes the escape of one byte, returns its length. */
static size_t escape_byte(unsigned char byte, char out[ESCAPE_MAX])
{
    static const char hex[] = "0123456789abcdef";
    static const char named[] = "\\\\\nn\rr\tt";

    out[0] = '\\';
    for (const char *name = named; *name; name += 2) {
        if ((unsigned char)*name == byte) {
            out[1] = name[1];
            return 2;
        }
    }
    out[1] = 'x';
    out[2] = hex[byte >> 4];
    out[3] = hex[byte & 15];
    return 4;
}

size_t bcri_escape(const char *text, size_t length, char *out, size_t capacity, size_t *taken_out)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t taken = 0, used = 0;

    while (taken < length) {
        char item[4 * ESCAPE_MAX];
        size_t item_length = 0, take = 1;
        uint32_t code;

        if (s[taken] >= 0x20 && s[taken] < 0x7f && s[taken] != '\\') {
            item[item_length++] = (char)s[taken];
        } else if (s[taken] >= 0x80 && (take = bcri_escape_decode(text + taken, length - taken, &code)) > 0 &&
                   !deceives(code)) {
            memcpy(item, s + taken, take);
            item_length = take;
        } else {
            if (take == 0)
                take = 1;
            for (size_t i = 0; i < take; i++)
                item_length += escape_byte(s[taken + i], item + item_length);
        }
        if (used + item_length >= capacity)
            break;
        memcpy(out + used, item, item_length);
        used += item_length;
        taken += take;
    }
    out[used] = '\0';
    if (taken_out)
        *taken_out = taken;
    return used;
}
