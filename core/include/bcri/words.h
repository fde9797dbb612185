/* SPDX-License-Identifier: MIT */
/* A command in one string, as `wrap` of bcrrc(5) and enl -d have it: words between white space. '...' and "..." keep
 * white space in a word, and \ takes the meaning of the next character away, except in '...'. Nothing else that a
 * shell would do is done. */
#ifndef BCRI_WORDS_H
#define BCRI_WORDS_H

#include <stddef.h>

#define BCRI_WORDS_MAX 1000 /* bytes of a command; more than that is a script's work */

/* How many words there are; -1: a quote is not closed, or \ stands at the end. */
int bcri_words_count(const char *text);

/* Writes the words of `text`, each with its NUL, into `bytes` (strlen(text) + 1 of them suffice), and the address of
 * each into `words`, with NULL behind the last one: bcri_words_count(text) + 1 entries. */
void bcri_words_split(const char *text, char *bytes, char **words);

#endif
