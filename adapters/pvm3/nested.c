/* SPDX-License-Identifier: MIT */
/* nested.c -- messages within messages. */
#include "pvm_private.h"

enum { FIELDS = 8 };

/* The message of another buffer, and the active one to pack into. */
static int check(int id, struct pvmi_buffer **from_out, struct pvmi_buffer **into_out)
{
    int code = pvmi_need();
    if (code == PvmOk)
        code = pvmi_buffer_given(id, from_out);
    if (code == PvmOk && id == pvmi_send_buffer)
        code = PvmBadParam;
    if (code == PvmOk)
        code = pvmi_pack_into(into_out);
    if (code == PvmOk && (*into_out)->encoding == PvmDataInPlace)
        code = PvmNotImpl;
    return code;
}

int pvmi_nest(earl_buffer *into, const struct pvmi_buffer *from)
{
    earl_buffer *items;
    bool is_made;
    const int code = pvmi_buffer_items(from, &items, &is_made);
    if (code < 0)
        return code;
    const struct pvmminfo *info = &from->info;
    const int fields[FIELDS] = {from->encoding, info->ctx, info->tag, info->wid,
                                info->enc,      info->crc, info->src, info->dst};
    int result = earl_pack(into, EARL_INT, fields, FIELDS, 1);
    if (result == EARL_OK)
        result = earl_nest(into, items);
    if (is_made)
        earl_buffer_free(items);
    return pvmi_result(result);
}

static int pack_message(int id)
{
    struct pvmi_buffer *from, *into;
    const int code = check(id, &from, &into);
    return code != PvmOk ? code : pvmi_nest(into->items, from);
}

int pvm_pkmesg(int bufid)
{
    return pvmi_told("pkmesg", pack_message(bufid));
}

static int pack_body(int id)
{
    struct pvmi_buffer *from, *into;
    earl_buffer *items;
    bool is_made;
    int code = check(id, &from, &into);
    if (code == PvmOk)
        code = pvmi_buffer_items(from, &items, &is_made);
    if (code != PvmOk)
        return code;
    int result = EARL_E_ARG;
    if (earl_buffer_is_raw(items) == earl_buffer_is_raw(into->items))
        result = earl_buffer_append(into->items, items);
    if (is_made)
        earl_buffer_free(items);
    return result == EARL_E_ARG ? PvmMismatch : pvmi_result(result);
}

int pvm_pkmesgbody(int bufid)
{
    return pvmi_told("pkmesgbody", pack_body(bufid));
}

int pvmi_unnest(earl_buffer *from)
{
    earl_buffer *items = NULL;
    int fields[FIELDS], code = pvmi_result(earl_unpack(from, EARL_INT, fields, FIELDS, 1));
    if (code < 0)
        return code;
    code = earl_unnest(from, &items);
    if (code < 0)
        return code == EARL_E_END ? PvmBadMsg : pvmi_result(code);
    struct pvmi_buffer *buffer = pvmi_buffer_new();
    if (buffer == NULL) {
        earl_buffer_free(items);
        return PvmNoMem;
    }
    buffer->items = items;
    buffer->was_received = true;
    buffer->encoding = earl_buffer_is_raw(items) ? PvmDataRaw : PvmDataDefault;
    buffer->info = (struct pvmminfo){.ctx = fields[1],
                                     .tag = fields[2],
                                     .wid = fields[3],
                                     .enc = fields[4],
                                     .crc = fields[5],
                                     .src = fields[6],
                                     .dst = fields[7]};
    return buffer->id;
}

static int unpack_message(void)
{
    struct pvmi_buffer *from;
    const int code = pvmi_unpack_from(&from);
    return code < 0 ? code : pvmi_unnest(from->items);
}

int pvm_upkmesg(void)
{
    return pvmi_told("upkmesg", unpack_message());
}
