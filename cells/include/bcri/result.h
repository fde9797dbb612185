/* SPDX-License-Identifier: MIT */
/* How a routine below the public ones has ended, where that may be something else than success or an
 * error. An outcome is no error: it never reaches a program, and the compiler takes neither for the
 * other. A routine that can only succeed or fail returns 0 or a bcrE_ code. */
#ifndef BCRI_RESULT_H
#define BCRI_RESULT_H

#include <stdbool.h>

/* Each routine says where it is declared which of these it may return. */
enum bcri_outcome {
    BCRI_DONE,
    BCRI_FAILED,    /* `error` says why */
    BCRI_STALE,     /* the resolved cell is out of date */
    BCRI_NO_ROOM,   /* the area's bound is reached, or other puts wait for room */
    BCRI_ELSEWHERE, /* the CCE is on another host */
};

struct bcri_result {
    enum bcri_outcome outcome;
    int error; /* a bcrE_ code if FAILED, else 0 */
};

static inline struct bcri_result bcri_outcome(enum bcri_outcome outcome)
{
    return (struct bcri_result){.outcome = outcome};
}

/* Of a routine that can only succeed or fail. */
static inline struct bcri_result bcri_result(int error)
{
    return (struct bcri_result){.outcome = error == 0 ? BCRI_DONE : BCRI_FAILED, .error = error};
}

static inline bool bcri_is_done(struct bcri_result result)
{
    return result.outcome == BCRI_DONE;
}

/* 0, the error, or `otherwise` for any other outcome: for a routine that tells none apart. */
static inline int bcri_error_or(struct bcri_result result, int otherwise)
{
    return result.outcome == BCRI_DONE || result.outcome == BCRI_FAILED ? result.error : otherwise;
}

#endif
