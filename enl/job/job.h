/* SPDX-License-Identifier: MIT */
/* job.h -- the interface of enl/job: what is to run, and what its signals and ends mean. */
#ifndef ENL_JOB_H
#define ENL_JOB_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

#include "base/roster.h"
#include "bcri/control.h"
#include "bcri/rendezvous.h"
#include "host/host.h"
#include "wire/attached.h"

struct enl_conn;
struct enl_feed;
struct enl_hosts;
struct enl_roster_plan;
struct enl_summary;
struct enl_team;
struct enl_watch;

/* job.c -- What is to run, and what becomes of it: the root, what bcr_enlist asks for, the user's scripts; what a
 * signal means; and the exit status that comes of all that. What it asks of the rest of the
 * daemon it asks by struct enl_jobs_ops. */

/* A description of CCEs that are alike: which file, with which arguments, variables and directory, for whom, how many.
 * A CCE of it is started in each turn of the loop. */
struct enl_job {
    STAILQ_ENTRY(enl_job) entry;
    struct enl_conn *conn; /* NULL: the requester is gone, no answer is due */
    uint32_t id;           /* of its request */
    struct enl_origin origin;
    uint32_t left, ordinal, started; /* CCEs to be started, the next one's ordinal, those that are */
    bool has_turn;                   /* the cores of those that may run anywhere begin with `turn` */
    uint32_t turn;
    bool has_path; /* false: only waiting processes can be taken; `reason` says why */
    char path[PATH_MAX];
    char object[PATH_MAX]; /* as the enlistor named it */
    struct enl_attached
        attached; /* with start strings, or a cell for lines, no process that waits is taken: that has its own */
    struct enl_cce_command command;
    char **list; /* what that points to: argv, and the variables behind it, whose strings are `attached`'s */
    char **environment; /* the program's with those; NULL: it adds none */
    char *folder;       /* a variable of its own among them; NULL: there is none */
    uint32_t team, rank,
        stride;     /* of the next one; team 0: they are in none. Ordinals have the same stride */
    int lines_cell; /* of the enlistor, for what they print; 0: none */
    char await[BCRI_AWAIT_KEY_MAX +
               1]; /* their processes come by themselves, under that key; "": they are started */
    uint8_t nonce[BCRI_NONCE_BYTES];
    bool is_job;    /* they are members of a job, which may be any programs */
    bool is_score;  /* of a job of SCore's */
    bool has_input; /* rank 0 has the user's standard input */
    bool wants_ids;
    bool tells_ends;         /* of them, to the enlistor */
    uint32_t untold;         /* identities of started CCEs, to be passed on */
    uint32_t untold_ordinal; /* of the first of them; the others count on */
    uint8_t identities[64 * BCRI_IDENTITY_BYTES];
    struct {
        bool is_there;
        uint32_t archtype, length;
        uint8_t bytes[BCRI_BIRTH_BYTES_MAX];
    } birth;           /* the region in cell 0 */
    char reason[1024]; /* the last failure */
    int code;          /* and its bcrE_ code */
    uint32_t failed_count;
    struct enl_failed {
        uint32_t ordinal;
        int code;
    } * failed; /* those of which the enlistor is told if others could be started */
};

/* Where a request to enlist goes. */
enum enl_way {
    ENL_WAY_HERE,
    ENL_WAY_ELSEWHERE, /* another daemon is asked, and `conn` gets its answer */
    ENL_WAY_NONE,      /* `reason` says why, `code` is the answer */
};

/* meaning.c -- What signals and ends mean for a program, as tables. */

enum enl_meaning {
    ENL_MEANS_NOTHING,
    ENL_MEANS_END,   /* passed on to all; what has not ended within killafter is killed */
    ENL_MEANS_ASK,   /* the first one passes SIGTERM on to all, and nothing else; the second kills them */
    ENL_MEANS_PASS,  /* passed on to all CCEs, and nothing else */
    ENL_MEANS_SAY,   /* a sentence that says how to end the program */
    ENL_MEANS_STOP,  /* all are stopped, then the daemon */
    ENL_MEANS_GO_ON, /* all go on */
    ENL_MEANS_REAP,  /* a child of the daemon's has ended */
};
/* Which row of the table holds. */
enum enl_signal_row {
    ENL_SIGNALS_PLAIN,
    ENL_SIGNALS_PASSED, /* a CCE has asked for bcr_passsignals */
    ENL_SIGNALS_YOD,    /* a job of yod */
    ENL_SIGNALS_ROWS
};
enum enl_meaning enl_meaning_of_signal(enum enl_signal_row row, int signal);
/* Whether it means something in any row. */
bool enl_meaning_has(int signal);

/* What a CCE's end means under onfail, an enum bcri_onfail. `flags`: of its bcr_init. */
struct enl_outcome enl_meaning_of_end(int onfail, int flags, bool is_root, enum enl_end end);
/* The same for all CCEs of a host that is lost: so many, of which so many have asked for bcr_isolate. */
struct enl_outcome enl_meaning_of_lost_host(int onfail, uint32_t cces, uint32_t isolated);

/* names.c -- Names of cells within the program. */

/* The root's daemon has them. */
struct enl_names {
    LIST_HEAD(, enl_name) all;
    LIST_HEAD(, enl_seeker) seekers; /* that wait for a name */
    uv_timer_t timer;                /* until the time of the first of them is up */
};
void enl_names_open(struct enl_names *names, uv_loop_t *loop);
void enl_names_close(struct enl_names *names);
/* publish and find, with the identity of the CCE that asks. `conn` gets the answer, perhaps later. Return NULL, or what is
 * malformed. */
const char *enl_names_publish(struct enl_names *names, struct enl_conn *conn,
                              const struct bcri_control *request);
const char *enl_names_find(struct enl_names *names, struct enl_conn *conn,
                           const struct bcri_control *request);
/* That CCE has ended; `host`: its whole host is lost. */
void enl_names_ended(struct enl_names *names, const uint8_t identity[BCRI_IDENTITY_BYTES], bool host);
/* The connection is gone: nobody waits there. */
void enl_names_forget(struct enl_names *names, const struct enl_conn *conn);

/* outdone.c -- The root's: when all that CCEs have printed is out (bcr_outdone). */

struct enl_outdone {
    enum { ENL_WAVE_NONE, ENL_WAVE_HOSTS, ENL_WAVE_HERE } wave;
    uint32_t number;                   /* of the last wave, from 1 on */
    LIST_HEAD(, enl_printer) printers; /* that wait */
    uv_timer_t timer;                  /* until the time of the first of them is up */
};
void enl_outdone_open(struct enl_outdone *outdone, uv_loop_t *loop);
void enl_outdone_close(struct enl_outdone *outdone);
/* outdone: `conn` gets the answer, later. Returns NULL. */
const char *enl_outdone_ask(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request);
/* Another host has answered, or is lost. */
void enl_outdone_look(struct enl_jobs *jobs);
/* The connection is gone: nobody waits there. */
void enl_outdone_forget(struct enl_outdone *outdone, const struct enl_conn *conn);

/* limits.c -- In the root's daemon: ends a job that has used more than it may. */

struct
    enl_spent { /* of processors, on hosts by their numbers, on all, and on the one that has used the most */
    uint64_t *host_us;
    size_t host_room;
    uint64_t all_us, most_us;
    char most_on[256];
};
/* used, of the host of that name. Returns NULL, or what is malformed. */
const char *enl_limits_take(struct enl_jobs *jobs, uint32_t number, const char *host,
                            const struct bcri_control *message);

struct enl_jobs_ops {
    /* ---- starting ---- */
    /* `request` has an enlistor; `conn` NULL: nobody waits for an answer. If another daemon is asked, `attached` is
     * taken. */
    enum enl_way (*way)(struct enl_program *program, struct enl_conn *conn,
                        const struct bcri_control *request, struct enl_attached *attached, int *code_out,
                        char *reason, size_t reason_size);
    /* Whether other daemons of this machine have CCEs of the program too, and if so, whose turn is next. */
    bool (*turn)(struct enl_program *program, uint32_t *turn_out);

    /* ---- signals: other hosts ---- */
    void (*pass_on)(struct enl_program *program, int signal); /* one that ends the program */
    void (*signal_others)(struct enl_program *program, int signal);
    void (*stop)(
        struct enl_program *program); /* enl_signals_stopped is called when all are stopped, or will not be */
    void (*go_on)(struct enl_program *program);
    void (*kill)(struct enl_program *program); /* and the processes that hold a debugging session */
    void (*cut)(struct enl_program *program);  /* gives those up that have not ended */

    /* Sends a message to another host's daemon. */
    void (*send_to_host)(struct enl_program *program, uint32_t host, const struct bcri_control *message);
    /* Passes a request for a CCE of that host on, whose answer goes to `conn`. Returns 0, or the answer: a code. */
    int (*ask_host)(struct enl_conn *conn, uint32_t host, const struct bcri_control *request);

    /* Asks all other hosts to send up what their CCEs have printed, and to answer behind it; whether all have, or are lost. */
    void (*drain_others)(struct enl_program *program, uint32_t number);
    bool (*others_are_drained)(const struct enl_program *program);

    /* Shows the crash reports that were held back of the member with that ordinal; UINT32_MAX: of all. */
    void (*show_crash)(struct enl_program *program, uint32_t ordinal);

    /* ---- ends ---- */
    /* A child of the daemon's has ended. False: it was not of those that the owner has started. */
    bool (*reaped)(struct enl_program *program, pid_t pid, int wait_status);
    bool (*is_spared)(const struct enl_program *program, pid_t pid); /* by enl_signals_kill_children */
};

struct enl_jobs {
    struct enl_self *self;
    struct enl_conns *conns;
    struct enl_here *here;
    const struct enl_jobs_ops *ops;

    char **root_argv;
    char root_path[PATH_MAX]; /* the root's program; "" if that had started before the daemon */
    char *programs; /* folders where they are looked for first (path= in a hosts file); NULL: none */
    STAILQ_HEAD(, enl_job) queue;
    STAILQ_HEAD(, enl_arrival) arrivals; /* requests of daemons, whose start strings come */
    uv_idle_t starter;
    struct enl_names names;      /* the root's daemon's */
    struct enl_outdone outdone;  /* the same */
    struct enl_spent spent;      /* the same */
    LIST_HEAD(, enl_team) teams; /* likewise */
    uint32_t last_team;
    const struct enl_roster *roster; /* enl -n; NULL: the root alone is started */
    struct enl_roster_plan *plan;    /* the same */
    uint32_t stage;                  /* of a job: the one that runs */
    struct enl_summary *summary;     /* of a job; NULL: it is none */
    struct enl_feed *feed;           /* its input; NULL: there is none yet */
    uint8_t nonce[BCRI_NONCE_BYTES]; /* of that team, if its members come by themselves */

    int status;                     /* enl's exit status */
    bool is_set;                    /* that is decided, and the root's end does not change it */
    bool is_quiet;                  /* a CCE has ended the program by bcr_end: no end is complained of */
    bool insists;                   /* the user wants the program to end, and has said so again since */
    bool has_asked;                 /* a signal has asked all to end */
    enum enl_signal_row signal_row; /* what signals mean now */
    int stop_signal; /* that stops this daemon as soon as other hosts' CCEs are stopped; 0: none */
    bool stop_from_terminal;
    struct enl_watch *signals;
    uv_timer_t grace; /* from a signal to SIGKILL */

    pid_t script;           /* running now, or 0 */
    char script_name[4200]; /* "startscript" or "endscript", and the script's path */
    void (*script_done)(struct enl_program *program);
};

void enl_jobs_init(struct enl_jobs *jobs, struct enl_self *self, struct enl_conns *conns,
                   struct enl_here *here, const struct enl_jobs_ops *ops);
/* When there is a loop. Returns 0 or -errno. */
int enl_jobs_start(struct enl_jobs *jobs);
/* The loop ends. */
void enl_jobs_close(struct enl_jobs *jobs);

/* Starts the root, or takes the process `pid` for it, which has made this daemon; `socket` is then the daemon's end of
 * its socket. False: there is no record for it, and `reason` has a sentence. A root that could be made and not be
 * started has been reported, and ends the program. */
bool enl_jobs_start_root(struct enl_jobs *jobs, pid_t pid, int socket, char *reason, size_t reason_size);
/* A CCE has ended that has published or looked for names, or made teams. */
void enl_jobs_left(struct enl_jobs *jobs, const uint8_t identity[BCRI_IDENTITY_BYTES]);
/* enl's exit status, unless it is decided already; with `is_final` it is decided now. */
static inline void enl_jobs_decide(struct enl_jobs *jobs, int status, bool is_final)
{
    if (!jobs->is_set)
        jobs->status = status;
    jobs->is_set |= is_final;
}

/* description.c -- A job for a request that has an enlistor; `core` is the machine's. Takes `attached`. NULL: there is none, with a
 * bcrE_ code and a sentence. */
struct enl_job *enl_job_new(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                            int core, struct enl_attached *attached, int *code_out, char *reason,
                            size_t reason_size);
void enl_job_free(struct enl_job *job);

/* enlist.c -- What the daemon does for a bcr_enlist: a job that starts one CCE per turn of the loop, so that the
 * first ones are welcomed while the others are still being started. */

/* Answers at once if no CCE can be started; else when all have been started. Returns NULL, or what
 * is malformed. */
const char *enl_enlist(struct enl_jobs *jobs, struct enl_conn *conn, struct bcri_incoming *in);
/* The same for a request of this daemon's own, which nobody waits for. */
void enl_enlist_own(struct enl_jobs *jobs, const struct bcri_control *request, struct enl_attached *attached);
/* The same for a request that has an enlistor and is for this host; `conn` NULL: the requester is gone. */
void enl_enlist_here(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                     struct enl_attached *attached);
/* `strings` has come, of an earlier request. Returns NULL, or what is wrong with it. */
const char *enl_enlist_strings(struct enl_jobs *jobs, struct enl_conn *conn,
                               const struct bcri_control *message);
/* Answers that nothing was started, and reports why. */
void enl_enlist_refuse(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                       const char *host, int code, const char *reason);
/* The requester's connection is gone: its jobs go on, but answer nobody. */
void enl_enlist_forget(struct enl_jobs *jobs, const struct enl_conn *conn);
/* How many CCEs of jobs are still to be started. */
uint32_t enl_enlist_left(const struct enl_jobs *jobs);
/* Whether there is a request that is not answered. */
bool enl_enlist_is_busy(const struct enl_jobs *jobs);
/* The program is ending: drops all jobs. */
void enl_enlist_drop(struct enl_jobs *jobs);

/* entering.c -- A process of this user has said `hello` by `enter`, with the private socket `fd` (taken). It is made a CCE
 * of this program, or told why not. */
void enl_enter(struct enl_jobs *jobs, int fd, pid_t pid, const struct bcri_control *hello);

/* arrivals.c -- Requests of another daemon whose start strings are too long for one message. They are asked for, a part
 * at a time. */

struct enl_arrival;
/* `request` announces them. False: there is no room. */
bool enl_arrival_begin(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request);
/* More of them have come. Returns NULL, or what is wrong with that. When all of one request are here, that is taken out,
 * and given. */
const char *enl_arrival_take(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *message,
                             struct enl_arrival **whole_out);
/* Of one that was given: the request, with views into it, and its strings, which are the arrival's. */
struct enl_strings *enl_arrival_read(const struct enl_arrival *arrival, struct bcri_control *request_out);
void enl_arrival_free(struct enl_arrival *arrival);
/* That daemon is gone, or, with NULL, the program ends: the requests are dropped. */
void enl_arrivals_forget(struct enl_jobs *jobs, const struct enl_conn *conn);

/* teams.c -- Teams, in the root's daemon. */

/* A team of that size, all of whose members that identity is to ask for; zeros: this daemon. Returns its number; 0: no
 * memory. */
uint32_t enl_teams_new(struct enl_jobs *jobs, uint32_t size, const uint8_t creator[BCRI_IDENTITY_BYTES]);
/* team_new: a CCE makes one. Returns NULL, or what is malformed. */
const char *enl_teams_ask(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request);
/* That request is about to start members. False: they are none, or not the requester's, or were asked for before. */
bool enl_teams_start(struct enl_jobs *jobs, const struct bcri_control *request);
/* It is answered, or has failed: those of its members that were not started by now will never be. */
void enl_teams_answered(struct enl_jobs *jobs, const struct bcri_control *request);
/* What that host says of a team. Returns NULL, or what is malformed. */
const char *enl_teams_take(struct enl_jobs *jobs, uint32_t host, const struct bcri_control *message);
/* Passes a message on to all hosts with members, this one last. */
void enl_teams_pass(struct enl_jobs *jobs, uint32_t team, const struct bcri_control *message);
/* team_cut: its creator asks for no more members. */
void enl_teams_cut(struct enl_jobs *jobs, const struct bcri_control *message);
/* A CCE has ended that has made teams. */
void enl_teams_left(struct enl_jobs *jobs, const uint8_t identity[BCRI_IDENTITY_BYTES]);
/* Whether that team has members that have not ended. */
bool enl_teams_lives(const struct enl_jobs *jobs, uint32_t team);
void enl_teams_host_lost(struct enl_jobs *jobs, uint32_t host);
void enl_teams_close(struct enl_jobs *jobs);

/* summary.c -- In the root's daemon: how the members of a job end. Without a job each does nothing. */

enum enl_step {
    ENL_STEP_BEGUN,   /* hosts and processes are asked for */
    ENL_STEP_STARTED, /* each member has a process */
    ENL_STEP_OPEN,    /* all members are there, and go on */
    ENL_STEP_OVER,
    ENL_STEPS
};
/* False: no memory. */
bool enl_summary_begin(struct enl_jobs *jobs);
void enl_summary_step(struct enl_jobs *jobs, enum enl_step step);
/* How a member has ended: an enum bcr_how, and what goes with it; and what it has used. */
struct enl_ended {
    uint8_t how, number;
    uint64_t cpu_us, rss_kib;
};
/* A member of a launched team has ended. The first that is told of it counts. */
void enl_summary_end(struct enl_jobs *jobs, uint32_t team, uint32_t rank, const struct enl_ended *ended);
/* A member of that team has ended it by bcr_end. */
void enl_summary_finish(struct enl_jobs *jobs, uint32_t team, int status);
/* Whether the summary has a line for each member, behind which its crash is shown. */
bool enl_summary_tells_ranks(const struct enl_jobs *jobs);
/* Whether all members of a job have been let go. */
bool enl_summary_is_open(const struct enl_jobs *jobs);
/* The job is over: prints what is wanted, and decides the exit status, unless it is decided. */
void enl_summary_print(struct enl_jobs *jobs);

/* usage.c -- What a job has used: a line in the user's file. */

struct enl_usage {
    uint64_t cpu_us, rss_kib; /* of all members; of the largest */
    uint64_t lasted_ns;
    uint32_t hosts;
};
void enl_usage_log(struct enl_jobs *jobs, const struct enl_usage *usage, int status);

/* feed.c -- In the root's daemon: the user's standard input goes to the first member of a job. */

/* All members of that team are there, and its rank 0 is on that host. Without a job, or if that team is not the first, or its input is
 * a file, nothing happens. */
void enl_feed_begin(struct enl_jobs *jobs, uint32_t team, uint32_t host);
/* input_taken. */
void enl_feed_taken(struct enl_jobs *jobs, const struct bcri_control *message);
/* Nobody takes more; the loop ends. */
void enl_feed_stop(struct enl_jobs *jobs);
void enl_feed_close(struct enl_jobs *jobs);

/* roster.c -- What is launched: the members that a command line names. */

/* When the root, which is member 0, has been made: the team, and that member in it. False: `reason` says why not, unless
 * that is no memory. */
bool enl_roster_root(struct enl_jobs *jobs, struct enl_cce *root, char *reason, size_t reason_size);
/* When its process is there: asks for all others. */
void enl_roster_others(struct enl_jobs *jobs);
/* The members of a job's first stage; a job has no root. False: no memory. */
bool enl_roster_job(struct enl_jobs *jobs);
/* Something has ended. If that was the last of a stage, and another follows, begins that; whether it has. */
bool enl_roster_go_on(struct enl_jobs *jobs);

/* roster_plan.c -- Which member runs where. */

/* NULL: a sentence says why that cannot be. */
struct enl_roster_plan *enl_roster_plan_new(const struct enl_roster *roster, const struct enl_self *self,
                                            const struct enl_hosts *hosts, char *error, size_t error_size);
/* Looks the programs of a job up whose members run here. Returns 0, or the exit status that a shell would use, and a sentence. */
int enl_roster_find(const struct enl_jobs *jobs, char *error, size_t error_size);
void enl_roster_plan_free(struct enl_roster_plan *plan);
/* The name of the host on which that member runs; members are counted over all teams. */
const char *enl_roster_host(const struct enl_jobs *jobs, uint32_t member);
/* Which member that rank of a team is. False: that team was not launched. */
bool enl_roster_member(const struct enl_jobs *jobs, uint32_t team, uint32_t rank, uint32_t *member_out);

/* roster_needs.c -- What programs of SCore say of the nodes that they can run on. */

/* Whether those of a job fit the plan. Each need that is not met is reported. */
bool enl_roster_fits(const struct enl_jobs *jobs);

/* placement.c -- Which host a member runs on. */

/* Members are given to hosts: `slots` says how many each may have. By blocks each host gets as many as it may have, in turn;
 * else one after the other gets one, for as long as it may. There are slots enough. */
void enl_placement(const uint32_t *slots, size_t hosts, uint32_t members, bool is_cyclic, uint32_t *host_out);

/* A job's members are given to nodes: each host has as many as `slots` says, and nodes are counted over all hosts, in order. Those of
 * lines without a list go to the first nodes that no line names. `source`: of the list of hosts, for sentences. Returns 0, or -1
 * with a sentence: there are not so many nodes, or one is named twice. */
int enl_placement_on_nodes(const struct enl_roster *roster, const uint32_t *slots, size_t hosts,
                           const char *source, uint32_t *host_out, char *error, size_t error_size);

/* Members of one host with equal distances. */
struct enl_run {
    uint32_t host, first, count, stride;
};
/* Those of `host_of`, from member `from` to before `to`, by their hosts: one run or few for each. Returns them, which the caller
 * frees, and how many; NULL: no memory. */
struct enl_run *enl_placement_runs(const uint32_t *host_of, size_t hosts, uint32_t from, uint32_t to,
                                   size_t *count_out);

/* asked.c -- What a CCE asks for other CCEs: bcr_signal and bcr_end. */

/* signal_cce, of a CCE or another daemon. Answers, now or later. Returns NULL, or what is malformed. */
const char *enl_asked_signal(struct enl_jobs *jobs, struct enl_conn *conn,
                             const struct bcri_control *request);
/* finish, of a CCE here: the root's daemon ends the program. */
void enl_asked_end(struct enl_jobs *jobs, const struct enl_conn *conn, const struct bcri_control *request);

/* scripts.c -- startscript and endscript of bcrrc. */

/* Runs `script` (as configured; NULL: none) with the guide's four arguments, of which the first is
 * `when` (0 start, 1 end). Calls `done`, on the loop when the script has ended, or at once if there
 * is nothing to run. */
void enl_script_run(struct enl_jobs *jobs, const char *script, int when,
                    void (*done)(struct enl_program *program));

/* signals.c -- Signals that the daemon handles: ends of children, the terminal's keys, and requests to end. */

/* Ignores what may stray here, and forgets what waits of that. Comes first of all. */
void enl_signals_quieten(void);
/* Blocks these signals before any thread is made; from then on the loop reads them. Returns 0 or
 * -errno. */
int enl_signals_start(struct enl_jobs *jobs);

/* Ends the program here by that signal, which a daemon's parent has sent, or which came; stops and continues all CCEs. */
void enl_signals_end(struct enl_jobs *jobs, int signal, bool from_terminal);
void enl_signals_stop_cces(struct enl_jobs *jobs);
void enl_signals_continue_cces(struct enl_jobs *jobs);
/* Stops all CCEs but those that ask for a debugger, until the program ends: no more are started. */
void enl_signals_freeze(struct enl_jobs *jobs);
/* A program that was about to be stopped goes on. */
void enl_signals_start_again(struct enl_jobs *jobs);
/* Gives all CCEs and members of jobs that signal, and no process that is none; if it came from the terminal, not to the root, which has it. */
void enl_signals_pass(struct enl_jobs *jobs, int signal, bool from_terminal);
/* `who`, a CCE, has asked that signals be passed from now on. */
void enl_signals_row_passed(struct enl_jobs *jobs, const char *who);

/* All other hosts' CCEs are stopped: stops this daemon. */
void enl_signals_stopped(struct enl_jobs *jobs);

/* Starts the time, killafter, after which processes that have not heeded a signal get SIGKILL. */
void enl_signals_start_grace(struct enl_jobs *jobs);
/* Kills every child of the daemon, CCE or not, but for branches that are left to themselves (tree.h). Returns
 * how many there were; -1: this kernel does not tell which processes those are. */
int enl_signals_kill_children(const struct enl_jobs *jobs);
/* Reaps all children that have ended. True if none is left. */
bool enl_signals_reap(struct enl_jobs *jobs);

#endif
