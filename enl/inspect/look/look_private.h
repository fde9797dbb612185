/* SPDX-License-Identifier: MIT */
/* look_private.h -- what the files of enl/inspect/look have of each other. */
#ifndef ENL_LOOK_PRIVATE_H
#define ENL_LOOK_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/host.h"
#include "bcri/record.h"
#include "bcri/ref.h"
#include "inspect/look/look.h"

/* memory.c -- The shared memory of a host as a helper sees it: mapped for reading only, each segment when it is
 * first needed.
 *
 * The program runs on meanwhile. What is read here may be half of a change, or belong to something
 * else by the time it is followed; so each reference is compared with the segment in which it lies,
 * and whoever follows a list bounds it. A read can change nothing. A segment whose pages are given
 * back at this moment reads as zero. */

struct look_memory {
    const struct bcri_host_shm *host;
    /* How a segment is mapped: NULL where there is none. */
    const void *(*map)(void *data, uint32_t seg, size_t *size_out);
    void *data;
    struct {
        const unsigned char *base;
        size_t size;
        int tried;
    } segments[BCRI_SEG_MAX];
};

/* NULL, or why the host cannot be looked at. */
const char *look_memory_open(struct look_memory *memory);
/* What lies at `ref`; NULL if `bytes` bytes do not lie there. */
const void *look_at(struct look_memory *memory, bcri_ref ref, uint64_t bytes);
/* The record of that index; NULL: there is none. */
const struct bcri_record_shm *look_record(struct look_memory *memory, uint32_t index);

/* regions.c -- Who holds regions of whose heap: sums over what a look has met. A region that several hold counts
 * with each holder, and once in the heap that it lies in. */

struct look_sum {
    uint64_t key;   /* holder << 17 | in_cells << 16 | home */
    uint64_t count; /* 0: no sum */
    uint64_t bytes;
};

struct look_regions {
    bcri_ref *met; /* hash table; 0: free */
    size_t met_room, met_count;
    struct look_sum *sums; /* the same */
    size_t sums_room, sums_count;
    uint64_t used[65536]; /* bytes of the regions met, by home */
};

/* `holder` holds the region at `ref`, of `bytes` bytes in the heap of `home`. False: no memory. */
bool look_regions_add(struct look_regions *regions, bcri_ref ref, uint32_t holder, bool in_cells,
                      uint16_t home, uint64_t bytes);
/* The `at`th sum and those after it; *at_out goes on from there. NULL: that was the last. */
const struct look_sum *look_regions_next(const struct look_regions *regions, size_t *at);
void look_regions_fini(struct look_regions *regions);

/* look_private -- What the parts of enl --look-host share. */

/* What a look does at most, so that it ends also where shared memory makes no sense. */
enum { LOOK_ROWS_MAX = 400000, LOOK_STEPS_MAX = 20000000 };

struct look {
    struct look_memory memory;
    struct look_regions regions;
    int socket;
    uint64_t host; /* its number */
    uint64_t rows, steps;
    struct look_row *cces; /* told at the end, when it is known what lies in their heaps */
    size_t cce_count;
    bool names; /* of CCEs are asked for, which takes a message each */
    bool gone;  /* nobody reads the snapshot any more */
    bool cut;   /* it has reached a bound */
};

/* Writes a row. */
void look_say(struct look *look, struct look_row *row);
/* One more thing is looked at. False: that was all for this snapshot. */
bool look_step(struct look *look);

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

/* say.c -- How CCEs, cells and times are called in what enl shows of a program. */

enum { LOOK_NAME_MAX = 192 };

/* "CCE 3", " (pid 12)" if several CCEs have that ordinal, " on alpha" if there are several hosts. Each
 * returns `out`, which has LOOK_NAME_MAX bytes. */
const char *look_say_cce(const struct look_view *view, uint64_t host, uint64_t index, char *out);
/* "host 1 (name)". */
const char *look_say_host(const struct look_view *view, uint64_t number, char *out);
/* "cell 3 of CCE 0". */
const char *look_say_cell(const struct look_view *view, uint64_t host, uint64_t owner, uint64_t cell,
                          char *out);
/* "12.3 s"; "never" if `since_ns` is 0. */
const char *look_say_age(uint64_t now_ns, uint64_t since_ns, char *out);
/* "waits for a region from cell 3 of CCE 0" and the like. */
const char *look_say_wait(const struct look_view *view, const struct look_wait *wait, char *out, size_t size);
/* "waits" (in BCR), "polls" or "sleeps" (outside it), "runs", "stopped" and the like. */
const char *look_say_state(const struct look_cce *cce);
const char *look_say_kind(uint64_t kind);

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
