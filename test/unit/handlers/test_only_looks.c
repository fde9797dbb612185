/* SPDX-License-Identifier: MIT */
/* bcr_idle: when a CCE that only looks for regions answers the daemon, and what. The test asks in the daemon's place. */
#include <bcr/program.h>

#include "bcri/self.h"
#include "cce.h"
#include "told.h"

enum { PRIVATE = 1, IN = 2, OUT = 3, INOUT = 4, HANDLED = 5 };

static struct {
    unsigned answers;
    uint32_t question;
    uint64_t period;
    bool found_none, is_full;
} heard;
static uint32_t asked;

static bool hear(void *up, uint32_t question, uint64_t period, bool found_none)
{
    (void)up;
    if (heard.is_full)
        return false;
    heard.answers++;
    heard.question = question;
    heard.period = period;
    heard.found_none = found_none;
    return true;
}

static uint64_t period(void)
{
    return bcri_load(&one->record->idle.period);
}

static void ask(void)
{
    bcri_store_release(&one->record->idle.asked, ++asked);
}

static void looks_in_vain(int cell)
{
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
}

/* Asks, and has the CCE look. Returns whether it has found nothing and done nothing else. */
static bool is_idle(void)
{
    const unsigned before = heard.answers;
    ask();
    looks_in_vain(HANDLED);
    CHECK_UINT(heard.answers, before + 1);
    CHECK_UINT(heard.question, asked);
    looks_in_vain(HANDLED);
    CHECK_UINT(heard.answers, before + 1); /* one question, one answer */
    return heard.found_none;
}

static void start(void)
{
    static struct bcri_upcalls hearing;
    begin();
    asked = 0;
    memset(&heard, 0, sizeof heard);
    hearing = *one->upcalls;
    hearing.idle_answer = hear;
    one->upcalls = &hearing;
    CHECK_INT(bcr_cagrow(PRIVATE, 1, 1, 1, 2, 100, 1 << 16), PRIVATE);
    CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
    CHECK_UINT(period() % 2, 1);
}

TEST(only_a_cce_that_has_said_so_answers)
{
    start();
    CHECK_INT(bcr_idle(0), 0);
    CHECK_UINT(period() % 2, 0);
    ask();
    looks_in_vain(IN);
    CHECK_UINT(heard.answers, 0);
    FAILS(bcr_idle(3), bcrE_ARG);
    FAILS(bcr_idle(-1), bcrE_ARG);
    CHECK_INT(bcr_idle(0), 0);
    CHECK_UINT(period() % 2, 0);
    end();
}

static bool is_server(void)
{
    return bcri_load(&one->record->idle.server) != 0;
}

TEST(a_server_is_one_until_it_says_otherwise_and_may_look)
{
    start();
    CHECK(!is_server());
    const uint64_t first = period();
    CHECK_INT(bcr_idle(bcr_IDLE_SERVER), 0);
    CHECK(is_server());
    CHECK_UINT(period(), first + 1); /* who has told of the period hears that it has ended */
    ask();
    looks_in_vain(IN);
    CHECK_UINT(heard.answers, 0);
    CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
    CHECK(is_server() && is_idle());
    const bcr_region region = bcr_rgalloc(8, 0);
    CHECK(is_server() && region != NULL && bcr_rgfree(region) == 0);
    CHECK_INT(bcr_idle(0), 0);
    CHECK(!is_server());
    CHECK_UINT(period() % 2, 0);
    end();
}

TEST(it_answers_where_it_looks_in_vain_once_for_each_question)
{
    start();
    CHECK(is_idle());
    const uint64_t first = period();
    CHECK_UINT(heard.period, first);
    CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0); /* nothing has changed */
    CHECK_UINT(period(), first);
    ask();
    CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
    CHECK_UINT(heard.question, asked);
    const bcr_region pending[2] = {bcr_deq(bcr_cce, IN, bcr_PENDING), bcr_deq(bcr_cce, INOUT, bcr_PENDING)};
    ask();
    CHECK_INT(bcr_rgwait(pending[0], 0, 0), 0);
    CHECK_UINT(heard.question, asked);
    ask();
    CHECK_INT(bcr_rgwaitm(2, (bcr_region *)pending, 1, 0), 0);
    CHECK_UINT(heard.question, asked);
    CHECK(heard.found_none);
    ask();
    FAILS_NULL(bcr_deq(bcr_cce, HANDLED, 1), bcrE_TIMEOUT); /* it has waited for a while */
    CHECK_UINT(heard.question, asked);
    CHECK(heard.found_none);
    CHECK_INT(bcr_rgwaitm(2, (bcr_region *)pending, 0, 1), 0);
    CHECK(is_idle());
    CHECK_UINT(period(), first);
    end();
}

TEST(an_answer_that_could_not_be_sent_comes_with_a_later_look)
{
    start();
    heard.is_full = true;
    ask();
    looks_in_vain(IN);
    CHECK_UINT(heard.answers, 0);
    heard.is_full = false;
    looks_in_vain(IN);
    CHECK_UINT(heard.answers, 1);
    CHECK(heard.found_none);
    end();
}

TEST(what_lies_where_others_put_is_found)
{
    start();
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 0, 0, 1, 10, 4096), 1);
    const int cells[] = {IN, INOUT};
    for (int i = 0; i < 2; i++) {
        CHECK_INT(bcr_enq(number(i), one_of_two, cells[i], bcr_FREE), 0);
        as(one);
        CHECK(!is_idle());
        CHECK_INT(take(bcr_cce, cells[i]), i);
        CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
        CHECK(is_idle());
        as(two);
    }
    /* What it has put itself elsewhere is no news for it. */
    as(one);
    CHECK_INT(bcr_enq(number(1), bcr_cce, PRIVATE, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, OUT, bcr_FREE), 0);
    CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
    CHECK(is_idle());
    CHECK_INT(take(bcr_cce, PRIVATE) + take(bcr_cce, OUT), 3);
    end();
}

TEST(a_request_that_was_answered_is_found)
{
    start();
    bcr_region taken = bcr_deq(bcr_cce, IN, bcr_PENDING), read = bcr_read(bcr_cce, INOUT, bcr_PENDING);
    CHECK(is_idle());
    as(two);
    CHECK_INT(bcr_cagrow(1, 0, 0, 0, 1, 10, 4096), 1);
    CHECK_INT(bcr_enq(number(5), one_of_two, IN, bcr_FREE), 0);
    as(one);
    CHECK(!is_idle());
    CHECK_INT(bcr_rgwait(taken, 0, 0), 1);
    CHECK_UINT(period() % 2, 0); /* that ends it */
    CHECK_INT(value_of(taken), 5);
    CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
    CHECK(is_idle());
    as(two);
    CHECK_INT(bcr_enq(number(6), one_of_two, INOUT, bcr_FREE), 0);
    as(one);
    CHECK(!is_idle());
    CHECK_INT(bcr_rgwaitm(1, &read, 0, 0), 1);
    CHECK_UINT(period() % 2, 0);
    CHECK_INT(value_of(read), 6);
    CHECK_INT(take(bcr_cce, INOUT), 6);
    end();
}

static void note(int cell)
{
    say("%d ", cell);
}

TEST(all_that_a_cce_does_ends_it)
{
    start();
    CHECK_INT(bcr_enq(number(1), bcr_cce, INOUT, bcr_FREE), 0);
    for (int i = 0; i < 5; i++) {
        const uint64_t before = period();
        bcr_region region = NULL;
        switch (i) {
        case 0: region = bcr_read(bcr_cce, INOUT, 0); break;
        case 1: region = bcr_deq(bcr_cce, INOUT, 0); break;
        case 2: region = number(3); break;
        case 3: CHECK_INT(bcr_zap(bcr_cce, IN), 0); break;
        default: CHECK_INT(bcr_wake(HANDLED), 0); CHECK_INT(bcr_handler(HANDLED, note, 1, 0, 0), 0);
        }
        ask();
        if (i != 1)
            looks_in_vain(IN);
        else /* a call of it in place of a look */
            CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
        CHECK(!heard.found_none);
        CHECK_UINT(heard.question, asked);
        CHECK_INT(region == NULL || bcr_rgfree(region) == 0, 1);
        CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
        CHECK(period() > before);
        CHECK_UINT(period() % 2, 1);
    }
    SAID("5 ");
    CHECK_INT(bcr_handler(HANDLED, NULL, 0, 0, 0), 0);
    end();
}
