/* SPDX-License-Identifier: MIT */
/* This enl as a word of commands that are shown or written into files: "enl" if PATH leads to it, else its path. */
#ifndef ENL_OWN_H
#define ENL_OWN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { ENL_OWN_MAX = 2 * PATH_MAX + 3 }; /* room for a word, with all in it escaped */

/* The word for a shell; without `bare` its path. */
void enl_own_word(char out[ENL_OWN_MAX], bool bare);
/* Puts a backslash before each of `special`. What has no room is cut off. */
void enl_own_escape(char *out, size_t size, const char *text, const char *special);
/* The same for a text within apostrophes of a shell. */
void enl_own_apostrophes(char *out, size_t size, const char *text);

#endif
