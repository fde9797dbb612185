/* SPDX-License-Identifier: MIT */
/* A host as the root's daemon sees it: the table of docs/states/host.md is the code's own, no
 * state is waited in for ever, and what holds of any order of events. */
#include <string.h>

#include "check.h"
#include "states_page.h"
#include "tree/lease.h"
#include "tree/life.h"

enum { CONNECT_MS = 5000, HOST_MS = 30000, END_MS = 2000 };

/* ---- the page ---- */

static const char *state_name(unsigned state)
{
    return enl_life_state_name(state);
}

static const char *event_name(unsigned event)
{
    return enl_life_event_name(event);
}

static const char *const actions[] = {"kill", "idle", "close", "set up", "listen", "welcome", "tell"};
static const struct states_page page = {.path = HOST_PAGE,
                                        .states = ENL_LIFE_STATES,
                                        .events = ENL_LIFE_EVENTS,
                                        .actions = sizeof actions / sizeof actions[0],
                                        .state_name = state_name,
                                        .event_name = event_name,
                                        .action_names = actions};

TEST(the_page_has_the_rules_of_the_code_in_their_order)
{
    char in[256], happens[64], then[64], done[256], *const cells[] = {in, happens, then, done};
    static const size_t sizes[] = {sizeof in, sizeof happens, sizeof then, sizeof done};
    size_t count = 0;
    states_page_read(&page);
    for (const char *row = states_page_table("| in | happens |"); row[0] == '|';
         row = strchr(row, '\n') + 1, count++) {
        const struct enl_life_rule *rule = &enl_life_rules[count];
        states_page_cells(row, cells, sizes, 4);
        CHECK(count < enl_life_rules_count);
        CHECK_UINT(rule->states, states_page_states(in));
        CHECK_UINT(rule->event, states_page_event(happens));
        CHECK_UINT(rule->next, states_page_next(then));
        CHECK_UINT(rule->actions, states_page_actions(done));
    }
    CHECK_UINT(count, enl_life_rules_count);
}

TEST(the_page_explains_each_state_event_and_action)
{
    states_page_read(&page);
    states_page_explains();
}

/* ---- the rules ---- */

TEST(no_two_rules_are_for_the_same)
{
    for (size_t i = 0; i < enl_life_rules_count; i++) {
        CHECK(enl_life_rules[i].states != 0);
        for (size_t j = 0; j < i; j++)
            if (enl_life_rules[i].event == enl_life_rules[j].event)
                CHECK_UINT(enl_life_rules[i].states & enl_life_rules[j].states, 0);
    }
}

static struct enl_life_now at(uint64_t ms)
{
    return (struct enl_life_now){.ms = ms, .connecttimeout = CONNECT_MS, .hosttimeout = HOST_MS};
}

/* What silence brings, at the earliest moment at which it brings something. */
static unsigned let_time_pass(struct enl_life *life, uint64_t *ms)
{
    *ms = life->until_ms > *ms ? life->until_ms : *ms;
    const struct enl_life_now now = at(*ms);
    CHECK(life->until_ms < *ms || !enl_life_is_silent(life, *ms - 1));
    CHECK(enl_life_is_silent(life, *ms));
    return enl_life_happens(life, ENL_LIFE_SILENT, &now);
}

/* Brings a new host to that state by the shortest way. */
static struct enl_life in_state(enum enl_life_state state, uint32_t starter)
{
    static const enum enl_life_event up[] = {ENL_LIFE_BEGIN, ENL_LIFE_PRESENTS, ENL_LIFE_ANNOUNCES,
                                             ENL_LIFE_STARTS};
    struct enl_life life = {.number = 7, .starter = starter, .until_ms = UINT64_MAX};
    struct enl_life_now now = at(1000);
    now.patience_ms = END_MS;
    const unsigned steps = state == ENL_LIFE_FAILED ? 1 : state <= ENL_LIFE_UP ? state : ENL_LIFE_UP;
    for (unsigned i = 0; i < steps; i++)
        enl_life_happens(&life, up[i], &now);
    switch (state) {
    case ENL_LIFE_ENDING: enl_life_happens(&life, ENL_LIFE_END, &now); break;
    case ENL_LIFE_FAILED:
    case ENL_LIFE_CLOSED: enl_life_happens(&life, ENL_LIFE_CUT, &now); break;
    case ENL_LIFE_GONE:
        enl_life_happens(&life, ENL_LIFE_CUT, &now);
        enl_life_happens(&life, ENL_LIFE_PROCESS_ENDS, &now);
        break;
    default: break;
    }
    CHECK_INT(life.state, state);
    return life;
}

TEST(time_alone_ends_each_state_but_for_a_command_of_this_daemon_that_does_not_end)
{
    for (unsigned state = ENL_LIFE_BEGUN; state < ENL_LIFE_GONE; state++)
        for (uint32_t starter = 0; starter < 2; starter++) {
            struct enl_life life = in_state(state, starter);
            uint64_t ms = 1000;
            unsigned steps = 0;
            while (life.state != ENL_LIFE_GONE && steps++ < 8) {
                const bool waits = life.state == ENL_LIFE_FAILED || life.state == ENL_LIFE_CLOSED;
                const unsigned done = let_time_pass(&life, &ms);
                if (starter == 0 && waits) { /* it is killed, and its end is told by the system */
                    CHECK((done & ENL_LIFE_DO_KILL) != 0);
                    const struct enl_life_now now = at(ms);
                    enl_life_happens(&life, ENL_LIFE_PROCESS_ENDS, &now);
                }
            }
            CHECK_INT(life.state, ENL_LIFE_GONE);
            CHECK(ms <= 1000 + CONNECT_MS + enl_lease_patience(HOST_MS) + 2 * END_MS + 1);
            CHECK_UINT(life.until_ms, UINT64_MAX);
        }
}

TEST(a_host_is_lost_no_earlier_than_its_lease_is_over)
{
    for (uint32_t starter = 0; starter < 2; starter++) {
        struct enl_life life = in_state(ENL_LIFE_UP, starter);
        uint64_t ms = 1000;
        const struct enl_life_now heard = at(9000);
        CHECK_UINT(enl_life_happens(&life, ENL_LIFE_BEATS, &heard), 0);
        CHECK_UINT(let_time_pass(&life, &ms) & ~(unsigned)ENL_LIFE_DO_LEAVE,
                   ENL_LIFE_DO_KILL | ENL_LIFE_DO_CLOSE);
        CHECK(ms > 9000 + enl_lease_patience(HOST_MS));
        CHECK(enl_life_lease_ms(&life, false, HOST_MS) == 9000 + enl_lease_patience(HOST_MS));
    }
}

/* Whose daemon has ended for certain is lost to others at once. */
TEST(a_lease_is_not_waited_for_when_the_daemon_has_said_that_it_ends)
{
    struct enl_life life = in_state(ENL_LIFE_ENDING, 3), other = in_state(ENL_LIFE_UP, 0);
    const struct enl_life_now now = at(2000);
    CHECK_UINT(enl_life_happens(&life, ENL_LIFE_SAYS_END, &now), ENL_LIFE_DO_CLOSE | ENL_LIFE_DO_LEAVE);
    CHECK_UINT(enl_life_lease_ms(&life, false, HOST_MS), 0);
    enl_life_happens(&other, ENL_LIFE_PROCESS_ENDS, &now);
    CHECK_UINT(enl_life_happens(&other, ENL_LIFE_PIPE_ENDS, &now), ENL_LIFE_DO_CLOSE | ENL_LIFE_DO_LEAVE);
    CHECK_UINT(enl_life_lease_ms(&other, true, HOST_MS), 0);
    CHECK_UINT(enl_life_lease_ms(&other, false, HOST_MS), 1000 + enl_lease_patience(HOST_MS));
}

/* docs/states/host.md, the first example. */
TEST(a_host_that_is_stopped_for_20_s_while_its_starter_dies_goes_on_and_after_34_s_does_not)
{
    struct enl_life life = in_state(ENL_LIFE_UP, 3);
    struct enl_life_now now = at(1000);
    CHECK_UINT(enl_life_happens(&life, ENL_LIFE_STARTER_LOST, &now), ENL_LIFE_DO_IDLE);
    CHECK_INT(life.state, ENL_LIFE_UP);
    struct enl_life other = life;
    now.ms = 21000;
    CHECK(!enl_life_is_silent(&life, now.ms));
    CHECK_UINT(enl_life_happens(&life, ENL_LIFE_BEATS, &now), 0);
    CHECK_UINT(life.until_ms, 21000 + enl_lease_patience(HOST_MS) + 1);
    uint64_t ms = 21000;
    CHECK_UINT(let_time_pass(&other, &ms), ENL_LIFE_DO_KILL | ENL_LIFE_DO_CLOSE | ENL_LIFE_DO_LEAVE);
    CHECK_INT(other.state, ENL_LIFE_GONE);
    CHECK(ms > 34000 && ms <= 34002);
}

/* The same, the second one: in either order. */
TEST(a_host_whose_ssh_is_killed_is_gone_when_both_its_pipe_and_its_command_have_ended)
{
    static const enum enl_life_event ends[] = {ENL_LIFE_PIPE_ENDS, ENL_LIFE_PROCESS_ENDS};
    for (unsigned first = 0; first < 2; first++) {
        struct enl_life life = in_state(ENL_LIFE_UP, first);
        const struct enl_life_now now = at(2000);
        enl_life_happens(&life, ends[first], &now);
        CHECK_INT(life.state, first == 0 ? ENL_LIFE_CLOSED : ENL_LIFE_UP);
        enl_life_happens(&life, ends[1 - first], &now);
        CHECK_INT(life.state, ENL_LIFE_GONE);
        CHECK_UINT(enl_life_lease_ms(&life, false, HOST_MS), 1000 + enl_lease_patience(HOST_MS));
    }
}

/* While the program is stopped by Ctrl-Z. */
TEST(when_the_program_goes_on_each_deadline_is_counted_from_then)
{
    static const uint64_t more_ms[ENL_LIFE_STATES] = {
        [ENL_LIFE_BEGUN] = CONNECT_MS, [ENL_LIFE_MET] = CONNECT_MS, [ENL_LIFE_ANNOUNCED] = CONNECT_MS,
        [ENL_LIFE_UP] = HOST_MS,       [ENL_LIFE_ENDING] = END_MS,  [ENL_LIFE_FAILED] = END_MS,
        [ENL_LIFE_CLOSED] = END_MS};
    for (unsigned state = ENL_LIFE_BEGUN; state < ENL_LIFE_GONE; state++) {
        struct enl_life life = in_state(state, 3);
        const struct enl_life_now now = at(500000);
        CHECK_UINT(enl_life_happens(&life, ENL_LIFE_GO_ON, &now), 0);
        CHECK_INT(life.state, state);
        CHECK(life.until_ms >= 500000 + more_ms[state] && life.until_ms <= 500000 + 2 * more_ms[state]);
    }
}

/* Else it would be begun by the same starter again, and again. */
TEST(a_starter_that_tells_nothing_is_told_from_one_that_is_lost)
{
    struct enl_life life = in_state(ENL_LIFE_MET, 3), other = life;
    const struct enl_life_now now = at(1000);
    uint64_t ms = 1000;
    while (life.state != ENL_LIFE_GONE)
        let_time_pass(&life, &ms);
    CHECK_INT(life.process, ENL_LIFE_NOT_TOLD);
    enl_life_happens(&other, ENL_LIFE_STARTER_LOST, &now);
    CHECK_INT(other.state, ENL_LIFE_GONE);
    CHECK_INT(other.process, ENL_LIFE_NOBODY_TELLS);
}

TEST(what_was_told_of_a_command_before_its_starter_is_lost_stays_true)
{
    struct enl_life life = in_state(ENL_LIFE_UP, 3), ended = in_state(ENL_LIFE_UP, 3);
    const struct enl_life_now now = at(1000);
    enl_life_happens(&ended, ENL_LIFE_PROCESS_ENDS, &now);
    enl_life_happens(&ended, ENL_LIFE_STARTER_LOST, &now);
    CHECK_INT(ended.process, ENL_LIFE_ENDED);
    enl_life_happens(&life, ENL_LIFE_WAY_LOST, &now); /* its starter lives, and tells by its own way */
    CHECK_INT(life.process, ENL_LIFE_RUNS);
    enl_life_happens(&life, ENL_LIFE_STARTER_LOST, &now);
    CHECK_INT(life.process, ENL_LIFE_NOBODY_TELLS);
    enl_life_happens(&life, ENL_LIFE_CUT, &now);
    CHECK_INT(life.state, ENL_LIFE_GONE);
}

TEST(what_is_not_in_the_table_is_dropped_and_counted)
{
    struct enl_life life = in_state(ENL_LIFE_GONE, 0);
    const struct enl_life before = life;
    const struct enl_life_now now = at(5000);
    for (unsigned event = 0; event < ENL_LIFE_EVENTS; event++) {
        const uint64_t dropped = enl_life_dropped();
        CHECK(!enl_life_takes(&life, event));
        CHECK_UINT(enl_life_happens(&life, event, &now), 0);
        CHECK_UINT(enl_life_dropped(), dropped + 1);
        CHECK(life.state == before.state && life.process == before.process &&
              life.until_ms == before.until_ms && life.heard_ms == before.heard_ms &&
              life.is_told == before.is_told);
    }
}

/* Any events in any order, as hosts that lie may bring them. */
TEST(in_any_order_of_events_a_way_is_closed_once_and_a_host_is_gone_once)
{
    uint64_t random = test_seed();
    const uint64_t runs = test_scale(20000, 2000000);
    for (uint64_t i = 0; i < runs; i++) {
        struct enl_life life = {
            .number = 7, .starter = (uint32_t)test_rand_below(&random, 2), .until_ms = UINT64_MAX};
        unsigned closed = 0, left = 0, welcomed = 0;
        bool was_begun = false;
        uint64_t ms = 1;
        for (unsigned step = 0; step < 60; step++) {
            ms += test_rand_below(&random, 3000);
            struct enl_life_now now = at(ms);
            now.patience_ms = END_MS;
            enum enl_life_event event = (enum enl_life_event)test_rand_below(&random, ENL_LIFE_EVENTS);
            if (event == ENL_LIFE_SILENT && life.state < ENL_LIFE_BEGUN)
                continue; /* time brings that */
            const bool had_way = enl_life_has_way(&life), was_up = life.was_up;
            const unsigned done = enl_life_happens(&life, event, &now);
            was_begun |= life.state == ENL_LIFE_BEGUN;
            closed += (done & ENL_LIFE_DO_CLOSE) != 0;
            left += (done & ENL_LIFE_DO_LEAVE) != 0;
            welcomed += (done & ENL_LIFE_DO_WELCOME) != 0;
            CHECK_INT((done & ENL_LIFE_DO_CLOSE) != 0, had_way && !enl_life_has_way(&life) && was_begun);
            CHECK(was_up || life.was_up == (welcomed != 0));
            CHECK_INT(left, life.state == ENL_LIFE_GONE);
            CHECK_INT(life.until_ms == UINT64_MAX,
                      life.state == ENL_LIFE_WAITING || life.state == ENL_LIFE_GONE);
            if ((done & (ENL_LIFE_DO_LISTEN | ENL_LIFE_DO_TELL)) != 0)
                CHECK(enl_life_has_way(&life));
        }
        CHECK(closed <= 1 && left <= 1 && welcomed <= 1);
    }
}

/* ---- who is below whom ---- */

static struct enl_life *all[8];
static struct enl_life lives_room[8];
static struct enl_lives lives = {
    .by_number = all, .room = 8, .pending = TAILQ_HEAD_INITIALIZER(lives.pending)};
static unsigned orphans, lost; /* to whom what has happened, as bits */

static void on_other(void *owner, struct enl_life *life, enum enl_life_event event)
{
    const struct enl_life_now now = at(1000);
    CHECK_PTR(owner, NULL);
    CHECK(event == ENL_LIFE_STARTER_LOST || event == ENL_LIFE_WAY_LOST);
    *(event == ENL_LIFE_STARTER_LOST ? &orphans : &lost) |= 1u << life->number;
    enl_life_happens(life, event, &now);
    if (life->state == ENL_LIFE_GONE)
        enl_lives_gone(&lives, life);
}

static void close_way(uint32_t number)
{
    enl_lives_closed(&lives, number);
    enl_lives_run(&lives, on_other, NULL);
}

/* 1 has begun 2 and 3, 2 has begun 4, and 4 has begun 5; 5 is coming, and 6 has been begun by the
 * root. */
static void make_tree(void)
{
    static const uint32_t starters[] = {0, 0, 1, 1, 2, 4, 0};
    for (uint32_t i = 1; i < 7; i++) {
        lives_room[i] = in_state(i == 5 ? ENL_LIFE_MET : ENL_LIFE_UP, starters[i]);
        lives_room[i].number = i;
        all[i] = &lives_room[i];
    }
    all[7] = NULL;
    orphans = lost = 0;
}

TEST(those_that_a_lost_host_has_begun_lose_their_starter_and_those_below_them_a_pipe)
{
    make_tree();
    CHECK_PTR(enl_lives_highest(&lives, all[4], 0), all[1]);
    CHECK_PTR(enl_lives_highest(&lives, all[4], 2), all[4]);
    close_way(1);
    CHECK_UINT(orphans, 1u << 2 | 1u << 3);
    CHECK_UINT(lost, 1u << 4 | 1u << 5);
    CHECK_PTR(all[5], NULL); /* it was not up, and is begun again by others */
    for (uint32_t i = 1; i < 7; i++)
        CHECK(i == 5 || all[i]->state == ENL_LIFE_UP);
}

TEST(one_above_that_is_gone_is_the_end_of_the_way)
{
    make_tree();
    all[2] = NULL;
    CHECK_PTR(enl_lives_highest(&lives, all[4], 0), NULL);
    CHECK_PTR(enl_lives_highest(&lives, all[4], 2), all[4]);
    close_way(1);
    CHECK_UINT(orphans, 1u << 3);
    CHECK_UINT(lost, 0); /* 4 and 5 have lost it before */
}

TEST(what_is_lost_to_those_below_does_not_concern_one_that_is_over)
{
    make_tree();
    const struct enl_life_now now = at(1000);
    enl_life_happens(all[4], ENL_LIFE_PIPE_ENDS, &now);
    CHECK_INT(all[4]->state, ENL_LIFE_CLOSED);
    close_way(1);
    CHECK_UINT(lost & 1u << 4, 0);
    close_way(2); /* but nobody tells of its command now */
    CHECK_UINT(orphans & 1u << 4, 1u << 4);
    CHECK_PTR(all[4], NULL);
}

TEST(a_host_is_begun_again_by_whom_can_get_there_unless_it_was_up_or_is_not_wanted)
{
    struct enl_life life = {.number = 4, .starter = 2, .process = ENL_LIFE_NOBODY_TELLS};
    CHECK_INT(enl_life_again(&life, false), ENL_LIFE_AGAIN_BY_ANY);
    CHECK_INT(enl_life_again(&life, true), ENL_LIFE_AGAIN_BY_ANY);
    life.process = ENL_LIFE_ENDED;
    CHECK_INT(enl_life_again(&life, false), ENL_LIFE_AGAIN_BY_ROOT);
    CHECK_INT(enl_life_again(&life, true), ENL_LIFE_NOT_AGAIN); /* it has failed there */
    life.starter = 0;
    CHECK_INT(enl_life_again(&life, false), ENL_LIFE_NOT_AGAIN); /* nor has the root got there */
    life = (struct enl_life){.number = 4, .process = ENL_LIFE_NOBODY_TELLS, .is_told = true};
    CHECK_INT(enl_life_again(&life, false), ENL_LIFE_NOT_AGAIN);
    life = (struct enl_life){.number = 4, .process = ENL_LIFE_NOBODY_TELLS, .was_up = true};
    CHECK_INT(enl_life_again(&life, false), ENL_LIFE_NOT_AGAIN);
}

/* ---- what waits to be handled ---- */

static enum enl_life_event handled[16];
static uint32_t handled_of[16];
static unsigned handled_count, depth;

/* The first event of host 1 brings others of 2 and of 1, and has host 3 gone. */
static void on_event(void *owner, struct enl_life *life, enum enl_life_event event)
{
    CHECK_PTR(owner, &lives);
    CHECK_UINT(depth++, 0);
    handled_of[handled_count] = life->number;
    handled[handled_count++] = event;
    if (handled_count == 1) {
        enl_lives_tell(&lives, all[2], ENL_LIFE_WAY_LOST);
        enl_lives_tell(&lives, all[1], ENL_LIFE_CUT);
        enl_lives_tell(&lives, all[1], ENL_LIFE_END);
        enl_lives_run(&lives, on_event, NULL); /* it runs already */
        enl_lives_gone(&lives, all[3]);
        CHECK_UINT(handled_count, 1);
    }
    depth--;
}

TEST(what_an_event_brings_is_handled_after_it_and_nothing_of_one_that_is_gone)
{
    static const uint32_t hosts[] = {1, 2, 1, 1};
    static const enum enl_life_event events[] = {ENL_LIFE_SAYS_END, ENL_LIFE_WAY_LOST, ENL_LIFE_END,
                                                 ENL_LIFE_CUT};
    make_tree();
    enl_lives_tell(&lives, all[1], ENL_LIFE_SAYS_END);
    enl_lives_tell(&lives, all[3], ENL_LIFE_CUT);
    enl_lives_run(&lives, on_event, &lives);
    CHECK_UINT(handled_count, 4);
    for (unsigned i = 0; i < handled_count; i++) {
        CHECK_UINT(handled_of[i], hosts[i]);
        CHECK_INT(handled[i], events[i]);
    }
    CHECK(TAILQ_EMPTY(&lives.pending) && !lives.runs);
}
