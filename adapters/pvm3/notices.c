/* SPDX-License-Identifier: MIT */
/* notices.c -- pvm_notify: a message to this task itself when another ends, or a host comes or goes.
 *
 * Earl tells of an end once, by an empty message in a context of its own, and of hosts by messages of EXEC's in another. Routines that receive
 * look for such messages as they do for handlers' (handlers.c), and send the messages that were asked for: so these are received as
 * all others are. */
#include <stdlib.h>

#include "pvm_private.h"

/* A task's or a host's end is to be told of. */
struct request {
    int event, subject; /* a process, or a host of EXEC's */
    int tag, context;
};

static struct request *requests;
static int count, room;

/* New hosts are to be told of. */
static struct {
    int times; /* so often; -1: without limit */
    int tag, context;
} additions;
static bool watches_hosts;

int pvmi_notices(void)
{
    return (count > 0 ? 1 : 0) + (watches_hosts ? 1 : 0);
}

static const struct earl_wanted an_end = {PVMI_END_CONTEXT, EARL_ANY, EARL_ANY, NULL, NULL};
static const struct earl_wanted a_host = {PVMI_HOST_CONTEXT, 0, EARL_ANY, NULL, NULL};

struct earl_wanted *pvmi_notices_wanted(struct earl_wanted *wanted)
{
    if (count > 0)
        *wanted++ = an_end;
    if (watches_hosts)
        *wanted++ = a_host;
    return wanted;
}

/* ---- messages ---- */

static int send(int many, const int *tids, int context, int tag)
{
    earl_buffer *items = earl_buffer_make(0);
    int code = items == NULL ? EARL_E_MEMORY : earl_pack(items, EARL_INT, tids, (size_t)many, 1);
    if (code == EARL_OK)
        code = earl_buffer_send(items, 1, &pvmi_process.self, PVMI_CONTEXT + (unsigned)context, tag);
    earl_buffer_free(items);
    return pvmi_result(code);
}

static int tell(const struct request *request)
{
    const int tid = request->event == PvmTaskExit ? pvmi_tid(request->subject) : pvmi_dtid(request->subject);
    return send(1, &tid, request->context, request->tag);
}

/* Tells of a host, below 0: of none, as the notice is cancelled. */
static int tell_addition(int host)
{
    const int list[2] = {host >= 0 ? 1 : 0, host >= 0 ? pvmi_dtid(host) : 0};
    if (additions.times == 0)
        return PvmOk;
    if (additions.times > 0)
        additions.times--;
    return send(host >= 0 ? 2 : 1, list, additions.context, additions.tag);
}

static void take_away(int i)
{
    for (count--; i < count; i++)
        requests[i] = requests[i + 1];
}

/* An end has come: all that asked for it are told. */
static int tell_all(int event, int subject)
{
    int code = PvmOk;
    for (int i = 0; i < count && code >= 0;)
        if (requests[i].event == event && requests[i].subject == subject) {
            code = tell(&requests[i]);
            take_away(i);
        } else {
            i++;
        }
    return code;
}

/* Takes in what there is of ends. Returns 1; 0: there is none; or an error. */
static int serve_end(void)
{
    struct earl_envelope envelope;
    const int code = count == 0 ? 0 : pvmi_result(earl_probe(&an_end, 0, &envelope));
    if (code <= 0)
        return code;
    (void)earl_receive(&an_end, NULL, 0, &envelope);
    const int told = tell_all(PvmTaskExit, envelope.source);
    return told < 0 ? told : 1;
}

static int serve_host(void)
{
    earl_buffer *items;
    int change[2];
    int code = watches_hosts ? pvmi_result(earl_buffer_receive(&a_host, 0, &items, NULL)) : 0;
    if (code <= 0)
        return code;
    code = pvmi_result(earl_unpack(items, EARL_INT, change, 2, 1));
    earl_buffer_free(items);
    if (code == PvmOk)
        code = change[1] != 0 ? tell_addition(change[0]) : tell_all(PvmHostDelete, change[0]);
    return code < 0 ? code : 1;
}

int pvmi_notices_serve(void)
{
    int code;
    while ((code = serve_end()) > 0)
        ;
    while (code == 0 && (code = serve_host()) > 0)
        code = 0;
    return code;
}

/* ---- requests ---- */

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
static int ask_task(const struct request *request)
{
    struct earl_exec_process told;
    int code = pvmi_result(earl_exec_process(request->subject, &told));
    if (code < 0)
        return code;
    if (told.has_ended)
        return tell(request);
    code = add(request);
    if (code < 0)
        return code;
    code = earl_watch(request->subject, PVMI_END_CONTEXT, 0);
    if (code == EARL_OK)
        return PvmOk;
    take_away(count - 1);
    /* It may have ended meanwhile. */
    if (earl_exec_process(request->subject, &told) == EARL_OK && told.has_ended)
        return tell(request);
    return pvmi_result(code);
}

static int watch_hosts(void)
{
    if (watches_hosts)
        return PvmOk;
    const int code = pvmi_result(earl_exec_hostwatch(PVMI_HOST_CONTEXT, 0));
    watches_hosts = code == PvmOk;
    return code;
}

/* The same. A host that goes meanwhile is told of by a message. */
static int ask_host(const struct request *request)
{
    struct earl_exec_machine told = {0};
    int code = watch_hosts();
    if (code == PvmOk)
        code = pvmi_result(earl_exec_machine(request->subject, &told));
    if (code < 0)
        return code;
    return told.is_there ? add(request) : tell(request);
}

static int cancel(const struct request *request)
{
    for (int i = 0; i < count; i++)
        if (requests[i].event == request->event && requests[i].subject == request->subject &&
            requests[i].tag == request->tag && requests[i].context == request->context) {
            take_away(i);
            return tell(request);
        }
    return PvmOk;
}

/* Each call takes the place of the one before. */
static int ask_additions(int what, int tag, int times)
{
    if (times < -1)
        return PvmBadParam;
    if ((what & PvmNotifyCancel) != 0) {
        const int code = tell_addition(-1);
        additions.times = 0;
        return code;
    }
    int code = times == 0 ? PvmOk : watch_hosts();
    if (code == PvmOk)
        code = pvmi_notices_serve(); /* hosts that have come before count for those that asked then */
    if (code < 0)
        return code;
    additions.times = times;
    additions.tag = tag;
    additions.context = pvmi_process.context;
    return PvmOk;
}

/* The process of a task's tid; the host of a host's, or a task's. -1: none. */
static int subject_of(int event, int tid)
{
    struct earl_exec_process told;
    struct earl_exec_machine host;
    const int process = pvmi_process_of(tid);
    if (event == PvmTaskExit)
        return process == pvmi_process.self ? -1 : process;
    if (process >= 0)
        return earl_exec_process(process, &told) == EARL_OK ? told.host : -1;
    const int k = pvmi_host_of(tid);
    return k >= 0 && earl_exec_machine(k, &host) == EARL_OK ? k : -1;
}

static int ask_each(int what, int tag, int many, const int *tids)
{
    const int event = what & ~PvmNotifyCancel;
    int code = PvmOk;
    int *subjects = many < 1 || tids == NULL ? NULL : malloc((size_t)many * sizeof *subjects);
    if (subjects == NULL)
        return many < 1 || tids == NULL ? PvmBadParam : PvmNoMem;
    for (int i = 0; i < many && code == PvmOk; i++) {
        subjects[i] = subject_of(event, tids[i]);
        code = subjects[i] < 0 ? PvmBadParam : PvmOk;
    }
    for (int i = 0; i < many && code >= 0; i++) {
        const struct request request = {event, subjects[i], tag, pvmi_process.context};
        if ((what & PvmNotifyCancel) != 0)
            code = cancel(&request);
        else
            code = event == PvmTaskExit ? ask_task(&request) : ask_host(&request);
    }
    free(subjects);
    return code;
}

static int notify(int what, int tag, int many, const int *tids)
{
    const int code = pvmi_need(), event = what & ~PvmNotifyCancel;
    if (code < 0)
        return code;
    if (event < PvmTaskExit || event > PvmRouteDelete || tag < 0)
        return PvmBadParam;
    if (event > PvmHostAdd)
        return PvmNotImpl;
    return event == PvmHostAdd ? ask_additions(what, tag, many) : ask_each(what, tag, many, tids);
}

int pvm_notify(int what, int msgtag, int cnt, const int *tids)
{
    return pvmi_told("notify", notify(what, msgtag, cnt, tids));
}
