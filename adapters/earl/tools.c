/* SPDX-License-Identifier: MIT */
/* tools.c -- loads tools, and tells them what happens. Nothing of this runs in a process without tools, but a look at a pointer. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "earl_tool.h"
#include "engine.h"

struct loaded {
    const struct earl_tool *tool;
    void *self;
};

struct earl_tools {
    int count;
    struct loaded loaded[];
};

static void load_one(struct loaded *loaded, const char *path)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        earl_fail("begin", "a tool of EARL_TOOLS cannot be loaded: %s", dlerror());
    const struct earl_tool *tool = dlsym(object, "earl_tool");
    if (tool == NULL)
        earl_fail("begin", "%s, a tool of EARL_TOOLS, does not define earl_tool", path);
    else if (tool->size != sizeof *tool || tool->name == NULL)
        earl_fail("begin", "%s, a tool of EARL_TOOLS, is of another version of earl_tool.h", path);
    loaded->tool = tool;
}

void earl_tools_load(struct earl *earl)
{
    const char *paths = getenv("EARL_TOOLS");
    if (paths == NULL || *paths == '\0')
        return;
    int most = 1;
    for (const char *at = paths; *at != '\0'; at++)
        most += *at == ':';
    earl->tools = calloc(1, sizeof *earl->tools + (size_t)most * sizeof *earl->tools->loaded);
    char *copy = strdup(paths), *rest = copy;
    if (earl->tools == NULL || copy == NULL)
        earl_fail("begin", "no memory for the tools of EARL_TOOLS");
    for (char *path; (path = strsep(&rest, ":")) != NULL;)
        if (*path != '\0')
            load_one(&earl->tools->loaded[earl->tools->count++], path);
    free(copy);
}

void earl_tools_begin(struct earl *earl)
{
    struct earl_tool_event event = {
        .what = EARL_TOOL_BEGIN, .is_after = 1, .peer = EARL_ANY, .tag = EARL_ANY};
    if (earl->tools == NULL)
        return;
    for (int i = 0; i < earl->tools->count; i++) {
        struct loaded *loaded = &earl->tools->loaded[i];
        if (loaded->tool->begin != NULL)
            loaded->self = loaded->tool->begin(earl->process, earl->count);
        earl->chooses = earl->chooses || loaded->tool->choose != NULL;
    }
    earl_tools_after(earl, &event, EARL_OK);
}

static void tell(struct earl *earl, struct earl_tool_event *event)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->size = sizeof *event;
    event->process = earl->process;
    event->in_signal = earl->in_signal;
    event->nsec = (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
    for (int i = 0; i < earl->tools->count; i++)
        if (earl->tools->loaded[i].tool->event != NULL)
            earl->tools->loaded[i].tool->event(earl->tools->loaded[i].self, event);
}

void earl_tools_before(struct earl *earl, struct earl_tool_event *event)
{
    const bool sends = event->what == EARL_TOOL_SEND || event->what == EARL_TOOL_ISEND;
    if (sends && earl_is_process(earl, event->peer))
        event->number = earl_peer(earl, event->peer)->sends + 1;
    event->is_after = 0;
    tell(earl, event);
}

void earl_tools_after(struct earl *earl, struct earl_tool_event *event, int result)
{
    event->is_after = 1;
    event->result = result;
    tell(earl, event);
}

void earl_tools_match(struct earl *earl, const struct earl_envelope *envelope, long long number,
                      bool is_synchronous)
{
    struct earl_tool_event event = {.what = EARL_TOOL_MATCH,
                                    .is_after = 1,
                                    .is_synchronous = is_synchronous,
                                    .peer = envelope->source,
                                    .context = envelope->context,
                                    .tag = envelope->tag,
                                    .length = envelope->length,
                                    .number = number};
    tell(earl, &event);
}

struct candidate {
    struct earl_message *message;
};

/* The oldest message of each source that fits: what a receive from any source may have. */
struct earl_incoming *earl_tools_choose(struct earl *earl, const struct earl_wanted *wanted)
{
    struct earl_message *message = earl_match_find(&earl->match, wanted);
    int count = 0, chosen = 0;
    const int most = (int)earl->peer_room; /* sources */
    const size_t room = (size_t)most * (sizeof(struct candidate) + sizeof(struct earl_envelope));
    if (message == NULL)
        return NULL;
    struct earl_envelope *candidates = earl_pages(room);
    if (candidates == NULL)
        return (struct earl_incoming *)message;
    struct candidate *messages = (struct candidate *)(void *)(candidates + most);
    for (; message != NULL && count < most; message = earl_match_next(&earl->match, wanted, message)) {
        int same = 0;
        while (same < count && candidates[same].source != message->envelope.source)
            same++;
        if (same < count)
            continue;
        candidates[count] = message->envelope;
        messages[count++].message = message;
    }
    for (int i = 0; i < earl->tools->count; i++)
        if (earl->tools->loaded[i].tool->choose != NULL) {
            chosen = earl->tools->loaded[i].tool->choose(earl->tools->loaded[i].self, candidates, count);
            if (chosen < EARL_TOOL_LATER || chosen >= count)
                earl_fail("receive", "the tool %s chooses %d of %d messages",
                          earl->tools->loaded[i].tool->name, chosen, count);
            break;
        }
    message = chosen == EARL_TOOL_LATER ? NULL : messages[chosen].message;
    earl_pages_free(candidates, room);
    return (struct earl_incoming *)message;
}

void earl_tools_end(struct earl *earl)
{
    struct earl_tool_event event = {.what = EARL_TOOL_END, .peer = EARL_ANY, .tag = EARL_ANY};
    if (earl->tools == NULL)
        return;
    earl_tools_before(earl, &event);
    for (int i = 0; i < earl->tools->count; i++)
        if (earl->tools->loaded[i].tool->end != NULL)
            earl->tools->loaded[i].tool->end(earl->tools->loaded[i].self);
    free(earl->tools); /* the objects stay loaded: exit handlers may be theirs */
    earl->tools = NULL;
    earl->chooses = false;
}
