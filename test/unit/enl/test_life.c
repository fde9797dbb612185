/* SPDX-License-Identifier: MIT */
/* A host as the root's daemon sees it: the table of docs/states/host.md is the code's own, no state is waited in for ever, and what holds
 * of any order of events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tree/lease.h"
#include "tree/life.h"

enum { CONNECT_MS = 5000, HOST_MS = 30000, END_MS = 2000 };

static const char *const actions[] = {"kill", "shut",  "listen", "idle",    "link",
                                      "pass", "close", "set up", "welcome", "tell"};

/* ---- the page ---- */

static char page[1 << 16];

static void read_page(void)
{
    FILE *file = fopen(HOST_PAGE, "r");
    CHECK(file != NULL);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    CHECK(feof(file) != 0);
    fclose(file);
}

/* The text between two bars, without spaces around it. Returns what follows. */
static const char *cell_of(const char *row, char *out, size_t size)
{
    const char *end = strchr(row, '|');
    CHECK(end != NULL);
    const char *next = end + 1;
    while (*row == ' ')
        row++;
    while (end > row && end[-1] == ' ')
        end--;
    CHECK((size_t)(end - row) < size);
    memcpy(out, row, (size_t)(end - row));
    out[end - row] = '\0';
    return next;
}

/* The first row of the table with that head; NULL: the page has none. */
static const char *table_of(const char *head)
{
    const char *at = strstr(page, head);
    CHECK(at != NULL);
    at = strchr(at, '\n') + 1; /* |---| */
    return strchr(at, '\n') + 1;
}

static unsigned state_bits(char *list);

/* Of a set's name in that table, or a state's. */
static unsigned bits_of(const char *name)
{
    char cell[64], states[256];
    for (const char *row = table_of("| set | states |"); name[0] == '*' && row[0] == '|';
         row = strchr(row, '\n') + 1) {
        cell_of(cell_of(row + 1, cell, sizeof cell), states, sizeof states);
        if (strcmp(cell, name) == 0)
            return state_bits(states);
    }
    for (unsigned state = 0; state < ENL_LIFE_STATES; state++)
        if (strcmp(enl_life_state_name(state), name) == 0)
            return 1u << state;
    FAIL("the page has a state or set %s", name);
}

static unsigned state_bits(char *list)
{
    unsigned bits = 0;
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        bits |= bits_of(name + strspn(name, " "));
    return bits;
}

static unsigned event_of(const char *name)
{
    for (unsigned event = 0; event < ENL_LIFE_EVENTS; event++)
        if (strcmp(enl_life_event_name(event), name) == 0)
            return event;
    FAIL("the page has an event %s", name);
}

static unsigned action_bits(char *list)
{
    unsigned bits = 0;
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        unsigned at = 0;
        name += strspn(name, " ");
        while (at < sizeof actions / sizeof actions[0] && strcmp(actions[at], name) != 0)
            at++;
        if (at == sizeof actions / sizeof actions[0])
            FAIL("the page has an action %s", name);
        bits |= 1u << at;
    }
    return bits;
}

TEST(the_page_has_the_rules_of_the_code_in_their_order)
{
    char in[256], happens[64], then[64], done[256];
    size_t count = 0;
    read_page();
    for (const char *row = table_of("| in | happens |"); row[0] == '|';
         row = strchr(row, '\n') + 1, count++) {
        const struct enl_life_rule *rule = &enl_life_rules[count];
        cell_of(cell_of(cell_of(cell_of(row + 1, in, sizeof in), happens, sizeof happens), then, sizeof then),
                done, sizeof done);
        CHECK(count < enl_life_rules_count);
        CHECK_UINT(rule->states, state_bits(in));
        CHECK_UINT(rule->event, event_of(happens));
        CHECK_UINT(1u << rule->next, strcmp(then, "the same") == 0 ? 1u << ENL_LIFE_SAME : bits_of(then));
        CHECK_UINT(rule->actions, action_bits(done));
    }
    CHECK_UINT(count, enl_life_rules_count);
}

TEST(the_page_explains_each_state_event_and_action)
{
    char row[64];
    read_page();
    for (unsigned state = 0; state < ENL_LIFE_STATES; state++) {
        snprintf(row, sizeof row, "%s", enl_life_state_name(state));
        const char *table = strstr(page, "| state | means |"), *at = strstr(table, row);
        CHECK(at != NULL && at < strstr(page, "| happens | means |"));
    }
    for (unsigned event = 0; event < ENL_LIFE_EVENTS; event++) {
        const char *table = strstr(page, "| happens | means |"),
                   *at = strstr(table, enl_life_event_name(event));
        CHECK(at != NULL && at < strstr(page, "| to be done | means |"));
    }
    for (unsigned i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        snprintf(row, sizeof row, "\n| %s | ", actions[i]);
        CHECK(strstr(page, row) != NULL);
    }
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

/* What the deadline brings, at the earliest moment at which it brings something. */
static unsigned let_time_pass(struct enl_life *life, uint64_t *ms)
{
    enum enl_life_event event;
    *ms = life->until_ms > *ms ? life->until_ms : *ms;
    struct enl_life_now now = at(*ms - 1);
    CHECK(life->until_ms < *ms || !enl_life_deadline(life, &now, &event));
    now = at(*ms);
    CHECK(enl_life_deadline(life, &now, &event));
    return enl_life_happens(life, event, &now);
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
    case ENL_LIFE_CUT_OFF: enl_life_happens(&life, ENL_LIFE_WAY_LOST, &now); break;
    case ENL_LIFE_LINKED: enl_life_happens(&life, ENL_LIFE_LINK, &now); break;
    case ENL_LIFE_ENDING: enl_life_happens(&life, ENL_LIFE_END, &now); break;
    case ENL_LIFE_ENDING_CUT_OFF:
        enl_life_happens(&life, ENL_LIFE_END, &now);
        enl_life_happens(&life, ENL_LIFE_WAY_LOST, &now);
        break;
    case ENL_LIFE_ENDING_LINKED:
        enl_life_happens(&life, ENL_LIFE_LINK, &now);
        enl_life_happens(&life, ENL_LIFE_END, &now);
        break;
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
    const enum enl_life_state states[] = {ENL_LIFE_UP, ENL_LIFE_CUT_OFF, ENL_LIFE_LINKED};
    for (unsigned i = 0; i < 3; i++) {
        struct enl_life life = in_state(states[i], 3);
        uint64_t ms = 1000;
        const struct enl_life_now heard = at(9000);
        CHECK_UINT(enl_life_happens(&life, ENL_LIFE_BEATS, &heard), 0);
        while (enl_life_works(&life))
            let_time_pass(&life, &ms);
        CHECK(ms > 9000 + enl_lease_patience(HOST_MS));
        CHECK(enl_life_lease_ms(&life, false, HOST_MS) == 9000 + enl_lease_patience(HOST_MS));
    }
}

TEST(a_host_that_is_silent_for_three_eighths_of_its_time_is_listened_for)
{
    struct enl_life life = in_state(ENL_LIFE_UP, 3);
    struct enl_life_now now = at(2000);
    enum enl_life_event event;
    now.may_listen = true;
    enl_life_happens(&life, ENL_LIFE_BEATS, &now);
    CHECK_UINT(life.until_ms, 2000 + enl_lease_unrest(HOST_MS) + 1);
    now.ms = life.until_ms;
    CHECK(enl_life_deadline(&life, &now, &event));
    CHECK_INT(event, ENL_LIFE_UNREST);
    CHECK_UINT(enl_life_happens(&life, event, &now), ENL_LIFE_DO_LISTEN);
    CHECK_UINT(life.until_ms, 2000 + enl_lease_patience(HOST_MS) + 1);
}

/* docs/states/host.md, the first example. */
TEST(a_host_that_is_stopped_for_20_s_while_its_starter_dies_goes_on_and_after_34_s_does_not)
{
    struct enl_life life = in_state(ENL_LIFE_UP, 3);
    struct enl_life_now now = at(1000);
    CHECK_UINT(enl_life_happens(&life, ENL_LIFE_WAY_LOST, &now),
               ENL_LIFE_DO_SHUT | ENL_LIFE_DO_LISTEN | ENL_LIFE_DO_IDLE);
    CHECK_INT(life.state, ENL_LIFE_CUT_OFF);
    struct enl_life other = life;
    now.ms = 21000;
    CHECK_UINT(enl_life_happens(&life, ENL_LIFE_LINK, &now), ENL_LIFE_DO_IDLE | ENL_LIFE_DO_LINK);
    CHECK_INT(life.state, ENL_LIFE_LINKED);
    uint64_t ms = 21000;
    CHECK_UINT(let_time_pass(&other, &ms), ENL_LIFE_DO_KILL | ENL_LIFE_DO_CLOSE | ENL_LIFE_DO_LEAVE);
    CHECK_INT(other.state, ENL_LIFE_GONE);
    CHECK(ms > 34000 && ms <= 34002);
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
    enl_life_happens(&other, ENL_LIFE_WAY_LOST, &now);
    CHECK_INT(other.state, ENL_LIFE_GONE);
    CHECK_INT(other.process, ENL_LIFE_NOBODY_TELLS);
}

TEST(a_command_of_which_a_new_way_may_tell_is_waited_for)
{
    struct enl_life life = in_state(ENL_LIFE_CUT_OFF, 3), ended = in_state(ENL_LIFE_UP, 3);
    const struct enl_life_now now = at(1000);
    enl_life_happens(&life, ENL_LIFE_WAY_CHANGES, &now);
    enl_life_happens(&life, ENL_LIFE_PIPE_TOLD, &now);
    CHECK_INT(life.state, ENL_LIFE_CLOSED);
    enl_life_happens(&ended, ENL_LIFE_PROCESS_ENDS, &now);
    enl_life_happens(&ended, ENL_LIFE_WAY_LOST, &now);
    enl_life_happens(&ended, ENL_LIFE_WAY_CHANGES, &now);
    enl_life_happens(&ended, ENL_LIFE_PIPE_TOLD, &now);
    CHECK_INT(ended.state, ENL_LIFE_GONE);
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
            now.may_listen = test_rand_below(&random, 2) != 0;
            enum enl_life_event event = (enum enl_life_event)test_rand_below(&random, ENL_LIFE_EVENTS);
            if (event == ENL_LIFE_UNREST || (event == ENL_LIFE_SILENT && life.state < ENL_LIFE_BEGUN))
                continue; /* time brings these */
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
            if ((done & (ENL_LIFE_DO_SHUT | ENL_LIFE_DO_PASS | ENL_LIFE_DO_LINK)) != 0)
                CHECK(enl_life_has_way(&life) && life.was_up);
        }
        CHECK(closed <= 1 && left <= 1 && welcomed <= 1);
    }
}

/* ---- by way of whom ---- */

static struct enl_life *all[8];
static struct enl_life lives_room[8];
static const struct enl_lives lives = {all, 8};
static unsigned lost, changed;

static void on_other(void *owner, struct enl_life *life, enum enl_life_event event)
{
    const struct enl_life_now now = at(1000);
    CHECK_PTR(owner, NULL);
    lost |= event == ENL_LIFE_WAY_LOST ? 1u << life->number : 0;
    changed |= event == ENL_LIFE_WAY_CHANGES ? 1u << life->number : 0;
    enl_life_happens(life, event, &now);
    if (life->state == ENL_LIFE_GONE)
        all[life->number] = NULL;
}

/* 1 has begun 2 and 3, 2 has begun 4, and 4 has begun 5; 5 is coming, and 6 has been begun by the root. */
static void make_tree(void)
{
    static const uint32_t starters[] = {0, 0, 1, 1, 2, 4, 0};
    for (uint32_t i = 1; i < 7; i++) {
        lives_room[i] = in_state(i == 5 ? ENL_LIFE_MET : ENL_LIFE_UP, starters[i]);
        lives_room[i].number = i;
        lives_room[i].is_numbered = lives_room[i].was_up;
        all[i] = &lives_room[i];
    }
    all[7] = NULL;
    lost = changed = 0;
}

TEST(those_that_are_reached_through_a_host_lose_their_way_with_it)
{
    make_tree();
    CHECK_PTR(enl_lives_carrier(&lives, all[4]), all[1]);
    CHECK_PTR(enl_lives_highest(&lives, all[4], 2), all[4]);
    enl_lives_closed(&lives, 1, on_other, NULL);
    CHECK_UINT(lost, 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5);
    CHECK_PTR(all[5], NULL); /* it was not up, and is begun again by others */
    CHECK(enl_life_is_cut_off(all[2]) && enl_life_is_cut_off(all[4]) && all[6]->state == ENL_LIFE_UP);
}

TEST(those_below_a_host_with_a_control_link_go_by_it_and_keep_it_when_those_above_are_lost)
{
    make_tree();
    on_other(NULL, all[2], ENL_LIFE_LINK);
    enl_lives_linked(&lives, 2, on_other, NULL);
    CHECK_UINT(changed, 1u << 4);
    CHECK_UINT(lost, 1u << 5);
    CHECK_PTR(enl_lives_carrier(&lives, all[4]), all[2]);
    lost = 0;
    enl_lives_closed(&lives, 1, on_other, NULL);
    CHECK_UINT(lost, 1u << 2 | 1u << 3);
    CHECK(enl_life_is_linked(all[2]) && all[4]->state == ENL_LIFE_UP);
}

TEST(a_host_whose_way_is_closed_leads_nowhere)
{
    make_tree();
    on_other(NULL, all[2], ENL_LIFE_PIPE_ENDS);
    CHECK_INT(all[2]->state, ENL_LIFE_CLOSED);
    CHECK_PTR(enl_lives_carrier(&lives, all[4]), NULL);
    enl_lives_linked(&lives, 1, on_other, NULL);
    CHECK_UINT(changed | lost, 1u << 3);
}
