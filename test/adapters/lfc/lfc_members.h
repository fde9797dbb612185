/* SPDX-License-Identifier: MIT */
/* What the files of lfc_members share. */
#ifndef LFC_MEMBERS_H
#define LFC_MEMBERS_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>

#include <lfc.h>

#define MUST(condition)                                                                             \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            fprintf(stderr, "%s: line %d, process %u: not %s\n", __FILE__, __LINE__, lfc_my_proc(), \
                    #condition);                                                                    \
            exit(3);                                                                                \
        }                                                                                           \
    } while (0)

enum { MEMBERS_MAX = 64, KINDS = 2, KEPT_MAX = 150 };

/* A packet of ours, in the network's order of bytes, since LFC translates nothing: the rest is filled with its number. */
struct packet {
    uint32_t number, kind;
};

extern unsigned rank, count, numbers;
extern int allowed; /* upcalls, while something waits */
extern volatile unsigned received[MEMBERS_MAX][KINDS], total;
extern void *kept[KEPT_MAX]; /* packets that upcalls have kept */
extern unsigned kept_count;

/* What upcalls do: add, too, and tell the number; merge bits; answer; whatever else a scenario wants. */
extern int adds, merges, asks;
extern void (*in_upcall)(void);

/* A packet whose size and content follow from its number. */
void *packet_of(uint32_t number, uint32_t kind, unsigned *size_out);
/* Polls until there are as many in all. */
void await(unsigned wanted);

/* ---- lfc_adding.c ---- */

void tell(unsigned number);
void add(void);
void add_many(void);
void merge(const void *data, unsigned size);

/* ---- lfc_answers.c ---- */

void ask(void);
void take_question(unsigned src, const void *data);

/* ---- lfc_switches.c ---- */

void switches(void);
void calls_bcr(void);

/* ---- lfc_misuse.c ---- */

_Noreturn void misuse(int which);

#endif
