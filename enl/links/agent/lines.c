/* SPDX-License-Identifier: MIT */
/* lines.c -- what CCEs of this host print, for cells of other hosts (bcr_start): puts by this host's daemon, in the stream from
 * the CCE that has printed to the owner of the cell.
 *
 * Each line is a put that waits for room without a time limit and is answered when it is done, as one under
 * bcr_putwait is. So the owner's host has as many of them as its cell has no room for, and no more than
 * BCRI_LINES_WINDOW of one stream; the daemon reads the stream's pipe again when the last is answered. All of them are in one
 * stream to one cell, so the cell gets them in order. One that fails (the cell is gone, its owner has ended, its host
 * is lost) ends the sending; which of the others failed too is told exactly, so that no byte is lost or doubled.
 *
 * When this host alone is to end (bcri_agent_lines_halt) nothing more is sent, and a line whose owner's host has said that it waits
 * for room there counts as put: that host has it whole, and puts it though this host is lost by then (serve.c). So what is sent
 * is told after one round trip, however full the cell is. */
#include "bcri/line.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

#include "links/agent/ask.h"

/* A requester of its own, as that of a notice is (notice.c), which stays until all is answered. */
struct batch {
    struct requester requester;
    struct bcri_lines *lines;
    uint32_t at;     /* the next byte */
    unsigned out;    /* lines that are sent and not answered */
    bool ended_sent; /* that without bytes which ends the stream */
    bool sending;
};

/* Of a host that is lost, orders fail in any order. */
static void leave(struct bcri_lines *lines, int code, uint32_t from, uint32_t to)
{
    uint32_t at = lines->left_count;
    if (lines->code == 0)
        lines->code = code;
    if (from == to)
        return;
    for (; at != 0 && lines->left[at - 1].from > from; at--)
        lines->left[at] = lines->left[at - 1];
    lines->left[at].from = from;
    lines->left[at].to = to;
    lines->left_count++;
}

static void line_over(const struct order *order)
{
    struct batch *batch = (struct batch *)order->requester;
    batch->out--;
    if (order->code != 0)
        leave(batch->lines, order->code, order->from, order->to);
    else if (order->from == atomic_load(&batch->lines->at))
        atomic_store(&batch->lines->at, order->to);
}

/* Returns 0 or a code: then nothing was sent. */
static int send_line(struct batch *batch, uint32_t length)
{
    const struct bcri_printed *printed = &batch->lines->printed;
    struct requester *requester = &batch->requester;
    struct bcri_slot_shm *region;
    struct stream_out *stream = bcri_stream_to(requester, printed->owner);
    struct order *order = stream != NULL ? bcri_order_new(requester, BCRI_ORDER_PUT, stream) : NULL;
    if (order == NULL)
        return bcrE_NOMEM;
    const int code = bcri_line_new(requester->agent->ctx, printed, batch->at, length, &region);
    if (code != 0) {
        order->answered = true;
        bcri_order_end_if_over(order);
        return code;
    }
    order->key = BCRI_ORDER_ANSWERED | UINT32_MAX; /* it waits for ever */
    order->cell = printed->cell;
    order->region = region;
    order->slot_ref = BCRI_REF_NONE;
    order->from = batch->at;
    order->to = batch->at + length;
    order->over = line_over;
    memcpy(order->owner, printed->owner, sizeof order->owner);
    list_append(&stream->puts, &order->in_queue);
    batch->at += length;
    batch->out++;
    bcri_order_send(order);
    return 0;
}

/* Sends as many as may be on their way; tells when all is over. */
static void go_on(struct batch *batch)
{
    struct bcri_lines *lines = batch->lines;
    const uint32_t length = lines->printed.length;
    bool more = true;
    batch->sending = true;
    if (batch->requester.agent->lines_halted && lines->code == 0)
        lines->code = bcrE_HOSTLOST;
    while (more && lines->code == 0 && batch->out < BCRI_LINES_WINDOW) {
        const uint32_t next = bcri_line_next(&lines->printed, batch->at);
        more = next != 0 || (length == 0 && !batch->ended_sent);
        if (!more)
            continue;
        batch->ended_sent = length == 0;
        const int code = send_line(batch, next);
        if (code != 0)
            lines->code = code;
    }
    batch->sending = false;
    if (batch->out != 0)
        return;
    if (lines->code != 0)
        leave(lines, lines->code, batch->at, length);
    struct bcri_agent *agent = batch->requester.agent;
    batch->requester.forgotten = true; /* nothing of it is used behind this */
    bcri_requester_free_if_over(&batch->requester);
    agent->events->printed(agent->owner, lines);
}

static void on_order_over(struct requester *requester)
{
    struct batch *batch = (struct batch *)requester;
    if (!batch->sending)
        go_on(batch);
}

/* It needs no answer any more, whatever its cell does. */
static bool waits_there(const struct order *order)
{
    return !order->answered && !order->done && !is_listed(&order->in_queue);
}

void bcri_ask_waits(struct order *order)
{
    list_remove(&order->in_queue);
    if (order->over == line_over && order->requester->agent->lines_halted)
        bcri_ask_answer(order, 0, 0, NULL);
}

static void halt_batch(struct batch *batch)
{
    struct order *order;
    batch->sending = true; /* so that it stays until all of its orders are looked at */
    EACH_OF (order, &batch->requester.orders, struct order, of_requester)
        if (waits_there(order))
            bcri_ask_answer(order, 0, 0, NULL);
    go_on(batch);
}

void bcri_agent_lines_halt(struct bcri_agent *agent)
{
    struct requester *requester;
    agent->lines_halted = true;
    EACH_OF (requester, &agent->ending, struct requester, of_agent)
        if (requester->go_on == on_order_over)
            halt_batch((struct batch *)requester);
}

bool bcri_agent_lines(struct bcri_agent *agent, struct bcri_lines *lines)
{
    struct batch *batch = calloc(1, sizeof *batch);
    if (batch == NULL)
        return false;
    batch->requester = (struct requester){.agent = agent,
                                          .index = lines->source,
                                          .sync_at = UINT64_MAX,
                                          .has_ended = true,
                                          .go_on = on_order_over};
    batch->lines = lines;
    lines->code = 0;
    lines->left_count = 0;
    list_append(&agent->ending, &batch->requester.of_agent);
    go_on(batch);
    return true;
}
