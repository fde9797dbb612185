/* SPDX-License-Identifier: MIT */
/* What the scenarios of pvm_members.c have in common. */
#ifndef PVM_MEMBERS_H
#define PVM_MEMBERS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvm3.h>

/* Not by exit: what the library does at an end is no part of the mistake. */
#define MUST(condition)                                                                                \
    do {                                                                                               \
        if (!(condition)) {                                                                            \
            fprintf(stderr, "%s: line %d, task %d: not %s (pvm_errno %d)\n", __FILE__, __LINE__, self, \
                    #condition, pvm_errno);                                                            \
            _Exit(3);                                                                                  \
        }                                                                                              \
    } while (0)

/* A routine has that result. */
#define IS(call, wanted)                                                                                 \
    do {                                                                                                 \
        const int result_ = (call), wanted_ = (wanted);                                                  \
        if (result_ != wanted_) {                                                                        \
            fprintf(stderr, "%s: line %d, task %d: %s is %d, not %s\n", __FILE__, __LINE__, self, #call, \
                    result_, #wanted);                                                                   \
            _Exit(3);                                                                                    \
        }                                                                                                \
    } while (0)

/* A routine fails with that code, and keeps it; nothing is said, as PvmAutoErr is 0. */
#define FAILS(call, code)          \
    do {                           \
        pvm_errno = 0;             \
        IS(call, code);            \
        MUST(pvm_errno == (code)); \
    } while (0)

extern int self, count, number; /* the place among the tasks, how many, and the scenario's number */
extern int *tids;
extern char *me; /* argv[0] */

/* The place of a tid in tids. */
int place_of(int tid);
/* Waits until all tasks have called it. */
void all_meet(void);
void send_int(int to, int tag, int value);
/* The value of the active receive buffer. */
int next_int(void);

void machine(void);
void spawns(void);
void places(void);
void spawned(void);
void notices(void);
void puts_number(void);
void finds_number(void);
void misses_number(void);
void sees_loss(void);
void ignores_terms(void);
void stays_on(void);
void halts_machine(void);
int starts_machine(void);
void speaks(void);
void murmurs(void);
void catches(void);
void catches_meanwhile(void);
void hosts(void);
void loses(void);
void mailboxes(void);
void waits_for_mail(void);
void numbers(void);
void groups(void);
void collections(void);
void frozen(void);
void halts(void);
void exported(void);
void leaving(void);
void types(void);
void in_place(void);
void texts(void);
void formats(void);
void lengths(void);
void order(void);
void timed(void);
void casts(void);
void direct(void);
void buffers(void);
void many_buffers(void);
void forwards(void);
void nested(void);
void infos(void);
void all_send_first(void);
void long_one_by_one(void);
void flood(void);
void to_an_ended_task(void);
void chooses(void);
void contexts(void);
void handlers(void);
void polls(void);
void options(void);
void mistakes(void);
void told(void);

#endif
