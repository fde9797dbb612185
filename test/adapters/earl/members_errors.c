/* SPDX-License-Identifier: MIT */
/* Bad input: each routine says what is wrong, and changes nothing. */
#include "earl_members.h"

static void sends(void)
{
    MUST(earl_send(count, 1, 1, NULL, 0) == EARL_E_PROCESS && earl_send(-1, 1, 1, NULL, 0) == EARL_E_PROCESS);
    MUST(earl_send(0, 1, -1, NULL, 0) == EARL_E_ARG && earl_ssend(0, 1, 1, NULL, 5) == EARL_E_ARG);
    MUST(earl_isend(count, 1, 1, NULL, 0) == EARL_E_PROCESS && earl_issend(0, 1, -2, NULL, 0) == EARL_E_ARG);
    const int none[] = {0, 77777};
    MUST(earl_sendm(2, none, 1, 1, NULL, 0) == EARL_E_PROCESS &&
         earl_sendm(-1, none, 1, 1, NULL, 0) == EARL_E_ARG);
    MUST(earl_send(0, EARL_CONTEXTS, 1, NULL, 0) == EARL_E_ARG &&
         earl_isend(0, EARL_CONTEXTS, 1, NULL, 0) == EARL_E_ARG &&
         earl_sendm(1, none, 0xffffffff, 1, NULL, 0) == EARL_E_ARG);
    MUST(earl_sendm(0, NULL, 1, 1, NULL, 0) == EARL_OK && earl_sendm(1, NULL, 1, 1, NULL, 0) == EARL_E_ARG);
}

static void receives(void)
{
    struct earl_envelope envelope;
    char byte;
    const struct earl_wanted far = wants(1, count, 1), below = wants(1, -2, 1), tag = wants(1, 0, -2);
    const struct earl_wanted good = wants(1, EARL_ANY, EARL_ANY);
    MUST(earl_receive(&far, NULL, 0, NULL) == EARL_E_PROCESS &&
         earl_receive(&below, NULL, 0, NULL) == EARL_E_PROCESS);
    MUST(earl_receive(&tag, NULL, 0, NULL) == EARL_E_ARG && earl_receive(NULL, NULL, 0, NULL) == EARL_E_ARG);
    MUST(earl_receive(&good, NULL, 1, NULL) == EARL_E_ARG && earl_ireceive(&good, NULL, 1) == EARL_E_ARG);
    MUST(earl_ireceive(&far, &byte, 1) == EARL_E_PROCESS);
    MUST(earl_probe(&far, 0, &envelope) == EARL_E_PROCESS && earl_probe(&good, 0, NULL) == EARL_E_ARG);
    MUST(earl_claim(&tag, 0, &envelope) == EARL_E_ARG && earl_claim(&good, 0, NULL) == EARL_E_ARG);
    const struct earl_wanted own = wants(EARL_CONTEXTS, EARL_ANY, EARL_ANY);
    MUST(earl_receive(&own, NULL, 0, NULL) == EARL_E_ARG && earl_ireceive(&own, NULL, 0) == EARL_E_ARG);
    MUST(earl_probe(&own, 1, &envelope) == EARL_E_ARG && earl_await(1, &own, -1, &envelope) == EARL_E_ARG);
    MUST(earl_claim(&good, 0, &envelope) == 0 && earl_claimed(0, NULL, 0) == EARL_E_REQUEST);
}

static void nothing(const struct earl_envelope *envelope, void *argument)
{
    (void)envelope, (void)argument;
}

/* The number of a request that is over is no other's. */
static void old_requests(void)
{
    const struct earl_wanted wanted = wants(1, self, 1);
    const earl_request old = earl_ireceive(&wanted, NULL, 0);
    MUST(earl_cancel(old) == 1);
    const earl_request other = earl_ireceive(&wanted, NULL, 0);
    MUST(other > 0 && other != old && earl_cancel(old) == EARL_E_REQUEST &&
         earl_test(old, NULL) == EARL_E_REQUEST);
    MUST(earl_cancel(other) == 1);
}

static void requests_and_groups(void)
{
    old_requests();
    earl_request several[] = {0, 12345};
    int done[2];
    MUST(earl_test(0, NULL) == EARL_E_REQUEST && earl_wait(-5, NULL) == EARL_E_REQUEST);
    MUST(earl_test(0x7fffffff, NULL) == EARL_E_REQUEST && earl_cancel(99) == EARL_E_REQUEST);
    MUST(earl_waitsome(2, several, 1, done, NULL) == EARL_E_REQUEST && several[1] == 12345);
    MUST(earl_waitsome(-1, several, 1, done, NULL) == EARL_E_ARG &&
         earl_waitsome(1, NULL, 1, done, NULL) == EARL_E_ARG);
    MUST(earl_then(7, nothing, NULL) == EARL_E_REQUEST && earl_then(7, NULL, NULL) == EARL_E_ARG);
    MUST(earl_host(count) == EARL_E_PROCESS && earl_host(self) >= 0);
    MUST(earl_watch(count, 1, 1) == EARL_E_PROCESS && earl_watch(self, 1, 1) == EARL_E_ARG);
    const int one[] = {0}, bad[] = {0, 999};
    const struct earl_group empty = {0, one, 1}, none = {1, NULL, 1}, strange = {2, bad, 1},
                            own = {1, one, EARL_CONTEXTS};
    MUST(earl_barrier(&empty) == EARL_E_ARG && earl_barrier(&none) == EARL_E_ARG);
    MUST(earl_barrier(&strange) == EARL_E_PROCESS && earl_barrier(&own) == EARL_E_ARG);
    MUST(earl_broadcast(NULL, count, NULL, 0) == EARL_E_ARG &&
         earl_broadcast(NULL, 0, NULL, 3) == EARL_E_ARG);
    MUST(earl_reduce(NULL, NULL, 3, NULL, NULL) == EARL_E_ARG &&
         earl_collect(NULL, NULL, NULL, NULL) == EARL_E_ARG);
}

void errors(void)
{
    sends();
    receives();
    requests_and_groups();
    for (int code = EARL_OK; code >= EARL_E_RANGE; code--)
        MUST(earl_strerror(code)[0] != '\0' && strcmp(earl_strerror(code), "unknown code") != 0);
    MUST(strcmp(earl_strerror(-99), "unknown code") == 0);
    MUST(earl_barrier(NULL) == EARL_OK);
}
