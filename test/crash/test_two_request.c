/* SPDX-License-Identifier: MIT */
/* Two die at once that request handlers at marked cells, or one that does and the owner: two.h. */
#include "two.h"

#include "bcri/self.h"
#include "bcri/watermark.h"

/* What may come of a call while others die, the owner perhaps. */
static bool expected(void)
{
    return bcr_errno == bcrE_FULL || bcr_errno == bcrE_TIMEOUT || bcr_errno == bcrE_DEAD;
}
static bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0 || expected();
}
static bool write_it(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0 || expected();
}
static bool enqm(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_enqm(scene->id[0], 2, cells, bcr_FREE) == 0 || expected();
}
static bool deq(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) != NULL || expected();
}
static bool deq_pending(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, bcr_PENDING) != NULL || expected();
}
static bool read_pending(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, bcr_PENDING) != NULL || expected();
}
static bool lock_and_keep(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, 0) != NULL || expected();
}
static bool zap(struct scene *scene)
{
    return bcr_zap(scene->home, scene->cell) == 0;
}

/* Of the owner. */
static bool take_all(struct scene *scene)
{
    while (requests_next(&scene->requests) >= 0)
        continue;
    return true;
}
static bool enq_and_take(struct scene *scene)
{
    return enq(scene) && take_all(scene);
}
static bool wait_for_requests(struct scene *scene)
{
    (void)scene;
    while (!bcri_requests_any(bcri_self()))
        requests_sleep(bcri_self(), UINT64_MAX);
    return true;
}
static bool set_mark(struct scene *scene)
{
    return bcri_watermark_set(bcri_self(), scene->cell, 1) == 0;
}
static bool clear_mark(struct scene *scene)
{
    return bcri_watermark_clear(bcri_self(), scene->cell) == 0;
}
static bool free_cells(struct scene *scene)
{
    return bcr_cafree(scene->cell) == 0 || bcr_errno == bcrE_BUSY;
}

static void one_region(struct scene *scene)
{
    CHECK_INT(bcr_putwait(0), 0);
    scene->id[0] = number(SCENE_VICTIMS_PUT);
}

#define MARKED(n) .marked = true, .mark = (n), .prepare = one_region

/* Each request that is due is there, and no other. */
#define PUTS  .sum = SCENE_PUTS_REQUEST
#define TAKES .sum = SCENE_TAKES_REQUEST
TWO(enq_and_enq_that_request, MARKED(1), PUTS, .queued = 2, .run = enq, .second = enq)
TWO(enqm_and_enqm_that_request, MARKED(1), PUTS, .queued = 1, .run = enqm, .second = enqm)
TWO(enq_beyond_the_ring_and_enq_that_request, MARKED(1), PUTS, .cells = 10, .queued = 8, .run = enq,
    .second = enq)
TWO(enq_and_enqm_where_there_is_news, MARKED(1), PUTS, .requests = 3, .run = enq, .second = enqm)
TWO(deq_and_deq_that_request, MARKED(-5), TAKES, .queued = 3, .run = deq, .second = deq)
TWO(deq_and_deq_where_there_is_news, MARKED(-5), TAKES, .requests = 3, .queued = 3, .run = deq, .second = deq)
TWO(deq_and_lock_that_request, MARKED(-5), .queued = 3, .run = deq, .second = lock_and_keep)
TWO(deq_and_enq_that_request, MARKED(-2), .queued = 1, .run = deq, .second = enq)
TWO(write_and_enq_that_request, MARKED(1), .queued = 3, .run = write_it, .second = enq)
TWO(write_and_deq_at_a_marked_cell, MARKED(1), .queued = 3, .run = write_it, .second = deq)
TWO(deq_that_waits_and_requests_and_enq, MARKED(0), .run = deq_pending, .second = enq)
TWO(deq_that_waits_and_read_that_waits_that_request, MARKED(0), .requests = 3, .run = deq_pending,
    .second = read_pending)
TWO(enq_to_a_waiting_taker_and_enq_that_requests, MARKED(1), .waiters = "T", .run = enq, .second = enq)
TWO(enq_to_readers_and_write_that_request, MARKED(1), .waiters = "RR", .run = enq, .second = write_it)
TWO(deq_that_lets_a_put_in_that_requests_and_deq, MARKED(2), .nrgns = 2, .queued = 2, .puts = 2, .run = deq,
    .second = deq)
TWO(enq_that_requests_and_zap, MARKED(1), .queued = 1, .run = enq, .second = zap)

/* The first is the owner. */
#define OWNED(n) MARKED(n), .own = true
TWO(owner_that_takes_requests_and_enq, OWNED(1), .requests = 5, .run = take_all, .second = enq)
TWO(owner_that_takes_requests_and_enqm, OWNED(1), .requests = 5, .run = take_all, .second = enqm)
TWO(owner_that_waits_for_a_request_and_enq, OWNED(1), .run = wait_for_requests, .second = enq)
TWO(owner_that_waits_for_a_request_and_deq, OWNED(0), .run = wait_for_requests, .second = deq)
TWO(owner_that_requests_its_own_handler_and_enq, OWNED(1), .run = enq_and_take, .second = enq)
TWO(owner_that_marks_and_enq, OWNED(0), .run = set_mark, .second = enq)
TWO(owner_that_takes_a_mark_away_and_deq_that_waits, OWNED(0), .run = clear_mark, .second = deq_pending)
TWO(owner_that_frees_its_cells_and_enq, OWNED(1), .run = free_cells, .second = enq)

/* The first has died, one that lives is stopped, another one dies. */
STOPPED(waiting_read_while_an_enq_that_requests_is_stopped, MARKED(1), .run = read_pending, .second = enq)
STOPPED(owner_that_takes_requests_while_an_enq_is_stopped, OWNED(1), .requests = 15, .run = take_all,
        .second = enq)
