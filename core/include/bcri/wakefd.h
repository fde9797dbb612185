/* SPDX-License-Identifier: MIT */
/* The descriptor by which a CCE learns that something has changed while it sleeps in a poll of its own (bcr_wakefd).
 *
 * Arming it is a way to sleep on the bell (bell.h): the CCE stores asleep = 1 (handler_request.h), then SLEEPS_IN_POLL,
 * and looks at everything that it waits for only after that. So whoever makes something true that the look has not seen
 * finds one of the two words, and rings; a ring of a CCE that SLEEPS_IN_POLL makes the descriptor readable. Like other
 * ringers it leaves `sleeping` as it is: the daemon can ring again for one that dies. A CCE that sleeps on its futex
 * meanwhile takes the word for that, so it writes its descriptor itself afterwards.
 *
 * The descriptor is an epoll of an eventfd, which is written, and a timer for the next deadline of an invocation. The
 * daemon has the eventfd, too, under a number that no cell has. The CCE itself, in any thread or signal handler,
 * writes it directly; others by ctx->fd_upcalls. A ring may arrive after the next arming: then the descriptor is readable
 * once more than needed. */
#ifndef BCRI_WAKEFD_H
#define BCRI_WAKEFD_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/bell.h"
#include "bcri/ctx.h"

/* Makes this CCE's descriptor if there is none. 0 or bcrE_NOMEM. */
int bcri_wakefd_make(struct bcri_ctx *ctx);
void bcri_wakefd_fini(struct bcri_ctx *ctx);

/* Whether the CCE has one. */
static inline bool bcri_wakefd_exists(const struct bcri_ctx *ctx)
{
    return ctx->wakefd.fd > 0;
}

/* Takes away what has made it readable, and arms it. */
void bcri_wakefd_arm(struct bcri_ctx *ctx);
/* It becomes readable at this time, if it is armed; BCRI_DEADLINE_NEVER: not by time. */
void bcri_wakefd_deadline(struct bcri_ctx *ctx, uint64_t deadline_ns);

static inline bool bcri_wakefd_armed(const struct bcri_ctx *ctx)
{
    return bcri_load(&ctx->bell->sleeping) == BCRI_SLEEPS_IN_POLL;
}
/* What this CCE has done itself is a change, too. */
static inline void bcri_wakefd_changed(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(bcri_wakefd_armed(ctx)))
        bcri_bell_ring(ctx, ctx->record);
}

/* Makes the descriptor of the CCE of `record` readable. */
void bcri_wakefd_ring(const struct bcri_ctx *ctx, const struct bcri_record_shm *record);

#endif
