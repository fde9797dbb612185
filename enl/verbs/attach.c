/* SPDX-License-Identifier: MIT */
/* attach.c -- enl attach: which CCEs, and where their debuggers are shown. */
#include <stdio.h>
#include <string.h>

#include "bcri/record.h"
#include "debug/debug.h"
#include "inspect/look/look.h"
#include "verbs/verbs.h"

enum { ATTACH_MAX = 1000, WORD_MAX = 32 };

/* Whether the program has these CCEs: returns the exit status, which is 0 if so; else a sentence has said why not. */
static int find_named_cces(const struct look_view *view, char *const *words)
{
    for (; *words != NULL; words++) {
        struct enl_named named;
        size_t at = 0;
        if (!enl_named_read(*words, &named))
            return 2;
        while (at < view->cce.count &&
               (view->cce.at[at].state == BCRI_CCE_DEAD || !enl_named_is(&named, &view->cce.at[at])))
            at++;
        if (at == view->cce.count) {
            fprintf(stderr, "enl: CCE %s: it has ended, or never was; enl ps lists what there is\n", *words);
            return 1;
        }
    }
    return 0;
}

/* Every CCE that is alive: the words by which each is named. Returns how many. */
static int name_all_alive(const struct look_view *view, char words[][WORD_MAX], int room)
{
    int count = 0;
    for (size_t i = 0; i < view->cce.count && count < room; i++) {
        const struct look_cce *cce = &view->cce.at[i];
        char host[16] = "";
        if (cce->state != BCRI_CCE_ALIVE)
            continue;
        if (cce->host != 0)
            snprintf(host, sizeof host, "@%u", (unsigned)cce->host);
        snprintf(words[count++], WORD_MAX, "pid:%u%s", (unsigned)cce->pid, host);
    }
    return count;
}

static void show_lines(const char *name, char *const *words)
{
    char word[ENL_OWN_MAX];
    enl_own_word(word, sizeof word, true, "'", ENL_OWN_APOSTROPHE);
    for (; *words != NULL; words++)
        printf("gdb -ex 'target remote | %s gdb-pipe %s %s'\n", word, name, *words);
}

int enl_command_attach(const struct enl_options *options, char **argv)
{
    static char found[ATTACH_MAX][WORD_MAX];
    const char *debugger = options->debug.debugger != NULL ? options->debug.debugger : "gdb", *value = "";
    enum enl_where where = ENL_WHERE_NONE;
    char error[512], *words[ATTACH_MAX + 1];
    struct look_view view;
    int count = 0;
    if (options->debug.where != NULL &&
        enl_where_parse(options->debug.where, &where, &value, error, sizeof error) != 0) {
        fprintf(stderr, "enl: %s\n", error);
        return 2;
    }
    for (char **at = argv + 1; *at != NULL && count < ATTACH_MAX; at++)
        words[count++] = *at;
    if (where == ENL_WHERE_BATCH) {
        fprintf(stderr, "enl: -D batch:FILE starts CCEs; for one that runs: enl attach -d 'gdb -batch -x "
                        "FILE' NAME CCE\n");
        return 2;
    }
    if (where == ENL_WHERE_NONE && count == 1)
        return enl_attach_here(argv[0], words[0], debugger);
    if (!look_gather(argv[0], false, stderr, &view))
        return 1;
    if (count == 0)
        for (const int all = name_all_alive(&view, found, ATTACH_MAX); count < all; count++)
            words[count] = found[count];
    words[count] = NULL;
    const int status = find_named_cces(&view, words);
    look_view_fini(&view);
    if (count == 0)
        fprintf(stderr, "enl: program %s has no CCE\n", argv[0]);
    if (count == 0 || status != 0)
        return count == 0 ? 1 : status;
    if (where == ENL_WHERE_NONE && count == 1)
        return enl_attach_here(argv[0], words[0], debugger);
    if (where == ENL_WHERE_SERVER) {
        show_lines(argv[0], words);
        return 0;
    }
    return enl_windows_attach(where == ENL_WHERE_DISPLAY ? value : NULL, argv[0], debugger, words);
}
