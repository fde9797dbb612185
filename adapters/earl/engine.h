/* SPDX-License-Identifier: MIT */
/* The state of one process, and what the engine's files have for each other. Public routines look the state up once (public.c);
 * all below have it as argument, so that tests have several in one process.
 *
 * The main flow waits in target->take alone, where all that comes is taken in. Whatever else has to wait (a full inbox, memory)
 * does so in work of its own, by target->later; so nobody who waits to send keeps others from sending to him. Such work runs
 * within calls of the target only: it touches the peers' outgoing queues and open sends, and never the matching. */
#ifndef EARL_ENGINE_H
#define EARL_ENGINE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "match.h"
#include "packet.h"
#include "pool.h"
#include "target.h"

/* A message longer than WHOLE_MAX goes in several packets: each side copies while the other does, and a packet fits a cache.
 * UNASKED bytes of a message go before a receive has got hold of it, if the sender does not wait. Up to COPIED_MAX bytes are
 * copied out of a packet that no receive wanted, so that its memory is the sender's again. */
enum {
    EARL_WHOLE_MAX = 8192,
    EARL_PART_SMALL = 22 << 10, /* 64 KiB are three */
    EARL_PART_LARGE = EARL_PART_MOST,
    EARL_PART_LIMIT = 256 << 10, /* of a message: from here on its parts are large */
    EARL_UNASKED = 256 << 10,
    EARL_COPIED_MAX = 960
};

/* Bytes of a message that nobody has received: a packet that was kept, from `offset` on. */
struct earl_piece {
    struct earl_piece *next;
    earl_packet packet;
    const unsigned char *data;
    size_t length;
};

/* A message that has come, or is coming, and has no receive yet; or one that is still coming and has one. */
struct earl_incoming {
    struct earl_message message; /* first; in the match tables while it has no receive and is not claimed */
    struct earl_incoming *next;  /* of its source, while parts are to come */
    struct earl_open *receive;
    struct earl_piece *pieces, *last;
    unsigned char *copy; /* instead of pieces: behind this struct, or pages of their own */
    size_t arrived;
    uint32_t id, serial; /* for its sender */
    uint8_t pool;        /* which pool this is from */
    uint8_t format;      /* of the items in it: types.h */
    bool is_synchronous, is_complete;
    bool is_told; /* tools know that it has its receive */
    long long number;
};

enum earl_open_kind { EARL_OPEN_RECEIVE, EARL_OPEN_SEND, EARL_OPEN_CLAIM };

/* An open operation: a request, or that of a routine that waits. */
struct earl_open {
    struct earl_receive receive; /* first; of a receive */
    struct earl_envelope envelope;
    enum earl_open_kind kind;
    bool is_done;
    earl_request request; /* 0: it has no number */
    void (*then)(const struct earl_envelope *envelope, void *argument);
    void *argument;
    struct earl_open *next_due; /* of those whose `then` is to be called */
    /* of a receive */
    unsigned char *buffer;
    size_t room;
    /* of a claim */
    struct earl_incoming *claimed;
    /* of a send */
    const unsigned char *data;
    size_t length, sent;
    int process;
    uint32_t serial; /* among all sends */
    bool is_synchronous, is_matched, is_queued;
    bool is_to_announce; /* with the queued item its first packet goes, not the rest */
    bool is_copy;        /* data are pages of Earl's */
    bool is_abandoned;   /* nobody asks for it: it is over when it is done */
};

/* What waits to go to a process: a packet, the announcement or the rest of a send, or an answer. Announcements and answers may take
 * memory beyond what there is, so they have none before their turn: they would keep it from a part that waits before them. */
struct earl_outgoing {
    struct earl_outgoing *next;
    earl_packet packet;
    struct earl_open *send;
    uint32_t kind, serial, id; /* of an answer; kind 0: it is none */
};

/* Work that waits for memory for a packet. */
struct earl_demand {
    struct earl *earl;
    size_t length;
    earl_packet packet; /* when it is done; NULL: there is none for one so long */
    bool is_done, is_over;
};

struct earl_peer {
    int process;
    struct earl_outgoing *first, *last;
    long long sends, comes;  /* messages to it, and from it, since the start */
    uint64_t queued, served; /* packets and sends that have been, since the start */
    uint64_t lost_from;      /* the first of these that found the process at its end; 0: none */
    struct earl_incoming *arriving;
    struct earl *earl;
    bool is_served;  /* work for it is to run */
    bool is_waiting; /* it runs, and waits with the first of the queue */
    bool has_ended;
    bool is_awaited; /* the target is to tell of its end: something is to come from there */
    bool is_watched; /* the user is to be told */
    unsigned watch_context;
    int watch_tag;
};

enum { EARL_POOLS = 3 };
/* Peers in a chunk, which fits a page; and numbers that processes may have that come and go. */
enum { EARL_CHUNK = 32, EARL_PROCESSES = 1 << 22 };

struct earl {
    const struct earl_target *target;
    void *self; /* of the target */
    const char *name;
    int process, count;
    int limit;                 /* of numbers: `count`, or where processes come and go EARL_PROCESSES */
    struct earl_peer **chunks; /* of EARL_CHUNK peers; NULL: none of these has been named */
    size_t chunk_room, peer_room;
    struct earl_match match;
    /* What a take waits for, and the message that has come for it; NULL: there is none. */
    const struct earl_wanted *taker;
    struct earl_incoming *taken;
    struct earl_pool incoming[EARL_POOLS], pieces, opens, outgoing, buffers, demands;
    unsigned demand_count;
    const char *tag_word, *process_word; /* of the interface above */
    const char *together;                /* what all of a group do now; NULL: nothing */
    size_t copied, copied_limit;         /* bytes out of packets */
    struct earl_slot *slots;
    uint32_t slot_room, slot_free;
    struct earl_open *first_due, **last_due;
    uint32_t sends;   /* how many there have been: the serial of the last one */
    uint64_t strange; /* packets that made no sense, and were dropped */
    unsigned empty;   /* looks in a row that found nothing */

    /* interrupts.c: the thread's and its signal handler's */
    volatile sig_atomic_t inside, pending, masked, in_signal, in_then;
    struct earl_interrupts *interrupts;
    struct earl_tools *tools; /* NULL: there are none */
    bool chooses;             /* one of them does, where a receive may have any of several messages */
    bool is_armed;
    bool is_in_parts; /* within a message whose packets come together: nothing else is sent meanwhile */
};

/* ---- progress.c ---- */

/* How a routine waits: calls what is due, or waits for a packet and takes it in, or returns 0 when there is news of earlier work.
 * Any request may be over when it returns. If that lasts, people can see why: an
 * operation, with which process, which tag; EARL_ANY: none. */
int earl_wait_step(struct earl *earl, struct earl_open *current, const char *what, int process, int tag);
/* The same for `msec` milliseconds at most, or EARL_TAKE_WAITS. */
int earl_wait_within(struct earl *earl, struct earl_open *current, const char *what, int process, int tag,
                     int msec);
/* Takes in one packet, if there is one. `current`, unless NULL, is a receive that is not posted, and the last to be asked. Returns 1 if there was a packet, 0 if not, or a code. */
int earl_step(struct earl *earl, struct earl_open *current);
/* Takes in all that is there. Returns how many packets, or a code. */
int earl_look(struct earl *earl);
/* Has the target tell of that process's end: an answer, or the parts of a message, are to come from there. */
void earl_expect(struct earl *earl, int process);
/* What a packet says. */
void earl_dispatch(struct earl *earl, earl_packet packet, struct earl_open *current);

/* ---- incoming.c ---- */

/* Gives a receive its message, which is out of the tables. */
void earl_incoming_receive(struct earl *earl, struct earl_incoming *incoming, struct earl_open *receive);
/* Lets go of a message and all its bytes. */
void earl_incoming_free(struct earl *earl, struct earl_incoming *incoming);
/* That process has ended: what was to come of its messages does not. */
void earl_incoming_ended(struct earl *earl, int process);
/* Lets go of all messages. */
void earl_incoming_end(struct earl *earl);
/* Tells tools, once, that a message has its receive, probe or claim. */
void earl_incoming_tell(struct earl *earl, struct earl_incoming *incoming);
/* Tells the sender of a message that is out of the tables that it is received, if he waits for that. */
void earl_incoming_accept(struct earl *earl, struct earl_incoming *incoming);
/* Copies what has come of a message that is out of the tables, and has no receive: so its sender has memory for the rest. */
void earl_incoming_copy(struct earl *earl, struct earl_incoming *incoming);
/* A message of this process to itself, in no packet; send is NULL, or to be told when a receive has got hold of it. */
void earl_incoming_own(struct earl *earl, const struct earl_envelope *envelope, const unsigned char *data,
                       const struct earl_open *send);
/* A whole message has come, of items in that format; returns whether the packet is kept. */
bool earl_incoming_whole(struct earl *earl, const struct earl_envelope *envelope, uint32_t format,
                         earl_packet packet, const unsigned char *data, struct earl_open *current);
bool earl_incoming_first(struct earl *earl, const struct earl_envelope *envelope, earl_packet packet,
                         const unsigned char *data, size_t length, struct earl_open *current);
bool earl_incoming_more(struct earl *earl, int source, uint32_t id, earl_packet packet,
                        const unsigned char *data, size_t length);

/* ---- outgoing.c ---- */

/* Hands a packet over, or has it go later. Returns a code. With waits it returns when the packet has gone. */
int earl_outgoing_put(struct earl *earl, int process, earl_packet packet, bool waits);
/* The same with a packet that is the caller's still: it goes to several. One whose inbox is full gets a copy, for the memory of which
 * it waits, or else returns EARL_E_MEMORY. */
int earl_outgoing_share(struct earl *earl, int process, earl_packet packet, bool waits);
/* Waits until all has gone that the processes are to get by now. Returns the first failure of one, or EARL_OK. */
int earl_outgoing_wait(struct earl *earl, int count, const int *processes);
/* Answers with a packet of a head alone, which need not keep the order. */
int earl_outgoing_answer(struct earl *earl, int process, uint32_t kind, uint32_t serial, uint32_t id);
/* In a signal handler, where no work runs: does what it can of the queues, without waiting. False: there is nothing that it could
 * do now or later. */
bool earl_outgoing_go(struct earl *earl);
/* Has the rest of a send, or its announcement, go when its turn comes. */
int earl_outgoing_queue(struct earl *earl, struct earl_open *send);
/* Memory for a packet, for which it waits. NULL: there is none for one so long. */
earl_packet earl_outgoing_memory(struct earl *earl, size_t length);
/* Begins to wait for memory beside what the caller does; it is woken then. NULL: that is not possible. The end of it may come first;
 * it returns NULL, and gives back a packet that nobody has taken out. */
struct earl_demand *earl_demand_begin(struct earl *earl, size_t length);
struct earl_demand *earl_demand_end(struct earl *earl, struct earl_demand *demand);
void earl_outgoing_end(struct earl *earl);

/* ---- send.c ---- */

int earl_do_send(struct earl *earl, int process, unsigned context, int tag, const void *data, size_t length,
                 bool is_synchronous);
int earl_do_sendm(struct earl *earl, int count, const int *processes, unsigned context, int tag,
                  const void *data, size_t length);
earl_request earl_do_isend(struct earl *earl, int process, unsigned context, int tag, const void *data,
                           size_t length, bool is_synchronous);
/* The receiver has got hold of a message. */
void earl_send_matched(struct earl *earl, int process, uint32_t id, uint32_t serial);
/* A send is over, with a code; with EARL_OK a synchronous one only if it is matched. */
void earl_send_finish(struct earl *earl, struct earl_open *send, int code);
/* That process has ended: sends to it are over. */
void earl_send_ended(struct earl *earl, int process);
/* The process ends: sends that are over for their callers go, asked or not. */
void earl_send_abandoned(struct earl *earl);
/* The first packet of a send without any of its bytes: the receiver asks for them. NULL: no memory. */
earl_packet earl_send_announcement(struct earl *earl, const struct earl_open *send);
/* The next part of such a send, for one that cannot wait. NULL: no memory. */
earl_packet earl_send_part(struct earl *earl, struct earl_open *send);
/* Goes on with a send that a receive has got hold of, in work of its own, to its end. */
void earl_send_rest(struct earl *earl, struct earl_open *send);

/* ---- receive.c ---- */

int earl_do_receive(struct earl *earl, const struct earl_wanted *wanted, void *buffer, size_t room,
                    struct earl_envelope *envelope);
earl_request earl_do_ireceive(struct earl *earl, const struct earl_wanted *wanted, void *buffer, size_t room);
int earl_do_probe(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                  struct earl_envelope *envelope);
int earl_do_await(struct earl *earl, int count, const struct earl_wanted *wanted, int msec,
                  struct earl_envelope *envelope);
earl_request earl_do_claim(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                           struct earl_envelope *envelope);
int earl_do_claimed(struct earl *earl, earl_request request, void *buffer, size_t room);
/* Finds a message, and takes it out of the tables; when it returns 1, all of it has come. 0: there is none. */
int earl_do_take(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                 struct earl_incoming **incoming);

/* ---- buffers.c ---- */

earl_buffer *earl_do_buffer_make(struct earl *earl, bool is_raw);
int earl_do_buffer_clear(struct earl *earl, earl_buffer *buffer);
void earl_do_buffer_free(struct earl *earl, earl_buffer *buffer);
int earl_do_pack(struct earl *earl, earl_buffer *buffer, enum earl_type type, const void *items, size_t count,
                 ptrdiff_t stride);
int earl_do_unpack(earl_buffer *buffer, enum earl_type type, void *items, size_t count, ptrdiff_t stride);
int earl_do_buffer_send(struct earl *earl, earl_buffer *buffer, int count, const int *processes,
                        unsigned context, int tag);
/* The same, but it does not wait: what finds no room is sent while this process waits for something else. */
int earl_do_buffer_post(struct earl *earl, earl_buffer *buffer, int count, const int *processes,
                        unsigned context, int tag);
int earl_do_buffer_receive(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                           earl_buffer **buffer, struct earl_envelope *envelope);

/* ---- splices.c ---- */

int earl_do_buffer_append(struct earl *earl, earl_buffer *into, const earl_buffer *from);
int earl_do_nest(struct earl *earl, earl_buffer *into, const earl_buffer *from);
int earl_do_unnest(struct earl *earl, earl_buffer *from, earl_buffer **nested);

/* ---- requests.c ---- */

/* A new open operation with a number. NULL: no memory. */
struct earl_open *earl_open_new(struct earl *earl, enum earl_open_kind kind);
/* Which one has the number. NULL: none. */
struct earl_open *earl_open_of(struct earl *earl, earl_request request);
void earl_open_free(struct earl *earl, struct earl_open *open);
/* It is done, and its envelope is set. */
void earl_open_done(struct earl *earl, struct earl_open *open);
int earl_do_test(struct earl *earl, earl_request request, bool waits, struct earl_envelope *envelope);
int earl_do_waitsome(struct earl *earl, int count, earl_request *requests, bool waits, int *done,
                     struct earl_envelope *envelopes);
int earl_do_cancel(struct earl *earl, earl_request request);
void earl_requests_end(struct earl *earl);

/* ---- groups.c ---- */

int earl_do_barrier(struct earl *earl, const struct earl_group *group);
int earl_do_broadcast(struct earl *earl, const struct earl_group *group, int root, void *data, size_t length);
int earl_do_reduce(struct earl *earl, const struct earl_group *group, void *data, size_t length,
                   void (*combine)(void *into, const void *from, void *argument), void *argument);
int earl_do_collect(struct earl *earl, const struct earl_group *group, const void *data,
                    const size_t *lengths, void *into);

/* ---- interrupts.c ---- */

int earl_do_then(struct earl *earl, earl_request request,
                 void (*routine)(const struct earl_envelope *envelope, void *argument), void *argument);
int earl_do_mask(struct earl *earl, int state);
/* Calls what is due. */
void earl_interrupts_serve(struct earl *earl);
static inline bool earl_interrupts_due(const struct earl *earl)
{
    return earl->first_due != NULL && earl->masked == 0 && earl->in_then == 0;
}
void earl_interrupts_end(struct earl *earl);
/* Nothing more is there to be taken in: the helper is told of what comes from now on. */
void earl_interrupts_arm(struct earl *earl);
void earl_leave_slowly(struct earl *earl);

/* Each public routine begins and ends with them. */
static inline void earl_enter(struct earl *earl)
{
    earl->inside++;
}
static inline void earl_leave(struct earl *earl)
{
    if (earl->first_due != NULL || earl->interrupts != NULL)
        earl_leave_slowly(earl);
    else
        earl->inside--;
}

/* ---- tools.c ---- */

struct earl_tool_event;
/* Loads the tools of EARL_TOOLS, before the process begins; tells them that it has; and ends them. */
void earl_tools_load(struct earl *earl);
void earl_tools_begin(struct earl *earl);
void earl_tools_end(struct earl *earl);
void earl_tools_before(struct earl *earl, struct earl_tool_event *event);
void earl_tools_after(struct earl *earl, struct earl_tool_event *event, int result);
/* A message has its receive, probe or claim. */
void earl_tools_match(struct earl *earl, const struct earl_envelope *envelope, long long number,
                      bool is_synchronous);
/* The message that a tool chooses for a receive from any source. NULL: none. */
struct earl_incoming *earl_tools_choose(struct earl *earl, const struct earl_wanted *wanted);

/* ---- public.c ---- */

struct earl_who;
/* Makes this process one of that kind: targets/targets.h. */
int earl_begin_as(const struct earl_who *who, const char *name);

/* ---- process.c ---- */

/* Makes *earl one process of that target. Returns a code. */
int earl_process_begin(struct earl *earl, const struct earl_target *target, void *self, const char *name);
void earl_process_end(struct earl *earl);
/* This process, for the public routines; NULL before earl_begin and after earl_end. */
extern struct earl *earl_own;

/* ---- peers.c ---- */

/* Makes the peer of a number below the limit. False: there is no memory. */
bool earl_peers_reach(struct earl *earl, int process);
/* The peers that there are, in turn; NULL: the first, or there is no further one. */
struct earl_peer *earl_peer_next(const struct earl *earl, const struct earl_peer *peer);
void earl_peers_end(struct earl *earl);

/* Whether there may be a process of that number; its peer exists then. */
static inline bool earl_is_process(struct earl *earl, int process)
{
    const size_t chunk = (unsigned)process / EARL_CHUNK;
    return process >= 0 && process < earl->limit &&
           ((chunk < earl->chunk_room && earl->chunks[chunk] != NULL) || earl_peers_reach(earl, process));
}
/* Of a number for which that was true. */
static inline struct earl_peer *earl_peer(const struct earl *earl, int process)
{
    return &earl->chunks[(unsigned)process / EARL_CHUNK][(unsigned)process % EARL_CHUNK];
}

#endif
