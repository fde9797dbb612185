/* SPDX-License-Identifier: MIT */
/*
 * rounds.h -- sheets go round among CCEs on all kinds of machines, and everything in them is checked.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <bcr.h>

enum { TABLE = 1, SHEETS, TICKS, NEWS, LEDGER }; /* cells */
enum { MEMBERS_MAX = 32 };

/* A CCE that takes part, and how it says that it represents data. The first is the root. */
struct member {
    int archtype;
    bcr_cce_id cce;
};
extern const int MEMBER_TYPE[];

/* Grows this CCE's cells, but for TABLE. */
void rounds_begin(void);
/* The root's part; says how it went. */
void rounds_lead(const struct member *members, int count, int rounds);
/* The others' part: returns when the root has ended it. */
void rounds_follow(const struct member *members, int count);

#endif
