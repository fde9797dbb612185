/* SPDX-License-Identifier: MIT */
/* Pairs of calls whose callers both die, and calls in which a third CCE stands still meanwhile:
 * two.h. */
#include "scene_calls.h"
#include "two.h"

static bool lock_and_keep(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, 0) != NULL || bcr_errno == bcrE_TIMEOUT;
}
static bool drop_shared(struct scene *scene)
{
    bcr_region rgid = bcr_read(scene->home, scene->cell, 0);
    return rgid == NULL || bcr_rgfree(rgid) == 0;
}

static void one_region(struct scene *scene)
{
    CHECK_INT(bcr_putwait(0), 0);
    scene->id[0] = number(SCENE_VICTIMS_PUT);
}

/* The name says first what the first one does. */
TWO(enq_and_enq, .queued = 2, .prepare = one_region, .run = enq, .second = enq)
TWO(enq_and_deq, .queued = 2, .prepare = one_region, .run = enq, .second = deq)
TWO(enq_to_a_waiting_taker_and_deq, .waiters = "T", .prepare = one_region, .run = enq, .second = deq_pending)
TWO(enq_to_readers_and_takers_and_write, .waiters = "RTRT", .prepare = one_region, .run = enq_nofree,
    .second = write_it)
TWO(enq_beyond_the_ring_and_zap, .cells = 10, .queued = 8, .prepare = one_region, .run = enq, .second = zap)
TWO(enq_without_room_and_deq, .nrgns = 2, .queued = 2, .puts = 2, .prepare = one_region, .run = enq,
    .second = deq)
TWO(deq_and_enq_where_puts_wait, .nrgns = 2, .queued = 2, .puts = 2, .prepare = one_region, .run = deq,
    .second = enq)
TWO(deq_and_deq, .queued = 3, .prepare = one_region, .run = deq, .second = deq)
TWO(deq_that_waits_and_enq, .prepare = one_region, .run = deq_pending, .second = enq)
TWO(read_that_waits_and_write, .prepare = one_region, .run = read_pending, .second = write_it)
TWO(read_and_read_of_one_region, .queued = 1, .prepare = one_region, .run = drop_shared,
    .second = drop_shared)
TWO(write_over_three_and_deq, .queued = 3, .prepare = one_region, .run = write_it, .second = deq)
TWO(write_over_three_and_read, .queued = 3, .prepare = one_region, .run = write_it, .second = drop_shared)
TWO(zap_and_write, .queued = 4, .given_back = 2, .prepare = one_region, .run = zap, .second = write_it)
TWO(lock_and_lock, .queued = 1, .prepare = one_region, .run = lock_and_release, .second = lock_and_release)
TWO(lock_and_enq, .queued = 1, .prepare = one_region, .run = lock_and_release, .second = enq)
TWO(enqm_and_enqm, .queued = 1, .prepare = one_region, .run = enqm, .second = enqm)
TWO(enqm_without_room_and_zap, .nrgns = 2, .queued = 2, .prepare = one_region, .run = enqm, .second = zap)

/* The name says first what the first one has done or does, then what the one does that is stopped
 * and the second that dies. */
STOPPED(a_waiting_deq_while_an_enq_is_stopped, .prepare = one_region, .run = deq_pending, .second = enq)
STOPPED(a_waiting_read_while_a_write_is_stopped, .waiters = "RT", .prepare = one_region, .run = read_pending,
        .second = write_it)
STOPPED(a_waiting_deq_while_another_is_stopped, .prepare = one_region, .run = deq_pending,
        .second = deq_pending)
STOPPED(lock_while_a_lock_is_stopped, .queued = 1, .prepare = one_region, .run = lock_and_keep,
        .second = lock_and_release)
