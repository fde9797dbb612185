/* SPDX-License-Identifier: MIT */
/* Killed with regions in its hands: what it held is let go of, what others hold stays as it was. */
#include "scene.h"

static void one_region(struct scene *scene)
{
    scene->id[0] = number(100);
}
static void large_region(struct scene *scene)
{
    scene->id[0] = large(100, 300000);
}
static void anothers_region(struct scene *scene)
{
    scene->id[0] = bcr_deq(scene->home, scene->cell, 0);
    CHECK(scene->id[0] != NULL);
}
static void anothers_second_region(struct scene *scene)
{
    anothers_region(scene);
    CHECK_INT(bcr_rgfree(scene->id[0]), 0);
    anothers_region(scene);
}
static void shared_region(struct scene *scene)
{
    one_region(scene);
    CHECK_INT(bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE), 0);
}
static void anothers_shared_region(struct scene *scene)
{
    scene->id[0] = bcr_read(scene->home, scene->cell, 0);
    CHECK(scene->id[0] != NULL);
}
static void fill_ids(struct scene *scene)
{
    /* All that the record has room for; the next one needs a segment. */
    (void)scene;
    for (int i = 0; i < 32; i++)
        (void)number(i);
}

static bool alloc(struct scene *scene)
{
    (void)scene;
    return bcr_rgalloc(8, 0) != NULL;
}
static bool alloc_large(struct scene *scene)
{
    (void)scene;
    return bcr_rgalloc(300000, 0) != NULL;
}
static bool alloc_two_sizes(struct scene *scene)
{
    (void)scene;
    return bcr_rgalloc(100, 0) != NULL && bcr_rgalloc(5000, 0) != NULL;
}
static bool free_it(struct scene *scene)
{
    return bcr_rgfree(scene->id[0]) == 0;
}
static bool mod(struct scene *scene)
{
    if (bcr_rgmod(scene->id[0]) != 0)
        return false;
    **(int **)scene->id[0] = 7777; /* no other CCE may see it */
    return true;
}
static bool realloc_it(struct scene *scene)
{
    return bcr_rgrealloc(scene->id[0], 20) == 0;
}
static bool realloc_large(struct scene *scene)
{
    return bcr_rgrealloc(scene->id[0], 200000) == 0;
}
static bool look_at_it(struct scene *scene)
{
    int archtype;
    return bcr_rglen(scene->id[0], &archtype) == 4 && bcr_rgerror(scene->id[0]) == 0;
}
static bool copy_to(struct scene *scene)
{
    const int value = 7777;
    return bcr_copyto(bcrT_1INT, 1, scene->id[0], 0, &value, sizeof value) >= 1;
}
static bool copy_from(struct scene *scene)
{
    int value;
    return bcr_copyfm(bcrT_1INT, 1, scene->id[0], 0, &value, sizeof value) >= 1;
}

SCENARIO(rgalloc_of_a_small_one, .run = alloc, .before = ":", .after = ":")
SCENARIO(rgalloc_of_a_large_one, .run = alloc_large, .before = ":", .after = ":")
SCENARIO(rgalloc_of_two_sizes, .run = alloc_two_sizes, .before = ":", .after = ":")
SCENARIO(rgalloc_that_needs_more_ids, .prepare = fill_ids, .run = alloc, .before = ":", .after = ":")

SCENARIO(rgfree_of_its_own, .prepare = one_region, .run = free_it, .before = ":", .after = ":")
SCENARIO(rgfree_of_a_large_one, .prepare = large_region, .run = free_it, .before = ":", .after = ":")
SCENARIO(rgfree_of_anothers, .queued = 2, .prepare = anothers_region, .run = free_it, .before = ": 2",
         .after = ": 2")
SCENARIO(rgfree_of_anothers_when_one_was_freed_before, .queued = 4, .prepare = anothers_second_region,
         .run = free_it, .before = ": 3 4", .after = ": 3 4")
SCENARIO(rgfree_of_a_shared_one, .prepare = shared_region, .run = free_it, .before = ": 100",
         .after = ": 100")
SCENARIO(rgfree_of_anothers_shared_one, .queued = 1, .prepare = anothers_shared_region, .run = free_it,
         .before = ": 1", .after = ": 1")

SCENARIO(rgmod_of_its_own, .prepare = one_region, .run = mod, .before = ":", .after = ":")
SCENARIO(rgmod_of_a_shared_one, .prepare = shared_region, .run = mod, .before = ": 100", .after = ": 100")
SCENARIO(rgmod_of_anothers_shared_one, .queued = 1, .prepare = anothers_shared_region, .run = mod,
         .before = ": 1", .after = ": 1")
SCENARIO(rgmod_of_anothers_last_one, .queued = 1, .prepare = anothers_region, .run = mod, .before = ":",
         .after = ":")

SCENARIO(rgrealloc_of_its_own, .prepare = one_region, .run = realloc_it, .before = ":", .after = ":")
SCENARIO(rgrealloc_of_a_large_one, .prepare = large_region, .run = realloc_large, .before = ":", .after = ":")
SCENARIO(rgrealloc_of_anothers, .queued = 1, .prepare = anothers_region, .run = realloc_it, .before = ":",
         .after = ":")
SCENARIO(rglen_and_rgerror, .prepare = one_region, .run = look_at_it, .before = ":", .after = ":")

SCENARIO(copyto_into_a_shared_one, .prepare = shared_region, .run = copy_to, .before = ": 100",
         .after = ": 100")
SCENARIO(copyto_into_anothers_shared_one, .queued = 1, .prepare = anothers_shared_region, .run = copy_to,
         .before = ": 1", .after = ": 1")
SCENARIO(copyfm_from_anothers_shared_one, .queued = 1, .prepare = anothers_shared_region, .run = copy_from,
         .before = ": 1", .after = ": 1")
