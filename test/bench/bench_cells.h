/* SPDX-License-Identifier: MIT */
/*
 * bench_cells.h -- what the parts of bench_cells and bench_handlers share: who the two CCEs are,
 * and which cells they use.
 *
 * The root is side 0; it enlists its own executable as side 1 and then, for one figure, many times more.  All of
 * it goes through bcr.h alone, as in any other program. */
#ifndef BENCH_CELLS_H
#define BENCH_CELLS_H

#include <bcr.h>
#include <bcr/program.h>

#include "floors.h"

/* Cells. Each stands in an area of its own, so that nrgns bounds it alone. */
enum {
    CELL_HAND = 10,  /* of each side: the other puts here */
    CELL_LOCK = 20,  /* of side 0: holds the region that the locks protect */
    CELL_ITEMS = 30, /* of side 1: small regions arrive here */
    CELL_BULK = 40,  /* of side 1: large ones */
    CELL_BATCH = 50, /* of side 1: holds a whole batch */
    CELL_CRY = 60,   /* of side 0: birthcries */
    CELL_BYE = 70,   /* of an enlisted child: a region here ends it */
    CELL_END = 80,   /* of an enlisted child: never filled; a get here ends when the child does */
};

enum { ORDINAL_PARTNER = 1, ORDINAL_CHILD = 1000 };

#define ITEMS_IN_CELL_MAX 1024
/* One more in the producer's hands and one in the consumer's: as many buffers as the floor has. */
#define BULK_IN_CELL_MAX (FLOOR_BULK_COUNT - 2)

/* pair->user of both sides. */
struct cells_user {
    int own, other, root; /* CCE IDs in this process */
    const char *executable;
    const char *machine; /* side 0: where side 1 is to be; NULL: here, pinned to its core */
};

static inline const struct cells_user *cells_user(const struct bench_pair *pair)
{
    return pair->user;
}

/* cells_meet.c */
/* Side 0: enlists user->executable as side 1 and hears its birthcry in CELL_CRY; fills the rest of
 * user. */
void cells_enlist_partner(struct bench_pair *pair, const struct bench_options *options,
                          struct cells_user *user);
/* Side 1: joins the pair, whose shared page the birth region names.  Its cells and its birthcry are left to the
 * caller.  Whether this is a tiny run. */
bool cells_be_partner(struct bench_pair *pair, struct cells_user *user);
/* cells_main.c: the whole of a program whose two sides prepare alike. */
struct cells_program {
    const char *title;
    const char *partner_suffix; /* the partner's file is named as the root's, and this behind it */
    int flags;                  /* of bcr_init */
    void (*prepare)(struct bench_pair *pair);
};
int cells_main(int argc, char **argv, struct bench_pair *pair, const struct cells_program *program);

/* cells_meet.c */
/* Ends the program with bcr_errno's sentence unless good. */
void cells_check(bool good, const char *what);
/* An in/out cell with exactly this number, in an area of its own. */
void cells_grow(int cell, int region_max, int heap_bytes);
/* Tells cell `cell` of CCE `cce` who we are. */
void cells_birthcry(bcr_cce_id cce, int cell);
/* The CCE ID in the next birthcry. */
int cells_hear_birthcry(int cell);

static inline bcr_region cells_new(size_t size_bytes, uint64_t value)
{
    bcr_region region = bcr_rgalloc((int)size_bytes, 0);
    cells_check(region != NULL, "bcr_rgalloc");
    *(uint64_t *)*region = value;
    return region;
}

/* cells_handover.c */
bench_step cells_handover;       /* a new region each time, freed by who got it; one way */
bench_step cells_handover_slept; /* the waiter has slept; only the way counts */
/* Waits and sleeps of this side in cells_handover_slept so far. */
void cells_slept(long *waits_out, long *sleeps_out);

/* cells_poll.c: the waiter sleeps in poll; one way */
bench_step cells_poll;     /* by the cell's descriptor */
bench_step cells_poll_own; /* by its own */
bench_step floor_eventfd;  /* two processes that write each other's eventfd */

/* cells_stream.c */
bench_step cells_stream_items; /* rgalloc, write 8 bytes, enq against deq, read, rgfree */
bench_step cells_stream_bulk;  /* the same, written whole and read whole */

/* cells_lock.c */
bench_step cells_lock_write;
bench_step cells_lock_read;
bench_step cells_lock_contended;
void cells_lock_write_loop(void *user,
                           long n); /* for bench_count_instructions; user is a struct cells_user */
void cells_lock_read_loop(void *user, long n);

/* cells_heap.c */
bench_step cells_heap_own; /* rgalloc, write 8 bytes, rgfree by side 0 */
bench_step
    cells_heap_foreign_batch; /* FLOOR_BATCH_COUNT at a time, freed by side 1; only rgalloc and rgfree count */
void cells_heap_own_loop(void *size_bytes, long n); /* for bench_count_instructions; a size_t */

/* cells_enlist.c: from bcr_enlist until floor_spawn_count children have answered */
bench_step cells_enlist;
/* What such a child does. */
void cells_child(void);

#endif
