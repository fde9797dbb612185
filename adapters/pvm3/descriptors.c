/* SPDX-License-Identifier: MIT */
/* descriptors.c -- what a program can poll beside other descriptors. */
#include "pvm_private.h"

static int descriptor = -1; /* -1: nobody has asked for it */

void pvmi_descriptor_arm(void)
{
    if (descriptor >= 0)
        (void)earl_descriptor();
}

static int get(int **fds)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    if (fds == NULL)
        return PvmBadParam;
    const int result = earl_descriptor();
    if (result < 0)
        return pvmi_result(result);
    descriptor = result;
    *fds = &descriptor;
    return 1;
}

int pvm_getfds(int **fds)
{
    return pvmi_told("getfds", get(fds));
}
