/* SPDX-License-Identifier: MIT */
/* groups.c -- groups of processes with places, and barriers, by names. */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

struct group {
    struct group *next;
    char *name;
    int *members; /* by their places; EARL_ANY: free */
    int places, room;
};

/* Those who wait at a barrier. */
struct barrier {
    struct barrier *next;
    char *name;
    int wanted, count, room;
    struct asker *waiting;
};

static struct group *groups;
static struct barrier *barriers;

/* ---- groups ---- */

static struct group **find_group(const char *name)
{
    struct group **at = &groups;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static int place_of(const struct group *group, int process)
{
    for (int place = 0; place < group->places; place++)
        if (group->members[place] == process)
            return place;
    return -1;
}

static struct group *new_group(const char *name)
{
    struct group *group = calloc(1, sizeof *group);
    char *copy = strdup(name);
    if (group == NULL || copy == NULL) {
        free(group);
        free(copy);
        return NULL;
    }
    *group = (struct group){.next = groups, .name = copy};
    groups = group;
    return group;
}

static bool has_room(struct group *group)
{
    if (group->places < group->room)
        return group->members != NULL;
    const int room = group->room == 0 ? 8 : 2 * group->room;
    int *members = realloc(group->members, (size_t)room * sizeof *members);
    if (members == NULL)
        return false;
    group->members = members;
    group->room = room;
    return true;
}

static int join(struct group *group, int process)
{
    if (place_of(group, process) >= 0)
        return EARL_E_BUSY;
    if (!has_room(group))
        return EARL_E_MEMORY;
    int place = place_of(group, EARL_ANY);
    if (place < 0)
        place = group->places++;
    group->members[place] = process;
    return place;
}

/* A group without members goes; whether it does. */
static bool cut(struct group **at)
{
    struct group *group = *at;
    while (group->places > 0 && group->members[group->places - 1] == EARL_ANY)
        group->places--;
    if (group->places > 0)
        return false;
    *at = group->next;
    free(group->name);
    free(group->members);
    free(group);
    return true;
}

int group_join(const char *name, int process)
{
    if (!earl_exec_is_name(name))
        return EARL_E_ARG;
    struct group **at = find_group(name), *group = *at;
    int place = EARL_E_MEMORY;
    if (group == NULL && (group = new_group(name)) != NULL)
        at = &groups;
    if (group != NULL) {
        place = join(group, process);
        (void)cut(at);
    }
    return place;
}

void ask_join(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    const int place = group_join(name, asker.process);
    free(name);
    answer(asker, place);
}

void ask_leave(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    struct group **at = find_group(name == NULL ? "" : name);
    const int place = *at == NULL ? -1 : place_of(*at, asker.process);
    if (place >= 0) {
        (*at)->members[place] = EARL_ANY;
        (void)cut(at);
    }
    free(name);
    answer(asker, place >= 0 ? EARL_OK : EARL_E_NONE);
}

void ask_members(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    const struct group *group = *find_group(name == NULL ? "" : name);
    struct earl_fields out = answer_begin(EARL_OK);
    earl_put_int(&out, group == NULL ? 0 : group->places);
    if (group != NULL)
        earl_put_ints(&out, group->members, group->places);
    free(name);
    answer_end(asker, &out);
}

/* ---- barriers ---- */

static struct barrier *barrier_of(const char *name, int wanted)
{
    struct barrier *barrier = barriers;
    while (barrier != NULL && strcmp(barrier->name, name) != 0)
        barrier = barrier->next;
    if (barrier != NULL)
        return barrier;
    barrier = calloc(1, sizeof *barrier);
    char *copy = strdup(name);
    if (barrier == NULL || copy == NULL) {
        free(barrier);
        free(copy);
        return NULL;
    }
    *barrier = (struct barrier){.next = barriers, .name = copy, .wanted = wanted};
    return barriers = barrier;
}

static void free_barrier(struct barrier *barrier)
{
    struct barrier **at = &barriers;
    while (*at != barrier)
        at = &(*at)->next;
    *at = barrier->next;
    free(barrier->name);
    free(barrier->waiting);
    free(barrier);
}

static int arrive(struct barrier *barrier, struct asker asker)
{
    if (barrier->count == barrier->room) {
        const int room = barrier->room == 0 ? 8 : 2 * barrier->room;
        struct asker *waiting = realloc(barrier->waiting, (size_t)room * sizeof *waiting);
        if (waiting == NULL)
            return EARL_E_MEMORY;
        barrier->waiting = waiting;
        barrier->room = room;
    }
    barrier->waiting[barrier->count++] = asker;
    return EARL_OK;
}

void ask_barrier(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    const int wanted = earl_get_int(fields);
    int code = earl_exec_is_name(name) && wanted >= 1 && fields->code == EARL_OK ? EARL_OK : EARL_E_ARG;
    struct barrier *barrier = code == EARL_OK ? barrier_of(name, wanted) : NULL;
    free(name);
    if (code == EARL_OK && barrier == NULL)
        code = EARL_E_MEMORY;
    if (code == EARL_OK)
        code = barrier->wanted != wanted ? EARL_E_BUSY : arrive(barrier, asker);
    if (code != EARL_OK)
        answer(asker, code);
    if (barrier == NULL || (barrier->count > 0 && barrier->count < barrier->wanted))
        return;
    for (int i = 0; i < barrier->count; i++)
        answer(barrier->waiting[i], EARL_OK);
    free_barrier(barrier);
}

/* ---- ends ---- */

void groups_ended(int process)
{
    for (struct group **at = &groups; *at != NULL;) {
        const int place = place_of(*at, process);
        if (place >= 0)
            (*at)->members[place] = EARL_ANY;
        if (place < 0 || !cut(at))
            at = &(*at)->next;
    }
    for (struct barrier *barrier = barriers, *next; barrier != NULL; barrier = next) {
        next = barrier->next;
        int kept = 0;
        for (int i = 0; i < barrier->count; i++)
            if (barrier->waiting[i].process != process)
                barrier->waiting[kept++] = barrier->waiting[i];
        barrier->count = kept;
        if (kept == 0)
            free_barrier(barrier);
    }
}
