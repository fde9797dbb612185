/* SPDX-License-Identifier: MIT */
/* Agents, and the network between them: orders for cells of other hosts, and their answers. */
#include "deadlock_model.h"

#include <string.h>

static void send_message(struct agent *agent, struct message message)
{
    agent->messages++;
    agent->unacked++;
    push(&model.wire[message.from][message.to], message);
}

static void perform(struct agent *agent, struct message message)
{
    struct cell *cell = &model.cell[message.cell];
    agent->messages++;
    if (message.kind == M_ANSWER) {
        model.cce[message.requester].got = true;
        agent->ring = message.requester;
        agent->pc = A_RING;
    } else if (message.kind == M_PUT) {
        agent->ring = put_here(message.cell);
        if (agent->ring != NOBODY)
            agent->pc = A_RING;
    } else if (cell->regions != 0) {
        cell->regions--;
        send_message(agent, (struct message){M_ANSWER, 0, message.requester, message.to, message.from});
    } else {
        const bool timed = message.kind == M_TIMED_GET;
        cell->waiter[cell->waiter_count++] = (struct waiter){message.requester, true, timed};
        agent->deadlines += timed;
    }
}

/* A get that waits here for one elsewhere has no more time. */
static bool time_out(struct agent *agent, int host)
{
    for (int c = 0; c < CELLS && agent->deadlines != 0; c++)
        for (unsigned i = 0; model.cce[c].host == host && i < model.cell[c].waiter_count; i++)
            if (model.cell[c].waiter[i].timed) {
                const int requester = model.cell[c].waiter[i].cce;
                memmove(&model.cell[c].waiter[i], &model.cell[c].waiter[i + 1],
                        (--model.cell[c].waiter_count - i) * sizeof model.cell[c].waiter[0]);
                agent->deadlines--;
                send_message(agent,
                             (struct message){M_ANSWER, 0, requester, host, model.cce[requester].host});
                return true;
            }
    return false;
}

void step_agent(int host)
{
    struct agent *agent = &model.agent[host];
    switch (agent->pc) {
    case A_ASLEEP:
        if (agent->bell != agent->bell_seen || agent->inbox.count != 0 || agent->question != 0 ||
            (agent->deadlines != 0 && draw(8) == 0 && time_out(agent, host)))
            agent->pc = A_BEGIN;
        return;
    case A_BEGIN:
        agent->bell_seen = agent->bell;
        agent->pc = A_TAKE;
        return;
    case A_TAKE:
        if (agent->outbox.count != 0)
            send_message(agent, pop(&agent->outbox));
        else if (agent->served.count != 0)
            send_message(agent, pop(&agent->served));
        else if (agent->inbox.count != 0)
            perform(agent, pop(&agent->inbox));
        else
            agent->pc = A_ANSWER;
        return;
    case A_RING:
        ring(agent->ring, host);
        agent->pc = A_TAKE;
        return;
    case A_ANSWER:
        if (agent->question != 0)
            tell_daemon(host, (struct news){.kind = N_ANSWER,
                                            .number = agent->question,
                                            .quiet = agent->unacked == 0 && agent->inbox.count == 0 &&
                                                     agent->deadlines == 0 && agent->bell == agent->bell_seen,
                                            .messages = agent->messages});
        agent->question = 0;
        agent->pc = A_ASLEEP;
        return;
    }
}

void step_network(void)
{
    const int from = (int)draw((unsigned)model.hosts), to = (int)draw((unsigned)model.hosts);
    if (model.wire[from][to].count != 0) {
        push(&model.agent[to].inbox, pop(&model.wire[from][to]));
        model.acks[from]++;
    }
    if (model.acks[to] != 0 && draw(2) == 0) {
        model.acks[to]--;
        model.agent[to].unacked--;
    }
}
