/* SPDX-License-Identifier: MIT */
/* process.c -- which node this process is, and of which process type all are. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "nx_private.h"

struct nxi_process nxi_process;

/* Process types are told when the program begins: each node knows all of them from then on. */
static void exchange_ptypes(void)
{
    const int count = nxi_process.count;
    const uint32_t mine = htonl((uint32_t)nxi_process.ptype);
    int *ptypes = malloc(sizeof *ptypes * (size_t)count);
    int *others = malloc(sizeof *others * (size_t)count);
    uint32_t *told = malloc(sizeof *told * (size_t)count);
    size_t *lengths = malloc(sizeof *lengths * (size_t)count);
    if (ptypes == NULL || others == NULL || told == NULL || lengths == NULL)
        earl_fail("nx", "no memory for the process types of %d nodes", count);
    for (int node = 0; node < count; node++)
        lengths[node] = sizeof mine;
    const long result = nxi_result(earl_collect(NULL, &mine, lengths, told));
    if (result < 0)
        nxi_must("nx", result);
    nxi_process.is_uniform = true;
    for (int node = 0, at = 0; node < count; node++) {
        ptypes[node] = (int)ntohl(told[node]);
        nxi_process.is_uniform = nxi_process.is_uniform && ptypes[node] == nxi_process.ptype;
        if (node != nxi_process.self)
            others[at++] = node;
    }
    free(told);
    free(lengths);
    nxi_process.ptypes = ptypes;
    nxi_process.others = others;
}

void nxi_begin(void)
{
    (void)nxi_ticks(); /* the clocks begin here, too */
    if (nxi_host_begin != NULL && getenv("EARL_CUBE") == NULL) {
        nxi_host_begin();
        return;
    }
    const int result = earl_begin("nx");
    if (result < 0)
        earl_fail("nx", "%s", result == EARL_E_SYSTEM ? earl_sentence() : earl_strerror(result));
    if (earl_processes() == 0) {
        nxi_take_cube();
        return;
    }
    (void)earl_words("type", "node");
    nxi_process.self = earl_process();
    nxi_process.count = earl_processes();
    exchange_ptypes();
    nxi_process.has_begun = true;
}

void nxi_take_cube(void)
{
    struct earl_cube cube;
    const int code = earl_cube_own(&cube, &nxi_process.self, &nxi_process.ptype);
    if (code < 0)
        earl_fail("nx", "no cube: %s", code == EARL_E_SYSTEM ? earl_sentence() : earl_strerror(code));
    (void)earl_words("type", "process");
    nxi_process.count = cube.size;
    nxi_process.has_cube = true;
    nxi_process.cubes++;
    nxi_process.is_uniform = false;
    nxi_process.has_begun = true;
}

long nxi_nodedim(void)
{
    nxi_need();
    long exponent = 0;
    while (2L << exponent <= nxi_process.count)
        exponent++;
    return exponent;
}

NX_WEAK long mynode(void)
{
    nxi_need();
    return nxi_process.self;
}

NX_WEAK long numnodes(void)
{
    nxi_need();
    return nxi_process.count;
}

NX_WEAK long nodedim(void)
{
    return nxi_nodedim();
}

NX_WEAK long myhost(void)
{
    nxi_need();
    return nxi_process.count;
}

NX_WEAK long myptype(void)
{
    nxi_need();
    return nxi_process.ptype;
}

NX_WEAK long mypid(void)
{
    nxi_need();
    return nxi_process.ptype;
}

long nxi_setptype(long ptype)
{
    const int wanted = nxi_low(ptype);
    if (wanted < 0)
        return nxi_bad(EQPID, "%d is no process type: they are 0 or more", wanted);
    if (!nxi_process.has_begun) {
        nxi_process.ptype = wanted;
        nxi_begin();
    }
    if (nxi_process.ptype == wanted)
        return 0;
    return nxi_bad(EQSET, "the process type is %d already; the first call of a process sets it",
                   nxi_process.ptype);
}

NX_VOID_FORMS(setptype, (long ptype), (ptype))
