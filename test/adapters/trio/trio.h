/* SPDX-License-Identifier: MIT */
/* trio.h -- one little program, written in NX (trio_nx.c), PVM 2.4 (trio_pvm2.c) and PVM 3 (trio_pvm3.c):
 * this is what it computes.
 *
 * Process 0 tells the others how many they are and how many rounds there shall be. A token of ints and
 * doubles goes around, and each process changes it. Then each has a share, which is combined along a
 * binary tree. All three send the same messages. */
#ifndef TRIO_H
#define TRIO_H

#include <stdio.h>

enum { TRIO_ITEMS = 100 };

/* Tags. A message of the tree has TRIO_UP and its sender's place, as PVM 2.4 receives by tags only. */
enum { TRIO_START = 1, TRIO_RING = 2, TRIO_UP = 1000 };

struct trio {
    int marks[TRIO_ITEMS];
    double parts[TRIO_ITEMS];
};

/* The token as process 0 first sends it; what the process at that place makes of it; and its share, from
 * the token as it left it. */
void trio_begin(struct trio *token);
void trio_change(struct trio *token, int place);
void trio_share(struct trio *share, const struct trio *token, int place);

/* Marks become the larger ones, parts the sums. */
void trio_combine(struct trio *into, const struct trio *from);

/* Prints what came out: one line, which depends on count and rounds only. */
void trio_print(FILE *into, const struct trio *all, int count, int rounds);

#endif
