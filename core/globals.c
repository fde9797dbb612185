/* SPDX-License-Identifier: MIT */
/* globals.c -- where bcr_cce, bcr_enlistor, bcr_cceord, bcr_archtype and bcr_errno lie.
 *
 * They are lvalues, as the guide's globals were. Before bcr_init, and in a fork of a CCE, the first
 * four are zeros of the calling thread, which may be read and stored to without harm. */
#include <bcr.h>

#include "bcri/cces.h"
#include "bcri/self.h"

static int *global(unsigned which)
{
    static _Thread_local int nobody[4];
    struct bcri_ctx *ctx = bcri_self();
    return ctx != NULL ? &ctx->ids->globals[which] : &nobody[which];
}

bcr_cce_id *bcr_cce_location(void)
{
    return global(0);
}

bcr_cce_id *bcr_enlistor_location(void)
{
    return global(1);
}

int *bcr_cceord_location(void)
{
    return global(2);
}

int *bcr_archtype_location(void)
{
    return global(3);
}

int *bcr_errno_location(void)
{
    return &bcri_self_errno;
}
