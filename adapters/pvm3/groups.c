/* SPDX-License-Identifier: MIT */
/* groups.c -- groups, which EXEC keeps. Of those that were frozen each task that asks has a copy. */
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

struct frozen {
    struct frozen *next;
    char *name;
    int count;
    int *processes;
};

static struct frozen *frozen;

static struct frozen **find_frozen(const char *group)
{
    struct frozen **at = &frozen;
    while (*at != NULL && strcmp((*at)->name, group) != 0)
        at = &(*at)->next;
    return at;
}

static void free_frozen(const char *group)
{
    struct frozen **at = find_frozen(group), *old = *at;
    if (old == NULL)
        return;
    *at = old->next;
    free(old->name);
    free(old->processes);
    free(old);
}

static int code_of(int result)
{
    return result == EARL_E_ARG ? PvmBadParam : pvmi_result(result);
}

static int check(const char *group)
{
    const int code = pvmi_need();
    return code != PvmOk ? code : group == NULL || *group == '\0' ? PvmNullGroup : PvmOk;
}

/* As EXEC knows them now. */
static int ask_members(const char *group, int **processes_out)
{
    int *processes = NULL, room = 0, count = 1;
    while (count > room) {
        room = count + 64;
        free(processes);
        processes = malloc((size_t)room * sizeof *processes);
        if (processes == NULL)
            return PvmNoMem;
        count = earl_exec_members(group, processes, room);
    }
    if (count > 0) {
        *processes_out = processes;
        return count;
    }
    free(processes);
    return count == 0 ? PvmNoGroup : code_of(count);
}

int pvmi_members(const char *group, int **processes_out)
{
    const int code = check(group);
    if (code != PvmOk)
        return code;
    const struct frozen *copy = *find_frozen(group);
    if (copy == NULL)
        return ask_members(group, processes_out);
    int *processes = malloc(((size_t)copy->count + 1) * sizeof *processes);
    if (processes == NULL)
        return PvmNoMem;
    memcpy(processes, copy->processes, (size_t)copy->count * sizeof *processes);
    *processes_out = processes;
    return copy->count;
}

int pvmi_place(int count, const int *processes, int process)
{
    for (int i = 0; i < count; i++)
        if (processes[i] == process)
            return i;
    return -1;
}

/* ---- membership ---- */

static int join(const char *group)
{
    const int code = check(group);
    if (code < 0)
        return code;
    const int place = earl_exec_join(group);
    return place == EARL_E_BUSY ? PvmDupGroup : code_of(place);
}

int pvm_joingroup(const char *group)
{
    return pvmi_told("joingroup", join(group));
}

static int leave(const char *group)
{
    int *processes = NULL, code = check(group);
    if (code < 0)
        return code;
    free_frozen(group);
    code = earl_exec_leave(group);
    if (code != EARL_E_NONE)
        return code_of(code);
    code = ask_members(group, &processes);
    if (code < 0)
        return code;
    free(processes);
    return PvmNotInGroup;
}

int pvm_lvgroup(const char *group)
{
    return pvmi_told("lvgroup", leave(group));
}

/* ---- questions ---- */

static int tid_of(const char *group, int place)
{
    int *processes = NULL;
    const int count = pvmi_members(group, &processes);
    if (count < 0 || processes == NULL) {
        free(processes);
        return count;
    }
    const int process = place < 0 || place >= count ? EARL_ANY : processes[place];
    free(processes);
    return process == EARL_ANY ? PvmNoInst : pvmi_tid(process);
}

int pvm_gettid(const char *group, int inum)
{
    return pvmi_told("gettid", tid_of(group, inum));
}

static int place_of(const char *group, int tid)
{
    int *processes = NULL;
    const int count = pvmi_members(group, &processes);
    if (count < 0 || processes == NULL) {
        free(processes);
        return count;
    }
    const int process = pvmi_process_of(tid), place = pvmi_place(count, processes, process);
    free(processes);
    return process < 0 ? PvmBadParam : place < 0 ? PvmNotInGroup : place;
}

int pvm_getinst(const char *group, int tid)
{
    return pvmi_told("getinst", place_of(group, tid));
}

static int size_of(const char *group)
{
    int *processes = NULL, size = 0;
    const int count = pvmi_members(group, &processes);
    if (count < 0 || processes == NULL) {
        free(processes);
        return count;
    }
    for (int i = 0; i < count; i++)
        size += processes[i] != EARL_ANY;
    free(processes);
    return size;
}

int pvm_gsize(const char *group)
{
    return pvmi_told("gsize", size_of(group));
}

/* ---- all together ---- */

/* Waits for `count` members, -1: as many as there are; kind keeps waits of one group apart. */
static int meet(const char *group, int count, char kind)
{
    char name[256];
    int code = place_of(group, pvmi_tid(pvmi_process.self));
    if (code < 0)
        return code;
    if (count == -1)
        count = size_of(group);
    if (count < 1 || strlen(group) > sizeof name - 2)
        return PvmBadParam;
    name[0] = kind;
    strcpy(name + 1, group);
    code = earl_exec_barrier(name, count);
    return code == EARL_E_BUSY ? PvmMismatch : code_of(code);
}

static int barrier(const char *group, int count)
{
    const int code = check(group);
    return code < 0 ? code : meet(group, count, 'b');
}

int pvm_barrier(const char *group, int count)
{
    return pvmi_told("barrier", barrier(group, count));
}

static int freeze(const char *group, int size)
{
    int code = check(group);
    if (code < 0)
        return code;
    if (*find_frozen(group) != NULL)
        return PvmDupGroup;
    code = meet(group, size, 'f');
    if (code < 0)
        return code;
    struct frozen *copy = calloc(1, sizeof *copy);
    if (copy == NULL)
        return PvmNoMem;
    copy->name = strdup(group);
    copy->count = copy->name == NULL ? PvmNoMem : ask_members(group, &copy->processes);
    /* None goes on, and leaves, before all have their copy. */
    code = copy->count < 0 ? copy->count : meet(group, size, 'g');
    if (code < 0) {
        free(copy->name);
        free(copy->processes);
        free(copy);
        return code;
    }
    copy->next = frozen;
    frozen = copy;
    return PvmOk;
}

int pvm_freezegroup(const char *group, int size)
{
    return pvmi_told("freezegroup", freeze(group, size));
}

static int broadcast(const char *group, int tag)
{
    int *processes = NULL, many = 0;
    const int count = pvmi_members(group, &processes);
    if (count < 0 || processes == NULL) {
        free(processes);
        return count;
    }
    for (int i = 0; i < count; i++)
        if (processes[i] != EARL_ANY && processes[i] != pvmi_process.self)
            processes[many++] = processes[i];
    const int code = tag < 0 ? PvmBadParam : pvmi_send(many, processes, tag);
    free(processes);
    return code;
}

int pvm_bcast(const char *group, int msgtag)
{
    return pvmi_told("bcast", broadcast(group, msgtag));
}
