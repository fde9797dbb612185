/* SPDX-License-Identifier: MIT */
/* Corrupt shared memory: it holds what no CCE writes, so a wild write of the program has hit it, or two threads of a CCE were
 * in BCR at once (one_thread.h).
 *
 * No call makes a test only to find corrupt memory. When a test that is needed for another reason
 * finds some, a CCE ends itself, as the C library does when its heap is corrupt: its own process
 * may have written there, and going on with such memory makes things worse. The daemon repairs its
 * death like any other. The daemon itself serves all CCEs and must go on: it checks where a
 * reference leads before it follows it, walks no list without a bound, and closes the cell in
 * question (cells/validate.h).
 *
 * Memory that may be out of date is not corrupt: a reader without a lock compares the version or
 * generation again before it calls bcri_corrupt(). */
#ifndef BCRI_CORRUPT_H
#define BCRI_CORRUPT_H

#include "bcri/ref.h"

struct bcri_ctx;

/* `what` is corrupt, at `ref` or near it. In a CCE this writes so to stderr and ends the process by
 * SIGABRT. In the daemon it sets ctx->daemon.corrupt and returns. */
void bcri_corrupt(struct bcri_ctx *ctx, const char *what, bcri_ref ref);
/* The same for an address in this process. */
void bcri_corrupt_at(struct bcri_ctx *ctx, const char *what, const void *at);

#endif
