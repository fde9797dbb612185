/* SPDX-License-Identifier: MIT */
/* spawn.c -- the command that spawns tasks. */
#include <stdlib.h>
#include <string.h>

#include <pvm3.h>

#include "console.h"

extern char *pvm_errlist[];

struct wish {
    int tasks, flag;
    const char *where;
    FILE *file; /* to which they print; NULL: where the virtual machine does */
};

static bool is_architecture(const char *name)
{
    int hosts;
    struct pvmhostinfo *host;
    if (pvm_config(&hosts, NULL, &host) < 0)
        return false;
    for (int i = 0; i < hosts; i++)
        if (strcmp(host[i].hi_arch, name) == 0)
            return true;
    return false;
}

/* Of "->", "->FILE" and "->>FILE", without the "->". The file stays open until the console ends, as tasks print to it. */
static bool open_file(const char *word, struct wish *wish)
{
    const bool appends = *word == '>';
    const char *path = word + appends;
    if (*path == '\0') {
        wish->file = stdout;
        return !appends || complain("spawn: ->> needs a file");
    }
    wish->file = fopen(path, appends ? "ae" : "we");
    return wish->file != NULL || complain("spawn: %s cannot be opened", path);
}

static bool read_option(const char *word, struct wish *wish)
{
    if (*word == '>')
        return open_file(word + 1, wish);
    if (strcmp(word, "?") == 0) {
        wish->flag |= PvmTaskDebug;
        return true;
    }
    int number;
    if (word_number(word, 10, &number)) {
        wish->tasks = number;
        return number > 0 || complain("spawn: \"-%s\" is no number of tasks", word);
    }
    if (*word == '\0' || wish->where != NULL)
        return complain("spawn: \"-%s\" is one host or architecture too many", word);
    wish->where = word;
    wish->flag |= is_architecture(word) ? PvmTaskArch : PvmTaskHost;
    return true;
}

/* Prints the tids; says why those that were not started were not. */
static bool tell(int asked, int started, const int *tids)
{
    printf("%d successful\n", started < 0 ? 0 : started);
    for (int i = 0; i < started; i++)
        printf("t%x\n", (unsigned)tids[i]);
    if (started < 0)
        return complain("spawn: %s", pvm_strerror());
    for (int i = started; i < asked; i++)
        if (i == started || tids[i] != tids[i - 1])
            (void)complain("spawn: %s", pvm_errlist[-tids[i]]);
    return started == asked;
}

bool command_spawn(int count, char **words)
{
    struct wish wish = {.tasks = 1};
    int at = 1;
    for (; at < count && words[at][0] == '-'; at++)
        if (!read_option(words[at] + 1, &wish))
            return false;
    if (at == count)
        return complain("spawn: which program?");
    int *tids = calloc((size_t)wish.tasks, sizeof *tids);
    if (tids == NULL)
        return complain("no memory");
    (void)pvm_catchout(wish.file);
    const int started = pvm_spawn(words[at], words + at + 1, wish.flag, wish.where, wish.tasks, tids);
    (void)pvm_probe(-1, -1); /* that they have begun is known now, and where they print */
    const bool is_well = tell(wish.tasks, started, tids);
    free(tids);
    return is_well;
}
