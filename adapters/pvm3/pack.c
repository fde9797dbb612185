/* SPDX-License-Identifier: MIT */
/* pack.c -- items into the active send buffer, and out of the active receive buffer. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

static const struct {
    enum earl_type type;
    size_t size;
} types[] = {
    [PVM_STR] = {EARL_BYTE, 1},
    [PVM_BYTE] = {EARL_BYTE, 1},
    [PVM_SHORT] = {EARL_SHORT, sizeof(short)},
    [PVM_INT] = {EARL_INT, sizeof(int)},
    [PVM_FLOAT] = {EARL_FLOAT, sizeof(float)},
    [PVM_CPLX] = {EARL_COMPLEX, 2 * sizeof(float)},
    [PVM_DOUBLE] = {EARL_DOUBLE, sizeof(double)},
    [PVM_DCPLX] = {EARL_DCOMPLEX, 2 * sizeof(double)},
    [PVM_LONG] = {EARL_LONG, sizeof(long)},
    [PVM_USHORT] = {EARL_USHORT, sizeof(unsigned short)},
    [PVM_UINT] = {EARL_UINT, sizeof(unsigned)},
    [PVM_ULONG] = {EARL_ULONG, sizeof(unsigned long)},
};

bool pvmi_type(int datatype, enum earl_type *type_out, size_t *size_out)
{
    if (datatype < 0 || datatype >= (int)(sizeof types / sizeof types[0]))
        return false;
    *type_out = types[datatype].type;
    *size_out = types[datatype].size;
    return true;
}

/* ---- packing ---- */

/* Notes where the items are. */
static int leave_in_place(struct pvmi_buffer *buffer, int datatype, const void *items, int count, int stride)
{
    enum { ROOM_FIRST = 8 };
    if (buffer->place_count == buffer->place_room) {
        const size_t room = buffer->place_room == 0 ? ROOM_FIRST : buffer->place_room * 2;
        void *grown = realloc(buffer->places, room * sizeof *buffer->places);
        if (grown == NULL)
            return PvmNoMem;
        buffer->places = grown;
        buffer->place_room = room;
    }
    buffer->places[buffer->place_count++] =
        (struct pvmi_place){types[datatype].type, types[datatype].size, items, (size_t)count, stride};
    return PvmOk;
}

/* A message that came, and is packed further, becomes a copy: Earl's own does not grow. */
static int unshare(struct pvmi_buffer *buffer)
{
    earl_buffer *copy;
    bool is_made;
    const int code = pvmi_buffer_items(buffer, &copy, &is_made);
    if (code != PvmOk)
        return code;
    earl_buffer_free(buffer->items);
    buffer->items = copy;
    buffer->was_received = false;
    return PvmOk;
}

int pvmi_pack_into(struct pvmi_buffer **buffer_out)
{
    struct pvmi_buffer *buffer = pvmi_buffer_of(pvmi_send_buffer);
    *buffer_out = buffer;
    if (buffer == NULL)
        return PvmNoBuf;
    return buffer->was_received ? unshare(buffer) : PvmOk;
}

int pvmi_pack(int datatype, const void *items, int count, int stride)
{
    struct pvmi_buffer *buffer;
    const int code = pvmi_pack_into(&buffer);
    if (code < 0)
        return code;
    if (count < 0 || (items == NULL && count != 0))
        return PvmBadParam;
    if (buffer->encoding == PvmDataInPlace)
        return leave_in_place(buffer, datatype, items, count, stride);
    const int result = earl_pack(buffer->items, types[datatype].type, items, (size_t)count, stride);
    return result == EARL_E_ARG ? PvmMismatch : pvmi_result(result);
}

/* A string is its length, its end included, and its bytes. */
int pvmi_pack_string(const char *string, size_t length)
{
    struct pvmi_buffer *buffer;
    const int code = pvmi_pack_into(&buffer);
    if (code < 0)
        return code;
    if (buffer->encoding == PvmDataInPlace)
        return PvmNotImpl;
    if (length >= INT_MAX)
        return PvmOverflow;
    const int whole = (int)length + 1;
    int result = earl_pack(buffer->items, EARL_INT, &whole, 1, 1);
    if (result == EARL_OK)
        result = earl_pack(buffer->items, EARL_BYTE, string, length, 1);
    if (result == EARL_OK)
        result = earl_pack(buffer->items, EARL_BYTE, "", 1, 1);
    return result == EARL_E_ARG ? PvmMismatch : pvmi_result(result);
}

static int pack_text(const char *sp)
{
    return sp == NULL ? PvmBadParam : pvmi_pack_string(sp, strlen(sp));
}

int pvm_pkstr(const char *sp)
{
    return pvmi_told("pkstr", pack_text(sp));
}

/* ---- unpacking ---- */

int pvmi_unpack_from(struct pvmi_buffer **buffer_out)
{
    *buffer_out = pvmi_buffer_of(pvmi_receive_buffer);
    if (*buffer_out == NULL)
        return PvmNoBuf;
    return (*buffer_out)->items == NULL ? PvmNoData : PvmOk;
}

int pvmi_unpack(int datatype, void *items, int count, int stride)
{
    struct pvmi_buffer *buffer;
    const int code = pvmi_unpack_from(&buffer);
    if (code < 0)
        return code;
    if (count < 0 || (items == NULL && count != 0))
        return PvmBadParam;
    return pvmi_result(earl_unpack(buffer->items, types[datatype].type, items, (size_t)count, stride));
}

int pvmi_unpack_length(int *length_out)
{
    struct pvmi_buffer *buffer;
    int code = pvmi_unpack_from(&buffer);
    if (code == PvmOk)
        code = pvmi_result(earl_unpack(buffer->items, EARL_INT, length_out, 1, 1));
    if (code < 0)
        return code;
    return *length_out < 1 ? PvmBadMsg : PvmOk;
}

int pvmi_unpack_text(char *sp)
{
    int length;
    if (sp == NULL)
        return PvmBadParam;
    int code = pvmi_unpack_length(&length);
    if (code == PvmOk)
        code = pvmi_unpack(PVM_BYTE, sp, length, 1);
    if (code == PvmOk && sp[length - 1] != '\0') {
        sp[length - 1] = '\0';
        code = PvmBadMsg;
    }
    return code;
}

int pvm_upkstr(char *sp)
{
    return pvmi_told("upkstr", pvmi_unpack_text(sp));
}

/* ---- of each type ---- */

#define ROUTINES(name, type, datatype)                                              \
    int pvm_pk##name(const type *items, int nitem, int stride)                      \
    {                                                                               \
        return pvmi_told("pk" #name, pvmi_pack(datatype, items, nitem, stride));    \
    }                                                                               \
    int pvm_upk##name(type *items, int nitem, int stride)                           \
    {                                                                               \
        return pvmi_told("upk" #name, pvmi_unpack(datatype, items, nitem, stride)); \
    }

ROUTINES(byte, char, PVM_BYTE)
ROUTINES(cplx, float, PVM_CPLX)
ROUTINES(dcplx, double, PVM_DCPLX)
ROUTINES(double, double, PVM_DOUBLE)
ROUTINES(float, float, PVM_FLOAT)
ROUTINES(int, int, PVM_INT)
ROUTINES(long, long, PVM_LONG)
ROUTINES(short, short, PVM_SHORT)
ROUTINES(uint, unsigned, PVM_UINT)
ROUTINES(ulong, unsigned long, PVM_ULONG)
ROUTINES(ushort, unsigned short, PVM_USHORT)
