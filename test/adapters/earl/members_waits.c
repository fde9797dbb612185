/* SPDX-License-Identifier: MIT */
/* Requests, synchronous sends, claims, routines that are called, and ends. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "earl_members.h"

static int is_odd(const struct earl_envelope *envelope, void *argument)
{
    (*(int *)argument)++;
    return envelope->tag % 2;
}

static void post_and_wait(void)
{
    enum { MANY = 600 }; /* more than the table of requests has at first */
    const int next = (self + 1) % count, before = (self + count - 1) % count;
    static int words[MANY];
    static earl_request posted[MANY];
    static int done[MANY];
    static struct earl_envelope envelopes[MANY];
    for (int k = 0; k < MANY; k++) {
        const struct earl_wanted wanted = wants(1, before, k);
        posted[k] = earl_ireceive(&wanted, &words[k], sizeof words[k]);
        MUST(posted[k] > 0 && earl_test(posted[k], NULL) == 0);
    }
    MUST(earl_waitsome(MANY, posted, 0, done, envelopes) == 0);
    MUST(earl_barrier(NULL) == EARL_OK);
    for (int k = MANY - 1; k >= 0; k--) {
        const int word = k * 3 + self;
        MUST(earl_send(next, 1, k, &word, sizeof word) == EARL_OK);
    }
    for (int left = MANY; left > 0;) {
        const int found = earl_waitsome(MANY, posted, 1, done, envelopes);
        MUST(found > 0 && found <= left);
        for (int i = 0; i < found; i++) {
            MUST(posted[done[i]] == 0 && envelopes[i].tag == done[i] && envelopes[i].code == EARL_OK);
            MUST(words[done[i]] == done[i] * 3 + before);
        }
        left -= found;
    }
    MUST(earl_waitsome(MANY, posted, 1, done, NULL) == 0);
}

static void cancel(void)
{
    int word = 7, asked = 0;
    const struct earl_wanted wanted = wants(1, EARL_ANY, EARL_ANY);
    earl_request first = earl_ireceive(&wanted, &word, sizeof word);
    MUST(earl_cancel(first) == 1 && earl_cancel(first) == EARL_E_REQUEST &&
         earl_wait(first, NULL) == EARL_E_REQUEST);
    /* A message to this process itself; the oldest posted receive that wants it gets it. */
    const struct earl_wanted odd = {1, EARL_ANY, EARL_ANY, is_odd, &asked};
    earl_request asks = earl_ireceive(&odd, &word, sizeof word);
    first = earl_ireceive(&wanted, &word, sizeof word);
    const int even = 100, second = 101;
    MUST(earl_send(self, 1, 4, &even, sizeof even) == EARL_OK && asked > 0);
    struct earl_envelope envelope;
    MUST(earl_test(first, &envelope) == 1 && envelope.tag == 4 && word == 100);
    MUST(earl_send(self, 1, 5, &second, sizeof second) == EARL_OK);
    MUST(earl_cancel(asks) == 0 && earl_wait(asks, &envelope) == 0 && envelope.tag == 5 && word == 101);
}

static void cut(void)
{
    char room[4] = "";
    struct earl_envelope envelope;
    const struct earl_wanted wanted = wants(1, self, 9);
    MUST(earl_send(self, 1, 9, "abcdefgh", 8) == EARL_OK);
    MUST(earl_receive(&wanted, room, 3, &envelope) == EARL_E_CUT && envelope.length == 8);
    MUST(memcmp(room, "abc", 4) == 0);
    const earl_request request = earl_ireceive(&wanted, room, 0);
    MUST(earl_send(self, 1, 9, "x", 1) == EARL_OK);
    MUST(earl_wait(request, &envelope) == EARL_E_CUT && envelope.length == 1 && envelope.code == EARL_E_CUT);
}

void requests(void)
{
    post_and_wait();
    cancel();
    cut();
}

void synchronous(void)
{
    const int other = 1 - self;
    const size_t length = (size_t)number;
    unsigned char *data = allocate(length);
    if (self > 1)
        return;
    const struct earl_wanted wanted = wants(1, other, 1), go = wants(1, other, 2);
    if (self == 0) {
        fill(data, length, 5);
        const earl_request request = earl_issend(1, 1, 1, data, length);
        for (int i = 0; i < 50; i++)
            MUST(earl_test(request, NULL) == 0);
        MUST(earl_send(1, 1, 2, NULL, 0) == EARL_OK);
        MUST(earl_wait(request, NULL) == 0);
        MUST(earl_ssend(1, 1, 1, data, length) == EARL_OK);
        /* To itself: done once it is received. */
        const earl_request own = earl_issend(0, 1, 3, data, length);
        const struct earl_wanted mine = wants(1, 0, 3);
        MUST(earl_test(own, NULL) == 0 && earl_receive(&mine, data, length, NULL) == EARL_OK);
        MUST(earl_wait(own, NULL) == 0);
    } else {
        MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
        for (int i = 0; i < 2; i++) {
            MUST(earl_receive(&wanted, data, length, NULL) == EARL_OK && is_filled(data, length, 5));
            memset(data, 0, length);
        }
    }
    free(data);
}

void claims(void)
{
    const size_t length = (size_t)number;
    unsigned char *data = allocate(length), *second = allocate(length);
    struct earl_envelope envelope;
    if (self == 0) {
        const struct earl_wanted any = wants(1, EARL_ANY, EARL_ANY);
        for (int i = 1; i < count; i++) {
            const earl_request claim = earl_claim(&any, 1, &envelope);
            MUST(claim > 0 && envelope.length == (long long)length && envelope.tag == 0);
            MUST(earl_wait(claim, NULL) == EARL_E_REQUEST);
            const struct earl_wanted next = wants(1, envelope.source, EARL_ANY);
            const int source = envelope.source;
            MUST(earl_probe(&next, 1, &envelope) == 1 && envelope.tag == 1);
            MUST(earl_receive(&next, second, length, &envelope) == EARL_OK && envelope.tag == 1);
            MUST(is_filled(second, length, (unsigned)source + 1));
            if (i % 2 == 0) {
                MUST(earl_claimed(claim, NULL, 0) == EARL_OK);
            } else {
                MUST(earl_claimed(claim, data, length) == EARL_OK &&
                     is_filled(data, length, (unsigned)source));
            }
            MUST(earl_claimed(claim, data, length) == EARL_E_REQUEST);
        }
        MUST(earl_claim(&any, 0, &envelope) == 0 && earl_probe(&any, 0, &envelope) == 0);
    } else {
        for (int tag = 0; tag < 2; tag++) {
            fill(data, length, (unsigned)(self + tag));
            MUST(earl_send(0, 1, tag, data, length) == EARL_OK);
        }
    }
    free(data);
    free(second);
}

/* ---- routines that are called ---- */

static volatile int called;
static int word;

static void count_it(const struct earl_envelope *envelope, void *argument)
{
    MUST(argument == &word && envelope->source == 1 && envelope->code == EARL_OK);
    called++;
    const struct earl_wanted wanted = wants(1, 1, 1);
    const earl_request again = earl_ireceive(&wanted, &word, sizeof word);
    MUST(again > 0 && earl_then(again, count_it, &word) == EARL_OK);
    MUST(earl_send(1, 1, 2, &word, sizeof word) == EARL_OK);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Process 0 computes, and never calls Earl; 1 asks, and is answered by interrupts. */
void handlers(void)
{
    const struct earl_wanted wanted = wants(1, 1, 1), answer = wants(1, 0, 2);
    if (self == 0) {
        const earl_request request = earl_ireceive(&wanted, &word, sizeof word);
        MUST(earl_then(request, count_it, &word) == EARL_OK);
        MUST(earl_wait(request, NULL) == EARL_E_REQUEST);
        MUST(earl_barrier(NULL) == EARL_OK);
        volatile unsigned long work = 0;
        for (const double until = now() + 60; called < number && now() < until;)
            for (int i = 0; i < 1000; i++)
                work = work + (unsigned long)i;
        MUST(called == number);
        MUST(earl_mask(1) == 0 && earl_mask(1) == 1);
        MUST(earl_barrier(NULL) == EARL_OK);
        for (const double until = now() + 0.1; now() < until;)
            work = work + 1;
        const struct earl_wanted behind = wants(1, 1, 3);
        MUST(earl_receive(&behind, NULL, 0, NULL) == EARL_OK && called == number);
        MUST(earl_mask(0) == 1);
        for (const double until = now() + 60; called < number + 1 && now() < until;)
            work = work + 1;
        MUST(called == number + 1);
    } else if (self == 1) {
        MUST(earl_barrier(NULL) == EARL_OK);
        for (int k = 0; k <= number; k++) {
            int back = -1;
            if (k == number)
                MUST(earl_barrier(NULL) == EARL_OK);
            MUST(earl_send(0, 1, 1, &k, sizeof k) == EARL_OK);
            if (k == number)
                MUST(earl_send(0, 1, 3, NULL, 0) == EARL_OK);
            MUST(earl_receive(&answer, &back, sizeof back, NULL) == EARL_OK && back == k);
        }
    } else {
        MUST(earl_barrier(NULL) == EARL_OK && earl_barrier(NULL) == EARL_OK);
    }
    MUST(earl_barrier(NULL) == EARL_OK);
}

/* 0 receives from 1, which receives from 2, and nobody sends; 2 waits for all. Without each of them there is no deadlock, so none is
 * told of before all three wait. */
void stuck(void)
{
    const struct earl_wanted wanted = wants(1, self + 1, 5);
    MUST(earl_words("type", "node") == EARL_OK && earl_words(NULL, "node") == EARL_E_ARG);
    if (self < 2)
        MUST(earl_receive(&wanted, NULL, 0, NULL) == EARL_OK);
    MUST(earl_barrier(NULL) == EARL_OK);
}

/* Process 1 ends while 0 waits for it, and has sent something before. */
void ends(void)
{
    enum { NOTICES = 9 };
    if (self == 1) {
        MUST(earl_send(0, 1, 1, "last", 4) == EARL_OK);
        MUST(earl_barrier(NULL) == EARL_OK);
        exit(0);
    }
    if (self == 0) {
        struct earl_envelope envelope;
        char text[5] = "";
        MUST(earl_watch(1, NOTICES, 77) == EARL_OK);
        MUST(earl_barrier(NULL) == EARL_OK);
        const struct earl_wanted notice = wants(NOTICES, EARL_ANY, EARL_ANY), last = wants(1, 1, 1);
        MUST(earl_receive(&notice, NULL, 0, &envelope) == EARL_OK && envelope.source == 1 &&
             envelope.tag == 77);
        MUST(earl_probe(&last, 0, &envelope) == 1 && earl_receive(&last, text, 4, NULL) == EARL_OK &&
             strcmp(text, "last") == 0);
        MUST(earl_send(1, 1, 1, "late", 4) == EARL_E_ENDED);
        return;
    }
    MUST(earl_barrier(NULL) == EARL_OK);
}
