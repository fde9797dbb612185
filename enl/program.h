/* SPDX-License-Identifier: MIT */
/* The program that a daemon runs: the one structure that leads to everything in the daemon.
 *
 * One thread, the loop's, owns all of it. What may block is done by other threads, with which the
 * loop talks through queues: worker.h (shared memory) and writer.h (a terminal or pipe that nobody
 * reads). */
#ifndef ENL_PROGRAM_H
#define ENL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/self.h"
#include "base/watch.h"
#include "carry/carry.h"
#include "debug/debug.h"
#include "host/host.h"
#include "hosts/hosts.h"
#include "inspect/crash/crash.h"
#include "inspect/deadlock/deadlock.h"
#include "job/job.h"
#include "links/links.h"
#include "verbs/verbs.h"
#include "wire/wire.h"

struct enl_program {
    struct enl_self self;
    struct enl_conns conns;
    struct enl_here here;
    struct enl_carry carry;
    struct enl_links links;
    struct enl_jobs jobs;
    struct enl_crashes crashes;
    struct enl_deadlock deadlock;
    struct enl_session session;
    struct enl_options options;

    struct enl_hosts hosts; /* that bcr_enlist may name; none in a child daemon */

    bool dismissed; /* the parent lets this daemon end */
    bool all_end;   /* the parent has told this daemon to end, as it then tells all others */

    struct enl_conn *parent; /* of enl --child; NULL: this is the root's daemon, or the parent is gone */
    struct enl_tree *tree;   /* the root's; NULL: no other host has been used */
    struct enl_introductions *introductions; /* NULL: this is the program's only host so far */
    struct enl_keys *keys;                   /* the same */
    struct enl_peer *pipes; /* a child's, to the daemon that has started it; NULL: they have ended */
    struct enl_control_link_up
        *control_link; /* that of a host which the root has not started itself; NULL: it has */
};

static inline struct enl_program *enl_program_of(const struct enl_conn *conn)
{
    return conn->conns->self->program;
}
/* What it does with connections: requests.c. */
extern const struct enl_conn_ops enl_program_conn_ops;

/* program_parts.c: ties the parts together. */
void enl_program_init(struct enl_program *program, const struct enl_options *options, char **argv);
/* own_name.c: takes names for the program, the daemon and its log that nobody else has here, binds the address and opens
 * the log. Comes before there is a loop. Returns 0, or enl's exit status with a sentence. */
int enl_own_name_take(struct enl_program *program, char *error, size_t error_size);
/* program_start.c: prepares all that needs no loop; opens the loop and its handles. Both return 0, or enl's exit status
 * with a sentence, which is empty if it has been said. */
int enl_program_prepare(struct enl_program *program, char *error, size_t error_size);
int enl_program_open(struct enl_program *program, char *error, size_t error_size);

/* Runs argv[0..] as `options` say, or the team of `roster`, whose first member that is, until the program has ended.
 * Returns the exit status. */
int enl_program_run(const struct enl_options *options, const struct enl_roster *roster, char **argv);

/* To be called when something has ended: ends the program if nothing is left of it. */
void enl_program_check_end(struct enl_program *program);

/* Kills all processes of the program. `status` becomes enl's exit status; the first caller's
 * wins. */
void enl_program_abort(struct enl_program *program, int status);
/* The same for bcr_end, which `who` has called: nothing is reported, and all output is waited for. */
void enl_program_finish(struct enl_program *program, int status, const char *who);

#endif
