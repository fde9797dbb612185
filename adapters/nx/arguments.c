/* SPDX-License-Identifier: MIT */
/* arguments.c -- types, selectors, nodes, process types and buffers, as a program gives them, in Earl's terms. */
#include "nx_private.h"

static long check_bytes(const void *data, int length)
{
    if (length < 0)
        return nxi_bad(EQLEN, "a length of %d bytes", length);
    if (length > 0 && data == NULL)
        return nxi_bad(EQPBUF, "no buffer for %d bytes", length);
    return 0;
}

static long no_node(int node)
{
    if (nxi_process.count == 1)
        return nxi_bad(EQNODE, "there is no node %d: the only one is 0", node);
    return nxi_bad(EQNODE, "there is no node %d: they are 0 to %d", node, nxi_process.count - 1);
}

static bool has_node_of(int ptype)
{
    for (int node = 0; node < nxi_process.count; node++)
        if (nxi_process.ptypes[node] == ptype)
            return true;
    return false;
}

long nxi_letter(struct nxi_letter *letter, long type, const void *data, long length, long node, long ptype)
{
    nxi_need();
    *letter = (struct nxi_letter){
        .type = nxi_low(type), .node = nxi_low(node), .ptype = nxi_low(ptype), .data = data};
    const int bytes = nxi_low(length);
    if (letter->type < 0)
        return nxi_bad(EQTYPE, "%d is no type of a message: they are 0 or more", letter->type);
    const long error = check_bytes(data, bytes);
    if (error < 0)
        return error;
    letter->length = (size_t)bytes;
    if (letter->node < -1 || letter->node >= nxi_process.count)
        return no_node(letter->node);
    if (nxi_process.is_uniform && letter->ptype == nxi_process.ptype)
        return 0;
    if (letter->node == -1 && !has_node_of(letter->ptype))
        return nxi_bad(EQPID, "no process has type %d", letter->ptype);
    if (letter->node >= 0 && nxi_process.ptypes[letter->node] != letter->ptype)
        return nxi_bad(EQPID, "the process on node %d has type %d, not %d", letter->node,
                       nxi_process.ptypes[letter->node], letter->ptype);
    return 0;
}

bool nxi_goes_to(const struct nxi_letter *letter, int node)
{
    if (letter->node >= 0)
        return letter->node == node;
    return node != nxi_process.self && nxi_process.ptypes[node] == letter->ptype;
}

static int is_chosen(const struct earl_envelope *envelope, void *argument)
{
    const struct nxi_choice *choice = argument;
    if (choice->types != 0 && (envelope->tag > 30 || (choice->types >> envelope->tag & 1) == 0))
        return 0;
    return choice->ptype == -1 || nxi_process.ptypes[envelope->source] == choice->ptype;
}

long nxi_choice(struct nxi_choice *choice, long typesel, long nodesel, long ptypesel)
{
    nxi_need();
    const int types = nxi_low(typesel), node = nxi_low(nodesel);
    *choice = (struct nxi_choice){.ptype = nxi_low(ptypesel)};
    if (node < -1 || node >= nxi_process.count)
        return no_node(node);
    if (choice->ptype < -1)
        return nxi_bad(EQPID, "%d is no process type: they are 0 or more, or -1", choice->ptype);
    if (types < -1) { /* bit 31 */
        choice->types = (uint32_t)types & 0x7fffffff;
        if (choice->types == 0)
            return nxi_bad(EQTYPE, "a selector that selects no type");
    }
    choice->wanted = (struct earl_wanted){
        .context = NXI_CONTEXT, .source = node == -1 ? EARL_ANY : node, .tag = types < 0 ? EARL_ANY : types};
    if (nxi_process.is_uniform && choice->ptype == nxi_process.ptype)
        choice->ptype = -1;
    if (choice->types != 0 || choice->ptype != -1) {
        choice->wanted.accepts = is_chosen;
        choice->wanted.argument = choice;
    }
    return 0;
}

long nxi_place(struct nxi_choice *choice, size_t *room_out, long typesel, const void *buf, long count,
               long nodesel, long ptypesel)
{
    const int bytes = nxi_low(count);
    long error = nxi_choice(choice, typesel, nodesel, ptypesel);
    if (error == 0)
        error = check_bytes(buf, bytes);
    if (error == 0)
        *room_out = (size_t)bytes;
    return error;
}
