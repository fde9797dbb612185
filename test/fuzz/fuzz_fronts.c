/* SPDX-License-Identifier: MIT */
/* Any bytes as a load file of yod, as a list of nodes, and as the words of a command line of yod or scrun. What is taken names a program
 * for each member, and no node twice in one list. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fronts/fronts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check(const struct enl_roster *roster)
{
    uint64_t members = 0;
    if (roster->count == 0)
        abort();
    for (size_t i = 0; i < roster->count; i++) {
        const struct enl_roster_line *line = &roster->lines[i];
        if (line->members == 0 || line->argv[0] == NULL)
            abort();
        for (char **word = line->argv; *word != NULL; word++)
            members += strlen(*word) & 0; /* each can be read to its end */
        for (uint32_t k = 0; line->nodes != NULL && k < line->members; k++)
            if (line->nodes[k] > ENL_NODE_MAX)
                abort();
        members += line->members;
    }
    if (roster->members != 0 && roster->members != members)
        abort();
}

static void check_said(int failed, const char *error)
{
    if ((failed != 0) != (error[0] != '\0'))
        abort();
}

static void load(const char *bytes, size_t length, const char *nodes)
{
    char error[512] = "";
    struct enl_nodes list = {0};
    struct enl_roster *roster = enl_roster_new(ENL_FRONT_YOD);
    if (roster == NULL || (nodes != NULL && enl_node_list("-l", nodes, &list, error, sizeof error) != 0))
        abort();
    const int failed = enl_load_file(roster, "f", bytes, length, &list, error, sizeof error);
    check_said(failed, error);
    if (failed == 0)
        check(roster);
    free(list.nodes);
    enl_roster_free(roster);
}

static void list(char *text)
{
    char error[512] = "";
    struct enl_nodes nodes = {0};
    const int failed = enl_node_list("-l", text, &nodes, error, sizeof error);
    check_said(failed, error);
    for (uint32_t i = 1; failed == 0 && i < nodes.count && i < 64; i++)
        for (uint32_t k = 0; k < i; k++)
            if (nodes.nodes[i] == nodes.nodes[k])
                abort();
    free(nodes.nodes);
}

enum { WORDS_MAX = 64 };

/* Lines as words behind the first one, which is there. Returns how many there are. */
static int split(char *text, char *words[WORDS_MAX + 1])
{
    int count = 1;
    for (char *word; count < WORDS_MAX && (word = strsep(&text, "\n")) != NULL;)
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static void yod_of(char *text)
{
    char error[512] = "";
    char *words[WORDS_MAX + 1] = {"yod"};
    struct enl_yod yod;
    const int count = split(text, words);
    const int failed = enl_yod_options(count, words, &yod, error, sizeof error);
    check_said(failed, error);
    if (failed != 0 || yod.wants_help || words[yod.first] == NULL || words[yod.first + 1] == NULL)
        return; /* one word might be a file of this machine's */
    struct enl_roster *roster = enl_yod_roster(&yod, words + yod.first, error, sizeof error);
    check_said(roster == NULL, error);
    if (roster != NULL)
        check(roster);
    enl_roster_free(roster);
}

static void scrun_of(char *text)
{
    char error[512] = "";
    char *words[WORDS_MAX + 1] = {"scrun"};
    struct enl_scrun scrun;
    const int count = split(text, words);
    const int failed = enl_scrun_options(count, words, words[1], &scrun, error, sizeof error);
    check_said(failed, error);
    if (failed != 0)
        return;
    if (!scrun.wants_help && words[scrun.first] != NULL) {
        struct enl_roster *roster = enl_scrun_roster(&scrun, words + scrun.first, error, sizeof error);
        check_said(roster == NULL, error);
        for (size_t i = 0; roster != NULL && i < roster->team_count; i++)
            if (roster->teams[i].count != 1 ||
                (i > 0 && roster->teams[i].stage < roster->teams[i - 1].stage) ||
                (roster->teams[i].reads_pipe && roster->teams[i].stage != roster->teams[i - 1].stage) ||
                roster->lines[i].argv[0] == NULL)
                abort();
        enl_roster_free(roster);
    }
    enl_scrun_free(&scrun);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return 0;
    char *text = strndup((const char *)bytes + 1, length - 1);
    if (text == NULL)
        return 0;
    switch (bytes[0] % 5) {
    case 0: load((const char *)bytes + 1, length - 1, NULL); break;
    case 1: load((const char *)bytes + 1, length - 1, "7..12,3"); break;
    case 2: list(text); break;
    case 3: yod_of(text); break;
    default: scrun_of(text);
    }
    free(text);
    return 0;
}
