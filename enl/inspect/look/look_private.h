/* SPDX-License-Identifier: MIT */
/* look_private.h -- what the files of enl/inspect/look have of each other. */
#ifndef ENL_LOOK_PRIVATE_H
#define ENL_LOOK_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/host.h"
#include "bcri/order.h"
#include "bcri/record.h"
#include "bcri/ref.h"
#include "inspect/look/look.h"

/* look_out.c -- The shared memory of a host as a helper sees it: mapped for reading only, each segment when it is
 * first needed.
 *
 * The program runs on meanwhile. What is read here may be half of a change, or belong to something
 * else by the time it is followed; so each reference is compared with the segment in which it lies,
 * and each walk along a list is bounded. A read can change nothing. A segment whose pages are given
 * back at this moment reads as zero. */

struct look_memory {
    const struct bcri_host_shm *host;
    int socket; /* to the daemon, which has the segments */
    struct {
        const unsigned char *base;
        size_t size;
        bool tried;
    } segments[BCRI_SEG_MAX];
};

/* For a process that the daemon has started. Returns 0; 2 after printing `usage`: no daemon has; 1: its memory cannot be had, or
 * is of another version of BCR. */
int look_memory_open(struct look_memory *memory, const char *usage);
/* What lies at `ref`; NULL if `bytes` bytes do not lie there. */
const void *look_at(struct look_memory *memory, bcri_ref ref, uint64_t bytes);
/* The record of that index, below bcri_host_records; NULL: there is none, or it is the agent's. */
const struct bcri_record_shm *look_record(struct look_memory *memory, uint32_t index);

/* What the parts of enl --look-host share. */

/* What a look does at most, so that it ends also where shared memory makes no sense. */
enum { LOOK_ROWS_MAX = 400000, LOOK_STEPS_MAX = 20000000 };

/* A region that a CCE holds: in its cells, or by an ID. One that several hold counts with each, and once in the heap that it
 * lies in. */
struct look_held {
    bcri_ref region;
    uint32_t holder;
    bool in_cells;
    uint16_t home;
    uint64_t bytes;
};

struct look {
    struct look_memory memory;
    struct look_held *held;
    size_t held_count, held_room;
    uint64_t host; /* its number */
    uint64_t rows, steps;
    struct look_row *cces; /* told at the end, when it is known what lies in their heaps */
    size_t cce_count;
    bool names; /* of CCEs are asked for, which takes a message each */
    bool gone;  /* the reader of the snapshot has gone */
    bool cut;   /* it has reached a bound */
};

/* Writes a row. */
void look_say(struct look *look, struct look_row *row);
/* One more thing is looked at. False: that was all for this snapshot. */
bool look_step(struct look *look);
/* Counts the region at `region`, which `holder` holds. Returns its bytes; 0: there is none. */
uint64_t look_at_region(struct look *look, bcri_ref region, uint32_t holder, bool in_cells);
/* When all was looked at: the rows of the CCEs, and the sums of who holds what. */
void look_say_held(struct look *look);

/* look_cells.c: the areas and cells of a CCE. Returns the bytes that its areas may hold. */
uint64_t look_at_areas(struct look *look, uint32_t index, const struct bcri_record_shm *record);
/* Which cell of which CCE lies at `cell`; false: none. */
bool look_name_cell(struct look *look, bcri_ref cell, uint64_t *owner_out, uint64_t *number_out);

/* look_ids.c: the IDs of a CCE: what they hold, and its requests. Into its row, until when it sleeps. */
void look_at_ids(struct look *look, struct look_cce *cce, const struct bcri_record_shm *record);
/* Its last puts; and, into its row, how much it has moved. */
void look_at_trace(struct look *look, const struct bcri_record_shm *record, struct look_cce *cce);
/* Of one that has ended: its last puts. */
void look_at_ended(struct look *look, uint32_t index, const struct bcri_record_shm *record);

/* say.c -- How CCEs, cells and times are called in what enl shows of a program. Each text stays until LOOK_TEXTS more were made. */

enum { LOOK_TEXTS = 32 };

const char *look_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A name that a program or another machine has chosen, escaped. */
const char *look_say_name(const char *name);
/* "CCE 3", " (pid 12)" if several CCEs have that ordinal, " on alpha" if there are several hosts. */
const char *look_say_cce(const struct look_view *view, uint64_t host, uint64_t index);
/* "host 1 (name)". */
const char *look_say_host(const struct look_view *view, uint64_t number);
/* "12.3 s"; the other, of what began at `since_ns`: "never" if that is 0. */
const char *look_say_time(uint64_t ns);
const char *look_say_age(uint64_t now_ns, uint64_t since_ns);
/* For how long the oldest region of a cell is there, as far as is known. */
const char *look_say_oldest(const struct look_view *view, const struct look_cell *cell);
/* Where it waits: "cell 3 of CCE 0". */
const char *look_say_cell(const struct look_view *view, const struct look_wait *wait);
/* "waits for a region from cell 3 of CCE 0" and the like. */
const char *look_say_wait(const struct look_view *view, const struct look_wait *wait);
/* "waits for CCE 2: crecv type 5 from node 2": a note. */
const char *look_say_note(const struct look_view *view, const struct look_note *note);
/* "waits" (in BCR), "polls" or "sleeps" (outside it), "runs", "stopped" and the like. */
const char *look_say_state(const struct look_cce *cce);
const char *look_say_kind(uint64_t kind);

static inline bool look_wait_is_put(const struct look_wait *wait)
{
    return wait->want == BCRI_ORDER_PUT || wait->want == BCRI_ORDER_WRITE;
}
static inline bool look_wait_is_get(const struct look_wait *wait)
{
    return wait->want <= BCRI_ORDER_LOCK;
}

/* terminal.c -- A terminal as one screen that is drawn again and again, by the control sequences that all
 * terminals of today know (ECMA-48, and xterm's alternate screen). What was on it comes back on every way out: a
 * return, exit, a signal that ends or stops the process. Only SIGKILL leaves it as it is; reset(1) helps then. */

enum {
    LOOK_KEY_NONE = 0,     /* the time is up */
    LOOK_KEY_RESIZED = -1, /* it has another size, or another program has drawn on it */
    LOOK_KEY_GONE = -2     /* there is no terminal any more */
};

/* Stdin and stdout become the screen. Returns NULL, or a sentence with the remedy: it is no terminal, or has
 * fewer columns and rows. */
const char *look_terminal_open(unsigned columns, unsigned rows);
void look_terminal_close(void);
void look_terminal_size(unsigned *columns_out, unsigned *rows_out);
/* Shows `length` bytes from the top left on: lines that end with newlines, and fit. False: it has gone. */
bool look_terminal_draw(const char *bytes, size_t length);
/* The next key, or one of the above; waits until `until_ns` at most. */
int look_terminal_key(uint64_t until_ns);

#endif
