/* SPDX-License-Identifier: MIT */
/* load_file.c -- a load file: several programs, with their numbers of nodes or lists of them. Pure; the fuzzer feeds it any bytes. */
#include <stdlib.h>
#include <string.h>

#include "bcri/refuse.h"
#include "bcri/words.h"
#include "fronts/fronts.h"

struct reading {
    struct enl_roster *roster;
    const struct enl_nodes *list; /* the command's */
    uint32_t taken;               /* so many of it are some line's */
    char place[128];              /* file:line */
    char *error;
    size_t error_size;
};

static int refuse(struct reading *reading, const char *what)
{
    return bcri_refuse(reading->error, reading->error_size, -1, "%s: %s", reading->place, what);
}

/* A line's nodes, where `own` is its own list and `size` its -sz, 0: it has none. Takes own->nodes. */
static int take_nodes(struct reading *reading, struct enl_roster_line *line, struct enl_nodes *own,
                      uint32_t size)
{
    const uint32_t left = reading->list->count - reading->taken;
    line->nodes = own->nodes;
    line->members = size != 0 ? size : own->count;
    if (own->count != 0)
        return line->members <= own->count ? 0 : refuse(reading, "-sz is more than the nodes of its list");
    if (reading->list->count == 0) {
        line->members = size != 0 ? size : 1;
        return 0;
    }
    line->members = size != 0 ? size : reading->list->count;
    if (line->members > left)
        return refuse(reading, size != 0 ? "the nodes of the command's list that are left are fewer than -sz"
                                         : "nodes of the command's list are another line's already, and "
                                           "without -sz this line has all of it");
    if ((line->nodes = malloc(line->members * sizeof *line->nodes)) == NULL)
        return refuse(reading, "no memory");
    memcpy(line->nodes, reading->list->nodes + reading->taken, line->members * sizeof *line->nodes);
    reading->taken += line->members;
    return 0;
}

static int take_words(struct reading *reading, char **words)
{
    struct enl_nodes own = {0};
    uint32_t size = 0;
    char sentence[256];
    for (; words[0] != NULL && words[0][0] == '-'; words += 2) {
        const bool is_size = strcmp(words[0], "-sz") == 0;
        int failed = 0;
        if (!is_size && strcmp(words[0], "-l") != 0 && strcmp(words[0], "-list") != 0)
            failed = refuse(reading, "a line of a load file has -sz and -l, and no other options");
        else if (words[1] == NULL)
            failed = refuse(reading, is_size ? "-sz needs a number" : "-l needs a list of nodes");
        else if (is_size ? size != 0 : own.count != 0)
            failed = refuse(reading, is_size ? "-sz comes twice" : "-l comes twice");
        else if (is_size) {
            const char *at = words[1];
            if (!enl_take_count(&at, &size) || at[0] != '\0')
                failed = refuse(reading, "-sz takes a number from 1 to 65000");
        } else if (enl_node_list("-l", words[1], &own, sentence, sizeof sentence) != 0)
            failed = refuse(reading, sentence);
        if (failed != 0) {
            free(own.nodes);
            return failed;
        }
    }
    if (words[0] == NULL) {
        free(own.nodes);
        return refuse(reading, "which program? the line has none");
    }
    struct enl_roster_line *line = enl_roster_add(reading->roster);
    if (line == NULL) {
        free(own.nodes);
        return refuse(reading, "no memory");
    }
    line->argv = words;
    return take_nodes(reading, line, &own, size);
}

static int take_line(struct reading *reading, const char *bytes, size_t length)
{
    char *text = malloc(length + 1);
    if (text == NULL)
        return refuse(reading, "no memory");
    memcpy(text, bytes, length);
    text[length] = '\0';
    const int count = bcri_words_count(text);
    char **words = count > 0 ? enl_roster_words(reading->roster, (size_t)count, length + 1) : NULL;
    int failed = 0;
    if (memchr(text, '\0', length) != NULL)
        failed = refuse(reading, "a zero byte");
    else if (count < 0)
        failed = refuse(reading, "a quote is not closed, or \\ stands at its end");
    else if (count > 0 && words == NULL)
        failed = refuse(reading, "no memory");
    else if (count > 0) {
        bcri_words_split(text, (char *)(words + count + 1), words);
        failed = take_words(reading, words);
    }
    free(text);
    return failed;
}

/* How much of a line is no comment: # begins one where a word could begin. */
static size_t before_comment(const char *line, size_t bytes)
{
    char quote = '\0';
    for (size_t i = 0; i < bytes; i++) {
        const bool begins = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
        if (quote == '\0' && line[i] == '#' && begins)
            return i;
        if (quote != '\'' && line[i] == '\\')
            i++;
        else if (quote == '\0' && (line[i] == '\'' || line[i] == '"'))
            quote = line[i];
        else if (line[i] == quote)
            quote = '\0';
    }
    return bytes;
}

int enl_load_file(struct enl_roster *roster, const char *file, const char *text, size_t length,
                  const struct enl_nodes *list, char *error, size_t error_size)
{
    struct reading reading = {.roster = roster, .list = list, .error = error, .error_size = error_size};
    unsigned number = 0;
    const size_t before = roster->count;
    for (size_t at = 0, next; at < length; at = next) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t bytes = end != NULL ? (size_t)(end - (text + at)) : length - at;
        next = at + bytes + 1;
        bytes = before_comment(text + at, bytes);
        snprintf(reading.place, sizeof reading.place, "%.100s:%u", file, ++number);
        if (take_line(&reading, text + at, bytes) != 0)
            return -1;
    }
    if (roster->count == before)
        return bcri_refuse(error, error_size, -1, "%.200s: a load file that names no program", file);
    return 0;
}
