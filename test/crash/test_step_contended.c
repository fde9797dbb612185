/* SPDX-License-Identifier: MIT */
/* Killed in the middle of others: another process works on the same cell all the time, and goes on
 * when the victim is buried. What is left in the cell depends on who was faster, so only the audits
 * and the survivors' memory are compared. */
#include "scene.h"

static void one_region(struct scene *scene)
{
    scene->id[0] = number(100);
}
static void deq_pending(struct scene *scene)
{
    scene->id[0] = bcr_deq(scene->home, scene->cell, bcr_PENDING);
    CHECK(scene->id[0] != NULL);
}

static bool enq(struct scene *scene)
{
    (void)(bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0);
    return true;
}
static bool enq_nofree(struct scene *scene)
{
    (void)(bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0);
    return true;
}
static bool write_free(struct scene *scene)
{
    (void)(bcr_write(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0);
    return true;
}
static bool deq(struct scene *scene)
{
    (void)(bcr_deq(scene->home, scene->cell, 0) != NULL);
    return true;
}
static bool deq_wait(struct scene *scene)
{
    bcr_region rgid = bcr_deq(scene->home, scene->cell, 5);
    if (rgid != NULL)
        (void)bcr_rgfree(rgid);
    return true;
}
static bool read_wait(struct scene *scene)
{
    bcr_region rgid = bcr_read(scene->home, scene->cell, 5);
    if (rgid != NULL)
        (void)bcr_rgfree(rgid);
    return true;
}
static bool lock_and_release(struct scene *scene)
{
    bcr_region rgid = bcr_acqwl(scene->home, scene->cell, 5);
    if (rgid != NULL)
        (void)bcr_rlswl(rgid, scene->home, scene->cell);
    return true;
}
static bool zap(struct scene *scene)
{
    return bcr_zap(scene->home, scene->cell) == 0;
}
static bool cancel(struct scene *scene)
{
    return bcr_rgfree(scene->id[0]) == 0;
}
static bool wait_for(struct scene *scene)
{
    (void)bcr_rgwait(scene->id[0], 5, 1);
    return true;
}

/* What the other one does. Its regions are its own or the victim's. */
static void fills(struct scene *scene)
{
    bcr_region rgid = bcr_rgalloc(8, 0);
    if (rgid != NULL && bcr_enq(rgid, scene->home, scene->cell, bcr_FREE) != 0)
        (void)bcr_rgfree(rgid);
}
static void takes(struct scene *scene)
{
    bcr_region rgid = bcr_deq(scene->home, scene->cell, 1);
    if (rgid != NULL)
        (void)bcr_rgfree(rgid);
}
static void puts_and_takes(struct scene *scene)
{
    fills(scene);
    takes(scene);
}
static void reads_and_writes(struct scene *scene)
{
    bcr_region rgid = bcr_rgalloc(8, 0);
    if (rgid != NULL && bcr_write(rgid, scene->home, scene->cell, bcr_FREE) != 0)
        (void)bcr_rgfree(rgid);
    rgid = bcr_read(scene->home, scene->cell, 1);
    if (rgid != NULL)
        (void)bcr_rgfree(rgid);
}
static void locks(struct scene *scene)
{
    bcr_region rgid = bcr_acqwl(scene->home, scene->cell, 1);
    if (rgid != NULL && bcr_rlswl(rgid, scene->home, scene->cell) != 0)
        (void)bcr_rgfree(rgid);
}
static void zaps(struct scene *scene)
{
    fills(scene);
    fills(scene);
    (void)bcr_zap(scene->home, scene->cell);
}

/* The name says first what the victim does. */
SCENARIO(enq_against_puts_and_takes, .prepare = one_region, .run = enq, .contender = puts_and_takes)
SCENARIO(enq_against_takes, .prepare = one_region, .run = enq, .contender = takes)
SCENARIO(enq_against_readers_that_wait, .prepare = one_region, .run = enq_nofree,
         .contender = reads_and_writes)
SCENARIO(enq_against_puts_into_a_small_area, .nrgns = 2, .queued = 1, .prepare = one_region, .run = enq,
         .contender = puts_and_takes)
SCENARIO(enq_against_zaps, .prepare = one_region, .run = enq_nofree, .contender = zaps)
SCENARIO(write_against_reads_and_writes, .prepare = one_region, .run = write_free,
         .contender = reads_and_writes)
SCENARIO(write_against_puts_and_takes, .prepare = one_region, .run = write_free, .contender = puts_and_takes)
SCENARIO(deq_against_puts_and_takes, .queued = 2, .run = deq, .contender = puts_and_takes)
SCENARIO(deq_that_waits_against_puts, .run = deq_wait, .contender = fills)
SCENARIO(deq_that_waits_against_puts_and_takes, .run = deq_wait, .contender = puts_and_takes)
SCENARIO(deq_that_waits_against_a_small_area, .nrgns = 2, .run = deq_wait, .contender = puts_and_takes)
SCENARIO(read_that_waits_against_reads_and_writes, .run = read_wait, .contender = reads_and_writes)
SCENARIO(read_that_waits_against_puts_and_takes, .run = read_wait, .contender = puts_and_takes)
SCENARIO(lock_against_locks, .queued = 1, .run = lock_and_release, .contender = locks)
SCENARIO(lock_against_reads_and_writes, .queued = 1, .run = lock_and_release, .contender = reads_and_writes)
SCENARIO(zap_against_puts_and_takes, .queued = 3, .run = zap, .contender = puts_and_takes)
SCENARIO(zap_against_zaps, .queued = 3, .run = zap, .contender = zaps)
SCENARIO(cancellation_against_puts, .prepare = deq_pending, .run = cancel, .contender = fills)
SCENARIO(rgwait_against_puts_and_takes, .prepare = deq_pending, .run = wait_for, .contender = puts_and_takes)
SCENARIO(deq_of_its_own_against_puts_and_takes, .own = true, .queued = 2, .run = deq_wait,
         .contender = puts_and_takes)
SCENARIO(enq_into_its_own_against_takes, .own = true, .prepare = one_region, .run = enq, .contender = takes)
