/* SPDX-License-Identifier: MIT */
/* bcr_put, bcr_write, bcr_enq, bcr_zap, bcr_celllen: what is in a cell, in which order, and who is
 * handed what. */
#include "cce.h"

#include <pthread.h>
#include <sys/wait.h>

TEST(regions_come_out_in_the_order_in_which_they_were_put)
{
    begin();
    int cell = grow(1, 5000, 5000 * 64);
    for (int i = 0; i < 5000; i++) /* far more than a ring holds */
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 5000);
    for (int i = 0; i < 5000; i++)
        CHECK_INT(take(bcr_cce, cell), i);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    end();
}

/* Rings wrap, overflow and refill in between. */
TEST(order_holds_while_a_queue_grows_and_shrinks)
{
    begin();
    int cell = grow(3, 300, 300 * 64);
    int in = 0, out = 0;
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < (round * 37) % 151 && in - out < 300; i++)
            CHECK_INT(bcr_enq(number(in++), bcr_cce, cell + 1, bcr_FREE), 0);
        for (int i = 0; i < (round * 53) % 149 && out < in; i++)
            CHECK_INT(take(bcr_cce, cell + 1), out++);
        CHECK_INT(bcr_celllen(bcr_cce, cell + 1), in - out);
    }
    while (out < in)
        CHECK_INT(take(bcr_cce, cell + 1), out++);
    end();
}

TEST(lengths_do_not_change_the_order)
{
    begin();
    int cell = grow(1, 8, 4 << 20);
    const int lengths[] = {8, 1 << 20, 0, 70000, 1, 4096, 31, 33};
    for (int i = 0; i < 8; i++)
        CHECK_INT(bcr_enq(filled(lengths[i], i), bcr_cce, cell, bcr_FREE), 0);
    for (int i = 0; i < 8; i++) {
        bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
        CHECK_INT(bcr_rglen(rgid, NULL), lengths[i]);
        for (int k = 0; k < lengths[i]; k++)
            CHECK_INT(((char *)*rgid)[k], i);
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
    end();
}

TEST(what_others_put_keeps_each_ones_order)
{
    begin();
    int cell = grow(1, 20, 20 * 64);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        as(two);
        CHECK_INT(bcr_enq(number(100 + i), one_of_two, cell, bcr_FREE), 0);
        as(one);
    }
    for (int i = 0; i < 10; i++) {
        CHECK_INT(take(bcr_cce, cell), i);
        CHECK_INT(take(bcr_cce, cell), 100 + i);
    }
    end();
}

TEST(put_takes_the_region_unless_it_is_to_be_kept)
{
    begin();
    int cell = grow(1, 9, 1024);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    rgid = number(2);
    void *data = *rgid;
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, 17), 0); /* anything but 0 */
    CHECK_INT(peek(rgid), 2);
    CHECK_PTR(*rgid, data); /* only rgmod moves it */
    CHECK_INT(bcr_rgmod(rgid), 0);
    **(int **)rgid = 3;
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(take(bcr_cce, cell), 2);
    CHECK_INT(take(bcr_cce, cell), 2);
    CHECK_INT(value_of(rgid), 3);
    end();
}

TEST(a_put_that_fails_leaves_the_caller_its_region)
{
    begin();
    int cell = grow(1, 0, 256);
    bcr_region rgid = number(1);
    FAILS(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    FAILS(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), bcrE_FULL);
    FAILS(bcr_write(rgid, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    FAILS(bcr_enq(rgid, bcr_cce, cell + 1, bcr_FREE), bcrE_NOCELL);
    FAILS(bcr_enq(rgid, 77, cell, bcr_FREE), bcrE_NOCCE);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    void *data = *rgid;
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data); /* nobody else holds it */
    CHECK_INT(value_of(rgid), 1);
    end();
}

TEST(write_replaces_what_a_cell_holds)
{
    begin();
    int cell = grow(2, 100, 8192);
    CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0); /* nothing there to replace */
    CHECK_INT(bcr_write(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    for (int i = 0; i < 90; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 2);
    bcr_region kept = number(3);
    CHECK_INT(bcr_write(kept, bcr_cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(bcr_enq(number(4), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 3);
    CHECK_INT(take(bcr_cce, cell), 4);
    CHECK_INT(value_of(kept), 3);
    for (int i = 0; i < 100; i++) /* what was replaced is free: 8192 bytes are 128 regions */
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell + 1, bcr_FREE), 0);
    end();
}

TEST(what_is_replaced_lives_on_where_it_is_held)
{
    begin();
    int cell = grow(1, 1, 256);
    CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
    bcr_region read = bcr_read(bcr_cce, cell, 0);
    CHECK_INT(bcr_write(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(peek(bcr_read(bcr_cce, cell, 0)), 2);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(value_of(read), 1);
    end();
}

TEST(zap_removes_all_regions_and_an_empty_cell_stays_empty)
{
    begin();
    int cell = grow(2, 100, 100 * 64);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++)
            CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        for (int i = 0; i < 50; i++)
            CHECK_INT(bcr_enq(number(i), bcr_cce, cell + 1, bcr_FREE), 0);
        CHECK_INT(bcr_zap(bcr_cce, cell), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell + 1), 50);
        FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
        CHECK_INT(bcr_zap(bcr_cce, cell + 1), 0);
    }
    end();
}

TEST(zap_leaves_waiting_gets_waiting)
{
    begin();
    int cell = grow(1, 4, 256);
    bcr_region take_id = bcr_deq(bcr_cce, cell, bcr_PENDING);
    bcr_region read_id = bcr_read(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(bcr_rgwait(take_id, 0, 0), 0);
    CHECK_INT(bcr_rgwait(read_id, 0, 0), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_rgwait(take_id, 0, 0), 1);
    CHECK_INT(bcr_rgwait(read_id, 0, 0), 1);
    CHECK_INT(value_of(take_id), 1);
    CHECK_INT(value_of(read_id), 2);
    CHECK_INT(take(bcr_cce, cell), 2);
    end();
}

TEST(a_put_serves_the_reads_ahead_of_the_first_take_and_then_that_take)
{
    begin();
    int cell = grow(1, 4, 1024);
    const int qlike[] = {0, 0, 1, 0, 1};
    const int want[] = {1, 1, 1, 2, 2};
    bcr_region ids[5];
    for (int i = 0; i < 5; i++) {
        as(i % 2 == 0 ? one : two);
        ids[i] = bcr_get(qlike[i], i % 2 == 0 ? bcr_cce : one_of_two, cell, bcr_PENDING);
        CHECK(ids[i] != NULL);
    }
    as(one);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    for (int i = 0; i < 5; i++) {
        as(i % 2 == 0 ? one : two);
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), i <= 2 ? 1 : 0);
    }
    as(one);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    CHECK_INT(bcr_write(number(2), bcr_cce, cell, bcr_FREE), 0);
    for (int i = 0; i < 5; i++) {
        as(i % 2 == 0 ? one : two);
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 1);
        CHECK_INT(value_of(ids[i]), want[i]);
    }
    as(one);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    end();
}

TEST(if_only_reads_wait_all_are_served_and_the_region_stays)
{
    begin();
    int cell = grow(1, 1, 1024);
    bcr_region reads[6];
    for (int i = 0; i < 6; i++)
        reads[i] = bcr_read(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    for (int i = 0; i < 6; i++) {
        CHECK_INT(bcr_rgwait(reads[i], 0, 0), 1);
        CHECK_PTR(*reads[i], *reads[0]);
    }
    for (int i = 0; i < 6; i++)
        CHECK_INT(value_of(reads[i]), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

/* ... until the waiter has it. By ticket, and by way of the list. */
TEST(a_region_handed_to_a_waiting_get_is_in_no_count)
{
    begin();
    int cell = grow(1, 1, 1024);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region read = listed ? bcr_read(bcr_cce, cell, bcr_PENDING) : NULL;
        bcr_region first = bcr_deq(bcr_cce, cell, bcr_PENDING);
        CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
        CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0); /* nrgns is 1 */
        CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
        CHECK_INT(bcr_write(number(3), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
        CHECK_INT(bcr_zap(bcr_cce, cell), 0);
        FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
        CHECK_INT(bcr_rgwait(first, 0, 0), 1);
        CHECK_INT(value_of(first), 1);
        if (listed) {
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
            CHECK_INT(value_of(read), 1);
        }
    }
    end();
}

/* More takes than the four that can wait by ticket. */
TEST(twelve_waiting_takes_are_served_in_the_order_of_their_arrival)
{
    begin();
    int cell = grow(1, 12, 4096);
    bcr_region ids[12];
    for (int i = 0; i < 12; i++) {
        as(i % 3 == 0 ? two : one);
        ids[i] = bcr_deq(i % 3 == 0 ? one_of_two : bcr_cce, cell, bcr_PENDING);
    }
    as(one);
    for (int i = 0; i < 12; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    for (int i = 12; i-- > 0;) {
        as(i % 3 == 0 ? two : one);
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 1);
        CHECK_INT(value_of(ids[i]), i);
    }
    end();
}

TEST(waiting_takes_are_served_in_order_while_others_come)
{
    begin();
    int cell = grow(1, 4, 8192);
    bcr_region ids[100];
    int asked = 0, put = 0;
    while (put < 100) {
        for (int i = 0; i < 1 + put % 7 && asked < 100; i++)
            ids[asked++] = bcr_deq(bcr_cce, cell, bcr_PENDING);
        for (int i = 0; i < 1 + asked % 3 && put < asked; i++)
            CHECK_INT(bcr_enq(number(put++), bcr_cce, cell, bcr_FREE), 0);
    }
    for (int i = 0; i < 100; i++) {
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 1);
        CHECK_INT(value_of(ids[i]), i);
    }
    end();
}

TEST(sleeping_takers_are_woken_one_by_one)
{
    begin();
    int cell = grow(1, 8, 1024);
    struct later *sleeping[6];
    for (int i = 0; i < 6; i++) {
        struct bcri_ctx *ctx = join();
        sleeping[i] = later_get(ctx, 1, name(ctx, one), cell, bcr_BLOCK);
    }
    for (int i = 0; i < 6; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        struct outcome outcome = result(sleeping[i]);
        CHECK_INT(outcome.returned, 0);
        CHECK_INT(outcome.value, i);
    }
    end();
}

TEST(one_put_wakes_all_sleeping_readers)
{
    begin();
    int cell = grow(1, 8, 1024);
    struct later *sleeping[6];
    for (int i = 0; i < 6; i++) {
        struct bcri_ctx *ctx = join();
        sleeping[i] = later_get(ctx, 0, name(ctx, one), cell, bcr_BLOCK);
    }
    CHECK_INT(bcr_write(number(7), bcr_cce, cell, bcr_FREE), 0);
    for (int i = 0; i < 6; i++)
        CHECK_INT(result(sleeping[i]).value, 7);
    CHECK_INT(take(bcr_cce, cell), 7);
    end();
}

TEST(celllen_counts_own_and_others_cells)
{
    begin();
    int cell = grow(1, 100, 8192);
    for (int i = 1; i <= 100; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell), i);
        as(two);
        CHECK_INT(bcr_celllen(one_of_two, cell), i);
        as(one);
    }
    end();
}

TEST(a_put_is_in_its_cell_when_it_returns)
{
    begin();
    int cell = grow(1, 2, 1024);
    as(two);
    CHECK_INT(bcr_enq(number(1), one_of_two, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(0), 1);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(bcr_putdone(5), 1);
    FAILS(bcr_putdone(bcr_PENDING), bcrE_ARG);
    as(one);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

/* Somebody who only reads must find a region in every instant. */
struct reader {
    struct bcri_ctx *ctx;
    int cell;
    _Atomic int over;
};

static void *always_finds_one(void *arg)
{
    struct reader *reader = arg;
    as(reader->ctx);
    int owner = name(reader->ctx, one), last = 0;
    while (!atomic_load(&reader->over)) {
        int value = value_of(bcr_read(owner, reader->cell, 0));
        CHECK(value >= last); /* and never an older one than before */
        last = value;
        CHECK(bcr_celllen(owner, reader->cell) >= 1);
    }
    return NULL;
}

TEST(nobody_sees_a_cell_empty_while_it_is_written)
{
    begin();
    struct reader reader = {.ctx = join(), .cell = grow(1, 3, 1 << 16)};
    CHECK_INT(bcr_write(number(0), bcr_cce, reader.cell, bcr_FREE), 0);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, always_finds_one, &reader), 0);
    int rounds = (int)test_scale(3000, 100000);
    for (int i = 1; i <= rounds; i++) {
        CHECK_INT(bcr_write(number(i), bcr_cce, reader.cell, bcr_FREE), 0);
        if (i % 16 == 0)
            CHECK_INT(bcr_enq(number(i), bcr_cce, reader.cell, bcr_FREE), 0);
    }
    atomic_store(&reader.over, 1);
    pthread_join(thread, NULL);
    end();
}

/* ---- another process ---- */

static int put_a_thousand(struct bcri_ctx *ctx, void *arg)
{
    bcr_cce_id owner = group_name(ctx, one->index);
    int cell = *(int *)arg;
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16) > 0);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(bcr_enq(number(i), owner, cell, bcr_FREE), 0);
    bcr_region answer = bcr_deq(owner, cell + 1, bcr_BLOCK);
    CHECK_INT(value_of(answer), 42);
    return 0;
}

TEST(another_process_puts_and_waits_for_room_and_for_an_answer)
{
    begin();
    int cell = grow(1, 10, 1024);
    CHECK_INT(grow(1, 1, 0), cell + 1);
    uint32_t index;
    pid_t pid = group_fork(group, put_a_thousand, &cell, &index);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(value_of(bcr_deq(bcr_cce, cell, bcr_BLOCK)), i);
    CHECK_INT(bcr_enq(number(42), bcr_cce, cell + 1, bcr_FREE), 0);
    int status = group_bury(group, pid, index);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    end();
}

/* The names in parentheses are the functions, which is what a caller without a preprocessor gets. */
TEST(the_functions_behind_the_macros_do_what_the_macros_do)
{
    begin();
    int cell = grow(2, 9, 1024);
    const int cells[] = {bcr_cce, cell, bcr_cce, cell + 1};
    CHECK_INT((bcr_enq)(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT((bcr_enq)(number(2), bcr_cce, cell, bcr_FREE), 0);
    bcr_region read = (bcr_read)(bcr_cce, cell, 0);
    CHECK_INT(value_of(read), 1);
    CHECK_INT(value_of((bcr_deq)(bcr_cce, cell, 0)), 1);
    CHECK_INT((bcr_enqm)(number(3), 2, cells, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 2);
    CHECK_INT((bcr_write)(number(4), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT((bcr_writem)(number(5), 2, cells, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 5);
    CHECK_INT(take(bcr_cce, cell + 1), 5);
    FAILS_NULL((bcr_deq)(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS((bcr_enq)(NULL, bcr_cce, cell, bcr_FREE), bcrE_RGID);
    end();
}
