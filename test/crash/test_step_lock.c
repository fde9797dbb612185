/* SPDX-License-Identifier: MIT */
/* Killed with locks: the write lock's region is gone with its taker, and all gets say OWNERDEAD until
 * the next put. */
#include "scene.h"

static void has_the_lock(struct scene *scene)
{
    scene->id[0] = bcr_acqwl(scene->home, scene->cell, 0);
    CHECK(scene->id[0] != NULL);
}
static void has_a_read_lock(struct scene *scene)
{
    scene->id[0] = bcr_acqrl(scene->home, scene->cell, 0);
    CHECK(scene->id[0] != NULL);
}
static void peer_reads_along(struct scene *scene)
{
    as_peer(scene);
    scene->kept = bcr_acqrl(scene->home, scene->cell, 0);
    CHECK(scene->kept != NULL);
}
static void peer_waits(struct scene *scene)
{
    /* A lock that waits, behind the victim's own. */
    as_peer(scene);
    scene->waiter[scene->waiters++] = bcr_acqwl(scene->home, scene->cell, bcr_PENDING);
}
static void peer_puts(struct scene *scene)
{
    as_peer(scene);
    CHECK_INT(bcr_enq(number(9), scene->home, scene->cell, bcr_FREE), 0);
}

static void peer_puts_and_keeps(struct scene *scene)
{
    as_peer(scene);
    scene->kept = number(9);
    CHECK_INT(bcr_enq(scene->kept, scene->home, scene->cell, bcr_NOFREE), 0);
}

static bool acqwl(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, bcr_BLOCK) != NULL;
}
static bool acqwl_nothing(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, 0) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool acqwl_in_vain(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, 1) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool acqwl_later(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static bool acqrl(struct scene *scene)
{
    return bcr_acqrl(scene->home, scene->cell, bcr_BLOCK) != NULL;
}
static bool rlsrl(struct scene *scene)
{
    return bcr_rlsrl(scene->id[0]) == 0;
}
static bool rlswl(struct scene *scene)
{
    return bcr_rlswl(scene->id[0], scene->home, scene->cell) == 0;
}
static bool wl2rl(struct scene *scene)
{
    return bcr_wl2rl(scene->id[0], scene->home, scene->cell) == 0;
}
static bool free_it(struct scene *scene)
{
    return bcr_rgfree(scene->id[0]) == 0;
}

SCENARIO(acqwl_of_one, .queued = 1, .run = acqwl, .before = ": 1", .after = ": OWNERDEAD")
SCENARIO(acqwl_of_a_queue, .queued = 3, .run = acqwl, .before = ": 1 2 3", .after = ": OWNERDEAD")
SCENARIO(acqwl_of_one_given_back, .given_back = 1, .run = acqwl, .before = ": 61", .after = ": OWNERDEAD")
SCENARIO(acqwl_of_a_shared_region, .queued = 1, .arrange = peer_reads_along, .run = acqwl, .before = ": 1",
         .after = ": OWNERDEAD")
SCENARIO(acqwl_of_nothing, .run = acqwl_nothing, .before = ":", .after = ":")
SCENARIO(acqwl_that_waits_in_vain, .run = acqwl_in_vain, .before = ":", .after = ":")
SCENARIO(acqwl_that_begins_to_wait, .run = acqwl_later, .before = ":", .after = ":")
SCENARIO(acqwl_that_is_served, .run = acqwl, .help = peer_puts, .help_at = TRACE_AT_YIELD, .before = ":",
         .after = ": OWNERDEAD", .also = ": 9")
SCENARIO(acqwl_that_is_served_what_others_hold_too, .run = acqwl, .help = peer_puts_and_keeps,
         .help_at = TRACE_AT_YIELD, .before = ":", .after = ": OWNERDEAD", .also = ": 9")
SCENARIO(acqwl_that_is_woken, .run = acqwl, .help = peer_puts, .help_at = TRACE_AT_SLEEP, .before = ":",
         .after = ": OWNERDEAD", .also = ": 9")
SCENARIO(acqwl_behind_a_read, .waiters = "R", .run = acqwl, .help = peer_puts, .help_at = TRACE_AT_YIELD,
         .before = "R=- :", .after = "R=9 : OWNERDEAD", .also = "R=9 : 9")
SCENARIO(rlswl_of_one, .queued = 1, .prepare = has_the_lock, .run = rlswl, .before = ": OWNERDEAD",
         .after = ": 1")
SCENARIO(rlswl_to_one_that_waits, .queued = 1, .late = "L", .prepare = has_the_lock, .arrange = peer_waits,
         .run = rlswl, .before = "L=OWNERDEAD : OWNERDEAD", .after = "L=1 :")
SCENARIO(wl2rl_of_one, .queued = 1, .prepare = has_the_lock, .run = wl2rl, .before = ": OWNERDEAD",
         .after = ": 1")
SCENARIO(wl2rl_to_one_that_waits, .queued = 1, .late = "L", .prepare = has_the_lock, .arrange = peer_waits,
         .run = wl2rl, .before = "L=OWNERDEAD : OWNERDEAD", .after = "L=1 :")
SCENARIO(rgfree_of_what_a_lock_protects, .queued = 1, .prepare = has_the_lock, .run = free_it,
         .before = ": OWNERDEAD", .after = ": OWNERDEAD")
SCENARIO(acqrl_of_one, .queued = 1, .run = acqrl, .before = ": 1", .after = ": 1")
SCENARIO(acqrl_that_is_served, .run = acqrl, .help = peer_puts, .help_at = TRACE_AT_SLEEP, .before = ":",
         .after = ": 9")
SCENARIO(rlsrl_of_one, .queued = 1, .prepare = has_a_read_lock, .run = rlsrl, .before = ": 1", .after = ": 1")
