/* SPDX-License-Identifier: MIT */
/*
 * must.h -- what the examples do when a BCR call fails: say what they were about to do and why it cannot be
 * done, and end this CCE.
 *
 * A CCE that ends with a status other than 0 ends the whole program (unless it runs with `onfail isolate`),
 * so nobody is left waiting for it.  A program that can go on after a failure looks at bcr_errno instead.
 */
#ifndef MUST_H
#define MUST_H

#include <bcr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void must_end(const char *doing, const char *why)
{
    fprintf(stderr, "CCE %d cannot %s: %s\n", bcr_cceord, doing, why);
    exit(EXIT_FAILURE);
}

/* For routines that return -1 when they fail; gives back what they return otherwise. */
static inline int must(int result, const char *doing)
{
    if (result < 0)
        must_end(doing, bcr_strerror(bcr_errno));
    return result;
}

/* For routines that return a region ID, NULL when they fail. */
static inline bcr_region must_have(bcr_region rgid, const char *doing)
{
    if (rgid == NULL)
        must_end(doing, bcr_strerror(bcr_errno));
    return rgid;
}

/* For bcr_copyto and bcr_copyfm: 2 or more means that the whole descriptor was copied. */
static inline void must_copy(int result, const char *doing)
{
    if (result < 0)
        must_end(doing, bcr_strerror(bcr_errno));
    if (result < 2)
        must_end(doing, "the data is shorter than its copy descriptor, or of a foreign archtype");
}

/* bcr_init says which of the features asked for are missing; the examples need all they ask for. */
static inline void must_init(int features, const char *ccename)
{
    if (must(bcr_init(features, ccename), "become a CCE") != 0)
        must_end("become a CCE", "this build of BCR lacks a feature that the program needs");
}

/* What an example sets out to prove. */
static inline void must_hold(bool holds, const char *claim)
{
    if (holds)
        return;
    fprintf(stderr, "CCE %d: DOES NOT HOLD: %s\n", bcr_cceord, claim);
    exit(EXIT_FAILURE);
}

#endif
