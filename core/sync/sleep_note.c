/* SPDX-License-Identifier: MIT */
/* What a CCE leaves for tools before it sleeps: docs/layout/record.md. */
#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/slot.h"
#include "bcri/trace.h"

void bcri_sleep_note(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot, int count, uint64_t deadline_ns)
{
    struct bcri_sleep_shm *const sleep = &ctx->record->sleep;
    const bcri_ref ref = slot != NULL ? bcri_slot_ref(ctx, slot) : BCRI_REF_NONE;
    const uint64_t most = BCRI_SLEEPS_FOR_TEAM - 1;
    const uint64_t what = count == BCRI_NOTE_ROOM   ? BCRI_SLEEPS_FOR_ROOM
                          : count == BCRI_NOTE_TEAM ? BCRI_SLEEPS_FOR_TEAM
                          : (uint64_t)count < most  ? (uint64_t)count
                                                    : most;
    const uint64_t waits_for = ref | what << BCRI_REF_BITS;
    const uint32_t sleeps = bcri_load(&sleep->sleeps);
    if (sleeps == 0 || bcri_load(&sleep->after) != ctx->trace_seq ||
        bcri_load(&sleep->waits_for) != waits_for || bcri_load(&sleep->deadline_ns) != deadline_ns) {
        bcri_store(&sleep->after, ctx->trace_seq);
        ctx->coarse_ns = bcri_clock_ns(); /* so the trace's times are not older than the last sleep */
        bcri_store(&sleep->since_ns, ctx->coarse_ns);
        bcri_store(&sleep->deadline_ns, deadline_ns);
        bcri_store(&sleep->waits_for, waits_for);
    }
    bcri_counted(ctx, BCRI_COUNT_SLEEP);
    bcri_store_release(&sleep->sleeps, sleeps + 1);
}
