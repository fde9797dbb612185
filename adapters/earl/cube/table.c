/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table earl_table;

void earl_table_box(const char *cube, char box[EARL_CUBE_NAME + 8])
{
    snprintf(box, EARL_CUBE_NAME + 8, "cube/%s", cube);
}

int earl_table_get(const char *name, struct earl_cube *cube)
{
    char box[EARL_CUBE_NAME + 8];
    int words[4];
    earl_buffer *buffer;
    earl_table_box(name, box);
    int code = earl_exec_fetch(box, 0, EARL_BOX_EXACT, &buffer);
    if (code < 0)
        return code;
    code = earl_unpack(buffer, EARL_INT, words, 4, 1);
    earl_buffer_free(buffer);
    if (code != EARL_OK)
        return code;
    *cube = (struct earl_cube){.size = words[0], .host = words[1], .host_pid = words[2], .is_kept = words[3]};
    snprintf(cube->name, sizeof cube->name, "%s", name);
    return EARL_OK;
}

int earl_table_post(const struct earl_cube *cube, int flags)
{
    char box[EARL_CUBE_NAME + 8];
    const int words[4] = {cube->size, cube->host, cube->host_pid, cube->is_kept};
    earl_table_box(cube->name, box);
    earl_buffer *buffer = earl_buffer_make(0);
    int code = buffer == NULL ? EARL_E_MEMORY : earl_pack(buffer, EARL_INT, words, 4, 1);
    if (code == EARL_OK)
        code = earl_exec_post(
            box, 0, flags | EARL_BOX_SEVERAL | EARL_BOX_ANYONE | (cube->is_kept ? EARL_BOX_STAYS : 0),
            buffer);
    earl_buffer_free(buffer);
    return code < 0 ? code : EARL_OK;
}

void earl_table_set(const struct earl_cube *cube)
{
    free(earl_table.loaded);
    earl_table = (struct table){.has_cube = true, .cube = *cube, .own_pid = earl_table.own_pid, .next = 1};
}

int earl_table_begin(void)
{
    const char *name = getenv("EARL_CUBE");
    const int count = earl_processes();
    struct earl_cube cube;
    if (count < 0 || earl_table.has_cube || earl_table.is_team)
        return count < 0 ? count : EARL_OK;
    if (count > 0) {
        earl_table.is_team = true;
        earl_table.cube.size = count;
        earl_table.cube.host = EARL_ANY;
        return EARL_OK;
    }
    if (name == NULL)
        return EARL_E_NONE;
    const int code = earl_table_get(name, &cube);
    if (code == EARL_OK)
        earl_table_set(&cube);
    return code;
}

static int add(const int place[3])
{
    struct table *table = &earl_table;
    if (table->count == table->room) {
        const int room = table->room == 0 ? 64 : 2 * table->room;
        struct loaded *loaded = realloc(table->loaded, (size_t)room * sizeof *loaded);
        if (loaded == NULL)
            return EARL_E_MEMORY;
        table->loaded = loaded;
        table->room = room;
    }
    table->loaded[table->count++] = (struct loaded){.node = place[0], .pid = place[1], .process = place[2]};
    return EARL_OK;
}

int earl_table_read(bool wait)
{
    char box[EARL_CUBE_NAME + 8];
    int place[3];
    earl_table_box(earl_table.cube.name, box);
    for (;;) {
        earl_buffer *buffer;
        const int index = earl_exec_fetch(box, earl_table.next, wait ? EARL_BOX_WAIT : 0, &buffer);
        if (index == EARL_E_NONE)
            return EARL_OK;
        if (index < 0)
            return index;
        int code = EARL_OK;
        while (code == EARL_OK && (code = earl_unpack(buffer, EARL_INT, place, 3, 1)) == EARL_OK)
            code = add(place);
        earl_buffer_free(buffer);
        if (code != EARL_E_END)
            return code;
        earl_table.next = index + 1;
        wait = false;
    }
}

struct loaded *earl_table_at(int node, int pid)
{
    for (int i = earl_table.count - 1; i >= 0; i--) {
        struct loaded *loaded = &earl_table.loaded[i];
        if ((node == EARL_ANY || loaded->node == node) && (pid == EARL_ANY || loaded->pid == pid))
            return loaded;
    }
    return NULL;
}

struct loaded *earl_table_of(int process)
{
    for (int i = earl_table.count - 1; i >= 0; i--)
        if (earl_table.loaded[i].process == process)
            return &earl_table.loaded[i];
    return NULL;
}
