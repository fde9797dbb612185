/* SPDX-License-Identifier: MIT */
/*
 * survey.h -- looks at every triple that can be reached from a descriptor, before anything is copied.
 *
 * A survey finds the descriptor well formed or not, and notes of each list under each set of inherited skip flags
 * whether it is idle (glide.h), and if so what it does to the user position. Each list is looked at once, however
 * many NESTs lead to it, so the time is bounded by the descriptor's size, not by what it expands to.
 */
#ifndef COPYDESC_SURVEY_H
#define COPYDESC_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "glide.h"
#include "layout.h"

enum { SURVEY_DEPTH_MAX = 64 };

/* What is known of the list that begins at triple `first`, under the flags `skip` of the NESTs that led there. */
struct note {
    int first;
    int skip;
    int height; /* levels of nesting below */
    struct glide *
        idle; /* what it does once, for each of LAYOUT_PHASES phases; NULL if it moves the region's position */
};

struct survey {
    const int *copydesc;
    const struct layout *user;
    bool to_region;   /* the region is the destination */
    int triple_count; /* up to the last one that can be reached; a nested list may lie anywhere before */
    struct note root;
    struct note **nested; /* hash table, open addressing, at most half full; owned */
    size_t nested_count;
    size_t nested_capacity; /* 0 or a power of two */
};

/* 0, bcrE_DESC or bcrE_NOMEM. Borrows copydesc and user until survey_fini, which is due after a success only. */
int survey_init(struct survey *survey, const int *copydesc, bool to_region, const struct layout *user);
void survey_fini(struct survey *survey);

/* The note of a list nested in a well-formed descriptor. */
const struct note *survey_nested(const struct survey *survey, int first, int skip);

#endif
