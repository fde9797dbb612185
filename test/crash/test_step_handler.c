/* SPDX-License-Identifier: MIT */
/* Killed while it installs handlers, starts them, switches among them, waits in them: whatever of
 * that lies in its private memory goes with it, and nothing of what is shared stays behind. */
#include "scene.h"

enum { MANY = 8 };

static struct scene *now; /* of the victim */
static int runs;

static void take_one(int cell)
{
    bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
    runs++;
    if (rgid != NULL)
        CHECK_INT(bcr_rgfree(rgid), 0);
}
static void wait_at_the_other(int cell)
{
    take_one(cell);
    bcr_region rgid = bcr_deq(bcr_cce, now->cell2, bcr_BLOCK);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rgfree(rgid), 0);
}
static void put_into_the_other(int cell)
{
    take_one(cell);
    CHECK_INT(bcr_enq(number(5), bcr_cce, now->cell2, bcr_FREE), 0);
    take_one(cell);
}
static void answer(int cell)
{
    runs++;
    CHECK_INT(bcr_enq(number(6), bcr_cce, cell, bcr_FREE), 0);
}

static void begin(struct scene *scene)
{
    now = scene;
    scene->cell2 = scene->cell + 1;
}
static void with_taker(struct scene *scene)
{
    begin(scene);
    CHECK_INT(bcr_handler(scene->cell, take_one, 1, 0, 0), 0);
    scene->id[0] = number(100);
}
static void with_waiter(struct scene *scene)
{
    begin(scene);
    CHECK_INT(bcr_handler(scene->cell, wait_at_the_other, 1, 0, 0), 0);
    scene->id[0] = number(100);
}
static void with_two(struct scene *scene)
{
    begin(scene);
    CHECK_INT(bcr_handler(scene->cell, put_into_the_other, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(scene->cell2, take_one, 1, 1, 1), 0);
}
static void with_demand(struct scene *scene)
{
    begin(scene);
    CHECK_INT(bcr_handler(scene->cell, answer, 0, 0, 0), 0);
}
static void with_demand_elsewhere(struct scene *scene)
{
    begin(scene);
    CHECK_INT(bcr_handler(scene->cell2, answer, 0, 0, 0), 0); /* which reads bcrrc, at great length */
}
/* One stack is there, and warm. */
static void with_taker_that_has_run(struct scene *scene)
{
    with_taker(scene);
    CHECK_INT(bcr_enq(number(1), bcr_cce, scene->cell, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(runs, 1);
}

static bool install(struct scene *scene)
{
    return bcr_handler(scene->cell, take_one, 1, 0, 0) == 0;
}
static bool replace(struct scene *scene)
{
    return bcr_handler(scene->cell, wait_at_the_other, -1, 3, 2) == 0;
}
static bool take_away(struct scene *scene)
{
    return bcr_handler(scene->cell, NULL, 0, 0, 0) == 0;
}
static bool allow(struct scene *scene)
{
    (void)scene;
    return bcr_allow(0) == 0;
}
static bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], bcr_cce, scene->cell, bcr_FREE) == 0;
}
static bool enq_and_allow(struct scene *scene)
{
    return enq(scene) && allow(scene) && runs > 0;
}
static bool waiter_goes_on(struct scene *scene)
{
    return enq_and_allow(scene) && bcr_enq(number(2), bcr_cce, scene->cell2, bcr_FREE) == 0 && allow(scene);
}
static bool deq(struct scene *scene)
{
    return bcr_deq(bcr_cce, scene->cell, bcr_BLOCK) != NULL && runs == 1;
}
static bool free_cells(struct scene *scene)
{
    return bcr_rgfree(scene->id[0]) == 0 && bcr_zap(bcr_cce, scene->cell) == 0 &&
           bcr_cafree(scene->cell) == 0;
}

#define OWN .own = true, .before = ": DEAD", .after = ": DEAD"
SCENARIO(installs_a_handler, OWN, .prepare = with_demand_elsewhere, .run = install)
SCENARIO(replaces_a_handler_that_is_requested, OWN, .queued = 3, .prepare = with_taker, .run = replace)
SCENARIO(takes_a_handler_away_that_is_requested, OWN, .queued = 3, .prepare = with_taker, .run = take_away)
SCENARIO(frees_cells_whose_handlers_are_requested, OWN, .queued = 3, .prepare = with_taker, .run = free_cells)
SCENARIO(requests_its_own_handler, OWN, .prepare = with_taker, .run = enq_and_allow)
SCENARIO(requests_its_own_handler_behind_others, OWN, .queued = 3, .prepare = with_taker,
         .run = enq_and_allow)
SCENARIO(runs_a_handler_again, OWN, .queued = 3, .prepare = with_taker_that_has_run, .run = allow)
SCENARIO(runs_handlers_that_interrupt_each_other, OWN, .queued = 2, .prepare = with_two, .run = allow)
SCENARIO(runs_a_handler_that_waits_and_goes_on, OWN, .prepare = with_waiter, .run = waiter_goes_on)
SCENARIO(runs_many_handlers_that_wait, OWN, .queued = MANY, .prepare = with_waiter, .run = allow)
SCENARIO(gets_what_its_handler_puts, OWN, .prepare = with_demand, .run = deq)
