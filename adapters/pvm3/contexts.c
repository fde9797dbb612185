/* SPDX-License-Identifier: MIT */
/* contexts.c -- contexts that no two tasks make: each has some of its own, its process's number in the high bits. */
#include <stdlib.h>

#include "pvm_private.h"

enum { OWN_SHIFT = 12, OWN_MOST = (1 << OWN_SHIFT) - 1 };

static int base[1] = {PvmBaseContext};
int pvmi_context_count = 1;
int *pvmi_contexts = base;

static unsigned char is_used[OWN_MOST + 1];

/* A context that this task has now; whether there was memory for that. */
static bool add(int context)
{
    for (int i = 0; i < pvmi_context_count; i++)
        if (pvmi_contexts[i] == context)
            return true;
    int *grown = malloc(((size_t)pvmi_context_count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    for (int i = 0; i < pvmi_context_count; i++)
        grown[i] = pvmi_contexts[i];
    grown[pvmi_context_count++] = context;
    if (pvmi_contexts != base)
        free(pvmi_contexts);
    pvmi_contexts = grown;
    return true;
}

static void take_away(int context)
{
    int kept = 0;
    for (int i = 0; i < pvmi_context_count; i++)
        if (pvmi_contexts[i] != context)
            pvmi_contexts[kept++] = pvmi_contexts[i];
    pvmi_context_count = kept;
}

static int make(void)
{
    int own = 1;
    const int code = pvmi_need();
    if (code < 0)
        return code;
    while (own <= OWN_MOST && is_used[own])
        own++;
    if (own > OWN_MOST || pvmi_process.self >= PVMI_CONTEXT_MOST >> OWN_SHIFT)
        return PvmOutOfRes;
    const int context = pvmi_process.self << OWN_SHIFT | own;
    if (!add(context))
        return PvmNoMem;
    is_used[own] = 1;
    return context;
}

int pvm_newcontext(void)
{
    return pvmi_told("newcontext", make());
}

static int give_back(int context)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    const int own = context & OWN_MOST;
    if (context < 0 || context >> OWN_SHIFT != pvmi_process.self || !is_used[own])
        return PvmNotFound;
    is_used[own] = 0;
    if (context != pvmi_process.context)
        take_away(context);
    return PvmOk;
}

int pvm_freecontext(int ctx)
{
    return pvmi_told("freecontext", give_back(ctx));
}

static int set(int context)
{
    const int code = pvmi_need(), former = pvmi_process.context;
    if (code < 0)
        return code;
    if (context < 0 || context > PVMI_CONTEXT_MOST)
        return PvmBadParam;
    if (!add(context))
        return PvmNoMem;
    pvmi_process.context = context;
    return former;
}

int pvm_setcontext(int ctx)
{
    return pvmi_told("setcontext", set(ctx));
}

int pvm_getcontext(void)
{
    return pvmi_process.context;
}
