/* SPDX-License-Identifier: MIT */
/* earl_await: for one of several messages, for a time or without limit. */
#include <poll.h>
#include <time.h>

#include "earl_members.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int never(const struct earl_envelope *envelope, void *argument)
{
    (void)envelope;
    ++*(int *)argument;
    return 0;
}

/* poll tells of what comes after the call, and of what has come before it. */
static void descriptor(void)
{
    const int next = (self + 1) % count;
    const struct earl_wanted wanted = wants(7, EARL_ANY, EARL_ANY);
    struct earl_envelope envelope;
    if (count == 1)
        return; /* what a process sends to itself is there at once */
    for (int i = 0; i < 3; i++) {
        struct pollfd ready = {.events = POLLIN};
        int has_sent = 0; /* poll may have come back for something else, and the loop goes round again */
        MUST(earl_barrier(NULL) == EARL_OK);
        if (i == 1)
            MUST(earl_send(next, 7, i, NULL, 0) == EARL_OK);
        while ((ready.fd = earl_descriptor()) >= 0 && earl_await(1, &wanted, 0, &envelope) == 0) {
            if (i != 1 && self == 0 && !has_sent++) {
                MUST(poll(&ready, 1, 0) == 0 || earl_await(1, &wanted, 0, &envelope) == 0);
                MUST(earl_send(next, 7, i, NULL, 0) == EARL_OK);
            }
            MUST(poll(&ready, 1, -1) == 1);
        }
        MUST(earl_receive(&wanted, NULL, 0, NULL) == EARL_OK);
        if (i != 1 && self != 0)
            MUST(earl_send(next, 7, i, NULL, 0) == EARL_OK);
    }
}

void awaits(void)
{
    const int next = (self + 1) % count, before = (self + count - 1) % count;
    int asked = 0;
    struct earl_envelope envelope;
    struct earl_wanted several[3] = {
        wants(3, before, 1), wants(4, EARL_ANY, EARL_ANY), {5, EARL_ANY, EARL_ANY, never, &asked}};
    MUST(earl_await(0, several, 0, &envelope) == EARL_E_ARG &&
         earl_await(1, NULL, 0, &envelope) == EARL_E_ARG && earl_await(1, several, 0, NULL) == EARL_E_ARG);
    several[1].source = count;
    MUST(earl_await(2, several, 0, &envelope) == EARL_E_PROCESS);
    several[1].source = EARL_ANY;
    MUST(earl_await(3, several, 0, &envelope) == 0);
    static const int times[] = {1, 2, 60};
    for (int i = 0; i < 3; i++) {
        const double begun = seconds();
        MUST(earl_await(3, several, times[i], &envelope) == 0);
        MUST(seconds() - begun >= times[i] / 1000.0);
    }
    MUST(earl_barrier(NULL) == EARL_OK);
    /* One that none wants does not end the wait; time goes on meanwhile. When it comes the network decides. */
    MUST(earl_send(next, 5, 1, NULL, 0) == EARL_OK);
    while (asked == 0) {
        const double begun = seconds();
        MUST(earl_await(3, several, 20, &envelope) == 0 && seconds() - begun >= 0.02);
    }
    MUST(earl_barrier(NULL) == EARL_OK);
    /* The place is that of the first that has one, whichever came first; the messages stay. */
    MUST(earl_send(next, 4, 9, "four", 5) == EARL_OK);
    MUST(earl_await(3, several, -1, &envelope) == 2 && envelope.context == 4 && envelope.tag == 9 &&
         envelope.length == 5 && envelope.source == before);
    MUST(earl_barrier(NULL) == EARL_OK);
    MUST(earl_send(next, 3, 1, "three", 6) == EARL_OK);
    MUST(earl_await(1, several, 100000, &envelope) == 1 && envelope.context == 3);
    MUST(earl_await(3, several, 0, &envelope) == 1 && envelope.length == 6);
    MUST(earl_receive(&several[0], NULL, 0, NULL) == EARL_E_CUT);
    MUST(earl_await(3, several, 5, &envelope) == 2);
    MUST(earl_receive(&several[1], NULL, 0, NULL) == EARL_E_CUT);
    MUST(earl_await(2, several, 0, &envelope) == 0);
    MUST(earl_barrier(NULL) == EARL_OK);
    /* One that comes in the middle of the wait. */
    if (self == 0) {
        MUST(earl_await(3, several, 3, &envelope) == 0);
        MUST(earl_send(next, 3, 1, NULL, 0) == EARL_OK);
    }
    MUST(earl_await(1, several, -1, &envelope) == 1);
    if (self != 0)
        MUST(earl_send(next, 3, 1, NULL, 0) == EARL_OK);
    descriptor();
}
