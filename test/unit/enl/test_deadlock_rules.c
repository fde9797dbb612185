/* SPDX-License-Identifier: MIT */
/* The rules by which a deadlock is found, one by one: when a CCE rests, what a host tells, when the root
 * believes it. test/sim/test_deadlock.c has them together, on random programs. */
#include <string.h>

#include "bcri/note.h"
#include "check.h"
#include "inspect/deadlock/deadlock.h"

static struct bcri_record_shm record;

/* Sleeps, for the fourth time, since its bell said 9. */
static void sleeps(void)
{
    memset(&record, 0, sizeof record);
    bcri_store(&record.id.state, BCRI_CCE_ALIVE);
    bcri_store(&record.bell.bell, 9);
    bcri_store(&record.bell.sleeping, BCRI_SLEEPS_ON_FUTEX);
    bcri_store(&record.bell.rests, UINT64_C(4) << 32 | 9);
    bcri_store(&record.sleep.sleeps, 4);
    bcri_store(&record.sleep.deadline_ns, UINT64_MAX);
    bcri_store(&record.sleep.since_ns, 77);
    bcri_store(&record.sleep.waits_for, UINT64_C(1) << BCRI_REF_BITS | 5);
    record.id.identity[BCRI_IDENTITY_BYTES - 1] = 1;
}

static bool rests(void)
{
    return enl_rest_of(&record).rests;
}

TEST(a_cce_rests_while_it_sleeps_for_ever_and_nobody_has_rung)
{
    sleeps();
    CHECK(rests());
    CHECK_UINT(enl_rest_of(&record).moves, 4);
    CHECK_UINT(enl_rest_of(&record).since, 77);
    sleeps();
    bcri_store(&record.bell.bell, 10); /* rung, and it has not run since */
    CHECK(!rests());
    sleeps();
    bcri_store(&record.sleep.sleeps, 5); /* about to sleep again: it still looks */
    CHECK(!rests());
    sleeps();
    bcri_store(&record.bell.sleeping, BCRI_AWAKE);
    CHECK(!rests());
    sleeps();
    bcri_store(&record.bell.sleeping, BCRI_SLEEPS_IN_EPOLL);
    CHECK(!rests());
    sleeps();
    bcri_store(&record.sleep.deadline_ns, UINT64_MAX - 1);
    CHECK(!rests());
    for (uint32_t state = BCRI_CCE_FREE; state <= BCRI_CCE_DEAD; state++) {
        sleeps();
        bcri_store(&record.id.state, state);
        CHECK_INT(rests(), state == BCRI_CCE_ALIVE);
    }
}

TEST(a_cce_that_only_looks_rests_in_another_way_and_sleeps_in_the_usual_one)
{
    sleeps();
    const struct enl_rest asleep = enl_rest_of(&record);
    bcri_store(&record.idle.period, 7);
    CHECK(!enl_rest_of(&record).looks); /* nobody need ask it */
    CHECK_UINT(enl_rest_of(&record).who, asleep.who);
    bcri_store(&record.bell.sleeping, BCRI_AWAKE);
    const struct enl_rest looks = enl_rest_of(&record);
    CHECK(looks.rests && looks.looks && !looks.may_circle);
    CHECK_UINT(looks.moves, 7);
    CHECK_UINT(looks.since, 7);
    CHECK(looks.who != asleep.who);
    bcri_store(&record.idle.period, 8);
    CHECK(!rests());
    bcri_store(&record.idle.period, 9);
    bcri_store(&record.id.state, BCRI_CCE_STARTING);
    CHECK(!rests());
}

TEST(only_who_has_had_a_write_lock_and_waits_for_one_thing_or_names_a_cce_may_be_in_a_circle)
{
    sleeps();
    CHECK(!enl_rest_of(&record).may_circle);
    bcri_store(&record.id.uses_locks, 1);
    CHECK(enl_rest_of(&record).may_circle);
    bcri_store(&record.sleep.waits_for, UINT64_C(2) << BCRI_REF_BITS | 5);
    CHECK(!enl_rest_of(&record).may_circle);
    uint8_t cce[BCRI_IDENTITY_BYTES] = {0};
    bcri_note_set(&record.note, "waits", 5, cce);
    CHECK(!enl_rest_of(&record).may_circle);
    cce[3] = 1;
    bcri_note_set(&record.note, "waits", 5, cce);
    CHECK(enl_rest_of(&record).may_circle);
    bcri_note_clear(&record.note);
    CHECK(!enl_rest_of(&record).may_circle);
    bcri_note_set(&record.note, "waits", 5, cce);
    bcri_store(&record.bell.sleeping, BCRI_AWAKE);
    CHECK(!enl_rest_of(&record).may_circle);
}

static struct enl_stillness still(uint32_t count, uint64_t who, uint64_t moves, uint64_t since)
{
    return (struct enl_stillness){.still = true, .count = count, .who = who, .moves = moves, .since = since};
}

TEST(a_server_rests_like_others_and_is_not_counted)
{
    sleeps();
    const struct enl_rest other = enl_rest_of(&record);
    bcri_store(&record.idle.server, 1);
    const struct enl_rest server = enl_rest_of(&record);
    CHECK(server.rests && server.server && !other.server);
    struct enl_stillness seen = still(0, 0, 0, 0);
    enl_stillness_add(&seen, &server);
    CHECK_UINT(seen.count, 0);
    CHECK_UINT(seen.moves, 4);
    CHECK(seen.servers);
    enl_stillness_add(&seen, &other);
    CHECK_UINT(seen.count, 1);
    CHECK_UINT(seen.moves, 8);
    CHECK(seen.servers);
    bcri_store(&record.bell.sleeping, BCRI_AWAKE);
    CHECK(!rests());
    bcri_store(&record.idle.period, 7);
    CHECK(enl_rest_of(&record).looks && enl_rest_of(&record).server);
}

TEST(looks_are_the_same_if_nobody_has_come_gone_or_slept_again)
{
    const struct enl_stillness one = still(2, 10, 20, 30);
    struct enl_stillness other = one;
    CHECK(enl_stillness_same(&one, &other));
    other.who++;
    CHECK(!enl_stillness_same(&one, &other));
    other = one;
    other.moves++;
    CHECK(!enl_stillness_same(&one, &other));
    other = one;
    other.still = false;
    CHECK(!enl_stillness_same(&one, &other) && !enl_stillness_same(&other, &one));
    struct enl_rest rest;
    sleeps();
    rest = enl_rest_of(&record);
    other = one;
    enl_stillness_add(&other, &rest);
    CHECK_UINT(other.count, 3);
    CHECK_UINT(other.moves, 24);
    CHECK_UINT(other.since, 107);
    CHECK(other.who != one.who);
}

TEST(a_host_tells_only_what_has_changed)
{
    struct enl_host_detector host_detector = {0};
    const struct enl_stillness runs = {0}, rest = still(1, 5, 6, 7), again = still(1, 5, 8, 7);
    CHECK_INT(enl_host_detector_second(&host_detector, &runs), ENL_HOST_DETECTOR_NOTHING);
    CHECK_INT(enl_host_detector_second(&host_detector, &rest), ENL_HOST_DETECTOR_LOOK);
    CHECK_INT(enl_host_detector_look(&host_detector, 0, &rest, false), ENL_HOST_DETECTOR_TELL);
    CHECK_INT(enl_host_detector_second(&host_detector, &rest), ENL_HOST_DETECTOR_NOTHING);
    CHECK_INT(enl_host_detector_second(&host_detector, &again), ENL_HOST_DETECTOR_LOOK);
    CHECK_INT(enl_host_detector_look(&host_detector, 3, &again, false), ENL_HOST_DETECTOR_TELL);
    CHECK_UINT(host_detector.round, 3);
    CHECK_INT(enl_host_detector_look(&host_detector, 4, &again, false),
              ENL_HOST_DETECTOR_TELL); /* it was asked */
    CHECK_INT(enl_host_detector_second(&host_detector, &runs), ENL_HOST_DETECTOR_TELL);
    CHECK_INT(enl_host_detector_second(&host_detector, &runs), ENL_HOST_DETECTOR_NOTHING);
}

TEST(where_there_is_an_agent_it_is_asked_and_late_answers_are_not_used)
{
    struct enl_host_detector host_detector = {0};
    const struct enl_stillness rest = still(1, 5, 6, 7);
    CHECK_INT(enl_host_detector_look(&host_detector, 0, &rest, true), ENL_HOST_DETECTOR_ASK);
    const uint32_t first = host_detector.question;
    CHECK_INT(enl_host_detector_look(&host_detector, 9, &rest, true), ENL_HOST_DETECTOR_ASK);
    CHECK_INT(enl_host_detector_answer(&host_detector, first, true, 100), ENL_HOST_DETECTOR_NOTHING);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, true, 100),
              ENL_HOST_DETECTOR_TELL);
    CHECK_UINT(host_detector.round, 9);
    CHECK_UINT(host_detector.last.moves, 106);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, true, 100),
              ENL_HOST_DETECTOR_NOTHING);
    CHECK_INT(enl_host_detector_second(&host_detector, &rest),
              ENL_HOST_DETECTOR_NOTHING); /* as the records say, nothing is new */
    CHECK_INT(enl_host_detector_look(&host_detector, 0, &rest, true), ENL_HOST_DETECTOR_ASK);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, false, 100),
              ENL_HOST_DETECTOR_TELL);
    CHECK(!host_detector.last.still);
}

TEST(a_look_is_over_when_all_have_answered_or_one_has_found_something)
{
    struct enl_host_detector host_detector = {0};
    const struct enl_stillness rest = still(3, 5, 6, 7);
    CHECK_INT(enl_host_detector_look(&host_detector, 4, &rest, 3), ENL_HOST_DETECTOR_ASK);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, true, 0),
              ENL_HOST_DETECTOR_NOTHING);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, true, 100),
              ENL_HOST_DETECTOR_NOTHING);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, true, 0),
              ENL_HOST_DETECTOR_TELL);
    CHECK(host_detector.last.still);
    CHECK_UINT(host_detector.last.moves, 106);
    CHECK_INT(enl_host_detector_look(&host_detector, 5, &rest, 3), ENL_HOST_DETECTOR_ASK);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, true, 0),
              ENL_HOST_DETECTOR_NOTHING);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, false, 0),
              ENL_HOST_DETECTOR_TELL);
    CHECK(!host_detector.last.still);
    CHECK_INT(enl_host_detector_answer(&host_detector, host_detector.question, true, 0),
              ENL_HOST_DETECTOR_NOTHING); /* it is over */
    CHECK_INT(enl_host_detector_look(&host_detector, 0, &rest, 0), ENL_HOST_DETECTOR_TELL);
}

TEST(an_agent_that_does_not_answer_is_asked_again)
{
    struct enl_host_detector host_detector = {0};
    const struct enl_stillness rest = still(1, 5, 6, 7);
    unsigned seconds = 0;
    CHECK_INT(enl_host_detector_look(&host_detector, 0, &rest, true), ENL_HOST_DETECTOR_ASK);
    while (enl_host_detector_second(&host_detector, &rest) != ENL_HOST_DETECTOR_LOOK)
        CHECK(++seconds < 20);
    CHECK(seconds >= 3);
}

static struct enl_root_detector root_detector;
static const uint32_t numbers[] = {0, 4, 7};
static struct enl_stillness first, second;

/* Hosts 0 and 4, which tell that they are still. */
static void begin(void)
{
    enl_root_detector_fini(&root_detector);
    first = still(2, 1, 2, 3);
    second = still(1, 4, 5, 6);
    CHECK(enl_root_detector_hosts(&root_detector, numbers, 2));
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_MOVES);
    CHECK_INT(enl_root_detector_hear(&root_detector, 0, 0, &first), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_MOVES);
    CHECK_INT(enl_root_detector_hear(&root_detector, 4, 0, &second), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_ASK);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_MOVES);
}

static enum enl_verdict answer(void)
{
    CHECK_INT(enl_root_detector_hear(&root_detector, 0, root_detector.round, &first), ENL_MOVES);
    return enl_root_detector_hear(&root_detector, 4, root_detector.round, &second);
}

TEST(equal_answers_of_all_are_a_deadlock_which_is_told_once)
{
    begin();
    CHECK_INT(answer(), ENL_DEADLOCK);
    CHECK_UINT(enl_root_detector_count(&root_detector), 3);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_MOVES);
    second.moves++; /* a signal has woken one, which waits on */
    CHECK_INT(enl_root_detector_hear(&root_detector, 4, 0, &second), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_ASK);
    CHECK_INT(answer(), ENL_MOVES);
    second.moves++;
    second.since++; /* it waits for something else */
    CHECK_INT(enl_root_detector_hear(&root_detector, 4, 0, &second), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_ASK);
    CHECK_INT(answer(), ENL_DEADLOCK);
}

TEST(another_answer_is_a_first_look_only)
{
    begin();
    second.moves++;
    CHECK_INT(answer(), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_ASK);
    CHECK_INT(answer(), ENL_DEADLOCK);
}

TEST(what_a_host_tells_unasked_is_no_answer)
{
    begin();
    CHECK_INT(enl_root_detector_hear(&root_detector, 0, root_detector.round, &first), ENL_MOVES);
    CHECK_INT(enl_root_detector_hear(&root_detector, 4, 0, &second), ENL_MOVES);
    CHECK_INT(enl_root_detector_hear(&root_detector, 4, root_detector.round - 1, &second), ENL_MOVES);
    CHECK_INT(enl_root_detector_hear(&root_detector, 4, root_detector.round, &second), ENL_DEADLOCK);
}

TEST(a_host_that_comes_or_goes_ends_a_round)
{
    begin();
    CHECK(enl_root_detector_hosts(&root_detector, numbers, 3));
    CHECK_INT(answer(), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_MOVES); /* of the third nothing is known */
    begin();
    CHECK(enl_root_detector_hosts(&root_detector, numbers, 1));
    CHECK_INT(enl_root_detector_hear(&root_detector, 0, root_detector.round, &first), ENL_MOVES);
    CHECK_INT(enl_root_detector_hear(&root_detector, 4, root_detector.round, &second), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_ASK);
    CHECK_INT(enl_root_detector_hear(&root_detector, 0, root_detector.round, &first), ENL_DEADLOCK);
}

TEST(a_host_that_does_not_answer_is_asked_again)
{
    unsigned ticks = 0;
    begin();
    const uint32_t round = root_detector.round;
    while (enl_root_detector_tick(&root_detector) != ENL_ASK)
        CHECK(++ticks < 20);
    CHECK_UINT(root_detector.round, round + 1);
    CHECK_INT(answer(), ENL_DEADLOCK);
}

TEST(a_program_without_cces_is_in_no_deadlock)
{
    enl_root_detector_fini(&root_detector);
    first = still(0, 0, 0, 0);
    CHECK(enl_root_detector_hosts(&root_detector, numbers, 1));
    CHECK_INT(enl_root_detector_hear(&root_detector, 0, 0, &first), ENL_MOVES);
    CHECK_INT(enl_root_detector_tick(&root_detector), ENL_MOVES);
}
