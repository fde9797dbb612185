/* SPDX-License-Identifier: MIT */
/* What ended CCEs leave, and when it can go. The daemon gives their memory back as soon as no CCE
 * needs it, and gives their records out again. So a program that enlists and ends CCEs for ever
 * does not grow.
 *
 *   segment   goes when                                       the daemon learns it from
 *   SLOTS     the CCE is repaired: no ID is left              -
 *   HEAP      no block is held                                the CCE that frees the last block
 *                                                             (`awaited`)
 *   cells     every ticket that was served is collected       deaths, and any other message
 *   record,   all of that is gone, and since then the daemon
 *   numbers,  has seen every CCE outside all operations       deaths, and any other message
 *   cells
 *
 * Records, numbers and pages of cells wait for that last condition before they are given out again:
 * a CCE inside an operation may have found the index, a slot or a count of the dead one and not
 * used it yet.
 *
 * Nothing is polled. `awaited` in a segment's entry is the number of counted frees at which the
 * segment may be free: those counted when the daemon looked, and one for each block that it saw
 * held. Blocks may be freed between the two looks and counted although the daemon did not see them
 * held; then the daemon is told early and looks again.
 *
 * CCEs may still touch punched memory through a mapping: a CCE that takes a lock of an outdated
 * resolved cell, at any time, and a transaction that is applied again, until its journal is closed.
 * The memory reads as zero, which is no cell's generation; a store brings one page back, until the
 * pages or the number are given out again. Mappings stay: a number has one file.
 * docs/layout/host.md tells why no older reference leads there.
 *
 * Only one thread of the daemon calls this, the worker, which repairs. */
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

/* CCE `index` is DEAD and repaired. False: no memory; then what the CCE left stays until the
 * program ends. */
bool bcri_reclaim_add(struct bcri_reclaim *reclaim, uint32_t index);

/* Drops what is free by now. To be called after each bcri_reclaim_add, and when a CCE has told the
 * daemon that something may be free. */
void bcri_reclaim_look(struct bcri_reclaim *reclaim);

/* Takes one record that can be given out again, if there is one. The caller then calls
 * bcri_host_cce_release. */
bool bcri_reclaim_take(struct bcri_reclaim *reclaim, uint32_t *index_out);

#endif
