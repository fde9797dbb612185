/* SPDX-License-Identifier: MIT */
/* Any bytes as what a machine says of itself: what is read is written again, and read as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/hosts/hosts_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[2048], again[2048];
    struct enl_facts facts;
    const char *why;
    const long used = enl_facts_read(&facts, (const char *)bytes, length, &why);
    if (used <= 0)
        return 0;
    const size_t written = enl_facts_write(&facts, text, sizeof text);
    if ((size_t)used > length || enl_facts_read(&facts, text, written, &why) != (long)written ||
        enl_facts_write(&facts, again, sizeof again) != written || memcmp(text, again, written) != 0)
        abort();
    return 0;
}
