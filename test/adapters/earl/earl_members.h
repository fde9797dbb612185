/* SPDX-License-Identifier: MIT */
/* What the files of earl_members share. */
#ifndef EARL_MEMBERS_H
#define EARL_MEMBERS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <earl.h>

#define MUST(condition)                                                                              \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            fprintf(stderr, "%s: line %d, process %d: not %s\n", __FILE__, __LINE__, earl_process(), \
                    #condition);                                                                     \
            exit(3);                                                                                 \
        }                                                                                            \
    } while (0)

extern int self, count, number; /* this process, how many, and the scenario's number */

/* ---- filled.c: bytes that follow from a seed, and whether they are that ---- */

void fill(unsigned char *data, size_t length, unsigned seed);
int is_filled(const unsigned char *data, size_t length, unsigned seed);
unsigned char *allocate(size_t length);

/* A receive of any predicate-free kind. */
struct earl_wanted wants(unsigned context, int source, int tag);

/* ---- members_traffic.c ---- */
void all_first(void);
void long_first(void);
void flood(void);
void long_isends(void);
void many(void);
void chosen(void);

/* ---- members_waits.c ---- */
void requests(void);
void synchronous(void);
void claims(void);
void handlers(void);
void stuck(void);
void ends(void);

/* ---- members_awaits.c ---- */
void awaits(void);

/* ---- members_buffers.c ---- */
void buffers(void);

/* ---- members_splices.c ---- */
void splices(void);

/* ---- members_stands.c ---- */
void called_in_waits(void);
void late_answers(void);
void parts_that_wait(void);
void memory_is_full(void);
void last_isend_first(void);
void isend_then_send(void);
void ends_after_routine(void);
void waits_in_routine(void);
void memory_is_kept(void);
void stopped_receiver(void);
void raw_as_buffers(void);

/* ---- members_mix.c ---- */
void mix(void);
void any_order(void);
void last_send_first(void);

/* ---- members_deaths.c ---- */
void deaths(void);

/* ---- members_groups.c ---- */
void groups(void);

/* ---- members_errors.c ---- */
void errors(void);

#endif
