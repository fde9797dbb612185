/* SPDX-License-Identifier: MIT */
/* addresses.c -- which processes are meant by component and instance, or by node and process ID.
 *
 * EXEC knows who is in a component. What it has said is kept, and asked for again only if an instance is not there, or its process has ended:
 * else each message would cost a question. A process that takes the place of one that has left, and lives on, is known once it has sent
 * a message, as each says who it is. */
#include <stdlib.h>
#include <string.h>

#include "generic.h"

/* What EXEC has said of a component. */
struct component {
    struct component *next;
    int count, room;
    int *members; /* by their instances; EARL_ANY: none */
    char name[];
};

static struct component *components;

static struct component *component_of(const char *name)
{
    struct component *found = components;
    while (found != NULL && strcmp(found->name, name) != 0)
        found = found->next;
    if (found != NULL)
        return found;
    found = malloc(sizeof *found + strlen(name) + 1);
    if (found == NULL)
        return NULL;
    *found = (struct component){.next = components};
    strcpy(found->name, name);
    return components = found;
}

static int ask(struct component *component)
{
    for (;;) {
        const int count = earl_exec_members(component->name, component->members, component->room);
        component->count = count < 0 || count > component->room ? 0 : count;
        if (count <= component->room)
            return count < 0 ? count : EARL_OK;
        int *members = realloc(component->members, (size_t)count * sizeof *members);
        if (members == NULL)
            return EARL_E_MEMORY;
        component->members = members;
        component->room = count;
    }
}

static int member_of(const struct component *component, long instance)
{
    return instance < component->count ? component->members[instance] : EARL_ANY;
}

void earl_generic_to_free(struct generic_to *to)
{
    free(to->list);
    to->list = NULL;
}

/* Of `count` numbers, those that are a process and not this one. */
static int keep_others(struct generic_to *to, const int *processes, int count)
{
    to->list = malloc(((size_t)count + 1) * sizeof *to->list);
    if (to->list == NULL)
        return EARL_E_MEMORY;
    for (int i = 0; i < count; i++)
        if (processes[i] != EARL_ANY && processes[i] != earl_generic.self)
            to->list[to->count++] = processes[i];
    return EARL_OK;
}

static int find_component(struct generic_to *to, const char *name, long instance, bool anew)
{
    if (earl_generic.is_team)
        return EARL_E_STATE;
    if (strlen(name) >= EARL_COMPONENT || instance < -1 || !generic_is_int(instance))
        return EARL_E_ARG;
    struct component *component = component_of(name);
    if (component == NULL)
        return EARL_E_MEMORY;
    int code = EARL_OK;
    if (anew || instance < 0 || member_of(component, instance) == EARL_ANY)
        code = ask(component);
    if (code != EARL_OK)
        return code;
    if (instance < 0)
        return component->count == 0 ? EARL_E_NONE : keep_others(to, component->members, component->count);
    to->one = member_of(component, instance);
    to->count = 1;
    return to->one == EARL_ANY ? EARL_E_NONE : EARL_OK;
}

/* All but this one. */
static int find_all(struct generic_to *to)
{
    const int most = earl_generic.is_team ? earl_generic.count : earl_exec_list(NULL, 0);
    if (most < 0)
        return most;
    int *all = malloc(((size_t)most + 1) * sizeof *all);
    struct earl_exec_process *list = earl_generic.is_team ? NULL : malloc(((size_t)most + 1) * sizeof *list);
    int code = all == NULL || (list == NULL && !earl_generic.is_team) ? EARL_E_MEMORY : EARL_OK;
    int count = most;
    if (code == EARL_OK && !earl_generic.is_team) {
        count = earl_exec_list(list, most);
        code = count < 0 ? count : EARL_OK;
        count = count > most ? most : count;
    }
    for (int i = 0; i < count && code == EARL_OK; i++)
        all[i] = earl_generic.is_team ? i : list[i].process;
    if (code == EARL_OK)
        code = keep_others(to, all, count);
    free(all);
    free(list);
    return code;
}

int earl_generic_cube(struct earl_cube *cube)
{
    const int code = earl_cube_own(cube, NULL, NULL);
    return code == EARL_OK ? 1 : code == EARL_E_NONE || code == EARL_E_PROCESS ? 0 : code;
}

/* Of a cube: one process, with wait once it is loaded; or all that are. */
static int find_in_cube(struct generic_to *to, const struct earl_cube *cube, int node, int pid, bool wait)
{
    if (node != -1) {
        to->one = node > cube->size ? EARL_E_PROCESS : earl_cube_process(node, pid, wait);
        to->count = 1;
        return to->one < 0 ? to->one : EARL_OK;
    }
    int *all = malloc((size_t)cube->size * sizeof *all);
    if (all == NULL)
        return EARL_E_MEMORY;
    for (int i = 0; i < cube->size; i++) {
        const int process = earl_cube_process(i, pid, 0);
        all[i] = process < 0 ? EARL_ANY : process;
    }
    const int code = keep_others(to, all, cube->size);
    free(all);
    return code;
}

static int find_node(struct generic_to *to, long node, long pid, bool wait)
{
    struct earl_cube cube;
    if (node < -1 || !generic_is_int(node) || pid < -1 || !generic_is_int(pid))
        return EARL_E_ARG;
    const int has_cube = earl_generic.is_team ? 0 : earl_generic_cube(&cube);
    if (has_cube != 0)
        return has_cube < 0 ? has_cube : find_in_cube(to, &cube, (int)node, (int)pid, wait);
    if (pid > 0 || (earl_generic.is_team && node >= earl_generic.count) ||
        (!earl_generic.is_team && node == 0))
        return EARL_E_PROCESS;
    if (node == -1)
        return find_all(to);
    to->one = (int)node;
    to->count = 1;
    return EARL_OK;
}

int earl_generic_find(struct generic_to *to, const char *component, long inst, long node, long pid, bool anew)
{
    *to = (struct generic_to){0};
    return generic_has_name(component) ? find_component(to, component, inst, anew)
                                       : find_node(to, node, pid, !anew);
}

int earl_generic_instance(const char *component, int process)
{
    struct component *found = component_of(component);
    const int code = found == NULL ? EARL_E_MEMORY : ask(found);
    for (int i = 0; code == EARL_OK && i < found->count; i++)
        if (found->members[i] == process)
            return i;
    return code == EARL_OK ? EARL_E_NONE : code;
}

void earl_generic_learn(const char *component, int instance, int process)
{
    struct component *found = component_of(component);
    if (found != NULL && instance >= 0 && instance < found->count)
        found->members[instance] = process;
}

void earl_generic_place(int process, long *node, long *pid)
{
    int at[2];
    const int code = earl_generic.is_team ? EARL_E_NONE : earl_cube_place(process, 1, &at[0], &at[1]);
    *node = code == EARL_OK ? at[0] : code == EARL_E_NONE ? process : -1;
    *pid = code == EARL_OK ? at[1] : code == EARL_E_NONE ? 0 : -1;
}
