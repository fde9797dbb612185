/* SPDX-License-Identifier: MIT */
/* receive.c -- receives and probes: of what has come, else of what comes. */
#include <time.h>

#include "engine.h"

static int check(struct earl *earl, const struct earl_wanted *wanted, const void *buffer, size_t room)
{
    if (wanted == NULL || wanted->tag < EARL_ANY || (buffer == NULL && room != 0))
        return EARL_E_ARG;
    return wanted->source == EARL_ANY || earl_is_process(earl, wanted->source) ? EARL_OK : EARL_E_PROCESS;
}

static struct earl_incoming *find(struct earl *earl, const struct earl_wanted *wanted)
{
    if (earl->chooses && wanted->source == EARL_ANY)
        return earl_tools_choose(earl, wanted);
    return (struct earl_incoming *)earl_match_find(&earl->match, wanted);
}

static void take(struct earl *earl, struct earl_incoming *incoming, struct earl_open *receive)
{
    earl_match_drop(&earl->match, &incoming->message);
    earl_incoming_receive(earl, incoming, receive);
}

/* Finds a message, waiting for it if that is wanted. NULL: there is none, or *code tells of a failure. */
static struct earl_incoming *look_for(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                                      int *code)
{
    struct earl_incoming *incoming = find(earl, wanted);
    *code = incoming == NULL ? earl_look(earl) : 0;
    while (incoming == NULL && *code >= 0) {
        incoming = find(earl, wanted);
        if (incoming != NULL || !waits)
            break;
        *code = earl_wait_step(earl, NULL, "probe", wanted->source, wanted->tag);
    }
    return incoming;
}

int earl_do_receive(struct earl *earl, const struct earl_wanted *wanted, void *buffer, size_t room,
                    struct earl_envelope *envelope)
{
    int code = check(earl, wanted, buffer, room);
    if (code != EARL_OK)
        return code;
    struct earl_open receive = {.kind = EARL_OPEN_RECEIVE, .buffer = buffer, .room = room};
    receive.receive.wanted = *wanted;
    struct earl_incoming *incoming = earl_match_kept(&earl->match) == 0 ? NULL : find(earl, wanted);
    if (incoming != NULL)
        take(earl, incoming, &receive);
    if (incoming == NULL && earl->chooses && wanted->source == EARL_ANY) {
        incoming = look_for(earl, wanted, true, &code);
        if (incoming != NULL)
            take(earl, incoming, &receive);
    }
    while (!receive.is_done && code >= 0)
        code = earl_wait_step(earl, &receive, "receive", wanted->source, wanted->tag);
    if (!receive.is_done) {
        /* The target has failed: what is still to come of the message must not come to this stack. */
        if (receive.claimed != NULL)
            earl_fail("receive", "%s", earl_strerror(code));
        return code;
    }
    if (envelope != NULL)
        *envelope = receive.envelope;
    return receive.envelope.code;
}

earl_request earl_do_ireceive(struct earl *earl, const struct earl_wanted *wanted, void *buffer, size_t room)
{
    const int code = check(earl, wanted, buffer, room);
    if (code != EARL_OK)
        return code;
    struct earl_open *receive = earl_open_new(earl, EARL_OPEN_RECEIVE);
    if (receive == NULL)
        return EARL_E_MEMORY;
    receive->buffer = buffer;
    receive->room = room;
    receive->receive.wanted = *wanted;
    struct earl_incoming *incoming = find(earl, wanted);
    if (incoming != NULL) {
        take(earl, incoming, receive);
    } else if (!earl_match_post(&earl->match, &receive->receive)) {
        earl_open_free(earl, receive);
        return EARL_E_MEMORY;
    }
    return receive->request;
}

int earl_do_probe(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                  struct earl_envelope *envelope)
{
    int code = envelope == NULL ? EARL_E_ARG : check(earl, wanted, NULL, 0);
    if (code != EARL_OK)
        return code;
    const struct earl_incoming *incoming = look_for(earl, wanted, waits, &code);
    if (incoming == NULL)
        return code < 0 ? code : 0;
    *envelope = incoming->message.envelope;
    return 1;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Milliseconds until then, rounded up: no wait is too short. */
static int64_t msec_until(int64_t end_ns)
{
    const int64_t left_ns = end_ns - now_ns();
    return left_ns <= 0 ? 0 : (left_ns + 999999) / 1000000;
}

/* The place, from 1 on, of the first wanted that has a message; 0: none has. */
static int find_one(struct earl *earl, int count, const struct earl_wanted *wanted,
                    struct earl_envelope *envelope)
{
    for (int i = 0; i < count; i++) {
        const struct earl_incoming *incoming = find(earl, &wanted[i]);
        if (incoming != NULL) {
            *envelope = incoming->message.envelope;
            return i + 1;
        }
    }
    return 0;
}

int earl_do_await(struct earl *earl, int count, const struct earl_wanted *wanted, int msec,
                  struct earl_envelope *envelope)
{
    int code = envelope == NULL || wanted == NULL || count < 1 ? EARL_E_ARG : EARL_OK;
    for (int i = 0; i < count && code == EARL_OK; i++)
        code = check(earl, &wanted[i], NULL, 0);
    if (code != EARL_OK)
        return code;
    const struct earl_wanted none = {0, EARL_ANY, EARL_ANY, NULL, NULL};
    const struct earl_wanted *shown = count == 1 ? wanted : &none;
    const int64_t end_ns = msec > 0 ? now_ns() + msec * INT64_C(1000000) : 0;
    int found = find_one(earl, count, wanted, envelope);
    if (found == 0)
        code = earl_look(earl);
    while (found == 0 && code >= 0 && (found = find_one(earl, count, wanted, envelope)) == 0) {
        const int64_t left = msec > 0 ? msec_until(end_ns) : 0;
        if (msec >= 0 && left <= 0)
            break;
        code = earl_wait_within(earl, NULL, "probe", shown->source, shown->tag,
                                msec < 0 ? EARL_TAKE_WAITS : (int)left);
    }
    return code < 0 ? code : found;
}

/* As look_for, and out of the tables, which it does not go through if it comes as a whole while it is waited for. */
static struct earl_incoming *take_one(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                                      int *code)
{
    const bool is_asked = wanted->accepts != NULL || (earl->chooses && wanted->source == EARL_ANY);
    struct earl_incoming *incoming = is_asked ? look_for(earl, wanted, waits, code) : find(earl, wanted);
    if (incoming == NULL && !is_asked) {
        earl->taker = wanted;
        *code = earl_look(earl);
        /* What has come while a routine ran is in the tables. */
        while (earl->taken == NULL && *code >= 0 && (incoming = find(earl, wanted)) == NULL && waits)
            *code = earl_wait_step(earl, NULL, "probe", wanted->source, wanted->tag);
        struct earl_incoming *taken = earl->taken;
        earl->taker = NULL;
        earl->taken = NULL;
        if (taken != NULL)
            return taken;
    }
    if (incoming != NULL)
        earl_match_drop(&earl->match, &incoming->message);
    return incoming;
}

int earl_do_take(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                 struct earl_incoming **incoming)
{
    int code = check(earl, wanted, NULL, 0);
    if (code != EARL_OK)
        return code;
    *incoming = take_one(earl, wanted, waits, &code);
    if (*incoming == NULL)
        return code < 0 ? code : 0;
    if (!(*incoming)->is_complete)
        earl_incoming_copy(earl, *incoming);
    earl_incoming_accept(earl, *incoming);
    while (!(*incoming)->is_complete &&
           (code = earl_wait_step(earl, NULL, "receive", (*incoming)->message.envelope.source,
                                  (*incoming)->message.envelope.tag)) >= 0)
        ;
    if (!(*incoming)->is_complete)
        earl_fail("receive", "%s", earl_strerror(code)); /* nobody would free it */
    code = (*incoming)->message.envelope.code;
    if (code == EARL_OK)
        return 1;
    earl_incoming_free(earl, *incoming);
    return code;
}

earl_request earl_do_claim(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                           struct earl_envelope *envelope)
{
    int code = envelope == NULL ? EARL_E_ARG : check(earl, wanted, NULL, 0);
    if (code != EARL_OK)
        return code;
    struct earl_incoming *incoming = look_for(earl, wanted, waits, &code);
    if (incoming == NULL)
        return code < 0 ? code : 0;
    struct earl_open *claim = earl_open_new(earl, EARL_OPEN_CLAIM);
    if (claim == NULL)
        return EARL_E_MEMORY;
    earl_match_drop(&earl->match, &incoming->message);
    earl_incoming_tell(earl, incoming);
    claim->claimed = incoming;
    *envelope = incoming->message.envelope;
    return claim->request;
}

int earl_do_claimed(struct earl *earl, earl_request request, void *buffer, size_t room)
{
    struct earl_open *claim = earl_open_of(earl, request);
    if (claim == NULL || claim->kind != EARL_OPEN_CLAIM)
        return EARL_E_REQUEST;
    if (buffer == NULL && room != 0)
        return EARL_E_ARG;
    struct earl_incoming *incoming = claim->claimed;
    const int source = incoming->message.envelope.source;
    struct earl_open receive = {.kind = EARL_OPEN_RECEIVE, .buffer = buffer, .room = room};
    int code = EARL_OK;
    earl_open_free(earl, claim);
    earl_incoming_receive(earl, incoming, &receive);
    while (!receive.is_done && code >= 0)
        code = earl_wait_step(earl, NULL, "receive", source, EARL_ANY);
    if (!receive.is_done)
        earl_fail("receive", "%s", earl_strerror(code));
    return buffer == NULL ? EARL_OK : receive.envelope.code;
}
