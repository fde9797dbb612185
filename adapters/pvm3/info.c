/* SPDX-License-Identifier: MIT */
/* info.c -- what is known of the message in a buffer. */
#include <limits.h>

#include "pvm_private.h"

/* Its length is that of what was packed so far. */
static int look_up(int id, struct pvmi_buffer **buffer_out)
{
    const int code = pvmi_buffer_given(id, buffer_out);
    if (code == PvmOk) {
        const long long length = pvmi_buffer_length(*buffer_out);
        (*buffer_out)->info.len = length > INT_MAX ? INT_MAX : (int)length;
    }
    return code;
}

int pvm_bufinfo(int bufid, int *bytes, int *msgtag, int *tid)
{
    struct pvmi_buffer *buffer;
    const int code = look_up(bufid, &buffer);
    if (code < 0)
        return pvmi_told("bufinfo", code);
    if (bytes != NULL)
        *bytes = buffer->info.len;
    if (msgtag != NULL)
        *msgtag = buffer->info.tag;
    if (tid != NULL)
        *tid = buffer->info.src;
    return PvmOk;
}

int pvm_getminfo(int bufid, struct pvmminfo *mi)
{
    struct pvmi_buffer *buffer;
    const int code = mi == NULL ? PvmBadParam : look_up(bufid, &buffer);
    if (code == PvmOk)
        *mi = buffer->info;
    return pvmi_told("getminfo", code);
}

int pvm_setminfo(int bufid, struct pvmminfo *mi)
{
    struct pvmi_buffer *buffer;
    const int code = mi == NULL ? PvmBadParam : look_up(bufid, &buffer);
    if (code == PvmOk) {
        buffer->info.ctx = mi->ctx;
        buffer->info.tag = mi->tag;
        buffer->info.wid = mi->wid;
        buffer->info.src = mi->src;
        buffer->info.dst = mi->dst;
    }
    return pvmi_told("setminfo", code);
}

/* PVM 3.3's. */
#ifndef PVM33COMPAT
int pvm_getmwid(int bufid);
int pvm_setmwid(int bufid, int wid);
#endif

int pvm_getmwid(int bufid)
{
    struct pvmi_buffer *buffer;
    const int code = look_up(bufid, &buffer);
    return pvmi_told("getmwid", code < 0 ? code : buffer->info.wid);
}

int pvm_setmwid(int bufid, int wid)
{
    struct pvmi_buffer *buffer;
    const int code = look_up(bufid, &buffer);
    if (code == PvmOk)
        buffer->info.wid = wid;
    return pvmi_told("setmwid", code);
}
