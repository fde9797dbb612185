/* SPDX-License-Identifier: MIT */
/* Streams that several sources share (enl/host/mux.c). */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "host/output.h"

enum { SOURCES = 3, FOREVER = 86400000 };

static uv_loop_t loop;
static struct enl_mux *mux;
static char seen[1 << 16];
static size_t seen_length;
static bool full;

static struct one {
    struct enl_source *source;
    int turns;
    size_t passed;
    bool in_line;
} ones[SOURCES];

static bool is_full(void *owner)
{
    CHECK(owner == &seen);
    return full;
}

static void pass(void *owner, const struct enl_printed *text)
{
    static bool in_line[SOURCES];
    CHECK(owner == &seen && text->length != 0);
    CHECK(seen_length + text->length < sizeof seen);
    if (seen_length == 0)
        memset(in_line, 0, sizeof in_line);
    CHECK_INT(text->goes_on, in_line[text->ordinal]);
    in_line[text->ordinal] = text->bytes[text->length - 1] != '\n';
    memcpy(seen + seen_length, text->bytes, text->length);
    seen_length += text->length;
    seen[seen_length] = '\0';
}

static void on_turn(void *owner)
{
    ((struct one *)owner)->turns++;
}

static void on_passed(void *owner, size_t cost)
{
    ((struct one *)owner)->passed += cost;
}

static unsigned marks;

static void on_marked(void *owner)
{
    CHECK_PTR(owner, &seen);
    marks++;
}

static void begin(unsigned hold_ms)
{
    static const struct enl_mux_ops ops = {is_full, pass, on_marked};
    static const struct enl_source_ops source_ops = {on_turn, on_passed};
    uv_loop_init(&loop);
    mux = enl_mux_new(&loop, hold_ms, &ops, &seen);
    CHECK(mux != NULL);
    seen[seen_length = 0] = '\0';
    full = false;
    for (int i = 0; i < SOURCES; i++) {
        ones[i] = (struct one){.source = enl_source_new(mux, &source_ops, &ones[i])};
        CHECK(ones[i].source != NULL);
    }
}

static void give(int which, const char *text)
{
    struct one *one = &ones[which];
    const struct enl_printed printed = {.ordinal = (uint32_t)which,
                                        .fd = 1,
                                        .goes_on = one->in_line,
                                        .bytes = text,
                                        .length = strlen(text),
                                        .cost = strlen(text) + 5};
    one->in_line = text[strlen(text) - 1] != '\n';
    CHECK(enl_source_give(one->source, &printed));
}

static void end_source(int which)
{
    if (ones[which].source != NULL)
        enl_source_end(ones[which].source);
    ones[which].source = NULL;
}

static void end(void)
{
    for (int i = 0; i < SOURCES; i++)
        end_source(i);
    enl_mux_close(mux);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&loop), 0);
}

TEST(one_source_is_passed_as_it_gives_and_nothing_is_added)
{
    begin(FOREVER);
    give(0, "no newline yet");
    CHECK_STR(seen, "no newline yet");
    give(0, ", and here\n\n");
    give(0, "none at the end");
    end();
    CHECK_STR(seen, "no newline yet, and here\n\nnone at the end");
}

TEST(a_line_of_any_length_keeps_the_stream_until_its_end)
{
    char want[1 << 15] = "";
    begin(FOREVER);
    give(0, "long");
    give(1, "other\n");
    for (int i = 0; i < 2000; i++)
        give(0, " and longer");
    CHECK(strstr(seen, "other") == NULL);
    give(0, "\nnext");
    strcat(want, "long");
    for (int i = 0; i < 2000; i++)
        strcat(want, " and longer");
    strcat(want, "\nother\nnext");
    CHECK_STR(seen, want);
    end();
}

TEST(what_begins_behind_a_newline_waits_until_others_had_their_turn)
{
    begin(FOREVER);
    give(0, "a");
    give(1, "b1\nb2");
    give(2, "c\n");
    give(0, "a\na2\na3");
    CHECK_STR(seen, "aa\na2\nb1\nc\na3");
    give(1, "b2\n"); /* kept behind its beginning */
    CHECK_STR(seen, "aa\na2\nb1\nc\na3");
    give(0, "\n");
    CHECK_STR(seen, "aa\na2\nb1\nc\na3\nb2b2\n");
    end();
}

TEST(a_mark_is_passed_when_all_is_that_was_given_before_it)
{
    begin(FOREVER);
    marks = 0;
    enl_mux_mark(mux);
    CHECK(enl_mux_has_passed(mux)); /* nothing was given */
    give(0, "a");
    give(1, "b\n");
    enl_mux_mark(mux);
    CHECK(!enl_mux_has_passed(mux));
    give(2, "c\nc"); /* behind it */
    give(0, "\n");
    CHECK_STR(seen, "a\nb\nc\nc");
    CHECK(enl_mux_has_passed(mux));
    CHECK_UINT(marks, 1);
    give(0, "e\n");
    enl_mux_mark(mux);
    give(1, "f\n");
    enl_mux_mark(mux); /* in place of the other one */
    CHECK(!enl_mux_has_passed(mux));
    give(2, "\n");
    CHECK(enl_mux_has_passed(mux));
    CHECK_UINT(marks, 2);
    end();
}

TEST(time_ends_a_turn_and_puts_nothing_in)
{
    begin(1);
    give(0, "half");
    give(1, "other\n");
    CHECK_STR(seen, "half");
    uv_run(&loop, UV_RUN_DEFAULT); /* until no timer is left */
    CHECK_STR(seen, "halfother\n");
    give(0, " and half\n");
    CHECK_STR(seen, "halfother\n and half\n");
    end();
}

/* Time passes only once. */
TEST(a_line_that_time_has_torn_gives_way_whenever_another_one_waits)
{
    begin(800);
    give(0, "data");
    give(1, "other\n");
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_STR(seen, "dataother\n");
    give(0, ", more");
    give(1, "line\n");
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_STR(seen, "dataother\n, moreline\n");
    give(0, "x");
    give(1, "begun");
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_STR(seen, "dataother\n, moreline\nxbegun");
    give(0, "y");
    give(2, "z\n");
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_STR(seen, "dataother\n, moreline\nxbegun");
    give(1, "\n");
    CHECK_STR(seen, "dataother\n, moreline\nxbegun\nyz\n");
    give(0, "\nnext");
    give(1, "waits\n");
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_STR(seen, "dataother\n, moreline\nxbegun\nyz\n\nnext");
    end();
    CHECK_STR(seen, "dataother\n, moreline\nxbegun\nyz\n\nnextwaits\n");
}

TEST(nobodys_time_is_measured_while_nobody_waits)
{
    begin(1);
    give(0, "half");
    CHECK_INT(uv_run(&loop, UV_RUN_NOWAIT), 0); /* no timer */
    give(1, "other\n");
    CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0 || strstr(seen, "other") != NULL);
    end();
}

static void on_later(uv_timer_t *timer)
{
    uv_close((uv_handle_t *)timer, NULL);
}

/* More than enough ticks of `hold_ms` 1, unless the machine is busy. */
static void run_beyond_hold(void)
{
    static uv_timer_t later;
    uv_update_time(&loop);
    uv_timer_init(&loop, &later);
    uv_timer_start(&later, on_later, 50, 0);
    do
        uv_run(&loop, UV_RUN_ONCE);
    while (uv_is_active((uv_handle_t *)&later));
    uv_run(&loop, UV_RUN_NOWAIT);
}

TEST(time_in_which_the_reader_takes_nothing_does_not_count)
{
    begin(1);
    give(0, "half");
    full = true;
    give(1, "other\n");
    run_beyond_hold();
    CHECK_STR(seen, "half");
    CHECK(!enl_source_may_give(ones[0].source));
    full = false;
    enl_mux_resume(mux);
    CHECK_INT(ones[0].turns, 1);
    CHECK(enl_source_may_give(ones[0].source));
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_STR(seen, "halfother\n");
    end();
}

TEST(a_reader_that_is_always_behind_but_reads_does_not_let_an_endless_line_keep_the_others_waiting)
{
    begin(1);
    give(0, "endless");
    give(1, "other\n");
    while (strstr(seen, "other") == NULL) {
        full = true;
        uv_run(&loop, UV_RUN_ONCE);
        full = false;
        enl_mux_resume(mux);
        give(0, ".");
    }
    end();
}

TEST(a_stream_that_is_full_gives_its_only_source_the_turn_when_it_has_room)
{
    begin(FOREVER);
    full = true;
    CHECK(!enl_source_may_give(ones[0].source));
    enl_mux_resume(mux);
    CHECK_INT(ones[0].turns, 0);
    full = false;
    enl_mux_resume(mux);
    CHECK_INT(ones[0].turns, 1);
    CHECK(enl_source_may_give(ones[0].source));
    CHECK(!enl_source_may_give(ones[1].source)); /* it has asked first */
    give(0, "first\n");
    CHECK_INT(ones[1].turns, 1);
    end();
}

TEST(one_that_was_held_up_by_the_reader_has_another_turn_when_time_has_ended_its_own)
{
    int turns = 0;
    begin(1);
    give(0, "endless");
    give(1, "other\n");
    while (strstr(seen, "other") == NULL) {
        full = false;
        enl_mux_resume(mux);
        give(0, ".");
        full = true;
        CHECK(!enl_source_may_give(ones[0].source));
        turns = ones[0].turns;
        uv_run(&loop, UV_RUN_ONCE);
    }
    full = false;
    enl_mux_resume(mux);
    CHECK(ones[0].turns > turns);
    CHECK(enl_source_may_give(ones[0].source));
    end();
}

TEST(one_that_gives_although_it_should_wait_is_told_still_when_it_may_give)
{
    begin(FOREVER);
    give(0, "a");
    CHECK(!enl_source_may_give(ones[1].source));
    give(1, "whole\n"); /* as at the end of a CCE, whose pipe another process has */
    give(0, "a\n");
    CHECK_STR(seen, "aa\nwhole\n");
    CHECK_INT(ones[1].turns, 1);
    CHECK(enl_source_may_give(ones[1].source));
    end();
}

TEST(one_that_gives_although_the_stream_is_full_is_told_still_when_it_may_give)
{
    begin(FOREVER);
    full = true;
    CHECK(!enl_source_may_give(ones[0].source));
    give(0, "whole\n");
    full = false;
    enl_mux_resume(mux);
    CHECK(ones[0].turns > 0);
    end();
}

TEST(one_that_ends_while_it_is_held_up_has_no_turn)
{
    begin(FOREVER);
    give(0, "a");
    full = true;
    CHECK(!enl_source_may_give(ones[0].source));
    CHECK(!enl_source_may_give(ones[1].source));
    give(1, "b\n");
    end_source(1);
    end_source(0);
    full = false;
    enl_mux_resume(mux);
    CHECK_STR(seen, "ab\n");
    CHECK_INT(ones[0].turns + ones[1].turns, 0);
    end();
}

TEST(those_that_wait_have_their_turns_in_order)
{
    begin(FOREVER);
    give(0, "a");
    CHECK(!enl_source_may_give(ones[2].source));
    CHECK(!enl_source_may_give(ones[1].source));
    CHECK(!enl_source_may_give(ones[2].source)); /* asking again changes nothing */
    give(0, "a\n");
    CHECK_INT(ones[2].turns, 1);
    CHECK_INT(ones[1].turns, 0);
    give(2, "c\n");
    CHECK_INT(ones[1].turns, 1);
    give(1, "b\n");
    CHECK_STR(seen, "aa\nc\nb\n");
    CHECK(enl_source_may_give(ones[0].source));
    end();
}

TEST(the_end_of_a_source_ends_its_line_and_what_is_kept_of_it_comes_still)
{
    begin(FOREVER);
    give(0, "half");
    give(1, "whole\nbegun");
    give(2, "last\n");
    end_source(1);
    CHECK_STR(seen, "half");
    end_source(0);
    CHECK_STR(seen, "halfwhole\nlast\nbegun");
    CHECK(enl_source_may_give(ones[2].source));
    end();
}

TEST(one_that_ends_while_it_waits_is_waited_for_no_more)
{
    begin(FOREVER);
    give(0, "half");
    CHECK(!enl_source_may_give(ones[1].source));
    CHECK(!enl_source_may_give(ones[2].source));
    end_source(2);
    end_source(1);
    give(0, "\nbegun"); /* nobody waits, so the turn goes on */
    CHECK_STR(seen, "half\nbegun");
    end();
}

TEST(what_is_passed_is_told_its_source_to_the_byte)
{
    begin(FOREVER);
    give(0, "a"); /* the cost of each is 5 more */
    give(1, "b\nbb\nbbb");
    CHECK_UINT(ones[0].passed, 1 + 5);
    CHECK_UINT(ones[1].passed, 0);
    give(2, "c\n");
    give(0, "\n");
    CHECK_UINT(ones[0].passed, 2 + 2 * 5);
    CHECK_UINT(ones[1].passed, 8 + 5);
    CHECK_UINT(ones[2].passed, 2 + 5);
    give(1, "\n");
    CHECK_UINT(ones[1].passed, 9 + 2 * 5);
    end();
}
