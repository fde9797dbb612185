/* SPDX-License-Identifier: MIT */
/* The program that a daemon runs: the one structure that leads to everything in the daemon.
 *
 * One thread, the loop's, owns all of it. What may block is done by other threads, with which the
 * loop talks through queues: worker.h (shared memory) and writer.h (a terminal or pipe that nobody
 * reads), which uses a helper (helper.h).
 *
 *   PREPARING --> RUNNING --> ENDING --> ENDED
 *   startscript   the root    all is     all processes have ended: endscript, then the last
 *   runs          is started  killed     messages are written (report.c), then the loop stops
 *
 * RUNNING goes to ENDED without ENDING when the last CCE ends by itself. A daemon that another has
 * started (parent.h) has no root: it begins to listen to its parent instead, and RUNNING also needs
 * the parent to end. */
#ifndef ENL_PROGRAM_H
#define ENL_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "base/often.h"
#include "base/spawn.h"
#include "bcri/config.h"
#include "bcri/host.h"
#include "bcri/log.h"
#include "host/cores.h"
#include "hosts/hosts.h"
#include "verbs/options.h"

struct enl_audit;
struct enl_branches;
struct enl_cce;
struct enl_conn;
struct enl_crashes;
struct enl_deadlock;
struct enl_introductions;
struct enl_keys;
struct enl_program;
struct enl_tree;
struct enl_links;
struct enl_mux;
struct enl_printed;
struct enl_job;
struct enl_far;
struct enl_push;
struct enl_relay;
struct enl_reserve_up;
struct enl_writer;
struct enl_watch;
struct enl_session;
struct enl_worker;

enum enl_phase { ENL_PREPARING, ENL_RUNNING, ENL_ENDING, ENL_ENDED };

/* How a child daemon speaks to its user: by its parent. */
struct enl_parent_hooks {
    void (*report)(struct enl_program *program, enum bcri_log_level level, const char *text, size_t length);
    void (*printed)(struct enl_program *program, const struct enl_printed *text);
    /* Takes a line of the log that goes to stderr (log stderr); false: there is no room. */
    bool (*logged)(struct enl_program *program, const char *line, size_t length);
    bool (*full)(void); /* no more should be printed now; enl_lines_resume is called when it should */
    void (*alive)(struct enl_program *program); /* program->alive may have changed */
    void (*failed)(struct enl_program *program, int status);
    void (*flush)(struct enl_program *program, void (*done)(struct enl_program *program));
};

struct enl_program {
    uv_loop_t loop;
    struct bcri_host *host;
    struct bcri_config config;
    struct bcri_log log;
    char *no_log; /* why there is none, though one is wanted; NULL: there is one, or none is wanted */
    struct enl_options options;
    struct enl_inherited inherited;
    char **environment; /* what CCEs get: without BCR's own variables */

    char name[BCRI_PROGRAM_NAME_MAX]; /* of the program (own_name.c) */
    uint32_t host_number;             /* of this host in the program; the root's has 0 */
    uint32_t daemon_number;           /* of this daemon among the program's on this machine, from 0 */
    /* This daemon's own: NAME for daemon 0, NAME:K for others. */
    char socket_name[BCRI_PROGRAM_NAME_MAX + 16];
    char hostname[BCRI_LOG_HOST_MAX + 1];
    char address[64];         /* of this host, for the scripts */
    char script_name[4200];   /* "startscript" or "endscript", and the script's path */
    char root_path[PATH_MAX]; /* the root's program; "" if that had started before the daemon */
    char *folder;             /* the root's working directory; NULL: unknown */
    struct enl_push *push;    /* what hosts get that have no BCR; NULL: nothing */
    char *programs; /* folders where they are looked for first (path= in a hosts file); NULL: none */

    struct enl_cores cores;
    struct enl_hosts hosts; /* that bcr_enlist may name; none in a child daemon */

    size_t progress; /* characters of enl_report_progress that are shown */
    enum enl_phase phase;
    int status;       /* enl's exit status */
    bool status_set;  /* `status` is decided, and the root's end does not change it */
    bool lines_lost;  /* lines of CCEs could not be shown, other than by EPIPE */
    int lines_folder; /* of --output-dir; -1: none */
    int logs_folder;  /* of logdir; -1: none */
    bool hurry;       /* the user wants the program to end */
    bool insists;     /* and has said so again since */
    bool dismissed;   /* the parent lets this daemon end */
    bool all_end;     /* the parent has told this daemon to end, as it then tells all others */
    bool stop_from_terminal;
    int stop_signal; /* that stops this daemon as soon as other hosts' CCEs are stopped; 0: none */

    struct enl_cce **cces; /* by index; NULL where there is none */
    size_t cce_room;
    struct enl_cce *first, *last; /* all, in order of age */
    struct enl_cce *root;         /* NULL in a daemon that another has started (enl --child) */
    uint32_t alive;               /* CCEs and processes started for them that have not ended */

    struct enl_conn *conns;
    struct enl_conn *parent; /* of enl --child; NULL: this is the root's daemon, or the parent is gone */
    const struct enl_parent_hooks *upward;   /* NULL if `parent` is */
    struct enl_tree *tree;                   /* the root's; NULL: no other host has been used */
    struct enl_branches *branches;           /* a child's: daemons that it has begun; NULL: none */
    struct enl_introductions *introductions; /* NULL: this is the program's only host so far */
    struct enl_keys *keys;                   /* the same */
    struct enl_reserve_up *reserve;          /* a child's way to the root without others; NULL: it has none */
    struct enl_conn *waiting, *waiting_last; /* processes started by enl --join, oldest first */
    struct enl_job *jobs, *jobs_last;
    uv_idle_t starter;
    struct enl_watch *listening;
    int address_fd;    /* bound to the daemon's address; -1: `listening` has it */
    int spare_fd;      /* a reserve to accept a connection with (conn.c) */
    unsigned visitors; /* connections of kind ENL_VISITOR */
    struct enl_often often[ENL_OFTEN_KINDS];
    int numbers_told; /* segment numbers: 1: reported that few are left; 2: that none is */

    unsigned forgetting;           /* CCEs that the agent is to forget before their repair */
    struct enl_crashes *crashes;   /* NULL: no CCE has crashed */
    struct enl_deadlock *deadlock; /* NULL: nobody looks for deadlocks */
    struct enl_audit *audits;      /* that wait until there are none, or look again soon */
    struct enl_relay *relays;
    struct enl_far *fars;        /* relays to other hosts, or of other hosts' commands */
    struct enl_links *links;     /* NULL: the program will have no other host */
    struct enl_session *session; /* debuggers (session.h) */
    struct enl_worker *worker;
    struct enl_writer *out, *err; /* one for both if they are one file, or nothing of CCEs is shown here */
    struct enl_outlet {           /* what CCEs print goes to them by these */
        struct enl_program *program;
        int fd;
        struct enl_mux *mux; /* NULL: that of the second is for both */
    } outlets[2];
    void (*flushed)(struct enl_program *program);
    struct enl_watch *signals;
    pid_t script; /* running now, or 0 */
    void (*script_done)(struct enl_program *program);
    uv_timer_t grace;       /* from a signal to SIGKILL */
    uv_timer_t linger;      /* from the end of a CCE's connection to its SIGKILL */
    uv_timer_t patience;    /* how long the last messages wait to be read */
    uv_timer_t audit_pause; /* between two looks of the audits in `audits` */
};

/* Runs argv[0..] as `options` say, until the program has ended. Returns the exit status. */
int enl_program_run(const struct enl_options *options, char **argv);

/* To be called when something has ended: ends the program if nothing is left of it. */
void enl_program_check_end(struct enl_program *program);

/* Kills all processes of the program. `status` becomes enl's exit status; the first caller's
 * wins. */
void enl_program_abort(struct enl_program *program, int status);
/* The end of a sentence about a CCE or a host that is lost: whether that ends the program, and which onfail says so. */
const char *enl_program_outcome(const struct enl_program *program, bool ends);

/* Writes a sentence to stderr ("enl: ...") and, at that level, into the log. Waits for no reader:
 * what is not read in time is dropped and counted (writer.h), on stderr only. */
void enl_report(struct enl_program *program, enum bcri_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes text to stderr only, as it is: the caller has escaped it, and it has its newline. */
void enl_report_shown(struct enl_program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The log for what is shown as well; NULL, which takes nothing: the log is shown itself. */
struct bcri_log *enl_report_log(struct enl_program *program);
/* For bcri_log_show: shows a line of the log. `owner` is the program. */
bool enl_report_line(void *owner, const char *line, size_t length);
/* Whether there is a log that will stay, and that has what it was given, of any level up to INFO, since it had lost
 * that many lines. */
bool enl_report_log_has(const struct enl_program *program, uint64_t lost_before);
/* Shows how many hosts are up as the last line of a terminal; `all` 0: no longer. Whatever else is shown takes its
 * place until the next call. */
void enl_report_progress(struct enl_program *program, unsigned done, unsigned all);
/* Takes that line away. */
void enl_report_clear(struct enl_program *program);
/* Starts the writers. Before that, messages are written at once. Returns 0 or -errno: no thread. */
int enl_report_start(struct enl_program *program);
/* Calls `done` once everything is written that the end waits for (report.c). */
void enl_report_flush(struct enl_program *program, void (*done)(struct enl_program *program));
/* While `hold` is true nothing is written: something else has the terminal. */
void enl_report_hold(struct enl_program *program, bool hold);
/* The user wants the program to end: the end no longer waits for readers of CCEs' lines either. */
void enl_report_hurry(struct enl_program *program);
/* Stops the writers. False: a thread is stuck in a write, and the process must end by _exit. */
bool enl_report_stop(struct enl_program *program);

/* A descriptor that the loop polls. */
struct enl_watch {
    uv_poll_t poll;
    int fd;
    void (*ready)(void *data);
    void *data;
};
/* Polls `fd` (taken) for input. NULL: no memory; fd is then closed, too. */
struct enl_watch *enl_watch_start(struct enl_program *program, int fd, void (*ready)(void *data), void *data);
/* Stops polling and closes the descriptor; NULL is allowed. `ready` is not called any more. */
void enl_watch_stop(struct enl_watch *watch);
void enl_watch_pause(struct enl_watch *watch, bool pause);

#endif
