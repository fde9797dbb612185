/* SPDX-License-Identifier: MIT */
/* child.h -- the other hosts, as the root's daemon has them. */
#ifndef ENL_CHILD_H
#define ENL_CHILD_H

#include "carry/carry.h"
#include "conductor/tree.h"
#include "tree/introductions.h"
#include "tree/life.h"
#include "tree/plan.h"
#include "wire/attached.h"

/* forward.c -- Requests that this daemon passes on to a neighbour in the tree, and whose answers it passes back.
 * A forwarded request is kept from the request to its answer; it may wait until the neighbour can take it.
 * Its requester is a connection: a CCE's, or a child daemon's. */

struct enl_forward {
    STAILQ_ENTRY(enl_forward) entry;
    struct enl_conn *conn; /* NULL: the requester is gone */
    uint32_t id;           /* between this daemon and the neighbour; 0: not sent */
    uint32_t starts;       /* CCEs that it enlists */
    struct enl_attached attached;
    size_t length;
    uint8_t bytes[]; /* the request */
};

/* The first number of a forwarded request. Lower ones are those of a daemon's own requests to its child: start,
 * stop and kill, whose replies may come late. */
#define ENL_FORWARD_ID1 16u

/* Its list is to be initialized. */
struct enl_forwards {
    STAILQ_HEAD(, enl_forward) all; /* oldest first */
    uint32_t last_id;
};

/* Keeps a request of `conn`, and takes what is attached to it (NULL: nothing). False: no memory. */
bool enl_forward_add(struct enl_forwards *forwards, struct enl_conn *conn, const struct bcri_control *request,
                     struct enl_attached *attached);
/* Sends those that are not sent. `turn`: that of the next CCE to be enlisted (tree.h), which goes on; NULL:
 * the neighbour decides. */
void enl_forwards_send(struct enl_forwards *forwards, struct enl_peer *peer, uint32_t *turn);
/* How many CCEs those enlist that are sent and not answered. */
uint32_t enl_forwards_start(const struct enl_forwards *forwards);
/* An answer has come, to that request, of which only the numbers are good. False: nobody has asked. */
bool enl_forward_answer(struct enl_forwards *forwards, const struct bcri_control *reply,
                        struct bcri_control *request_out);
/* started has come: the identities of CCEs of a request. strings_next has come by `conn`: the neighbour wants start strings of one.
 * Return NULL, or what is wrong with it. */
const char *enl_forward_started(struct enl_forwards *forwards, const struct bcri_control *message);
const char *enl_forward_strings(struct enl_forwards *forwards, struct enl_conn *conn,
                                const struct bcri_control *message);
/* Takes the oldest forwarded request out; the caller frees it. `request_out` has views into it. NULL: none. */
struct enl_forward *enl_forward_take(struct enl_forwards *forwards, struct bcri_control *request_out);
void enl_forward_free(struct enl_forward *forward);
/* The requester's connection is gone. */
void enl_forwards_forget(struct enl_forwards *forwards, const struct enl_conn *conn);
void enl_forwards_drop(struct enl_forwards *forwards);

/* A request of a neighbour's, which is served as a CCE's is. Returns NULL, or what is wrong with it. */
const char *enl_forward_request(struct enl_conn *conn, const struct bcri_control *message);
/* watched has come, of a CCE of this host or one below it; unstarted has come: an enlistor of this host, or of one below it, learns that. The same. */
const char *enl_forward_watched(struct enl_program *program, const struct bcri_control *message);
const char *enl_forward_unstarted(struct enl_program *program, const struct bcri_control *message);

/* child.c, child_begin.c, child_frames.c, child_sentence.c -- One daemon on another host, from the root's view: the process by which
 * it was started (rshpath's, or for a host that is `local` the daemon itself), the pipes to it, and its stderr.
 * The process and the pipes may be another daemon's, its starter (tree.h), which tells of them and passes on what
 * the two say to each other. What follows of what happens to it life.h decides, and is carried out here. */

struct enl_child {
    struct enl_life life;
    struct enl_program *program;
    LIST_ENTRY(enl_child) entry; /* of the root's, tree->children */
    const struct enl_host *host;
    const struct enl_host *by; /* the entry of its starter's host; NULL: the root's */
    uint32_t blamed;           /* the starter that could not begin it, as it seems; 0: none */
    uint32_t alive, isolated;  /* CCEs there, as it has said last; those that have asked for bcr_isolate */
    char *address;             /* where it is begun; NULL: the host's own */
    uint32_t archtype;
    char command[1024];
    char why[512]; /* why it is given up; "" : it has ended by itself */
    pid_t process; /* here; 0: reaped, or its starter's */
    int wait_status;
    struct enl_conn *
        conn; /* NULL: there is no way to it; its peer is its pipes, those of the tree, or its control link */
    struct enl_said said;
    char machine_id[200]; /* of which machine and user it is; "" until it has said so */
    struct enl_forwards forwards;
    uv_timer_t timer;      /* for life.until_ms */
    uint64_t met_until_ms; /* the deadline that was met, and what has come before is read */
    bool is_ssh;           /* the command is ssh */
    struct enl_control_link control_link;
    bool stops;                    /* it was told to stop its CCEs, and has not answered */
    bool goes_on_late;             /* it is to be told that the program goes on, when it is up */
    struct enl_log_copy *log;      /* its log as far as it has come (collect.c); NULL: nothing */
    uint32_t unread;               /* bytes of output that it may send more, when there is room for them */
    uint64_t ends_until_ms;        /* it alone is to end, and is given up then; 0: not so */
    uint32_t drains;               /* the question of enl_tree_drain that it has not answered; 0: none */
    struct enl_source *sources[2]; /* what it brings for stdout and stderr; NULL: nothing yet */
};

static inline struct enl_child *enl_child_of(struct enl_life *life)
{
    return (struct enl_child *)life; /* its first member */
}

/* What a peer of a child's is told to. */
struct enl_peer_ops;
extern const struct enl_peer_ops enl_child_peer_ops;

/* How long a child that is to end may be silent, unless what ends it takes longer. */
enum { ENL_CHILD_END_MSEC = 2000 };

/* The numbers of a daemon's own requests to a child; the others are forwarded requests. */
enum { ENL_CHILD_START_ID = 1, ENL_CHILD_STOP_ID = 2, ENL_CHILD_KILL_ID = 3 };

/* Bytes of output that a child may have under way, and what a piece takes of them beside its text. */
#define ENL_WINDOW_BYTES 65536u
#define ENL_WINDOW_PIECE 32u

/* A child that waits to be begun at `address` (NULL: the host's own). NULL: no memory. */
struct enl_child *enl_child_new(struct enl_program *program, const struct enl_host *host, const char *address,
                                uint32_t number);
/* Begins it: here if `starter` is NULL, else by way of that child. False: a sentence says why not. */
bool enl_child_begin(struct enl_child *child, struct enl_child *starter, char *error, size_t error_size);
/* It was not: it is GONE for that reason. */
void enl_child_not_begun(struct enl_child *child, const char *sentence);
/* said, closed or ended has come of it. */
void enl_child_told(struct enl_child *child, const struct bcri_control *message);
/* It says itself that its daemon has ended, which nobody else may know. Returns NULL, or what is wrong with it. */
const char *enl_child_said_end(struct enl_child *child);
/* That has happened to it: what follows of it is carried out, and it may be freed. At once, or, if this arises from another event of
 * any child, when that has been handled. */
void enl_child_happens(struct enl_child *child, enum enl_life_event event);
/* The same in two steps: it is told, and frees nobody yet; all is handled that was told. */
void enl_child_tell(struct enl_child *child, enum enl_life_event event);
void enl_children_handle(struct enl_program *program);
/* child_sentence.c: why it is GONE, "" if it was told to end. */
void enl_child_sentence(struct enl_child *child, char *out, size_t size);
/* More of what is pushed to a child is on its way: it has connecttimeout from now. */
void enl_child_gets_more(void *child);
/* A message of it has come in the control link (introductions.h); all has that it had said when its pipe ended. */
void enl_child_control_link_came(struct enl_child *child, const uint8_t *content, uint32_t bytes);
void enl_child_control_link_is_read(struct enl_child *child);
/* From now on all goes by its control link. If it cannot the child is cut off. */
void enl_child_listen(struct enl_child *child);
/* A message has come from it. Returns NULL, or what is wrong with it. */
const char *enl_child_take(struct enl_child *child, const struct bcri_control *message);
/* Its pipe has ended, or brings nonsense: `why`. Its process ends too, or is made to. */
void enl_child_pipe_ended(struct enl_child *child, const char *why);
/* Sends what waits for it, if it works. */
void enl_child_ask(struct enl_child *child);
void enl_child_send(struct enl_child *child, const struct bcri_control *message);
/* Tells it that the program is stopped, which it is to answer. */
void enl_child_stop(struct enl_child *child);
/* That it goes on: by the way that it keeps, once it has that. */
void enl_child_go_on(struct enl_child *child);
/* It alone is to end: its CCEs are killed. */
void enl_child_end_alone(struct enl_child *child);
/* Whether it has not, and says still that it is there. */
bool enl_child_is_overdue(const struct enl_child *child);
/* Ends it at once. `why` is the reason if that is a failure, else "". */
void enl_child_cut(struct enl_child *child, const char *why);
void enl_child_reaped(struct enl_child *child, int wait_status);
/* There is room for its output. */
void enl_child_resume(struct enl_child *child);
/* Of a child that is GONE: until when (CLOCK_BOOTTIME) its daemon may go on, since only the way to it
 * may have ended; 0: it has ended. */
uint64_t enl_child_lease_ms(const struct enl_child *child);
void enl_child_free(struct enl_child *child);

/* places.c, starting.c, tree.c -- What the root's daemon knows of the machines that its program may use. */

/* The requester of a change of the list; conn NULL: nobody waits. */
struct enl_asker {
    struct enl_conn *conn;
    uint32_t id;
};

/* What is known of an entry of the list of hosts. */
struct enl_place {
    struct enl_host *host;
    bool here;               /* it is the root's machine, under a name of its own */
    struct enl_place *same;  /* it is one machine with that */
    char *failed;            /* why it could not be started, which is not tried again; NULL: it may be */
    struct enl_child *child; /* NULL: none has been started, or it is gone */
    uint32_t sshd;           /* by which it is reached: places with the same number share one */
    char abi[16];            /* of the enl there, when it has been met; "": not yet */
    bool is_new;             /* it stays in the list if it comes up */
    bool is_taken;           /* it is in the list no more: its daemon is to end, if there is one */
    struct enl_asker asker;  /* who waits for either */
};

/* The hosts that were wanted since none was waited for: shown at a terminal. */
struct enl_batch {
    uint32_t hosts, pending; /* all, and those that are not up yet */
    bool told;               /* a line tells how many are up */
    uv_timer_t timer;        /* nothing is told for a second */
};

/* What is known of a host by its number, also when it is gone. */
struct enl_numbered {
    uint32_t archtype; /* 0: it has not presented itself yet */
    uint32_t
        first; /* the host of the root's own whose pipes lead there: itself, unless another has begun it */
};

struct enl_tree {
    LIST_HEAD(, enl_child) children;
    struct enl_lives lives; /* of the children */
    uint32_t last_number;
    struct enl_numbered *numbered; /* up to last_number */
    size_t numbered_room;
    struct enl_plan plan;
    uint32_t sshds; /* numbers of sshds that are given */
    struct enl_batch batch;
    uv_timer_t lease;  /* the next of those that are gone is lost (introduce.c) */
    uv_timer_t begins; /* something that the plan allows may be begun */
    char machine_id[200];
    struct bcri_control end; /* by which all are to end, and how long each may be silent then */
    uint64_t end_patience_ms;
    void (*stopped)(struct enl_program *program);
    uv_timer_t patience; /* for `stopped` */
    uv_timer_t killed;   /* all have been; it runs until they are given up */
};

/* Makes it if need be. NULL: no memory. */
struct enl_tree *enl_tree_of(struct enl_program *program);
/* Makes the plan, and numbers the sshds of all places; the sshd of one more. False: no memory. */
bool enl_tree_plan(struct enl_program *program, struct enl_tree *tree);
void enl_tree_number_sshd(const struct enl_program *program, struct enl_place *place);
/* NULL: it is gone, or there has been none. */
static inline struct enl_child *enl_tree_child(const struct enl_program *program, uint32_t number)
{
    struct enl_life *life = program->tree != NULL ? enl_lives_find(&program->tree->lives, number) : NULL;
    return life != NULL ? enl_child_of(life) : NULL;
}
/* A child for the host of that place, at `address` unless that is NULL or "", to be begun when the plan allows it;
 * `direct`: by this daemon. False: a sentence says why not. */
bool enl_tree_want(struct enl_program *program, struct enl_place *place, const char *address, bool direct,
                   char *error, size_t error_size);
/* It has spoken; it is up; it is gone. */
void enl_tree_met(struct enl_child *child);
void enl_tree_up(struct enl_child *child);
void enl_tree_gone(struct enl_child *child);
/* The pipes of the root's that lead to that host, or led there until it was gone; NULL: they are closed. */
static inline struct enl_peer *enl_tree_pipes(const struct enl_program *program, uint32_t number)
{
    const struct enl_tree *tree = program->tree;
    const struct enl_child *first = tree != NULL && number <= tree->last_number
                                        ? enl_tree_child(program, tree->numbered[number].first)
                                        : NULL;
    return first != NULL && first->conn != NULL ? first->conn->peer : NULL;
}
/* Tells its starter to end its process. */
void enl_tree_cut_child(const struct enl_child *child);
/* A message has come from a daemon below that one; said, closed or ended has come, of one that it has begun. Return NULL,
 * or what is wrong with that one. */
const char *enl_tree_passes(struct enl_child *child, const struct bcri_control *message);
const char *enl_tree_tells(struct enl_child *child, const struct bcri_control *message);
/* places.c: `present` has come. False: the child is one machine with another daemon and not needed. */
bool enl_places_met(struct enl_child *child);
/* It is GONE: unlinks and frees it. `sentence`: why, "" if it was told to end. */
void enl_places_gone(struct enl_child *child, const char *sentence);

/* changes.c -- bcr_hostadd and bcr_hostdel, in the root's daemon. A host that is added has its daemon begun, and is in the list
 * meanwhile; when that is up the requester is answered, and when it is gone without having been up the host is taken out again. One
 * that is taken away is taken out at once, and the requester is answered when its daemon is gone. */

/* A child is up. */
void enl_changes_up(const struct enl_child *child);
/* It is one machine with the host `other`, or with the root's (NULL). */
void enl_changes_met(const struct enl_child *child, const struct enl_host *other);
/* It is gone, and not begun again. `sentence`: why, "" if it was told to end. */
void enl_changes_gone(const struct enl_child *child, const char *sentence);

/* How many hosts below it are up. */
uint32_t enl_tree_below(const struct enl_child *child);
/* A daemon that was told to end, and keeps its connection, is given up so many milliseconds later. */
uint64_t enl_tree_end_limit(const struct enl_program *program);
/* A child has stopped, or will not any more. */
void enl_tree_stopped(struct enl_child *child);

#endif
