/* SPDX-License-Identifier: MIT */
/* handlers.c -- routines that are called with messages, in place of receives (pvm_addmhf).
 *
 * They are served within routines that send or receive. None is called while one runs, and handlers may be added and taken away
 * meanwhile: each round looks at the list anew. */
#include <stdlib.h>

#include "pvm_private.h"

struct handler {
    int id, source, tag, context;
    int (*routine)(int mid);
};

static struct handler *handlers;
static int count, room, next_id;
static bool is_running;

static struct earl_wanted wanted_of(const struct handler *handler, int context)
{
    return (struct earl_wanted){PVMI_CONTEXT + (unsigned)context,
                                handler->source == -1 ? EARL_ANY : pvmi_process_of(handler->source),
                                handler->tag, NULL, NULL};
}

/* In how many contexts it looks for messages, and in which. */
static int contexts_of(const struct handler *handler, const int **contexts_out)
{
    *contexts_out = handler->context == -1 ? pvmi_contexts : &handler->context;
    return handler->context == -1 ? pvmi_context_count : 1;
}

int pvmi_handlers(void)
{
    const int *contexts;
    int receives = pvmi_notices() + (pvmi_output_comes() ? 1 : 0);
    for (int i = 0; i < count && !is_running; i++)
        receives += contexts_of(&handlers[i], &contexts);
    return receives;
}

void pvmi_handlers_wanted(struct earl_wanted *wanted)
{
    const int *contexts;
    wanted = pvmi_output_wanted(pvmi_notices_wanted(wanted));
    for (int i = 0; i < count && !is_running; i++) {
        const int many = contexts_of(&handlers[i], &contexts);
        for (int k = 0; k < many; k++)
            *wanted++ = wanted_of(&handlers[i], contexts[k]);
    }
}

/* The active buffers are the handler's while it runs. */
static void call(int (*routine)(int mid), const struct pvmi_buffer *message)
{
    const int id = message->id, send = pvmi_send_buffer, receive = pvmi_receive_buffer;
    pvmi_send_buffer = 0;
    pvmi_receive_buffer = id;
    is_running = true;
    (void)routine(id);
    is_running = false;
    if (pvmi_buffer_of(id) == message)
        pvmi_buffer_free(pvmi_buffer_of(id));
    pvmi_send_buffer = pvmi_buffer_of(send) == NULL ? 0 : send;
    pvmi_receive_buffer = pvmi_buffer_of(receive) == NULL ? 0 : receive;
}

/* Gives a message to the first handler that has one. Returns whether there was one, or an error. */
static int serve_one(void)
{
    const int *contexts;
    earl_buffer *items;
    struct earl_envelope envelope;
    for (int i = 0; i < count; i++) {
        const int many = contexts_of(&handlers[i], &contexts);
        for (int k = 0; k < many; k++) {
            const struct earl_wanted wanted = wanted_of(&handlers[i], contexts[k]);
            const int code = earl_buffer_receive(&wanted, 0, &items, &envelope);
            if (code < 0 && code != EARL_E_ENDED)
                return pvmi_result(code);
            if (code <= 0)
                continue;
            struct pvmi_buffer *message = pvmi_message(items, &envelope);
            if (message == NULL)
                return PvmNoMem;
            call(handlers[i].routine, message);
            return 1;
        }
    }
    return 0;
}

int pvmi_handlers_serve(void)
{
    int code = pvmi_notices_serve();
    if (code == PvmOk)
        code = pvmi_output_serve();
    if (code == PvmOk && count != 0 && !is_running)
        while ((code = serve_one()) > 0)
            ;
    return code;
}

static int add(int source, int tag, int context, int (*routine)(int mid))
{
    enum { ROOM_FIRST = 8 };
    const int code = pvmi_need();
    if (code < 0)
        return code;
    if (routine == NULL || (source != -1 && pvmi_process_of(source) < 0) || tag < -1 || context < -1 ||
        context > PVMI_CONTEXT_MOST)
        return PvmBadParam;
    for (int i = 0; i < count; i++)
        if (handlers[i].source == source && handlers[i].tag == tag && handlers[i].context == context)
            return PvmExists;
    if (count == room) {
        const int wanted = room == 0 ? ROOM_FIRST : room * 2;
        void *grown = realloc(handlers, (size_t)wanted * sizeof *handlers);
        if (grown == NULL)
            return PvmNoMem;
        handlers = grown;
        room = wanted;
    }
    handlers[count++] = (struct handler){next_id, source, tag, context, routine};
    return next_id++;
}

int pvm_addmhf(int src, int tag, int ctx, int (*func)(int mid))
{
    return pvmi_told("addmhf", add(src, tag, ctx, func));
}

static int take_away(int id)
{
    if (id < 0)
        return PvmBadParam;
    for (int i = 0; i < count; i++) {
        if (handlers[i].id != id)
            continue;
        for (count--; i < count; i++)
            handlers[i] = handlers[i + 1];
        return PvmOk;
    }
    return PvmNotFound;
}

int pvm_delmhf(int mhid)
{
    return pvmi_told("delmhf", take_away(mhid));
}
