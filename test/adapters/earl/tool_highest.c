/* SPDX-License-Identifier: MIT */
/* tool_highest.c -- a tool that chooses the message of the highest source, once one of each other process has come, and checks that
 * events are what they should be. */
#include <stdio.h>
#include <stdlib.h>

#include "earl_tool.h"

enum { PROCESSES = 64, NUMBERS = 512 };

struct state {
    int process, processes, depth;
    char matched[PROCESSES][NUMBERS]; /* which of the messages of each process */
    long long sent[PROCESSES];
};

static void fail(const char *what)
{
    fprintf(stderr, "tool_highest: %s\n", what);
    exit(4);
}

static void *begin(int process, int processes)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL || processes > PROCESSES)
        abort();
    state->process = process;
    state->processes = processes;
    return state;
}

static void event(void *self, const struct earl_tool_event *event)
{
    struct state *state = self;
    if (event->size != sizeof *event || event->process != state->process || event->nsec == 0)
        fail("an event is malformed");
    if (event->what == EARL_TOOL_BEGIN || event->what == EARL_TOOL_END)
        return;
    if (event->what == EARL_TOOL_MATCH) {
        if (event->number < 1 || event->number >= NUMBERS || state->matched[event->peer][event->number]++)
            fail("a match's number");
        return;
    }
    if (event->site == NULL)
        fail("no call site");
    state->depth += event->is_after ? -1 : 1;
    if (state->depth != !event->is_after)
        fail("an operation within another");
    if (event->what == EARL_TOOL_SEND && !event->is_after && event->number != ++state->sent[event->peer])
        fail("a send's number");
}

static int choose(void *self, const struct earl_envelope *candidates, int count)
{
    const struct state *state = self;
    int highest = 0;
    if (candidates[0].context != 8)
        return 0;
    /* As many as are still to come, from the highest on. */
    int left = 0;
    for (int i = 0; i < state->processes; i++)
        left += i != state->process && !state->matched[i][1];
    if (count < left)
        return EARL_TOOL_LATER;
    for (int i = 0; i < count; i++)
        if (candidates[i].source > candidates[highest].source)
            highest = i;
    return highest;
}

static void end(void *self)
{
    const struct state *state = self;
    if (state->depth != 0)
        fail("an operation has not ended");
    fprintf(stderr, "tool_highest: process %d is well\n", state->process);
    free(self);
}

const struct earl_tool earl_tool = {
    .size = sizeof(struct earl_tool),
    .name = "highest",
    .begin = begin,
    .event = event,
    .choose = choose,
    .end = end,
};
