/* SPDX-License-Identifier: MIT */
/* team_lines.c -- the command lines of enl -n N PROGRAM [arguments] [: -n N PROGRAM [arguments]]... */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/roster.h"
#include "bcri/record.h"
#include "bcri/refuse.h"
#include "verbs/verbs.h"

static bool is_separator(const char *word)
{
    return strcmp(word, ":") == 0;
}

/* Reads what stands before the program in a line behind a separator. Returns the program's place; NULL: a sentence says what
 * is wrong. */
static char **take_head(char **words, uint32_t *members_out, char *error, size_t error_size)
{
    const char *value = NULL;
    char *end = NULL;
    long members = 0;
    for (; words[0] != NULL && words[0][0] == '-'; words++) {
        if (strcmp(words[0], "--") == 0) {
            words++;
            break;
        }
        const bool is_joined = strncmp(words[0], "-n", 2) == 0 && isdigit((unsigned char)words[0][2]);
        if ((is_joined || (strcmp(words[0], "-n") == 0 && words[1] != NULL)) && value == NULL) {
            value = is_joined ? words[0] + 2 : *++words;
            members = strtol(value, &end, 10);
            continue;
        }
        bcri_refuse(error, error_size, 0, "behind : come -n and a number, and then a program, not %s",
                    words[0]);
        return NULL;
    }
    if (value == NULL)
        bcri_refuse(error, error_size, 0,
                    "-n is needed behind each :, too; enl(1) tells how command lines are joined");
    else if (end == value || *end != '\0' || members < 1 || members > (long)BCRI_CCE_MAX)
        bcri_refuse(error, error_size, 0, "-n takes a number from 1 to %u, not %s", BCRI_CCE_MAX, value);
    else if (words[0] == NULL)
        bcri_refuse(error, error_size, 0, "which program? after : comes one, behind -n %s", value);
    else {
        *members_out = (uint32_t)members;
        return words;
    }
    return NULL;
}

struct enl_roster *enl_team_lines(const struct enl_options *options, char **argv, char *error,
                                  size_t error_size)
{
    size_t count = 1;
    for (char **word = argv; *word != NULL; word++)
        count += is_separator(*word);
    struct enl_roster *roster = calloc(1, sizeof *roster + count * sizeof roster->lines[0]);
    if (roster == NULL) {
        bcri_refuse(error, error_size, 0, "no memory");
        return NULL;
    }
    roster->await = options->await;
    roster->per_host = (uint32_t)options->per_host;
    roster->is_cyclic = options->map != NULL && strcmp(options->map, "cyclic") == 0;
    for (char **word = argv; *word != NULL;) {
        struct enl_roster_line *line = &roster->lines[roster->count++];
        line->members = (uint32_t)options->members;
        line->argv = roster->count == 1 ? word : take_head(word, &line->members, error, error_size);
        if (line->argv != NULL && is_separator(line->argv[0])) {
            bcri_refuse(error, error_size, 0, "which program? before : there is none");
            line->argv = NULL;
        }
        if (line->argv == NULL) {
            free(roster);
            return NULL;
        }
        roster->members += line->members;
        for (word = line->argv; *word != NULL && !is_separator(*word);)
            word++;
        if (*word == NULL)
            break;
        *word++ = NULL;
        if (*word == NULL) {
            bcri_refuse(error, error_size, 0, "which program? nothing comes behind :");
            free(roster);
            return NULL;
        }
    }
    if (roster->members <= BCRI_CCE_MAX)
        return roster;
    bcri_refuse(error, error_size, 0, "%u members are more than the %u that a program may have",
                roster->members, BCRI_CCE_MAX);
    free(roster);
    return NULL;
}
