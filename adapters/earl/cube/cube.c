/* SPDX-License-Identifier: MIT */
/* cube.c -- the routines of earl_cube.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

static bool is_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strlen(name) < EARL_CUBE_NAME;
}

/* What is to be there before anything else: a current cube, which is no team. */
static int need_cube(void)
{
    const int code = earl_table_begin();
    return code != EARL_OK ? code : earl_table.is_team ? EARL_E_STATE : EARL_OK;
}

static int need_world(void)
{
    const int count = earl_processes();
    return count < 0 ? count : count > 0 ? EARL_E_STATE : EARL_OK;
}

/* ---- cubes ---- */

int earl_cube_pid(int pid)
{
    if (pid < 0)
        return EARL_E_ARG;
    earl_table.own_pid = pid;
    return EARL_OK;
}

int earl_cube_make(const char *name, int size, int keep)
{
    int code = need_world();
    if (code != EARL_OK || !is_name(name) || size < 1)
        return code != EARL_OK ? code : EARL_E_ARG;
    struct earl_cube cube = {
        .size = size, .host = earl_process(), .host_pid = earl_table.own_pid, .is_kept = keep != 0};
    strcpy(cube.name, name);
    code = earl_table_post(&cube, 0);
    if (code == EARL_OK)
        earl_table_set(&cube);
    return code;
}

int earl_cube_attach(const char *name)
{
    struct earl_cube cube;
    int code = need_world();
    if (code != EARL_OK || !is_name(name))
        return code != EARL_OK ? code : EARL_E_ARG;
    code = earl_table_get(name, &cube);
    if (code != EARL_OK)
        return code;
    earl_table_set(&cube);
    code = earl_table_read(false);
    if (code != EARL_OK || earl_table_of(earl_process()) != NULL)
        return code != EARL_OK ? code : cube.size;
    cube.host = earl_table.cube.host = earl_process();
    cube.host_pid = earl_table.cube.host_pid = earl_table.own_pid;
    code = earl_table_post(&cube, EARL_BOX_REPLACE | EARL_BOX_LEAVE); /* its maker's end gives it back */
    return code != EARL_OK ? code : cube.size;
}

/* Never the caller. Returns whether it could be sent the signal. */
static bool kill_one(int process)
{
    return process > 0 && process != earl_process() && earl_exec_signal(process, SIGKILL) == EARL_OK;
}

/* Kills what is loaded. Returns how many. */
static int kill_all(int node, int pid)
{
    int killed = 0;
    for (int i = 0; i < earl_table.count; i++) {
        const struct loaded *loaded = &earl_table.loaded[i];
        if ((node == EARL_ANY || loaded->node == node) && (pid == EARL_ANY || loaded->pid == pid))
            killed += kill_one(loaded->process);
    }
    return killed;
}

/* Those that have joined the cube's group: all that were loaded, also by one that has not told of them, since it was killed. */
static int kill_members(const char *box)
{
    const int count = earl_exec_members(box, NULL, 0);
    int *members = count <= 0 ? NULL : calloc((size_t)count, sizeof *members);
    if (count > 0 && members == NULL)
        return EARL_E_MEMORY;
    const int told = count <= 0 ? count : earl_exec_members(box, members, count);
    for (int i = 0; i < told && i < count; i++)
        (void)kill_one(members[i]);
    free(members);
    return told < 0 ? told : EARL_OK;
}

/* Takes what has been told of loads, and kills whom it tells of: some may have been loaded a moment ago. */
static void take_loads(const char *box)
{
    int place[3];
    earl_buffer *buffer;
    while (earl_exec_fetch(box, 1, EARL_BOX_TAKE, &buffer) >= 0) {
        while (earl_unpack(buffer, EARL_INT, place, 3, 1) == EARL_OK)
            (void)kill_one(place[2]);
        earl_buffer_free(buffer);
    }
}

int earl_cube_drop(const char *name)
{
    char box[EARL_CUBE_NAME + 8];
    struct earl_cube cube;
    int code = name == NULL ? need_cube() : need_world();
    if (code != EARL_OK)
        return code;
    if (name != NULL && (!earl_table.has_cube || strcmp(name, earl_table.cube.name) != 0)) {
        code = is_name(name) ? earl_table_get(name, &cube) : EARL_E_NONE;
        if (code != EARL_OK)
            return code;
        const struct table before = earl_table;
        earl_table.loaded = NULL;
        earl_table_set(&cube);
        code = earl_cube_drop(NULL);
        earl_table = before;
        return code;
    }
    earl_table_box(earl_table.cube.name, box);
    code = kill_members(box);
    if (code != EARL_OK)
        return code;
    (void)earl_exec_drop(box, 0);
    take_loads(box);
    free(earl_table.loaded);
    earl_table = (struct table){.own_pid = earl_table.own_pid};
    return EARL_OK;
}

int earl_cube_list(struct earl_cube *list, int room)
{
    int code = need_world(), found = 0;
    if (code != EARL_OK || room < 0 || (room > 0 && list == NULL))
        return code != EARL_OK ? code : EARL_E_ARG;
    const int count = earl_exec_boxes(NULL, NULL, 0);
    struct earl_exec_boxed *boxes = count <= 0 ? NULL : calloc((size_t)count, sizeof *boxes);
    if (count > 0 && boxes == NULL)
        return EARL_E_MEMORY;
    const int told = count <= 0 ? count : earl_exec_boxes(NULL, boxes, count);
    for (int i = 0; i < count && i < told; i++) {
        struct earl_cube cube;
        if (boxes[i].index != 0 || strncmp(boxes[i].name, "cube/", 5) != 0 ||
            earl_table_get(boxes[i].name + 5, &cube) != EARL_OK)
            continue;
        if (found < room)
            list[found] = cube;
        found++;
    }
    free(boxes);
    return told < 0 ? told : found;
}

/* ---- places ---- */

int earl_cube_own(struct earl_cube *cube, int *node, int *pid)
{
    int place[2] = {0, 0};
    int code = earl_table_begin();
    if (code == EARL_OK)
        code = earl_cube_place(earl_process(), 1, &place[0], &place[1]);
    if (code == EARL_OK && cube != NULL)
        *cube = earl_table.cube;
    if (code == EARL_OK && node != NULL)
        *node = place[0];
    if (code == EARL_OK && pid != NULL)
        *pid = place[1];
    return code;
}

/* A process that was loaded knows its place when the loader has told it. */
int earl_cube_place(int process, int ask, int *node, int *pid)
{
    int code = node == NULL || pid == NULL ? EARL_E_ARG : earl_table_begin();
    if (code != EARL_OK)
        return code;
    if (earl_table.is_team) {
        *node = process;
        *pid = 0;
        return process >= 0 && process < earl_table.cube.size ? EARL_OK : EARL_E_PROCESS;
    }
    if (process == earl_table.cube.host) {
        *node = earl_table.cube.size;
        *pid = earl_table.cube.host_pid;
        return EARL_OK;
    }
    const bool is_own = process == earl_process();
    struct loaded *loaded = earl_table_of(process);
    for (bool wait = is_own; ask != 0 && loaded == NULL; loaded = earl_table_of(process)) {
        const int before = earl_table.next;
        code = earl_table_read(wait);
        if (code != EARL_OK)
            return code;
        if (before == earl_table.next)
            return EARL_E_PROCESS;
    }
    if (loaded == NULL)
        return EARL_E_PROCESS;
    *node = loaded->node;
    *pid = loaded->pid;
    return EARL_OK;
}

int earl_cube_process(int node, int pid, int wait)
{
    int code = earl_table_begin();
    if (code != EARL_OK)
        return code;
    if (node < 0 || node > earl_table.cube.size || pid < EARL_ANY)
        return EARL_E_ARG;
    if (earl_table.is_team)
        return node < earl_table.cube.size && pid <= 0 ? node : EARL_E_PROCESS;
    if (node == earl_table.cube.size)
        return earl_table.cube.host;
    struct loaded *loaded = earl_table_at(node, pid);
    while (loaded == NULL && wait >= 0) {
        const int before = earl_table.next;
        code = earl_table_read(wait != 0);
        if (code != EARL_OK)
            return code;
        loaded = earl_table_at(node, pid);
        if (loaded == NULL && before == earl_table.next)
            return EARL_E_PROCESS;
    }
    return loaded == NULL ? EARL_E_PROCESS : loaded->process;
}

int earl_cube_pids(int *pid)
{
    int code = earl_table_begin(), count = 0;
    if (code == EARL_OK && !earl_table.is_team)
        code = earl_table_read(false);
    if (code != EARL_OK)
        return code;
    if (earl_table.is_team) {
        if (pid != NULL)
            *pid = 0;
        return 1;
    }
    for (int i = 0; i < earl_table.count; i++) {
        int same = 0;
        while (earl_table.loaded[same].pid != earl_table.loaded[i].pid)
            same++;
        count += same == i;
        if (pid != NULL)
            *pid = earl_table.loaded[i].pid;
    }
    return count;
}

/* ---- processes ---- */

static bool runs(const struct loaded *loaded)
{
    struct earl_exec_process told;
    return loaded != NULL && earl_exec_process(loaded->process, &told) == EARL_OK && !told.has_ended;
}

/* Tells all which process is where: one list for each load. */
static int post_load(const int *processes, int count, int first, int pid)
{
    char box[EARL_CUBE_NAME + 8];
    int started = 0, index = EARL_E_BUSY;
    earl_buffer *buffer = earl_buffer_make(0);
    int code = buffer == NULL ? EARL_E_MEMORY : EARL_OK;
    for (int i = 0; i < count && code == EARL_OK; i++) {
        const int place[3] = {first + i, pid, processes[i]};
        if (processes[i] >= 0)
            code = earl_pack(buffer, EARL_INT, place, 3, 1);
        started += processes[i] >= 0;
    }
    earl_table_box(earl_table.cube.name, box);
    /* Another may load at the same time: each has an index of his own, behind those before. All are the cube's maker's, and go with the
     * cube: an index that became free before would be used again, and who has read it would not see what is told there then. */
    const int flags =
        EARL_BOX_SEVERAL | EARL_BOX_ANYONE | EARL_BOX_LEAVE | (earl_table.cube.is_kept ? EARL_BOX_STAYS : 0);
    for (int at = earl_table.next; code == EARL_OK && started > 0 && index == EARL_E_BUSY; at++)
        index = earl_exec_post(box, at, flags, buffer);
    earl_buffer_free(buffer);
    if (code == EARL_OK && started > 0 && index < 0)
        code = index;
    struct earl_cube cube;
    if (code == EARL_OK && started > 0 && earl_table_get(earl_table.cube.name, &cube) == EARL_E_NONE) {
        (void)earl_exec_drop(box, index); /* the cube was given back while this process loaded it */
        code = EARL_E_NONE;
    }
    for (int i = 0; i < count && code != EARL_OK; i++)
        (void)kill_one(processes[i]);
    return code != EARL_OK ? code : started;
}

int earl_cube_load(const char *file, const char *const *arguments, int node, int pid)
{
    char variable[EARL_CUBE_NAME + 16], box[EARL_CUBE_NAME + 8];
    int code = need_cube();
    if (code != EARL_OK)
        return code;
    const int size = earl_table.cube.size;
    if (file == NULL || node < EARL_ANY || node >= size || pid < 0)
        return EARL_E_ARG;
    code = earl_table_read(false);
    if (code != EARL_OK)
        return code;
    const int first = node == EARL_ANY ? 0 : node, count = node == EARL_ANY ? size : 1;
    for (int i = 0; i < count; i++)
        if (runs(earl_table_at(first + i, pid)))
            return EARL_E_BUSY;
    int *processes = calloc((size_t)count + 1, sizeof *processes);
    if (processes == NULL)
        return EARL_E_MEMORY;
    strcpy(variable, "EARL_CUBE=");
    strcat(variable, earl_table.cube.name);
    earl_table_box(earl_table.cube.name, box);
    const char *const environment[] = {variable, NULL};
    const struct earl_exec_start start = {.file = file,
                                          .arguments = arguments,
                                          .environment = environment,
                                          .count = count,
                                          .group = box,
                                          .is_tied = !earl_table.cube.is_kept};
    code = earl_exec_start(&start, processes);
    if (code == 0)
        code = processes[0];
    else if (code > 0)
        code = post_load(processes, count, first, pid);
    free(processes);
    return code;
}

int earl_cube_kill(int node, int pid)
{
    int code = need_cube();
    if (code == EARL_OK && (node < EARL_ANY || node >= earl_table.cube.size || pid < EARL_ANY))
        code = EARL_E_ARG;
    if (code == EARL_OK)
        code = earl_table_read(false);
    return code != EARL_OK ? code : kill_all(node, pid);
}

int earl_cube_await(int *node, int *pid, struct earl_exec_process *told)
{
    int code = node == NULL || pid == NULL || told == NULL ? EARL_E_ARG : need_cube();
    if (code == EARL_OK)
        code = earl_table_read(false);
    if (code != EARL_OK)
        return code;
    int count = 0, *processes = calloc((size_t)earl_table.count + 1, sizeof *processes);
    if (processes == NULL)
        return EARL_E_MEMORY;
    for (int i = 0; i < earl_table.count; i++) {
        const struct loaded *loaded = &earl_table.loaded[i];
        if (!loaded->is_told && (*node == EARL_ANY || *node == loaded->node) &&
            (*pid == EARL_ANY || *pid == loaded->pid))
            processes[count++] = loaded->process;
    }
    code = count == 0 ? EARL_E_PROCESS : earl_exec_await(count, processes, told);
    free(processes);
    if (code != EARL_OK)
        return code;
    struct loaded *loaded = earl_table_of(told->process);
    loaded->is_told = true;
    *node = loaded->node;
    *pid = loaded->pid;
    return EARL_OK;
}
