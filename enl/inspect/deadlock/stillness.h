/* SPDX-License-Identifier: MIT */
/* What a host knows of its own standstill at one look. Pure; docs/states/deadlock.md has the argument.
 *
 * The numbers are such that two looks with equal ones have seen the same CCEs in the same sleeps, and
 * no message sent or received between them. */
#ifndef ENL_DEADLOCK_STILLNESS_H
#define ENL_DEADLOCK_STILLNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/record.h"

struct enl_stillness {
    bool still;     /* no CCE here can go on by itself, and nothing is under way */
    uint32_t count; /* CCEs that sleep */
    uint64_t who;   /* which they are: the sum of parts of their identities, which are random */
    uint64_t moves; /* their sleeps, and the agent's messages, so far: while `who` stays, it only grows */
    uint64_t since; /* the sum of when their waits began: signals that interrupt a wait do not change it */
};

/* A look at one CCE. */
struct enl_rest {
    bool rests;    /* it sleeps without a time limit, and nobody has rung since it looked */
    bool may_lock; /* and for one request, and it has had write locks */
    uint64_t who, since;
    uint32_t sleeps;
};

/* Looks at a record that its CCE, and ringers, go on writing. */
struct enl_rest enl_rest_of(const struct bcri_record_shm *record);

/* Adds a CCE that rests. */
static inline void enl_stillness_add(struct enl_stillness *stillness, const struct enl_rest *rest)
{
    stillness->count++;
    stillness->who += rest->who;
    stillness->moves += rest->sleeps;
    stillness->since += rest->since;
}

/* Whether nothing has moved from one look to the other. */
static inline bool enl_stillness_same(const struct enl_stillness *one, const struct enl_stillness *other)
{
    return one->still && other->still && one->who == other->who && one->moves == other->moves;
}

#endif
