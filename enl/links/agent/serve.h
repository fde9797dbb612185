/* SPDX-License-Identifier: MIT */
/* Serving: orders of CCEs elsewhere, from when their messages come (orders_in.c).
 *
 * What an event costs does not grow with what else there is (only a SYNC looks at each owner that its CCE has used): streams with something to do, cells where
 * something has changed, and deadlines stand in lists and tables of their own. */
#ifndef BCRI_AGENT_SERVE_H
#define BCRI_AGENT_SERVE_H

#include "links/agent/private.h"

#include "bcri/act.h"
#include "bcri/waiters.h"

/* The region of puts of one bcr_putm: DATA. */
struct payload {
    struct entry at; /* by the number of the DATA */
    struct item of_peer;
    struct item of_unused; /* while it is in the pool, and has no users */
    struct peer *peer;
    uint32_t bytes, archtype, region_kind;
    struct bcri_slot_shm *region; /* the agent's ID of it, or NULL */
    uint8_t *aside;               /* it lies here, since the pool was full; else NULL */
    bool has_come, is_refused;    /* refused: it will not come, or not whole */
    bool was_full;                /* refused: since time was up */
    bool is_over;                 /* no further put will name it */
    uint32_t users;               /* DATA and puts that have begun and are not performed */
    struct list blocked;          /* streams whose put waits until it has come */
};

/* Orders of a stream that are not performed, beyond which the link pauses it: so many puts one CCE may have
 * on their way. */
#define STREAM_ORDERS_MAX BCRI_OUTBOX_WINDOW

/* Orders of a CCE elsewhere to a CCE here, as long as there are any, or what came of them. */
struct stream_in {
    struct entry at;
    struct item of_peer;
    struct item in_queue; /* ready, parked, or blocked at a cell or a payload */
    struct item in_no_room;
    struct item in_owing;
    uint64_t done;       /* the last of its puts that are done and not answered */
    uint32_t done_count; /* of those */
    struct peer *peer;
    uint32_t source, target;
    STAILQ_HEAD(, arrival) orders; /* that have come and are not performed */
    uint32_t count;                /* those, and those that are coming */
    bool paused;                   /* the link asks again when it is resumed */
    uint64_t late_at;              /* of what is next, and has come; 0: nothing has */
    struct list served, locks;
    uint32_t lock_count, lock_sweep; /* sweep: when so many are remembered */
};

/* A write lock that the CCE of a stream has, or had. */
struct write_lock {
    struct item of_stream; /* or of the dead ones */
    struct peer *peer;
    struct stream_in *stream; /* NULL: its CCE has ended, and the cell is to be told */
    bcri_ref cell;
    uint64_t gen_epoch; /* generation of the cell, epoch of the region; 0: it is not taken yet */
};

/* A cell of this host at which something waits for CCEs elsewhere, or from which regions are on their way. */
struct wanted_cell {
    struct entry at;
    struct item of_agent;
    struct item in_queue; /* giving back, or parked at that */
    bcri_ref ref;
    uint32_t users;         /* records that name it */
    uint32_t going_back;    /* of those taken */
    bool is_parked;         /* a withdrawal is */
    struct list gets, puts; /* that wait, the oldest first */
    struct list taken;   /* regions on their way, or going back, in the order in which the cell gave them */
    struct list blocked; /* streams whose get waits until nothing goes back */
};

enum served_state {
    SERVED_NEW, /* being performed */
    SERVED_GET_WAITS,
    SERVED_PUT_WAITS,
    SERVED_SENT,      /* the region is on its way */
    SERVED_FAILED,    /* and not answered, for want of memory */
    SERVED_GOES_BACK, /* the region goes back to the head of its cell */
};
struct served {
    struct entry at; /* a get that waits */
    struct item of_stream;
    struct item in_cell;  /* a read on its way is in none of the cell's lists */
    struct item in_queue; /* over, or parked at that */
    struct stream_in *stream;
    struct wanted_cell *cell;
    enum served_state state;
    enum bcri_want want;
    uint64_t request;
    struct bcri_slot_shm *slot;
    struct write_lock *lock; /* to be filled when its region has arrived */
    struct deadline deadline;
    bool is_waited_for; /* by its CCE: a get, a put with a time */
    bool ended;         /* its CCE has */
    int code; /* of one that has failed and is not answered, perhaps since its region goes back first */
};

/* A message that has come, or is coming. */
struct arrival {
    STAILQ_ENTRY(arrival) entry;
    struct peer *peer;
    struct bcri_message message;
    struct bcri_slot_shm *region; /* the agent's ID of its body, or NULL */
    struct payload *payload;      /* what it puts, until it has a hold of its own */
    uint64_t late_at;             /* when its CCE has waited for as long as it wants to; NEVER */
    struct bcri_message
        answer; /* it is performed, and not answered, for want of memory; kind 0: it is not performed */
};

/* ---- events.c ---- */

extern const struct bcri_link_events bcri_agent_link_events; /* of each link; its owner is the peer */
/* The pool has grown, or will not: answers that wait for that are looked at again. */
void bcri_answers_go_on(struct peer *peer);

/* ---- orders_in.c ---- */

/* NULL: no memory. */
struct arrival *bcri_arrival_new(struct peer *peer, const struct bcri_message *message);
/* `stream`: it counts there; or NULL. */
void bcri_arrival_free(struct stream_in *stream, struct arrival *arrival);
/* The link is to put the body of the message there. */
enum bcri_link_verdict bcri_arrival_accept(struct bcri_link_message *message, struct arrival *arrival);

enum bcri_link_verdict bcri_orders_in_begin(struct peer *peer, struct bcri_link_message *message,
                                            const struct bcri_message *read);
void bcri_orders_in_arrived(struct peer *peer, uint32_t source, uint32_t target, struct arrival *arrival);
/* Also of an answer. */
void bcri_orders_in_dropped(struct peer *peer, uint32_t source, uint32_t target, struct arrival *arrival);

/* ---- serve.c ---- */

/* The record of a served order, as the cookie of its answer: pointers to records are even. */
static inline void *bcri_served_cookie(struct served *served)
{
    return (char *)served + 1;
}

void bcri_serve_run(struct bcri_agent *agent);
/* Tries again what is parked. */
void bcri_serve_again(struct bcri_agent *agent);
void bcri_serve_lost(struct peer *peer);
void bcri_serve_free(struct bcri_agent *agent);

/* ---- streams.c ---- */

/* There is something to do in it. */
static inline void bcri_stream_is_ready(struct stream_in *stream)
{
    if (!is_listed(&stream->in_queue))
        list_append(&stream->peer->agent->ready, &stream->in_queue);
}

struct stream_in *bcri_serve_stream_find(const struct peer *peer, uint32_t source, uint32_t target);
/* The same, made if there is none. NULL: no memory. */
struct stream_in *bcri_serve_stream(struct peer *peer, uint32_t source, uint32_t target);
/* Forgets a stream of which nothing is left. */
void bcri_serve_stream_over(struct stream_in *stream);
/* These return false without memory. */
bool bcri_serve_answer(struct stream_in *stream, const struct bcri_message *answer);
static inline bool answer_code(struct stream_in *stream, uint64_t request, int code)
{
    const struct bcri_message answer = {
        .kind = BCRI_MESSAGE_ANSWER, .code = (uint32_t)code, .request = request};
    return bcri_serve_answer(stream, &answer);
}
/* That put is done: it is answered soon, together with others. */
void bcri_serve_put_done(struct stream_in *stream, uint64_t request);
/* Its CCE waits: its puts are answered now. */
bool bcri_serve_put_answers(struct stream_in *stream);
/* Answers puts whose time has come. */
void bcri_serve_answer_puts(struct bcri_agent *agent);

/* ---- perform.c ---- */

/* PARKED: nothing has happened, and a lock that a CCE holds is needed. BLOCKED: nothing has happened, and the
 * stream stands at a cell, or at a payload, in `blocked`. */
enum performed { PERFORMED, PERFORM_PARKED, PERFORM_BLOCKED };
/* notice.c: a notice has come, behind what it follows. False: it could not be told now. */
bool bcri_notice_perform(const struct stream_in *stream, const struct bcri_message *message);
enum performed bcri_perform(struct stream_in *stream, struct arrival *arrival);

/* ---- payload.c ---- */

struct payload *bcri_payload_find(const struct peer *peer, uint64_t data);
/* `region`: its body is coming there; NULL: it is refused. False: there is no memory to remember it; until it is over, puts
 * that name what is unknown are refused. */
bool bcri_payload_new(struct peer *peer, const struct bcri_message *message, uint32_t bytes,
                      struct bcri_slot_shm *region, struct payload **payload_out);
/* One user more. False: it lies aside, and the pool has no room. */
bool bcri_payload_use(struct payload *payload);
/* Room in the pool for the body of a message, for which payloads leave it if need be. */
bool bcri_arrival_find_room(struct bcri_agent *agent, struct arrival *arrival, uint32_t bytes);
/* Those that only wait for further puts, and that nobody else holds, leave the pool. */
void bcri_payloads_make_room(struct bcri_agent *agent);
void bcri_payload_has_come(struct payload *payload, bool whole);
/* A hold for one put: DONE, PARKED, bcrE_NOMEM. */
struct bcri_acted bcri_payload_hold(const struct payload *payload, struct bcri_slot_shm **slot_out);
/* A put has its hold, or needs none. */
void bcri_payload_release(struct payload *payload);
/* No further put will name it. */
void bcri_payload_over(struct peer *peer, uint64_t first);
void bcri_payloads_lost(struct peer *peer);
void bcri_payloads_free(struct peer *peer);

/* ---- waits.c ---- */

/* Something that is going to wait, or to be sent: all that needs memory for that. NULL: there is none. */
struct served *bcri_served_new(struct stream_in *stream, uint64_t request, enum bcri_want want);
void bcri_served_free(struct served *served);
/* It waits with `slot` from now on, until that time; NEVER: for ever. */
void bcri_served_waits(struct served *served, enum served_state state, struct bcri_slot_shm *slot,
                       uint64_t until_ns);
/* It has its region in `slot` without waiting. */
void bcri_served_has(struct served *served, struct bcri_slot_shm *slot);
void bcri_served_completed(struct served *served, enum bcri_link_outcome outcome);
struct served *bcri_served_find(const struct stream_in *stream, uint64_t request);
/* It is not to wait any longer. */
void bcri_served_over(struct served *served);
struct wanted_cell *bcri_cell_find(const struct bcri_agent *agent, bcri_ref ref);
/* Looks at what waits at the cells that a ring may have meant by `low`; at all cells. */
void bcri_cells_look_at(struct bcri_agent *agent, uint32_t low);
void bcri_cells_look_at_all(struct bcri_agent *agent);
/* What is over, or late, and regions that go back. True: something was done. */
bool bcri_waits_run(struct bcri_agent *agent);
/* The CCE of a stream has ended: what it has waiting is withdrawn. */
void bcri_serve_stream_end(struct stream_in *stream);
/* Tries again what is parked. */
void bcri_waits_again(struct bcri_agent *agent);

/* ---- write_locks.c ---- */

/* The record of a lock that is to be taken; NULL: no memory. */
struct write_lock *bcri_lock_new(struct stream_in *stream);
void bcri_lock_free(struct write_lock *lock);
/* The region in `slot` has arrived. The lock is the served one's no longer. */
void bcri_lock_taken(struct served *served);
void bcri_locks_end(struct stream_in *stream);
/* Tells cells of locks whose CCE has ended. */
void bcri_locks_run(struct bcri_agent *agent);

#endif
