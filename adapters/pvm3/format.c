/* SPDX-License-Identifier: MIT */
/* format.c -- pvm_packf and pvm_unpackf: what a format says. */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "pvm_private.h"

/* One item of a format, behind its %. */
struct item {
    bool is_listed; /* it has a count or a stride: the argument is an address */
    int count, stride;
    bool is_short, is_long, is_unsigned;
    char type;
};

/* The arguments, as one thing that routines can take further. */
struct arguments {
    va_list list;
};

/* A number, or * for the next argument; false: it is too large. */
static bool read_number(const char **at, struct arguments *arguments, int *number)
{
    long long value = 0;
    if (**at == '*') {
        ++*at;
        *number = va_arg(arguments->list, int);
        return true;
    }
    for (; isdigit((unsigned char)**at) && value <= INT_MAX; ++*at)
        value = value * 10 + (**at - '0');
    *number = (int)value;
    return value <= INT_MAX;
}

static bool read_item(const char **at, struct arguments *arguments, struct item *item)
{
    *item = (struct item){.count = 1, .stride = 1};
    if (**at == '*' || isdigit((unsigned char)**at)) {
        item->is_listed = true;
        if (!read_number(at, arguments, &item->count))
            return false;
    }
    if (**at == '.') {
        ++*at;
        item->is_listed = true;
        if ((**at != '*' && !isdigit((unsigned char)**at)) || !read_number(at, arguments, &item->stride))
            return false;
    }
    for (; **at != '\0' && strchr("hlu", **at) != NULL; ++*at) {
        item->is_short = item->is_short || **at == 'h';
        item->is_long = item->is_long || **at == 'l';
        item->is_unsigned = item->is_unsigned || **at == 'u';
    }
    item->type = **at;
    if (item->type != '\0')
        ++*at;
    return true;
}

/* PVM_INT and its kin for the item; -1: there is no such format. */
static int datatype_of(const struct item *item)
{
    switch (item->type) {
    case 'c': return PVM_BYTE;
    case 'd':
        if (item->is_short)
            return item->is_unsigned ? PVM_USHORT : PVM_SHORT;
        if (item->is_long)
            return item->is_unsigned ? PVM_ULONG : PVM_LONG;
        return item->is_unsigned ? PVM_UINT : PVM_INT;
    case 'f': return item->is_long ? PVM_DOUBLE : PVM_FLOAT;
    case 'x': return item->is_long ? PVM_DCPLX : PVM_CPLX;
    default: return -1;
    }
}

/* An item that is given by value. */
static int pack_value(int datatype, struct arguments *arguments)
{
    switch (datatype) {
    case PVM_BYTE: {
        const char value = (char)va_arg(arguments->list, int);
        return pvmi_pack(datatype, &value, 1, 1);
    }
    case PVM_SHORT:
    case PVM_USHORT: {
        const short value = (short)va_arg(arguments->list, int);
        return pvmi_pack(datatype, &value, 1, 1);
    }
    case PVM_INT:
    case PVM_UINT: {
        const int value = va_arg(arguments->list, int);
        return pvmi_pack(datatype, &value, 1, 1);
    }
    case PVM_LONG:
    case PVM_ULONG: {
        const long value = va_arg(arguments->list, long);
        return pvmi_pack(datatype, &value, 1, 1);
    }
    case PVM_FLOAT: {
        const float value = (float)va_arg(arguments->list, double);
        return pvmi_pack(datatype, &value, 1, 1);
    }
    default: {
        const double value = va_arg(arguments->list, double);
        return pvmi_pack(datatype, &value, 1, 1);
    }
    }
}

/* A value has no address that outlasts the call: it can't be left in place. */
static bool is_in_place(void)
{
    const struct pvmi_buffer *buffer = pvmi_buffer_of(pvmi_send_buffer);
    return buffer != NULL && buffer->encoding == PvmDataInPlace;
}

static int pack_item(const struct item *item, struct arguments *arguments)
{
    if (item->type == 's') {
        const char *string = va_arg(arguments->list, const char *);
        return string == NULL ? PvmBadParam : pvmi_pack_string(string, strlen(string));
    }
    const int datatype = datatype_of(item);
    if (datatype < 0)
        return PvmBadParam;
    if (item->is_listed || datatype == PVM_CPLX || datatype == PVM_DCPLX)
        return pvmi_pack(datatype, va_arg(arguments->list, const void *), item->count, item->stride);
    return is_in_place() ? PvmNotImpl : pack_value(datatype, arguments);
}

static int unpack_item(const struct item *item, struct arguments *arguments)
{
    const int datatype = datatype_of(item);
    void *to = va_arg(arguments->list, void *);
    if (item->type == 's')
        return pvmi_unpack_text(to);
    return datatype < 0 ? PvmBadParam : pvmi_unpack(datatype, to, item->count, item->stride);
}

static int follow(const char *format, struct arguments *arguments, bool packs)
{
    const char *at = format;
    int code = PvmOk;
    struct item item;
    if (format == NULL)
        return PvmBadParam;
    if (packs && strncmp(at, "%+", 2) == 0) {
        at += 2;
        code = pvmi_initsend(va_arg(arguments->list, int));
    }
    while (code >= 0 && (at = strchr(at, '%')) != NULL) {
        at++;
        if (!read_item(&at, arguments, &item))
            code = PvmBadParam;
        else
            code = packs ? pack_item(&item, arguments) : unpack_item(&item, arguments);
    }
    return code < 0 ? code : PvmOk;
}

int pvm_packf(const char *fmt, ...)
{
    struct arguments arguments;
    va_start(arguments.list, fmt);
    const int code = follow(fmt, &arguments, true);
    va_end(arguments.list);
    return pvmi_told("packf", code);
}

int pvm_unpackf(const char *fmt, ...)
{
    struct arguments arguments;
    va_start(arguments.list, fmt);
    const int code = follow(fmt, &arguments, false);
    va_end(arguments.list);
    return pvmi_told("unpackf", code);
}
