/* SPDX-License-Identifier: MIT */
/*
 * readstrings.h -- the lines of a text file that say something.
 */
#ifndef READSTRINGS_H
#define READSTRINGS_H

struct strings {
    char **item;
    int count;
};

/* Reads `path`: one string per line, without blanks at its ends; empty lines and those that begin with # do
 * not count.  0, or an errno value, and then *strings_out is as it was.  freestrings() gives the memory back. */
int readstrings(const char *path, struct strings *strings_out);
/* Adds a copy of `text`.  0, or an errno value. */
int addstring(struct strings *strings, const char *text);
void freestrings(struct strings *strings);

#endif
