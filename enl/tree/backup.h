/* SPDX-License-Identifier: MIT */
/* The backup link of a host that others have started for the root: what it takes to reach the root without them, by
 * a control link (bcri/link_thread.h). The two give each other 32 random bytes while their way through
 * the tree is there, in start and announce; keys come of them as of an introduction's (keys.h), for this link
 * alone. There is no link, and no memory for one, before the way is lost or silent; it is made once, since its
 * packet numbers begin at 0.
 *
 *     the host                                              the root
 *     its pipe ends, or no beat was answered                its starter is lost, or nothing came from it
 *     for half of hosttimeout: makes its end,               for 3/8 of hosttimeout: makes its end,
 *     and sends beats there, too                            which listens
 *        |------------------------------- beat ---------------->|  goes by the control link from now on
 *        |<--------------------------- resume (asks) -----------|
 *     goes by the control link from now on                              |
 *        |--------------------------- resume (answers), ... --->|
 *
 * Neither goes back. docs/states/host.md has what each does when; sequence.h sees to it that nothing is lost, and
 * nothing comes twice. */
#ifndef ENL_BACKUP_H
#define ENL_BACKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/introductions.h"

/* One side's. */
struct enl_backup {
    bool is_offered; /* the root's: start has had it */
    bool is_there;   /* both hosts have given their bytes */
    bool is_made;    /* this one has its end of the link */
    uint8_t own[BCRI_SEAL_KEY_BYTES], other[BCRI_SEAL_KEY_BYTES];
};

/* A child's, and what start has said of the root for it. */
struct enl_backup_up {
    struct enl_backup backup;
    struct enl_member root;
};

/* ---- the root's ---- */

/* Adds to `start` what the child needs, which is host `there`; views point into `addresses` and to what is kept. */
void enl_backup_offer(struct enl_backup *backup, const struct enl_introductions *all,
                      const struct enl_member *there, struct bcri_control *start,
                      uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX]);
/* announce has come. */
void enl_backup_accept(struct enl_backup *backup, const struct bcri_control *announce);
/* Makes the root's end, which listens, unless there is one or that host has no backup link. */
void enl_backup_listen(struct enl_backup *backup, struct enl_introductions *all, uint32_t host);
/* Whether what has come in the control link may be the first of all: a beat, and of that host and none below it. Nobody says
 * more before the way has changed. */
bool enl_backup_is_first(const uint8_t *content, uint32_t bytes);

/* ---- a child's ---- */

/* What start brings; NULL: no backup link, or no memory for one. */
struct enl_backup_up *enl_backup_take(const struct bcri_control *start);
/* Wipes and frees it; NULL is allowed. */
void enl_backup_drop(struct enl_backup_up *up);
/* Adds this host's bytes to announce. Returns whether there is a backup link; `up` may be NULL. */
bool enl_backup_answer(const struct enl_backup_up *up, struct bcri_control *announce);
/* Makes this host's end. False: it has no backup link (NULL), or had one, or no memory. */
bool enl_backup_make(struct enl_backup_up *up, struct enl_introductions *all);

#endif
