/* SPDX-License-Identifier: MIT */
/* messages.c -- what is put into a message and got out of it, sends, receives and probes. */
#include <limits.h>
#include <stdlib.h>

#include "pvm2_private.h"

PVM2_WEAK int initsend(void)
{
    const int code = pvm2_need();
    if (code == PvmOk)
        Generic_clearbuf();
    return code;
}

/* No message was received yet: that is another code than that of a component which is not there. */
static int extracted(int result)
{
    return result == EARL_E_NONE ? PvmNoMsg : pvm2_result(result);
}

#define VALUES(name, generic, c_type)                         \
    PVM2_WEAK int put##name(const c_type *ptr, int num)       \
    {                                                         \
        return pvm2_result(Generic_build##generic(ptr, num)); \
    }                                                         \
    PVM2_WEAK int get##name(c_type *ptr, int num)             \
    {                                                         \
        return extracted(Generic_xtract##generic(ptr, num));  \
    }

VALUES(nshort, short, short)
VALUES(nint, int, int)
VALUES(nlong, long, long)
VALUES(nfloat, float, float)
VALUES(ndfloat, dfloat, double)
VALUES(ncplx, cplx, float)
VALUES(ndcplx, dcplx, double)
VALUES(bytes, bytes, char)

PVM2_WEAK int putstring(const char *ptr)
{
    return pvm2_result(Generic_buildstring(ptr, 1));
}

PVM2_WEAK int getstring(char *ptr)
{
    return extracted(Generic_xtractstring(ptr, 1));
}

static int send_built(const char *component, int instance, int msgtype)
{
    const int code = pvm2_need_name(component);
    return code != PvmOk ? code : pvm2_result(Generic_BBsend(NULL, component, 0, msgtype, instance, 0, 0));
}

PVM2_WEAK int snd(const char *component, int instance, int msgtype)
{
    return send_built(component, instance, msgtype);
}

PVM2_WEAK int vsnd(const char *component, int instance, int msgtype)
{
    return send_built(component, instance, msgtype);
}

/* ---- by one of several types ---- */

enum { FEW = 16 };

/* Types in longs, as Earl has them; the caller frees *types unless it is `few`. PVM has no masks of types. */
static int choose(int num, const int *msgtypes, long *few, long **types)
{
    const int code = pvm2_need();
    if (code != PvmOk || num < 1 || msgtypes == NULL)
        return code != PvmOk ? code : PvmBadParam;
    *types = num <= FEW ? few : malloc((size_t)num * sizeof **types);
    if (*types == NULL)
        return PvmNoMem;
    for (int i = 0; i < num; i++) {
        if (msgtypes[i] < -1) {
            if (*types != few)
                free(*types);
            return PvmBadParam;
        }
        (*types)[i] = msgtypes[i];
    }
    return PvmOk;
}

static int receive(int num, const int *msgtypes)
{
    long few[FEW], *types;
    int code = choose(num, msgtypes, few, &types);
    if (code != PvmOk)
        return code;
    code = pvm2_result(Generic_Breceivem(NULL, 0, types, num));
    if (types != few)
        free(types);
    return code;
}

static int look(int num, const int *msgtypes)
{
    long few[FEW], *types;
    int code = choose(num, msgtypes, few, &types);
    if (code != PvmOk)
        return code;
    code = extracted((int)Generic_probem(num, types));
    if (types != few)
        free(types);
    return code;
}

PVM2_WEAK int rcv(int msgtype)
{
    return receive(1, &msgtype);
}

PVM2_WEAK int rcvmulti(int num, const int *msgtypes)
{
    return receive(num, msgtypes);
}

PVM2_WEAK int vrcv(int msgtype)
{
    return receive(1, &msgtype);
}

PVM2_WEAK int vrcvmulti(int num, const int *msgtypes)
{
    return receive(num, msgtypes);
}

PVM2_WEAK int probe(int msgtype)
{
    return look(1, &msgtype);
}

PVM2_WEAK int probemulti(int num, const int *msgtypes)
{
    return look(num, msgtypes);
}

PVM2_WEAK int rcvinfo(int *bytes, int *msgtype, char *component, int *instance)
{
    char name[EARL_COMPONENT];
    const int code = extracted(Generic_recvinfo(bytes, msgtype, name, NULL, instance));
    if (code == PvmOk)
        pvm2_tell_name(component, name);
    return code;
}
