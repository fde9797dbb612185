/* SPDX-License-Identifier: MIT */
/* Names of machines, one by one and with ranges: node[01-16,20] is node01 ... node16 and node20, and
 * rack[1-2]n[1-4] all eight. The first number of a range says how many digits there are at least. Slurm writes
 * its lists of nodes so.
 *
 * Pure functions of any bytes. */
#ifndef ENL_HOST_NAMES_H
#define ENL_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define ENL_HOST_NAME_MAX 255u
/* Names that a list may have, so that a range that was not meant takes no memory: more than twice the hosts of
 * a program. */
#define ENL_HOSTS_MAX 150000u

/* Bytes of foreign text that are looked at. */
struct enl_word {
    const char *start;
    size_t length;
};

/* Whether a word is of letters, digits and `others`, and begins with a letter, a digit or one of `first`. */
bool enl_word_is_of(struct enl_word word, const char *first, const char *others);
/* A name or an address, which no program takes for an option. */
bool enl_is_host_name(struct enl_word word);
/* A number from 1 to `most`. */
bool enl_word_is_count(struct enl_word word, unsigned most, unsigned *count_out);

/* Cuts off what is before the next comma that is not in brackets, and that comma. */
struct enl_word enl_names_next(struct enl_word *list);
/* Cuts a * and a number off the end of `word`. False: there is none, or it is not from 1 to `most`; *times_out
 * is 0 then if there is no *. */
bool enl_names_times(struct enl_word *word, unsigned most, unsigned *times_out);

/* How many names a word stands for, 1 without brackets; 0: it cannot be, and `error` is a clause that says why
 * and what to do, in which the word is not named. */
size_t enl_names_count(struct enl_word word, char *error, size_t error_size);
/* Calls `take` with each name of a word that was counted, in order, until it returns false: so is the result
 * then. A name may be one that enl_is_host_name refuses. */
bool enl_names_each(struct enl_word word, bool (*take)(void *data, const char *name), void *data);

/* A word as it is shown, cut if it is long. */
struct enl_quote {
    char text[200];
};
struct enl_quote enl_quoted(struct enl_word word);

#endif
