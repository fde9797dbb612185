/* SPDX-License-Identifier: MIT */
/* bcr_fd: a descriptor for poll(2) that tells when an own cell has regions. bcr.h is its manual.
 *
 * An armed cell (flag ARMED) sends all operations through both locks. The CCE that leaves it with a
 * region in it makes the descriptor readable, by the daemon or itself (enl/client/eventfds.c), and
 * then clears the flag: once for one arming. The flag is cleared last, so if the CCE dies in between,
 * repair finds the cell armed and makes the descriptor readable a second time; no wake-up is lost. */
#include <bcr.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/descriptor.h"
#include "bcri/fd.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/private.h"
#include "bcri/queue.h"
#include "bcri/self.h"
#include "bcri/tx.h"

/* This CCE's descriptors, by cell. */
struct bcri_cell_fd {
    struct bcri_cell_fd *next;
    bcri_ref cell;
    bcri_ref area;
    int fd;
};

static struct bcri_cell_fd *find_descriptor(struct bcri_ctx *ctx, bcri_ref cell)
{
    struct bcri_cell_fd *entry = ctx->cell_fds;
    while (entry != NULL && entry->cell != cell)
        entry = entry->next;
    return entry;
}

static int make_descriptor(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                           struct bcri_cell_fd **entry_out)
{
    struct bcri_cell_fd *entry = bcri_private_alloc(sizeof *entry);
    int fd = entry != NULL ? bcri_descriptor_aside(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) : -1;
    if (fd < 0 || ctx->fd_upcalls == NULL || ctx->fd_upcalls->set(ctx->up, resolved->ref, fd) != 0) {
        if (fd >= 0)
            close(fd);
        bcri_private_free(entry);
        return bcrE_NOMEM;
    }
    *entry = (struct bcri_cell_fd){ctx->cell_fds, resolved->ref, resolved->area_ref, fd};
    ctx->cell_fds = entry;
    *entry_out = entry;
    return 0;
}

static int arm(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int fd)
{
    uint64_t count;
    if (read(fd, &count, sizeof count) < 0)
        count = 0; /* it was drained already */
    bcri_journal_open(ctx, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    const struct bcri_result entered = bcri_cell_enter(ctx, resolved);
    if (bcri_is_done(entered)) {
        count = bcri_queue_length(resolved) != 0;
        if (count == 0) {
            bcri_tx_begin(ctx);
            bcri_tx_flags(ctx, resolved, (uint32_t)bcri_load(&resolved->cell->h.state) | BCRI_CELL_ARMED);
            bcri_tx_commit(ctx);
        } else if (write(fd, &count, sizeof count) < 0) {
            count = 0; /* cannot happen: it was just drained, and never blocks */
        }
        bcri_cell_leave(ctx, resolved);
    }
    bcri_journal_close(ctx);
    return entered.error == bcrE_NOMEM ? bcrE_NOMEM : 0;
}

int bcr_fd(int cell)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_resolved *resolved;
    int error = bcri_resolved_find(ctx, 1, cell, &resolved); /* 1 is this CCE itself */
    struct bcri_cell_fd *entry = error == 0 ? find_descriptor(ctx, resolved->ref) : NULL;
    if (error == 0 && entry == NULL)
        error = make_descriptor(ctx, resolved, &entry);
    if (error == 0)
        error = arm(ctx, resolved, entry->fd);
    return error == 0 ? entry->fd : bcri_fail(error);
}

void bcri_cell_fds_close(struct bcri_ctx *ctx, bcri_ref area)
{
    for (struct bcri_cell_fd **at = &ctx->cell_fds; *at != NULL;) {
        struct bcri_cell_fd *entry = *at;
        if (area != BCRI_REF_NONE && entry->area != area) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        if (area != BCRI_REF_NONE)
            ctx->fd_upcalls->set(ctx->up, entry->cell, -1);
        close(entry->fd);
        bcri_private_free(entry);
    }
}
