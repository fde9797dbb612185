/* SPDX-License-Identifier: MIT */
/* Earl's engine, several processes within this one, against a model that shares no code with it: lists that are gone through from
 * their beginning. Which message each receive, probe and claim gets has to be the same, each time. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "double.h"

enum { PROCESSES = 3, CONTEXTS = 2, TAGS = 3, MOST = 400, LONGEST = 700000 };

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

/* ---- the model ---- */

struct sent {
    int number, from, to, tag;
    unsigned context;
    size_t length;
    bool has_arrived, is_taken, is_synchronous;
    earl_request request; /* 0: it is over */
    unsigned char *data;
    long arrival;
};

struct posted {
    int process;
    struct earl_wanted wanted;
    earl_request request;
    const struct sent *gets; /* NULL: none yet */
    unsigned char *buffer;
    size_t room;
    bool is_claim;
    int least; /* of the tags that its predicate takes */
};

static struct double_world world;
static struct earl processes[PROCESSES];
static struct sent sent[MOST];
static struct posted posted[MOST];
static int sent_count, posted_count;
static long arrivals;
static size_t kinds_of_match;

static int takes(const struct earl_envelope *envelope, void *argument)
{
    return envelope->tag >= *(int *)argument;
}

static bool model_fits(const struct posted *receive, const struct sent *message)
{
    return receive->wanted.context == message->context &&
           (receive->wanted.source == EARL_ANY || receive->wanted.source == message->from) &&
           (receive->wanted.tag == EARL_ANY || receive->wanted.tag == message->tag) &&
           (receive->wanted.accepts == NULL || message->tag >= receive->least);
}

/* A message arrives: the first receive that was posted and fits. */
static void model_arrive(struct sent *message)
{
    message->has_arrived = true;
    message->arrival = arrivals++;
    for (int i = 0; i < posted_count; i++)
        if (posted[i].request != 0 && posted[i].gets == NULL && !posted[i].is_claim &&
            posted[i].process == message->to && model_fits(&posted[i], message)) {
            posted[i].gets = message;
            message->is_taken = true;
            return;
        }
}

/* What has arrived, is not taken, and fits: the first to come. */
static struct sent *model_find(const struct posted *receive)
{
    struct sent *best = NULL;
    for (int i = 0; i < sent_count; i++)
        if (sent[i].to == receive->process && sent[i].has_arrived && !sent[i].is_taken &&
            model_fits(receive, &sent[i]) && (best == NULL || sent[i].arrival < best->arrival))
            best = &sent[i];
    return best;
}

/* ---- operations, on both ---- */

static void look(int process)
{
    CHECK(earl_look(&processes[process]) >= 0);
    for (int i = 0; i < sent_count; i++) /* numbers are the order in which they were sent */
        if (sent[i].to == process && !sent[i].has_arrived)
            model_arrive(&sent[i]);
}

static size_t some_length(void)
{
    static const unsigned below[] = {40, 3000, 20000, LONGEST};
    return 4 + draw(below[draw(100) < 3 ? 3 : draw(3)]);
}

static void send(void)
{
    if (sent_count == MOST)
        return;
    struct sent *message = &sent[sent_count];
    *message = (struct sent){.number = sent_count,
                             .from = (int)draw(PROCESSES),
                             .to = (int)draw(PROCESSES),
                             .tag = (int)draw(TAGS),
                             .context = draw(CONTEXTS),
                             .length = some_length(),
                             .is_synchronous = draw(4) == 0};
    message->data = malloc(message->length);
    CHECK(message->data != NULL);
    for (size_t i = 0; i < message->length; i++)
        message->data[i] = (unsigned char)(i * 3 + (size_t)message->number + (i >> 9));
    memcpy(message->data, &message->number, sizeof message->number);
    message->request = earl_do_isend(&processes[message->from], message->to, message->context, message->tag,
                                     message->data, message->length, message->is_synchronous);
    CHECK(message->request > 0);
    sent_count++;
    if (message->to == message->from)
        model_arrive(message);
}

static struct posted some_receive(void)
{
    struct posted receive = {.process = (int)draw(PROCESSES), .least = 1 + (int)draw(TAGS - 1)};
    receive.wanted = (struct earl_wanted){draw(CONTEXTS), draw(2) == 0 ? EARL_ANY : (int)draw(PROCESSES),
                                          draw(2) == 0 ? EARL_ANY : (int)draw(TAGS), NULL, NULL};
    if (draw(4) == 0) {
        receive.wanted.accepts = takes;
        receive.wanted.tag = EARL_ANY;
    }
    return receive;
}

static void receive(void)
{
    if (posted_count == MOST)
        return;
    struct posted *receive = &posted[posted_count];
    *receive = some_receive();
    receive->room = draw(10) == 0 ? draw(100) : LONGEST + 4;
    receive->buffer = malloc(receive->room + 1);
    CHECK(receive->buffer != NULL);
    receive->wanted.argument = &receive->least;
    struct sent *found = model_find(receive);
    receive->request =
        earl_do_ireceive(&processes[receive->process], &receive->wanted, receive->buffer, receive->room);
    CHECK(receive->request > 0);
    receive->gets = found;
    if (found != NULL)
        found->is_taken = true;
    posted_count++;
}

static void probe_or_claim(void)
{
    struct posted wanted = some_receive();
    struct earl_envelope envelope;
    struct earl *earl = &processes[wanted.process];
    const bool is_claim = draw(2) == 0 && posted_count < MOST;
    wanted.wanted.argument = &wanted.least;
    struct sent *found = model_find(&wanted);
    if (found == NULL) { /* Earl looks for more then */
        look(wanted.process);
        found = model_find(&wanted);
    }
    const int result = is_claim ? earl_do_claim(earl, &wanted.wanted, false, &envelope)
                                : earl_do_probe(earl, &wanted.wanted, false, &envelope);
    CHECK((result > 0) == (found != NULL));
    if (found == NULL)
        return;
    CHECK(envelope.source == found->from && envelope.tag == found->tag &&
          envelope.context == found->context && envelope.length == (long long)found->length);
    if (!is_claim)
        return;
    found->is_taken = true;
    posted[posted_count] = wanted;
    posted[posted_count].request = result;
    posted[posted_count].is_claim = true;
    posted[posted_count++].gets = found;
}

static void cancel(void)
{
    if (posted_count == 0)
        return;
    struct posted *receive = &posted[draw((unsigned)posted_count)];
    if (receive->request == 0 || receive->is_claim)
        return;
    CHECK_INT(earl_do_cancel(&processes[receive->process], receive->request), receive->gets == NULL);
    if (receive->gets == NULL)
        receive->request = 0;
}

/* ---- the end ---- */

static void all_look(void)
{
    for (int turn = 0; turn < 4; turn++)
        for (int i = 0; i < PROCESSES; i++)
            look(i);
}

static void check_receive(struct posted *receive)
{
    struct earl *earl = &processes[receive->process];
    struct earl_envelope envelope = {0};
    const int code = earl_do_test(earl, receive->request, false, &envelope);
    if (receive->gets == NULL) {
        CHECK_INT(code, 0);
        CHECK_INT(earl_do_cancel(earl, receive->request), 1);
        return;
    }
    const struct sent *gets = receive->gets;
    CHECK_INT(code, gets->length > receive->room ? EARL_E_CUT : 1);
    CHECK(envelope.source == gets->from && envelope.tag == gets->tag &&
          envelope.length == (long long)gets->length);
    CHECK(memcmp(receive->buffer, gets->data, gets->length < receive->room ? gets->length : receive->room) ==
          0);
    kinds_of_match++;
}

static void check_claim(struct posted *claim)
{
    const struct sent *gets = claim->gets;
    struct earl *earl = &processes[claim->process];
    if (gets->length > 8000 || (gets->is_synchronous && gets->from != claim->process)) {
        /* Its parts come once the sender has been told, which looks in another process: only whole ones are received here. */
        return;
    }
    unsigned char *buffer = malloc(gets->length);
    CHECK(buffer != NULL);
    CHECK_INT(earl_do_claimed(earl, claim->request, buffer, gets->length), EARL_OK);
    CHECK(memcmp(buffer, gets->data, gets->length) == 0);
    free(buffer);
}

static int refuses(void *data)
{
    (void)data;
    return draw(8) == 0;
}

static void run(uint64_t seed, bool refusing)
{
    random_state = seed;
    sent_count = posted_count = 0;
    arrivals = 0;
    double_begin(&world, PROCESSES);
    memset(processes, 0, sizeof processes);
    for (int i = 0; i < PROCESSES; i++)
        CHECK_INT(earl_process_begin(&processes[i], &double_target, &world.boxes[i], "test"), EARL_OK);
    world.refuses = refusing ? refuses : NULL;
    const unsigned favour = draw(3);
    for (int step = 0; step < 600; step++)
        switch (draw(10)) {
        case 0:
        case 1:
        case 2: favour == 0 ? receive() : send(); break;
        case 3:
        case 4:
        case 5: favour == 1 ? send() : receive(); break;
        case 6: probe_or_claim(); break;
        case 7: cancel(); break;
        default: look((int)draw(PROCESSES)); break;
        }
    all_look();
    for (int i = 0; i < posted_count; i++) {
        if (posted[i].request != 0 && posted[i].is_claim)
            check_claim(&posted[i]);
        else if (posted[i].request != 0)
            check_receive(&posted[i]);
        free(posted[i].buffer);
    }
    all_look();
    for (int i = 0; i < sent_count; i++) {
        /* A synchronous send is done if a receive has it, and no claim that was not received. */
        const int code = earl_do_test(&processes[sent[i].from], sent[i].request, false, NULL);
        const bool waits = sent[i].is_synchronous ||
                           (sent[i].from != sent[i].to && sent[i].length > EARL_UNASKED + EARL_PART_LARGE);
        if (!sent[i].is_taken && waits)
            CHECK_INT(code, 0);
        else if (sent[i].length <= 8000 && !sent[i].is_synchronous && !refusing)
            CHECK_INT(code, 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        CHECK_INT(processes[i].strange, 0);
        earl_process_end(&processes[i]);
    }
    double_end(&world);
    CHECK_INT(world.packets, 0);
    for (int i = 0; i < sent_count; i++)
        free(sent[i].data);
}

TEST(each_receive_probe_and_claim_gets_what_the_model_says)
{
    const uint64_t seeds = test_scale(150, 20000);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run(seed, false);
    CHECK(kinds_of_match > 1000);
}

TEST(the_same_where_memory_is_refused_to_those_who_do_not_wait)
{
    const uint64_t seeds = test_scale(150, 20000);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run(seed * 7919, true);
}
