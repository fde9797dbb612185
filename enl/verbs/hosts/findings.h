/* SPDX-License-Identifier: MIT */
/* What is wrong with machines that were asked, and what to do about it. */
#ifndef ENL_FINDINGS_H
#define ENL_FINDINGS_H

#include <stdbool.h>

#include "verbs/hosts/ask.h"

struct enl_finding {
    bool bad;        /* the machine cannot be used */
    char text[2048]; /* a sentence, without the machine's name but in that of one that cannot be asked */
};

/* Finds those that are one machine, to one user, whose names share a daemon. Without memory for that none are found. */
void enl_findings_compare(struct enl_asked *all, size_t count);
/* Calls `take` for each finding of machine number `which` of `count`; `here` is this one. Returns whether it
 * can be used. */
bool enl_findings(const struct enl_asked *all, size_t count, size_t which, const struct enl_facts *here,
                  void (*take)(void *data, const struct enl_finding *finding), void *data);

#endif
