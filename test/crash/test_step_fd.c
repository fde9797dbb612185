/* SPDX-License-Identifier: MIT */
/* Killed while it arms a cell's descriptor, and while it puts into a cell that another waits for
 * with one, the cell's or its own (bcr_wakefd). */
#include <unistd.h>

#include "bcri/lookup.h"
#include "bcri/self.h"
#include "scene.h"

static void one_region(struct scene *scene)
{
    scene->id[0] = number(100);
}
static void armed_already(struct scene *scene)
{
    CHECK(bcr_fd(scene->cell) >= 0);
}

/* The putter has woken the owner before, so it asks for the descriptor now, or has it (enl/client/eventfds.c). */
static void ring_before(struct scene *scene, int times)
{
    struct bcri_ctx *const ctx = bcri_self();
    struct bcri_resolved *resolved;
    one_region(scene);
    CHECK_INT(bcri_resolved_find(ctx, scene->home, scene->cell, &resolved), 0);
    for (int i = 0; i < times; i++)
        ctx->fd_upcalls->ring(ctx->up, resolved->ref, resolved->open >> 32);
    close(
        ctx->upcalls->segment_fd(ctx->up, 0)); /* answered: so the daemon has read the message before, too */
}
static void rang_once(struct scene *scene)
{
    ring_before(scene, 1);
}
static void rang_twice(struct scene *scene)
{
    ring_before(scene, 2);
}
static void drain_and_arm(struct scene *scene)
{
    CHECK_INT(bcr_fd(scene->cell), scene->fd);
}

static bool arm(struct scene *scene)
{
    return bcr_fd(scene->cell) >= 0;
}
static bool arm_and_shrink(struct scene *scene)
{
    return bcr_fd(scene->cell) >= 0 && bcr_cafree(scene->cell) == 0;
}
static bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0;
}
static bool write_it(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0;
}
static bool enq_nofree(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0;
}
static bool read_pending(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, bcr_PENDING) != NULL;
}

SCENARIO(fd_of_an_empty_cell, .own = true, .run = arm, .before = ": DEAD", .after = ": DEAD")
SCENARIO(fd_of_a_cell_with_regions, .own = true, .queued = 2, .run = arm, .before = ": DEAD",
         .after = ": DEAD")
SCENARIO(fd_of_a_cell_that_is_waited_at, .own = true, .waiters = "TR", .run = arm,
         .before = "T=DEAD R=DEAD : DEAD", .after = "T=DEAD R=DEAD : DEAD")
SCENARIO(fd_again, .own = true, .prepare = armed_already, .run = arm, .before = ": DEAD", .after = ": DEAD")
SCENARIO(fd_that_cafree_closes, .own = true, .prepare = armed_already, .run = arm_and_shrink,
         .before = ": DEAD", .after = ": DEAD")
SCENARIO(enq_into_an_armed_cell, .armed = true, .prepare = one_region, .run = enq, .before = ":",
         .after = "fd : 100")
SCENARIO(enq_that_keeps_its_region_into_an_armed_cell, .armed = true, .prepare = one_region,
         .run = enq_nofree, .before = ":", .after = "fd : 100")
SCENARIO(write_into_an_armed_cell, .armed = true, .prepare = one_region, .run = write_it, .before = ":",
         .after = "fd : 100")
SCENARIO(enq_that_asks_for_the_descriptor, .armed = true, .prepare = rang_once, .arrange = drain_and_arm,
         .run = enq, .before = ":", .after = "fd : 100")
SCENARIO(enq_that_has_the_descriptor, .armed = true, .prepare = rang_twice, .arrange = drain_and_arm,
         .run = enq, .before = ":", .after = "fd : 100")
SCENARIO(enq_into_an_armed_cell_to_a_taker, .armed = true, .waiters = "T", .prepare = one_region, .run = enq,
         .before = "T=- :", .after = "T=100 :")
SCENARIO(enq_into_an_armed_cell_to_a_reader, .armed = true, .waiters = "R", .prepare = one_region, .run = enq,
         .before = "R=- :", .after = "R=100 fd : 100")
SCENARIO(read_that_waits_at_an_armed_cell, .armed = true, .run = read_pending, .before = ":", .after = ":")
/* Repair rings whether or not the put is done: the descriptor may be readable for nothing, never the other way. */
SCENARIO(enq_where_the_owner_polls, .polls = true, .prepare = one_region, .run = enq, .before = ":",
         .after = "fd : 100", .also = "fd :")
SCENARIO(enq_that_keeps_its_region_where_the_owner_polls, .polls = true, .prepare = one_region,
         .run = enq_nofree, .before = ":", .after = "fd : 100", .also = "fd :")
SCENARIO(write_where_the_owner_polls, .polls = true, .prepare = one_region, .run = write_it, .before = ":",
         .after = "fd : 100", .also = "fd :")
SCENARIO(enq_to_a_reader_where_the_owner_polls, .polls = true, .waiters = "R", .prepare = one_region,
         .run = enq, .before = "R=- :", .after = "R=100 fd : 100", .also = "R=- fd :")
