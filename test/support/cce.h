/* SPDX-License-Identifier: MIT */
/* Several CCEs in one test: the test's thread is one of them at a time (`as`), and others act on
 * threads of their own when they must wait (`later_...`). Nothing is timed: who must wait first is
 * seen waiting before any other goes on. */
#ifndef BCR_TEST_CELLS_CCE_H
#define BCR_TEST_CELLS_CCE_H

#include <bcr.h>

#include "check.h"
#include "group.h"
#include "regions.h"

extern struct group *group;
extern struct bcri_ctx *one, *two; /* two CCEs that are always there */
extern int two_of_one, one_of_two; /* how each calls the other */

/* Opens the group with `one`, who has no cells and no memory yet, and `two`; the thread becomes
 * `one`. */
void begin(void);
/* Audits the shared structures, then all CCEs leave. No CCE is inside a call, or all who are
 * wait. */
void end(void);
/* All structures that are shared tell the same story (bcri/audit.h). Returns how many regions there
 * are. */
uint64_t audit(void);

/* A further CCE with 64 KiB of memory; end() takes it away. */
struct bcri_ctx *join(void);
/* It ends, as a process that exits or is killed. Only once. */
void leave(struct bcri_ctx *ctx);
/* The calling thread becomes `ctx`. */
void as(struct bcri_ctx *ctx);
/* `ctx` can map no further segment, as if its process had no descriptor left; NULL: all can again.
 * One at a time. */
void cannot_map(struct bcri_ctx *ctx);
/* How often it has tried since. */
int refusals(void);
/* How `from` calls `to`. */
bcr_cce_id name(struct bcri_ctx *from, struct bcri_ctx *to);

/* An area of `cells` in/out cells of the current CCE. */
int grow(int cells, int nrgns, int nbytes);

/* Takes the first region of a cell, which must be there. */
int take(bcr_cce_id cce, int cell);

/* A call made by `ctx` on a thread of its own. `later_...` returns when the call waits; `result`
 * waits for its end. */
struct later;
struct later *later_put(struct bcri_ctx *ctx, int qlike, int value, bcr_cce_id cce, int cell);
/* `waits`: how many of the cells it waits for. */
struct later *later_putm(struct bcri_ctx *ctx, int qlike, int value, int ncells, const int *cells, int waits);
struct later *later_get(struct bcri_ctx *ctx, int qlike, bcr_cce_id cce, int cell, int msec);
struct later *later_acqwl(struct bcri_ctx *ctx, bcr_cce_id cce, int cell, int msec);
struct outcome {
    int returned; /* of a put; 0 if a get gave a region */
    int error;    /* bcr_errno if it failed */
    int value;    /* what the region held that a get gave; it is freed unless it is a lock */
    int is_lock;
    bcr_region rgid; /* the lock */
};
struct outcome result(struct later *later);

/* How many of `ctx`'s IDs are gets that wait for a region, or were given one and have not taken
 * it. */
int pending_gets(struct bcri_ctx *ctx);
/* How many puts wait in the area of a cell of the current CCE, or another's. */
int waiting_puts(int cell);
int waiting_puts_at(bcr_cce_id cce, int cell);

#endif
