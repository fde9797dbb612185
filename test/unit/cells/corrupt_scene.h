/* SPDX-License-Identifier: MIT */
/* The scene that tests of corrupt shared memory begin with: two CCEs, `one` and `two`, with cells,
 * queued regions, waiting requests, locks and IDs of all kinds; and what such tests say of it. */
#ifndef BCR_TEST_CELLS_CORRUPT_SCENE_H
#define BCR_TEST_CELLS_CORRUPT_SCENE_H

#include "bcri/lookup.h"
#include "cce.h"

enum { MANY_IDS = 40 };

struct scene {
    /* Cells of one's: the first holds three regions; a ticket waits at the second and a read, in its
     * list, at the third; two has a lock of the fourth; the fifth holds more than its ring; at the
     * sixth another ticket waits; the seventh holds two regions. */
    int cell;
    bcr_region held, shared, pending, listed, lock; /* IDs of two's */
    bcr_region far, far_pending, far_free; /* the same, in a chunk of their own; far_free is none any more */
    bcr_region theirs;                     /* two's, of a region of one's */
    struct bcri_resolved resolved[5];      /* the first five cells, for two */
};
extern struct scene scene;

/* Opens a group with this scene; the thread is `one`. */
void set_scene(void);

/* What of it is often made corrupt, in two's mapping. */
struct bcri_region_shm *shared_region(void);
struct bcri_node_shm *first_node(void); /* of the fifth cell */
struct bcri_slot_shm *free_id(void);
struct bcri_segment_shm *entry_of_heap(void);
/* Two's journal as it is while two drops its last hold of the shared region. */
struct bcri_journal_shm *journal_of_a_drop(void);

/* The address `at` lies in the segment of this entry. */
struct bcri_segment_shm *segment_entry(const void *at);

/* Wild writes. */
void store_64(void *where, uint64_t value);
void store_32(void *where, uint32_t value);

/* The audit must find something and say `part` of it. */
void audit_names(const char *part);

/* The CCE has ended itself: the daemon repairs what it left, as far as it can. */
void bury(struct bcri_ctx *ctx);

#endif
