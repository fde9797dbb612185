/* SPDX-License-Identifier: MIT */
/* count.c -- the example of a tool: at the end each process prints how often it has called each
 * operation and how long that took, how many messages and bytes it got, and how many messages from whom.
 *
 *   cc -shared -fPIC $(pkg-config --cflags bcr-earl) count.c -o count.so
 *   EARL_TOOLS=$PWD/count.so enl -n 4 ./program */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "earl_tool.h"

static const char *const names[EARL_TOOL_WHATS] = {
    "begin",   "end",       "send",     "sendm",       "isend",          "receive", "ireceive",
    "probe",   "claim",     "claimed",  "buffer_send", "buffer_receive", "pack",    "unpack",
    "test",    "wait",      "waitsome", "cancel",      "then",           "mask",    "pause",
    "barrier", "broadcast", "reduce",   "collect",     "watch",          "match",
};

struct counts {
    int process;
    unsigned long called[EARL_TOOL_WHATS];
    unsigned long long spent[EARL_TOOL_WHATS], begun;
    unsigned long long bytes;
    /* Messages of each process below `known`, which grows, as processes may come and go; and of others, in a
     * signal handler, where there is no memory to be had. */
    unsigned long *from, strange;
    int known;
};

static void must_know(struct counts *counts, int peer)
{
    if (peer < counts->known)
        return;
    const int known = 2 * peer + 16;
    counts->from = realloc(counts->from, (size_t)known * sizeof *counts->from);
    if (counts->from == NULL)
        abort();
    memset(counts->from + counts->known, 0, (size_t)(known - counts->known) * sizeof *counts->from);
    counts->known = known;
}

static void *begin(int process, int processes)
{
    struct counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL)
        abort();
    counts->process = process;
    must_know(counts, processes);
    return counts;
}

static void event(void *self, const struct earl_tool_event *event)
{
    struct counts *counts = self;
    if (event->what == EARL_TOOL_MATCH) {
        counts->called[EARL_TOOL_MATCH]++;
        counts->bytes += (unsigned long long)event->length;
        if (!event->in_signal)
            must_know(counts, event->peer);
        if (event->peer < counts->known)
            counts->from[event->peer]++;
        else
            counts->strange++;
    } else if (!event->is_after) {
        counts->called[event->what]++;
        counts->begun = event->nsec;
    } else if (event->what != EARL_TOOL_BEGIN) {
        counts->spent[event->what] += event->nsec - counts->begun;
    }
}

/* One write, so that lines of several processes do not mix. */
static void end(void *self)
{
    struct counts *counts = self;
    char *text = NULL;
    size_t length = 0;
    FILE *line = open_memstream(&text, &length);
    if (line == NULL)
        abort();
    fprintf(line, "count: process %d:", counts->process);
    for (int i = EARL_TOOL_SEND; i < EARL_TOOL_MATCH; i++)
        if (counts->called[i] != 0)
            fprintf(line, " %s %lu (%.3f ms)", names[i], counts->called[i], (double)counts->spent[i] / 1e6);
    fprintf(line, "; %lu messages came, of %llu bytes", counts->called[EARL_TOOL_MATCH], counts->bytes);
    const char *between = ":";
    for (int i = 0; i < counts->known; i++)
        if (counts->from[i] != 0) {
            fprintf(line, "%s %lu from %d", between, counts->from[i], i);
            between = ",";
        }
    if (counts->strange != 0)
        fprintf(line, "%s %lu from others", between, counts->strange);
    fprintf(line, "\n");
    if (fclose(line) == 0)
        fputs(text, stderr);
    free(text);
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
