/* SPDX-License-Identifier: MIT */
/* What ended CCEs leave goes when nobody needs it any more, and not before: bcri/estate.h. */
#include "bcr.h"
#include "bcri/estate.h"
#include "bcri/flow.h"
#include "bcri/heap.h"
#include "bcri/self.h"
#include "check.h"
#include "group.h"

static struct group *group;
static struct bcri_estate *estate;
static struct bcri_ctx *one, *two;

static void as(struct bcri_ctx *ctx)
{
    bcri_self_set(ctx);
}

static void begin(void)
{
    group = group_open();
    estate = bcri_estate_init(group_host(group));
    CHECK(estate != NULL);
    one = group_join(group);
    two = group_join(group);
    as(one);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
}

static void finish(void)
{
    bcri_estate_fini(estate);
    bcri_self_set(NULL);
    group_leave(group, one);
    group_close(group);
}

/* Ends `two`, as the daemon would see it. Returns its index. */
static uint32_t end_two(void)
{
    uint32_t index = two->index;
    as(one);
    group_leave(group, two);
    CHECK(bcri_estate_add(estate, index));
    bcri_estate_look(estate);
    return index;
}

static unsigned live(uint32_t owner, enum bcri_seg_kind kind)
{
    const struct bcri_host_shm *host = one->host;
    unsigned count = 0;
    for (uint32_t seg = 0; seg < bcri_load(&host->segment_count); seg++)
        count += bcri_load(&host->segments[seg].state) == BCRI_SEG_LIVE &&
                 host->segments[seg].owner == owner && host->segments[seg].kind == kind;
    return count;
}

static bool is_free(uint32_t index)
{
    uint32_t got;
    bcri_estate_look(estate);
    return bcri_estate_take(estate, &got) && got == index;
}

TEST(what_nobody_needs_goes_at_once)
{
    begin();
    as(two);
    for (int i = 0; i < 100; i++)
        CHECK(bcr_rgalloc(100, 0) != NULL);
    CHECK_UINT(live(two->index, BCRI_SEG_SLOTS), 1);
    uint32_t index = end_two();
    for (enum bcri_seg_kind kind = BCRI_SEG_CELLS; kind <= BCRI_SEG_RETURNS; kind++)
        CHECK_UINT(live(index, kind), 0);
    CHECK(is_free(index));
    finish();
}

TEST(a_heap_stays_until_its_last_region_is_freed_and_whoever_frees_it_is_the_one_to_tell)
{
    void **held[3];
    begin();
    as(two);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_put(1, bcr_rgalloc(8, 0), group_name(two, one->index), 1, bcr_FREE), 0);
    as(one);
    for (int i = 0; i < 3; i++)
        CHECK((held[i] = bcr_get(1, bcr_cce, 1, 0)) != NULL);
    uint32_t seg =
        bcri_ref_seg(bcri_slot_region(bcri_load(&((struct bcri_slot_shm *)(void *)held[0])->word)));
    uint32_t index = end_two();
    const struct bcri_segment_shm *entry = &one->host->segments[seg];
    CHECK_UINT(live(index, BCRI_SEG_HEAP), 1);
    CHECK_UINT(live(index, BCRI_SEG_CELLS), 0);
    CHECK_UINT(bcri_load(&entry->awaited) - bcri_load(&entry->frees), 3);
    for (int i = 0; i < 3; i++) {
        CHECK(!is_free(index));
        CHECK_INT(*(char *)*held[i], 0); /* it is there */
        CHECK_INT(bcr_rgfree(held[i]), 0);
    }
    CHECK_UINT(bcri_load(&entry->awaited), bcri_load(&entry->frees));
    CHECK(is_free(index));
    CHECK_UINT(live(index, BCRI_SEG_HEAP), 0);
    finish();
}

TEST(queues_that_lead_home_stay_until_they_are_read)
{
    begin();
    as(one);
    CHECK_INT(bcr_put(1, bcr_rgalloc(8, 0), group_name(one, two->index), 1, bcr_FREE), 0);
    as(two);
    CHECK_INT(bcr_rgfree(bcr_get(1, bcr_cce, 1, 0)), 0);
    uint32_t index = end_two();
    CHECK_UINT(live(index, BCRI_SEG_RETURNS), 1);
    CHECK(!is_free(index));
    bcri_heap_collect(one); /* reads what is there */
    bcri_heap_collect(one); /* and finds that no more will come */
    CHECK(is_free(index));
    CHECK_UINT(live(index, BCRI_SEG_RETURNS), 0);
    finish();
}

TEST(cells_stay_while_a_region_that_was_served_there_was_not_collected)
{
    begin();
    as(one);
    void **pending = bcr_get(1, group_name(one, two->index), 2, bcr_PENDING); /* an out cell */
    CHECK(pending != NULL);
    as(two);
    void **given = bcr_rgalloc(8, 0);
    CHECK_INT(bcr_put(1, given, bcr_cce, 2, bcr_FREE), 0);
    uint32_t index = end_two();
    CHECK_UINT(live(index, BCRI_SEG_CELLS), 1);
    CHECK(!is_free(index));
    CHECK_INT(bcr_rgwait(pending, 0, 0), 1);
    CHECK(!is_free(index)); /* now its heap is what is needed */
    CHECK_UINT(live(index, BCRI_SEG_CELLS), 0);
    CHECK_INT(bcr_rgfree(pending), 0);
    CHECK(is_free(index));
    finish();
}

TEST(a_record_is_not_given_out_while_somebody_is_inside_an_operation_that_began_before)
{
    begin();
    bcri_store(&one->journal->op, BCRI_OP_PUT);
    uint32_t index = end_two();
    CHECK(!is_free(index));
    CHECK(!is_free(index));
    bcri_store(&one->journal->op, BCRI_OP_NONE);
    CHECK(is_free(index));
    finish();
}

TEST(who_ends_later_waits_for_the_next_group)
{
    uint32_t first, second;
    begin();
    struct bcri_ctx *three = group_join(group);
    second = three->index;
    bcri_store(&one->journal->op, BCRI_OP_PUT);
    first = end_two();
    bcri_store(&one->journal->op, BCRI_OP_NONE);
    as(one);
    group_leave(group, three);
    CHECK(bcri_estate_add(estate, second));
    bcri_estate_look(estate);
    uint32_t got;
    CHECK(bcri_estate_take(estate, &got));
    CHECK_UINT(got, second);
    CHECK(bcri_estate_take(estate, &got));
    CHECK_UINT(got, first);
    CHECK(!bcri_estate_take(estate, &got));
    finish();
}
