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
    if (nxi_process.has_cube)
        return nxi_bad(EQNODE, "there is no node %d: they are 0 to %d, and %d is the host", node,
                       nxi_process.count - 1, nxi_process.count);
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

static bool is_node(int node)
{
    return node >= -1 && node < nxi_process.count + nxi_process.has_cube;
}

/* To where, in a cube: what is yet to be loaded there is waited for. */
static long cube_letter(struct nxi_letter *letter)
{
    if (letter->ptype < 0)
        return nxi_bad(EQPID, "%d is no process type: they are 0 or more", letter->ptype);
    if (letter->node == -1)
        return 0;
    letter->process = nxi_process_at(letter->node, letter->ptype);
    if (letter->process == EARL_E_PROCESS)
        return nxi_bad(EQPID, "no process of type %d is known on node %d, where a handler sends to it",
                       letter->ptype, letter->node);
    return letter->process < 0 ? nxi_result(letter->process) : 0;
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
    if (!is_node(letter->node))
        return no_node(letter->node);
    if (nxi_process.has_cube)
        return cube_letter(letter);
    letter->process = letter->node;
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
    return node != nxi_process.self && (nxi_process.has_cube || nxi_process.ptypes[node] == letter->ptype);
}

static int is_chosen(const struct earl_envelope *envelope, void *argument)
{
    const struct nxi_choice *choice = argument;
    if (choice->types != 0 && (envelope->tag > 30 || (choice->types >> envelope->tag & 1) == 0))
        return 0;
    return nxi_is_at(envelope->source, choice->node, choice->ptype);
}

/* The processes of a node, of a type, or both are told apart by their places. A node that has one process alone is that one. */
static long cube_choice(struct nxi_choice *choice, int node)
{
    int pid = choice->ptype;
    if (nxi_in_handler || (node == -1 && pid == -1))
        choice->node = node;
    else if (node >= 0 && (pid >= 0 || node == nxi_process.count || earl_cube_pids(&pid) == 1)) {
        choice->wanted.source = nxi_process_at(node, pid);
        choice->ptype = -1;
        return choice->wanted.source < 0 ? nxi_result(choice->wanted.source) : 0;
    } else {
        choice->node = node;
        (void)earl_cube_pids(NULL); /* reads what was loaded until now */
    }
    return 0;
}

long nxi_choice(struct nxi_choice *choice, long typesel, long nodesel, long ptypesel)
{
    nxi_need();
    const int types = nxi_low(typesel), node = nxi_low(nodesel);
    *choice = (struct nxi_choice){.node = -1, .ptype = nxi_low(ptypesel)};
    if (!is_node(node))
        return no_node(node);
    if (choice->ptype < -1)
        return nxi_bad(EQPID, "%d is no process type: they are 0 or more, or -1", choice->ptype);
    if (types < -1) { /* bit 31 */
        choice->types = (uint32_t)types & 0x7fffffff;
        if (choice->types == 0)
            return nxi_bad(EQTYPE, "a selector that selects no type");
    }
    choice->wanted = (struct earl_wanted){.context = NXI_CONTEXT,
                                          .source = node == -1 || nxi_process.has_cube ? EARL_ANY : node,
                                          .tag = types < 0 ? EARL_ANY : types};
    if (nxi_process.has_cube) {
        const long error = cube_choice(choice, node);
        if (error < 0)
            return error;
    }
    if (nxi_process.is_uniform && choice->ptype == nxi_process.ptype)
        choice->ptype = -1;
    if (choice->types != 0 || choice->ptype != -1 || choice->node != -1) {
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
