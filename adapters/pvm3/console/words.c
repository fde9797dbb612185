/* SPDX-License-Identifier: MIT */
/* words.c -- a line becomes words. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"

/* Copies the next word to `to`, and moves on. False: a quote is not closed. */
static bool copy_word(const char **at, char *to)
{
    char quote = '\0';
    for (; **at != '\0' && (quote != '\0' || strchr(" \t\r\n", **at) == NULL); (*at)++) {
        if (quote == '\0' && (**at == '"' || **at == '\''))
            quote = **at;
        else if (**at == quote)
            quote = '\0';
        else if (**at == '\\' && quote != '\'' && (*at)[1] != '\0')
            *to++ = *++*at;
        else
            *to++ = **at;
    }
    *to = '\0';
    return quote == '\0';
}

bool words_split(const char *line, struct words *words)
{
    const size_t length = strlen(line);
    /* The words lie behind the pointers to them, of which there are fewer than characters. */
    *words = (struct words){0, malloc((length / 2 + 2) * sizeof(char *) + 2 * length + 2)};
    if (words->words == NULL)
        return complain("no memory");
    char *to = (char *)(words->words + length / 2 + 2);
    for (;;) {
        line += strspn(line, " \t\r\n");
        if (*line == '\0' || *line == '#')
            break;
        if (!copy_word(&line, to)) {
            words_free(words);
            return complain("a quote is not closed");
        }
        words->words[words->count++] = to;
        to += strlen(to) + 1;
    }
    words->words[words->count] = NULL;
    return true;
}

void words_free(struct words *words)
{
    free(words->words);
    *words = (struct words){0, NULL};
}

bool word_number(const char *word, int base, int *number)
{
    char *end;
    const long value = strtol(word, &end, base);
    *number = (int)value;
    return *word != '\0' && *end == '\0' && value >= INT_MIN && value <= INT_MAX;
}

bool word_tid(const char *word, int *tid)
{
    return word_number(word + (*word == 't'), 16, tid) && *tid > 0;
}
