/* SPDX-License-Identifier: MIT */
/* What the scenarios of nx_members.c have in common. */
#ifndef NX_MEMBERS_H
#define NX_MEMBERS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nx.h>

/* Not by exit: what the library does at an end is no part of the mistake. */
#define MUST(condition)                                                                                   \
    do {                                                                                                  \
        if (!(condition)) {                                                                               \
            fprintf(stderr, "%s: line %d, node %ld: not %s\n", __FILE__, __LINE__, mynode(), #condition); \
            _Exit(3);                                                                                     \
        }                                                                                                 \
    } while (0)

/* A routine with _ fails with that code. */
#define MUST_FAIL(call, code)                                                                           \
    do {                                                                                                \
        errno = 0;                                                                                      \
        MUST((call) == -1);                                                                             \
        if (errno != (code)) {                                                                          \
            fprintf(stderr, "%s: line %d: %s: errno %d, wanted %s\n", __FILE__, __LINE__, #call, errno, \
                    #code);                                                                             \
            _Exit(3);                                                                                   \
        }                                                                                               \
    } while (0)

extern long me, nodes;
extern int number; /* the second word of the command line; 0 without */

/* A mask of types, as a selector. */
#define TYPES(mask) ((long)(int)(0x80000000U | (mask)))

/* Bytes that tell their sender, type and place. */
void fill(unsigned char *bytes, long count, long node, long type);
void must_be_filled(const unsigned char *bytes, long count, long node, long type);
void *memory(size_t bytes);
/* Computes, without calling anything, until *flag is `value`. */
void compute_until(const volatile int *flag, int value);

/* messages */
void lengths(void);
void selectors(void);
void selected_x(void);
void process_types(void);
void all_send_first(void);
void flood(void);
void exchanges(void);
void to_an_ended_node(void);
/* requests */
void identifiers(void);
void many_identifiers(void);
void merges(void);
void cancels(void);
void probes(void);
void flushes(void);
/* handlers */
void interrupts(void);
void long_interrupts(void);
void masks(void);
void handlers_repost(void);
void handlers_of_sends(void);
void handlers_of_slow_receivers(void);
void handlers_info(void);
/* global */
void operations(void);
void collections(void);
void own_operation(void);
void lists(void);
void small_buffer(void);
/* others */
void node_numbers(void);
void clocks(void);
void lamp(void);
void codes(void);
void told_codes(void);
void mistake(void);

#endif
