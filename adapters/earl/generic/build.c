/* SPDX-License-Identifier: MIT */
/* build.c -- Generic_clearbuf, Generic_build..., Generic_xtract...: one buffer to be sent, and one that was received. */
#include <stdlib.h>
#include <string.h>

#include "generic.h"

void Generic_clearbuf(void)
{
    earl_generic_must("Generic_clearbuf", earl_generic_need());
    if (earl_generic.sending != NULL)
        (void)earl_buffer_clear(earl_generic.sending);
    else if ((earl_generic.sending = earl_buffer_make(0)) == NULL)
        earl_generic_must("Generic_clearbuf", EARL_E_MEMORY);
}

static int build(enum earl_type type, const void *items, long count)
{
    const int code = earl_generic_need();
    if (code != EARL_OK || count < 0)
        return code != EARL_OK ? code : EARL_E_ARG;
    if (earl_generic.sending == NULL)
        Generic_clearbuf();
    return earl_pack(earl_generic.sending, type, items, (size_t)count, 1);
}

static int extract(enum earl_type type, void *items, long count)
{
    const int code = earl_generic_need();
    if (code != EARL_OK || count < 0)
        return code != EARL_OK ? code : EARL_E_ARG;
    return earl_generic.received == NULL ? EARL_E_NONE
                                         : earl_unpack(earl_generic.received, type, items, (size_t)count, 1);
}

#define TYPED(name, c_type, type)                       \
    int Generic_build##name(const c_type *ptr, int num) \
    {                                                   \
        return build(type, ptr, num);                   \
    }                                                   \
    int Generic_xtract##name(c_type *ptr, int num)      \
    {                                                   \
        return extract(type, ptr, num);                 \
    }

TYPED(bytes, char, EARL_BYTE)
TYPED(short, short, EARL_SHORT)
TYPED(int, int, EARL_INT)
TYPED(long, long, EARL_LONG)
TYPED(float, float, EARL_FLOAT)
TYPED(dfloat, double, EARL_DOUBLE)
TYPED(cplx, float, EARL_COMPLEX)
TYPED(dcplx, double, EARL_DCOMPLEX)

/* A string is its length, the zero included, and its bytes. */
int Generic_buildstring(const char *ptr, int num)
{
    if (ptr == NULL)
        return EARL_E_ARG;
    int code = build(EARL_BYTE, ptr, num < 0 ? -1 : 0);
    for (int i = 0; i < num && code == EARL_OK; i++) {
        const size_t length = strlen(ptr) + 1;
        const int packed = (int)length;
        if (length > INT_MAX)
            return EARL_E_ARG;
        code = build(EARL_INT, &packed, 1);
        if (code == EARL_OK)
            code = build(EARL_BYTE, ptr, packed);
        ptr += length;
    }
    return code;
}

int Generic_xtractstring(char *ptr, int num)
{
    if (ptr == NULL)
        return EARL_E_ARG;
    int code = extract(EARL_BYTE, ptr, num < 0 ? -1 : 0);
    for (int i = 0; i < num && code == EARL_OK; i++) {
        int length;
        code = extract(EARL_INT, &length, 1);
        if (code == EARL_OK && length < 1)
            return EARL_E_END;
        if (code == EARL_OK)
            code = extract(EARL_BYTE, ptr, length);
        if (code != EARL_OK)
            return code;
        ptr[length - 1] = '\0'; /* also if it was none */
        ptr += length;
    }
    return code;
}
