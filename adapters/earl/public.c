/* SPDX-License-Identifier: MIT */
/* public.c -- the routines of earl.h: each looks up this process's state, once, and goes on in the engine. */
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "earl_tool.h"
#include "engine.h"
#include "sentence.h"
#include "targets/targets.h"

static struct earl state;
static bool is_over;
struct earl *earl_own;

static void at_exit(void)
{
    (void)earl_end();
}

int earl_begin_as(const struct earl_who *who, const char *name)
{
    if (earl_own != NULL)
        return EARL_OK;
    if (is_over)
        return EARL_E_STATE;
    if (state.tools == NULL) /* else an earlier call has failed */
        earl_tools_load(&state);
    const int code =
        earl_process_begin(&state, &earl_target_bcr, (void *)(uintptr_t)who, name != NULL ? name : "earl");
    if (code != EARL_OK)
        return code;
    earl_own = &state;
    earl_tools_begin(&state);
    return atexit(at_exit) == 0 ? EARL_OK : EARL_E_MEMORY;
}

/* EXEC has started this process, which says so, or enl has. */
int earl_begin(const char *name)
{
    const char *world = getenv("EARL_WORLD");
    return earl_begin_as(world != NULL ? &earl_who_world : &earl_who_team, name);
}

int earl_words(const char *tag, const char *process)
{
    if (earl_own == NULL)
        return EARL_E_STATE;
    if (tag == NULL || process == NULL)
        return EARL_E_ARG;
    earl_own->tag_word = tag;
    earl_own->process_word = process;
    return EARL_OK;
}

int earl_end(void)
{
    if (earl_own == NULL)
        return EARL_E_STATE;
    /* A handler, or what it has interrupted, has called exit: nothing is safe to be waited for. */
    if (state.inside != 0)
        return EARL_E_STATE;
    state.inside++;
    earl_tools_end(&state);
    earl_process_end(&state);
    earl_own = NULL;
    is_over = true;
    return EARL_OK;
}

int earl_process(void)
{
    return earl_own == NULL ? EARL_E_STATE : earl_own->process;
}

int earl_processes(void)
{
    return earl_own == NULL ? EARL_E_STATE : earl_own->count;
}

/* Calls a routine of the engine. Each has its result in an int. */
#define CALL(call)                 \
    do {                           \
        if (earl_own == NULL)      \
            return EARL_E_STATE;   \
        earl_enter(earl_own);      \
        const int result = (call); \
        earl_leave(earl_own);      \
        return result;             \
    } while (0)

/* The same for an operation of which tools are told. The rest are fields of the event. */
#define TELL(operation, call, ...)                                                                \
    do {                                                                                          \
        int result;                                                                               \
        if (earl_own == NULL)                                                                     \
            return EARL_E_STATE;                                                                  \
        earl_enter(earl_own);                                                                     \
        if (earl_own->tools == NULL) {                                                            \
            result = (call);                                                                      \
        } else {                                                                                  \
            struct earl_tool_event event = {                                                      \
                .what = EARL_TOOL_##operation, .site = __builtin_return_address(0), __VA_ARGS__}; \
            earl_tools_before(earl_own, &event);                                                  \
            result = (call);                                                                      \
            earl_tools_after(earl_own, &event, result);                                           \
        }                                                                                         \
        earl_leave(earl_own);                                                                     \
        return result;                                                                            \
    } while (0)

/* Contexts from EARL_CONTEXTS on are Earl's own: users have none of them. */
#define USERS(context, call) ((context) < EARL_CONTEXTS ? (call) : EARL_E_ARG)
#define TAKES(wanted, call)  ((wanted) != NULL && (wanted)->context >= EARL_CONTEXTS ? EARL_E_ARG : (call))

static bool are_users(int count, const struct earl_wanted *wanted)
{
    for (int i = 0; wanted != NULL && i < count; i++)
        if (wanted[i].context >= EARL_CONTEXTS)
            return false;
    return true;
}

#define NOBODY .peer = EARL_ANY, .tag = EARL_ANY
/* What a receive names; `wanted` may be bad input. */
#define WANTED(wanted)                                      \
    .peer = (wanted) == NULL ? EARL_ANY : (wanted)->source, \
    .context = (wanted) == NULL ? 0 : (wanted)->context, .tag = (wanted) == NULL ? EARL_ANY : (wanted)->tag
#define TO(process) .peer = (process), .context = context, .tag = tag, .length = (long long)length

static int host(int process)
{
    return earl_is_process(earl_own, process) ? earl_own->target->host(earl_own->self, process)
                                              : EARL_E_PROCESS;
}

int earl_host(int process)
{
    CALL(host(process));
}

static int watch(int process, unsigned context, int tag)
{
    if (!earl_is_process(earl_own, process))
        return EARL_E_PROCESS;
    if (tag < 0 || process == earl_own->process)
        return EARL_E_ARG;
    struct earl_peer *peer = earl_peer(earl_own, process);
    const bool was_watched = peer->is_watched;
    const unsigned former_context = peer->watch_context;
    const int former_tag = peer->watch_tag;
    peer->is_watched = true; /* before: work beside the main flow may take the end in meanwhile */
    peer->watch_context = context;
    peer->watch_tag = tag;
    const int code = earl_own->target->watch(earl_own->self, process);
    if (code != EARL_OK && peer->is_watched) {
        peer->is_watched = was_watched;
        peer->watch_context = former_context;
        peer->watch_tag = former_tag;
    }
    return code;
}

int earl_watch(int process, unsigned context, int tag)
{
    TELL(WATCH, USERS(context, watch(process, context, tag)), .peer = process, .context = context,
         .tag = tag);
}

int earl_send(int process, unsigned context, int tag, const void *data, size_t length)
{
    TELL(SEND, USERS(context, earl_do_send(earl_own, process, context, tag, data, length, false)),
         TO(process));
}

int earl_ssend(int process, unsigned context, int tag, const void *data, size_t length)
{
    TELL(SEND, USERS(context, earl_do_send(earl_own, process, context, tag, data, length, true)), TO(process),
         .is_synchronous = 1);
}

int earl_sendm(int count, const int *processes, unsigned context, int tag, const void *data, size_t length)
{
    TELL(SENDM, USERS(context, earl_do_sendm(earl_own, count, processes, context, tag, data, length)),
         TO(EARL_ANY), .count = count);
}

earl_request earl_isend(int process, unsigned context, int tag, const void *data, size_t length)
{
    TELL(ISEND, USERS(context, earl_do_isend(earl_own, process, context, tag, data, length, false)),
         TO(process));
}

earl_request earl_issend(int process, unsigned context, int tag, const void *data, size_t length)
{
    TELL(ISEND, USERS(context, earl_do_isend(earl_own, process, context, tag, data, length, true)),
         TO(process), .is_synchronous = 1);
}

int earl_receive(const struct earl_wanted *wanted, void *buffer, size_t room, struct earl_envelope *envelope)
{
    TELL(RECEIVE, TAKES(wanted, earl_do_receive(earl_own, wanted, buffer, room, envelope)), WANTED(wanted),
         .length = (long long)room);
}

earl_request earl_ireceive(const struct earl_wanted *wanted, void *buffer, size_t room)
{
    TELL(IRECEIVE, TAKES(wanted, earl_do_ireceive(earl_own, wanted, buffer, room)), WANTED(wanted),
         .length = (long long)room);
}

/* Programs look in loops. With more processes than cores, others run sooner if one that finds nothing lets them. */
static int found(int result)
{
    enum { EMPTY_MOST = 1000 };
    if (result != 0 || ++earl_own->empty < EMPTY_MOST)
        return result;
    earl_own->empty = 0;
    earl_own->target->pause(earl_own->self);
    sched_yield();
    return result;
}

int earl_probe(const struct earl_wanted *wanted, int wait, struct earl_envelope *envelope)
{
    TELL(PROBE, TAKES(wanted, found(earl_do_probe(earl_own, wanted, wait != 0, envelope))), WANTED(wanted));
}

int earl_await(int count, const struct earl_wanted *wanted, int msec, struct earl_envelope *envelope)
{
    TELL(PROBE,
         are_users(count, wanted) ? found(earl_do_await(earl_own, count, wanted, msec, envelope))
                                  : EARL_E_ARG,
         WANTED(wanted), .count = count);
}

static int descriptor(void)
{
    const int fd = earl_own->target->descriptor(earl_own->self);
    return fd < 0 ? EARL_E_SYSTEM : fd;
}

int earl_descriptor(void)
{
    CALL(descriptor());
}

earl_request earl_claim(const struct earl_wanted *wanted, int wait, struct earl_envelope *envelope)
{
    TELL(CLAIM, TAKES(wanted, found(earl_do_claim(earl_own, wanted, wait != 0, envelope))), WANTED(wanted));
}

int earl_claimed(earl_request request, void *buffer, size_t room)
{
    TELL(CLAIMED, earl_do_claimed(earl_own, request, buffer, room), NOBODY, .request = request,
         .length = (long long)room);
}

earl_buffer *earl_buffer_make(int is_raw)
{
    if (earl_own == NULL)
        return NULL;
    earl_enter(earl_own);
    earl_buffer *buffer = earl_do_buffer_make(earl_own, is_raw != 0);
    earl_leave(earl_own);
    return buffer;
}

void earl_buffer_free(earl_buffer *buffer)
{
    if (earl_own == NULL || buffer == NULL)
        return;
    earl_enter(earl_own);
    earl_do_buffer_free(earl_own, buffer);
    earl_leave(earl_own);
}

int earl_buffer_clear(earl_buffer *buffer)
{
    if (earl_own == NULL)
        return EARL_E_STATE;
    earl_enter(earl_own);
    const int code = earl_do_buffer_clear(earl_own, buffer);
    earl_leave(earl_own);
    return code;
}

int earl_pack(earl_buffer *buffer, enum earl_type type, const void *items, size_t count, ptrdiff_t stride)
{
    TELL(PACK, earl_do_pack(earl_own, buffer, type, items, count, stride), NOBODY,
         .length = (long long)count);
}

int earl_unpack(earl_buffer *buffer, enum earl_type type, void *items, size_t count, ptrdiff_t stride)
{
    TELL(UNPACK, earl_do_unpack(buffer, type, items, count, stride), NOBODY, .length = (long long)count);
}

int earl_buffer_append(earl_buffer *into, const earl_buffer *from)
{
    TELL(PACK, earl_do_buffer_append(earl_own, into, from), NOBODY);
}

int earl_nest(earl_buffer *into, const earl_buffer *from)
{
    TELL(PACK, earl_do_nest(earl_own, into, from), NOBODY);
}

int earl_unnest(earl_buffer *buffer, earl_buffer **nested)
{
    TELL(UNPACK, earl_do_unnest(earl_own, buffer, nested), NOBODY);
}

int earl_buffer_send(earl_buffer *buffer, int count, const int *processes, unsigned context, int tag)
{
    TELL(BUFFER_SEND, USERS(context, earl_do_buffer_send(earl_own, buffer, count, processes, context, tag)),
         .peer = count == 1 && processes != NULL ? *processes : EARL_ANY, .context = context, .tag = tag,
         .count = count, .length = buffer == NULL ? 0 : earl_buffer_length(buffer));
}

int earl_buffer_receive(const struct earl_wanted *wanted, int wait, earl_buffer **buffer,
                        struct earl_envelope *envelope)
{
    TELL(BUFFER_RECEIVE,
         TAKES(wanted, found(earl_do_buffer_receive(earl_own, wanted, wait != 0, buffer, envelope))),
         WANTED(wanted));
}

int earl_test(earl_request request, struct earl_envelope *envelope)
{
    TELL(TEST, found(earl_do_test(earl_own, request, false, envelope)), NOBODY, .request = request);
}

int earl_wait(earl_request request, struct earl_envelope *envelope)
{
    TELL(WAIT, earl_do_test(earl_own, request, true, envelope), NOBODY, .request = request);
}

int earl_waitsome(int count, earl_request *requests, int wait, int *done, struct earl_envelope *envelopes)
{
    TELL(WAITSOME, earl_do_waitsome(earl_own, count, requests, wait != 0, done, envelopes), NOBODY,
         .count = count);
}

int earl_cancel(earl_request request)
{
    TELL(CANCEL, earl_do_cancel(earl_own, request), NOBODY, .request = request);
}

int earl_then(earl_request request, void (*routine)(const struct earl_envelope *envelope, void *argument),
              void *argument)
{
    TELL(THEN, earl_do_then(earl_own, request, routine, argument), NOBODY, .request = request);
}

int earl_mask(int on)
{
    TELL(MASK, earl_do_mask(earl_own, on), NOBODY, .count = on);
}

static int look_around(void)
{
    earl_own->target->pause(earl_own->self);
    sched_yield();
    return earl_look(earl_own);
}

int earl_pause(void)
{
    TELL(PAUSE, look_around(), NOBODY);
}

int earl_barrier(const struct earl_group *group)
{
    TELL(BARRIER, earl_do_barrier(earl_own, group), NOBODY);
}

int earl_broadcast(const struct earl_group *group, int root, void *data, size_t length)
{
    TELL(BROADCAST, earl_do_broadcast(earl_own, group, root, data, length), NOBODY,
         .length = (long long)length);
}

int earl_reduce(const struct earl_group *group, void *data, size_t length,
                void (*combine)(void *into, const void *from, void *argument), void *argument)
{
    TELL(REDUCE, earl_do_reduce(earl_own, group, data, length, combine, argument), NOBODY,
         .length = (long long)length);
}

int earl_collect(const struct earl_group *group, const void *data, const size_t *lengths, void *into)
{
    TELL(COLLECT, earl_do_collect(earl_own, group, data, lengths, into), NOBODY);
}

/* ---- sentences ---- */

const char *earl_strerror(int code)
{
    switch (code) {
    case EARL_OK: return "no error";
    case EARL_E_ARG: return "an argument is out of range";
    case EARL_E_PROCESS: return "there is no process of that number";
    case EARL_E_ENDED: return "that process has ended";
    case EARL_E_CUT: return "the message is longer than the buffer";
    case EARL_E_MEMORY: return "no memory";
    case EARL_E_REQUEST: return "there is no such request: it is over, or never was";
    case EARL_E_STATE: return "this process has not begun, or has ended its part";
    case EARL_E_SYSTEM: return earl_sentence()[0] != '\0' ? earl_sentence() : "the system has failed";
    case EARL_E_END: return "the message has not so many items";
    case EARL_E_RANGE: return "a number does not fit its type on this machine";
    case EARL_E_NONE: return "there is nothing of that name";
    case EARL_E_BUSY: return "it is there already, or another's";
    case EARL_E_FILE: return "there is no such program, or it cannot be executed";
    case EARL_E_HOST: return "there is no such host, or it cannot be reached";
    default: return "unknown code";
    }
}

const char *earl_sentence(void)
{
    return earl_own == NULL ? "" : earl_own->target->sentence(earl_own->self);
}

void earl_fail(const char *routine, const char *format, ...)
{
    char head[96];
    va_list arguments;
    if (earl_own != NULL)
        snprintf(head, sizeof head, "%s: process %d: %s", earl_own->name, earl_own->process, routine);
    else
        snprintf(head, sizeof head, "earl: %s", routine);
    va_start(arguments, format);
    adapter_say(head, format, arguments);
    va_end(arguments);
    earl_finish(1);
}

void earl_finish(int status)
{
    earl_target_bcr_finish(status);
}
