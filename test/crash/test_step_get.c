/* SPDX-License-Identifier: MIT */
/* Killed while it gets: a region that it had is gone with it, one that it had not is where it was,
 * also when it had been handed over already; the turn of no other getter changes. */
#include "scene.h"

static bool deq(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) != NULL;
}
static bool read_first(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, 0) != NULL;
}
static bool deq_nothing(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool read_nothing(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, 0) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool deq_in_vain(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 1) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool read_in_vain(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, 1) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool deq_later(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static bool read_later(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static bool deq_block(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, bcr_BLOCK) != NULL;
}
static bool read_block(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, bcr_BLOCK) != NULL;
}
static bool deq_ownerdead(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, bcr_BLOCK) == NULL && bcr_errno == bcrE_OWNERDEAD;
}
static bool zap(struct scene *scene)
{
    return bcr_zap(scene->home, scene->cell) == 0;
}
static bool celllen(struct scene *scene)
{
    return bcr_celllen(scene->home, scene->cell) == 2;
}

static void peer_puts(struct scene *scene)
{
    as_peer(scene);
    CHECK_INT(bcr_enq(number(9), scene->home, scene->cell, bcr_FREE), 0);
}
static void peer_reads_along(struct scene *scene)
{
    as_peer(scene);
    scene->kept = bcr_read(scene->home, scene->cell, 0);
    CHECK(scene->kept != NULL);
}
static void both_put(struct scene *scene)
{
    peer_puts(scene);
    as_owner(scene);
    CHECK_INT(bcr_enq(number(10), scene->home, scene->cell, bcr_FREE), 0);
}
SCENARIO(deq_of_the_only_one, .queued = 1, .run = deq, .before = ": 1", .after = ":")
SCENARIO(deq_of_the_first, .queued = 3, .run = deq, .before = ": 1 2 3", .after = ": 2 3")
SCENARIO(deq_from_a_queue_beyond_the_ring, .cells = 10, .queued = 11, .run = deq,
         .before = ": 1 2 3 4 5 6 7 8 9 10 11", .after = ": 2 3 4 5 6 7 8 9 10 11")
SCENARIO(deq_of_one_given_back, .given_back = 1, .run = deq, .before = ": 61", .after = ":")
SCENARIO(deq_of_several_given_back, .queued = 2, .given_back = 3, .run = deq, .before = ": 61 62 63 1 2",
         .after = ": 62 63 1 2")
SCENARIO(deq_that_lets_a_waiting_put_in, .nrgns = 2, .queued = 2, .puts = 2, .run = deq,
         .before = "P=- P=- : 1 2 51 52", .after = "P=in P=- : 2 51 52")
SCENARIO(deq_of_the_region_of_a_waiting_put, .nrgns = -1, .puts = 2, .run = deq, .before = "P=- P=- : 51 52",
         .after = "P=in P=- : 52")
SCENARIO(deq_of_nothing, .run = deq_nothing, .before = ":", .after = ":")
SCENARIO(deq_of_nothing_behind_readers, .waiters = "RT", .run = deq_nothing,
         .before = "R=- T=- :", .after = "R=- T=- :")
SCENARIO(deq_of_its_own, .own = true, .queued = 2, .run = deq, .before = ": DEAD", .after = ": DEAD")
SCENARIO(deq_of_its_own_that_lets_a_waiting_put_in, .own = true, .nrgns = 2, .queued = 2, .puts = 2,
         .run = deq, .before = "P=DEAD P=DEAD : DEAD", .after = "P=in P=DEAD : DEAD")

SCENARIO(read_of_the_only_one, .queued = 1, .run = read_first, .before = ": 1", .after = ": 1")
SCENARIO(read_of_one_that_others_hold_too, .queued = 2, .arrange = peer_reads_along, .run = read_first,
         .before = ": 1 2", .after = ": 1 2")
SCENARIO(read_of_the_first, .queued = 3, .run = read_first, .before = ": 1 2 3", .after = ": 1 2 3")
SCENARIO(read_of_one_given_back, .queued = 1, .given_back = 2, .run = read_first, .before = ": 61 62 1",
         .after = ": 61 62 1")
SCENARIO(read_of_the_region_of_a_waiting_put, .nrgns = -1, .puts = 1, .run = read_first, .before = "P=- : 51",
         .after = "P=- : 51")
SCENARIO(read_of_nothing, .run = read_nothing, .before = ":", .after = ":")

SCENARIO(deq_that_begins_to_wait, .run = deq_later, .before = ":", .after = ":")
SCENARIO(deq_that_begins_to_wait_behind_others, .waiters = "TT", .run = deq_later,
         .before = "T=- T=- :", .after = "T=- T=- :")
SCENARIO(deq_that_begins_to_wait_as_the_fifth, .waiters = "TTTT", .run = deq_later,
         .before = "T=- T=- T=- T=- :", .after = "T=- T=- T=- T=- :")
SCENARIO(deq_that_begins_to_wait_behind_readers, .waiters = "RTR", .run = deq_later,
         .before = "R=- T=- R=- :", .after = "R=- T=- R=- :")
SCENARIO(read_that_begins_to_wait, .run = read_later, .before = ":", .after = ":")
SCENARIO(read_that_begins_to_wait_behind_takers, .waiters = "TT", .run = read_later,
         .before = "T=- T=- :", .after = "T=- T=- :")

SCENARIO(deq_that_waits_in_vain, .run = deq_in_vain, .before = ":", .after = ":")
SCENARIO(deq_that_waits_in_vain_among_others, .waiters = "TR", .run = deq_in_vain,
         .before = "T=- R=- :", .after = "T=- R=- :")
SCENARIO(read_that_waits_in_vain, .run = read_in_vain, .before = ":", .after = ":")
SCENARIO(deq_that_sleeps_for_ever, .run = deq_block, .before = ":", .after = ":")

/* A region handed over and not taken is back at the head. */
SCENARIO(deq_that_is_served, .run = deq_block, .help = peer_puts, .help_at = TRACE_AT_YIELD, .before = ":",
         .after = ":", .also = ": 9")
SCENARIO(deq_that_is_served_before_another_put, .run = deq_block, .help = both_put, .help_at = TRACE_AT_YIELD,
         .before = ":", .after = ": 10", .also = ": 9 10")
SCENARIO(deq_that_is_woken, .run = deq_block, .help = peer_puts, .help_at = TRACE_AT_SLEEP, .before = ":",
         .after = ":", .also = ": 9")
SCENARIO(deq_that_is_served_behind_another, .waiters = "T", .run = deq_block, .help = both_put,
         .help_at = TRACE_AT_YIELD, .before = "T=- :", .after = "T=9 :", .also = "T=9 : 10")
SCENARIO(deq_that_is_served_behind_a_read, .waiters = "R", .run = deq_block, .help = peer_puts,
         .help_at = TRACE_AT_SLEEP, .before = "R=- :", .after = "R=9 :", .also = "R=9 : 9")
SCENARIO(read_that_is_served, .run = read_block, .help = peer_puts, .help_at = TRACE_AT_YIELD, .before = ":",
         .after = ": 9")
SCENARIO(read_that_is_woken, .run = read_block, .help = peer_puts, .help_at = TRACE_AT_SLEEP, .before = ":",
         .after = ": 9")
SCENARIO(deq_that_learns_that_a_lock_died, .ownerdead = true, .run = deq_ownerdead, .before = ": OWNERDEAD",
         .after = ": OWNERDEAD")

SCENARIO(zap_of_nothing, .run = zap, .before = ":", .after = ":")
SCENARIO(zap_of_three, .queued = 3, .run = zap, .before = ": 1 2 3", .after = ":")
SCENARIO(zap_beyond_the_ring, .cells = 10, .queued = 12, .run = zap, .before = ": 1 2 3 4 5 6 7 8 9 10 11 12",
         .after = ":")
SCENARIO(zap_of_regions_given_back, .queued = 2, .given_back = 3, .run = zap, .before = ": 61 62 63 1 2",
         .after = ":")
SCENARIO(zap_that_lets_waiting_puts_in, .nrgns = 2, .queued = 2, .puts = 3, .run = zap,
         .before = "P=- P=- P=- : 1 2 51 52 53", .after = "P=in P=in P=- : 51 52 53")
SCENARIO(zap_where_a_lock_died, .ownerdead = true, .run = zap, .before = ": OWNERDEAD",
         .after = ": OWNERDEAD")
SCENARIO(zap_of_a_cell_with_waiting_gets, .waiters = "TR", .run = zap,
         .before = "T=- R=- :", .after = "T=- R=- :")
SCENARIO(celllen_of_two, .queued = 2, .run = celllen, .before = ": 1 2", .after = ": 1 2")
