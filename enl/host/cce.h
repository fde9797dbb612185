/* SPDX-License-Identifier: MIT */
/* One CCE, from the moment at which a record is given out for it until its processes and their
 * output have ended. Shortly before that end, or long after it, the record may be another CCE's
 * already (bcri/reclaim.h).
 *
 *   STARTED --hello--> HELD --its birth region is in cell 0--> ALIVE --it ends--> OVER
 *      |                 |                                                         ^
 *      +-----------------+--------- the start failed ------------------------------+
 *
 * A HELD CCE whose private socket has ended stays HELD until its process has ended; the daemon
 * kills that after a second.
 *
 * A CCE may have two processes: `process`, which the daemon started (or which started the daemon),
 * and `pid`, which called bcr_init. Usually they are one. Under a wrapper, a debugger or a shell
 * script they are two, and under enl --join there is no `process`. A CCE counts as alive until both
 * have ended. */
#ifndef ENL_CCE_H
#define ENL_CCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/channel.h"
#include "bcri/ctx.h"
#include "host/host.h"
#include "host/output.h"

enum enl_cce_life { ENL_STARTED, ENL_HELD, ENL_ALIVE, ENL_OVER };

/* The enlistor of a CCE, which may be on another host. Zeros: it is the root, which has none. */
struct enl_origin {
    uint8_t identity[BCRI_IDENTITY_BYTES];
};

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
    int flags;        /* of its bcr_init */

    pid_t process;               /* the daemon's child, not reaped yet; 0: none */
    int core;                    /* to which it is pinned, or -1 */
    bool debugged;               /* `process` is a debugger that the daemon has started */
    bool own_group;              /* `process` leads a process group */
    int wait_status;             /* how `process` ended */
    pid_t pid;                   /* the CCE; 0 before hello and after its end */
    struct enl_watch *pid_watch; /* its pidfd; NULL if `process` is the CCE */

    struct enl_conn *handshake;   /* the inherited socket's other end; NULL: ended */
    struct enl_conn *control;     /* the private socket's other end; NULL: none yet, or ended */
    uint32_t hello_id;            /* welcome answers this id */
    int kill_socket;              /* closing it kills the CCE; -1 before welcome */
    bool refused;                 /* hello came and was refused */
    const char *misheard;         /* why its hello was not understood; NULL: it was, or none came */
    bool hello_late;              /* hello came when its process had ended */
    bool ran_enl;                 /* `process` was an enl at its end */
    bool has_ended;               /* the CCE has, and what it sent before is being read */
    bool disconnected;            /* its connection ended while the process lives */
    bool disconnect_reported;     /* and a person was told that the CCE is killed */
    uint64_t blocked_reported_ms; /* when stderr last said that others wait for it; 0: never */
    bool finished;                /* it no longer counts as alive */
    bool has_outbox;              /* it may order of the agent (bcri/outbox.h) */
    bool repairing;               /* the agent forgets it, or the worker repairs what it held */
    struct enl_crash *crash;      /* what is being found out, or is known, of its crash; NULL: it has none */
    struct enl_output output;
};

/* Gives out a record. Returns NULL and a sentence if there is no room. */
struct enl_cce *enl_cce_new(struct enl_here *here, const char *object, uint32_t ordinal,
                            const struct enl_origin *origin, char *error, size_t error_size);
struct enl_origin enl_origin_of(const struct enl_cce *enlistor);
/* Takes back a CCE for which no process could be started; the caller has reported why. */
void enl_cce_drop(struct enl_cce *cce);
/* Tells the enlistor that CCE `ordinal` did not start, and by `code` why: by an error region in its
 * cell 0, if the enlistor lives and asked for error regions. If it is on another host, that
 * is told. */
void enl_cce_tell_failure(struct enl_here *here, const struct enl_origin *origin, uint32_t ordinal, int code);
/* A CCE was started and did not become one: reports why, tells the enlistor, and ends it. `code` is
 * for the error region. */
void enl_cce_fail(struct enl_cce *cce, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Has the worker make its cell 0, with `data` in it if that is not NULL; then enl_cce_cell0_ready
 * is called. False: no memory. */
bool enl_cce_init_cell0(struct enl_cce *cce, uint32_t archtype, const void *data, uint32_t length);

/* Starts `path` for it, on `core`, or with -1 on a core that the daemon chooses. Returns 0, or a
 * bcrE_ code with a sentence in `error`. The root gets the daemon's own standard files, and is not pinned. */
int enl_cce_start(struct enl_cce *cce, const char *path, char *const *argv, int core, char *error,
                  size_t error_size);
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
/* A child with this pid has ended and is still in the process table. */
void enl_cce_look_at_dead(struct enl_here *here, pid_t pid);
/* A child with this pid has ended; it need not belong to a known CCE. */
void enl_cce_reaped(struct enl_here *here, pid_t pid, int wait_status);
/* Its inherited socket has ended: no process holds it any more, or what came was not understood: `wrong`. */
void enl_cce_handshake_closed(struct enl_cce *cce, const char *wrong);
/* Its private socket has ended, or the daemon has ended it. */
void enl_cce_disconnected(struct enl_cce *cce);
/* Kills the CCEs that are disconnected and still run: their time is up. */
void enl_cce_kill_disconnected(struct enl_here *here);
/* The agent does not know it any more: the worker repairs. */
void enl_cce_forgotten(struct enl_cce *cce);
/* The worker has done the repair; with a `code`, only as far as corrupt memory lets it. */
void enl_cce_repaired(struct enl_cce *cce, int code);
/* Frees it if nothing needs it any more. */
void enl_cce_release(struct enl_cce *cce);

/* NULL, or a sentence that says why a hello cannot be accepted. */
const char *enl_hello_wrong(const struct bcri_control *hello);

/* Sends the answer to a call of a CCE's that may run handlers meanwhile: such a CCE sleeps on its
 * bell. The connection may be a child daemon's, too. */
void enl_cce_answer(struct enl_conn *conn, const struct bcri_control *reply);
/* The same with a status, and a sentence unless `text` is NULL. */
void enl_cce_reply(struct enl_conn *conn, uint32_t id, int status, const char *text);

struct enl_cce *enl_cce_at(struct enl_here *here, uint32_t index);
/* Sends a signal to the process that was started for it and to the CCE itself. With `group`, to the
 * group that the process leads. */
void enl_cce_signal(struct enl_cce *cce, int signal, bool group);

/* How sentences name it: "CCE 3 (ring, pid 1234) on alpha". Of a long name the beginning is left out. */
#define ENL_CCE_TEXT_MAX 512
const char *enl_cce_text(const struct enl_cce *cce, char *buffer, size_t size);

#endif
