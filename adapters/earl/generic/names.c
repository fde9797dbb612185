/* SPDX-License-Identifier: MIT */
/* names.c -- of which component and instance a process is. Each tells those that it sends to, once, before its first message; so
 * that has come whenever a message of it has. In a team nobody has a name. */
#include <stdlib.h>
#include <string.h>

#include "generic.h"

/* By the numbers of processes. */
struct known {
    bool is_told; /* by this one */
    bool has_told;
    int instance;
    char *component;
};

static struct known *known;
static int known_room;

static struct known *known_of(int process)
{
    if (process < known_room)
        return &known[process];
    const int room = process + 1 > 2 * known_room ? process + 16 : 2 * known_room;
    struct known *grown = realloc(known, (size_t)room * sizeof *grown);
    if (grown == NULL)
        return NULL;
    memset(grown + known_room, 0, (size_t)(room - known_room) * sizeof *grown);
    known = grown;
    known_room = room;
    return &known[process];
}

void earl_generic_names_anew(void)
{
    for (int i = 0; i < known_room; i++)
        known[i].is_told = false;
}

static int send_name(int process)
{
    const int length = (int)strlen(earl_generic.component);
    earl_buffer *buffer = earl_buffer_make(0);
    int code = buffer == NULL ? EARL_E_MEMORY : earl_pack(buffer, EARL_INT, &earl_generic.instance, 1, 1);
    if (code == EARL_OK)
        code = earl_pack(buffer, EARL_INT, &length, 1, 1);
    if (code == EARL_OK)
        code = earl_pack(buffer, EARL_BYTE, earl_generic.component, (size_t)length, 1);
    if (code == EARL_OK)
        code = earl_buffer_send(buffer, 1, &process, GENERIC_NAMES, 0);
    earl_buffer_free(buffer);
    return code;
}

int earl_generic_introduce(int process)
{
    if (earl_generic.is_team)
        return EARL_OK;
    struct known *to = process < 0 ? NULL : known_of(process);
    if (to == NULL)
        return process < 0 ? EARL_E_PROCESS : EARL_E_MEMORY;
    if (to->is_told)
        return EARL_OK;
    const int code = send_name(process);
    to->is_told = code == EARL_OK;
    return code;
}

/* What does not look like a name is none. */
static void read_name(earl_buffer *buffer, int process, struct known *from)
{
    int instance, length;
    char name[EARL_COMPONENT];
    if (earl_unpack(buffer, EARL_INT, &instance, 1, 1) != EARL_OK ||
        earl_unpack(buffer, EARL_INT, &length, 1, 1) != EARL_OK || length < 0 || length >= EARL_COMPONENT ||
        earl_unpack(buffer, EARL_BYTE, name, (size_t)length, 1) != EARL_OK)
        return;
    name[length] = '\0';
    char *copy = strdup(name);
    if (copy == NULL)
        return;
    free(from->component);
    from->component = copy;
    from->instance = instance;
    earl_generic_learn(copy, instance, process);
}

void earl_generic_name_of(int process, const char **component, int *instance)
{
    *component = "";
    *instance = EARL_ANY;
    struct known *from = earl_generic.is_team ? NULL : known_of(process);
    if (from == NULL)
        return;
    const struct earl_wanted wanted = {GENERIC_NAMES, process, EARL_ANY, NULL, NULL};
    earl_buffer *buffer;
    /* The first has come; it may have told another name since. */
    while (earl_buffer_receive(&wanted, !from->has_told, &buffer, NULL) == 1) {
        from->has_told = true;
        read_name(buffer, process, from);
        earl_buffer_free(buffer);
    }
    if (from->component != NULL) {
        *component = from->component;
        *instance = from->instance;
    }
}
