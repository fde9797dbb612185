/* SPDX-License-Identifier: MIT */
/* earl.h -- one set of message-passing routines, to which programs of other systems are mapped.
 *
 * A process has a number, which means the same in all processes of the program: in a team (enl -n, bcr_start_team) its rank. A
 * message has a context, a tag, and bytes. A receive names the context, and the source and tag or EARL_ANY for either; it may ask
 * a function of its own, too. Between two processes nothing overtakes: of the messages of one context that a receive could take,
 * it takes the one that was sent first, and of the receives that could take a message, the one that was posted first gets it.
 * Contexts keep users apart: numbers from EARL_CONTEXTS on are Earl's own, and refused (EARL_E_ARG).
 *
 * All routines are for one thread. Those that wait take what comes meanwhile for other receives, so it does not matter who
 * sends first, as long as what is sent and not received fits EARL_MEMORY bytes (a variable; 256 MiB unless said) of each sender.
 * Results below 0 are of enum earl_error; earl_strerror has the sentence.
 *
 * Source: "Earl: A Tool for Portable Distributed Debugging" (I. Lough, 1993), whose own routines are in earl_generic.h. */
#ifndef EARL_H
#define EARL_H

#include <stddef.h>

#if defined(__GNUC__)
#define EARL_API __attribute__((visibility("default")))
#else
#define EARL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EARL_ANY = -1,              /* in place of a source or tag */
    EARL_CONTEXTS = 0x40000000, /* users' contexts are smaller */
    EARL_LARGEST = 0x7fffffff   /* of tags and process numbers */
};

enum earl_error {
    EARL_OK = 0,
    EARL_E_ARG = -1,     /* an argument is out of range */
    EARL_E_PROCESS = -2, /* there is no process of that number */
    EARL_E_ENDED = -3,   /* that process has ended */
    EARL_E_CUT = -4,     /* the message is longer than the buffer: what fits was stored */
    EARL_E_MEMORY = -5,  /* no memory */
    EARL_E_REQUEST = -6, /* no such request: it is none, or was waited for */
    EARL_E_STATE = -7,   /* earl_begin was not called, or earl_end was */
    EARL_E_SYSTEM = -8,  /* BCR has failed: earl_sentence tells how */
    EARL_E_END = -9,     /* the message has not so many items */
    EARL_E_RANGE = -10,  /* a number does not fit its type on this machine */
    /* of earl_exec.h */
    EARL_E_NONE = -11, /* there is nothing of that name */
    EARL_E_BUSY = -12, /* it is there already, or another's */
    EARL_E_FILE = -13, /* no such program, or it cannot be executed */
    EARL_E_HOST = -14  /* there is no such host, or it cannot be reached */
};

/* What is known of a message. */
struct earl_envelope {
    unsigned context;
    int source;
    int tag;
    int code;         /* EARL_OK, or EARL_E_CUT */
    long long length; /* in bytes, of the message as it was sent */
};

/* What a receive or probe wants. `accepts`, unless NULL, is asked about each message of that context, source and tag in the
 * order of their arrival, and says non-zero to the one that it wants; it calls no routine of Earl. */
struct earl_wanted {
    unsigned context;
    int source;
    int tag;
    int (*accepts)(const struct earl_envelope *envelope, void *argument);
    void *argument;
};

/* An open send or receive: more than 0. */
typedef int earl_request;

/* ------------------------------------------------------------------------------ processes --- */

/* earl_begin -- make this process one of the program.
 * name is the name of the interface that stands on Earl, for sentences on stderr; NULL: "earl". It returns when all members of
 * the team can be sent to. A second call changes nothing.
 * Returns: 0. Where BCR itself gives up, as bcr_init does. Errors: EARL_E_MEMORY, EARL_E_SYSTEM
 * Blocks: until all members have called it. */
EARL_API int earl_begin(const char *name);

/* earl_end -- give up all that is left, after what was sent has gone out. It is called at exit, too.
 * Requests are dropped; their buffers are the caller's again. Messages that nobody has received are lost.
 * Blocks: until what this process has sent has reached the inboxes of those it is for. */
EARL_API int earl_end(void);

/* earl_words -- say what tags and processes are called in the interface above Earl, such as "type" and "node".
 * The strings stay where they are. What shows waits (enl why, reports of deadlocks) says "NAME: receive, type 5, node 2".
 * Returns: 0. Errors: EARL_E_ARG, EARL_E_STATE */
EARL_API int earl_words(const char *tag, const char *process);

/* earl_process, earl_processes, earl_host -- this process's number; how many there are, 0 if they come and go; where one runs.
 * earl_host is the same number for processes that share memory. Without a team there is one process, 0.
 * Errors: EARL_E_STATE, EARL_E_PROCESS */
EARL_API int earl_process(void);
EARL_API int earl_processes(void);
EARL_API int earl_host(int process);

/* earl_watch -- be told of the end of a process, however it ends.
 * Once it has ended, a message of that source without bytes comes in `context` with `tag`, after all that it has sent here; at once
 * if it has ended already. It is told once, as the last call of earl_watch for it has said. (A message of which a part had come
 * only: earl_receive.)
 * Errors: EARL_E_ARG, EARL_E_PROCESS, EARL_E_MEMORY, EARL_E_SYSTEM */
EARL_API int earl_watch(int process, unsigned context, int tag);

/* ------------------------------------------------------------------------------- messages --- */

/* earl_send, earl_ssend -- send a message; the second returns only when a receive has got hold of it.
 * The `length` bytes at `data` are the caller's again on return. process may be the caller.
 * Returns: 0. Errors: EARL_E_ARG, EARL_E_PROCESS, EARL_E_ENDED, EARL_E_MEMORY, EARL_E_SYSTEM
 * Blocks: earl_send while the receiver's inbox is full; and while EARL_MEMORY is in use for what others have not received, until
 *     a receive has got hold of this one. */
EARL_API int earl_send(int process, unsigned context, int tag, const void *data, size_t length);
EARL_API int earl_ssend(int process, unsigned context, int tag, const void *data, size_t length);

/* earl_sendm -- send one message to several processes, which may share its memory.
 * Returns: 0, or the first error of one; all others are served.
 * Errors, Blocks: as earl_send. */
EARL_API int earl_sendm(int count, const int *processes, unsigned context, int tag, const void *data,
                        size_t length);

/* earl_isend, earl_issend -- begin a send. The bytes must stay as they are until the request is done.
 * Returns: a request. Errors: as earl_send; an end of the receiver may be told of by the request only.
 * Blocks: never for the receiver. */
EARL_API earl_request earl_isend(int process, unsigned context, int tag, const void *data, size_t length);
EARL_API earl_request earl_issend(int process, unsigned context, int tag, const void *data, size_t length);

/* earl_receive -- receive a message into the `room` bytes at `buffer`. envelope is NULL, or where it is told of.
 * Returns: 0, or EARL_E_CUT. Errors: EARL_E_ARG, EARL_E_PROCESS, EARL_E_MEMORY, EARL_E_SYSTEM; EARL_E_ENDED: its sender has ended
 *     in the middle of the message. One that nobody has got hold of by then has not been sent.
 * Blocks: until there is one. */
EARL_API int earl_receive(const struct earl_wanted *wanted, void *buffer, size_t room,
                          struct earl_envelope *envelope);

/* earl_ireceive -- post a receive. The buffer belongs to it until the request is done. *wanted is copied.
 * Returns: a request. Errors: EARL_E_ARG, EARL_E_PROCESS, EARL_E_MEMORY */
EARL_API earl_request earl_ireceive(const struct earl_wanted *wanted, void *buffer, size_t room);

/* earl_probe -- look for a message that a receive could take now, and leave it there.
 * Returns: 1 if there is one, which *envelope (not NULL) tells of; 0 if there is none, unless wait is set.
 * Errors: EARL_E_ARG, EARL_E_PROCESS, EARL_E_SYSTEM
 * Blocks: with wait, until there is one. */
EARL_API int earl_probe(const struct earl_wanted *wanted, int wait, struct earl_envelope *envelope);

/* earl_await -- wait, for a time or without limit, until there is a message that one of several receives could take.
 * wanted has `count` of them, 1 or more. msec is how many milliseconds it waits; 0: it looks; -1: without limit. The message is
 * left there.
 * Returns: the place in wanted, counted from 1, of the first that has a message, which *envelope (not NULL) tells of; 0 if none has,
 *     and the time is over. Errors: as earl_probe.
 * Blocks: so long. Only without limit can it be part of what enl calls a deadlock. */
EARL_API int earl_await(int count, const struct earl_wanted *wanted, int msec,
                        struct earl_envelope *envelope);

/* earl_descriptor -- get a descriptor for poll(2) that becomes readable when something comes.
 * Each call arms it anew: it is readable at once if something has come that no routine has taken in. So look for messages until
 * there are none, call it, poll, and look again. It is Earl's, neither to be read nor closed.
 * Returns: the descriptor, 0 or more. Errors: EARL_E_STATE, EARL_E_SYSTEM
 * Blocks: until the daemon has answered, at the first call. */
EARL_API int earl_descriptor(void);

/* earl_claim -- look for a message, and take it out of others' reach: a probe that removes.
 * Returns: a request (more than 0) for earl_claimed, *envelope telling of the message; 0 if there is none, unless wait is set.
 * Errors, Blocks: as earl_probe. */
EARL_API earl_request earl_claim(const struct earl_wanted *wanted, int wait, struct earl_envelope *envelope);

/* earl_claimed -- receive a claimed message; the request is over then. buffer NULL with room 0 drops the message.
 * Returns: 0, or EARL_E_CUT if room is less than its length (not if buffer is NULL). Errors: EARL_E_REQUEST; EARL_E_ENDED,
 *     as earl_receive. */
EARL_API int earl_claimed(earl_request request, void *buffer, size_t room);

/* ----------------------------------------------------------------------------- typed data --- */

/* Types of items. A complex number is two floats, or two doubles. */
enum earl_type {
    EARL_BYTE = 1,
    EARL_SHORT,
    EARL_USHORT,
    EARL_INT,
    EARL_UINT,
    EARL_LONG,
    EARL_ULONG,
    EARL_FLOAT,
    EARL_DOUBLE,
    EARL_COMPLEX,
    EARL_DCOMPLEX
};

/* A buffer of items, one after the other: one that is packed, and sent as often as wanted, or a message that came. Its memory
 * is that of packets: packing copies items into them, unpacking out of them, and nothing else is copied on the way. */
typedef struct earl_buffer earl_buffer;

/* earl_buffer_make -- make an empty buffer.
 * is_raw 0: items are translated for machines of another byte order and size of long; else they go as they are.
 * Returns: the buffer, which earl_buffer_free frees. NULL: there is no memory, or earl_begin was not called. */
EARL_API earl_buffer *earl_buffer_make(int is_raw);
EARL_API void earl_buffer_free(earl_buffer *buffer);

/* earl_buffer_clear -- empty a buffer that was made, which then is as it was at first; what was sent of it is not touched.
 * Returns: EARL_OK. Errors: EARL_E_ARG: the buffer is NULL or a message that came. EARL_E_STATE */
EARL_API int earl_buffer_clear(earl_buffer *buffer);

/* earl_buffer_append -- add all items of another buffer, of one that came, too, as they are.
 * Both must be raw, or both translated from machines of one kind. An empty buffer becomes of from's kind: so what has come can be
 * passed on. Nothing can be packed behind items of a machine of another kind.
 * Returns: 0. Errors: EARL_E_ARG: also if the kinds differ; EARL_E_MEMORY; nothing was added then. */
EARL_API int earl_buffer_append(earl_buffer *into, const earl_buffer *from);

/* earl_nest, earl_unnest -- add another buffer as one item; take such an item out as a buffer, which earl_buffer_free frees.
 * Its items are translated when they are taken out of it, as they would have been before.
 * Returns: 0. Errors: EARL_E_ARG, EARL_E_MEMORY; EARL_E_END: the next item is no buffer. Nothing was added, or taken, then. */
EARL_API int earl_nest(earl_buffer *into, const earl_buffer *from);
EARL_API int earl_unnest(earl_buffer *buffer, earl_buffer **nested);

/* earl_pack -- add `count` items of a type, each `stride` items behind the one before, 1 if they stand together.
 * Returns: 0. Errors: EARL_E_ARG, also for a buffer of items of another kind of machine; EARL_E_MEMORY; nothing was added then.
 * Blocks: while EARL_MEMORY is in use for what others have not received. */
EARL_API int earl_pack(earl_buffer *buffer, enum earl_type type, const void *items, size_t count,
                       ptrdiff_t stride);

/* earl_unpack -- take the next `count` items out, of the type that they were packed as; earl_rewind begins anew.
 * They go to places that are `stride` items apart. The buffer keeps them.
 * Returns: 0. Errors: EARL_E_ARG; EARL_E_END: so many are not left, none was taken; EARL_E_RANGE: a long does not fit a long
 *     here; those before it were taken. */
EARL_API int earl_unpack(earl_buffer *buffer, enum earl_type type, void *items, size_t count,
                         ptrdiff_t stride);
EARL_API int earl_rewind(earl_buffer *buffer);

/* earl_buffer_length -- how many bytes the buffer has. Returns: 0 or more. Errors: EARL_E_ARG
 * earl_buffer_is_raw -- whether its items go as they are. Returns: 1, or 0 if they are translated. Errors: EARL_E_ARG */
EARL_API long long earl_buffer_length(const earl_buffer *buffer);
EARL_API int earl_buffer_is_raw(const earl_buffer *buffer);

/* earl_buffer_send -- send a buffer's items to `count` processes, which share its memory; it may be packed and sent further.
 * Returns, Errors, Blocks: as earl_sendm. */
EARL_API int earl_buffer_send(earl_buffer *buffer, int count, const int *processes, unsigned context,
                              int tag);

/* earl_buffer_receive -- receive a message as a buffer, however it was sent: what earl_send sends is raw.
 * Returns: 1, with the buffer at *buffer and what is known at *envelope, which may be NULL; 0 if there is none, unless wait is
 *     set. Errors, Blocks: as earl_probe; EARL_E_MEMORY. */
EARL_API int earl_buffer_receive(const struct earl_wanted *wanted, int wait, earl_buffer **buffer,
                                 struct earl_envelope *envelope);

/* ------------------------------------------------------------------------------- requests --- */

/* earl_test, earl_wait -- look whether a request is done; wait for it.
 * When it is done, the request is over, its number may be used again, and *envelope, if not NULL, tells of the message that came;
 * of a send it has the process in source and the length.
 * Returns: earl_test 1 if it is done, else 0; earl_wait 0. Errors: EARL_E_REQUEST, and those of the operation itself:
 *     EARL_E_CUT, EARL_E_ENDED; then the request is over, too.
 * Blocks: earl_wait until it is done. */
EARL_API int earl_test(earl_request request, struct earl_envelope *envelope);
EARL_API int earl_wait(earl_request request, struct earl_envelope *envelope);

/* earl_waitsome -- wait until at least one of several requests is done, and tell which are.
 * requests has count numbers, of which 0 are skipped. Those that are done become 0 there; their places come to done[], which has
 * room for count, in ascending order; envelopes is NULL, or gets an envelope at each of these places of done. wait 0: only look.
 * Returns: how many are done; 0 also if all are 0. A code of one is in its envelope.
 * Errors: EARL_E_REQUEST: one is none; nothing has happened.
 * Blocks: with wait, until one is done. */
EARL_API int earl_waitsome(int count, earl_request *requests, int wait, int *done,
                           struct earl_envelope *envelopes);

/* earl_cancel -- give a request up.
 * Returns: 1 if nothing was or will be received: the request is over. 0 if it is too late, or is a send, and goes on.
 * Errors: EARL_E_REQUEST */
EARL_API int earl_cancel(earl_request request);

/* earl_then -- have a routine called when a request is done, which is over then: nobody waits for it.
 * It is called once, within the next routine of Earl, when that waits or at its end; in a process that computes meanwhile, by a
 * signal handler (SIGIO), which interrupts it. It may call any routine of Earl, and longjmp must not leave it. No
 * such routine is called while another runs, or between earl_mask(1) and earl_mask(0).
 * Returns: 0. Errors: EARL_E_REQUEST, EARL_E_ARG, EARL_E_SYSTEM */
EARL_API int earl_then(earl_request request,
                       void (*routine)(const struct earl_envelope *envelope, void *argument), void *argument);

/* earl_mask -- keep routines of earl_then from being called (1), or let them, and call those that are due (0).
 * Returns: what it was before, 0 or 1. Errors: EARL_E_STATE */
EARL_API int earl_mask(int state);

/* earl_pause -- take in what has come, and let others run. Returns: how many packets came, 0 or more. Errors: EARL_E_STATE */
EARL_API int earl_pause(void);

/* -------------------------------------------------------------------- all processes together --- */

/* A group of processes for what follows, all of which call with the same numbers in the same order; NULL: all of the program. */
struct earl_group {
    int count;
    const int *processes;
    unsigned context; /* of its own: groups that have processes in common must differ in it */
};

/* earl_barrier -- wait until all of the group have called it. */
EARL_API int earl_barrier(const struct earl_group *group);

/* earl_broadcast -- copy bytes of the member of place `root` in the group to all. All give the same length. */
EARL_API int earl_broadcast(const struct earl_group *group, int root, void *data, size_t length);

/* earl_reduce -- combine the bytes of all members, and give all of them the result.
 * combine(into, from, argument) combines `length` bytes at from into those at into, which are of lower places: the order is that
 * of the places, and how many calls there are where depends on their number alone, so each run has the same result. It calls no
 * routine of Earl.
 * Errors of all: EARL_E_ARG, EARL_E_MEMORY, EARL_E_SYSTEM; EARL_E_CUT if members give different lengths. They block until the
 * others have called. */
EARL_API int earl_reduce(const struct earl_group *group, void *data, size_t length,
                         void (*combine)(void *into, const void *from, void *argument), void *argument);

/* earl_collect -- put bytes of all members one behind the other, in the order of their places, into `into` of each.
 * lengths has the length of each member's part; the caller's own part is at `data`. */
EARL_API int earl_collect(const struct earl_group *group, const void *data, const size_t *lengths,
                          void *into);

/* ---------------------------------------------------------------------------------- others --- */

/* earl_strerror -- the sentence of a code. earl_sentence -- what BCR said at the last EARL_E_SYSTEM; "" if there was none. */
EARL_API const char *earl_strerror(int code);
EARL_API const char *earl_sentence(void);

/* earl_fail -- say a sentence on stderr, "NAME: process N: ROUTINE: …", and end the program with status 1: bad input. */
EARL_API void earl_fail(const char *routine, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((noreturn, format(printf, 2, 3)))
#endif
    ;

/* earl_finish -- end all processes of the program with that status. It does not return. */
EARL_API void earl_finish(int status)
#if defined(__GNUC__)
    __attribute__((noreturn))
#endif
    ;

#ifdef __cplusplus
}
#endif

#endif
