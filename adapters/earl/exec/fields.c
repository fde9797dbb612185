/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct earl_fields earl_fields_new(struct earl *earl)
{
    struct earl_fields fields = {earl, earl_do_buffer_make(earl, false), EARL_OK};
    if (fields.buffer == NULL)
        fields.code = EARL_E_MEMORY;
    return fields;
}

struct earl_fields earl_fields_of(struct earl *earl, earl_buffer *buffer)
{
    return (struct earl_fields){earl, buffer, EARL_OK};
}

void earl_fields_free(struct earl_fields *fields)
{
    if (fields->buffer != NULL)
        earl_do_buffer_free(fields->earl, fields->buffer);
    fields->buffer = NULL;
}

static void put(struct earl_fields *fields, enum earl_type type, const void *items, size_t count)
{
    if (fields->code == EARL_OK && count != 0)
        fields->code = earl_do_pack(fields->earl, fields->buffer, type, items, count, 1);
}

static void get(struct earl_fields *fields, enum earl_type type, void *items, size_t count)
{
    if (fields->code == EARL_OK && count != 0)
        fields->code = earl_do_unpack(fields->buffer, type, items, count, 1);
}

void earl_put_ints(struct earl_fields *fields, const int *values, int count)
{
    put(fields, EARL_INT, values, (size_t)count);
}

void earl_put_int(struct earl_fields *fields, int value)
{
    put(fields, EARL_INT, &value, 1);
}

void earl_put_bytes(struct earl_fields *fields, const void *bytes, size_t length)
{
    if (length > INT_MAX) {
        fields->code = EARL_E_ARG;
        return;
    }
    earl_put_int(fields, (int)length);
    put(fields, EARL_BYTE, bytes, length);
}

void earl_put_text(struct earl_fields *fields, const char *text)
{
    earl_put_bytes(fields, text, text == NULL ? 0 : strlen(text));
}

void earl_put_texts(struct earl_fields *fields, const char *const *texts)
{
    int count = 0;
    while (texts != NULL && texts[count] != NULL)
        count++;
    earl_put_int(fields, count);
    for (int i = 0; i < count; i++)
        earl_put_text(fields, texts[i]);
}

void earl_put_items(struct earl_fields *fields, const earl_buffer *items)
{
    if (fields->code == EARL_OK)
        fields->code = earl_do_nest(fields->earl, fields->buffer, items);
}

earl_buffer *earl_get_items(struct earl_fields *fields)
{
    earl_buffer *items = NULL;
    if (fields->code == EARL_OK)
        fields->code = earl_do_unnest(fields->earl, fields->buffer, &items);
    return fields->code == EARL_OK ? items : NULL;
}

int earl_get_int(struct earl_fields *fields)
{
    int value = 0;
    get(fields, EARL_INT, &value, 1);
    return fields->code == EARL_OK ? value : 0;
}

void earl_get_ints(struct earl_fields *fields, int *values, int count)
{
    get(fields, EARL_INT, values, (size_t)count);
}

static int bounded(struct earl_fields *fields, long long size)
{
    const int count = earl_get_int(fields);
    if (fields->code == EARL_OK && (count < 0 || count > earl_buffer_length(fields->buffer) / size))
        fields->code = EARL_E_ARG;
    return fields->code == EARL_OK ? count : 0;
}

int earl_get_count(struct earl_fields *fields)
{
    return bounded(fields, 4);
}

char *earl_get_text(struct earl_fields *fields)
{
    const int length = bounded(fields, 1);
    char *text = malloc((size_t)length + 1);
    if (text == NULL) {
        fields->code = EARL_E_MEMORY;
        return NULL;
    }
    get(fields, EARL_BYTE, text, (size_t)length);
    text[fields->code == EARL_OK ? length : 0] = '\0';
    return text;
}

/* The strings lie behind the pointers, which are at most so many bytes, with their ends, as the buffer has. */
const char **earl_get_texts(struct earl_fields *fields)
{
    const int count = earl_get_count(fields);
    const size_t room = (size_t)earl_buffer_length(fields->buffer) + (size_t)count;
    const char **texts = malloc(((size_t)count + 1) * sizeof(char *) + room);
    if (texts == NULL) {
        fields->code = EARL_E_MEMORY;
        return NULL;
    }
    char *at = (char *)(texts + count + 1);
    for (int i = 0; i < count; i++) {
        const int length = bounded(fields, 1);
        get(fields, EARL_BYTE, at, (size_t)length);
        if (fields->code != EARL_OK)
            break;
        at[length] = '\0';
        texts[i] = at;
        at += length + 1;
    }
    if (fields->code == EARL_OK) {
        texts[count] = NULL;
        return texts;
    }
    free(texts);
    return NULL;
}
