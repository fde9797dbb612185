/* SPDX-License-Identifier: MIT */
/* events.c -- what the links tell the agent: each event goes from here to whom it is for. A message for an order of this
 * host's CCEs, which comes in a stream of answers, goes to answers_in.c; any other is an order of a CCE elsewhere, and
 * goes to orders_in.c. What was sent is over for an order (answer.c), or for what was served (waits.c). */
#include "links/agent/ask.h"
#include "links/agent/incoming.h"
#include "links/agent/serve.h"

static bool accept_stream(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return (source & ~BCRI_ANSWERS) < BCRI_CCE_MAX && (target < BCRI_CCE_MAX || target == BCRI_DATA_TARGET);
}

static bool is_answer(uint32_t source)
{
    return (source & BCRI_ANSWERS) != 0;
}

/* What comes while the agent has rested comes before it runs again: what is counted from that moment must not be
 * counted from its last run. */
static void look_at_clock(const struct peer *peer)
{
    if (peer->link != NULL && bcri_link_now(peer->link) > peer->agent->now)
        peer->agent->now = bcri_link_now(peer->link);
}

static enum bcri_link_verdict message_begins(void *owner, struct bcri_link_message *message)
{
    struct peer *peer = owner;
    struct bcri_message read;
    look_at_clock(peer);
    peer->agent->messages++;
    if (!bcri_message_read(message->header, message->header_bytes, message->body_bytes, &read)) {
        bcri_agent_note(peer->agent, peer->host, "it has sent a message that makes no sense");
        return BCRI_LINK_REFUSE;
    }
    if (is_answer(message->source) !=
            (read.kind == BCRI_MESSAGE_ANSWER || read.kind == BCRI_MESSAGE_FORGET) ||
        (message->target == BCRI_DATA_TARGET) != (read.kind == BCRI_MESSAGE_DATA))
        return BCRI_LINK_REFUSE;
    if (read.kind == BCRI_MESSAGE_FORGET) { /* needs no memory, so it is done at once */
        bcri_payload_over(peer, read.request);
        return BCRI_LINK_TAKE;
    }
    return is_answer(message->source) ? bcri_answers_in_begin(peer, message, &read)
                                      : bcri_orders_in_begin(peer, message, &read);
}

/* Without a cookie there is nothing to do any more. */
static void message_arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    look_at_clock(owner);
    if (cookie != NULL && is_answer(source))
        bcri_answers_in_arrived(owner, cookie);
    else if (cookie != NULL)
        bcri_orders_in_arrived(owner, source, target, cookie);
}

static void message_dropped(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    if (cookie != NULL && is_answer(source))
        bcri_answers_in_dropped(owner, cookie);
    else if (cookie != NULL)
        bcri_orders_in_dropped(owner, source, target, cookie);
}

static void message_completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                              enum bcri_link_outcome outcome)
{
    (void)source, (void)target;
    look_at_clock(owner);
    if (((uintptr_t)cookie & 1) != 0)
        bcri_served_completed((void *)((char *)cookie - 1), outcome);
    else if (cookie != NULL)
        bcri_ask_completed(cookie, outcome);
}

const struct bcri_link_events bcri_agent_link_events = {.accept = accept_stream,
                                                        .begin = message_begins,
                                                        .arrived = message_arrived,
                                                        .dropped = message_dropped,
                                                        .completed = message_completed};
