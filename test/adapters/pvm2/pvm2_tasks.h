/* SPDX-License-Identifier: MIT */
/* What pvm2_master and pvm2_worker have in common: the types of messages by which one says what the other does. */
#ifndef PVM2_TASKS_H
#define PVM2_TASKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <earl.h>
#include <pvm.h>

enum {
    ECHO = 1, /* all kinds of values, which are sent back */
    STRING,   /* a string, which is sent back */
    BARRIER,  /* name, number: and ANSWER */
    WAIT,     /* an event: ANSWER, and again when it has occurred */
    READY,    /* an event */
    PASS,     /* component, instance, type, number: sends there the number and 1 */
    LEAVE,    /* a name: leaves, enrolls as that, and answers */
    QUIT,
    ANSWER = 100
};

/* A failure ends all processes, also those that wait for others. */
#define MUST(condition)                                                               \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s: line %d: not %s\n", __FILE__, __LINE__, #condition); \
            earl_finish(3);                                                           \
        }                                                                             \
    } while (0)

#define MUST_BE(call, value)                                                                              \
    do {                                                                                                  \
        const int got_ = (call);                                                                          \
        if (got_ != (value)) {                                                                            \
            fprintf(stderr, "%s: line %d: %s is %d, not %d\n", __FILE__, __LINE__, #call, got_, (value)); \
            earl_finish(3);                                                                               \
        }                                                                                                 \
    } while (0)

/* Values of all kinds. */
struct values {
    short shorts[3];
    int ints[4];
    long longs[2];
    float floats[3], complexes[4];
    double doubles[2], dcomplexes[2];
    char bytes[5], string[32];
};

static inline void put_values(const struct values *values)
{
    MUST_BE(putnshort(values->shorts, 3), 0);
    MUST_BE(putnint(values->ints, 4), 0);
    MUST_BE(putnlong(values->longs, 2), 0);
    MUST_BE(putnfloat(values->floats, 3), 0);
    MUST_BE(putndfloat(values->doubles, 2), 0);
    MUST_BE(putncplx(values->complexes, 2), 0);
    MUST_BE(putndcplx(values->dcomplexes, 1), 0);
    MUST_BE(putbytes(values->bytes, 5), 0);
    MUST_BE(putstring(values->string), 0);
}

static inline void get_values(struct values *values)
{
    memset(values, 0, sizeof *values);
    MUST_BE(getnshort(values->shorts, 3), 0);
    MUST_BE(getnint(values->ints, 4), 0);
    MUST_BE(getnlong(values->longs, 2), 0);
    MUST_BE(getnfloat(values->floats, 3), 0);
    MUST_BE(getndfloat(values->doubles, 2), 0);
    MUST_BE(getncplx(values->complexes, 2), 0);
    MUST_BE(getndcplx(values->dcomplexes, 1), 0);
    MUST_BE(getbytes(values->bytes, 5), 0);
    MUST_BE(getstring(values->string), 0);
}

#endif
