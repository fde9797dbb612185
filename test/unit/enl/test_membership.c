/* SPDX-License-Identifier: MIT */
/* A host's membership as its own daemon sees it: the table of docs/states/member.md is the code's
 * own, no state is waited in for ever, and what holds of any order of events. */
#include <string.h>

#include "check.h"
#include "states_page.h"
#include "tree/membership.h"

enum { HOST_MS = 30000, END_BEAT_MS = 400, HOUR_MS = 3600000, LAST_MS = 1000, START_MS = 5000 };

/* ---- the page ---- */

static const char *state_name(unsigned state)
{
    return enl_membership_state_name(state);
}

static const char *event_name(unsigned event)
{
    return enl_membership_event_name(event);
}

static const char *const actions[] = {"warn", "lose", "leave", "beat", "say", "await", "done"};
static const struct states_page page = {.path = MEMBER_PAGE,
                                        .states = ENL_MEMBERSHIP_STATES,
                                        .events = ENL_MEMBERSHIP_EVENTS,
                                        .actions = sizeof actions / sizeof actions[0],
                                        .state_name = state_name,
                                        .event_name = event_name,
                                        .action_names = actions};

static unsigned ways_of(const char *cell)
{
    if (strcmp(cell, "any") == 0)
        return ENL_MEMBERSHIP_BY_ANY;
    CHECK(strcmp(cell, "link") == 0 || strcmp(cell, "pipes") == 0);
    return cell[0] == 'l' ? ENL_MEMBERSHIP_BY_CONTROL_LINK : ENL_MEMBERSHIP_BY_PIPES;
}

TEST(the_page_has_the_rules_of_the_code_in_their_order)
{
    char in[256], way[32], happens[64], then[64], done[256], *const cells[] = {in, way, happens, then, done};
    static const size_t sizes[] = {sizeof in, sizeof way, sizeof happens, sizeof then, sizeof done};
    size_t count = 0;
    states_page_read(&page);
    for (const char *row = states_page_table("| in | way |"); row[0] == '|';
         row = strchr(row, '\n') + 1, count++) {
        const struct enl_membership_rule *rule = &enl_membership_rules[count];
        states_page_cells(row, cells, sizes, 5);
        CHECK(count < enl_membership_rules_count);
        CHECK_UINT(rule->states, states_page_states(in));
        CHECK_UINT(rule->by, ways_of(way));
        CHECK_UINT(rule->event, states_page_event(happens));
        CHECK_UINT(rule->next, states_page_next(then));
        CHECK_UINT(rule->actions, states_page_actions(done));
    }
    CHECK_UINT(count, enl_membership_rules_count);
}

TEST(the_page_explains_each_state_event_and_action)
{
    states_page_read(&page);
    states_page_explains();
}

/* ---- the rules ---- */

TEST(no_two_rules_are_for_the_same)
{
    for (size_t i = 0; i < enl_membership_rules_count; i++) {
        const struct enl_membership_rule *one = &enl_membership_rules[i];
        CHECK(one->states != 0 && one->by != 0);
        for (size_t j = 0; j < i; j++)
            if (one->event == enl_membership_rules[j].event && (one->by & enl_membership_rules[j].by) != 0)
                CHECK_UINT(one->states & enl_membership_rules[j].states, 0);
    }
}

/* Brings a new one to that state by the shortest way, at START_MS. */
static struct enl_membership in_state(enum enl_membership_state state, bool by_link)
{
    struct enl_membership one;
    enl_membership_begin(&one, by_link, HOST_MS, START_MS);
    static const enum enl_membership_event first[ENL_MEMBERSHIP_STATES] = {
        [ENL_MEMBERSHIP_STOPPED] = ENL_MEMBERSHIP_STOP,  [ENL_MEMBERSHIP_ENDING] = ENL_MEMBERSHIP_END,
        [ENL_MEMBERSHIP_FLUSHES] = ENL_MEMBERSHIP_FLUSH, [ENL_MEMBERSHIP_LAST] = ENL_MEMBERSHIP_FLUSH,
        [ENL_MEMBERSHIP_LOST] = ENL_MEMBERSHIP_WAY_ENDS, [ENL_MEMBERSHIP_OVER] = ENL_MEMBERSHIP_WAY_ENDS};
    if (state != ENL_MEMBERSHIP_WORKS)
        enl_membership_happens(&one, first[state], START_MS);
    if (state == ENL_MEMBERSHIP_LAST)
        enl_membership_happens(&one, ENL_MEMBERSHIP_FLUSHED, START_MS);
    if (state == ENL_MEMBERSHIP_OVER)
        enl_membership_happens(&one, ENL_MEMBERSHIP_FLUSH, START_MS);
    CHECK_INT(one.state, state);
    return one;
}

/* What time brings, at the earliest moment at which it brings something. */
static unsigned let_time_pass(struct enl_membership *one, uint64_t *ms)
{
    enum enl_membership_event event;
    *ms = one->until_ms > *ms ? one->until_ms : *ms;
    CHECK(one->until_ms < *ms || !enl_membership_due(one, *ms - 1, &event));
    CHECK(enl_membership_due(one, *ms, &event));
    return enl_membership_happens(one, event, *ms);
}

TEST(time_alone_ends_each_state_but_for_a_stopped_host_by_pipes)
{
    static const uint64_t least_ms[] = {[ENL_MEMBERSHIP_WORKS] = HOST_MS,
                                        [ENL_MEMBERSHIP_STOPPED] = HOUR_MS,
                                        [ENL_MEMBERSHIP_ENDING] = HOST_MS,
                                        [ENL_MEMBERSHIP_FLUSHES] = HOST_MS,
                                        [ENL_MEMBERSHIP_LAST] = LAST_MS};
    for (unsigned state = 0; state < ENL_MEMBERSHIP_LOST; state++) {
        struct enl_membership one = in_state(state, true);
        uint64_t ms = START_MS;
        unsigned done = 0;
        while (one.state < ENL_MEMBERSHIP_LOST)
            done = let_time_pass(&one, &ms);
        CHECK((done & ENL_MEMBERSHIP_DO_LOSE) != 0);
        CHECK_INT((done & ENL_MEMBERSHIP_DO_DONE) != 0, state >= ENL_MEMBERSHIP_FLUSHES);
        CHECK(ms >= START_MS + least_ms[state] && ms <= START_MS + least_ms[state] + 1);
        CHECK_UINT(one.until_ms, UINT64_MAX);
    }
    const struct enl_membership one = in_state(ENL_MEMBERSHIP_STOPPED, false);
    CHECK_UINT(one.until_ms, UINT64_MAX);
}

TEST(beats_are_due_each_quarter_and_more_often_when_the_host_ends)
{
    for (unsigned state = 0; state < ENL_MEMBERSHIP_LAST; state++) {
        struct enl_membership one = in_state(state, true);
        uint64_t ms = START_MS;
        if (state == ENL_MEMBERSHIP_STOPPED)
            continue;
        if (state == ENL_MEMBERSHIP_WORKS)
            CHECK_UINT(let_time_pass(&one, &ms), ENL_MEMBERSHIP_DO_BEAT); /* the first one is at once */
        CHECK_UINT(ms, START_MS);
        CHECK_UINT(let_time_pass(&one, &ms), ENL_MEMBERSHIP_DO_BEAT);
        CHECK_UINT(ms - START_MS, state == ENL_MEMBERSHIP_WORKS ? HOST_MS / 4 : END_BEAT_MS);
    }
}

TEST(a_lease_counts_from_the_sending_of_the_beat_that_was_answered)
{
    struct enl_membership one = in_state(ENL_MEMBERSHIP_WORKS, false);
    CHECK_UINT(enl_membership_beat(&one, 6000), 1);
    CHECK_UINT(enl_membership_beat(&one, 14000), 2);
    CHECK(enl_membership_answered(&one, 3, 15000) != NULL);
    CHECK_PTR(enl_membership_answered(&one, 1, 15000), NULL);
    CHECK_UINT(one.links_ms, 6000 + HOST_MS);
    CHECK_UINT(enl_membership_happens(&one, ENL_MEMBERSHIP_ANSWERED, 15000), 0);
    CHECK_UINT(one.lease.until_ms, 6000 + HOST_MS);
}

TEST(an_answer_to_a_beat_of_long_ago_extends_no_lease)
{
    struct enl_membership one = in_state(ENL_MEMBERSHIP_WORKS, false);
    const uint64_t until_ms = one.lease.until_ms;
    for (uint32_t beat = 1; beat <= 1 + ENL_BEATS; beat++)
        CHECK_UINT(enl_membership_beat(&one, 6000 + beat * 10), beat);
    CHECK_PTR(enl_membership_answered(&one, 1, 7000), NULL); /* of which nothing is kept */
    CHECK_UINT(one.lease.until_ms, until_ms);
    CHECK_PTR(enl_membership_answered(&one, 2, 7000), NULL);
    CHECK_UINT(one.lease.until_ms, 6020 + HOST_MS);
}

/* An answer that comes too late is none. */
TEST(a_lease_that_is_over_stays_so_whatever_comes_first)
{
    for (unsigned event = 0; event < ENL_MEMBERSHIP_EVENTS; event++) {
        struct enl_membership one = in_state(ENL_MEMBERSHIP_WORKS, true);
        const uint64_t late_ms = START_MS + HOST_MS + 1;
        enl_membership_beat(&one, late_ms - 1000);
        if (event == ENL_MEMBERSHIP_ANSWERED)
            CHECK_PTR(enl_membership_answered(&one, 1, late_ms), NULL);
        const unsigned done = enl_membership_happens(&one, event, late_ms);
        CHECK((done & ENL_MEMBERSHIP_DO_LOSE) != 0 && (done & ENL_MEMBERSHIP_DO_BEAT) == 0);
        CHECK_INT(one.state, event == ENL_MEMBERSHIP_FLUSH ? ENL_MEMBERSHIP_OVER : ENL_MEMBERSHIP_LOST);
    }
}

/* ---- docs/states/member.md, the examples ---- */

TEST(a_host_that_stands_still_for_20_s_while_its_starter_dies_goes_on_and_after_31_s_does_not)
{
    struct enl_membership one = in_state(ENL_MEMBERSHIP_WORKS, true), other = one;
    enum enl_membership_event event;
    CHECK_UINT(enl_membership_happens(&one, ENL_MEMBERSHIP_PIPE_ENDS, 25000), ENL_MEMBERSHIP_DO_LEAVE);
    CHECK(enl_membership_due(&one, 25000, &event));
    CHECK_INT(event, ENL_MEMBERSHIP_BEAT_DUE);
    CHECK_UINT(enl_membership_happens(&one, event, 25000), ENL_MEMBERSHIP_DO_BEAT);
    CHECK_INT(one.state, ENL_MEMBERSHIP_WORKS);
    CHECK(enl_membership_due(&other, 36000, &event));
    CHECK_INT(event, ENL_MEMBERSHIP_EXPIRES);
    CHECK_UINT(enl_membership_happens(&other, event, 36000), ENL_MEMBERSHIP_DO_LOSE);
    CHECK_INT(other.state, ENL_MEMBERSHIP_LOST);
}

TEST(a_host_whose_starter_dies_while_the_program_is_stopped_goes_on_with_it)
{
    struct enl_membership one = in_state(ENL_MEMBERSHIP_STOPPED, true);
    CHECK_UINT(one.links_ms, UINT64_MAX);
    CHECK_UINT(enl_membership_happens(&one, ENL_MEMBERSHIP_PIPE_ENDS, 20000), ENL_MEMBERSHIP_DO_LEAVE);
    CHECK_INT(one.state, ENL_MEMBERSHIP_STOPPED);
    CHECK_UINT(enl_membership_happens(&one, ENL_MEMBERSHIP_GO_ON, 1200000), ENL_MEMBERSHIP_DO_BEAT);
    CHECK_INT(one.state, ENL_MEMBERSHIP_WORKS);
    CHECK_UINT(one.lease.until_ms, 1200000 + HOST_MS);
    CHECK_UINT(one.links_ms, 0); /* until a heartbeat that is sent now has been answered */
    const uint32_t number = enl_membership_beat(&one, 1200000);
    CHECK_PTR(enl_membership_answered(&one, number, 1200010), NULL);
    CHECK_UINT(one.links_ms, 1200000 + HOST_MS);
}

TEST(a_stopped_host_that_is_told_of_the_roots_death_ends_and_another_goes_on_until_its_lease_ends)
{
    for (unsigned state = 0; state < ENL_MEMBERSHIP_LOST; state++) {
        struct enl_membership one = in_state(state, true);
        const bool is_stopped = state == ENL_MEMBERSHIP_STOPPED;
        const unsigned done = enl_membership_happens(&one, ENL_MEMBERSHIP_ROOT_LOST, START_MS);
        CHECK_INT(one.state, is_stopped ? ENL_MEMBERSHIP_LOST : state);
        CHECK_INT((done & ENL_MEMBERSHIP_DO_LOSE) != 0, is_stopped);
        CHECK_INT((done & ENL_MEMBERSHIP_DO_WARN) != 0, state < ENL_MEMBERSHIP_FLUSHES);
    }
}

/* ---- its end ---- */

TEST(a_late_word_from_the_root_does_not_put_the_last_word_off)
{
    static const enum enl_membership_event words[] = {ENL_MEMBERSHIP_END, ENL_MEMBERSHIP_STOP,
                                                      ENL_MEMBERSHIP_GO_ON, ENL_MEMBERSHIP_ANSWERED};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct enl_membership one = in_state(ENL_MEMBERSHIP_LAST, true);
        const uint64_t until_ms = one.until_ms;
        CHECK_UINT(enl_membership_happens(&one, words[i], START_MS + 500), 0);
        CHECK_INT(one.state, ENL_MEMBERSHIP_LAST);
        CHECK_UINT(one.until_ms, until_ms);
    }
}

/* Others take it for lost as soon as that has come. */
TEST(links_rest_before_the_last_word_is_said)
{
    const struct enl_membership one = in_state(ENL_MEMBERSHIP_LAST, true);
    CHECK_UINT(one.links_ms, 0);
}

TEST(by_pipes_there_is_no_last_word)
{
    struct enl_membership one = in_state(ENL_MEMBERSHIP_FLUSHES, false);
    CHECK_UINT(enl_membership_happens(&one, ENL_MEMBERSHIP_FLUSHED, START_MS), ENL_MEMBERSHIP_DO_DONE);
    CHECK_INT(one.state, ENL_MEMBERSHIP_OVER);
}

TEST(a_stop_by_the_pipes_counts_until_the_program_has_gone_on)
{
    struct enl_membership one = in_state(ENL_MEMBERSHIP_STOPPED, true);
    CHECK(enl_membership_heeds_stop(&one));
    enl_membership_happens(&one, ENL_MEMBERSHIP_GO_ON, START_MS);
    CHECK(!enl_membership_heeds_stop(&one));
}

TEST(what_is_not_in_the_table_is_dropped_and_counted)
{
    for (unsigned event = 0; event < ENL_MEMBERSHIP_EVENTS; event++) {
        struct enl_membership one = in_state(ENL_MEMBERSHIP_OVER, true);
        const struct enl_membership before = one;
        const uint64_t dropped = enl_membership_dropped();
        CHECK_UINT(enl_membership_happens(&one, event, 7000), 0);
        CHECK_UINT(enl_membership_dropped(), dropped + 1);
        CHECK(one.state == before.state && one.until_ms == before.until_ms &&
              one.links_ms == before.links_ms && one.beat_ms == before.beat_ms &&
              one.lease.until_ms == before.lease.until_ms && one.has_gone_on == before.has_gone_on);
    }
}

/* Any events in any order, as a root that lies may bring them. */
TEST(in_any_order_of_events_it_is_done_once_and_works_only_with_a_lease)
{
    uint64_t random = test_seed();
    const uint64_t runs = test_scale(20000, 2000000);
    for (uint64_t i = 0; i < runs; i++) {
        struct enl_membership one;
        unsigned done = 0, lost = 0, said = 0;
        uint64_t ms = 1;
        enl_membership_begin(&one, test_rand_below(&random, 2) == 0, HOST_MS, ms);
        for (unsigned step = 0; step < 60; step++) {
            ms += test_rand_below(&random, 5000);
            const enum enl_membership_event event =
                (enum enl_membership_event)test_rand_below(&random, ENL_MEMBERSHIP_EVENTS);
            if (event == ENL_MEMBERSHIP_ANSWERED && one.lease.beat != 0)
                (void)enl_membership_answered(&one, one.lease.beat, ms);
            const unsigned todo = enl_membership_happens(&one, event, ms);
            done += (todo & ENL_MEMBERSHIP_DO_DONE) != 0;
            lost += (todo & ENL_MEMBERSHIP_DO_LOSE) != 0;
            said += (todo & ENL_MEMBERSHIP_DO_SAY) != 0;
            if ((todo & ENL_MEMBERSHIP_DO_BEAT) != 0) {
                CHECK(ms <= one.lease.until_ms);
                (void)enl_membership_beat(&one, ms);
            }
            CHECK_UINT(done, one.state == ENL_MEMBERSHIP_OVER);
            CHECK(one.state != ENL_MEMBERSHIP_LOST || lost == 1);
            CHECK_INT(one.until_ms == UINT64_MAX,
                      one.state >= ENL_MEMBERSHIP_LOST ||
                          (one.state == ENL_MEMBERSHIP_STOPPED && !one.by_control_link));
            CHECK(one.links_ms <= one.lease.until_ms || one.state == ENL_MEMBERSHIP_STOPPED ||
                  one.state >= ENL_MEMBERSHIP_LOST);
        }
        CHECK(lost <= 1 && said <= 1);
    }
}
