/* SPDX-License-Identifier: MIT */
/* bcr_handler: which puts and gets request a handler, and how often it is called. */
#include <string.h>

#include "handler_calls.h"

static void take_one(int cell)
{
    say("took %d ", take(bcr_cce, cell));
}

static void answer(int cell)
{
    CHECK_INT(bcr_enq(number(cell * 10), bcr_cce, cell, bcr_FREE), 0);
}

TEST(a_put_that_reaches_the_mark_calls_the_handler_at_the_next_call)
{
    start(2);
    CHECK_INT(bcr_handler(1, tell, 3, 0, 0), 0);
    put_here(1, 1);
    put_here(1, 2);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    put_here(1, 3);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    put_here(1, 4); /* each that leaves so many */
    put_here(2, 4);
    SAID("1 ");
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(take(bcr_cce, 1), 1);
    CHECK_INT(take(bcr_cce, 1), 2);
    CHECK_INT(take(bcr_cce, 1), 3);
    put_here(1, 5);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    end();
}

TEST(cells_take_turns_whichever_CCE_has_requested)
{
    static const char *const each = "1 2 3 ";
    start(3);
    for (int cell = 1; cell <= 3; cell++)
        CHECK_INT(bcr_handler(cell, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(1, 1), 0);
    for (int i = 0; i < 40; i++) {
        put_there(1, i);
        put_here(2, i);
        put_here(2, i);
        put_there(3, i);
    }
    CHECK_INT(bcr_priority(0, 0), 0);
    for (int i = 0; i < 40; i++)
        CHECK(strncmp(told + (size_t)i * strlen(each), each, strlen(each)) == 0);
    for (int i = 0; i < 40; i++)
        CHECK(strncmp(told + 40 * strlen(each) + 2 * (size_t)i, "2 ", 2) == 0);
    CHECK_UINT(strlen(told), 40 * 8);
    end();
}

/* Counts its calls where its argument points, and removes itself at the third. */
static void count_up(int cell, void *argument)
{
    int *const calls = argument;
    int activep = -1, blockp = -1;
    CHECK_INT(bcr_getpriority(&activep, &blockp), 0);
    CHECK_INT(activep, 4);
    CHECK_INT(blockp, 2);
    if (++*calls == 3)
        CHECK_INT(bcr_handler_arg(cell, NULL, NULL, 0, 0, 0), 0);
}

TEST(a_handler_with_an_argument_is_called_with_it_and_is_the_cells_only_one)
{
    int first = 0, second = 0;
    start(2);
    CHECK_INT(bcr_handler_arg(1, count_up, &first, 1, 4, 2), 0);
    CHECK_INT(bcr_handler_arg(2, count_up, &second, 1, 4, 2), 0);
    put_here(1, 1);
    put_here(2, 1);
    put_here(2, 2);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(first, 1);
    CHECK_INT(second, 2);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0); /* replaces it */
    put_here(1, 3);
    put_here(2, 4);
    put_here(2, 5); /* no handler is there any more */
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    CHECK_INT(first, 1);
    CHECK_INT(second, 3);
    CHECK_INT(bcr_handler_arg(1, count_up, &first, 1, 4, 2), 0); /* and is replaced */
    put_here(1, 6);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(first, 2);
    FAILS(bcr_handler_arg(1, count_up, &first, 1, -1, 0), bcrE_ARG);
    FAILS(bcr_handler_arg(1, count_up, &first, 1, 0, -1), bcrE_ARG);
    FAILS(bcr_handler_arg(77, count_up, &first, 1, 0, 0), bcrE_NOCELL);
    end();
}

TEST(getpriority_tells_what_priority_has_set)
{
    int activep = -1, blockp = -1;
    start(1);
    CHECK_INT(bcr_getpriority(&activep, &blockp), 0);
    CHECK_INT(activep, 0);
    CHECK_INT(blockp, 0);
    CHECK_INT(bcr_priority(7, 3), 0);
    CHECK_INT(bcr_getpriority(&activep, NULL), 0);
    CHECK_INT(activep, 7);
    CHECK_INT(bcr_getpriority(NULL, &blockp), 0);
    CHECK_INT(blockp, 3);
    CHECK_INT(bcr_getpriority(NULL, NULL), 0);
    CHECK_INT(bcr_priority(0, 0), 0);
    end();
}

static int twice;

static void twice_itself(int cell)
{
    say("%d ", cell);
    if (twice-- > 0) {
        put_here(cell, 0);
        put_here(2, 0);
    }
}

TEST(what_a_handler_does_at_its_own_cells_comes_in_the_order_in_which_it_does_it)
{
    start(2);
    CHECK_INT(bcr_handler(1, twice_itself, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(2, tell, 1, 0, 0), 0);
    twice = 3;
    put_here(1, 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 1 2 1 2 1 2 ");
    end();
}

TEST(requests_of_ones_own_are_dropped_with_their_handler)
{
    start(2);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(2, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(1, 1), 0);
    put_here(1, 1);
    put_here(2, 1);
    CHECK_INT(bcr_handler(1, NULL, 0, 0, 0), 0);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(0, 0), 0);
    SAID("2 ");
    put_here(1, 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    end();
}

static void answer_and_say(int cell)
{
    say("asked ");
    answer(cell);
}

TEST(gets_of_ones_own_ask_whether_they_wait_or_not_and_whatever_they_want)
{
    start(1);
    CHECK_INT(bcr_handler(1, answer_and_say, 0, 0, 0), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, 1, bcr_BLOCK)), 10);
    SAID("asked ");
    bcr_region rgid = bcr_read(bcr_cce, 1, bcr_BLOCK);
    CHECK_INT(value_of(rgid), 10);
    SAID("asked ");
    CHECK_INT(take(bcr_cce, 1), 10);
    SAID("");
    rgid = bcr_acqwl(bcr_cce, 1, bcr_BLOCK);
    CHECK_INT(peek(rgid), 10);
    SAID("asked ");
    CHECK_INT(bcr_rlswl(rgid, bcr_cce, 1), 0);
    CHECK_INT(take(bcr_cce, 1), 10);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT);
    SAID("");
    rgid = bcr_read(bcr_cce, 1, 0); /* begins with what the get before has asked for */
    CHECK_INT(value_of(rgid), 10);
    SAID("asked ");
    CHECK_INT(bcr_zap(bcr_cce, 1), 0);
    end();
}

TEST(puts_of_others_call_the_handler_too)
{
    start(1);
    CHECK_INT(bcr_handler(1, take_one, 1, 0, 0), 0);
    put_there(1, 7);
    put_there(1, 8);
    SAID(""); /* not before this CCE calls something */
    CHECK_INT(bcr_allow(0), 0);
    SAID("took 7 took 8 ");
    put_there(1, 9);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT); /* the handler came first */
    SAID("took 9 ");
    end();
}

TEST(a_replacement_counts_as_a_put)
{
    start(1);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_write(number(1), bcr_cce, 1, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(2), bcr_cce, 1, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 1 ");
    CHECK_INT(bcr_handler(1, tell, 2, 0, 0), 0);
    CHECK_INT(bcr_write(number(2), bcr_cce, 1, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    end();
}

TEST(a_mark_of_zero_turns_a_cell_into_a_demand)
{
    start(1);
    CHECK_INT(bcr_handler(1, answer, 0, 0, 0), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, 1, bcr_BLOCK)), 10);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT); /* a look requests as well */
    CHECK_INT(take(bcr_cce, 1), 10);
    bcr_region rgid = bcr_acqwl(bcr_cce, 1, bcr_BLOCK);
    CHECK_INT(peek(rgid), 10);
    CHECK_INT(bcr_rlswl(rgid, bcr_cce, 1), 0);
    CHECK_INT(value_of(bcr_read(bcr_cce, 1, 0)), 10);
    CHECK_INT(bcr_celllen(bcr_cce, 1), 1);
    end();
}

TEST(a_mark_below_zero_calls_the_handler_when_a_take_finds_few)
{
    start(1);
    CHECK_INT(bcr_handler(1, tell, -2, 0, 0), 0);
    for (int i = 0; i < 4; i++)
        put_here(1, i);
    CHECK_INT(value_of(bcr_read(bcr_cce, 1, 0)), 0); /* takes nothing */
    CHECK_INT(take(bcr_cce, 1), 0);                  /* finds 4 */
    CHECK_INT(take(bcr_cce, 1), 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(take(bcr_cce, 1), 2); /* finds 2 */
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    CHECK_INT(take(bcr_cce, 1), 3);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 1 ");
    end();
}

TEST(the_main_program_waits_for_what_a_handler_puts)
{
    start(2);
    CHECK_INT(bcr_handler(2, answer, 0, 0, 0), 0);
    for (int i = 0; i < 100; i++)
        CHECK_INT(value_of(bcr_deq(bcr_cce, 2, bcr_BLOCK)), 20);
    end();
}

TEST(several_cells_have_handlers_of_their_own)
{
    enum { CELLS = 300 };
    start(CELLS);
    for (int cell = 1; cell <= CELLS; cell++)
        CHECK_INT(bcr_handler(cell, tell, 1, 0, 0), 0);
    static const int cells[] = {300, 1, 77, 1};
    CHECK_INT(bcr_priority(1, 1), 0);
    for (int i = 0; i < 4; i++) {
        put_there(cells[i], 1);
        CHECK(bcr_celllen(bcr_cce, cells[i]) > 0); /* sees it */
    }
    CHECK_INT(bcr_priority(0, 0), 0);
    SAID("300 1 77 1 ");
    end();
}
