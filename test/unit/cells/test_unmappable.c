/* SPDX-License-Identifier: MIT */
/* A CCE that can map no further segment, since its process has no descriptor left: its calls fail,
 * and no other CCE is harmed. */
#include "cce.h"

#include <pthread.h>
#include <sched.h>

#include "bcri/cell.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"

static struct bcri_ctx *three;
static int one_of_three, cell;

/* `one` has a cell that all three know. */
static void begin_with_three(void)
{
    begin();
    cell = grow(1, 4, 4096);
    three = join();
    one_of_three = name(three, one);
    as(three);
    CHECK_INT(bcr_celllen(one_of_three, cell), 0);
    as(two);
    CHECK_INT(bcr_celllen(one_of_two, cell), 0);
}

TEST(a_region_that_its_getter_cannot_map_is_in_the_cell_once)
{
    for (int takes = 0; takes < 2; takes++) {
        begin_with_three();
        as(three);
        bcr_region rgid = bcr_get(takes, one_of_three, cell, bcr_PENDING);
        cannot_map(three);
        as(two);
        CHECK_INT(bcr_enq(number(5), one_of_two, cell, bcr_FREE), 0);
        as(three);
        FAILS(bcr_rgwait(rgid, 0, 0), bcrE_NOMEM);
        FAILS(bcr_rgwait(rgid, 0, 0), bcrE_RGID);
        cannot_map(NULL);
        as(one);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
        CHECK_INT(take(bcr_cce, cell), 5);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
        end();
    }
}

/* A CCE whose record lies in a segment that no other CCE has mapped. */
static struct bcri_ctx *join_far(void)
{
    struct bcri_ctx *far = join();
    while (far->index < BCRI_RECORDS_PER_SEG)
        far = join();
    return far;
}

static struct bcri_cell_shm *memory_of(int number)
{
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, 1, number, &resolved), 0);
    return resolved->cell;
}

static void *unlock_when_waited_for(void *far)
{
    while (refusals() < 3)
        sched_yield();
    bcri_unlock(far, &memory_of(cell)->h.lock);
    return NULL;
}

TEST(a_lock_holder_that_cannot_be_mapped_is_waited_for)
{
    begin_with_three();
    struct bcri_ctx *far = join_far();
    pthread_t thread;
    as(one);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
    CHECK(bcri_lock_try(far, &memory_of(cell)->h.lock));
    as(three);
    cannot_map(three);
    CHECK_INT(pthread_create(&thread, NULL, unlock_when_waited_for, far), 0);
    bcr_region rgid = bcr_deq(one_of_three, cell, 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    cannot_map(NULL);
    if (rgid == NULL)
        rgid = bcr_deq(one_of_three, cell, 0);
    CHECK_INT(value_of(rgid), 5);
    as(one);
    end();
}

TEST(a_put_that_cannot_serve_who_waits_in_the_list_fails)
{
    begin_with_three();
    struct bcri_ctx *far = join_far();
    as(far);
    bcr_region read = bcr_read(name(far, one), cell, bcr_PENDING);
    bcr_region taken = bcr_deq(name(far, one), cell, bcr_PENDING);
    as(three);
    bcr_region rgid = number(5);
    cannot_map(three);
    FAILS(bcr_enq(rgid, one_of_three, cell, bcr_FREE), bcrE_NOMEM);
    cannot_map(NULL);
    CHECK_INT(bcr_enq(rgid, one_of_three, cell, bcr_FREE), 0);
    as(far);
    CHECK_INT(bcr_rgwait(read, 0, 0), 1);
    CHECK_INT(bcr_rgwait(taken, 0, 0), 1);
    CHECK_INT(value_of(read), 5);
    CHECK_INT(value_of(taken), 5);
    as(one);
    end();
}

TEST(a_zap_that_cannot_map_who_waits_by_ticket_changes_nothing)
{
    begin_with_three();
    struct bcri_ctx *far = join_far();
    as(far);
    bcr_region rgid = bcr_deq(name(far, one), cell, bcr_PENDING);
    as(three);
    cannot_map(three);
    FAILS(bcr_zap(one_of_three, cell), bcrE_NOMEM);
    FAILS_NULL(bcr_read(one_of_three, cell, bcr_PENDING), bcrE_NOMEM);
    cannot_map(NULL);
    as(one);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
    as(far);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK_INT(value_of(rgid), 5);
    as(one);
    end();
}

/* A CCE gives back what it cannot map, and so cannot count either. */
TEST(a_region_that_cannot_be_counted_is_not_given_to_readers)
{
    begin_with_three();
    as(three);
    bcr_region taken = bcr_deq(one_of_three, cell, bcr_PENDING);
    as(two);
    bcr_region read = bcr_read(one_of_two, cell, bcr_PENDING);
    cannot_map(three);
    CHECK_INT(bcr_enq(number(5), one_of_two, cell, bcr_FREE), 0);
    as(three);
    FAILS(bcr_rgwait(taken, 0, 0), bcrE_NOMEM);
    cannot_map(NULL);
    as(one);
    CHECK_INT(take(bcr_cce, cell), 5);
    as(two);
    CHECK_INT(bcr_rgwait(read, 0, 0), 1);
    CHECK_INT(value_of(read), 5);
    as(one);
    end();
}

TEST(a_put_that_cannot_ring_the_sleeper_fails)
{
    begin_with_three();
    struct bcri_ctx *far = join_far();
    struct later *get = later_get(far, 1, name(far, one), cell, bcr_BLOCK);
    while (bcri_load(&memory_of(cell)->t.sleeps) == 0)
        sched_yield();
    for (int nofree = 0; nofree < 2; nofree++) {
        as(three);
        bcr_region rgid = number(5);
        cannot_map(three);
        FAILS(bcr_enq(rgid, one_of_three, cell, nofree ? bcr_NOFREE : bcr_FREE), bcrE_NOMEM);
        cannot_map(NULL);
        CHECK_INT(value_of(rgid), 5);
    }
    as(one);
    CHECK_INT(bcr_enq(number(6), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(result(get).value, 6);
    end();
}

TEST(a_waiting_put_that_cannot_be_mapped_stays_in_the_list)
{
    begin_with_three();
    struct bcri_ctx *far = join_far();
    as(three);
    for (int i = 1; i <= 4; i++)
        CHECK_INT(bcr_enq(number(i), one_of_three, cell, bcr_FREE), 0);
    as(one);
    struct later *first = later_put(two, 1, 5, one_of_two, cell);
    struct later *second = later_put(far, 1, 6, name(far, one), cell);
    as(three);
    cannot_map(three);
    CHECK_INT(take(one_of_three, cell), 1);
    cannot_map(NULL);
    as(one);
    CHECK_INT(waiting_puts(cell), 2);
    for (int i = 2; i <= 6; i++)
        CHECK_INT(take(bcr_cce, cell), i);
    CHECK_INT(result(first).returned, 0);
    CHECK_INT(result(second).returned, 0);
    end();
}
