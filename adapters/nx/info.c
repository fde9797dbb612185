/* SPDX-License-Identifier: MIT */
/* info.c -- what is known of the message that was received or found last. */
#include "nx_private.h"

long nxi_info[8] = {-1, -1, -1, -1};

/* A name of its own inside: a program may have a msginfo that is something else. */
extern long msginfo[8] __attribute__((weak, alias("nxi_info")));

void nxi_tell(long *info, const struct earl_envelope *envelope)
{
    info[0] = envelope->tag;
    info[1] = (long)envelope->length;
    int node, ptype;
    nxi_place_of(envelope->source, &node, &ptype);
    info[2] = node;
    info[3] = ptype;
}

NX_WEAK long infotype(void)
{
    return nxi_info[0];
}

NX_WEAK long infocount(void)
{
    return nxi_info[1];
}

NX_WEAK long infonode(void)
{
    return nxi_info[2];
}

NX_WEAK long infoptype(void)
{
    return nxi_info[3];
}

NX_WEAK long infopid(void)
{
    return nxi_info[3];
}
