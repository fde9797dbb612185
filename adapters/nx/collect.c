/* SPDX-License-Identifier: MIT */
/* collect.c -- gcol and gcolx: what all nodes have, one behind the other. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "nx_private.h"

/* Lengths of all nodes, to be freed; NULL without memory. */
static size_t *new_lengths(void)
{
    return malloc(sizeof(size_t) * (size_t)nxi_process.count);
}

/* What each node gives, at lengths_out. Returns the sum, or -code. */
static long long exchange_lengths(const struct earl_group *group, int mine, size_t *lengths_out)
{
    const uint32_t told = htonl((uint32_t)mine);
    uint32_t *all = malloc(sizeof *all * (size_t)nxi_process.count);
    if (all == NULL)
        return nxi_bad(EQMEM, "no memory");
    for (int node = 0; node < nxi_process.count; node++)
        lengths_out[node] = sizeof told;
    const long error = nxi_global_result(earl_collect(group, &told, lengths_out, all));
    long long sum = 0;
    for (int node = 0; error == 0 && node < nxi_process.count; node++) {
        lengths_out[node] = ntohl(all[node]);
        sum += (long long)lengths_out[node];
    }
    free(all);
    return error < 0 ? error : sum;
}

/* Where y is too small, the others still need what this node has. */
static long collect_aside(const struct earl_group *group, const void *x, const size_t *lengths, long long sum,
                          int ylen)
{
    void *aside = malloc((size_t)sum);
    if (aside == NULL)
        return nxi_bad(EQMEM, "no memory");
    const long error = nxi_global_result(earl_collect(group, x, lengths, aside));
    free(aside);
    return error < 0 ? error : nxi_bad(EQBLEN, "all nodes give %lld bytes, and the buffer has %d", sum, ylen);
}

static long collect(const void *x, int xlen, void *y, int ylen, long *ncnt, size_t *lengths)
{
    const struct earl_group *group;
    const long error = nxi_group(&group);
    const long long sum = error < 0 ? error : exchange_lengths(group, xlen, lengths);
    if (sum < 0)
        return (long)sum;
    if (sum > ylen)
        return collect_aside(group, x, lengths, sum, ylen);
    *ncnt = (long)sum;
    return nxi_global_result(earl_collect(group, x, lengths, y));
}

long nxi_gcol(const void *x, long xlen, void *y, long ylen, long *ncnt)
{
    const int own = nxi_low(xlen), room = nxi_low(ylen);
    nxi_need();
    if (own < 0 || room < 0)
        return nxi_bad(EQLEN, "a length of %d bytes", own < 0 ? own : room);
    if ((own > 0 && x == NULL) || (room > 0 && y == NULL) || ncnt == NULL)
        return nxi_bad(EQPBUF, "no buffer, or no place for the sum");
    size_t *lengths = new_lengths();
    if (lengths == NULL)
        return nxi_bad(EQMEM, "no memory");
    const long result = collect(x, own, y, room, ncnt, lengths);
    free(lengths);
    return result;
}

long nxi_gcolx(const void *x, const long *xlens, void *y)
{
    const struct earl_group *group;
    const long error = nxi_group(&group);
    if (error < 0)
        return error;
    if (xlens == NULL)
        return nxi_bad(EQPBUF, "no lengths");
    for (int node = 0; node < nxi_process.count; node++)
        if (nxi_low(xlens[node]) < 0)
            return nxi_bad(EQLEN, "a length of %d bytes for node %d", nxi_low(xlens[node]), node);
    size_t *lengths = new_lengths();
    if (lengths == NULL)
        return nxi_bad(EQMEM, "no memory");
    size_t sum = 0;
    for (int node = 0; node < nxi_process.count; node++)
        sum += lengths[node] = (size_t)nxi_low(xlens[node]);
    long result;
    if ((lengths[nxi_process.self] > 0 && x == NULL) || (sum > 0 && y == NULL))
        result = nxi_bad(EQPBUF, "no buffer");
    else
        result = nxi_global_result(earl_collect(group, x, lengths, y));
    free(lengths);
    return result;
}

NX_VOID_FORMS(gcol, (const void *x, long xlen, void *y, long ylen, long *ncnt), (x, xlen, y, ylen, ncnt))
NX_VOID_FORMS(gcolx, (const void *x, const long *xlens, void *y), (x, xlens, y))
