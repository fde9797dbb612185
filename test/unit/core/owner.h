/* SPDX-License-Identifier: MIT */
/* A group with one CCE that owns a heap, for tests of what others do to its blocks. */
#ifndef BCR_TEST_CORE_OWNER_H
#define BCR_TEST_CORE_OWNER_H

#include "bcri/ctx.h"
#include "group.h"

extern struct group *group;
extern struct bcri_ctx *owner;
extern uint32_t area; /* the handle of its memory */

/* The owner has an area of `nbytes`. */
void open_group(uint64_t nbytes);
/* Nothing is held, nothing was freed twice, no freed block got lost on its way to its owner. */
void close_group(void);

/* A block of `ctx`'s heap with so many holders. */
bcri_ref new_region(struct bcri_ctx *ctx, uint32_t length, uint32_t count);
/* Takes one hold away, as an operation that ends there. */
void drop(struct bcri_ctx *ctx, bcri_ref ref);

#endif
