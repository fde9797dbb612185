/* SPDX-License-Identifier: MIT */
/* host.h -- the interface of enl/host: what a daemon knows of this host's CCEs, and does for them. */
#ifndef ENL_HOST_H
#define ENL_HOST_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

#include <bcr.h>

#include "base/self.h"
#include "base/table.h"
#include "bcri/channel.h"
#include "bcri/control.h"
#include "bcri/ctx.h"
#include "bcri/host.h"
#include "bcri/notice.h"
#include "bcri/ref.h"
#include "host/drain.h"
#include "host/group.h"
#include "host/limits.h"
#include "host/output.h"
#include "host/tempdir.h"
#include "wire/wire.h"

struct bcri_heap_piece;
struct bcri_lines;
struct enl_batch;
struct enl_audit;
struct enl_await;
struct enl_cce;
struct enl_here;
struct enl_members;
struct enl_spawn;
struct enl_worker;
LIST_HEAD(enl_watchers, enl_watcher);

/* cores.c -- The core that a CCE runs on when its enlistor leaves that to BCR: of the cores that enl itself may
 * use, the one to which the fewest CCEs of this program are pinned; of several such, the next in turn. */

struct enl_cores {
    cpu_set_t allowed;
    bool begun;
    int first; /* on which the first enlistor runs; -1: on none of them, or there is none yet */
    int turn;  /* the core taken last */
    uint16_t pinned[CPU_SETSIZE];
};

/* Notes the cores that this process may use. */
void enl_cores_init(struct enl_cores *cores);
/* The turn begins behind `core`, on which the first enlistor runs. Two CCEs that wait for each
 * other on one core would stay there for a long time, since the kernel never sees one of them lack
 * a core. */
void enl_cores_begin(struct enl_cores *cores, int core);
/* The next one is the one of that number, counted round and round among those that the program may use,
 * unless another has fewer CCEs. */
void enl_cores_turn(struct enl_cores *cores, uint32_t number);
/* The number of the first enlistor's; -1: it has none. */
int enl_cores_first(const struct enl_cores *cores);
bool enl_cores_has(const struct enl_cores *cores, int core);
/* The core of that number, counted from 0 among those that the program may use; -1: it has fewer. */
int enl_cores_nth(const struct enl_cores *cores, int number);
/* The core for the next CCE; -1: there is only one, or the daemon does not know which it may
 * use. */
int enl_cores_choose(const struct enl_cores *cores);
/* _take: a CCE is pinned to `core`; _give: it no longer is. -1 does nothing. */
void enl_cores_take(struct enl_cores *cores, int core);
void enl_cores_give(struct enl_cores *cores, int core);

/* host.c -- This host of the program: its shared memory, its CCEs, and what they print. What it asks of the rest
 * of the daemon it asks by struct enl_here_ops. */

/* How a CCE has ended, as far as that matters for the others. */
enum enl_end {
    ENL_END_GOOD,    /* it has exited with status 0 */
    ENL_END_STATUS,  /* with another status */
    ENL_END_ABNORMAL /* in any other way, or nobody knows how */
};

/* What follows from the end of a CCE. */
struct enl_outcome {
    bool is_normal;
    bool ends;        /* the program */
    const char *says; /* that, as the end of a sentence */
};

struct enl_here_ops {
    /* ---- starts ---- */
    /* Whether CCE `ordinal` starts under a debugger; how: see debug/session.c; `pid` has been started so, or -errno. */
    bool (*is_debugged)(const struct enl_session *session, uint32_t ordinal);
    int (*dress)(struct enl_session *session, struct enl_cce *cce, struct enl_spawn *spawn, char ***words_out,
                 char *error, size_t error_size);
    void (*debugger_started)(struct enl_session *session, struct enl_cce *cce, pid_t pid);
    /* The doorbell of the link thread, for a new CCE; -1: there is none. */
    int (*network_bell)(const struct enl_links *links);
    /* A CCE has an outbox in that segment: the agent is told. False: no memory for that, or no thread. */
    bool (*outbox_made)(struct enl_links *links, uint32_t index, bcri_ref outbox);
    /* A CCE has said hello with flags that concern the whole program. */
    void (*asked)(struct enl_program *program, const struct enl_cce *cce);
    /* Tells another host that a CCE here has ended which one there watches. False: no memory. */
    bool (*send_notice)(struct enl_links *links, const struct bcri_notice *notice);
    /* Puts what a CCE here has printed into a cell of another host. False: no memory, or no link thread. */
    bool (*send_lines)(struct enl_links *links, struct bcri_lines *lines);
    /* Sends no more of them, and tells soon what has become of those on their way. */
    void (*halt_lines)(struct enl_links *links);
    /* Asks for a link to that host, unless there is one; enl_watches_host_lost is called if it is lost. */
    void (*want_host)(struct enl_program *program, uint32_t number);
    /* Sends a message to another host's daemon. */
    void (*send_to_host)(struct enl_program *program, uint32_t number, const struct bcri_control *message);

    /* ---- ends ---- */
    struct enl_outcome (*outcome_of_end)(int onfail, int flags, bool is_root, enum enl_end end);
    /* The root has ended; `is_known`: it has said how. */
    void (*root_ended)(struct enl_jobs *jobs, int status, bool is_known);
    /* It was killed by a signal that is a crash: its report is made, before its record is repaired. */
    void (*crashed)(struct enl_crashes *crashes, struct enl_cce *cce, int signal, bool core_file);
    void (*crash_dropped)(struct enl_cce *cce);
    /* A CCE has ended of which the root's daemon keeps something. */
    void (*left)(struct enl_program *program, const uint8_t identity[BCRI_IDENTITY_BYTES]);
    /* Tells the root's daemon something of a team. */
    void (*tell_teams)(struct enl_program *program, const struct bcri_control *message);
    /* Tells it what the job's processes here have used (limits.c). */
    void (*tell_used)(struct enl_program *program, const struct bcri_control *message);
    /* Has the agent forget it; false: it does not know it. enl_cce_forgotten is called then. */
    bool (*forget)(struct enl_links *links, uint32_t index);
    /* The worker has a piece for the agent's pool. */
    void (*pool_grown)(struct enl_links *links, const struct bcri_heap_piece *piece, bool is_there);
};

struct enl_here {
    struct enl_self *self;
    struct enl_conns *conns;
    const struct enl_here_ops *ops;

    struct bcri_host *host; /* the shared memory */
    struct enl_cce **cces;  /* by index; NULL where there is none */
    size_t cce_room;
    TAILQ_HEAD(enl_cces, enl_cce) all; /* in order of age */
    struct enl_cce *root;              /* NULL in a daemon that another has started (enl --child) */
    uint32_t alive;                    /* CCEs and processes started for them that have not ended */
    bool is_frozen;    /* all CCEs are stopped but those for which a debugger was asked (bcr_debug) */
    uint32_t isolated; /* those of them that have asked for bcr_isolate */
    LIST_HEAD(, enl_pipe) pipes; /* between members of jobs, with an end that no member has yet */
    struct enl_cores cores;
    char *folder; /* the root's working directory; NULL: unknown */

    int numbers_told; /* segment numbers: 1: reported that few are left; 2: that none is */

    struct enl_worker *worker;
    unsigned forgetting;            /* CCEs that the agent is to forget before their repair */
    uv_timer_t linger;              /* from the end of a CCE's connection to its SIGKILL */
    SLIST_HEAD(, enl_audit) audits; /* that wait until there are none, or look again soon */
    uv_timer_t audit_pause;         /* between two looks of the audits in `audits` */
    struct enl_lines lines;
    struct enl_drain drain;
    struct enl_tempdir tempdir;
    struct enl_group group;
    struct enl_limits limits;
    bool has_job; /* members of one were started here: at its end nothing that they have started is left */
    struct table watches;            /* all, by who is watched (watches.c) */
    struct enl_watchers far_watches; /* those by CCEs of other hosts */
    struct table starts;             /* CCEs elsewhere that ones here have started (starts.c) */
    LIST_HEAD(, enl_members) teams;  /* that have members here */
    LIST_HEAD(, enl_batch) batches;  /* of lines on their way into cells (cell_lines.c) */
    bool lines_halted;               /* no more are sent, and those are waited for, */
    uv_timer_t lines_limit;          /* until then */
};

/* Before all else. */
void enl_here_init(struct enl_here *here, struct enl_self *self, struct enl_conns *conns,
                   const struct enl_here_ops *ops);
/* Starts its timers and the worker, when here->host is there. Returns 0 or -errno. */
int enl_here_start(struct enl_here *here);
/* The loop ends. False: the worker's thread is stuck, and nothing that it uses may be freed. */
bool enl_here_stop(struct enl_here *here);

/* audit.c -- enl audit: the worker checks the program's shared structures (bcri/audit.h), and the loop sends the
 * result to the requester. */

/* A client has asked. Returns NULL, or why its connection must end. */
const char *enl_audit_ask(struct enl_here *here, struct enl_conn *conn, const struct bcri_control *message);
/* At the program's end. */
void enl_audit_stop(struct enl_here *here);

/* The agent has forgotten all CCEs that have ended, whose repairs are queued by now: audits that were
 * asked for meanwhile are made behind them. */
void enl_audit_go_on(struct enl_here *here);

/* host.c -- Tells a person which CCE holds up others: one that is stopped in the middle of a call keeps the
 * locks that it has, and nobody may take them away. */

/* CCE `waiter` (or the repair of what it has left) has waited for CCE `holder` for a second. The
 * daemon says so on stderr, once a minute for each holder, and each time in the log. */
void enl_blocked_by(struct enl_here *here, uint32_t holder, uint32_t waiter);

/* cce.c -- One CCE, from the moment at which a record is given out for it until its processes and their
 * output have ended. Shortly before that end, or long after it, the record may be another CCE's
 * already (bcri/reclaim.h).
 *
 *   STARTED --hello--> HELD --its birth region is in cell 0--> ALIVE --it ends--> OVER
 *      |                 |                                                         ^
 *      +-----------------+--------- the start failed ------------------------------+
 *
 * A member of a team stays HELD until its team's gate is open, too.
 *
 * A HELD CCE whose private socket has ended stays HELD until its process has ended; the daemon
 * kills that after a second.
 *
 * A CCE may have two processes: `process`, which the daemon started (or which started the daemon),
 * and `pid`, which called bcr_init. Usually they are one. Under a wrapper, a debugger or a shell
 * script they are two, and under enl --join, or after bcr_enter, there is no `process`. A CCE counts as alive until both
 * have ended. */

enum enl_cce_life { ENL_STARTED, ENL_HELD, ENL_ALIVE, ENL_OVER };

/* The enlistor of a CCE, which may be on another host. Zeros: it has none, as the root, and those that have entered. */
struct enl_origin {
    uint8_t identity[BCRI_IDENTITY_BYTES];
};

/* Among the flags of a CCE, beside those of its bcr_init, which has no such one. */
enum {
    ENL_OF_JOB = 1 << 29,
    ENL_OF_SCORE_JOB = 1 << 28 /* beside it: a signal that kills it ends the job */
};

struct rusage;

struct enl_cce {
    struct enl_here *here;
    TAILQ_ENTRY(enl_cce) entry; /* here->all */
    struct bcri_record_shm *record;
    enum enl_cce_life life;
    uint32_t index;
    uint32_t ordinal;
    char *object; /* as its enlistor named it */
    struct enl_origin origin;
    bool cell0_ready; /* cell 0 is ready for bcr_init to return */
    int flags;        /* of its bcr_init, and ENL_OF_JOB */
    int lines_cell;   /* of its enlistor's, into which goes what it prints; 0: none */

    pid_t process;               /* the daemon's child, not reaped yet; 0: none */
    int core;                    /* to which it is pinned, or -1 */
    bool debugged;               /* `process` is a debugger that the daemon has started */
    bool asks_debugger;          /* by bcr_debug */
    bool own_group;              /* `process` leads a process group */
    bool writes_pipe;            /* its stdout is another member's stdin: who ends early ends it by SIGPIPE */
    int wait_status;             /* how `process` ended */
    pid_t pid;                   /* the CCE; 0 before hello and after its end */
    struct enl_watch *pid_watch; /* its pidfd; NULL if `process` is the CCE */

    struct enl_await *await;    /* its process comes by itself, for as long as it lives; NULL: it does not */
    struct enl_conn *handshake; /* the inherited socket's other end; NULL: ended */
    struct enl_conn *control;   /* the private socket's other end; NULL: none yet, or ended */
    uint32_t hello_id;          /* welcome answers this id */
    int kill_socket;            /* closing it kills the CCE; -1 before welcome */
    bool refused;               /* hello came and was refused */
    const char *misheard;       /* why its hello was not understood; NULL: it was, or none came */
    bool hello_late;            /* hello came when its process had ended */
    bool ran_enl;               /* `process` was an enl at its end */
    bool has_ended;             /* the CCE has, and what it sent before is being read */
    bool disconnected;          /* its connection ended while the process lives */
    bool disconnect_reported;   /* and a person was told that the CCE is killed */
    uint64_t blocked_reported_ms; /* when stderr last said that others wait for it; 0: never */
    bool finished;                /* it no longer counts as alive */
    bool is_kept_of;              /* the root's daemon keeps something of it: names, a team that it starts */
    bool has_outbox;              /* it may order of the agent (bcri/outbox.h) */
    bool repairing;               /* the agent forgets it, or the worker repairs what it held */
    bool has_status;              /* a member of its team has ended it with `status`, by bcr_end */
    int status;
    uint8_t how, number; /* enum bcr_how, and what goes with it, when it has ended; 0: that is not known */
    uint64_t cpu_us,
        rss_kib;        /* what its process and those that it has waited for have used, if that is known */
    bool never_up;      /* it has ended without becoming a CCE; else the record says how */
    bool tells_starter; /* its end is told to its enlistor (bcr_STARTED) */
    struct enl_watchers watches;     /* of it, of others */
    LIST_HEAD(, enl_started) starts; /* CCEs elsewhere that it has started, and that live (starts.c) */
    struct {                         /* in a team */
        struct enl_members *members; /* NULL: it is in none */
        LIST_ENTRY(enl_cce) entry;
        bool is_told;          /* the root's daemon knows of it */
        bool has_come;         /* and that it waits at the gate */
        uint32_t rank, rounds; /* of bcr_teamsync: so many have begun for it */
        bool waits, is_late;   /* in one of them; until the root says whether it has counted on it */
        uint32_t request;      /* which is answered then */
        uint64_t until_ms;     /* of the loop's clock; UINT64_MAX: for ever */
    } team;
    struct { /* it only looks for regions (bcr_idle), and the search for deadlocks has asked it */
        uint32_t question; /* not answered yet; 0: none */
        uint64_t period;   /* about this one */
    } idle;
    struct enl_crash *crash; /* what is being found out, or is known, of its crash; NULL: it has none */
    struct enl_output output;
    struct enl_input *input; /* its stdin, if that is the user's; NULL: it is not, or is at its end */
};

/* Gives out a record. Returns NULL and a sentence if there is no room. */
struct enl_cce *enl_cce_new(struct enl_here *here, const char *object, uint32_t ordinal,
                            const struct enl_origin *origin, char *error, size_t error_size);
struct enl_origin enl_origin_of(const struct enl_cce *enlistor);
/* It is a member of a job: it may be any program, and its end harms no other, unless the job is SCore's. */
void enl_cce_of_job(struct enl_cce *cce, bool of_score);
static inline bool enl_cce_is_of_job(const struct enl_cce *cce)
{
    return (cce->flags & ENL_OF_JOB) != 0;
}
/* Whether its end harms no other, whatever onfail says. */
static inline bool enl_cce_is_isolated(const struct enl_cce *cce)
{
    return (cce->flags & (bcr_isolate | ENL_OF_JOB)) != 0;
}
/* Takes back a CCE for which no process could be started; the caller has reported why. */
void enl_cce_drop(struct enl_cce *cce);
/* Tells the enlistor that CCE `ordinal` did not start, and by `code` why: by an error region in its
 * cell 0, if the enlistor lives and asked for error regions. If it is on another host, that
 * is told. */
void enl_cce_tell_failure(struct enl_here *here, const struct enl_origin *origin, uint32_t ordinal, int code);
/* unstarted.c -- A CCE was started and did not become one: reports why, tells the enlistor, and ends it. `code` is
 * for the error region. */
void enl_cce_fail(struct enl_cce *cce, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A process that the daemon started has ended, no process holds its socket any more, and no hello has come. */
void enl_cce_fail_without_hello(struct enl_cce *cce);

/* Has the worker make its cell 0, with `data` in it if that is not NULL; then enl_cce_cell0_ready
 * is called. False: no memory. */
bool enl_cce_init_cell0(struct enl_cce *cce, uint32_t archtype, const void *data, uint32_t length);

/* What the process of a CCE executes. */
struct enl_cce_command {
    const char *path;
    char *const *argv;
    char *const *environment; /* NULL: the program's own */
    const char *folder;       /* NULL: the root's */
    const char *in,
        *out; /* files: its standard input and output; NULL: none. A base name is in the job's directory */
    bool appends;   /* to `out` */
    bool has_input; /* the user's standard input */
    bool reads_pipe,
        writes_pipe; /* of members of the same rank of the teams with the numbers before and behind its own */
    bool is_held;    /* it waits before it becomes the program, until its team's gate opens (gate.c) */
    int core;        /* -1: one that the daemon chooses */
};

/* Starts a process for it. Returns 0, or a bcrE_ code with a sentence in `error`. The root gets the daemon's own
 * standard files, and is not pinned. */
int enl_cce_start(struct enl_cce *cce, const struct enl_cce_command *command, char *error, size_t error_size);
/* Why a process could not be started, or not be served, for a person. */
const char *enl_cce_text_of_error(int error);
/* The turn of cores begins behind the core on which the root runs now. */
void enl_cce_begin_cores(struct enl_here *here);
/* The root's process is there already: it made this daemon. `handshake` is the daemon's end of its
 * socket. */
bool enl_cce_adopt_root(struct enl_cce *cce, pid_t process, int handshake);

/* Enlists a process that waited as this CCE: `conn` becomes its private socket. With core -1 its
 * affinity stays as it is. False: the process is gone. */
bool enl_cce_take(struct enl_cce *cce, struct enl_conn *conn, int core);

/* Process `pid` has sent hello, with the private socket `fd` (taken). */
void enl_cce_hello(struct enl_cce *cce, pid_t pid, int fd, const struct bcri_control *hello);
/* Its birth region is in cell 0, or it gets none; with a `code`, the region could not be put there.
 * The CCE, or its connection, may have ended meanwhile. */
void enl_cce_cell0_ready(struct enl_cce *cce, int code);
/* The gate of its team is open. */
void enl_cce_gate_open(struct enl_cce *cce);
/* Its process waits, by enl_gate, before it becomes the program. */
void enl_cce_held(struct enl_cce *cce);

/* job_files.c -- Standard input and output of a member of a job, as its command says: files, and pipes to other members. */

/* Puts them into the place of what is open in `spawn`. has_output: if its team prints into a file here, this member does; the others
 * print to nowhere. Returns 0 or -errno, where `*step_out` says what failed. */
int enl_job_files_open(struct enl_cce *cce, uint32_t team, bool has_output,
                       const struct enl_cce_command *command, struct enl_spawn *spawn, const char **step_out);
/* The program ends: closes ends of pipes whose members were not started. */
void enl_job_files_close(struct enl_here *here);

/* input.c -- The user's standard input, for the first member of a job. */

/* The end of a pipe for the member's stdin. Returns 0 or -errno. */
int enl_input_open(struct enl_cce *cce, uint32_t team, int *in_out);
/* It is over, or was not started. */
void enl_input_close(struct enl_cce *cce);
/* input: bytes, or without any their end. Returns NULL, or what is malformed. */
const char *enl_input_take(struct enl_here *here, const struct bcri_control *message);

/* gate.c -- enl --gate FILE ARGV0 [arguments]: a member that waits, before it becomes FILE, until its team's gate opens. Returns the
 * exit status, if it cannot. */
int enl_gate(char **words);

/* A CCE's pidfd tells that the process has ended which called bcr_init; `data` is the CCE. */
void enl_death_of_pid(void *data);
/* A child with this pid has ended and is still in the process table. */
void enl_cce_look_at_dead(struct enl_here *here, pid_t pid);
/* A child with this pid has ended; it need not belong to a known CCE. */
void enl_cce_reaped(struct enl_here *here, pid_t pid, int wait_status, const struct rusage *usage);
/* Its inherited socket has ended: no process holds it any more, or what came was not understood: `wrong`. */
void enl_cce_handshake_closed(struct enl_cce *cce, const char *wrong);
/* Its private socket has ended, or the daemon has ended it. */
void enl_cce_disconnected(struct enl_cce *cce);
/* The agent does not know it any more: the worker repairs. */
void enl_cce_forgotten(struct enl_cce *cce);
/* The worker has done the repair; with a `code`, only as far as corrupt memory lets it. */
void enl_cce_repaired(struct enl_cce *cce, int code);
/* It has ended, and what it printed has come into its enlistor's cell, or goes elsewhere now. */
void enl_cce_lines_over(struct enl_cce *cce);
/* Frees it if nothing needs it any more. */
void enl_cce_release(struct enl_cce *cce);

/* NULL, or a sentence that says why a hello cannot be accepted. */
const char *enl_hello_wrong(const struct bcri_control *hello);
/* Answers so by the private socket `fd` that a hello has brought, and closes that. */
void enl_hello_refuse(int fd, uint32_t id, int status, const char *text);

/* Sends the answer to a call of a CCE's that may run handlers meanwhile: such a CCE sleeps on its
 * bell. The connection may be a child daemon's, too. */
void enl_cce_answer(struct enl_conn *conn, const struct bcri_control *reply);
/* The same with a status, and a sentence unless `text` is NULL. */
void enl_cce_reply(struct enl_conn *conn, uint32_t id, int status, const char *text);

static inline struct enl_cce *enl_cce_at(const struct enl_here *here, uint32_t index)
{
    return index < here->cce_room ? here->cces[index] : NULL;
}
/* The CCE of this host with that identity, alive or over; NULL if another CCE has its record by now. */
static inline struct enl_cce *enl_cce_of(const struct enl_here *here,
                                         const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    struct enl_cce *cce = enl_cce_at(here, bcri_identity_index(identity));
    return cce != NULL && memcmp(cce->record->id.identity, identity, BCRI_IDENTITY_BYTES) == 0 ? cce : NULL;
}
/* Sends a signal to the CCE alone, whatever it runs under. Returns 0, or an errno: ESRCH if it is no CCE yet or has
 * ended. */
int enl_cce_signal_itself(const struct enl_cce *cce, int signal);
/* Sends a signal to the process that was started for it and to the CCE itself. With `group`, to the
 * group that the process leads. */
void enl_cce_signal(struct enl_cce *cce, int signal, bool group);

/* How sentences name it: "CCE 3 (ring, pid 1234) on alpha". Of a long name the beginning is left out. For the loop's
 * thread alone; the text is there until this has been called twice again. */
#define ENL_CCE_TEXT_MAX 512
const char *enl_cce_text(const struct enl_cce *cce);

/* memory.c -- What a CCE asks of its host's memory: segments, pages of cells, eventfds of cells. `conn` is its
 * private socket. Each answers, and returns NULL or why the connection must end. */

const char *enl_memory_segment_add(struct enl_conn *conn, struct bcri_incoming *in);
const char *enl_memory_segment_again(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_segment_fd(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_pages_take(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_pages_back(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_fd_set(struct enl_conn *conn, struct bcri_incoming *in);
const char *enl_memory_fd_get(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_fd_ring(struct enl_conn *conn, const struct bcri_control *message);

/* watches.c -- Who is to be told that a CCE has ended (bcr_watch). */

/* watch: a CCE begins or ends a watch. Returns NULL, or why its connection must end. */
const char *enl_watches_ask(struct enl_conn *conn, const struct bcri_control *message);
/* watched: one of another host does; the root's daemon passes on what is for another. The same. */
const char *enl_watches_far(struct enl_here *here, const struct bcri_control *message);
/* What a CCE left is repaired. */
void enl_watches_ended(struct enl_cce *cce);
/* Another host says so of one of its CCEs, behind all that this one has ordered of the watcher. */
void enl_watches_notice(struct enl_here *here, const struct bcri_notice *notice);
/* That host is lost. */
void enl_watches_host_lost(struct enl_here *here, uint32_t host);
/* A CCE has ended: nobody is to tell it anything. */
void enl_watches_forget(struct enl_cce *cce);
void enl_watches_stop(struct enl_here *here);

/* await.c -- Members of a team whose processes come by themselves. */

struct enl_await_who {
    const char *key;
    uint32_t rank;
    uint8_t nonce[BCRI_NONCE_BYTES]; /* of this program's start */
};
/* Claims that member for `cce`, whose process is there. Returns 0, or a bcrE_ code with a sentence. */
int enl_await_claim(struct enl_cce *cce, const struct enl_await_who *who, char *error, size_t error_size);
/* The same for a process that may be there, or comes. */
int enl_await_member(struct enl_cce *cce, const struct enl_await_who *who, char *error, size_t error_size);
/* For its welcome. NULL: it is no such member. */
const uint8_t *enl_await_nonce(const struct enl_cce *cce);
/* Its connection has ended before hello. True: it was such a member, and has failed. */
bool enl_await_lost(struct enl_cce *cce);
/* The CCE ends. */
void enl_await_stop(struct enl_cce *cce);
/* The program ends: none that is awaited still comes. */
void enl_await_none(struct enl_here *here);

/* members.c -- The members of teams on this host. */

/* A new CCE is that member. False: no memory. */
bool enl_members_add(struct enl_cce *cce, uint32_t team, uint32_t rank);
/* Its process is there. */
void enl_members_started(struct enl_cce *cce);
/* It has said hello. */
void enl_members_came(struct enl_cce *cce);
/* What its team prints here goes into a file: whether it is the first that asks, and gets it. */
bool enl_members_claim_output(const struct enl_cce *cce);
/* Whether its bcr_init may return, as far as its team is concerned. */
bool enl_members_may_go(const struct enl_cce *cce);
/* The file with the identities of its team; -1: it has none. */
int enl_members_table(const struct enl_cce *cce);
/* It has ended, or was never started. */
void enl_members_over(struct enl_cce *cce);
/* team_sync: it asks. Returns NULL, or what is malformed. */
const char *enl_members_sync(struct enl_conn *conn, const struct bcri_control *message);
/* The number of its team; 0: it is in none. */
uint32_t enl_members_team(const struct enl_cce *cce);
/* What the root's daemon says of a team. The same. */
const char *enl_members_take(struct enl_here *here, const struct bcri_control *message);
void enl_members_stop(struct enl_here *here);

/* For starts.c: how a CCE of this host has ended; the watch of it by its starter, which is elsewhere, is over; whether a CCE is to be told of the
 * ends of those that it starts (bcr_STARTED). */
struct bcri_notice enl_watches_notice_of(const struct enl_cce *cce);
void enl_watches_drop_far(struct enl_here *here, const struct enl_origin *origin,
                          const uint8_t watched[BCRI_IDENTITY_BYTES]);
bool enl_watches_wants_started(const struct enl_cce *cce);
/* Tells it of one, but not into a cell for which it watches that one by itself. */
void enl_watches_started(struct enl_cce *starter, const struct bcri_notice *notice);

/* starts.c -- The ends of CCEs that a CCE has started (bcr_STARTED). */

/* It has started these on another host. */
void enl_starts_add(struct enl_cce *cce, const uint8_t *identities, uint32_t count, uint32_t ordinal);
/* These tell, or forget, what concerns starters, and then do what those of watches.c do that are called so. */
void enl_starts_ended(struct enl_cce *cce);
void enl_starts_notice(struct enl_here *here, const struct bcri_notice *notice);
void enl_starts_host_lost(struct enl_here *here, uint32_t host);
void enl_starts_forget(struct enl_cce *cce);
void enl_starts_stop(struct enl_here *here);

/* rows.c -- What enl ps and looks are told of this host's CCEs. */

/* ps: answers with one CCE, the first one with at least that index; behind all CCEs come the processes that wait to be
 * enlisted. So a list of any length needs no queue. Returns NULL. */
const char *enl_rows_answer(const struct enl_here *here, struct enl_conn *conn,
                            const struct bcri_control *message);

#endif
