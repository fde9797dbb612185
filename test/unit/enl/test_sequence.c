/* SPDX-License-Identifier: MIT */
/* Two ends, and ways between them that are lost with what is on them, or bring it when nobody expects it any
 * more. What each has sent must come at the other once, and in the order of its row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tree/sequence.h"

/* What overtakes, and what is overtaken; and those of the way before. */
enum { ENDS = 2, LANES = 2, OLD = LANES, QUEUES = 2 * LANES };

/* A message on its way. */
struct frame {
    struct frame *next;
    size_t length;
    uint8_t bytes[];
};

struct queue {
    struct frame *first, **end;
};

struct end {
    struct enl_sequence sequence;
    struct queue queue[QUEUES]; /* to the other */
    unsigned sent[ENL_ROWS], came[ENL_ROWS];
};

static struct end ends[ENDS];
static bool drops; /* a daemon between has no memory */

static void add(struct queue *queue, const struct bcri_control *message)
{
    struct frame *frame = malloc(sizeof *frame + BCRI_CONTROL_BYTES_MAX);
    CHECK(frame != NULL);
    frame->next = NULL;
    frame->length = bcri_control_encode(message, frame->bytes, BCRI_CONTROL_BYTES_MAX);
    CHECK(frame->length != 0);
    *queue->end = frame;
    queue->end = &frame->next;
}

static void pass(void *owner, const struct bcri_control *message)
{
    struct end *end = owner;
    if (!drops)
        add(&end->queue[enl_sequence_row(message->type) == ENL_ROW_OUTPUT], message);
}

static void begin(void)
{
    drops = false;
    for (int i = 0; i < ENDS; i++) {
        ends[i] = (struct end){.sequence = {.pass = pass, .owner = &ends[i]}};
        for (int lane = 0; lane < QUEUES; lane++)
            ends[i].queue[lane].end = &ends[i].queue[lane].first;
    }
}

static void drop_queue(struct queue *queue)
{
    while (queue->first != NULL) {
        struct frame *frame = queue->first;
        queue->first = frame->next;
        free(frame);
    }
    queue->end = &queue->first;
}

static void finish(void)
{
    for (int i = 0; i < ENDS; i++) {
        for (int lane = 0; lane < QUEUES; lane++)
            drop_queue(&ends[i].queue[lane]);
        enl_sequence_drop(&ends[i].sequence);
        CHECK_UINT(ends[i].sequence.kept_bytes, 0);
    }
}

static void send_one(struct end *end, enum enl_row row)
{
    char text[32];
    const unsigned length = (unsigned)snprintf(text, sizeof text, "%u", ++end->sent[row]);
    struct bcri_control message = {.type = BCRI_MSG_report,
                                   .present = BCRI_HAS(kind) | BCRI_HAS(bytes),
                                   .kind = 1,
                                   .bytes = {text, length}};
    if (row == ENL_ROW_OUTPUT) {
        message.type = BCRI_MSG_output;
        message.present |= BCRI_HAS(ordinal);
    }
    CHECK(enl_sequence_send(&end->sequence, &message));
}

static void beat(struct end *end)
{
    struct bcri_control message = {.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = 1};
    enl_sequence_tell(&end->sequence, &message);
    CHECK(enl_sequence_send(&end->sequence, &message));
}

static void take(struct end *end, const struct bcri_control *message)
{
    const enum enl_row row = enl_sequence_row(message->type);
    char want[32];
    const enum enl_sequence_verdict verdict = enl_sequence_came(&end->sequence, message);
    CHECK(verdict != ENL_SEQUENCE_NONSENSE);
    if (verdict == ENL_SEQUENCE_DROP || row == ENL_ROW_NONE)
        return;
    const unsigned length = (unsigned)snprintf(want, sizeof want, "%u", ++end->came[row]);
    CHECK_UINT(message->bytes.length, length);
    CHECK_MEM(message->bytes.bytes, want, length);
}

/* Brings the oldest that is to be overtaken, or overtakes, to the other end. False: there is none. */
static bool deliver(int from, int lane)
{
    struct queue *queue = &ends[from].queue[lane];
    struct frame *frame = queue->first;
    struct bcri_control message;
    if (frame == NULL)
        return false;
    queue->first = frame->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    CHECK_PTR(bcri_control_decode(frame->bytes, frame->length, &message), NULL);
    take(&ends[1 - from], &message);
    free(frame);
    return true;
}

static void deliver_all(void)
{
    bool any = true;
    while (any) {
        any = false;
        for (int from = 0; from < ENDS; from++)
            for (int lane = 0; lane < QUEUES; lane++)
                any |= deliver(from, lane);
    }
}

/* All that is on its way is lost, or comes late, and end 0 asks by the next. */
static void change_way(bool late)
{
    for (int i = 0; i < ENDS; i++)
        for (int lane = 0; lane < LANES; lane++) {
            struct queue *queue = &ends[i].queue[lane], *old = &ends[i].queue[OLD + lane];
            drop_queue(late ? old : queue);
            if (!late || queue->first == NULL)
                continue;
            *old = *queue;
            *queue = (struct queue){.end = &queue->first};
        }
    enl_sequence_ask(&ends[0].sequence);
}

static void all_came(void)
{
    for (int i = 0; i < ENDS; i++)
        for (int row = 0; row < ENL_ROWS; row++)
            CHECK_UINT(ends[1 - i].came[row], ends[i].sent[row]);
}

TEST(messages_come_in_the_order_of_their_row_and_a_beat_frees_the_copies)
{
    begin();
    for (int i = 0; i < 10; i++) {
        send_one(&ends[0], ENL_ROW_CONTROL);
        send_one(&ends[0], ENL_ROW_OUTPUT);
        send_one(&ends[1], ENL_ROW_OUTPUT);
    }
    deliver_all();
    all_came();
    CHECK(ends[0].sequence.kept_bytes != 0);
    beat(&ends[0]);
    beat(&ends[1]);
    deliver_all();
    for (int i = 0; i < ENDS; i++)
        CHECK_UINT(ends[i].sequence.kept_bytes, 0);
    finish();
}

TEST(what_is_lost_with_a_way_comes_by_the_next_once)
{
    begin();
    for (int i = 0; i < 5; i++)
        for (int end = 0; end < ENDS; end++)
            send_one(&ends[end], ENL_ROW_CONTROL);
    CHECK(deliver(1, 0));
    CHECK(deliver(1, 0));
    CHECK(deliver(0, 0));
    change_way(false);
    deliver_all();
    all_came();
    finish();
}

TEST(the_last_message_is_not_lost_for_want_of_a_later_one)
{
    begin();
    send_one(&ends[0], ENL_ROW_CONTROL);
    send_one(&ends[1], ENL_ROW_OUTPUT);
    change_way(false);
    deliver_all();
    all_came();
    finish();
}

TEST(what_is_sent_while_an_answer_is_due_waits_for_it)
{
    begin();
    send_one(&ends[0], ENL_ROW_CONTROL);
    change_way(false);
    send_one(&ends[0], ENL_ROW_CONTROL);
    CHECK(deliver(0, 0)); /* resume */
    CHECK_PTR(ends[0].queue[0].first, NULL);
    deliver_all();
    all_came();
    finish();
}

TEST(a_message_that_a_daemon_between_has_dropped_is_asked_for)
{
    begin();
    drops = true;
    send_one(&ends[1], ENL_ROW_CONTROL);
    drops = false;
    send_one(&ends[1], ENL_ROW_CONTROL);
    deliver_all();
    all_came();
    finish();
}

TEST(an_end_that_waits_to_be_asked_sends_what_it_has_kept_when_it_is)
{
    begin();
    enl_sequence_hold(&ends[1].sequence);
    send_one(&ends[1], ENL_ROW_CONTROL);
    send_one(&ends[1], ENL_ROW_OUTPUT);
    CHECK_PTR(ends[1].queue[0].first, NULL);
    change_way(false);
    deliver_all();
    all_came();
    send_one(&ends[1], ENL_ROW_CONTROL);
    deliver_all();
    all_came();
    finish();
}

TEST(what_an_old_way_brings_late_is_dropped)
{
    begin();
    for (int i = 0; i < 3; i++)
        send_one(&ends[0], ENL_ROW_CONTROL);
    change_way(true);
    while (deliver(0, 0) || deliver(1, 0))
        ;
    all_came();
    for (int i = 0; i < 3; i++)
        CHECK(deliver(0, OLD));
    all_came();
    finish();
}

TEST(a_number_that_was_never_sent_is_nonsense)
{
    begin();
    send_one(&ends[0], ENL_ROW_CONTROL);
    struct bcri_control beat_of = {.type = BCRI_MSG_beat,
                                   .present = BCRI_HAS(id) | BCRI_HAS(had) | BCRI_HAS(had_output),
                                   .id = 1,
                                   .had = 2};
    CHECK_INT(enl_sequence_came(&ends[0].sequence, &beat_of), ENL_SEQUENCE_NONSENSE);
    beat_of.had = 1;
    beat_of.had_output = UINT64_MAX;
    CHECK_INT(enl_sequence_came(&ends[0].sequence, &beat_of), ENL_SEQUENCE_NONSENSE);
    beat_of.had_output = 0;
    CHECK_INT(enl_sequence_came(&ends[0].sequence, &beat_of), ENL_SEQUENCE_TAKE);
    finish();
}

TEST(an_end_that_asks_again_and_again_is_not_answered_for_ever)
{
    static char bytes[2048];
    const struct bcri_control asks = {.type = BCRI_MSG_resume,
                                      .present = BCRI_HAS(kind) | BCRI_HAS(had) | BCRI_HAS(had_output)};
    const struct bcri_control message = {.type = BCRI_MSG_report,
                                         .present = BCRI_HAS(kind) | BCRI_HAS(bytes),
                                         .kind = 1,
                                         .bytes = {bytes, sizeof bytes}};
    begin();
    drops = true;
    for (int i = 0; i < 512; i++)
        CHECK(enl_sequence_send(&ends[0].sequence, &message));
    int answers = 0;
    while (answers < 100 && enl_sequence_came(&ends[0].sequence, &asks) == ENL_SEQUENCE_DROP)
        answers++;
    CHECK(answers > 8);
    CHECK(answers < 40);
    finish();
}

TEST(what_is_kept_has_a_bound_and_no_number_is_used_up_beyond_it)
{
    begin();
    drops = true;
    struct bcri_control message = {
        .type = BCRI_MSG_report, .present = BCRI_HAS(kind) | BCRI_HAS(bytes), .kind = 1};
    static char bytes[2048];
    message.bytes = (struct bcri_view){bytes, sizeof bytes};
    uint64_t sent = 0;
    while (enl_sequence_send(&ends[0].sequence, &message))
        sent++;
    CHECK(ends[0].sequence.kept_bytes <= ENL_SEQUENCE_KEPT_MAX);
    CHECK(ends[0].sequence.kept_bytes > ENL_SEQUENCE_KEPT_MAX - 4096);
    CHECK_UINT(ends[0].sequence.row[ENL_ROW_CONTROL].given, sent);
    CHECK(enl_sequence_wants_beat(&ends[0].sequence));
    message.bytes.length = 1; /* nothing that comes later may be had before that */
    CHECK(!enl_sequence_send(&ends[0].sequence, &message));
    const struct bcri_control a_beat = {.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = 1};
    CHECK(!enl_sequence_send(&ends[0].sequence, &a_beat));
    finish();
}

/* An exact model: what comes is counted, so anything that is missing, doubled or out of order fails. Ways
 * change at any moment, with all that is on them or what is left of it late; daemons between drop
 * messages. At last one way stays. */
static void run(uint64_t seed)
{
    uint64_t state = seed;
    begin();
    for (int step = 0; step < 2000; step++) {
        const uint64_t what = test_rand_below(&state, 100);
        const int which = (int)test_rand_below(&state, ENDS);
        const enum enl_row row = (enum enl_row)test_rand_below(&state, ENL_ROWS);
        if (what < 40)
            send_one(&ends[which], row);
        else if (what < 90)
            deliver(which, (int)test_rand_below(&state, QUEUES));
        else if (what < 94)
            beat(&ends[which]);
        else if (what < 97)
            change_way(test_rand_below(&state, 2) == 0);
        else
            drops = !drops && what == 97;
    }
    drops = false;
    change_way(false);
    deliver_all();
    all_came();
    beat(&ends[0]);
    beat(&ends[1]);
    deliver_all();
    for (int i = 0; i < ENDS; i++)
        CHECK_UINT(ends[i].sequence.kept_bytes, 0);
    finish();
}

TEST_TIMEOUT(nothing_is_lost_doubled_or_out_of_order_whatever_ways_do, 600)
{
    const uint64_t seed = test_seed();
    const uint64_t runs = (uint64_t)test_scale(100, 30000);
    for (uint64_t i = 0; i < runs; i++)
        run(seed + i);
}
