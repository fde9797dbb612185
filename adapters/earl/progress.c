/* SPDX-License-Identifier: MIT */
/* progress.c -- takes in what comes, and gives each packet to the part that it is for. */
#include <stdio.h>

#include <sched.h>

#include "engine.h"

static void tell_end(struct earl *earl, int process, struct earl_open *current)
{
    struct earl_peer *peer = earl_peer(earl, process);
    peer->has_ended = true;
    earl_send_ended(earl, process);
    earl_incoming_ended(earl, process);
    if (!peer->is_watched)
        return;
    peer->is_watched = false;
    const struct earl_envelope envelope = {peer->watch_context, process, peer->watch_tag, EARL_OK, 0};
    earl_incoming_whole(earl, &envelope, 0, NULL, NULL, current);
}

void earl_expect(struct earl *earl, int process)
{
    struct earl_peer *peer = earl_peer(earl, process);
    if (peer->is_awaited || peer->has_ended || process == earl->process)
        return;
    peer->is_awaited = true;
    (void)earl->target->watch(earl->self,
                              process); /* where it cannot, what is to come is waited for without end */
}

/* Returns whether the packet is kept. */
static bool read_packet(struct earl *earl, earl_packet packet, struct earl_open *current)
{
    const size_t length = earl->target->length(earl->self, packet);
    const unsigned char *bytes = *packet;
    if (length < EARL_HEAD)
        goto strange;
    const struct earl_head head = earl_head_read(bytes);
    const int source = (int)head.source;
    if (!earl_is_process(earl, source))
        goto strange;
    struct earl_envelope envelope = {head.context, source, (int)head.tag, EARL_OK, 0};
    switch (head.kind & EARL_KIND_MASK) {
    case EARL_WHOLE:
        envelope.length = (long long)(length - EARL_HEAD);
        return earl_incoming_whole(earl, &envelope, head.kind >> EARL_FORMAT_SHIFT, packet, bytes + EARL_HEAD,
                                   current);
    case EARL_FIRST:
        if (length < EARL_HEAD_FIRST)
            break;
        return earl_incoming_first(earl, &envelope, packet, bytes, length, current);
    case EARL_MORE:
        return earl_incoming_more(earl, source, head.tag, packet, bytes + EARL_HEAD, length - EARL_HEAD);
    case EARL_MATCHED: earl_send_matched(earl, source, head.tag, head.context); return false;
    default: break;
    }
strange:
    earl->strange++;
    return false;
}

void earl_dispatch(struct earl *earl, earl_packet packet, struct earl_open *current)
{
    const int ended = earl->target->ended(earl->self, packet);
    bool is_kept = false;
    if (ended < 0)
        is_kept = read_packet(earl, packet, current);
    else if (earl_is_process(earl, ended))
        tell_end(earl, ended, current);
    if (!is_kept)
        earl->target->release(earl->self, packet);
}

static int take_in(struct earl *earl, earl_packet packet, struct earl_open *current)
{
    earl->is_armed = false;
    earl_dispatch(earl, packet, current);
    return 1;
}

int earl_step(struct earl *earl, struct earl_open *current)
{
    int code;
    earl_packet packet = earl->target->take(earl->self, EARL_TAKE_NOW, &code);
    return packet == NULL ? code : take_in(earl, packet, current);
}

static void note(struct earl *earl, const char *what, int process, int tag)
{
    char text[96];
    const char *word = process == EARL_ANY ? "" : earl->process_word;
    int length =
        snprintf(text, sizeof text, "%s: %s", earl->name, earl->together != NULL ? earl->together : what);
    if (tag != EARL_ANY && earl->together == NULL && length < (int)sizeof text)
        length += snprintf(text + length, sizeof text - (size_t)length, ", %s %d", earl->tag_word, tag);
    if (process != EARL_ANY && length < (int)sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, ", %s %d", word, process);
    earl->target->note(earl->self, text, process);
}

/* Routines that are due may be what others wait for, before they send what this process waits for. While one runs, `current` is
 * posted: what comes meanwhile is for it rather than for receives of the routine. */
static int call_due(struct earl *earl, struct earl_open *current)
{
    const struct earl_wanted *const taker = earl->taker; /* its own takes are others */
    const bool is_open = current != NULL && !current->is_done && current->claimed == NULL;
    if (is_open && !earl_match_post(&earl->match, &current->receive))
        return EARL_E_MEMORY;
    earl->taker = NULL;
    earl_interrupts_serve(earl);
    earl->taker = taker;
    if (is_open && current->receive.is_posted)
        earl_match_unpost(&earl->match, &current->receive);
    return 0;
}

/* A wait that lasts longer than SOON_MSEC, which no person would notice, is shown. */
int earl_wait_within(struct earl *earl, struct earl_open *current, const char *what, int process, int tag,
                     int msec)
{
    enum { SOON_MSEC = 1 };
    const int soon = msec >= 0 && msec < SOON_MSEC ? msec : SOON_MSEC;
    int code;
    if (earl_interrupts_due(earl) && !earl->is_in_parts)
        return call_due(earl, current);
    if (earl->in_signal && earl_outgoing_go(earl)) {
        sched_yield(); /* nothing tells of room elsewhere and of packets here at once */
        return earl_step(earl, current);
    }
    earl_packet packet = earl->target->take(earl->self, soon, &code);
    if (packet == NULL && code == EARL_TAKE_LATE && msec != soon) {
        note(earl, what, process, tag);
        packet = earl->target->take(earl->self, msec < 0 ? EARL_TAKE_WAITS : msec - soon, &code);
        earl->target->note(earl->self, NULL, EARL_ANY);
    }
    if (packet != NULL)
        return take_in(earl, packet, current);
    return code == EARL_TAKE_LATE ? 0 : code;
}

int earl_wait_step(struct earl *earl, struct earl_open *current, const char *what, int process, int tag)
{
    return earl_wait_within(earl, current, what, process, tag, EARL_TAKE_WAITS);
}

/* Not more than LOOK_MOST, lest it never end. */
int earl_look(struct earl *earl)
{
    enum { LOOK_MOST = 1024 };
    int found = 0, code = 0;
    while (found < LOOK_MOST && (code = earl_step(earl, NULL)) > 0)
        found++;
    return code < 0 ? code : found;
}
