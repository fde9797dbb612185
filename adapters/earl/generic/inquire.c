/* SPDX-License-Identifier: MIT */
/* inquire.c -- what is known of messages that have come, or were received; and Generic_flushmsg. */
#include <string.h>

#include "generic.h"

static long probe(const struct earl_wanted *wanted, int wait)
{
    struct earl_envelope envelope;
    const int code = earl_probe(wanted, wait, &envelope);
    if (code != 1)
        return code < 0 ? code : EARL_E_NONE;
    earl_generic_tell(&envelope);
    return envelope.tag;
}

long Generic_Bprobe(long msgtype)
{
    struct earl_wanted wanted;
    const int code = earl_generic_want(&wanted, msgtype);
    return code != EARL_OK ? code : probe(&wanted, 1);
}

long Generic_probe(long msgtype)
{
    struct earl_wanted wanted;
    const int code = earl_generic_want(&wanted, msgtype);
    return code != EARL_OK ? code : probe(&wanted, 0);
}

long Generic_probem(int num, const long *msgtype)
{
    struct generic_choice choice;
    const int code = earl_generic_choose(&choice, msgtype, num);
    return code != EARL_OK ? code : probe(&choice.wanted, 0);
}

long Generic_getpnd_Length(long msgtype)
{
    const long type = Generic_Bprobe(msgtype);
    return type < 0 ? type : Generic_getmcount();
}

static int need_last(void)
{
    const int code = earl_generic_need();
    return code != EARL_OK ? code : earl_generic.has_last ? EARL_OK : EARL_E_NONE;
}

long Generic_getmcount(void)
{
    const int code = need_last();
    if (code != EARL_OK)
        return code;
    return earl_generic.last.length > LONG_MAX ? LONG_MAX : (long)earl_generic.last.length;
}

long Generic_getmtype(void)
{
    const int code = need_last();
    return code != EARL_OK ? code : earl_generic.last.tag;
}

long Generic_getmsource(void)
{
    long node, pid;
    const int code = need_last();
    if (code != EARL_OK)
        return code;
    earl_generic_place(earl_generic.last.source, &node, &pid);
    return node;
}

long Generic_getmpid(void)
{
    long node, pid;
    const int code = need_last();
    if (code != EARL_OK)
        return code;
    earl_generic_place(earl_generic.last.source, &node, &pid);
    return pid;
}

int Generic_recvinfo(int *bytes, int *msgtype, char *component, int *pid, int *instance)
{
    const int code = need_last();
    if (code != EARL_OK)
        return code;
    const char *name;
    int number;
    earl_generic_name_of(earl_generic.last.source, &name, &number);
    if (bytes != NULL)
        *bytes = earl_generic.last.length > INT_MAX ? INT_MAX : (int)earl_generic.last.length;
    if (msgtype != NULL)
        *msgtype = earl_generic.last.tag;
    if (component != NULL)
        strcpy(component, name);
    if (pid != NULL)
        *pid = (int)Generic_getmpid();
    if (instance != NULL)
        *instance = number;
    return EARL_OK;
}

/* Only messages for this process are within reach. */
void Generic_flushmsg(long typesel, long node, long pid)
{
    struct earl_wanted wanted;
    int code = earl_generic_want(&wanted, typesel);
    earl_generic_must("Generic_flushmsg", code);
    if (node < -1 || pid < -1)
        earl_generic_must("Generic_flushmsg", EARL_E_ARG);
    if ((node != -1 && node != Generic_mynode()) || (pid != -1 && pid != Generic_mypid()))
        return;
    struct earl_envelope envelope;
    earl_request claim;
    while ((claim = earl_claim(&wanted, 0, &envelope)) > 0) {
        code = earl_claimed(claim, NULL, 0);
        earl_generic_must("Generic_flushmsg", code == EARL_E_ENDED ? EARL_OK : code);
    }
    earl_generic_must("Generic_flushmsg", claim);
}
