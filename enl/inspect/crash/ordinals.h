/* SPDX-License-Identifier: MIT */
/* A bounded set of CCEs' ordinals, as ranges: which CCEs a report is about. */
#ifndef ENL_CRASH_ORDINALS_H
#define ENL_CRASH_ORDINALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many ranges there is room for, and the bytes of the longest text of them. */
#define ENL_ORDINALS_MAX      24u
#define ENL_ORDINALS_TEXT_MAX (ENL_ORDINALS_MAX * 23u + 8u)

struct enl_ordinals {
    uint32_t count;
    bool cut; /* some had no room */
    struct {
        uint32_t first, last;
    } range[ENL_ORDINALS_MAX]; /* ascending, with gaps between them */
};

/* Adds first .. last. */
void enl_ordinals_add(struct enl_ordinals *set, uint32_t first, uint32_t last);
void enl_ordinals_add_all(struct enl_ordinals *set, const struct enl_ordinals *other);
/* "0, 3-7", and " ..." behind it if some had no room. */
void enl_ordinals_text(const struct enl_ordinals *set, char text_out[ENL_ORDINALS_TEXT_MAX]);
/* Adds what such a text says, up to where it says something else. */
void enl_ordinals_read(struct enl_ordinals *set, const char *text);
/* What a report says of `cces` CCEs whose ordinals these are: the text, and how many it does not name, or that several have the
 * same ordinal, as bcr_enlist may give it to any. */
void enl_ordinals_tell(const struct enl_ordinals *set, uint32_t cces, char *text_out, size_t size);

#endif
