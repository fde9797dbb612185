/* SPDX-License-Identifier: MIT */
/* What the files of Earl's own routines have for each other. They stand on earl.h and what is beside it, as front ends do. */
#ifndef EARL_GENERIC_PRIVATE_H
#define EARL_GENERIC_PRIVATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "earl_cube.h"
#include "earl_generic.h"

/* The last contexts that users may have, as earl_generic.h says. */
#define GENERIC_MESSAGES 0x3ffffffdu
#define GENERIC_NAMES    0x3ffffffeu /* who the sender is, before its first message to a process */
#define GENERIC_ENDS     0x3fffffffu /* notices of ends */

struct generic {
    bool has_begun;
    bool is_team; /* there is no EXEC: nodes are numbers, 0 to count - 1 */
    int self, count;
    char component[EARL_COMPONENT]; /* "": none */
    int instance;
    earl_buffer *sending, *received; /* NULL: none yet */
    bool has_last;
    struct earl_envelope last; /* of the message received or found last */
};
extern struct generic earl_generic;

/* EARL_OK, or why a routine can't do anything; `does`, for those without a result, ends the program then. */
int earl_generic_need(void);
void earl_generic_must(const char *routine, int code);

static inline bool generic_is_int(long value)
{
    return value >= INT_MIN && value <= INT_MAX;
}

static inline bool generic_has_name(const char *component)
{
    return component != NULL && component[0] != '\0';
}

/* ---- addresses.c ---- */

/* Processes that are meant. */
struct generic_to {
    int count, one;
    int *list; /* NULL: `one` is the only one */
};

static inline const int *generic_list(const struct generic_to *to)
{
    return to->list != NULL ? to->list : &to->one;
}

/* Finds those that (component, inst), or without a component (node, pid), means; -1 in inst or node: all but this one. What was found
 * before is used again, and what is not loaded yet is waited for, unless `anew`. Returns EARL_OK or a code; earl_generic_to_free gives the list back. */
int earl_generic_find(struct generic_to *to, const char *component, long inst, long node, long pid,
                      bool anew);
void earl_generic_to_free(struct generic_to *to);
/* The instance of a process in a component: EARL_E_NONE if it is in none of that name. */
int earl_generic_instance(const char *component, int process);
/* A process has said that it is that instance: answers to it must not go to one that was it before. */
void earl_generic_learn(const char *component, int instance, int process);
/* The node and process ID of a process; -1 for both: it is not in the caller's cube. */
void earl_generic_place(int process, long *node, long *pid);
/* The current cube: 1; 0: there is none; or a code. */
int earl_generic_cube(struct earl_cube *cube);

/* ---- names.c ---- */

/* Tells a process who this one is, once. */
int earl_generic_introduce(int process);
/* Forgets who has been told: the component is another one. */
void earl_generic_names_anew(void);
/* Of a process that has sent a message. */
void earl_generic_name_of(int process, const char **component, int *instance);

/* ---- receive.c ---- */

/* What a receive or probe wants: one of `count` types. It stays where it is while it is in use. */
struct generic_choice {
    struct earl_wanted wanted;
    const long *types;
    int count;
};

int earl_generic_choose(struct generic_choice *choice, const long *types, int count);
/* One type only: the wanted stands alone. */
int earl_generic_want(struct earl_wanted *wanted, long type);
void earl_generic_tell(const struct earl_envelope *envelope);

#endif
