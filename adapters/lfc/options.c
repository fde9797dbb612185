/* SPDX-License-Identifier: MIT */
/* options.c -- -lfc-NAME[=VALUE] on the command line, and LFC_NAME in the environment, which the command line overrides. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lfc_private.h"

enum kind { FLAG, NUMBER, TEXT };

static const struct option {
    const char *name, *variable;
    enum kind kind;
    size_t at; /* in struct lfc_options */
    unsigned least, most;
} options_known[] = {
    {"verbose", "LFC_VERBOSE", FLAG, offsetof(struct lfc_options, verbose), 0, 0},
    {"ring-frames", "LFC_RING_FRAMES", NUMBER, offsetof(struct lfc_options, ring_frames), 1, 1000000},
    {"no-intr", "LFC_NO_INTR", FLAG, offsetof(struct lfc_options, no_intr), 0, 0},
    {"interval", "LFC_INTERVAL", NUMBER, offsetof(struct lfc_options, intr_first), 0, 10000000},
    {"intr-first", "LFC_INTR_FIRST", NUMBER, offsetof(struct lfc_options, intr_first), 0, 10000000},
    {"intr-next", "LFC_INTR_NEXT", NUMBER, offsetof(struct lfc_options, intr_next), 0, 10000000},
    {"stats", "LFC_STATS", FLAG, offsetof(struct lfc_options, stats), 0, 0},
    {"hosts", NULL, TEXT, offsetof(struct lfc_options, hosts), 0, 0}, /* HOSTS: hosts.c */
    {"use-hosts", "LFC_USE_HOSTS", FLAG, offsetof(struct lfc_options, use_hosts), 0, 0},
    {"lcp", "LFC_LCP", TEXT, offsetof(struct lfc_options, lcp), 0, 0},
    {"tree", "LFC_TREE", TEXT, offsetof(struct lfc_options, tree), 0, 0},
    {"routes", "ROUTES", TEXT, offsetof(struct lfc_options, routes), 0, 0},
};
enum { OPTIONS = sizeof options_known / sizeof options_known[0] };

/* `value` NULL: there is none. `word` is what a sentence names. */
static void take(struct lfc_options *options, const struct option *option, const char *word,
                 const char *value)
{
    void *const place = (char *)options + option->at;
    if (option->kind == FLAG && value != NULL && value[0] != '\0' && strcmp(value, "1") != 0)
        lfc_fail("lfc_init", "%s takes no value, not %s", word, value);
    if (option->kind == FLAG) {
        *(bool *)place = true;
        return;
    }
    if (value == NULL || value[0] == '\0')
        lfc_fail("lfc_init", "%s needs a value", word);
    if (option->kind == TEXT) {
        *(const char **)place = value;
        return;
    }
    char *end;
    errno = 0;
    const unsigned long number = strtoul(value, &end, 10);
    if (errno != 0 || *end != '\0' || !isdigit((unsigned char)value[0]) || number < option->least ||
        number > option->most)
        lfc_fail("lfc_init", "%s takes a number from %u to %u, not %s", word, option->least, option->most,
                 value);
    *(unsigned *)place = (unsigned)number;
    if (strcmp(option->name, "interval") == 0)
        options->intr_next = (unsigned)number;
}

static const struct option *find(const char *name, size_t length)
{
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(options_known[i].name) == length && strncmp(options_known[i].name, name, length) == 0)
            return &options_known[i];
    return NULL;
}

static void check(const struct lfc_options *options)
{
    const char *tree = options->tree;
    if (tree != NULL && strcmp(tree, "binary") != 0 && strcmp(tree, "bst") != 0 && strcmp(tree, "chain") != 0)
        lfc_fail("lfc_init", "-lfc-tree (LFC_TREE) takes binary, bst or chain, not %s", tree);
}

void lfc_options_take(struct lfc_options *options, int *argc, char **argv)
{
    int kept = 0;
    *options = (struct lfc_options){.ring_frames = 512, .intr_first = 70, .intr_next = 70};
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *option = &options_known[i];
        const char *value = option->variable != NULL ? getenv(option->variable) : NULL;
        /* An empty one counts as not set, but for flags, which have no value. */
        if (value != NULL && (option->kind == FLAG || value[0] != '\0'))
            take(options, option, option->variable, value);
    }
    for (int i = 0; i < *argc; i++) {
        static const char prefix[] = "-lfc-";
        const char *name = argv[i] + sizeof prefix - 1, *equals;
        if (i == 0 || strncmp(argv[i], prefix, sizeof prefix - 1) != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        equals = strchr(name, '=');
        const struct option *option = find(name, equals != NULL ? (size_t)(equals - name) : strlen(name));
        if (option != NULL) {
            take(options, option, argv[i], equals != NULL ? equals + 1 : NULL);
            continue;
        }
        fprintf(stderr, "lfc: %s is no option of LFC's: it is left to the program\n", argv[i]);
        argv[kept++] = argv[i];
    }
    *argc = kept;
    argv[kept] = NULL;
    check(options);
}
