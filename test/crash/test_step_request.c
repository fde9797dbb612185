/* SPDX-License-Identifier: MIT */
/* Killed while it requests a handler at a marked cell: the operation is there with its request,
 * told to the owner, or neither is. And the owner, killed while it marks, sleeps, or takes
 * requests. */
#include "scene.h"

#include "bcri/clock.h"
#include "bcri/self.h"
#include "bcri/watermark.h"

static void one_region(struct scene *scene)
{
    scene->id[0] = number(100);
}
static void anothers_region(struct scene *scene)
{
    scene->id[0] = bcr_deq(scene->home, scene->cell, 0);
    CHECK(scene->id[0] != NULL);
}
static void will_not_wait(struct scene *scene)
{
    one_region(scene);
    CHECK_INT(bcr_putwait(0), 0);
}
static void takes_pending(struct scene *scene)
{
    scene->id[0] = bcr_deq(scene->home, scene->cell, bcr_PENDING);
    CHECK(scene->id[0] != NULL);
}

static bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0;
}
static bool enq_nofree(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0;
}
static bool enq_full(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == -1 && bcr_errno == bcrE_FULL;
}
static bool write_free(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0;
}
static bool write_nofree(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0;
}
static bool enqm(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_enqm(scene->id[0], 2, cells, bcr_FREE) == 0;
}
static bool deq(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) != NULL;
}
static bool deq_of_nothing(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool read_of_nothing(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, 0) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool read(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, 0) != NULL;
}
static bool lock(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, 0) != NULL;
}
static bool deq_pending(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static bool read_pending(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static bool deq_that_waits(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 1) == NULL && bcr_errno == bcrE_TIMEOUT;
}
static bool zap(struct scene *scene)
{
    return bcr_zap(scene->home, scene->cell) == 0;
}
static bool nothing(struct scene *scene)
{
    (void)scene;
    return true;
}

static void put_one(struct scene *scene)
{
    as_peer(scene);
    CHECK_INT(bcr_enq(number(9), scene->home, scene->cell, bcr_FREE), 0);
}

/* Puts that leave as many as the mark says, or not. */
#define MARKED(n) .marked = true, .mark = (n)
SCENARIO(enq_that_requests, MARKED(1), .prepare = one_region, .run = enq,
         .before = "s=0 :", .after = "s=1 : 100")
SCENARIO(enq_that_requests_from_a_cell_never_used_before, MARKED(1), .cold = true, .prepare = one_region,
         .run = enq, .before = "s=0 :", .after = "s=1 : 100")
SCENARIO(enq_that_keeps_its_region_and_requests, MARKED(2), .queued = 1, .prepare = one_region,
         .run = enq_nofree, .before = "s=0 : 1", .after = "s=1 : 1 100")
SCENARIO(enq_of_anothers_region_that_requests, MARKED(1), .queued = 2, .prepare = anothers_region, .run = enq,
         .before = "s=0 : 2", .after = "s=1 : 2 1")
SCENARIO(enq_below_the_mark, MARKED(2), .prepare = one_region, .run = enq,
         .before = "s=0 :", .after = "s=0 : 100")
SCENARIO(enq_to_a_taker_at_a_marked_cell, MARKED(1), .waiters = "T", .prepare = one_region, .run = enq,
         .before = "s=0 T=- :", .after = "s=0 T=100 :")
SCENARIO(enq_to_readers_that_requests, MARKED(1), .waiters = "RR", .prepare = one_region, .run = enq,
         .before = "s=0 R=- R=- :", .after = "s=1 R=100 R=100 : 100")
SCENARIO(enq_beyond_the_ring_that_requests, MARKED(1), .cells = 10, .queued = 8, .prepare = one_region,
         .run = enq, .before = "s=0 : 1 2 3 4 5 6 7 8", .after = "s=1 : 1 2 3 4 5 6 7 8 100")
SCENARIO(enq_that_finds_no_room_at_a_marked_cell, MARKED(1), .nrgns = 2, .queued = 2,
         .prepare = will_not_wait, .run = enq_full, .before = "s=0 : 1 2", .after = "s=0 : 1 2")
SCENARIO(enqm_that_requests_twice, MARKED(1), .prepare = one_region, .run = enqm,
         .before = "s=0 :", .after = "s=2 : 100 ; 100", .also = "s=1 : 100")
SCENARIO(write_that_requests, MARKED(1), .prepare = one_region, .run = write_free,
         .before = "s=0 :", .after = "s=1 : 100")
SCENARIO(write_over_three_that_requests, MARKED(1), .queued = 3, .prepare = one_region, .run = write_free,
         .before = "s=0 : 1 2 3", .after = "s=1 : 100")
SCENARIO(write_over_three_below_the_mark, MARKED(2), .queued = 3, .prepare = one_region, .run = write_nofree,
         .before = "s=0 : 1 2 3", .after = "s=0 : 100")
SCENARIO(zap_of_a_marked_cell, MARKED(-2), .queued = 2, .run = zap, .before = "s=0 : 1 2", .after = "s=0 :")

/* How the owner is told: `news` has no cell, this one, another one. */
static void another_cell_has_news(struct scene *scene)
{
    one_region(scene);
    CHECK_INT(bcr_enq(number(200), scene->home, scene->cell2, bcr_FREE), 0);
}
static void another_cell_lacks(struct scene *scene)
{
    CHECK(bcr_deq(scene->home, scene->cell2, 0) == NULL);
}
SCENARIO(enq_where_there_is_news_of_this_cell, MARKED(1), .requests = 3, .prepare = one_region, .run = enq,
         .before = "s=0 :", .after = "s=1 : 100")
SCENARIO(enq_where_there_is_news_of_another_cell, MARKED(1), .prepare = another_cell_has_news, .run = enq,
         .before = "s=1 : ; 200", .after = "s=2 : 100 ; 200")
SCENARIO(enqm_where_there_is_news, MARKED(1), .requests = 3, .prepare = one_region, .run = enqm,
         .before = "s=0 :", .after = "s=2 : 100 ; 100", .also = "s=1 : 100")
SCENARIO(write_over_two_where_there_is_news, MARKED(1), .requests = 3, .queued = 2, .prepare = one_region,
         .run = write_free, .before = "s=2 : 1 2", .after = "s=3 : 100")
SCENARIO(deq_of_nothing_where_there_is_news_of_another_cell, MARKED(0), .prepare = another_cell_lacks,
         .run = deq_of_nothing, .before = "s=1 :", .after = "s=2 :")
SCENARIO(read_that_waits_where_there_is_news_of_another_cell, MARKED(0), .prepare = another_cell_lacks,
         .run = read_pending, .before = "s=1 :", .after = "s=2 :")

/* A count at which the owner is told in both ways. */
static void count_is_near_a_limit(struct scene *scene)
{
    struct bcri_resolved *resolved;
    as_owner(scene);
    CHECK_INT(bcri_resolved_find(scene->owner, BCRI_SELF, scene->cell, &resolved), 0);
    bcri_store(&resolved->cell->t.requests, (UINT64_C(1) << 30) - 1);
    requests_watch(&scene->requests, scene->owner, scene->cell);
}
SCENARIO(enq_of_a_round_number, MARKED(1), .prepare = one_region, .arrange = count_is_near_a_limit,
         .run = enq, .before = "s=0 :", .after = "s=1 : 100")

/* Gets. */
SCENARIO(deq_of_nothing_that_requests, MARKED(0), .run = deq_of_nothing, .before = "s=0 :", .after = "s=1 :")
SCENARIO(read_of_nothing_that_requests, MARKED(0), .run = read_of_nothing,
         .before = "s=0 :", .after = "s=1 :")
SCENARIO(deq_that_waits_and_requests, MARKED(0), .run = deq_that_waits, .before = "s=0 :", .after = "s=1 :")
SCENARIO(deq_that_is_pending_and_requests, MARKED(0), .run = deq_pending, .before = "s=0 :", .after = "s=1 :")
SCENARIO(read_that_is_pending_and_requests, MARKED(0), .run = read_pending,
         .before = "s=0 :", .after = "s=1 :")
SCENARIO(deq_of_the_last_that_requests, MARKED(-1), .queued = 1, .run = deq, .before = "s=0 : 1",
         .after = "s=1 :")
SCENARIO(deq_above_the_mark, MARKED(-1), .queued = 2, .run = deq, .before = "s=0 : 1 2", .after = "s=0 : 2")
SCENARIO(read_of_the_last, MARKED(-1), .queued = 1, .run = read, .before = "s=0 : 1", .after = "s=0 : 1")
SCENARIO(lock_of_the_last_that_requests, MARKED(-1), .queued = 1, .run = lock, .before = "s=0 : 1",
         .after = "s=1 : OWNERDEAD")
SCENARIO(deq_of_what_was_given_back_that_requests, MARKED(-3), .queued = 1, .given_back = 2, .run = deq,
         .before = "s=0 : 61 62 1", .after = "s=1 : 62 1")

/* Puts that the victim lets in. */
SCENARIO(deq_that_lets_a_put_in_that_requests, MARKED(2), .nrgns = 2, .queued = 2, .puts = 1, .run = deq,
         .before = "s=0 P=- : 1 2 51", .after = "s=1 P=in : 2 51")
SCENARIO(death_of_a_taker_that_was_served_at_a_marked_cell, MARKED(1), .prepare = takes_pending,
         .arrange = put_one, .run = nothing, .before = "s=1 : 9", .after = "s=1 : 9")

/* The owner sleeps. */
SCENARIO(enq_that_requests_one_that_sleeps, MARKED(1), .sleeper = 'H', .prepare = one_region, .run = enq,
         .before = "S=- s=1 : 99", .after = "S=s s=1 : 100")
SCENARIO(write_that_requests_one_that_sleeps, MARKED(1), .sleeper = 'H', .prepare = one_region,
         .run = write_nofree, .before = "S=- s=1 : 99", .after = "S=s s=1 : 100")
SCENARIO(enq_to_readers_that_requests_one_that_sleeps, MARKED(1), .sleeper = 'H', .waiters = "R",
         .prepare = one_region, .run = enq, .before = "S=- s=1 R=99 : 99", .after = "S=s s=1 R=100 : 100")

/* The owner dies. */
static bool set_mark(struct scene *scene)
{
    return bcri_watermark_set(bcri_self(), scene->cell, 1) == 0;
}
static bool clear_mark(struct scene *scene)
{
    return bcri_watermark_clear(bcri_self(), scene->cell) == 0;
}
static bool take_all(struct scene *scene)
{
    while (requests_next(&scene->requests) >= 0)
        continue;
    return true;
}
static bool wait_for_requests(struct scene *scene)
{
    (void)scene;
    requests_sleep(bcri_self(), bcri_clock_ns() + BCRI_NS_PER_MS);
    return !bcri_requests_any(bcri_self());
}
static bool enq_and_take(struct scene *scene)
{
    return enq(scene) && take_all(scene);
}
SCENARIO(owner_that_marks, .own = true, .run = set_mark, .before = ": DEAD", .after = ": DEAD")
SCENARIO(owner_that_marks_anew, .own = true, MARKED(0), .run = set_mark, .before = ": DEAD",
         .after = ": DEAD")
SCENARIO(owner_that_takes_a_mark_away, .own = true, MARKED(0), .run = clear_mark, .before = ": DEAD",
         .after = ": DEAD")
SCENARIO(owner_that_takes_requests, .own = true, MARKED(0), .requests = 5, .run = take_all,
         .before = ": DEAD", .after = ": DEAD")
SCENARIO(owner_that_waits_for_a_request, .own = true, MARKED(0), .run = wait_for_requests, .before = ": DEAD",
         .after = ": DEAD")
SCENARIO(owner_that_requests_its_own_handler, .own = true, MARKED(1), .prepare = one_region,
         .run = enq_and_take, .before = ": DEAD", .after = ": DEAD")

/* Another process works on the cell, and requests too. */
static bool try_enq(struct scene *scene)
{
    (void)(bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0);
    return true;
}
static bool try_write(struct scene *scene)
{
    (void)(bcr_write(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0);
    return true;
}
static bool try_deq(struct scene *scene)
{
    (void)(bcr_deq(scene->home, scene->cell, 0) != NULL);
    return true;
}
static bool try_deq_waiting(struct scene *scene)
{
    (void)(bcr_deq(scene->home, scene->cell, 5) != NULL);
    return true;
}
static void puts_and_takes(struct scene *scene)
{
    bcr_region rgid = bcr_rgalloc(8, 0);
    if (rgid != NULL && bcr_enq(rgid, scene->home, scene->cell, bcr_FREE) != 0)
        (void)bcr_rgfree(rgid);
    rgid = bcr_deq(scene->home, scene->cell, 0);
    if (rgid != NULL)
        (void)bcr_rgfree(rgid);
}
static bool takes_some(struct scene *scene)
{
    for (int i = 0; i < 40; i++)
        (void)requests_next(&scene->requests);
    return true;
}
SCENARIO(enq_that_requests_against_puts_and_takes, MARKED(1), .prepare = one_region, .run = try_enq,
         .contender = puts_and_takes)
SCENARIO(write_that_requests_against_puts_and_takes, MARKED(1), .prepare = one_region, .run = try_write,
         .contender = puts_and_takes)
SCENARIO(deq_that_requests_against_puts_and_takes, MARKED(-1), .queued = 1, .run = try_deq,
         .contender = puts_and_takes)
SCENARIO(deq_that_waits_and_requests_against_puts_and_takes, MARKED(0), .run = try_deq_waiting,
         .contender = puts_and_takes)
SCENARIO(owner_that_takes_requests_against_puts_and_takes, .own = true, MARKED(1), .run = takes_some,
         .contender = puts_and_takes)
