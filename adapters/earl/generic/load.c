/* SPDX-License-Identifier: MIT */
/* load.c -- Generic_load, Generic_loadm, Generic_termproc, Generic_termgroup. */
#include <signal.h>
#include <string.h>

#include "generic.h"

/* The last part of a path: what is started is a component of that name. */
static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash == NULL ? file : slash + 1;
}

static int load(const char *file, const char *host)
{
    int process;
    if (earl_generic.is_team)
        return EARL_E_STATE;
    if (file == NULL || name_of(file)[0] == '\0' || strlen(name_of(file)) >= EARL_COMPONENT)
        return EARL_E_ARG;
    const struct earl_exec_start start = {.file = file, .count = 1, .host = host, .group = name_of(file)};
    const int started = earl_exec_start(&start, &process);
    if (started != 1)
        return started < 0 ? started : process;
    return earl_generic_instance(name_of(file), process);
}

int Generic_load(const char *file, const char *arch, long node, long pid)
{
    (void)arch;
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (node == -1 && pid == -1)
        return load(file, NULL);
    if (!generic_is_int(node) || !generic_is_int(pid))
        return EARL_E_ARG;
    const int loaded = earl_cube_load(file, NULL, (int)node, (int)pid);
    return loaded < 0 ? loaded : (int)pid;
}

int Generic_loadm(const char *file, const char *machine, long node, long pid)
{
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    return node == -1 && pid == -1 && generic_has_name(machine) ? load(file, machine) : EARL_E_ARG;
}

/* Its end is told behind all that it has sent. */
static void drop_messages(int process)
{
    const struct earl_wanted end = {GENERIC_ENDS, process, EARL_ANY, NULL, NULL};
    const struct earl_wanted all = {GENERIC_MESSAGES, process, EARL_ANY, NULL, NULL};
    struct earl_envelope envelope;
    if (earl_watch(process, GENERIC_ENDS, 0) != EARL_OK || earl_receive(&end, NULL, 0, NULL) < 0)
        return;
    earl_request claim;
    while ((claim = earl_claim(&all, 0, &envelope)) > 0)
        (void)earl_claimed(claim, NULL, 0);
}

static int terminate(const char *component, long instance, long node, long pid, bool drops)
{
    struct generic_to to;
    int code = earl_generic_need();
    if (code == EARL_OK && earl_generic.is_team)
        code = EARL_E_STATE;
    if (code != EARL_OK)
        return code;
    code = earl_generic_find(&to, component, instance, node, pid, true);
    int killed = 0;
    for (int i = 0; code == EARL_OK && i < to.count; i++) {
        const int process = generic_list(&to)[i];
        const int sent = process == 0 ? EARL_E_PROCESS : earl_exec_signal(process, SIGKILL);
        killed += sent == EARL_OK;
        if (sent != EARL_OK && sent != EARL_E_ENDED)
            code = sent;
        else if (drops)
            drop_messages(process);
    }
    if (code == EARL_OK && to.list == NULL && killed == 0)
        code = EARL_E_ENDED;
    earl_generic_to_free(&to);
    return code == EARL_OK ? killed : code;
}

int Generic_termproc(const char *component, long instance, long node, long pid)
{
    return terminate(component, instance, node, pid, false);
}

int Generic_termgroup(const char *component, long instance, long node, long pid)
{
    return terminate(component, instance, node, pid, true);
}
