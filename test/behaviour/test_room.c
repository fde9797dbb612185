/* SPDX-License-Identifier: MIT */
/* bcr_rgalloc_within: room in the account that others make, here and from afar, in time or not. */
#include <bcr/program.h>

#include "behave.h"
#include "numbers.h"

enum { ALL = 1000, ROUNDS = 200 };

/* A region of all that this CCE may allocate, which the owner's cell gets. */
static void put_all(int cell, int value)
{
    bcr_region rgid = bcr_rgalloc_within(ALL, 0, bcr_BLOCK);
    CHECK(rgid != NULL);
    write_number(rgid, value);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
}

BEHAVIOUR_OF_OTHERS(rgalloc_within_gets_what_another_CCE_frees_or_another_host_receives)
{
    const int cell = grow(1, ROUNDS + 1, ALL);
    for (int i = 0; i < ROUNDS; i++) {
        put_all(cell, i); /* waits for the free of the last turn */
        if (i % 2 == 0)
            begin(owner, "get 1 %d %d", cell, TIMED_MSEC);
        else
            CHECK_INT(by(owner, "get 1 %d %d", cell, TIMED_MSEC), i);
        bcr_region rgid = bcr_rgalloc_within(ALL, 0, bcr_BLOCK);
        CHECK(rgid != NULL);
        CHECK_INT(bcr_rglen(rgid, NULL), ALL);
        CHECK_INT(bcr_rgfree(rgid), 0);
        if (i % 2 == 0)
            CHECK_INT(result_of(owner), i);
    }
}

BEHAVIOUR_OF_OTHERS(rgalloc_within_gets_large_and_small_regions_from_what_others_free)
{
    static const int lengths[] = {1, 64, 4096, 65536, 65537, 300000, 1000000};
    const int cell = grow(1, 64, 1 << 20);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int count = (1 << 20) / lengths[i] < 16 ? (1 << 20) / lengths[i] : 16;
        for (int k = 0; k < count; k++) {
            bcr_region rgid = bcr_rgalloc_within((1 << 20) / count, 0, bcr_BLOCK);
            write_number(rgid, k);
            CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
        }
        for (int k = 0; k < count - 1; k++)
            CHECK_INT(by(owner, "get 1 %d %d", cell, TIMED_MSEC), k);
        begin(owner, "get 1 %d %d", cell, TIMED_MSEC);
        bcr_region rgid = bcr_rgalloc_within(1 << 20, 0, bcr_BLOCK); /* all of it, in one piece */
        CHECK(rgid != NULL);
        CHECK_INT(bcr_rgfree(rgid), 0);
        CHECK_INT(result_of(owner), count - 1);
    }
}

BEHAVIOUR_OF_OTHERS_WITHIN(rgalloc_within_gets_what_a_CCE_held_that_ends)
{
    const int cell = grow(1, 4, ALL);
    put_all(cell, 7);
    begin(owner, "keep 1 %d 0", cell);
    CHECK(result_of(owner) >= 0);
    FAILS_NULL(bcr_rgalloc_within(ALL, 0, 0), bcrE_NBYTES);
    leave(owner);
    CHECK(bcr_rgalloc_within(ALL, 0, bcr_BLOCK) != NULL);
}

BEHAVIOUR(rgalloc_within_ends_in_time_and_never_early)
{
    grow(1, 4, ALL);
    bcr_region all = bcr_rgalloc_within(ALL, 0, 0);
    CHECK(all != NULL);
    for (int msec = 0; msec <= 20; msec += 5) {
        const int64_t start_ns = clock_ns();
        FAILS_NULL(bcr_rgalloc_within(1, 0, msec), bcrE_NBYTES);
        CHECK(clock_ns() - start_ns >= msec * INT64_C(1000000));
    }
    CHECK_INT(bcr_rgfree(all), 0);
    CHECK_INT(bcr_heapleft(), ALL); /* what gave up was charged nothing */
    CHECK(bcr_rgalloc(ALL, 0) != NULL);
}

BEHAVIOUR(rgalloc_within_refuses_at_once_what_never_can_be)
{
    FAILS_NULL(bcr_rgalloc_within(1, 0, bcr_BLOCK), bcrE_NBYTES); /* there is no area */
    grow(1, 4, ALL);
    FAILS_NULL(bcr_rgalloc_within(ALL + 1, 0, bcr_BLOCK), bcrE_NBYTES);
    FAILS_NULL(bcr_rgalloc_within(1, 0, bcr_PENDING), bcrE_ARG);
    FAILS_NULL(bcr_rgalloc_within(-1, 0, bcr_BLOCK), bcrE_ARG);
    FAILS_NULL(bcr_rgalloc_within(1, 42, bcr_BLOCK), bcrE_ARCH);
    CHECK_INT(bcr_heapleft(), ALL);
}

static bcr_region held[3];
static int entered, got;

static void free_held(int cell)
{
    CHECK_INT(value_of(bcr_deq(bcr_cce, cell, 0)), 5);
    CHECK_INT(bcr_rgfree(held[0]), 0);
}

BEHAVIOUR_OF_OTHERS(rgalloc_within_gets_what_a_handler_frees_that_runs_meanwhile)
{
    grow(1, 4, ALL);
    const int own = bcr_cagrow(0, 0, 1, 0, 0, 1, 0);
    turn_round(owner);
    held[0] = bcr_rgalloc_within(ALL, 0, bcr_BLOCK); /* when what turned it round has arrived */
    CHECK(held[0] != NULL);
    CHECK_INT(bcr_handler(own, free_held, 1, 0, 0), 0);
    begin(owner, "put 1 %d 5", own);
    CHECK(bcr_rgalloc_within(ALL, 0, bcr_BLOCK) != NULL);
    CHECK_INT(result_of(owner), 0);
}

static void wait_for_a_third(int cell)
{
    CHECK(value_of(bcr_deq(bcr_cce, cell, 0)) > 0);
    entered++;
    bcr_region rgid = bcr_rgalloc_within(ALL / 3, 0, bcr_BLOCK);
    CHECK(rgid != NULL);
    got++;
}

BEHAVIOUR_OF_OTHERS(several_handlers_wait_for_room_at_once_and_each_gets_it)
{
    entered = got = 0;
    const int cell = grow(1, 4, ALL), own = bcr_cagrow(0, 0, 1, 0, 0, 4, 0);
    turn_round(owner);
    for (int i = 0; i < 3; i++) {
        held[i] = bcr_rgalloc_within(ALL / 3, 0, bcr_BLOCK);
        CHECK(held[i] != NULL);
        write_number(held[i], i);
    }
    CHECK_INT(bcr_handler(own, wait_for_a_third, 1, 0, 0), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(by(owner, "put 1 %d 5", own), 0);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(entered, 3);
    CHECK_INT(got, 0);
    for (int i = 0; i < 3; i++) { /* one third each time, of which a handler gets all */
        CHECK_INT(bcr_enq(held[i], there, cell, bcr_FREE), 0);
        bcr_region back = bcr_deq(there, cell, bcr_BLOCK);
        CHECK(back != NULL);
        CHECK_INT(read_number(back), i);
        CHECK_INT(bcr_rgfree(back), 0);
        while (got == i)
            FAILS_NULL(bcr_deq(bcr_cce, own, 1), bcrE_TIMEOUT);
        CHECK_INT(got, i + 1);
    }
    FAILS_NULL(bcr_rgalloc_within(ALL / 3, 0, 5), bcrE_NBYTES);
}
