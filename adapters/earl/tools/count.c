/* SPDX-License-Identifier: MIT */
/* count.c -- the example of a tool: at the end each process prints how often it has called each operation, how many messages and
 * bytes it got, from whom most, and how long its calls took.
 *
 *   cc -shared -fPIC $(pkg-config --cflags bcr-earl) count.c -o count.so
 *   EARL_TOOLS=$PWD/count.so enl -n 4 ./program */
#include <stdio.h>
#include <stdlib.h>

#include "earl_tool.h"

static const char *const names[EARL_TOOL_WHATS] = {
    "begin",   "end",       "send",     "sendm",       "isend",          "receive", "ireceive",
    "probe",   "claim",     "claimed",  "buffer_send", "buffer_receive", "pack",    "unpack",
    "test",    "wait",      "waitsome", "cancel",      "then",           "mask",    "pause",
    "barrier", "broadcast", "reduce",   "collect",     "watch",          "match",
};

struct counts {
    int process, processes;
    unsigned long called[EARL_TOOL_WHATS];
    unsigned long long spent[EARL_TOOL_WHATS], begun;
    unsigned long long bytes;
    unsigned long *from;
};

static void *begin(int process, int processes)
{
    struct counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL || (counts->from = calloc((size_t)processes, sizeof *counts->from)) == NULL)
        abort();
    counts->process = process;
    counts->processes = processes;
    return counts;
}

static void event(void *self, const struct earl_tool_event *event)
{
    struct counts *counts = self;
    if (event->what == EARL_TOOL_MATCH) {
        counts->called[EARL_TOOL_MATCH]++;
        counts->bytes += (unsigned long long)event->length;
        counts->from[event->peer]++;
    } else if (!event->is_after) {
        counts->called[event->what]++;
        counts->begun = event->nsec;
    } else if (event->what != EARL_TOOL_BEGIN) {
        counts->spent[event->what] += event->nsec - counts->begun;
    }
}

static void end(void *self)
{
    struct counts *counts = self;
    int most = 0;
    char text[4096];
    int length = snprintf(text, sizeof text, "count: process %d:", counts->process);
    for (int i = EARL_TOOL_SEND; i < EARL_TOOL_MATCH; i++)
        if (counts->called[i] != 0 && length < (int)sizeof text)
            length += snprintf(text + length, sizeof text - (size_t)length, " %s %lu (%.3f ms)", names[i],
                               counts->called[i], (double)counts->spent[i] / 1e6);
    for (int i = 0; i < counts->processes; i++)
        if (counts->from[i] > counts->from[most])
            most = i;
    fprintf(stderr, "%s; %lu messages came, of %llu bytes, most from %d\n", text,
            counts->called[EARL_TOOL_MATCH], counts->bytes, most);
    free(counts->from);
    free(counts);
}

const struct earl_tool earl_tool = {
    .size = sizeof(struct earl_tool),
    .name = "count",
    .begin = begin,
    .event = event,
    .end = end,
};
