/* SPDX-License-Identifier: MIT */
/* send.c -- csend, isend, gsendx: to one node, or to several. */
#include <stdlib.h>

#include "nx_private.h"

static long send_to_others(const struct nxi_letter *letter)
{
    if (nxi_process.is_uniform)
        return nxi_result(earl_sendm(nxi_process.count - 1, nxi_process.others, NXI_CONTEXT, letter->type,
                                     letter->data, letter->length));
    for (int node = 0; node < nxi_process.count; node++) {
        if (!nxi_goes_to(letter, node))
            continue;
        const int process = nxi_process_at(node, letter->ptype);
        const long result = nxi_result(
            process < 0 ? process
                        : earl_send(process, NXI_CONTEXT, letter->type, letter->data, letter->length));
        if (result < 0)
            return result;
    }
    return 0;
}

long nxi_csend(long type, const void *buf, long count, long node, long ptype)
{
    struct nxi_letter letter;
    const long error = nxi_letter(&letter, type, buf, count, node, ptype);
    if (error < 0)
        return error;
    if (letter.node == -1)
        return send_to_others(&letter);
    return nxi_result(earl_send(letter.process, NXI_CONTEXT, letter.type, letter.data, letter.length));
}

long nxi_isend(long type, const void *buf, long count, long node, long ptype)
{
    struct nxi_letter letter;
    struct nxi_request *list = NULL;
    long error = nxi_letter(&letter, type, buf, count, node, ptype);
    if (error == 0)
        error = nxi_post_send(&list, &letter);
    return error < 0 ? error : nxi_id(list);
}

long nxi_gsendx(long type, const void *x, long xlen, const long *nodes, long n)
{
    const int count = nxi_low(n);
    struct nxi_letter letter;
    nxi_need();
    if (count < 0)
        return nxi_bad(EQPARAM, "a list of %d nodes", count);
    if (count > 0 && nodes == NULL)
        return nxi_bad(EQPBUF, "no list of nodes");
    for (int i = 0; i < count; i++) {
        const long error = nxi_letter(&letter, type, x, xlen, nodes[i], nxi_process.ptype);
        if (error < 0)
            return error;
        if (letter.node == -1)
            return nxi_bad(EQNODE, "-1 in a list of nodes");
    }
    if (count == 0)
        return 0;
    int *processes = malloc(sizeof *processes * (size_t)count);
    if (processes == NULL)
        return nxi_bad(EQMEM, "no memory");
    for (int i = 0; i < count; i++)
        processes[i] = nxi_process_at(nxi_low(nodes[i]), letter.ptype);
    const long result =
        nxi_result(earl_sendm(count, processes, NXI_CONTEXT, letter.type, letter.data, letter.length));
    free(processes);
    return result;
}

NX_VOID_FORMS(csend, (long type, const void *buf, long count, long node, long ptype),
              (type, buf, count, node, ptype))
NX_FORMS(isend, (long type, const void *buf, long count, long node, long ptype),
         (type, buf, count, node, ptype))
NX_VOID_FORMS(gsendx, (long type, const void *x, long xlen, const long *nodes, long n),
              (type, x, xlen, nodes, n))
