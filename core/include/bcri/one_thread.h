/* SPDX-License-Identifier: MIT */
/* One thread of a CCE at a time calls BCR, and no signal handler does. Two at once are no different, later, from a wild
 * write: what they leave in shared memory makes no sense, and the sentence that tells so comes from whoever finds it. So
 * builds with internal assertions (BCR_ASSERT_LEVEL 2) look at each public routine's beginning and end who is inside, and
 * end the process at the second one. Others have not an instruction of it.
 *
 * Handlers are no exception: they run within a call, so in the thread that makes it, and may call. An
 * invocation that has waited may go on within another thread's call; what counts is the outermost call of a
 * thread. */
#ifndef BCRI_ONE_THREAD_H
#define BCRI_ONE_THREAD_H

#ifndef BCR_ASSERT_LEVEL
#define BCR_ASSERT_LEVEL 1
#endif

#if BCR_ASSERT_LEVEL >= 2

#include <stdbool.h>

struct bcri_ctx;
struct bcri_call {
    struct bcri_ctx *ctx; /* NULL: this process is no CCE */
    const char *before;   /* what the thread did when it called */
    bool outermost;
};

/* `composed`: the routine calls public ones itself. */
struct bcri_call bcri_call_begin(const char *routine, bool composed);
void bcri_call_end(struct bcri_call *call);

/* The first line of a public routine. */
#define BCRI_CALL          BCRI_CALL_OF(false)
#define BCRI_CALL_COMPOSED BCRI_CALL_OF(true)
#define BCRI_CALL_OF(composed)                                                           \
    __attribute__((cleanup(bcri_call_end), unused)) struct bcri_call bcri_call_of_this = \
        bcri_call_begin(__func__, composed)

/* The executing invocation stops within a call; it goes on there; with NULL: in a handler of the user's. */
void bcri_call_stops(struct bcri_ctx *ctx, const char **does_out);
void bcri_call_goes_on(struct bcri_ctx *ctx, const char *does);

#else

#define BCRI_CALL                      (void)0
#define BCRI_CALL_COMPOSED             (void)0
#define bcri_call_stops(ctx, does_out) (void)0
#define bcri_call_goes_on(ctx, does)   (void)0

#endif

#endif
