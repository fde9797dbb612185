/* SPDX-License-Identifier: MIT */
/* fortran_messages.c -- buffers and messages, as Fortran programs call them. */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

char *pvmi_trimmed(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    char *trimmed = malloc(length + 1);
    if (trimmed != NULL) {
        memcpy(trimmed, text, length);
        trimmed[length] = '\0';
    }
    return trimmed;
}

void pvmi_blank_padded(char *to, size_t room, const char *from, size_t length)
{
    const size_t many = length < room ? length : room;
    memcpy(to, from, many);
    memset(to + many, ' ', room - many);
}

/* ---- buffers ---- */

void pvmfinitsend_(integer *encoding, int *bufid)
{
    *bufid = pvm_initsend(*encoding);
}

void pvmfmkbuf_(integer *encoding, int *bufid)
{
    *bufid = pvm_mkbuf(*encoding);
}

void pvmffreebuf_(integer *bufid, int *info)
{
    *info = pvm_freebuf(*bufid);
}

void pvmfsetsbuf_(integer *bufid, int *former)
{
    *former = pvm_setsbuf(*bufid);
}

void pvmfsetrbuf_(integer *bufid, int *former)
{
    *former = pvm_setrbuf(*bufid);
}

void pvmfgetsbuf_(int *bufid)
{
    *bufid = pvm_getsbuf();
}

void pvmfgetrbuf_(int *bufid)
{
    *bufid = pvm_getrbuf();
}

void pvmfbufinfo_(integer *bufid, int *bytes, int *tag, int *tid, int *info)
{
    *info = pvm_bufinfo(*bufid, bytes, tag, tid);
}

void pvmfgetminfo_(integer *bufid, int *len, int *ctx, int *tag, int *wid, int *enc, int *crc, int *src,
                   int *dst, int *info)
{
    struct pvmminfo told;
    *info = pvm_getminfo(*bufid, &told);
    if (*info < 0)
        return;
    *len = told.len;
    *ctx = told.ctx;
    *tag = told.tag;
    *wid = told.wid;
    *enc = told.enc;
    *crc = told.crc;
    *src = told.src;
    *dst = told.dst;
}

void pvmfsetminfo_(integer *bufid, integer *ctx, integer *tag, integer *wid, integer *src, integer *dst,
                   int *info)
{
    struct pvmminfo wanted = {.ctx = *ctx, .tag = *tag, .wid = *wid, .src = *src, .dst = *dst};
    *info = pvm_setminfo(*bufid, &wanted);
}

/* ---- packing: STRING to COMPLEX16 are PVM_STR to PVM_DCPLX, INTEGER8 is PVM_LONG ---- */

static bool is_type(int what)
{
    return (what >= PVM_STR && what <= PVM_DCPLX) || (what == PVM_LONG && sizeof(long) == 8);
}

void pvmfpack_(integer *what, const void *xp, integer *nitem, integer *stride, int *info)
{
    int code = PvmBadParam;
    if (*what == PVM_STR && *nitem >= 0)
        code = pvmi_pack_string(xp, (size_t)*nitem);
    else if (is_type(*what))
        code = pvmi_pack(*what, xp, *nitem, *stride);
    *info = pvmi_told("pack", code);
}

/* A string of another length than the program's is cut, or filled with blanks. */
static int unpack_string(char *to, int room)
{
    int length;
    int code = room < 0 ? PvmBadParam : pvmi_unpack_length(&length);
    char *text = code < 0 ? NULL : malloc((size_t)length);
    if (code == PvmOk && text == NULL)
        code = PvmNoMem;
    if (code == PvmOk)
        code = pvmi_unpack(PVM_BYTE, text, length, 1);
    if (code == PvmOk)
        pvmi_blank_padded(to, (size_t)room, text, (size_t)length - 1);
    free(text);
    return code;
}

void pvmfunpack_(integer *what, void *xp, integer *nitem, integer *stride, int *info)
{
    int code = PvmBadParam;
    if (*what == PVM_STR)
        code = unpack_string(xp, *nitem);
    else if (is_type(*what))
        code = pvmi_unpack(*what, xp, *nitem, *stride);
    *info = pvmi_told("unpack", code);
}

void pvmfpkmesg_(integer *bufid, int *info)
{
    *info = pvm_pkmesg(*bufid);
}

void pvmfpkmesgbody_(integer *bufid, int *info)
{
    *info = pvm_pkmesgbody(*bufid);
}

void pvmfupkmesg_(int *bufid)
{
    *bufid = pvm_upkmesg();
}

/* ---- messages ---- */

void pvmfsend_(integer *tid, integer *tag, int *info)
{
    *info = pvm_send(*tid, *tag);
}

void pvmfmcast_(integer *ntask, integer *tids, integer *tag, int *info)
{
    *info = pvm_mcast(tids, *ntask, *tag);
}

void pvmfpsend_(integer *tid, integer *tag, const void *items, integer *count, integer *type, int *info)
{
    *info = is_type(*type) ? pvm_psend(*tid, *tag, items, *count, *type) : pvmi_told("psend", PvmBadParam);
}

void pvmfprecv_(integer *tid, integer *tag, void *items, integer *count, integer *type, int *atid, int *atag,
                int *alen, int *info)
{
    *info = is_type(*type) ? pvm_precv(*tid, *tag, items, *count, *type, atid, atag, alen)
                           : pvmi_told("precv", PvmBadParam);
}

void pvmfrecv_(integer *tid, integer *tag, int *bufid)
{
    *bufid = pvm_recv(*tid, *tag);
}

void pvmfnrecv_(integer *tid, integer *tag, int *bufid)
{
    *bufid = pvm_nrecv(*tid, *tag);
}

void pvmftrecv_(integer *tid, integer *tag, integer *sec, integer *usec, int *bufid)
{
    const struct timeval time = {*sec, *usec};
    *bufid = pvm_trecv(*tid, *tag, *sec == -1 ? NULL : &time);
}

void pvmfprobe_(integer *tid, integer *tag, int *bufid)
{
    *bufid = pvm_probe(*tid, *tag);
}
