/* SPDX-License-Identifier: MIT */
/* What could stand still, or be told too early: a routine that is due while its process waits, memory that is full of what
 * nobody has received, answers that come late. */
#include <signal.h>
#include <unistd.h>

#include "earl_members.h"

enum { ASK = 1, ANSWER = 2, GO = 3, OTHER = 4 };

/* ---- a routine that the other process needs, while this one waits in any way ---- */

static volatile int answers;

static void answer(const struct earl_envelope *envelope, void *argument)
{
    (void)argument;
    MUST(earl_send(envelope->source, 1, ANSWER, NULL, 0) == EARL_OK);
    answers++;
}

/* Waits in one of the ways; what it waits for comes after its routine has answered, perhaps before the wait. */
static void wait_in(int way)
{
    const struct earl_wanted go = wants(1, 1, GO);
    struct earl_envelope envelope;
    earl_request request = way < 2 ? earl_ireceive(&go, NULL, 0) : 0;
    int done;
    switch (way) {
    case 0: MUST(earl_wait(request, NULL) == 0); break;
    case 1: MUST(earl_waitsome(1, &request, 1, &done, NULL) == 1); break;
    case 2: MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK); break;
    case 3: MUST(earl_probe(&go, 1, &envelope) == 1); break;
    case 4: MUST(earl_ssend(1, 1, OTHER, NULL, 0) == EARL_OK); break;
    default: MUST(earl_barrier(NULL) == EARL_OK); break;
    }
    if (way >= 3)
        MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
}

void called_in_waits(void)
{
    const struct earl_wanted ask = wants(1, 1, ASK), answered = wants(1, 0, ANSWER),
                             other = wants(1, 0, OTHER);
    for (int way = 0; way < 6; way++) {
        if (self == 0) {
            const earl_request request = earl_ireceive(&ask, NULL, 0);
            MUST(earl_then(request, answer, NULL) == EARL_OK);
            wait_in(way);
            MUST(answers == way + 1);
        } else if (self == 1) {
            usleep(20000); /* the other one waits */
            MUST(earl_send(0, 1, ASK, NULL, 0) == EARL_OK);
            MUST(earl_receive(&answered, NULL, 0, NULL) == EARL_OK);
            MUST(earl_send(0, 1, GO, NULL, 0) == EARL_OK);
            if (way == 4)
                MUST(earl_receive(&other, NULL, 0, NULL) == EARL_OK);
        }
        if (way == 5 && self != 0)
            MUST(earl_barrier(NULL) == EARL_OK);
    }
}

/* ---- answers ---- */

/* Answers to as many long messages as a request's number has generations wait in the inbox of 0, while it begins a synchronous send:
 * it is done when that one is received, not before. */
void late_answers(void)
{
    enum { MANY = 127 };
    const size_t length = 20000;
    static earl_request posted[MANY];
    static int done[MANY];
    unsigned char *data = allocate(MANY * length);
    const struct earl_wanted go = wants(1, 1 - self, GO), other = wants(1, 0, OTHER);
    memset(data, 1, MANY * length);
    if (self == 0) {
        MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
        for (int k = 0; k < MANY; k++)
            MUST(earl_send(1, 1, ASK, data, length) == EARL_OK);
        const earl_request request = earl_issend(1, 1, OTHER, NULL, 0);
        MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
        MUST(earl_test(request, NULL) == 0);
        MUST(earl_send(1, 1, GO, NULL, 0) == EARL_OK);
        MUST(earl_wait(request, NULL) == 0);
    } else if (self == 1) {
        const struct earl_wanted asked = wants(1, 0, ASK);
        for (int k = 0; k < MANY; k++)
            posted[k] = earl_ireceive(&asked, data + (size_t)k * length, length);
        MUST(earl_send(0, 1, GO, NULL, 0) == EARL_OK);
        for (int left = MANY; left > 0;)
            left -= earl_waitsome(MANY, posted, 1, done, NULL);
        MUST(earl_send(0, 1, GO, NULL, 0) == EARL_OK);
        MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
        MUST(earl_receive(&other, NULL, 0, NULL) == EARL_OK);
    }
    free(data);
}

/* 0 sends synchronously to 1, whose inbox 2 keeps full: answers come while the last part waits for room. What 0 begins then is
 * done when it is received. */
void parts_that_wait(void)
{
    const size_t length = 20000;
    unsigned char *data = allocate(length);
    const struct earl_wanted asked = wants(1, 0, ASK), other = wants(1, 2, OTHER), go = wants(1, 1, GO);
    fill(data, length, 3);
    for (int k = 0; k < number; k++) {
        if (self == 0) {
            MUST(earl_ssend(1, 1, ASK, data, length) == EARL_OK);
            const earl_request never = earl_ireceive(&go, NULL, 0);
            for (int i = 0; i < 20; i++)
                MUST(earl_test(never, NULL) == 0);
            MUST(earl_cancel(never) == 1);
        } else if (self == 1) {
            memset(data, 0, length);
            const earl_request request = earl_ireceive(&asked, data, length);
            for (int i = 0; i < 6; i++)
                MUST(earl_receive(&other, NULL, 0, NULL) == EARL_OK);
            MUST(earl_wait(request, NULL) == 0 && is_filled(data, length, 3));
        } else if (self == 2) {
            for (int i = 0; i < 6; i++)
                MUST(earl_send(1, 1, OTHER, NULL, 0) == EARL_OK);
        }
    }
    free(data);
}

/* ---- memory ---- */

/* 1 receives last what 0 has sent first, of each count about which its memory is full. */
void memory_is_full(void)
{
    const size_t length = 8000, large = (size_t)600 << 10;
    unsigned char *data = allocate(large);
    fill(data, large, 9);
    for (int count_of = number; count_of < number + 12; count_of++) {
        const struct earl_wanted first = wants(1, 0, ASK), second = wants(1, 0, OTHER);
        if (self == 0) {
            const earl_request request = earl_isend(1, 1, OTHER, data, large);
            for (int k = 0; k < count_of; k++)
                MUST(earl_send(1, 1, ASK, data, length) == EARL_OK);
            MUST(earl_wait(request, NULL) == 0);
        } else if (self == 1) {
            MUST(earl_receive(&second, data, large, NULL) == EARL_OK && is_filled(data, large, 9));
            for (int k = 0; k < count_of; k++)
                MUST(earl_receive(&first, data, length, NULL) == EARL_OK);
        }
        if (count_of % 8 == 0)
            MUST(earl_barrier(NULL) == EARL_OK);
    }
    free(data);
}

/* Sends that do not wait, of more than there is memory for, received from the last one on. */
void last_isend_first(void)
{
    enum { MANY = 40 };
    const size_t length = (size_t)2 << 20;
    static earl_request sends[MANY];
    unsigned char *data = allocate(length);
    if (self == 0) {
        fill(data, length, 4);
        for (int k = 0; k < MANY; k++)
            sends[k] = earl_isend(1, 1, k, data, length);
        for (int k = 0; k < MANY; k++)
            MUST(earl_wait(sends[k], NULL) == 0);
    } else if (self == 1) {
        usleep(100000);
        for (int k = MANY; k-- > 0;) {
            const struct earl_wanted wanted = wants(1, 0, k);
            memset(data, 0, length);
            MUST(earl_receive(&wanted, data, length, NULL) == EARL_OK && is_filled(data, length, 4));
        }
    }
    free(data);
}

/* One that does not wait, then one that waits, to the same process, which receives them in that order; neither fits the memory. */
void isend_then_send(void)
{
    const size_t length = (size_t)number;
    unsigned char *data = allocate(length);
    if (self == 0) {
        fill(data, length, 4);
        const earl_request request = earl_isend(1, 1, ASK, data, length);
        MUST(earl_send(1, 1, OTHER, data, length) == EARL_OK);
        MUST(earl_wait(request, NULL) == 0);
    } else if (self == 1) {
        usleep(100000);
        for (int tag = ASK; tag <= OTHER; tag += OTHER - ASK) {
            const struct earl_wanted wanted = wants(1, 0, tag);
            memset(data, 0, length);
            MUST(earl_receive(&wanted, data, length, NULL) == EARL_OK && is_filled(data, length, 4));
        }
    }
    free(data);
}

/* ---- a routine that interrupts, and what it has sent when its process ends ---- */

static unsigned char *sent_by_routine;
enum { LARGE = 1500000 };

static void send_much(const struct earl_envelope *envelope, void *argument)
{
    (void)argument;
    MUST(earl_send(envelope->source, 1, ANSWER, sent_by_routine, LARGE) == EARL_OK);
    memset(sent_by_routine, 0, LARGE);
    answers++;
}

/* 0 computes, and ends once its routine has sent. */
void ends_after_routine(void)
{
    const struct earl_wanted ask = wants(1, 1, ASK), answered = wants(1, 0, ANSWER);
    sent_by_routine = allocate(LARGE);
    fill(sent_by_routine, LARGE, 8);
    if (self == 0) {
        MUST(earl_then(earl_ireceive(&ask, NULL, 0), send_much, NULL) == EARL_OK);
        MUST(earl_barrier(NULL) == EARL_OK);
        volatile unsigned long work = 0;
        while (answers == 0)
            work = work + 1;
    } else if (self == 1) {
        MUST(earl_barrier(NULL) == EARL_OK);
        usleep(20000); /* the other one computes */
        MUST(earl_send(0, 1, ASK, NULL, 0) == EARL_OK);
        usleep(50000);
        memset(sent_by_routine, 0, LARGE);
        MUST(earl_receive(&answered, sent_by_routine, LARGE, NULL) == EARL_OK);
        MUST(is_filled(sent_by_routine, LARGE, 8));
    }
    free(sent_by_routine);
}

/* What a routine waits for in a signal handler comes only once its own packets have gone, into a full inbox (EARL_INBOX). */
static void ask_and_wait(const struct earl_envelope *envelope, void *argument)
{
    const struct earl_wanted answered = wants(1, envelope->source, ANSWER);
    const earl_request large = earl_isend(envelope->source, 1, GO, argument, LARGE);
    for (int k = 0; k < 6; k++)
        MUST(earl_send(envelope->source, 1, OTHER, &k, sizeof k) == EARL_OK);
    MUST(earl_receive(&answered, NULL, 0, NULL) == EARL_OK);
    MUST(earl_wait(large, NULL) == 0);
    answers++;
}

void waits_in_routine(void)
{
    const struct earl_wanted ask = wants(1, 1, ASK), other = wants(1, 0, OTHER), go = wants(1, 0, GO);
    unsigned char *data = allocate(LARGE);
    fill(data, LARGE, 2);
    if (self == 0) {
        MUST(earl_then(earl_ireceive(&ask, NULL, 0), ask_and_wait, data) == EARL_OK);
        MUST(earl_barrier(NULL) == EARL_OK);
        volatile unsigned long work = 0;
        while (answers == 0)
            work = work + 1;
    } else if (self == 1) {
        MUST(earl_barrier(NULL) == EARL_OK);
        usleep(20000); /* the other one computes */
        MUST(earl_send(0, 1, ASK, NULL, 0) == EARL_OK);
        usleep(50000);
        for (int k = 0, word; k < 6; k++)
            MUST(earl_receive(&other, &word, sizeof word, NULL) == EARL_OK && word == k);
        MUST(earl_send(0, 1, ANSWER, NULL, 0) == EARL_OK);
        memset(data, 0, LARGE);
        MUST(earl_receive(&go, data, LARGE, NULL) == EARL_OK && is_filled(data, LARGE, 2));
    }
    free(data);
}

/* Memory that what nobody has received may fill, and a message that has to be asked for, received before. */
void memory_is_kept(void)
{
    enum { FIRST = 200, ALL = FIRST + 6 };
    const size_t length = 8000, large = (size_t)2 << 20;
    const struct earl_wanted asked = wants(1, 0, ASK), other = wants(1, 0, OTHER), go = wants(1, 1, GO);
    static earl_request sends[ALL + 1];
    struct earl_envelope envelope;
    unsigned char *data = allocate(large);
    fill(data, large, 7);
    if (self == 0) {
        for (int k = 0; k < FIRST; k++)
            sends[k] = earl_isend(1, 1, ASK, data, length);
        sends[ALL] = earl_isend(1, 1, OTHER, data, large);
        MUST(earl_receive(&go, NULL, 0, NULL) ==
             EARL_OK); /* what was announced is there, and not in memory any more */
        for (int k = FIRST; k < ALL; k++)
            sends[k] = earl_isend(1, 1, ASK, data, length);
        for (int k = ALL; k >= 0; k--)
            MUST(earl_wait(sends[k], NULL) == 0);
    } else if (self == 1) {
        MUST(earl_probe(&other, 1, &envelope) == 1 && earl_send(0, 1, GO, NULL, 0) == EARL_OK);
        usleep(100000);
        MUST(earl_receive(&other, data, large, NULL) == EARL_OK && is_filled(data, large, 7));
        for (int k = 0; k < ALL; k++)
            MUST(earl_receive(&asked, data, length, NULL) == EARL_OK && is_filled(data, length, 7));
    }
    free(data);
}

/* ---- one that is stopped ---- */

static void wait_until_stopped(int pid)
{
    char name[40], state = ' ';
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    while (state != 'T') {
        FILE *file = fopen(name, "r");
        MUST(file != NULL && fscanf(file, "%*d %*s %c", &state) == 1);
        fclose(file);
        usleep(1000);
    }
}

/* 0 sends to 1, which is stopped, more than its inbox and what is under way there have room for; then it talks to 2. */
void stopped_receiver(void)
{
    enum { MANY = 700, TURNS = 500 };
    static earl_request sends[MANY];
    static int words[MANY];
    const struct earl_wanted of_1 = wants(1, 1, GO), of_0 = wants(1, 0, ASK), of_2 = wants(1, 2, ANSWER);
    int pid = getpid(), word = 0;
    if (self == 0) {
        MUST(earl_receive(&of_1, &pid, sizeof pid, NULL) == EARL_OK);
        wait_until_stopped(pid);
        for (int k = 0; k < MANY; k++) {
            words[k] = k;
            sends[k] = earl_isend(1, 1, ASK, &words[k], sizeof words[k]);
        }
        for (int k = 0; k < TURNS; k++) {
            MUST(earl_send(2, 1, ASK, &k, sizeof k) == EARL_OK);
            MUST(earl_receive(&of_2, &word, sizeof word, NULL) == EARL_OK && word == k);
        }
        MUST(kill(pid, SIGCONT) == 0);
        for (int k = 0; k < MANY; k++)
            MUST(earl_wait(sends[k], NULL) == 0);
    } else if (self == 1) {
        MUST(earl_send(0, 1, GO, &pid, sizeof pid) == EARL_OK && raise(SIGSTOP) == 0);
        for (int k = 0; k < MANY; k++)
            MUST(earl_receive(&of_0, &word, sizeof word, NULL) == EARL_OK && word == k);
    } else if (self == 2) {
        for (int k = 0; k < TURNS; k++)
            MUST(earl_receive(&of_0, &word, sizeof word, NULL) == EARL_OK && word == k &&
                 earl_send(0, 1, ANSWER, &word, sizeof word) == EARL_OK);
    }
}

/* ---- what comes as a buffer ---- */

/* All send a long message in parts to the next one, and have the other's as a buffer. */
void raw_as_buffers(void)
{
    enum { LONG = 3000000 };
    unsigned char *data = allocate(LONG), *got = allocate(LONG);
    const struct earl_wanted wanted = wants(1, (self + count - 1) % count, OTHER);
    for (int turn = 0; turn < number; turn++) {
        earl_buffer *buffer;
        fill(data, LONG, (unsigned)(self + turn));
        const earl_request request = earl_isend((self + 1) % count, 1, OTHER, data, LONG);
        MUST(request > 0 && earl_buffer_receive(&wanted, 1, &buffer, NULL) == 1);
        MUST(earl_unpack(buffer, EARL_BYTE, got, LONG, 1) == EARL_OK);
        MUST(is_filled(got, LONG, (unsigned)(wanted.source + turn)));
        earl_buffer_free(buffer);
        MUST(earl_wait(request, NULL) == EARL_OK);
    }
    free(got);
    free(data);
}
