/* SPDX-License-Identifier: MIT */
/* What ended CCEs leave, and when it can go: the daemon gives their memory back as soon as nobody
 * needs it, and their records out again. So a program that enlists and ends CCEs for ever does not
 * grow.
 *
 *   segment   goes when                                                   who tells
 *   SLOTS     the CCE is repaired: no ID is left                          -
 *   HEAP      no block is held                                            whoever frees the last block (`awaited`)
 *   cells     no ticket is left that was served and not collected         deaths, and whatever else is told
 *
 *   record,   all of that is gone, and since then every CCE has been seen outside all operations: until then one of them may
 *   numbers,  have found the index, a slot or a count of the dead one and not used it yet. They are given out again
 *   cells
 *
 * Nothing is polled. `awaited` in a segment's entry is the count at which it may be free: what was
 * counted when the daemon looked, and one for each thing that it saw held. Things may be freed
 * between the two looks and counted for nothing; then the daemon is told early and looks again.
 *
 * What is punched may still be touched through a mapping: by a CCE that takes a lock of an outdated
 * resolved cell, at any time, and by a transaction that is being done again, until its journal is
 * closed. It reads as zero, which is nobody's generation; a store brings one page back, until the
 * room or the number is given out again. Mappings stay: a number has one file. Why nothing leads
 * there from before: docs/layout/host.md.
 *
 * One thread of the daemon, the one that repairs. */
#ifndef BCRI_RECLAIM_H
#define BCRI_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/host.h"

struct bcri_reclaim;

/* NULL: no memory. */
struct bcri_reclaim *bcri_reclaim_init(struct bcri_host *host);
void bcri_reclaim_fini(struct bcri_reclaim *reclaim);

/* CCE `index` is DEAD and repaired. False: no memory, then what it left stays until the program
 * ends. */
bool bcri_reclaim_add(struct bcri_reclaim *reclaim, uint32_t index);

/* Something may be free by now: drops what is. After each bcri_reclaim_add, and when a CCE has
 * told. */
void bcri_reclaim_look(struct bcri_reclaim *reclaim);

/* One record that can be given out again, if there is one: bcri_host_cce_release is the caller's to
 * call. */
bool bcri_reclaim_take(struct bcri_reclaim *reclaim, uint32_t *index_out);

#endif
