/* SPDX-License-Identifier: MIT */
/* global.c -- gsync, gopf, and the operations that combine numbers of all nodes, in the order of the nodes. */
#include <string.h>

#include "global.h"

long nxi_combine(void *x, long n, size_t size, nxi_combiner *combine)
{
    int count = nxi_low(n);
    nxi_need();
    if (count < 0)
        return nxi_bad(EQLEN, "%d elements", count);
    if (count > 0 && x == NULL)
        return nxi_bad(EQPBUF, "no elements");
    const struct earl_group *group;
    const long error = nxi_group(&group);
    return error < 0 ? error
                     : nxi_global_result(earl_reduce(group, x, (size_t)count * size, combine, &count));
}

#define FORM(name, element, result)                                     \
    NXI_COMBINER(name, element, result)                                 \
    static long nxi_##name(element *x, long n)                          \
    {                                                                   \
        return nxi_combine(x, n, sizeof *x, name##_combine);            \
    }                                                                   \
    /* NOLINTNEXTLINE(readability-non-const-parameter): as NX has it */ \
    NX_VOID_FORMS(name, (element * x, long n, element *work), (x, ((void)work, n)))

NXI_COMBINERS(d, double, FORM)
NXI_COMBINERS(i, long, FORM)
NXI_COMBINERS(s, float, FORM)
NXI_BIT_COMBINERS(long, FORM)

long nxi_gsync(void)
{
    const struct earl_group *group;
    const long error = nxi_group(&group);
    return error < 0 ? error : nxi_result(earl_barrier(group));
}

/* Of gopf: the program's function finds what it combines in the two places that it knows. */
struct gopf {
    void *work;
    size_t length;
    long (*function)(void *x, void *work);
};

static void call_function(void *into, const void *from, void *argument)
{
    const struct gopf *gopf = argument;
    memcpy(gopf->work, from, gopf->length);
    (void)gopf->function(into, gopf->work);
}

long nxi_gopf(void *x, long xlen, void *work, nx_operation *function)
{
    const int length = nxi_low(xlen);
    struct gopf gopf = {
        .work = work, .length = (size_t)length, .function = (long (*)(void *, void *))function};
    nxi_need();
    if (length < 0)
        return nxi_bad(EQLEN, "a length of %d bytes", length);
    if (length > 0 && (x == NULL || work == NULL))
        return nxi_bad(EQPBUF, "no buffers for %d bytes", length);
    if (function == NULL)
        return nxi_bad(EQHND, "no function");
    const struct earl_group *group;
    const long error = nxi_group(&group);
    return error < 0 ? error : nxi_global_result(earl_reduce(group, x, gopf.length, call_function, &gopf));
}

NX_VOID_FORMS(gsync, (void), ())
NX_VOID_FORMS(gopf, (void *x, long xlen, void *work, nx_operation *function), (x, xlen, work, function))
