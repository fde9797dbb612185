/* SPDX-License-Identifier: MIT */
/* bcr_rgalloc_within: waiting for room in the account. bcr.h is its manual; core/memory/heap_room.c says who rings, and
 * why no ring is missed.
 *
 * A try gives the block an ID at once, since a block that is out and has the count 0 counts as freed. So with
 * handlers the try is what the scheduler looks at, and the call finds its region when it goes on. */
#include <bcr.h>

#include "bcr/error.h"
#include "bcri/clock.h"
#include "bcri/enter.h"
#include "bcri/heap.h"
#include "bcri/hooks.h"
#include "bcri/new_region.h"
#include "bcri/one_thread.h"
#include "bcri/wait.h"
#include "bcri/wait_loop.h"

/* How often a CCE looks again that cannot make others fence. */
#define LOOK_AGAIN_NS (10 * BCRI_NS_PER_MS)

struct room {
    struct bcri_event event;
    struct bcri_ctx *ctx;
    uint32_t length;
    int archtype;
    bcr_region rgid; /* NULL: none yet */
    int error;       /* of the last try */
};

/* Whether the wait is over: with a region, or with another failure than the want of room. */
static bool try_again(struct bcri_event *event)
{
    struct room *const room = (struct room *)(void *)event;
    room->error = bcri_region_new(room->ctx, room->length, room->archtype, &room->rgid);
    return room->error != bcrE_NBYTES;
}

static void wait_for_room(struct room *room, uint64_t deadline_ns)
{
    struct bcri_ctx *const ctx = room->ctx;
    const bool fenced = bcri_heap_room_wait(ctx);
    do {
        uint64_t until_ns = fenced ? BCRI_DEADLINE_NEVER : bcri_clock_ns() + LOOK_AGAIN_NS;
        until_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
        (void)bcri_wait_event(ctx, &room->event, until_ns);
    } while (room->error == bcrE_NBYTES && !bcri_wait_is_over(deadline_ns));
    bcri_heap_room_over(ctx);
}

bcr_region bcr_rgalloc_within(int len, int archtype, int msec)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return NULL;
    struct room room = {
        .event = {try_again, BCRI_NOTE_ROOM}, .ctx = ctx, .length = (uint32_t)len, .archtype = archtype};
    room.error =
        msec == bcr_PENDING || len < 0 ? bcrE_ARG : bcri_region_new(ctx, (uint32_t)len, archtype, &room.rgid);
    if (room.error == bcrE_NBYTES && msec != 0 && bcri_heap_room_possible(ctx, room.length))
        wait_for_room(&room, bcri_deadline_after(msec));
    if (room.error != 0)
        bcri_set_errno(room.error);
    return room.rgid;
}
