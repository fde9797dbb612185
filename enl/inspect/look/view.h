/* SPDX-License-Identifier: MIT */
/* What a command knows of a program: the rows of all its hosts' snapshots, by kind. */
#ifndef ENL_LOOK_VIEW_H
#define ENL_LOOK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "inspect/look/snapshot.h"

#define LOOK_LIST(KIND, kind)   \
    struct {                    \
        struct look_##kind *at; \
        size_t count, room;     \
    } kind;
struct look_view {
    LOOK_KINDS(LOOK_LIST)
    bool partial;    /* there are CCEs of the program that are not in it */
    bool unanswered; /* a host of the program has not told, or not all */
    bool standstill; /* the daemons have found that no CCE of the program can go on (enl/deadlock/) */
};
#undef LOOK_LIST

/* Adds a whole snapshot. NULL, or why it cannot be used; what it had of it stays. */
const char *look_view_add(struct look_view *view, const uint8_t *bytes, size_t length);
/* Adds one row. False: no memory. */
bool look_view_keep(struct look_view *view, const struct look_row *row);
/* Sorts hosts, CCEs and cells by their numbers, once all snapshots are there. */
void look_view_sort(struct look_view *view);
void look_view_fini(struct look_view *view);

/* By binary search; NULL: it is not there. */
const struct look_cce *look_view_cce(const struct look_view *view, uint64_t host, uint64_t index);
const struct look_cell *look_view_cell(const struct look_view *view, uint64_t host, uint64_t owner,
                                       uint64_t cell);
const struct look_host *look_view_host(const struct look_view *view, uint64_t host);

/* A host's clock when it was looked at; 0: it is not there. */
uint64_t look_view_now(const struct look_view *view, uint64_t host);
/* The request that a CCE sleeps for; NULL: it does not sleep, or for something else. */
const struct look_wait *look_view_slept_for(const struct look_view *view, const struct look_cce *cce);

/* How many requests wait at a cell; and for how long the CCE sleeps that does so longest, 0 if none does. */
unsigned look_view_waiting(const struct look_view *view, const struct look_cell *cell, uint64_t *age_ns_out);

/* What is known of a CCE's sleep: whether it waits for something of others at this moment. */
bool look_is_asleep(const struct look_cce *cce);

/* A set of row kinds, by bit 1 << kind, as one JSON object in one line. */
void look_json(FILE *out, const struct look_view *view, unsigned kinds);

#endif
