/* SPDX-License-Identifier: MIT */
/* bcr_wakefd: the descriptor of a CCE that sleeps in a poll of its own (wakefd.h). bcr/program.h is its manual.
 *
 * A CCE that has the descriptor waits in cells' lists only, never by ticket (get_attempt.c): gets that are served from a
 * list ring the bell in any case, also those that begin after the arming. What waits by ticket when the descriptor
 * is made gets a sleep flag. */
#include <bcr/program.h>

#include "bcri/hooks.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"
#include "bcri/wakefd.h"
#include "scheduler_private.h"

/* Whoever serves a waiting ticket from now on rings. */
static void flag_tickets(struct bcri_ctx *ctx)
{
    for (uint32_t chunk = 0; chunk < ctx->slots.chunks; chunk++) {
        struct bcri_slot_shm *const slots = ctx->slots.base[chunk];
        for (size_t i = 0; i < ctx->slots.count[chunk]; i++)
            if (bcri_slot_state(bcri_load_acquire(&slots[i].word)) == BCRI_SLOT_TICKET)
                (void)bcri_request_sleep_flag(ctx, &slots[i]);
    }
}

/* Model: wakefd.pml */
int bcr_wakefd(void)
{
    BCRI_CALL;
    struct bcri_ctx *const ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    const bool first = !bcri_wakefd_exists(ctx);
    const int error = bcri_wakefd_make(ctx);
    if (error != 0)
        return bcri_fail(error);
    bcri_wakefd_arm(ctx);
    if (first)
        flag_tickets(ctx);
    if (ctx->handlers.sched != NULL && ctx->hooks != NULL)
        bcri_sched_see_all(ctx->handlers.sched);
    return ctx->wakefd.fd;
}
