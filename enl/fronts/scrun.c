/* SPDX-License-Identifier: MIT */
/* scrun.c -- bcr-scrun: programs joined by operators, as on the command line of SCore's scrun.
 *
 *     a == b       what node i of a prints is the input of node i of b
 *     a :: b       b on the same hosts, when all of a have ended
 *     a := FILE    its input; =: FILE what it prints; =:: FILE and :=: FILE append to that */
#include <string.h>

#include "bcri/refuse.h"
#include "fronts/fronts.h"

enum operator{ WORD, PIPE, SEQUENCE, IN, OUT, APPEND, END };

static enum operator operator_of(const char *word)
{
    static const char *const words[] = {
        [PIPE] = "==", [SEQUENCE] = "::", [IN] = ":=", [OUT] = "=:", [APPEND] = "=::"};
    if (word == NULL)
        return END;
    for (enum operator at = PIPE; at <= APPEND; at++)
        if (strcmp(word, words[at]) == 0)
            return at;
    return strcmp(word, ":=:") == 0 ? APPEND : WORD;
}

/* Takes the redirections of the last team off *word_io. Returns 0, or -1 with a sentence. */
static int take_files(struct enl_roster *roster, char ***word_io, char *error, size_t error_size)
{
    struct enl_roster_team *team = &roster->teams[roster->team_count - 1];
    char **word = *word_io;
    for (enum operator at; (at = operator_of(*word)) >= IN && at <= APPEND; word += 2) {
        const char *const sign = word[0], *const file = word[1];
        if (operator_of(file) != WORD || file[0] == '\0')
            return bcri_refuse(error, error_size, -1, "which file? behind %s comes its name", sign);
        if (file[0] != '/' && strchr(file, '/') != NULL)
            return bcri_refuse(
                error, error_size, -1,
                "%s %.200s: a file has a whole path, or a name alone, which is in the job's directory", sign,
                file);
        if (strcmp(file, "..") == 0 || strcmp(file, ".") == 0)
            return bcri_refuse(error, error_size, -1, "%s %s is no file", sign, file);
        if (at == IN && team->reads_pipe)
            return bcri_refuse(error, error_size, -1, ":= %.200s: its input is a pipe already", file);
        if (at == IN ? team->in != NULL : team->out != NULL)
            return bcri_refuse(error, error_size, -1, "%s %.200s: %s is redirected twice", sign, file,
                               at == IN ? "its input" : "what it prints");
        if (at == IN)
            team->in = file;
        else
            team->out = file;
        team->appends = team->appends || at == APPEND;
        word[0] = NULL;
    }
    if (operator_of(*word) == WORD)
        return bcri_refuse(error, error_size, -1, "%.200s: nothing but an operator comes behind a file",
                           *word);
    *word_io = word;
    return 0;
}

/* Reads one team. *word_io is its first word, and then that of the next one; NULL: there is none. */
static int take_team(struct enl_roster *roster, const struct enl_scrun *scrun, uint32_t *stage_io,
                     bool reads_pipe, char ***word_io, bool *pipes_out, char *error, size_t error_size)
{
    char **word = *word_io;
    if (operator_of(*word) != WORD)
        return bcri_refuse(error, error_size, -1, "which program? there is none before %s",
                           *word != NULL ? *word : "the end");
    struct enl_roster_team *team = enl_roster_begin(roster, *stage_io);
    struct enl_roster_line *line = team != NULL ? enl_roster_add(roster) : NULL;
    if (line == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    team->reads_pipe = reads_pipe;
    line->argv = word;
    line->members = scrun->nodes;
    while (operator_of(*word) == WORD)
        word++;
    if (take_files(roster, &word, error, error_size) != 0)
        return -1;
    const enum operator then = operator_of(*word);
    *pipes_out = then == PIPE;
    if (then == PIPE && team->out != NULL)
        return bcri_refuse(error, error_size, -1, "=: %.200s: what it prints goes into a pipe already",
                           team->out);
    *stage_io += then == SEQUENCE;
    if (then != END)
        *word++ = NULL;
    *word_io = then != END ? word : NULL;
    return 0;
}

struct enl_roster *enl_scrun_roster(const struct enl_scrun *scrun, char **argv, char *error,
                                    size_t error_size)
{
    struct enl_roster *roster = enl_roster_new(ENL_FRONT_SCRUN);
    uint32_t stage = 0;
    bool pipes = false;
    int failed = 0;
    if (roster == NULL) {
        bcri_refuse(error, error_size, 0, "no memory");
        return NULL;
    }
    roster->hosts = scrun->hosts;
    roster->per_host = scrun->per_host;
    roster->choice = scrun->choice;
    roster->is_heterogeneous = scrun->is_heterogeneous;
    roster->is_quiet = scrun->is_quiet;
    roster->tells_usage = scrun->tells_usage;
    roster->tells_each = scrun->tells_each;
    roster->limits = scrun->limits;
    for (char **word = argv; failed == 0 && word != NULL;)
        failed = take_team(roster, scrun, &stage, pipes, &word, &pipes, error, error_size);
    char **variables = failed == 0 ? enl_roster_words(roster, 1, 0) : NULL;
    if (failed == 0 && variables == NULL)
        failed = bcri_refuse(error, error_size, -1, "no memory");
    if (variables != NULL && strchr(scrun->variable, '=')[1] != '\0')
        variables[0] = scrun->variable;
    roster->environment = variables;
    if (failed == 0 && enl_roster_count(roster, error, error_size) == 0)
        return roster;
    enl_roster_free(roster);
    return NULL;
}
