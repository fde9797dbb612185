/* SPDX-License-Identifier: MIT */
/* bcr_put with others at work meanwhile: who sleeps is woken, who reads finds something, another
 * process waits for room. What a put leaves is tested in ../../behaviour. */
#include "cce.h"

#include <pthread.h>
#include <sys/wait.h>

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

/* Tools take the time 0 for "never". */
TEST(what_is_done_before_the_first_sleep_has_a_time)
{
    begin();
    const uint64_t before_ns = one->coarse_ns;
    int cell = grow(1, 8, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_UINT(bcri_load(&one->record->sleep.sleeps), 0);
    CHECK(before_ns != 0 && one->trace[one->trace_seq % BCRI_TRACE_RECORDS].time_ns >= before_ns);
    end();
}

/* A CCE that only reads must find a region in every instant. */
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
