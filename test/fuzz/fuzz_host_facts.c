/* SPDX-License-Identifier: MIT */
/* Any bytes as what a machine says of itself: what is read is written again, and read as the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/hosts/hosts_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static size_t text_of(const struct enl_facts *facts, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    if (out == NULL)
        abort();
    enl_facts_write(facts, out);
    const long length = ftell(out);
    fclose(out);
    return (size_t)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[2048], again[2048];
    struct enl_facts facts;
    const char *why;
    const long used = enl_facts_read(&facts, (const char *)bytes, length, &why);
    if (used <= 0)
        return 0;
    const size_t written = text_of(&facts, text, sizeof text);
    if ((size_t)used > length || enl_facts_read(&facts, text, written, &why) != (long)written ||
        text_of(&facts, again, sizeof again) != written || memcmp(text, again, written) != 0)
        abort();
    return 0;
}
