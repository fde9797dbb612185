/* SPDX-License-Identifier: MIT */
/* The program that a daemon runs: the one structure that everything in the daemon hangs on.
 *
 * One thread, the loop's, owns all of it. What may block has a helper (helper.h), a thread that is
 * talked to through queues: worker.h (shared memory) and writer.h (a terminal or pipe that nobody
 * reads).
 *
 *   PREPARING --> RUNNING --> ENDING --> ENDED
 *   startscript   the root     everything   nothing lives any more: endscript, then what is left to say is
 *   runs          was started  is killed    written (report.c), then the loop stops
 *
 * RUNNING goes straight to ENDED when the last CCE ends by itself. */
#ifndef ENL_PROGRAM_H
#define ENL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "bcri/config.h"
#include "bcri/host.h"
#include "bcri/log.h"
#include "cores.h"
#include "options.h"
#include "spawn.h"

struct enl_cce;
struct enl_conn;
struct enl_job;
struct enl_writer;
struct enl_watch;
struct enl_worker;

enum enl_phase { ENL_PREPARING, ENL_RUNNING, ENL_ENDING, ENL_ENDED };

struct enl_program {
    uv_loop_t loop;
    struct bcri_host *host;
    struct bcri_config config;
    struct bcri_log log;
    struct enl_options options;
    struct enl_inherited inherited;
    char **environment; /* what CCEs get, without BCR's own variables */

    char name[BCRI_PROGRAM_NAME_MAX]; /* host.pid */
    char hostname[BCRI_LOG_HOST_MAX + 1];
    char address[64];       /* of this host, for the scripts */
    char script_name[4200]; /* "startscript" or "endscript", and the path of the one that runs */
    char *folder;           /* the root's working directory; NULL: unknown */

    struct enl_cores cores;

    enum enl_phase phase;
    int status;      /* that enl will exit with */
    bool status_set; /* decided by what ended the program, not by the root */
    bool lines_lost; /* what CCEs printed could not be shown, for another reason than a reader that left */
    bool hurry;      /* somebody wants it to end */

    struct enl_cce **cces; /* by index; NULL where there is none */
    size_t cce_room;
    struct enl_cce *first, *last; /* all, in order of age */
    struct enl_cce *root;
    uint32_t alive; /* CCEs and processes started for them that have not ended */

    struct enl_conn *conns;
    struct enl_conn *waiting, *waiting_last; /* processes started by enl --join, oldest first */
    struct enl_job *jobs, *jobs_last;
    uv_idle_t starter;
    struct enl_watch *listening;
    int spare_fd;       /* given up when there is no other (conn.c) */
    unsigned visitors;  /* connections of that kind */
    uint64_t strangers; /* connections of other users, refused */
    int numbers_told;   /* of segments: 1 that they run out, 2 that they have */

    struct enl_worker *worker;
    struct enl_writer *out,
        *err; /* one and the same if stdout and stderr are one file, or without --output */
    void (*flushed)(struct enl_program *program);
    struct enl_watch *signals;
    pid_t script; /* running now, or 0 */
    void (*script_done)(struct enl_program *program);
    uv_timer_t grace;    /* from a signal to SIGKILL */
    uv_timer_t linger;   /* from the end of a CCE's connection to SIGKILL, should it not have exited */
    uv_timer_t patience; /* with readers of what is left to say at the end */
};

/* Runs argv[0..] as `options` say, until the program has ended. Returns the exit status. */
int enl_program_run(const struct enl_options *options, char **argv);

/* Something ended: if nothing is left, the program has. */
void enl_program_check_end(struct enl_program *program);

/* Kills all that lives; `status` is what enl will exit with (the first caller's wins). */
void enl_program_abort(struct enl_program *program, int status);

/* A sentence on stderr ("enl: ...") and in the log, at that level. Waits for nobody: what is not
 * read in time is dropped and counted (writer.h), on stderr only. */
void enl_report(struct enl_program *program, enum bcri_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Text on stderr as it stands: escaped by the caller, with its newline, and not in the log. */
void enl_report_shown(struct enl_program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns 0 or -errno: no thread. Until then, what is said is written at once. */
int enl_report_start(struct enl_program *program);
/* Calls `done` once all is written that is waited for (report.c). */
void enl_report_flush(struct enl_program *program, void (*done)(struct enl_program *program));
/* Somebody wants the program to end: lines of CCEs that nobody reads are not waited for either. */
void enl_report_hurry(struct enl_program *program);
/* False: a thread is stuck in a write, and the process must end by _exit. */
bool enl_report_stop(struct enl_program *program);

/* A descriptor that the loop looks at. */
struct enl_watch {
    uv_poll_t poll;
    int fd;
    void (*ready)(void *data);
    void *data;
};
/* Watches `fd` (taken) for input. NULL: no memory; fd is closed then too. */
struct enl_watch *enl_watch_start(struct enl_program *program, int fd, void (*ready)(void *data), void *data);
/* Stops watching and closes the descriptor; NULL is allowed. `ready` is not called any more. */
void enl_watch_stop(struct enl_watch *watch);
void enl_watch_pause(struct enl_watch *watch, bool pause);

#endif
