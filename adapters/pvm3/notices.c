/* SPDX-License-Identifier: MIT */
/* notices.c -- pvm_notify: a message to this task itself when another ends.
 *
 * Earl tells of an end once, by an empty message in a context of its own. Routines that receive look for such messages as they do for
 * handlers' (handlers.c), and send the messages that were asked for: so these are received as all others are. */
#include <stdlib.h>

#include "pvm_private.h"

struct request {
    int process, tag, context;
};

static struct request *requests;
static int count, room;

bool pvmi_notices(void)
{
    return count > 0;
}

/* Sends the message. */
static int tell(const struct request *request)
{
    const int tid = pvmi_tid(request->process);
    earl_buffer *items = earl_buffer_make(0);
    int code = items == NULL ? EARL_E_MEMORY : earl_pack(items, EARL_INT, &tid, 1, 1);
    if (code == EARL_OK)
        code = earl_buffer_send(items, 1, &pvmi_process.self, PVMI_CONTEXT + (unsigned)request->context,
                                request->tag);
    earl_buffer_free(items);
    return pvmi_result(code);
}

static void take_away(int i)
{
    for (count--; i < count; i++)
        requests[i] = requests[i + 1];
}

int pvmi_notices_serve(void)
{
    const struct earl_wanted wanted = {PVMI_END_CONTEXT, EARL_ANY, EARL_ANY, NULL, NULL};
    struct earl_envelope envelope;
    int code = PvmOk;
    while (count > 0 && code >= 0) {
        code = pvmi_result(earl_probe(&wanted, 0, &envelope));
        if (code <= 0)
            break;
        (void)earl_receive(&wanted, NULL, 0, &envelope);
        for (int i = 0; i < count && code >= 0;)
            if (requests[i].process == envelope.source) {
                code = tell(&requests[i]);
                take_away(i);
            } else {
                i++;
            }
    }
    return code < 0 ? code : PvmOk;
}

static int add(const struct request *request)
{
    enum { ROOM_FIRST = 16 };
    if (count == room) {
        const int wanted = room == 0 ? ROOM_FIRST : room * 2;
        void *grown = realloc(requests, (size_t)wanted * sizeof *requests);
        if (grown == NULL)
            return PvmNoMem;
        requests = grown;
        room = wanted;
    }
    requests[count++] = *request;
    return PvmOk;
}

/* Of one that has ended the message comes now. */
static int ask(const struct request *request)
{
    struct earl_exec_process told;
    int code = pvmi_result(earl_exec_process(request->process, &told));
    if (code < 0)
        return code;
    if (told.has_ended)
        return tell(request);
    code = add(request);
    if (code < 0)
        return code;
    code = earl_watch(request->process, PVMI_END_CONTEXT, 0);
    if (code == EARL_OK)
        return PvmOk;
    /* It may have ended meanwhile. */
    if (earl_exec_process(request->process, &told) == EARL_OK && told.has_ended) {
        take_away(count - 1);
        return tell(request);
    }
    take_away(count - 1);
    return pvmi_result(code);
}

static int cancel(const struct request *request)
{
    for (int i = 0; i < count; i++)
        if (requests[i].process == request->process && requests[i].tag == request->tag &&
            requests[i].context == request->context) {
            take_away(i);
            return tell(request);
        }
    return PvmOk;
}

static int notify(int what, int tag, int many, const int *tids)
{
    int code = pvmi_need();
    const int event = what & ~PvmNotifyCancel;
    if (code < 0)
        return code;
    if (event < PvmTaskExit || event > PvmRouteDelete || tag < 0)
        return PvmBadParam;
    if (event != PvmTaskExit)
        return PvmNotImpl;
    if (many < 1 || tids == NULL)
        return PvmBadParam;
    for (int i = 0; i < many; i++)
        if (pvmi_process_of(tids[i]) < 0 || pvmi_process_of(tids[i]) == pvmi_process.self)
            return PvmBadParam;
    for (int i = 0; i < many && code >= 0; i++) {
        const struct request request = {pvmi_process_of(tids[i]), tag, pvmi_process.context};
        code = (what & PvmNotifyCancel) != 0 ? cancel(&request) : ask(&request);
    }
    return code;
}

int pvm_notify(int what, int msgtag, int cnt, const int *tids)
{
    return pvmi_told("notify", notify(what, msgtag, cnt, tids));
}
