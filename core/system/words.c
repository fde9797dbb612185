/* SPDX-License-Identifier: MIT */
/* See bcri/words.h. */
#include "bcri/words.h"

#include <stdbool.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Goes behind the next word, whose bytes it writes to `*bytes` unless that is NULL. Returns NULL if the word does not
 * end. */
static const char *pass_word(const char *at, char **bytes)
{
    char quote = '\0';
    for (; *at != '\0' && (quote != '\0' || !is_space(*at)); at++) {
        char c = *at;
        if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
            continue;
        }
        if (c == quote) {
            quote = '\0';
            continue;
        }
        if (c == '\\' && quote != '\'' && (c = *++at) == '\0')
            return NULL;
        if (bytes != NULL)
            *(*bytes)++ = c;
    }
    return quote == '\0' ? at : NULL;
}

static const char *pass_space(const char *at)
{
    while (is_space(*at))
        at++;
    return at;
}

int bcri_words_count(const char *text)
{
    int count = 0;
    for (const char *at = pass_space(text); *at != '\0'; at = pass_space(at), count++)
        if ((at = pass_word(at, NULL)) == NULL)
            return -1;
    return count;
}

void bcri_words_split(const char *text, char *bytes, char **words)
{
    for (const char *at = pass_space(text); *at != '\0'; at = pass_space(at)) {
        *words++ = bytes;
        at = pass_word(at, &bytes);
        *bytes++ = '\0';
    }
    *words = NULL;
}
