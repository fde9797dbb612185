/* SPDX-License-Identifier: MIT */
/* Killed before it could wake whom it had served. */
#include "scene.h"

static void one_region(struct scene *scene)
{
    scene->id[0] = number(100);
}
static bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0;
}
static bool write_nofree(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0;
}
static bool deq(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) != NULL;
}
static bool zap(struct scene *scene)
{
    return bcr_zap(scene->home, scene->cell) == 0;
}
static bool shrink(struct scene *scene)
{
    return bcr_cafree(scene->cell) == 0;
}
static bool nothing(struct scene *scene)
{
    (void)scene;
    return true;
}

SCENARIO(enq_to_one_that_sleeps, .sleeper = 'T', .prepare = one_region, .run = enq,
         .before = "S=- :", .after = "S=100 :")
SCENARIO(enq_to_one_that_sleeps_in_a_list, .sleeper = 'R', .waiters = "T", .prepare = one_region, .run = enq,
         .before = "S=- T=99 :", .after = "S=100 T=100 :")
SCENARIO(write_to_one_that_sleeps, .sleeper = 'T', .prepare = one_region, .run = write_nofree,
         .before = "S=- :", .after = "S=100 :")
SCENARIO(enq_into_its_own_cell_to_one_that_sleeps, .own = true, .sleeper = 'T', .prepare = one_region,
         .run = enq, .before = "S=DEAD : DEAD", .after = "S=100 : DEAD")
SCENARIO(deq_that_lets_one_in_that_sleeps, .nrgns = 2, .queued = 2, .sleeper = 'P', .run = deq,
         .before = "S=- : 99", .after = "S=in : 2 99")
SCENARIO(zap_that_lets_one_in_that_sleeps, .nrgns = 2, .queued = 2, .sleeper = 'P', .run = zap,
         .before = "S=- : 99", .after = "S=in : 99")
SCENARIO(write_that_lets_one_in_that_sleeps, .nrgns = 2, .queued = 2, .sleeper = 'P', .prepare = one_region,
         .run = write_nofree, .before = "S=- : 99", .after = "S=in : 100 99")
SCENARIO(cafree_of_a_cell_that_one_sleeps_at, .own = true, .sleeper = 'T', .run = shrink,
         .before = "S=DEAD : DEAD", .after = "S=NOCELL : DEAD")
SCENARIO(death_of_a_cell_that_one_sleeps_at, .own = true, .sleeper = 'R', .run = nothing,
         .before = "S=DEAD : DEAD", .after = "S=DEAD : DEAD")
SCENARIO(death_of_a_full_cell_that_one_sleeps_at, .own = true, .nrgns = 2, .queued = 2, .sleeper = 'P',
         .run = nothing, .before = "S=DEAD : DEAD", .after = "S=DEAD : DEAD")
