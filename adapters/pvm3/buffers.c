/* SPDX-License-Identifier: MIT */
/* buffers.c -- message buffers and their IDs.
 *
 * A table has the buffers; an ID is a place in it, from 1 on. Free places are a list. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

enum { TABLE_FIRST = 64 };

int pvmi_send_buffer, pvmi_receive_buffer;

static struct place {
    struct pvmi_buffer *buffer; /* NULL: the place is free */
    int next_free;              /* 0: it is the last one */
} * table;
static int table_room = 1, first_free; /* place 0 is no ID */
static struct pvmi_buffer *told_of;    /* by probes */

/* Doubles the table; its new places are free. */
static bool grow_table(void)
{
    const int room = table == NULL ? TABLE_FIRST : table_room * 2;
    struct place *grown = table_room > INT_MAX / 4 ? NULL : calloc((size_t)room, sizeof *table);
    if (grown == NULL)
        return false;
    if (table != NULL)
        memcpy(grown, table, (size_t)table_room * sizeof *table);
    free(table);
    table = grown;
    for (int i = room - 1; i >= table_room; i--) {
        table[i].next_free = first_free;
        first_free = i;
    }
    table_room = room;
    return true;
}

struct pvmi_buffer *pvmi_buffer_new(void)
{
    if (first_free == 0 && !grow_table())
        return NULL;
    struct pvmi_buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return NULL;
    const int id = first_free;
    first_free = table[id].next_free;
    table[id].buffer = buffer;
    buffer->id = id;
    buffer->encoding = PvmDataRaw;
    return buffer;
}

struct pvmi_buffer *pvmi_buffer_of(int id)
{
    return id > 0 && id < table_room ? table[id].buffer : NULL;
}

void pvmi_buffer_free(struct pvmi_buffer *buffer)
{
    if (pvmi_send_buffer == buffer->id)
        pvmi_send_buffer = 0;
    if (pvmi_receive_buffer == buffer->id)
        pvmi_receive_buffer = 0;
    if (buffer->is_kept)
        (void)pvmi_keep_no_more(buffer);
    for (struct pvmi_buffer **at = &told_of; *at != NULL; at = &(*at)->next)
        if (*at == buffer) {
            *at = buffer->next;
            break;
        }
    table[buffer->id].buffer = NULL;
    table[buffer->id].next_free = first_free;
    first_free = buffer->id;
    earl_buffer_free(buffer->items);
    free(buffer->places);
    free(buffer);
}

/* ---- buffers to pack into ---- */

static void begin_info(struct pvmi_buffer *buffer)
{
    buffer->info = (struct pvmminfo){
        .src = pvmi_tid(pvmi_process.self),
        .ctx = pvmi_process.context,
        .enc = buffer->encoding == PvmDataDefault ? PVMI_TRANSLATED : pvmi_signature(),
    };
}

int pvmi_mkbuf(int encoding)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    if (encoding < PvmDataDefault || encoding > PvmDataInPlace)
        return PvmBadParam;
    struct pvmi_buffer *buffer = pvmi_buffer_new();
    if (buffer == NULL)
        return PvmNoMem;
    buffer->encoding = encoding;
    begin_info(buffer);
    if (encoding != PvmDataInPlace) {
        buffer->items = earl_buffer_make(encoding == PvmDataRaw);
        if (buffer->items == NULL) {
            pvmi_buffer_free(buffer);
            return PvmNoMem;
        }
    }
    return buffer->id;
}

int pvm_mkbuf(int encoding)
{
    return pvmi_told("mkbuf", pvmi_mkbuf(encoding));
}

/* Empties it. The program need not see that it is the same one: it is not to use the former's ID any more. */
static bool may_be_used_again(struct pvmi_buffer *buffer)
{
    return buffer->items != NULL && !buffer->was_received && !buffer->is_kept &&
           buffer->id != pvmi_receive_buffer && earl_buffer_clear(buffer->items) == EARL_OK;
}

int pvmi_initsend(int encoding)
{
    struct pvmi_buffer *former = pvmi_buffer_of(pvmi_send_buffer);
    if (former != NULL && former->encoding == encoding && may_be_used_again(former)) {
        begin_info(former);
        return former->id;
    }
    const int id = pvmi_mkbuf(encoding);
    if (id < 0)
        return id;
    if (former != NULL)
        pvmi_buffer_free(former);
    return pvmi_send_buffer = id;
}

int pvm_initsend(int encoding)
{
    return pvmi_told("initsend", pvmi_initsend(encoding));
}

int pvmi_buffer_given(int id, struct pvmi_buffer **buffer_out)
{
    if (id <= 0)
        return PvmBadParam;
    *buffer_out = pvmi_buffer_of(id);
    return *buffer_out == NULL ? PvmNoSuchBuf : PvmOk;
}

int pvm_freebuf(int bufid)
{
    struct pvmi_buffer *buffer;
    int code = pvmi_buffer_given(bufid, &buffer);
    if (code == PvmOk && buffer->is_kept && !pvmi_keep_no_more(buffer))
        code = PvmDenied;
    if (code == PvmOk)
        pvmi_buffer_free(buffer);
    return pvmi_told("freebuf", code);
}

/* Makes a buffer the active one. */
static int set_active(int *active, int id)
{
    struct pvmi_buffer *buffer;
    const int former = *active, code = id == 0 ? PvmOk : pvmi_buffer_given(id, &buffer);
    if (code == PvmOk)
        *active = id;
    return code < 0 ? code : former;
}

int pvm_setsbuf(int bufid)
{
    return pvmi_told("setsbuf", set_active(&pvmi_send_buffer, bufid));
}

int pvm_setrbuf(int bufid)
{
    return pvmi_told("setrbuf", set_active(&pvmi_receive_buffer, bufid));
}

int pvm_getsbuf(void)
{
    return pvmi_send_buffer;
}

int pvm_getrbuf(void)
{
    return pvmi_receive_buffer;
}

/* ---- what is in them ---- */

long long pvmi_buffer_length(const struct pvmi_buffer *buffer)
{
    long long length = 0;
    if (buffer->items != NULL)
        return earl_buffer_length(buffer->items);
    if (buffer->encoding != PvmDataInPlace)
        return buffer->info.len; /* a probe tells of it */
    for (size_t i = 0; i < buffer->place_count; i++)
        length += (long long)(buffer->places[i].count * buffer->places[i].size);
    return length;
}

int pvmi_buffer_items(const struct pvmi_buffer *buffer, earl_buffer **items_out, bool *made_out)
{
    *made_out = buffer->items == NULL || buffer->was_received;
    *items_out = buffer->items;
    if (!*made_out)
        return PvmOk;
    if (buffer->items == NULL && buffer->encoding != PvmDataInPlace)
        return PvmNoSuchBuf; /* a probe has told of it: it was not received */
    earl_buffer *items = earl_buffer_make(buffer->items == NULL || earl_buffer_is_raw(buffer->items));
    int code = items == NULL ? EARL_E_MEMORY : EARL_OK;
    if (code == EARL_OK && buffer->items != NULL)
        code = earl_buffer_append(items, buffer->items);
    for (size_t i = 0; i < buffer->place_count && code == EARL_OK; i++) {
        const struct pvmi_place *place = &buffer->places[i];
        code = earl_pack(items, place->type, place->items, place->count, place->stride);
    }
    if (code != EARL_OK)
        earl_buffer_free(items);
    *items_out = items;
    return pvmi_result(code);
}

struct pvmi_buffer *pvmi_told_of(const struct earl_envelope *envelope)
{
    struct pvmi_buffer *buffer = told_of;
    while (buffer != NULL && (buffer->info.src != pvmi_tid(envelope->source) ||
                              buffer->info.tag != envelope->tag || buffer->info.ctx != pvmi_process.context))
        buffer = buffer->next;
    if (buffer == NULL && (buffer = pvmi_buffer_new()) != NULL) {
        buffer->next = told_of;
        told_of = buffer;
    }
    if (buffer != NULL)
        pvmi_tell(buffer, envelope);
    return buffer;
}

void pvmi_told_of_end(void)
{
    while (told_of != NULL)
        pvmi_buffer_free(told_of);
}

void pvmi_tell(struct pvmi_buffer *buffer, const struct earl_envelope *envelope)
{
    buffer->was_received = true;
    buffer->info = (struct pvmminfo){
        .len = envelope->length > INT_MAX ? INT_MAX : (int)envelope->length,
        .ctx = (int)(envelope->context - PVMI_CONTEXT),
        .tag = envelope->tag,
        .enc = buffer->items == NULL || earl_buffer_is_raw(buffer->items) == 1 ? pvmi_signature()
                                                                               : PVMI_TRANSLATED,
        .src = pvmi_tid(envelope->source),
        .dst = pvmi_tid(pvmi_process.self),
    };
}
