/* SPDX-License-Identifier: MIT */
/* The reserve of a host that others have started for the root: what it takes to reach the root without them, by
 * a link in the tree's lane (bcri/link_thread.h). The two give each other 32 random bytes while their way through
 * the tree is there, in start and announce; keys come of them as of an introduction's (keys.h), for this link
 * alone. There is no link, and no memory for one, before the way is lost or silent; it is made once, since its
 * packet numbers begin at 0.
 *
 *     the host                                              the root
 *     its pipe ends, or no beat was answered                its starter is lost, or nothing came from it
 *     for half of hosttimeout: makes its end,               for 3/8 of hosttimeout: makes its end,
 *     and sends beats there, too                            which listens
 *        |------------------------------- beat ---------------->|  goes by the lane from now on
 *        |<--------------------------- resume (asks) -----------|
 *     goes by the lane from now on                              |
 *        |--------------------------- resume (answers), ... --->|
 *
 * Neither goes back. docs/states/host.md has what each does when; sequence.h sees to it that nothing is lost, and
 * nothing comes twice. */
#ifndef ENL_RESERVE_H
#define ENL_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/control.h"
#include "bcri/link_thread.h"

struct enl_child;
struct enl_program;

struct enl_reserve {
    bool is_there; /* both hosts have given their bytes */
    bool is_made;  /* this one has its end of the link */
    uint8_t own[BCRI_SEAL_KEY_BYTES], other[BCRI_SEAL_KEY_BYTES];
};

/* ---- the root's ---- */

/* Adds to `start` what the child's host needs; views point into `addresses` and to what the child keeps. */
void enl_reserve_offer(struct enl_child *child, struct bcri_control *start,
                       uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX]);
/* announce has come. */
void enl_reserve_accept(struct enl_child *child, const struct bcri_control *announce);
/* Makes the root's end, which listens, unless there is one or the child has no reserve. */
void enl_reserve_listen(struct enl_child *child);

/* ---- a child's ---- */

/* start has come, and may have a reserve in it. */
void enl_reserve_take(const struct bcri_control *start);
/* Adds this host's bytes to announce. Returns whether there is a reserve. */
bool enl_reserve_answer(struct bcri_control *announce);
/* Makes this host's end. False: it has no reserve, or had one, or no memory. */
bool enl_reserve_make(struct enl_program *program);

#endif
