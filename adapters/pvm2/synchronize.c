/* SPDX-License-Identifier: MIT */
/* synchronize.c -- barriers and events, by names. */
#include "pvm2_private.h"

PVM2_WEAK int barrier(const char *barrier_name, int num)
{
    const int code = pvm2_need_name(barrier_name);
    return code != PvmOk ? code : pvm2_result(Generic_barrsync(barrier_name, num));
}

PVM2_WEAK int ready(const char *event_name)
{
    const int code = pvm2_need_name(event_name);
    if (code == PvmOk)
        Generic_readysig(event_name);
    return code;
}

PVM2_WEAK int waituntil(const char *event_name)
{
    const int code = pvm2_need_name(event_name);
    if (code == PvmOk)
        Generic_waitsignal(event_name);
    return code;
}
