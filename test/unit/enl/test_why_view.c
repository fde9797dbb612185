/* SPDX-License-Identifier: MIT */
/* enl why as a function of what was looked at: scenes that no program has to be made for, and a
 * thousand CCEs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/cell.h"
#include "bcri/link_thread.h"
#include "bcri/order.h"
#include "bcri/record.h"
#include "bcri/slot.h"
#include "check.h"
#include "inspect/look/look.h"

enum { CCES_MAX = 1000 };

static struct look_host host;
static struct look_cce cces[CCES_MAX];
static struct look_wait waits[CCES_MAX];
static struct look_cell cells[CCES_MAX];
static struct look_told told[CCES_MAX];
static struct look_note notes[CCES_MAX];
static struct look_view view;

/* `count` CCEs, of indices 1 to `count`, that run. */
static void begin(size_t count)
{
    memset(cces, 0, sizeof cces);
    host = (struct look_host){.now_ns = UINT64_C(90000000000)};
    for (size_t i = 0; i < count; i++)
        cces[i] = (struct look_cce){.index = i + 1,
                                    .identity0 = (uint64_t)(i + 1) << 32,
                                    .identity1 = 1000 + i,
                                    .ordinal = i,
                                    .pid = 100 + i,
                                    .state = BCRI_CCE_ALIVE,
                                    .process = 'S',
                                    .slept = 7};
    view = (struct look_view){0};
    view.host.at = &host;
    view.host.count = 1;
    view.cce.at = cces;
    view.cce.count = count;
    view.wait.at = waits;
    view.cell.at = cells;
    view.told.at = told;
    view.note.at = notes;
}

/* CCE `who` sleeps for a request at a cell of `owner`; both counted from 0. */
static void sleeps(size_t who, uint64_t want, size_t owner, uint64_t cell)
{
    cces[who].asleep = BCRI_SLEEPS_ON_FUTEX;
    cces[who].deadline_ns = UINT64_MAX;
    cces[who].waiting_for = 1;
    cces[who].since_ns = UINT64_C(80000000000);
    waits[view.wait.count++] = (struct look_wait){.index = who + 1,
                                                  .want = want,
                                                  .state = BCRI_SLOT_LISTED,
                                                  .owner = owner + 1,
                                                  .cell = cell,
                                                  .slept = 1};
}

static struct look_cell *cell_of(size_t owner, uint64_t cell)
{
    cells[view.cell.count++] = (struct look_cell){.owner = owner + 1, .cell = cell, .kind = BCRI_CELL_INOUT};
    return &cells[view.cell.count - 1];
}

/* CCE `who` says that it waits, and names `named`; in the order of `who`. */
static struct look_note *notes_that(size_t who, const char *what, size_t named)
{
    struct look_note *note = &notes[view.note.count++];
    *note = (struct look_note){
        .index = who + 1, .identity0 = cces[named].identity0, .identity1 = cces[named].identity1};
    snprintf(note->text, sizeof note->text, "%s", what);
    return note;
}

static char *text;
static struct look_why why;

static void think(const struct look_view *before)
{
    size_t length;
    free(text);
    look_why_fini(&why);
    view.before = before;
    CHECK(look_why(&view, &why));
    FILE *file = open_memstream(&text, &length);
    look_why_text(file, &why);
    fclose(file);
}

static void says(const char *part)
{
    if (strstr(text, part) == NULL)
        FAIL("no \"%s\" in:\n%s", part, text);
}

TEST(nobody_waits)
{
    begin(3);
    think(NULL);
    says("no CCE waits without a time limit; 3 run");
    CHECK(!why.all_stuck);
}

TEST(one_that_runs_keeps_all_from_being_stuck)
{
    begin(3);
    sleeps(0, BCRI_ORDER_TAKE, 1, 5);
    sleeps(1, BCRI_ORDER_TAKE, 0, 5);
    think(NULL);
    CHECK_UINT(why.stuck, 0);
    CHECK_UINT(why.blocked, 2);
}

TEST(a_note_is_shown_and_followed)
{
    begin(3);
    for (size_t i = 0; i < 3; i++)
        sleeps(i, BCRI_ORDER_TAKE, i, 5);
    notes_that(0, "crecv type 5 from node 1", 1);
    notes_that(1, "crecv type 6 from node 0\n\033[2J", 0);
    think(NULL);
    CHECK(why.all_stuck);
    says("CCE 0 waits for CCE 1: crecv type 5 from node 1 (in cell 5 of CCE 0, for 10.0 s).\n");
    says("CCE 1 waits for CCE 0: crecv type 6 from node 0\\n\\x1b[2J (in cell 5 of CCE 1, for 10.0 s).\n");
    says("deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    says("a put is missing: CCE 2 waits");
    CHECK(strstr(text, "missing: CCE 0") == NULL);
}

TEST(only_the_cce_that_a_note_names_can_help)
{
    begin(4);
    sleeps(0, BCRI_ORDER_TAKE, 0, 5);
    sleeps(1, BCRI_ORDER_TAKE, 1, 5);
    sleeps(2, BCRI_ORDER_TAKE, 2, 5); /* CCE 3 runs */
    notes_that(0, "crecv from node 1", 1);
    notes_that(1, "crecv from node 0", 0);
    think(NULL);
    CHECK_UINT(why.stuck, 2);
    CHECK_UINT(why.blocked, 1);
    says("suspected deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    notes[1].identity0 = cces[3].identity0; /* of the one that runs */
    notes[1].identity1 = cces[3].identity1;
    think(NULL);
    CHECK_UINT(why.stuck, 0);
    CHECK_UINT(why.blocked, 3);
    says("CCE 0 waits for CCE 1: crecv from node 1");
    says("CCE 1 waits for CCE 3: crecv from node 0");
    notes[1].identity1++; /* of one whose record another has by now */
    think(NULL);
    CHECK_UINT(why.stuck, 2);
    says("CCE 1 waits for a CCE that has ended: crecv from node 0");
    notes[1].identity0 |= UINT64_C(7) << 48; /* of a host that was not seen */
    think(NULL);
    CHECK_UINT(why.stuck, 0);
    says("CCE 1 waits for a CCE of host 7: crecv from node 0");
    notes[1].identity0 = notes[1].identity1 = 0;
    think(NULL);
    CHECK_UINT(why.stuck, 0);
    says("CCE 1 waits: crecv from node 0 (in cell 5 of CCE 1, for 10.0 s)");
}

TEST(who_waits_for_itself_by_its_note_is_stuck)
{
    begin(2);
    sleeps(0, BCRI_ORDER_TAKE, 0, 5);
    notes_that(0, "crecv from node 0", 0);
    think(NULL);
    CHECK_UINT(why.stuck, 1);
    says("suspected deadlock: CCE 0 waits for CCE 0: a circle.");
    cces[0].waiting_for = 0; /* for no request */
    view.wait.count = 0;
    think(NULL);
    CHECK_UINT(why.stuck, 1);
    cces[0].asleep = BCRI_AWAKE;
    think(NULL);
    CHECK_UINT(why.stuck, 0);
    says("CCE 0 waits for CCE 0: crecv from node 0, and is awake, or wakes at a time.");
}

/* It has spun where the deadlock was found. */
TEST(in_a_deadlock_a_note_of_one_that_only_looks_is_followed)
{
    begin(2);
    sleeps(0, BCRI_ORDER_TAKE, 0, 5);
    cces[1].idle = 3;
    notes_that(0, "crecv from node 1", 1);
    notes_that(1, "crecv from node 0", 0);
    think(NULL);
    CHECK_UINT(why.stuck, 0);
    says("CCE 1 only looks for regions, again and again (bcr_idle): it waits for CCE 0: crecv from node 0.");
    view.standstill = true;
    think(NULL);
    says("CCE 1 waits for CCE 0: crecv from node 0 (it looks again and again).");
    says("deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
}

/* Those of one other host are left to that host's daemon. */
TEST(circles_by_notes_are_suspected_on_their_own_host)
{
    for (uint64_t host_number = 0; host_number < 2; host_number++) {
        char *told_text = NULL;
        size_t length;
        begin(3);
        sleeps(0, BCRI_ORDER_TAKE, 0, 5);
        sleeps(1, BCRI_ORDER_TAKE, 1, 5);
        notes_that(0, "crecv from node 1", 1);
        notes_that(1, "crecv from node 0", 0);
        think(NULL);
        FILE *file = open_memstream(&told_text, &length);
        look_why_circles(file, &why, host_number);
        fclose(file);
        CHECK_INT(strstr(told_text, "deadlock suspected: CCE 0 waits for CCE 1") != NULL, host_number == 0);
        free(told_text);
    }
}

TEST(a_server_that_waits_is_no_part_of_a_deadlock)
{
    begin(3);
    for (size_t i = 0; i < 3; i++)
        sleeps(i, BCRI_ORDER_TAKE, i, 5);
    cces[0].server = 1;
    think(NULL);
    CHECK(why.all_stuck);
    CHECK_UINT(why.stuck, 2);
    CHECK_UINT(why.servers, 1);
    says("CCE 0, a server, waits for a region from cell 5 of CCE 0");
    says("deadlock: all 2 CCEs of the program that are no servers wait for each other");
    says("1 server waits, which is no part of a deadlock.");
    CHECK(strstr(text, "missing: CCE 0") == NULL);
    cces[1].server = cces[2].server = 1;
    think(NULL);
    CHECK(!why.all_stuck);
    CHECK_UINT(why.stuck, 0);
    CHECK_UINT(why.servers, 3);
    CHECK(strstr(text, "deadlock:") == NULL);
    cces[0].asleep = BCRI_AWAKE; /* it does something, so the others may be helped */
    cces[1].server = 0;
    think(NULL);
    CHECK_UINT(why.stuck + why.servers, 0);
    CHECK_UINT(why.blocked, 2);
}

TEST(where_not_all_cces_were_seen_nothing_is_called_a_deadlock)
{
    for (int which = 0; which < 3; which++) {
        begin(2);
        sleeps(0, BCRI_ORDER_TAKE, 1, 5);
        sleeps(1, BCRI_ORDER_TAKE, 0, 5);
        struct look_view before = view;
        view.partial = which == 1;
        before.partial = which == 2;
        think(&before);
        CHECK_INT(why.all_stuck, which == 0);
        CHECK_UINT(why.stuck, which == 0 ? 2 : 0);
        CHECK_INT(strstr(text, "deadlock") != NULL, which == 0);
        if (which != 0)
            says("not all CCEs of the program could be seen");
        view.partial = false;
    }
}

TEST(a_starting_stopped_or_timed_cce_is_not_stuck)
{
    for (int which = 0; which < 6; which++) {
        begin(2);
        sleeps(0, BCRI_ORDER_TAKE, 1, 5);
        sleeps(1, BCRI_ORDER_TAKE, 0, 5);
        think(NULL);
        CHECK(why.all_stuck);
        switch (which) {
        case 0: cces[0].state = BCRI_CCE_STARTING; break;
        case 1: cces[0].process = 'T'; break;
        case 2: cces[0].process = 't'; break;
        case 3: cces[0].deadline_ns = UINT64_C(99000000000); break;
        case 4: cces[0].asleep = BCRI_SLEEPS_IN_EPOLL; break;
        default: cces[0].news = 1; break;
        }
        think(NULL);
        CHECK_UINT(why.stuck, 0);
    }
}

TEST(a_cce_that_was_awake_between_two_looks_is_not_stuck)
{
    static struct look_cce then[2];
    begin(2);
    sleeps(0, BCRI_ORDER_TAKE, 1, 5);
    sleeps(1, BCRI_ORDER_TAKE, 0, 5);
    memcpy(then, cces, sizeof then);
    struct look_view before = view;
    before.cce.at = then;
    think(&before);
    CHECK(why.all_stuck);
    cces[1].slept++;
    think(&before);
    CHECK_UINT(why.stuck, 0);
}

TEST(a_put_on_its_way_to_another_host_forbids_to_say_deadlock)
{
    begin(2);
    sleeps(0, BCRI_ORDER_TAKE, 1, 5);
    sleeps(1, BCRI_ORDER_TAKE, 0, 5);
    waits[view.wait.count++] = (struct look_wait){
        .index = 1, .want = BCRI_ORDER_PUT, .state = BCRI_SLOT_ORDERED, .owner_host = 3, .owner = 1};
    think(NULL);
    CHECK(!why.all_stuck);
    says("1 puts to other hosts are on their way");
}

TEST(a_cell_that_only_its_owner_can_serve_waits_for_the_owner)
{
    begin(3);
    cell_of(1, 5)->kind = BCRI_CELL_OUT;
    cell_of(0, 5)->kind = BCRI_CELL_OUT;
    look_view_sort(&view);
    sleeps(0, BCRI_ORDER_TAKE, 1, 5);
    sleeps(1, BCRI_ORDER_TAKE, 0, 5);
    think(NULL);
    CHECK_UINT(why.stuck, 2);
    says("suspected deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    CHECK(!why.all_stuck);
}

TEST(who_waits_for_a_lock_of_one_that_runs_is_not_stuck)
{
    begin(2);
    cell_of(0, 5)->locker = 3; /* tags are one more than indices */
    sleeps(0, BCRI_ORDER_LOCK, 0, 5);
    think(NULL);
    CHECK_UINT(why.blocked, 1);
    says("CCE 0 waits for the write lock of cell 5 of CCE 0, which CCE 1 has (for 10.0 s).");
}

TEST(the_one_that_has_put_before_is_named)
{
    begin(3);
    cell_of(0, 5)->puts = 4;
    told[view.told.count++] = (struct look_told){.index = 3, .peer = 1, .cell = 5, .puts = 4, .last_ns = 9};
    sleeps(0, BCRI_ORDER_TAKE, 0, 5);
    sleeps(1, BCRI_ORDER_TAKE, 2, 6);
    sleeps(2, BCRI_ORDER_TAKE, 0, 7);
    think(NULL);
    CHECK(why.all_stuck);
    says("CCE 0 waits for a region from cell 5 of CCE 0, into which CCE 2 has put before");
    says("deadlock: CCE 0 waits for CCE 2, which waits for CCE 0: a circle.");
}

TEST(inside_a_call_the_holder_is_waited_for)
{
    begin(2);
    cces[0].holder = 3;
    think(NULL);
    says("CCE 0 waits inside a call until CCE 1 releases a lock.");
    CHECK_UINT(why.blocked, 1);
    cces[1].holder = 2;
    think(NULL);
    CHECK(why.all_stuck);
}

TEST(wrong_numbers_in_a_view_are_survived)
{
    begin(2);
    sleeps(0, 200, 77, 5);
    sleeps(1, BCRI_ORDER_LOCK, 0, UINT64_MAX);
    waits[view.wait.count++] = (struct look_wait){.index = 999, .slept = 1, .owner_host = 55};
    cell_of(0, UINT64_MAX)->locker = UINT64_MAX;
    cces[1].since_ns = UINT64_MAX;
    think(NULL);
    char *json;
    size_t length;
    FILE *file = open_memstream(&json, &length);
    look_why_json(file, &why);
    look_why_dot(file, &why);
    look_json(file, &view, ~0u);
    fclose(file);
    free(json);
}

/* A request's states are not those of a CCE. */
TEST(states_in_json_have_their_own_names)
{
    static const char *const names[] = {[BCRI_SLOT_TICKET] = "ticket",
                                        [BCRI_SLOT_LISTED] = "listed",
                                        [BCRI_SLOT_PUTWAIT] = "room",
                                        [BCRI_SLOT_ORDERED] = "ordered"};
    for (uint64_t state = 0; state < 100; state++) {
        char *json, want[64] = "\"owner_host\"";
        size_t length;
        begin(2);
        sleeps(0, BCRI_ORDER_TAKE, 1, 1);
        waits[0].state = state;
        FILE *file = open_memstream(&json, &length);
        look_json(file, &view, 1u << LOOK_KIND_WAIT);
        fclose(file);
        if (state < sizeof names / sizeof names[0] && names[state] != NULL)
            snprintf(want, sizeof want, "\"state_name\":\"%s\"", names[state]);
        CHECK(strstr(json, want) != NULL);
        CHECK(strstr(json, "alive") == NULL && strstr(json, "dying") == NULL);
        free(json);
    }
}

TEST(a_thousand_in_one_circle)
{
    begin(CCES_MAX);
    for (size_t i = 0; i < CCES_MAX; i++)
        sleeps(i, BCRI_ORDER_TAKE, (i + 1) % CCES_MAX, 5);
    think(NULL);
    CHECK_UINT(why.stuck, CCES_MAX);
    says("CCE 7, which waits for ... 990 more, the last of which waits for CCE 998, which waits for "
         "CCE 999, which waits for CCE 0: a circle.");
    says("deadlock: all 1000 CCEs");
}

TEST(ways_that_are_not_the_usual_ones_are_told_of_with_what_passes_there)
{
    static struct look_host hosts[2] = {{.host = 0, .hostname = "one"}, {.host = 1, .hostname = "t\033wo"}};
    static struct look_way ways[4] = {{.host = 0, .peer = 1, .way = BCRI_WAY_LOW, .bytes = 700},
                                      {.host = 1, .peer = 2, .way = BCRI_WAY_SILENT},
                                      {.host = 1, .peer = 0, .way = BCRI_WAY_NARROW},
                                      {.host = 0, .peer = 2, .way = BCRI_WAY_UNHEARD}};
    begin(1);
    view.host.at = hosts;
    view.host.count = 2;
    view.way.at = ways;
    view.way.count = 4;
    think(NULL);
    says("packets from host 0 (one) to host 1 (t\\x1bwo) have at most 700 bytes: no larger ones arrive.");
    says("what host 1 (t\\x1bwo) says to host 2 goes over the connections between daemons, which is slow: "
         "nothing comes from "
         "there by UDP.");
    says("what host 1 (t\\x1bwo) says to host 0 (one) goes over the connections between daemons, which is "
         "slow: by UDP packets "
         "of 256 bytes do not arrive there, though smaller ones do.");
    says("what host 0 (one) says to host 2 goes over the connections between daemons, which is slow: nothing "
         "arrives there by "
         "UDP.");
    size_t length;
    char *json;
    FILE *file = open_memstream(&json, &length);
    look_why_json(file, &why);
    fclose(file);
    CHECK(strstr(json,
                 "\"ways\":[{\"host\":0,\"peer\":1,\"way\":\"low\",\"bytes\":700},{\"host\":1,\"peer\":2,"
                 "\"way\":\"silent\",\"bytes\":0}") != NULL);
    free(json);
}

static void has(const char *part)
{
    if (strstr(text, part) == NULL)
        FAIL("no \"%s\" in:\n%s", part, text);
}
static void lacks(const char *part)
{
    if (strstr(text, part) != NULL)
        FAIL("\"%s\" in:\n%s", part, text);
}

/* CCE 0 waits for cell 1 of CCE 1, `of_ns` at a time; it has got something there `ago_ns` ago. */
static void waits_in_vain(uint64_t timeouts, uint64_t ago_ns, uint64_t of_ns)
{
    static struct look_got got;
    begin(2);
    sleeps(0, BCRI_ORDER_TAKE, 1, 1);
    cces[0].since_ns = host.now_ns - UINT64_C(500000000);
    cces[0].deadline_ns = cces[0].since_ns + of_ns - 54885; /* it slept so much after the time had begun */
    cces[0].timeouts = timeouts;
    got = (struct look_got){.index = 1, .peer = 2, .cell = 1, .gets = 1, .last_ns = host.now_ns - ago_ns};
    view.got.at = &got;
    view.got.count = ago_ns != 0;
    think(NULL);
}

TEST(who_waits_with_a_time_limit_again_and_again_is_told)
{
    const uint64_t second = 1000000000;
    waits_in_vain(40, 40 * second, second);
    has("CCE 0 has got nothing from cell 1 of CCE 1 for 40.0 s, 1.0 s at a time.");
    waits_in_vain(3, 0, second);
    has("CCE 0 has never got anything from cell 1 of CCE 1 yet, 1.0 s at a time.");
    waits_in_vain(40, 3 * second / 2, second);
    lacks("has got nothing");
    waits_in_vain(2, 0, second);
    lacks("has never got anything");
    waits_in_vain(40, 40 * second, second / 20);
    has("for 40.0 s, 50 ms at a time.");
    waits_in_vain(40, 40 * second, 5 * second / 2);
    has("for 40.0 s, 2.5 s at a time.");
}

TEST(who_last_put_there_and_has_ended_is_named)
{
    static struct look_left left;
    begin(2);
    sleeps(0, BCRI_ORDER_TAKE, 0, 1);
    left = (struct look_left){
        .index = 3, .ordinal = 5, .pid = 4711, .exit = BCRI_CRASHED | 9, .peer = 1, .cell = 1, .last_ns = 7};
    view.left.at = &left;
    view.left.count = 1;
    think(NULL);
    has("CCE 5 (pid 4711), which last put there, was killed by signal 9.");
    told[0] = (struct look_told){.index = 2, .peer = 1, .cell = 1, .puts = 1, .last_ns = 8};
    view.told.count = 1; /* another has put there since */
    think(NULL);
    lacks("which last put there");
}

/* Traces know cells of other hosts by their numbers alone. */
TEST(of_cells_of_other_hosts_nothing_is_said_that_is_not_known)
{
    static struct look_left left;
    const uint64_t second = 1000000000;
    waits_in_vain(40, 40 * second, second);
    view.got.at[0].peer = BCRI_ENL_INDEX;
    waits[0].owner_host = 1;
    think(NULL);
    has("CCE 0 has got nothing from cell 1 of ");
    view.got.at[0].cell = 2;
    think(NULL);
    has("CCE 0 has never got anything from cell 1 of ");
    begin(2);
    sleeps(0, BCRI_ORDER_TAKE, 0, 1);
    left = (struct look_left){.index = 3, .ordinal = 5, .pid = 4711, .peer = 1, .cell = 1, .last_ns = 7};
    view.left.at = &left;
    view.left.count = 1;
    cces[1].host = 1; /* one there has put into a cell 1, perhaps this one, perhaps later */
    told[0] =
        (struct look_told){.host = 1, .index = 2, .peer = BCRI_ENL_INDEX, .cell = 1, .puts = 1, .last_ns = 1};
    view.told.count = 1;
    think(NULL);
    lacks("which last put there");
    told[0].cell = 2;
    think(NULL);
    has("CCE 5 (pid 4711), which last put there, has ended.");
}

TEST(a_stopped_cce_does_not_run)
{
    begin(3);
    sleeps(0, BCRI_ORDER_TAKE, 1, 1);
    cces[1].process = 'T';
    think(NULL);
    has("CCE 1 is stopped: SIGCONT lets it go on.");
    has("1 CCEs wait; 1 run and could end that.");
    has("1 is stopped.");
    CHECK_UINT(why.stopped, 1);
}
