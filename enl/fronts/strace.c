/* SPDX-License-Identifier: MIT */
/* strace.c -- members under strace: each becomes a line of its own, since the file that strace writes has its rank in its name. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_list.h"
#include "bcri/refuse.h"
#include "bcri/words.h"
#include "fronts/fronts.h"

struct wish {
    const char *folder, *options;
    int option_count; /* words of options */
};

/* strace -o FOLDER/strace.RANK [options] words. NULL: no memory. */
static char **put_before(struct enl_roster *roster, const struct wish *wish, uint32_t rank,
                         char *const *words)
{
    enum { OWN = 3 }; /* strace -o FILE */
    char file[PATH_MAX];
    size_t own = 0;
    const int length = snprintf(file, sizeof file, "%s/strace.%u", wish->folder, rank);
    while (words[own] != NULL)
        own++;
    const size_t count = OWN + (size_t)wish->option_count + own, text = strlen(wish->options) + 1;
    char **out = enl_roster_words(roster, count, text + (size_t)length + 1);
    if (out == NULL)
        return NULL;
    char *bytes = (char *)(out + count + 1);
    static char strace[] = "strace", to[] = "-o";
    bcri_words_split(wish->options, bytes, out + OWN);
    memcpy(bytes + text, file, (size_t)length + 1);
    out[0] = strace;
    out[1] = to;
    out[2] = bytes + text;
    memcpy(out + OWN + wish->option_count, words, own * sizeof *words);
    return out;
}

/* Adds those of a line, the first of which has that rank, to another roster. */
static bool split(struct enl_roster *to, const struct enl_roster_line *line, const struct wish *wish,
                  const char *ranks, uint32_t rank)
{
    for (uint32_t i = 0; i < line->members;) {
        const bool is_traced = enl_number_list_has(ranks, rank + i);
        uint32_t members = 1;
        while (!is_traced && i + members < line->members && !enl_number_list_has(ranks, rank + i + members))
            members++;
        struct enl_roster_line *part = enl_roster_add(to);
        if (part == NULL)
            return false;
        part->members = members;
        part->argv = is_traced ? put_before(to, wish, rank + i, line->argv) : line->argv;
        if (line->nodes != NULL && (part->nodes = malloc(members * sizeof *part->nodes)) != NULL)
            memcpy(part->nodes, line->nodes + i, members * sizeof *part->nodes);
        if (part->argv == NULL || (line->nodes != NULL && part->nodes == NULL))
            return false;
        i += members;
    }
    return true;
}

int enl_strace(struct enl_roster *roster, const char *folder, const char *options, const char *ranks,
               char *error, size_t error_size)
{
    const struct wish wish = {.folder = folder,
                              .options = options != NULL ? options : "",
                              .option_count = bcri_words_count(options != NULL ? options : "")};
    uint32_t rank = 0;
    bool is_any = false;
    int failed = 0;
    if (wish.option_count < 0)
        return bcri_refuse(error, error_size, -1,
                           "-straceoptions: a quote is not closed, or \\ stands at the end");
    if (folder[0] == '\0' || strlen(folder) >= PATH_MAX - 32u)
        return bcri_refuse(error, error_size, -1, "-strace takes the path of a directory");
    struct enl_roster *parts = enl_roster_new(roster->front);
    if (parts == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    for (size_t i = 0; i < roster->count && failed == 0; i++) {
        if (!split(parts, &roster->lines[i], &wish, ranks, rank))
            failed = bcri_refuse(error, error_size, -1, "no memory");
        for (uint32_t k = 0; k < roster->lines[i].members; k++)
            is_any = is_any || enl_number_list_has(ranks, rank + k);
        rank += roster->lines[i].members;
    }
    if (failed == 0 && !is_any)
        failed = bcri_refuse(error, error_size, -1, "-stracenodes %.60s names no rank of this job", ranks);
    if (failed == 0) { /* the lines change places; what both refer to stays */
        const struct enl_roster_line *const former = roster->lines;
        const size_t count = roster->count;
        struct enl_roster_words **last = &parts->words;
        roster->lines = parts->lines;
        roster->count = parts->count;
        parts->lines = (struct enl_roster_line *)(uintptr_t)former;
        parts->count = count;
        roster->teams[0].count = roster->count; /* yod has one */
        while (*last != NULL)
            last = &(*last)->next;
        *last = roster->words;
        roster->words = parts->words;
        parts->words = NULL;
    }
    enl_roster_free(parts);
    return failed;
}
