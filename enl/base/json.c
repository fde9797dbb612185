/* SPDX-License-Identifier: MIT */
/* See json.h. Source: RFC 8259, section 7. */
#include "base/json.h"

#include <stdint.h>
#include <string.h>

#include "bcri/escape.h"

static void put_code(FILE *out, uint32_t code)
{
    if (code == '"' || code == '\\')
        fprintf(out, "\\%c", (char)code);
    else if (code >= 0x20 && code < 0x7f)
        fputc((int)code, out);
    else if (code < 0x10000)
        fprintf(out, "\\u%04x", (unsigned)code);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xd800u + (unsigned)((code - 0x10000) >> 10),
                0xdc00u + (unsigned)(code & 0x3ff));
}

void enl_json_text(FILE *out, const char *text)
{
    const char *at = text, *end = text + strlen(text);
    fputc('"', out);
    while (at < end) {
        uint32_t code = (unsigned char)*at;
        size_t length = 1;
        if (code >= 0x80 && (length = bcri_escape_decode(at, (size_t)(end - at), &code)) == 0) {
            fprintf(out, "\\\\x%02x", (unsigned)(unsigned char)*at++);
            continue;
        }
        put_code(out, code);
        at += length;
    }
    fputc('"', out);
}
