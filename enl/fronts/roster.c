/* SPDX-License-Identifier: MIT */
/* roster.c -- rosters: their memory, and how many members they have. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/record.h"
#include "bcri/refuse.h"
#include "fronts/fronts.h"

struct enl_roster *enl_roster_new(enum enl_front front)
{
    struct enl_roster *roster = calloc(1, sizeof *roster);
    if (roster != NULL)
        roster->front = front;
    return roster;
}

void enl_roster_free(struct enl_roster *roster)
{
    if (roster == NULL)
        return;
    for (size_t i = 0; i < roster->count; i++)
        free(roster->lines[i].nodes);
    while (roster->words != NULL) {
        struct enl_roster_words *next = roster->words->next;
        free(roster->words);
        roster->words = next;
    }
    free(roster->lines);
    free(roster->teams);
    free(roster);
}

struct enl_roster_team *enl_roster_begin(struct enl_roster *roster, uint32_t stage)
{
    struct enl_roster_team *teams = realloc(roster->teams, (roster->team_count + 1) * sizeof *teams);
    if (teams == NULL)
        return NULL;
    roster->teams = teams;
    teams[roster->team_count] = (struct enl_roster_team){.first = roster->count, .stage = stage};
    return &teams[roster->team_count++];
}

struct enl_roster_line *enl_roster_add(struct enl_roster *roster)
{
    if (roster->team_count == 0 && enl_roster_begin(roster, 0) == NULL)
        return NULL;
    struct enl_roster_line *lines = realloc(roster->lines, (roster->count + 1) * sizeof *lines);
    if (lines == NULL)
        return NULL;
    roster->lines = lines;
    lines[roster->count] = (struct enl_roster_line){0};
    roster->teams[roster->team_count - 1].count++;
    return &lines[roster->count++];
}

char **enl_roster_words(struct enl_roster *roster, size_t count, size_t bytes)
{
    struct enl_roster_words *words = calloc(1, sizeof *words + (count + 1) * sizeof words->words[0] + bytes);
    if (words == NULL)
        return NULL;
    words->next = roster->words;
    roster->words = words;
    return words->words;
}

/* No file has such a name, and no message to a host's daemon takes it. Returns 0, or -1 with a sentence. */
static int check_name(const char *name, char *error, size_t error_size)
{
    const size_t length = strlen(name);
    if (length == 0)
        return bcri_refuse(error, error_size, -1, "which program? the name of one is empty");
    if (length >= PATH_MAX)
        return bcri_refuse(error, error_size, -1, "no program has a name of %zu bytes, as %.60s... is",
                           length, name);
    return 0;
}

int enl_roster_count(struct enl_roster *roster, char *error, size_t error_size)
{
    uint64_t members = 0;
    for (size_t i = 0; i < roster->count; i++)
        if (check_name(roster->lines[i].argv[0], error, error_size) != 0)
            return -1;
    for (size_t i = 0; i < roster->team_count; i++) {
        struct enl_roster_team *team = &roster->teams[i];
        uint64_t of_team = 0;
        for (size_t k = 0; k < team->count; k++)
            of_team += roster->lines[team->first + k].members;
        team->members = of_team <= BCRI_CCE_MAX ? (uint32_t)of_team : BCRI_CCE_MAX;
        members += of_team;
    }
    if (members > BCRI_CCE_MAX)
        return bcri_refuse(error, error_size, -1, "%llu members are more than the %u that a program may have",
                           (unsigned long long)members, BCRI_CCE_MAX);
    roster->members = (uint32_t)members;
    return 0;
}
