/* SPDX-License-Identifier: MIT */
/* What the parts of enl --look-host share. */
#ifndef ENL_LOOK_PRIVATE_H
#define ENL_LOOK_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/look/memory.h"
#include "inspect/look/regions.h"
#include "inspect/look/snapshot.h"

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

#endif
