/* SPDX-License-Identifier: MIT */
/* One CCE, from the moment that a record is given out for it until its processes and their output
 * have ended. The record may be another CCE's a little before or long after that (bcri/reclaim.h).
 *
 *   STARTED --hello--> HELD --its birth region is in cell 0--> ALIVE --it ends--> OVER
 *      |                 |                                                         ^
 *      +-----------------+--------- the start failed ------------------------------+
 *
 * A HELD one whose private socket has ended stays HELD until its process has ended, which it is
 * made to do in a second.
 *
 * Two processes may be concerned: `process`, which the daemon started (or which started the
 * daemon), and `pid`, which called bcr_init. Usually they are one; under a wrapper, a debugger or a
 * shell script they are two, and under enl --join there is no `process`. A CCE counts as alive
 * until both have ended. */
#ifndef ENL_CCE_H
#define ENL_CCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/channel.h"
#include "bcri/ctx.h"
#include "output.h"
#include "program.h"

enum enl_cce_life { ENL_STARTED, ENL_HELD, ENL_ALIVE, ENL_OVER };

/* Who enlisted a CCE. The index alone would not do: a record is given out again. */
struct enl_origin {
    uint32_t index; /* BCRI_ENL_INDEX, and an identity of zeros: nobody did, it is the root */
    uint8_t identity[BCRI_IDENTITY_BYTES];
};

struct enl_cce {
    struct enl_program *program;
    struct enl_cce *next, *previous;
    struct bcri_record_shm *record;
    enum enl_cce_life life;
    uint32_t index;
    uint32_t ordinal;
    char *object; /* as its enlistor named it */
    struct enl_origin origin;
    bool cell0_ready; /* cell 0 holds what it shall hold before bcr_init returns */
    int flags;        /* of its bcr_init */

    pid_t process;               /* started by the daemon, its child, not reaped; 0: none (any more) */
    int core;                    /* that it is pinned to, or -1 */
    bool own_group;              /* `process` leads a process group */
    int wait_status;             /* how `process` ended */
    pid_t pid;                   /* the CCE; 0 before hello and after its end */
    struct enl_watch *pid_watch; /* its pidfd, unless it is `process`, which wait tells of */

    struct enl_conn *handshake; /* the inherited socket's other end; NULL: it has ended */
    struct enl_conn
        *control;      /* the private socket's other end; NULL: before hello, or it has ended (conn.h) */
    uint32_t hello_id; /* to be answered by welcome */
    int kill_socket;   /* closed, it kills the CCE; -1 before welcome */
    bool refused;      /* hello came and was refused */
    bool hello_late;   /* hello came when its process had ended */
    bool ran_enl;      /* `process` was an enl at its end */
    bool disconnected; /* its connection ended while the process lives */
    bool disconnect_reported;     /* and a person was told that it is killed */
    uint64_t blocked_reported_ms; /* when it was last said that others wait for it; 0: never */
    bool finished;                /* it counts as alive no more */
    bool repairing;
    struct enl_output output;
};

/* Gives out a record. Returns NULL and a sentence if there is no room. */
struct enl_cce *enl_cce_new(struct enl_program *program, const char *object, uint32_t ordinal,
                            const struct enl_origin *origin, char *error, size_t error_size);
struct enl_origin enl_origin_of(const struct enl_cce *enlistor);
/* Takes back one for which nothing could be started; the caller has said so. */
void enl_cce_drop(struct enl_cce *cce);
/* Puts an error region into the enlistor's cell 0, if it lives and asked for them: CCE `ordinal`
 * did not start. */
void enl_cce_tell_failure(struct enl_program *program, const struct enl_origin *origin, uint32_t ordinal);
/* It was started and did not become a CCE: says why, tells the enlistor, and ends it. */
void enl_cce_fail(struct enl_cce *cce, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Has its cell 0 made, with `data` in it if that is not NULL; then enl_cce_cell0_ready is called.
 * False: no memory. */
bool enl_cce_init_cell0(struct enl_cce *cce, uint32_t archtype, const void *data, uint32_t length);

/* Starts `path` for it, on that core, or with -1 on one that is chosen. Returns 0, or a sentence in
 * `error`. The root gets the daemon's own standard files, and is not pinned. */
int enl_cce_start(struct enl_cce *cce, const char *path, char *const *argv, int core, char *error,
                  size_t error_size);
/* The process is there already: it made this daemon, and `handshake` is the end of its socket. */
bool enl_cce_adopt_root(struct enl_cce *cce, pid_t process, int handshake);

/* A process that waited is enlisted as this CCE: `conn` becomes its private socket. With core -1 it
 * stays where it may run. False: it is gone. */
bool enl_cce_take(struct enl_cce *cce, struct enl_conn *conn, int core);

/* hello has come from process `pid`, with the private socket `fd` (taken). */
void enl_cce_hello(struct enl_cce *cce, pid_t pid, int fd, const struct bcri_control *hello);
/* Its birth region is where it must be, or there is none; or, with a `code`, could not be put
 * there. It, or its connection, may have ended meanwhile. */
void enl_cce_cell0_ready(struct enl_cce *cce, int code);
/* A child with this pid has ended and is still in the process table. */
void enl_cce_look_at_dead(struct enl_program *program, pid_t pid);
/* A child with this pid has ended; it may be nobody's that is known. */
void enl_cce_reaped(struct enl_program *program, pid_t pid, int wait_status);
/* Its inherited socket has ended: nobody holds it any more. */
void enl_cce_handshake_closed(struct enl_cce *cce);
/* Its private socket has ended, or was ended. */
void enl_cce_disconnected(struct enl_cce *cce);
/* Time is up for the CCEs that are disconnected and still run: they are killed. */
void enl_cce_kill_disconnected(struct enl_program *program);
/* Worker's report that the repair is done; with a `code`, as far as corrupt memory lets it. */
void enl_cce_repaired(struct enl_cce *cce, int code);
/* Frees it if nothing needs it any more. */
void enl_cce_release(struct enl_cce *cce);

/* NULL, or why a hello cannot be accepted: a sentence. */
const char *enl_hello_wrong(const struct bcri_control *hello);

struct enl_cce *enl_cce_at(struct enl_program *program, uint32_t index);
/* Sends a signal to what was started for it and to itself. With `group`, to the group that it
 * leads. */
void enl_cce_signal(struct enl_cce *cce, int signal, bool group);

/* "CCE 3 (ring, pid 1234)" */
const char *enl_cce_text(const struct enl_cce *cce, char *buffer, size_t size);

#endif
