/* SPDX-License-Identifier: MIT */
/* fields.h -- ints and strings in a buffer, as questions to EXEC and answers have them. */
#ifndef EARL_FIELDS_H
#define EARL_FIELDS_H

#include <stdbool.h>

#include "engine.h"

/* A buffer that is written or read from its beginning. Once something has failed (no memory; not so much is there) nothing more is
 * done: so only the end is looked at. */
struct earl_fields {
    struct earl *earl;
    earl_buffer *buffer;
    int code;
};

struct earl_fields earl_fields_new(struct earl *earl);
struct earl_fields earl_fields_of(struct earl *earl, earl_buffer *buffer);
void earl_fields_free(struct earl_fields *fields);

void earl_put_int(struct earl_fields *fields, int value);
void earl_put_ints(struct earl_fields *fields, const int *values, int count);
void earl_put_bytes(struct earl_fields *fields, const void *bytes, size_t length);
/* NULL: an empty one. */
void earl_put_text(struct earl_fields *fields, const char *text);
/* NULL ends them; NULL: none. */
void earl_put_texts(struct earl_fields *fields, const char *const *texts);

/* Items, as one. */
void earl_put_items(struct earl_fields *fields, const earl_buffer *items);

/* NULL after a failure. */
earl_buffer *earl_get_items(struct earl_fields *fields);
int earl_get_int(struct earl_fields *fields);
void earl_get_ints(struct earl_fields *fields, int *values, int count);
/* How many items of at least four bytes follow, so many are there; else 0, and that is a failure. */
int earl_get_count(struct earl_fields *fields);
/* From malloc, also after a failure; NULL: no memory. */
char *earl_get_text(struct earl_fields *fields);
/* One block from malloc, with the strings; NULL after a failure. */
const char **earl_get_texts(struct earl_fields *fields);

#endif
