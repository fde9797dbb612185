/* SPDX-License-Identifier: MIT */
/* Corrupt shared memory: it holds what no CCE writes, so a wild write of the program's has been
 * there.
 *
 * Nobody looks for that on the way of a call. Where it shows, in a look that is made anyway, a CCE
 * ends itself, as the C library does when its heap is corrupt: its process is the one that may have
 * written it, and what it goes on to do by such memory makes it worse. Its death is repaired like
 * any other. The daemon holds everybody else's memory and goes on: it follows no reference before
 * it has looked where that leads, walks no list without a bound, and closes the cell in question
 * (cells/validate.h).
 *
 * What may be out of date is not corrupt: who looks without a lock compares the version or
 * generation again before he calls this. */
#ifndef BCRI_CORRUPT_H
#define BCRI_CORRUPT_H

#include "bcri/ref.h"

struct bcri_ctx;

/* `what` is corrupt, at `ref` or near it. A CCE says so on stderr and ends by SIGABRT. For the
 * daemon: ctx->daemon.corrupt is set, and it returns. */
void bcri_corrupt(struct bcri_ctx *ctx, const char *what, bcri_ref ref);
/* The same for a place in this process. */
void bcri_corrupt_at(struct bcri_ctx *ctx, const char *what, const void *at);

#endif
