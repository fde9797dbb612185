/* SPDX-License-Identifier: MIT */
/* team.c -- the command lines of enl -n N PROGRAM [arguments] [: -n N PROGRAM [arguments]]... */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/record.h"
#include "bcri/refuse.h"
#include "fronts/fronts.h"

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

/* Reads one line. *word_io is its first word, and then that of the next one; NULL: there is none. */
static bool take_line(struct enl_roster *roster, const struct enl_team_options *options, char ***word_io,
                      char *error, size_t error_size)
{
    char **word = *word_io;
    struct enl_roster_line *line = enl_roster_add(roster);
    if (line == NULL)
        return bcri_refuse(error, error_size, false, "no memory");
    line->members = options->members;
    line->argv = roster->count == 1 ? word : take_head(word, &line->members, error, error_size);
    if (line->argv == NULL)
        return false;
    if (is_separator(line->argv[0]))
        return bcri_refuse(error, error_size, false, "which program? before : there is none");
    for (word = line->argv; *word != NULL && !is_separator(*word);)
        word++;
    *word_io = NULL;
    if (*word == NULL)
        return true;
    *word++ = NULL;
    if (*word == NULL)
        return bcri_refuse(error, error_size, false, "which program? nothing comes behind :");
    *word_io = word;
    return true;
}

struct enl_roster *enl_team_lines(const struct enl_team_options *options, char **argv, char *error,
                                  size_t error_size)
{
    struct enl_roster *roster = enl_roster_new(ENL_FRONT_TEAM);
    if (roster == NULL) {
        bcri_refuse(error, error_size, 0, "no memory");
        return NULL;
    }
    roster->await = options->await;
    roster->per_host = options->per_host;
    roster->is_cyclic = options->is_cyclic;
    bool is_good = true;
    for (char **word = argv; is_good && word != NULL;)
        is_good = take_line(roster, options, &word, error, error_size);
    if (is_good && enl_roster_count(roster, error, error_size) == 0)
        return roster;
    enl_roster_free(roster);
    return NULL;
}
