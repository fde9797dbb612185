/* SPDX-License-Identifier: MIT */
/*
 * copydesc.h -- copying between user memory and regions as a copy descriptor says.
 *
 * No I/O and no locks; nothing outside the buffer and the region is touched. What is known about
 * descriptors is kept in a bcri_copier. Each CCE has one and is its only user, so threads share
 * nothing there. A copier recognises descriptors by their content: the program may change, free and
 * reuse its arrays between calls as it likes.
 *
 * The caller is responsible for all that concerns cells: it holds the region, it is the only holder
 * of a region into which it copies (bcr_rgmod), and it says what an int naming a CCE means (struct
 * bcri_cce_codec).
 *
 * <bcr/types.h> says what a descriptor means.
 *
 * Source: BCR guide, "Copying/Translation Operations". */
#ifndef BCRI_COPYDESC_H
#define BCRI_COPYDESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcri/reverse.h>

/* How ints that name CCEs become identities that travel, and back. Each routine returns 0, or the
 * positive bcrE_ code with which the copy stops (encode: bcrE_NOCCE for an int never given out). It
 * writes its result only when it returns 0. Neither is called for -1 and its sixteen zero bytes.
 * The bytes have no particular alignment. */
struct bcri_cce_codec {
    void *ctx;
    int (*encode)(void *ctx, int id, uint8_t out[16]);
    int (*decode)(void *ctx, const uint8_t in[16], int *id_out);
};

/* What a CCE knows about the descriptors that it has used: at most BCRI_COPIER_COMPILED of them,
 * and BCRI_COPIER_BYTES in all. The one that has not been used for longest is freed first. */
enum { BCRI_COPIER_COMPILED = 256, BCRI_COPIER_BYTES = 2 << 20 };
struct bcri_copier;

/* NULL if there is no memory. `reverse` is bcri_reverse_best(), or another for tests. */
struct bcri_copier *bcri_copier_create(const struct bcri_reverse *reverse);
void bcri_copier_destroy(struct bcri_copier *copier); /* NULL is allowed */

/* For tests: how many descriptors are known, and how often one was found or had to be made. */
struct bcri_copier_state {
    size_t compiled_count, size_bytes;
    uint64_t found_count, made_count;
};
struct bcri_copier_state bcri_copier_state(const struct bcri_copier *copier);

/* A region as the caller has looked it up, borrowed for the call. A region that is copied from is
 * not written to. */
struct bcri_copy_region {
    void *data;
    int length_bytes;
    int offset_bytes; /* where the copy begins; alignment still counts from `data` */
    int archtype;
};

/* What bcr_copyto, bcr_copyfm and bcr_copytofm return, and what they store in bcr_errno (0:
 * nothing).
 *
 *    ret      error
 *    n >= 2   0          descriptor expended; n - 2 bytes of the source are left
 *    1        0          not expended: the source ran out
 *    0        bcrE_ARCH  there is no translation for a region's archtype: nothing was copied
 *    -2       bcrE_ARG   an argument, or the descriptor lies in the destination: nothing was copied
 *             bcrE_DESC  malformed descriptor: nothing was copied
 *             bcrE_NOMEM no memory to compile the descriptor: nothing was copied
 *             bcrE_DESC  an adjust led before the buffer or beyond INT_MAX: copied up to there
 *             bcrE_RANGE a number does not fit on the other side: copied up to that item
 *             other      the codec's code: copied up to that item
 *    n < -2   0          not expended: the destination is full; -n - 2 bytes of the source are left
 *
 * What was copied before a stop is exactly a prefix of what the whole copy would have copied. The
 * bytes left count from the end of the last item, with the adjusts made since, but without the
 * padding before an item that was not copied; they are at least 0 and at most INT_MAX - 2. If both
 * sides are too short for an item, or the destination is full when nothing is left of the source,
 * the result is that the source ran out.
 *
 * If the two areas overlap, the result is as if the source had first been copied elsewhere. */
struct bcri_copy_result {
    int ret;
    int error;
};

/* Copies from `buffer` into the region, processing the descriptor `repl` times. */
struct bcri_copy_result bcri_copy_to_region(struct bcri_copier *copier, const int *copydesc, int repl,
                                            const struct bcri_copy_region *region, const void *buffer,
                                            int buflen, const struct bcri_cce_codec *codec);

/* Copies from the region into `buffer`, processing the descriptor `repl` times. */
struct bcri_copy_result bcri_copy_from_region(struct bcri_copier *copier, const int *copydesc, int repl,
                                              const struct bcri_copy_region *region, void *buffer, int buflen,
                                              const struct bcri_cce_codec *codec);

/* Copies from one region into another, each in its own archtype. There is no user side: adjusts
 * move nothing, and a CCE is its identity on both sides. */
struct bcri_copy_result bcri_copy_between(struct bcri_copier *copier, const int *copydesc, int repl,
                                          const struct bcri_copy_region *to,
                                          const struct bcri_copy_region *from);

/* What bcr_copytosz returns: how much of a region of this archtype a copy into it, from `offset` on
 * and from a buffer of `buflen` bytes, would use.
 *
 *    ret      error
 *    n >= 2   0          descriptor expended, n - 2 bytes used, the offset included
 *    0        bcrE_ARCH  there is no translation for the archtype
 *    -1       bcrE_ARG   an argument; or it would use more than INT_MAX - 2 bytes
 *             bcrE_DESC, bcrE_NOMEM  as above
 *    n <= -2  0          the source ran out, with -n - 2 bytes used */
struct bcri_copy_result bcri_copy_size(struct bcri_copier *copier, const int *copydesc, int repl,
                                       int archtype, int offset, int buflen);

/* 0 if bcri_copy_to_region and _from_region would not refuse the descriptor, else bcrE_DESC,
 * bcrE_ARG (NULL) or bcrE_NOMEM. For callers that must know before they change anything (to avoid a
 * needless copy-on-write, say). */
int bcri_copydesc_check(struct bcri_copier *copier, const int *copydesc);

/* For the same callers: whether the other arguments are acceptable (otherwise the copies give
 * bcrE_ARG). */
bool bcri_copy_arguments_good(const int *copydesc, int repl, const struct bcri_copy_region *region,
                              const void *buffer, int buflen);

/* Writes a readable form of a descriptor, with the positions on both sides, into the `size` bytes
 * at `text`: as much as fits, with a zero at the end if size > 0. Returns the length of the whole
 * text, or a negative bcrE_ code. */
int bcri_copydesc_show(const int *copydesc, int archtype, char *text, int size);

#endif
