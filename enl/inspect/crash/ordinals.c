/* SPDX-License-Identifier: MIT */
/* ordinals.c -- see crash.h. */
#include "inspect/crash/crash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void enl_ordinals_add(struct enl_ordinals *set, uint32_t first, uint32_t last)
{
    uint32_t from = 0, to;
    if (last < first)
        return;
    while (from < set->count && (uint64_t)set->range[from].last + 1 < first)
        from++;
    for (to = from; to < set->count && set->range[to].first <= (uint64_t)last + 1;
         to++) { /* these become one */
        first = set->range[to].first < first ? set->range[to].first : first;
        last = set->range[to].last > last ? set->range[to].last : last;
    }
    if (to == from && set->count == ENL_ORDINALS_MAX) {
        set->cut = true;
        return;
    }
    memmove(&set->range[from + 1], &set->range[to], (set->count - to) * sizeof set->range[0]);
    set->range[from].first = first;
    set->range[from].last = last;
    set->count = set->count - (to - from) + 1;
}

void enl_ordinals_add_all(struct enl_ordinals *set, const struct enl_ordinals *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        enl_ordinals_add(set, other->range[i].first, other->range[i].last);
    set->cut |= other->cut;
}

void enl_ordinals_text(const struct enl_ordinals *set, char text_out[ENL_ORDINALS_TEXT_MAX])
{
    size_t used = 0;
    text_out[0] = '\0';
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t first = set->range[i].first, last = set->range[i].last;
        used += (size_t)snprintf(text_out + used, ENL_ORDINALS_TEXT_MAX - used,
                                 last != first ? "%s%u-%u" : "%s%u", used != 0 ? ", " : "", first, last);
    }
    if (set->cut)
        snprintf(text_out + used, ENL_ORDINALS_TEXT_MAX - used, " ...");
}

void enl_ordinals_read(struct enl_ordinals *set, const char *text)
{
    for (char *end; *text >= '0' && *text <= '9'; text = end + strspn(end, ", ")) {
        const unsigned long long first = strtoull(text, &end, 10);
        const unsigned long long last = *end == '-' ? strtoull(end + 1, &end, 10) : first;
        if (first > UINT32_MAX || last > UINT32_MAX)
            return;
        enl_ordinals_add(set, (uint32_t)first, (uint32_t)last);
    }
    set->cut |= strcmp(text, "...") == 0;
}

void enl_ordinals_tell(const struct enl_ordinals *set, uint32_t cces, char *text_out, size_t size)
{
    char text[ENL_ORDINALS_TEXT_MAX];
    uint64_t named = 0;
    enl_ordinals_text(set, text);
    for (uint32_t i = 0; i < set->count; i++)
        named += (uint64_t)set->range[i].last - set->range[i].first + 1;
    if (named >= cces)
        snprintf(text_out, size, "%s", text);
    else if (set->cut)
        snprintf(text_out, size, "%.*s and %u more", (int)(strlen(text) - strlen(" ...")), text,
                 (unsigned)(cces - named));
    else
        snprintf(text_out, size, "%s; some have the same ordinal", text);
}
