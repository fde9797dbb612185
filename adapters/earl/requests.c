/* SPDX-License-Identifier: MIT */
/* requests.c -- open operations and their numbers: index and generation, so that an old number is known for what it is.
 *
 *    31 30            24 23                      0
 *   | 0| generation 1-127 | index                  | */
#include "engine.h"

enum { INDEX_BITS = 24, INDEXES = 1 << INDEX_BITS, GENERATIONS = 127, FIRST_SLOTS = 256 };

struct earl_slot {
    struct earl_open *open; /* NULL: free */
    uint32_t next_free;
    uint32_t generation; /* from 1 on */
};
static const uint32_t NONE = UINT32_MAX;

static bool grow(struct earl *earl)
{
    const uint32_t room = earl->slot_room == 0 ? FIRST_SLOTS : 2 * earl->slot_room;
    if (room > INDEXES)
        return false;
    struct earl_slot *slots = earl_pages(room * sizeof *slots);
    if (slots == NULL)
        return false;
    if (earl->slot_room != 0)
        memcpy(slots, earl->slots, earl->slot_room * sizeof *slots);
    else
        earl->slot_free = NONE;
    for (uint32_t i = room; i-- > earl->slot_room;) {
        slots[i] = (struct earl_slot){NULL, earl->slot_free, 1};
        earl->slot_free = i;
    }
    earl_pages_free(earl->slots, earl->slot_room * sizeof *slots);
    earl->slots = slots;
    earl->slot_room = room;
    return true;
}

struct earl_open *earl_open_new(struct earl *earl, enum earl_open_kind kind)
{
    if ((earl->slot_room == 0 || earl->slot_free == NONE) && !grow(earl))
        return NULL;
    struct earl_open *open = earl_pool_take(&earl->opens);
    if (open == NULL)
        return NULL;
    const uint32_t index = earl->slot_free;
    struct earl_slot *slot = &earl->slots[index];
    earl->slot_free = slot->next_free;
    slot->open = open;
    *open =
        (struct earl_open){.kind = kind, .request = (earl_request)(slot->generation << INDEX_BITS | index)};
    return open;
}

static struct earl_slot *slot_of(const struct earl *earl, earl_request request)
{
    const uint32_t index = (uint32_t)request & (INDEXES - 1);
    if (request <= 0 || index >= earl->slot_room)
        return NULL;
    struct earl_slot *slot = &earl->slots[index];
    return slot->open != NULL && slot->open->request == request ? slot : NULL;
}

struct earl_open *earl_open_of(struct earl *earl, earl_request request)
{
    struct earl_slot *slot = slot_of(earl, request);
    return slot == NULL ? NULL : slot->open;
}

void earl_open_free(struct earl *earl, struct earl_open *open)
{
    struct earl_slot *slot = slot_of(earl, open->request);
    slot->open = NULL;
    slot->generation = slot->generation % GENERATIONS + 1;
    slot->next_free = earl->slot_free;
    earl->slot_free = (uint32_t)(slot - earl->slots);
    earl_pool_give(&earl->opens, open);
}

void earl_open_done(struct earl *earl, struct earl_open *open)
{
    open->is_done = true;
    if (open->is_abandoned) {
        earl_open_free(earl, open);
    } else if (open->then != NULL) {
        open->next_due = NULL;
        *earl->last_due = open;
        earl->last_due = &open->next_due;
    }
}

void earl_send_ended(struct earl *earl, int process)
{
    for (uint32_t i = 0; i < earl->slot_room; i++) {
        struct earl_open *open = earl->slots[i].open;
        /* One that is queued ends when its turn comes. */
        if (open == NULL || open->kind != EARL_OPEN_SEND || open->process != process || open->is_done ||
            open->is_queued)
            continue;
        earl_send_finish(earl, open, EARL_E_ENDED);
    }
}

void earl_send_abandoned(struct earl *earl)
{
    for (uint32_t i = 0; i < earl->slot_room; i++) {
        struct earl_open *open = earl->slots[i].open;
        if (open != NULL && open->is_abandoned && open->sent < open->length)
            (void)earl_outgoing_queue(earl, open);
    }
}

/* ---- what users ask ---- */

/* Those of earl_then and claims are nobody's to wait for. */
static struct earl_open *of_user(struct earl *earl, earl_request request)
{
    struct earl_open *open = earl_open_of(earl, request);
    return open == NULL || open->kind == EARL_OPEN_CLAIM || open->then != NULL || open->is_abandoned ? NULL
                                                                                                     : open;
}

int earl_do_test(struct earl *earl, earl_request request, bool waits, struct earl_envelope *envelope)
{
    struct earl_open *open = of_user(earl, request);
    if (open == NULL)
        return EARL_E_REQUEST;
    int code = open->is_done ? 0 : earl_look(earl);
    while (waits && !open->is_done && code >= 0) {
        code = open->kind == EARL_OPEN_SEND
                   ? earl_wait_step(earl, NULL, "wait for a send", open->process, open->envelope.tag)
                   : earl_wait_step(earl, NULL, "wait for a receive", open->receive.wanted.source,
                                    open->receive.wanted.tag);
        open = of_user(earl, request);
        if (open == NULL) /* a routine that was called has waited for it, too */
            return EARL_E_REQUEST;
    }
    if (!open->is_done)
        return code < 0 ? code : 0;
    code = open->envelope.code;
    if (envelope != NULL)
        *envelope = open->envelope;
    earl_open_free(earl, open);
    return code != EARL_OK ? code : waits ? 0 : 1;
}

static int take_done(struct earl *earl, int count, earl_request *requests, int *done,
                     struct earl_envelope *envelopes)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        struct earl_open *open = requests[i] == 0 ? NULL : earl_open_of(earl, requests[i]);
        if (open == NULL || !open->is_done)
            continue;
        if (envelopes != NULL)
            envelopes[found] = open->envelope;
        done[found++] = i;
        requests[i] = 0;
        earl_open_free(earl, open);
    }
    return found;
}

/* Whether there are any requests among them, and no other numbers: 1, 0, or a code. */
static int check_all(struct earl *earl, int count, const earl_request *requests)
{
    int has_any = 0;
    for (int i = 0; i < count; i++) {
        if (requests[i] != 0 && of_user(earl, requests[i]) == NULL)
            return EARL_E_REQUEST;
        has_any = has_any || requests[i] != 0;
    }
    return has_any;
}

int earl_do_waitsome(struct earl *earl, int count, earl_request *requests, bool waits, int *done,
                     struct earl_envelope *envelopes)
{
    if (count < 0 || (count > 0 && (requests == NULL || done == NULL)))
        return EARL_E_ARG;
    int code = check_all(earl, count, requests);
    if (code <= 0)
        return code;
    int found = take_done(earl, count, requests, done, envelopes);
    code = found == 0 ? earl_look(earl) : 0;
    while (found == 0 && code >= 0) {
        found = take_done(earl, count, requests, done, envelopes);
        if (found != 0 || !waits)
            return found;
        const bool calls = earl_interrupts_due(earl);
        code = earl_wait_step(earl, NULL, "wait for one of several", EARL_ANY, EARL_ANY);
        if (calls && code >= 0) /* a routine that was called may have waited for one, too */
            code = check_all(earl, count, requests);
    }
    return found != 0 ? found : code;
}

int earl_do_cancel(struct earl *earl, earl_request request)
{
    struct earl_open *open = earl_open_of(earl, request);
    if (open == NULL || open->kind == EARL_OPEN_CLAIM || open->is_abandoned)
        return EARL_E_REQUEST;
    if (open->is_done || open->kind != EARL_OPEN_RECEIVE || !open->receive.is_posted)
        return 0;
    earl_match_unpost(&earl->match, &open->receive);
    earl_open_free(earl, open);
    return 1;
}

void earl_requests_end(struct earl *earl)
{
    for (uint32_t i = 0; i < earl->slot_room; i++) {
        const struct earl_open *open = earl->slots[i].open;
        if (open != NULL && open->kind == EARL_OPEN_CLAIM && open->claimed->is_complete)
            earl_incoming_free(earl, open->claimed); /* others are with those that come in parts */
    }
    earl_pages_free(earl->slots, earl->slot_room * sizeof *earl->slots);
    earl->slots = NULL;
    earl->slot_room = 0;
}
