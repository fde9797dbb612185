/* SPDX-License-Identifier: MIT */
/*
 * copydesc.h -- copying between user memory and a region as a copy descriptor says.
 *
 * Pure: no I/O, no locks, no state kept between calls; nothing outside the buffer and the region is touched.
 * Memory is taken, for the length of the call, only for notes on nested descriptors and on those that move nothing
 * in the region.
 *
 * The caller decides everything that concerns cells: that the region is held, that it is its only holder before
 * bcri_copy_to_region (bcr_rgmod), and what an int naming a CCE means (struct bcri_cce_codec).
 *
 * What a descriptor means stands in <bcr/types.h>.
 *
 * Source: BCR guide, "Copying/Translation Operations".
 */
#ifndef BCRI_COPYDESC_H
#define BCRI_COPYDESC_H

#include <stdbool.h>
#include <stdint.h>

/* How ints that name CCEs become identities that travel, and back. Each routine returns 0 or the positive bcrE_
 * code at which the copy stops (encode: bcrE_NOCCE for an int never given out), and writes its result only with 0.
 * Neither is called for -1 and its sixteen zero bytes. The bytes have no particular alignment. */
struct bcri_cce_codec {
    void *ctx;
    int (*encode)(void *ctx, int id, uint8_t out[16]);
    int (*decode)(void *ctx, const uint8_t in[16], int *id_out);
};

/* A region as the caller looked it up, borrowed for the call. bcri_copy_from_region does not write to it. */
struct bcri_copy_region {
    void *data;
    int length_bytes;
    int offset_bytes; /* where the copy begins; alignment still counts from `data` */
    int archtype;
};

/* What bcr_copyto and bcr_copyfm return, and what belongs into bcr_errno (0: leave it).
 *
 *    ret      error
 *    n >= 2   0          descriptor expended; n - 2 bytes of the source are left
 *    1        0          not expended: the source ran out
 *    0        bcrE_ARCH  the region's archtype is a good one, but not this machine's: nothing was copied
 *    -2       bcrE_ARG   an argument, or the descriptor lies in the destination: nothing was copied
 *             bcrE_ARCH  `archtype` is none: nothing was copied
 *             bcrE_DESC  malformed descriptor: nothing was copied
 *             bcrE_NOMEM no memory for these notes: nothing was copied
 *             bcrE_DESC  an adjust led before the buffer or beyond INT_MAX: copied up to there
 *             other      the codec's code: copied up to that item
 *    n < -2   0          not expended: the destination is full; -n - 2 bytes of the source are left
 *
 * What was copied before a stop is exactly a prefix of what would have been. Bytes left count from the end of the
 * last item (with the adjusts made since, without the padding before an item that did not come to pass), at least
 * 0, at most INT_MAX - 2. If both sides are too short for an item, or the destination is full when nothing is left
 * of the source, the source ran out. */
struct bcri_copy_result {
    int ret;
    int error;
};

/* Copies from `buffer` into the region, the descriptor processed `repl` times. */
struct bcri_copy_result bcri_copy_to_region(const int *copydesc, int repl,
                                            const struct bcri_copy_region *region, const void *buffer,
                                            int buflen, const struct bcri_cce_codec *codec);

/* Copies from the region into `buffer`, the descriptor processed `repl` times. */
struct bcri_copy_result bcri_copy_from_region(const int *copydesc, int repl,
                                              const struct bcri_copy_region *region, void *buffer, int buflen,
                                              const struct bcri_cce_codec *codec);

/* 0 if the descriptor is well formed, else bcrE_DESC; bcrE_ARG for NULL; bcrE_NOMEM. For callers that must know
 * before they change anything (a copy-on-write made in vain, say). */
int bcri_copydesc_check(const int *copydesc);

/* Whether the other arguments are acceptable (else both copies give bcrE_ARG), for the same callers. */
bool bcri_copy_arguments_good(const int *copydesc, int repl, const struct bcri_copy_region *region,
                              const void *buffer, int buflen);

#endif
