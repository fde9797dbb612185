/* SPDX-License-Identifier: MIT */
/* aliases.c -- names that stand for words. */
#include <stdlib.h>
#include <string.h>

#include "console.h"

struct alias {
    struct alias *next;
    struct words words; /* the name, and what it stands for */
};

static struct alias *aliases;

static struct alias **find(const char *name)
{
    struct alias **at = &aliases;
    while (*at != NULL && strcmp((*at)->words.words[0], name) != 0)
        at = &(*at)->next;
    return at;
}

const struct words *alias_of(const char *name)
{
    static struct words behind;
    const struct alias *alias = *find(name);
    if (alias == NULL)
        return NULL;
    behind = (struct words){alias->words.count - 1, alias->words.words + 1};
    return &behind;
}

static void drop(struct alias **at)
{
    struct alias *alias = *at;
    *at = alias->next;
    free(alias->words.words);
    free(alias);
}

/* Its words from there on, as a line. */
static void print(const struct alias *alias, int from)
{
    for (int i = from; i < alias->words.count; i++)
        printf("%s%s", alias->words.words[i], i + 1 < alias->words.count ? " " : "\n");
}

static void list(void)
{
    for (const struct alias *alias = aliases; alias != NULL; alias = alias->next)
        print(alias, 0);
}

/* A copy in one block, with the strings behind the pointers. */
static char **copy_words(int count, char **words)
{
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += strlen(words[i]) + 1;
    char **copy = malloc(((size_t)count + 1) * sizeof *copy + length);
    char *to = copy == NULL ? NULL : (char *)(copy + count + 1);
    for (int i = 0; i < count && copy != NULL; i++) {
        copy[i] = strcpy(to, words[i]);
        to += strlen(to) + 1;
    }
    if (copy != NULL)
        copy[count] = NULL;
    return copy;
}

bool command_alias(int count, char **words)
{
    if (count == 1) {
        list();
        return true;
    }
    if (count == 2) {
        const struct alias *alias = *find(words[1]);
        if (alias == NULL)
            return complain("alias: %s stands for nothing", words[1]);
        print(alias, 1);
        return true;
    }
    struct alias *alias = malloc(sizeof *alias), **former = find(words[1]);
    char **copy = copy_words(count - 1, words + 1);
    if (alias == NULL || copy == NULL) {
        free(alias);
        free(copy);
        return complain("no memory");
    }
    if (*former != NULL)
        drop(former);
    *alias = (struct alias){aliases, {count - 1, copy}};
    aliases = alias;
    return true;
}

bool command_unalias(int count, char **words)
{
    bool is_well = true;
    for (int i = 1; i < count; i++) {
        struct alias **at = find(words[i]);
        if (*at != NULL)
            drop(at);
        else
            is_well = complain("unalias: %s stands for nothing", words[i]);
    }
    return is_well;
}
