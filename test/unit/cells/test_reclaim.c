/* SPDX-License-Identifier: MIT */
/* What ended CCEs leave goes when no process needs it any more, and not before: bcri/reclaim.h. */
#include <pthread.h>

#include "bcr.h"
#include "bcri/audit.h"
#include "bcri/cell.h"
#include "bcri/cell0.h"
#include "bcri/clock.h"
#include "bcri/get.h"
#include "bcri/give_back.h"
#include "bcri/heap.h"
#include "bcri/lookup.h"
#include "bcri/put.h"
#include "bcri/reclaim.h"
#include "bcri/repair.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/tiers.h"
#include "bcri/waiters.h"
#include "bcri/watermark.h"
#include "check.h"
#include "group.h"

static struct group *group;
static struct bcri_reclaim *reclaim;
static struct bcri_ctx *one, *two;

static void as(struct bcri_ctx *ctx)
{
    bcri_self_set(ctx);
}

static void begin(void)
{
    group = group_open();
    reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    one = group_join(group);
    two = group_join(group);
    as(one);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
}

static void finish(void)
{
    bcri_reclaim_fini(reclaim);
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
    CHECK(bcri_reclaim_add(reclaim, index));
    bcri_reclaim_look(reclaim);
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

/* Whether the memory of its cells is there. */
static bool has_cells(uint32_t index)
{
    bcri_ref own = bcri_load(&bcri_record(one, index)->id.first_area);
    return bcri_load(&((struct bcri_area_shm *)bcri_at(one, own))->next) != BCRI_REF_NONE;
}

static void fail_by_finding(void *arg, const char *sentence)
{
    (void)arg;
    FAIL("%s", sentence);
}

static bool is_free(uint32_t index)
{
    uint32_t got;
    bcri_reclaim_look(reclaim);
    return bcri_reclaim_take(reclaim, &got) && got == index;
}

TEST(what_nobody_needs_goes_at_once)
{
    begin();
    as(two);
    for (int i = 0; i < 100; i++)
        CHECK(bcr_rgalloc(100, 0) != NULL);
    CHECK_UINT(live(two->index, BCRI_SEG_SLOTS), 1);
    uint32_t index = end_two();
    CHECK(!has_cells(index));
    for (enum bcri_seg_kind kind = BCRI_SEG_HEAP; kind <= BCRI_SEG_SLOTS; kind++)
        CHECK_UINT(live(index, kind), 0);
    CHECK(is_free(index));
    finish();
}

TEST(a_heap_stays_until_its_last_region_is_freed_and_the_CCE_that_frees_it_tells_the_daemon)
{
    bcr_region held[3];
    begin();
    as(two);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_put(1, bcr_rgalloc(8, 0), group_name(two, one->index), 1, bcr_FREE), 0);
    as(one);
    for (int i = 0; i < 3; i++)
        CHECK((held[i] = bcr_get(1, bcr_cce, 1, 0)) != NULL);
    uint32_t seg = bcri_ref_seg(group_region(one, held[0]));
    uint32_t index = end_two();
    const struct bcri_segment_shm *entry = &one->host->segments[seg];
    CHECK_UINT(live(index, BCRI_SEG_HEAP), 1);
    CHECK(!has_cells(index));
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

TEST(nothing_leads_from_a_record_that_stays_to_memory_that_has_gone)
{
    begin();
    as(two); /* has had more error regions in its cell 0 than the ring holds, and a region that outlives it */
    two->flags |= bcr_errors;
    CHECK_INT(bcr_put(1, bcr_rgalloc(8, 0), group_name(two, one->index), 1, bcr_FREE), 0);
    bcr_region rgid = bcr_rgalloc(8, 0);
    for (int i = 0; i < 100; i++)
        CHECK_INT(bcr_putm(1, rgid, 1, (const int[]){bcr_cce, 99}, bcr_NOFREE), -1);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 100);
    CHECK_INT(bcr_zap(bcr_cce, 0), 0); /* the daemon does not meet the nodes then, and has not mapped them */
    as(one);
    bcr_region held = bcr_get(1, bcr_cce, 1, 0);
    CHECK(held != NULL);
    uint32_t index = end_two();
    CHECK(!has_cells(index));
    CHECK(!is_free(index));
    const struct bcri_area_shm *own = bcri_at(one, bcri_load(&bcri_record(one, index)->id.first_area));
    CHECK_UINT(bcri_load(&own->node_free), BCRI_REF_NONE); /* another's may lie there by now */
    struct bcri_audit audit = {.found = fail_by_finding};
    CHECK_INT(bcri_audit(group_enl(group), &audit), 0);
    CHECK_INT(bcr_rgfree(held), 0);
    CHECK(is_free(index));
    finish();
}

TEST(cells_stay_while_a_region_that_was_served_there_was_not_collected)
{
    begin();
    as(one);
    bcr_region pending = bcr_get(1, group_name(one, two->index), 2, bcr_PENDING); /* an out cell */
    CHECK(pending != NULL);
    as(two);
    bcr_region given = bcr_rgalloc(8, 0);
    CHECK_INT(bcr_put(1, given, bcr_cce, 2, bcr_FREE), 0);
    uint32_t index = end_two();
    CHECK(has_cells(index));
    CHECK(!is_free(index));
    CHECK_INT(bcr_rgwait(pending, 0, 0), 1);
    CHECK(!is_free(index)); /* now its heap is what is needed */
    CHECK(!has_cells(index));
    CHECK_INT(bcr_rgfree(pending), 0);
    CHECK(is_free(index));
    finish();
}

TEST(a_record_is_not_given_out_while_a_CCE_is_inside_an_operation_that_began_before)
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
    CHECK(bcri_reclaim_add(reclaim, second));
    bcri_reclaim_look(reclaim);
    uint32_t got;
    CHECK(bcri_reclaim_take(reclaim, &got));
    CHECK_UINT(got, second);
    CHECK(bcri_reclaim_take(reclaim, &got));
    CHECK_UINT(got, first);
    CHECK(!bcri_reclaim_take(reclaim, &got));
    finish();
}

/* Everything that an ended CCE left can be given out again, and its record is. */
static void give_all_back(void)
{
    uint32_t index;
    bcri_reclaim_look(reclaim);
    while (bcri_reclaim_take(reclaim, &index))
        bcri_host_cce_release(group_host(group), index);
}

/* A CCE that makes one of each kind: cells, a heap, more IDs than a record has. It hands `one` a
 * region and frees one of its, and checks what it meets. */
static void live_and_die(int number)
{
    two = group_join(group);
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
    CHECK_INT(bcr_celllen(bcr_cce, 1), 0);
    CHECK(bcr_get(1, bcr_cce, 2, 0) == NULL);
    bcr_cce_id name = group_name(one, two->index);
    as(one);
    bcr_region mine = bcr_rgalloc(8, 0);
    **(int **)mine = number;
    CHECK_INT(bcr_put(1, mine, name, 1, bcr_FREE), 0);
    as(two);
    for (int i = 0; i < 40; i++) {
        bcr_region rgid = bcr_rgalloc(100, 0);
        CHECK(rgid != NULL);
        **(int **)rgid = number + i;
        if (i % 8 == 0)
            CHECK_INT(bcr_put(1, rgid, bcr_cce, 3, bcr_NOFREE), 0);
    }
    mine = bcr_get(1, bcr_cce, 1, 0);
    CHECK(mine != NULL && **(int **)mine == number);
    CHECK_INT(bcr_rgfree(mine), 0);
    as(one);
    bcr_region its = bcr_get(1, name, 3, 0);
    CHECK(its != NULL && **(int **)its == number);
    (void)end_two();
    CHECK_INT(**(int **)its, number);
    CHECK_INT(bcr_rgfree(its), 0);
    give_all_back();
}

TEST_TIMEOUT(more_cces_than_there_are_numbers_come_and_go, 300)
{
    const int rounds =
        (int)test_scale(test_is_instrumented() ? 100 : 1000, test_is_instrumented() ? 500 : BCRI_SEG_MAX / 3);
    begin();
    as(one);
    group_leave(group, two);
    CHECK(bcri_reclaim_add(reclaim, 2));
    give_all_back();
    for (int i = 0; i < 3; i++)
        live_and_die(i);
    const uint32_t numbers = bcri_host_segment_count(group_host(group));
    for (int i = 0; i < rounds; i++)
        live_and_die(i);
    CHECK_UINT(bcri_host_segment_count(group_host(group)), numbers);
    bcri_heap_collect(one);
    CHECK_UINT(bcri_heap_charged(one), 0); /* each block has come home */
    finish();
}

TEST(numbers_do_not_come_again_while_a_CCE_is_inside_an_operation_that_began_before)
{
    begin();
    as(one);
    group_leave(group, two);
    CHECK(bcri_reclaim_add(reclaim, 2));
    give_all_back();
    live_and_die(0);
    const uint32_t numbers = bcri_host_segment_count(group_host(group));
    two = group_join(group);
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
    const uint32_t heap = bcri_ref_seg(group_region(two, bcr_rgalloc(8, 0)));
    CHECK_UINT(bcri_host_segment_count(group_host(group)), numbers);
    bcri_store(&one->journal->op, BCRI_OP_PUT);
    (void)end_two();
    bcri_reclaim_look(reclaim);
    CHECK_UINT(bcri_load(&one->host->segments[heap].state), BCRI_SEG_GONE);
    two = group_join(group);
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
    CHECK_UINT(bcri_host_segment_count(group_host(group)),
               numbers + 1); /* another heap; cells go in a shared one */
    CHECK_UINT(bcri_load(&one->host->segments[heap].state), BCRI_SEG_GONE);
    bcri_store(&one->journal->op, BCRI_OP_NONE);
    (void)end_two();
    give_all_back();
    live_and_die(1);
    CHECK_UINT(bcri_host_segment_count(group_host(group)), numbers + 1);
    finish();
}

/* Ends `two`; another one, which gets everything that it had, takes its place. */
static void follow_two(void)
{
    uint32_t index = two->index;
    (void)end_two();
    give_all_back();
    two = group_join(group);
    CHECK_UINT(two->index, index);
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 1, 1, 1, 16, 1 << 16), 1);
    as(one);
}

TEST(a_place_from_before_is_stale_where_another_ones_cell_lies)
{
    begin();
    as(one);
    struct bcri_resolved *found, before;
    CHECK_INT(bcri_resolved_find(one, group_name(one, two->index), 1, &found), 0);
    before = *found;
    bcr_region rgid = bcr_rgalloc(8, 0);
    struct bcri_slot_shm *slot = group_slot(one, rgid);
    follow_two();
    struct bcri_resolved *now;
    CHECK_INT(bcri_resolved_find(two, BCRI_SELF, 1, &now), 0);
    CHECK_UINT(now->ref, before.ref);
    CHECK(now->open != before.open);
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_put put = {
        .resolved = &before, .slot = slot, .slot_ref = bcri_slot_ref(one, slot), .region = region};
    CHECK_INT(bcri_put_attempt(one, &put, BCRI_HOLDS_NOTHING, BCRI_DEADLINE_NEVER), BCRI_TRY_STALE);
    CHECK_INT(bcri_put_slow(one, &before, false, region, slot, false, BCRI_DEADLINE_NEVER).outcome,
              BCRI_STALE);
    struct bcri_get get = {
        .resolved = &before, .slot = slot, .slot_ref = bcri_slot_ref(one, slot), .want = BCRI_WANT_TAKE};
    CHECK_INT(bcri_get_slow(one, &get).outcome, BCRI_STALE);
    CHECK_UINT(bcri_load(&before.cell->h.lock) | bcri_load(&before.cell->t.lock), 0);
    as(two);
    CHECK_INT(bcr_celllen(bcr_cce, 1), 0);
    as(one);
    CHECK_INT(bcr_rgfree(rgid), 0);
    finish();
}

TEST(a_region_is_not_given_back_to_the_cell_that_has_come_after_its_own)
{
    begin();
    as(one);
    bcr_region pending = bcr_get(1, group_name(one, two->index), 2, bcr_PENDING);
    CHECK(pending != NULL);
    as(two);
    bcr_region given = bcr_rgalloc(8, 0);
    CHECK_INT(bcr_put(1, given, bcr_cce, 2, bcr_FREE), 0);
    as(one);
    CHECK_INT(bcr_rgwait(pending, 0, 0), 1);
    /* A region of one's own in its place, so that the heap of two can go. */
    struct bcri_slot_shm *slot = group_slot(one, pending);
    bcr_region own = bcr_rgalloc(8, 0);
    const uint64_t word = bcri_load(&group_slot(one, own)->word);
    const uint64_t was = bcri_load(&slot->word);
    bcri_store(&slot->word, word);
    bcri_store(&group_slot(one, own)->word, was);
    CHECK_INT(bcr_rgfree(own), 0);
    follow_two();
    struct bcri_resolved *now;
    CHECK_INT(bcri_resolved_find(two, BCRI_SELF, 2, &now), 0);
    CHECK_UINT(now->ref, bcri_load(&slot->cell));
    bcri_request_give_back(one, slot);
    CHECK_UINT(bcri_load(&slot->word), 0);
    as(two);
    CHECK_INT(bcr_celllen(bcr_cce, 2), 0);
    CHECK_UINT(bcri_heap_charged(one), 0); /* it was dropped */
    finish();
}

TEST(a_queue_stays_whole_when_the_one_that_added_nodes_to_it_has_ended)
{
    enum { BACK = 60 };
    begin();
    as(one);
    CHECK_INT(bcr_cagrow(10, 0, 0, 0, 1, BACK, 0), 10);
    CHECK_INT(bcr_cagrow(20, 0, 0, 0, 1, 1, 0), 20); /* 17 nodes */
    const bcr_cce_id name = group_name(two, one->index);
    bcr_region taken[BACK];
    for (int i = 0; i < BACK; i++) {
        bcr_region rgid = bcr_rgalloc(8, 0);
        **(int **)rgid = i;
        CHECK_INT(bcr_put(1, rgid, bcr_cce, 10, bcr_FREE), 0);
    }
    as(two);
    struct bcri_resolved *resolved;
    for (int i = 0; i < BACK; i++)
        CHECK((taken[i] = bcr_get(1, name, 10, 0)) != NULL);
    CHECK_INT(bcri_resolved_find(two, name, 20, &resolved), 0);
    for (int i = BACK; i-- > 0;) { /* as a write lock that finds no memory for its copy */
        struct bcri_slot_shm *slot = group_slot(two, taken[i]);
        bcri_store(&slot->cell, resolved->ref);
        bcri_store(&slot->prev, resolved->open);
        bcri_request_give_back(two, slot);
    }
    (void)end_two();
    give_all_back();
    live_and_die(1);
    as(one);
    CHECK_INT(bcr_celllen(bcr_cce, 20), BACK);
    for (int i = 0; i < BACK; i++) {
        bcr_region rgid = bcr_get(1, bcr_cce, 20, 0);
        CHECK(rgid != NULL && **(int **)rgid == i);
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
    finish();
}
/* ---- a record that is given out again while the daemon's worker goes through all records */

struct giver {
    _Atomic uint32_t turn, done; /* turns begun, and done */
    uint32_t index;              /* of the record that was given out */
};

static void *give_out(void *arg)
{
    struct giver *giver = arg;
    uint32_t turn = 0;
    for (;;) {
        while (bcri_load_acquire(&giver->turn) == turn)
            bcri_cpu_pause();
        turn = bcri_load_acquire(&giver->turn);
        if (turn == UINT32_MAX)
            return NULL;
        CHECK_INT(bcri_host_cce_add(group_host(group), 7, &giver->index), 0);
        bcri_store_release(&giver->done, turn);
    }
}

TEST_TIMEOUT(a_record_that_is_given_out_again_is_not_taken_for_corrupt_by_who_looks_through_it, 120)
{
    struct giver giver = {0};
    pthread_t thread;
    begin();
    struct bcri_ctx *enl = group_enl(group);
    uint32_t dead = end_two(), again;
    bcri_store(&bcri_record(enl, dead)->id.uses_locks, 1); /* its repair goes through all records */
    CHECK_INT(bcri_host_cce_add(group_host(group), 7, &again), 0);
    bcri_cell0_init(enl, again);
    CHECK_INT(pthread_create(&thread, NULL, give_out, &giver), 0);
    const uint32_t turns = (uint32_t)test_scale(20000, 1000000);
    for (uint32_t turn = 1; turn <= turns; turn++) {
        bcri_host_cce_release(group_host(group), again);
        bcri_store_release(&giver.turn, turn);
        do
            bcri_cce_repair(enl, dead);
        while (bcri_load_acquire(&giver.done) != turn);
        CHECK_UINT(giver.index, again);
        CHECK(!enl->daemon.corrupt);
        bcri_cell0_init(enl, again);
    }
    bcri_store_release(&giver.turn, UINT32_MAX);
    CHECK_INT(pthread_join(thread, NULL), 0);
    finish();
}
