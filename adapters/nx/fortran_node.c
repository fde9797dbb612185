/* SPDX-License-Identifier: MIT */
/* fortran_node.c -- as fortran.c: the routines that all nodes call together, and those that are of the node itself. */
#include <stdlib.h>

#include "global.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef const int integer;

/* Elements of gi and gl are INTEGER and LOGICAL, of 32 bits. */
NXI_COMBINERS(d, double, NXI_COMBINER)
NXI_COMBINERS(i, int, NXI_COMBINER)
NXI_COMBINERS(s, float, NXI_COMBINER)
NXI_BIT_COMBINERS(int, NXI_COMBINER)

#define FORTRAN(name, element, result)                                        \
    NX_WEAK void name##_(element *x, integer *n, const element *work)         \
    {                                                                         \
        (void)work;                                                           \
        (void)nxi_must(#name, nxi_combine(x, *n, sizeof *x, name##_combine)); \
    }

NXI_COMBINERS(d, double, FORTRAN)
NXI_COMBINERS(i, int, FORTRAN)
NXI_COMBINERS(s, float, FORTRAN)
NXI_BIT_COMBINERS(int, FORTRAN)

NX_WEAK void gsync_(void)
{
    (void)nxi_must("gsync", nxi_gsync());
}

NX_WEAK void gcol_(const void *x, integer *xlen, void *y, integer *ylen, int *ncnt)
{
    long sum = 0;
    (void)nxi_must("gcol", nxi_gcol(x, *xlen, y, *ylen, &sum));
    *ncnt = (int)sum;
}

/* An array of INTEGER, one for each node or `count`, as long; to be freed. */
static long *as_long(const char *routine, integer *numbers, int count)
{
    long *all = malloc(sizeof *all * (size_t)(count > 0 ? count : 1));
    if (all == NULL)
        earl_fail(routine, "no memory");
    for (int i = 0; i < count; i++)
        all[i] = numbers[i];
    return all;
}

NX_WEAK void gcolx_(const void *x, integer *xlens, void *y)
{
    nxi_need();
    long *lengths = as_long("gcolx", xlens, nxi_process.count);
    (void)nxi_must("gcolx", nxi_gcolx(x, lengths, y));
    free(lengths);
}

NX_WEAK void gsendx_(integer *type, const void *x, integer *xlen, integer *nodes, integer *n)
{
    long *all = as_long("gsendx", nodes, *n);
    (void)nxi_must("gsendx", nxi_gsendx(*type, x, *xlen, all, *n));
    free(all);
}

/* A Fortran function gets the two arrays as a C function does. */
NX_WEAK void gopf_(void *x, integer *xlen, void *work, nx_operation *function)
{
    (void)nxi_must("gopf", nxi_gopf(x, *xlen, work, function));
}

NX_WEAK int mynode_(void)
{
    nxi_need();
    return nxi_process.self;
}

NX_WEAK int numnodes_(void)
{
    nxi_need();
    return nxi_process.count;
}

NX_WEAK int nodedim_(void)
{
    return (int)nxi_nodedim();
}

NX_WEAK int myhost_(void)
{
    nxi_need();
    return nxi_process.count;
}

NX_WEAK int mypid_(void)
{
    nxi_need();
    return nxi_process.ptype;
}

NX_WEAK int myptype_(void)
{
    nxi_need();
    return nxi_process.ptype;
}

NX_WEAK void setptype_(integer *ptype)
{
    (void)nxi_must("setptype", nxi_setptype(*ptype));
}

NX_WEAK int gray_(integer *number)
{
    return (int)nxi_gray(*number);
}

NX_WEAK int ginv_(integer *code)
{
    return (int)nxi_ginv(*code);
}

NX_WEAK int mclock_(void)
{
    return (int)(uint32_t)(nxi_ticks() / (HWHZ / 1000));
}

NX_WEAK double dclock_(void)
{
    return nxi_seconds();
}

NX_WEAK void hwclock_(int *hwtime)
{
    const uint64_t ticks = nxi_ticks();
    hwtime[0] = (int)(uint32_t)ticks;
    hwtime[1] = (int)(uint32_t)(ticks >> 32);
}

NX_WEAK void flick_(void)
{
    nxi_flick();
}

NX_WEAK void led_(integer *state)
{
    nxi_led(*state);
}
