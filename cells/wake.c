/* SPDX-License-Identifier: MIT */
/* bcr_wake: the routine that any thread and any signal handler may call at any time. bcr/program.h is its manual.
 *
 * It counts (wakes.h), tells the scheduler if the cell has a handler (handler_request.h), and rings the CCE's own bell:
 * atomic operations and a futex call, without a lock, memory, or a word of the CCE's own. So it does not matter in the
 * midst of which call another thread is, or what a signal handler has interrupted. It is no call in the sense of
 * one_thread.h. */
#include <bcr/program.h>

#include <errno.h>

#include "bcri/bell.h"
#include "bcri/handler_request.h"
#include "bcri/ids.h"
#include "bcri/self.h"
#include "bcri/wakes.h"

/* The ring is that of bell.pml.
 * Model: handler_request.pml, wakefd.pml */
int bcr_wake(int cell)
{
    struct bcri_ctx *const ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_wake *const wake = bcri_wake_at(ctx, cell);
    const uint64_t was = wake != NULL ? atomic_fetch_add_explicit(&wake->word, 1, memory_order_seq_cst) : 0;
    if ((was & BCRI_WAKE_CELL) == 0)
        return bcri_fail(bcrE_NOCELL);
    atomic_fetch_add_explicit(&ctx->wakes.called, 1, memory_order_seq_cst);
    if ((was & BCRI_WAKE_HANDLER) != 0)
        bcri_requests_tell_wake(ctx, (uint32_t)cell);
    const int before = errno;
    bcri_bell_ring(ctx, ctx->record);
    errno = before;
    return 0;
}
