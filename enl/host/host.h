/* SPDX-License-Identifier: MIT */
/* This host of the program: its shared memory, its CCEs, and what they print. What it asks of the rest of the daemon
 * it asks by struct enl_here_ops. */
#ifndef ENL_HOST_H
#define ENL_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <uv.h>

#include "base/self.h"
#include "bcri/control.h"
#include "bcri/host.h"
#include "bcri/ref.h"
#include "host/cores.h"
#include "host/lines.h"
#include "wire/conn.h"

struct bcri_heap_piece;
struct enl_audit;
struct enl_cce;
struct enl_here;
struct enl_spawn;
struct enl_worker;

/* What follows from the end of a CCE. */
struct enl_outcome {
    bool ends;        /* the program */
    const char *says; /* that, as the end of a sentence; "": it is no more worth than a word in the log */
};

struct enl_here_ops {
    /* ---- starts ---- */
    /* Whether CCE `ordinal` starts under a debugger; how: see debug/session.h; `pid` has been started so, or -errno. */
    bool (*is_debugged)(void *owner, uint32_t ordinal);
    int (*dress)(struct enl_cce *cce, struct enl_spawn *spawn, char ***words_out, char *error,
                 size_t error_size);
    void (*debugger_started)(struct enl_cce *cce, pid_t pid);
    /* The doorbell of the link thread, for a new CCE; -1: there is none. */
    int (*network_bell)(void *owner);
    /* A CCE has an outbox in that segment: the agent is told. False: no memory for that, or no thread. */
    bool (*outbox_made)(void *owner, uint32_t index, bcri_ref outbox);
    /* Sends a message to another host's daemon. */
    void (*send_to_host)(void *owner, uint32_t number, const struct bcri_control *message);

    /* ---- ends ---- */
    struct enl_outcome (*judge)(void *owner, bool is_root, bool is_normal);
    /* The root has ended; `is_known`: it has said how. */
    void (*root_ended)(void *owner, int status, bool is_known);
    /* It was killed by a signal that is a crash: its report is made, before its record is repaired. */
    void (*crashed)(struct enl_cce *cce, int signal, bool core_file);
    void (*crash_dropped)(struct enl_cce *cce);
    /* Has the agent forget it; false: it does not know it. enl_cce_forgotten is called then. */
    bool (*forget)(void *owner, uint32_t index);
    void (*abort)(void *owner, int status);
    void (*something_ended)(void *owner);
    /* The worker has a piece for the agent's pool. */
    void (*pool_grown)(void *owner, const struct bcri_heap_piece *piece, bool is_there);
};

struct enl_here {
    struct enl_self *self;
    struct enl_conns *conns;
    const struct enl_here_ops *ops;
    void *owner; /* theirs */

    struct bcri_host *host; /* the shared memory */
    struct enl_cce **cces;  /* by index; NULL where there is none */
    size_t cce_room;
    TAILQ_HEAD(enl_cces, enl_cce) all; /* in order of age */
    struct enl_cce *root;              /* NULL in a daemon that another has started (enl --child) */
    uint32_t alive;                    /* CCEs and processes started for them that have not ended */
    struct enl_cores cores;
    char *folder; /* the root's working directory; NULL: unknown */

    int numbers_told; /* segment numbers: 1: reported that few are left; 2: that none is */

    struct enl_worker *worker;
    unsigned forgetting;            /* CCEs that the agent is to forget before their repair */
    uv_timer_t linger;              /* from the end of a CCE's connection to its SIGKILL */
    SLIST_HEAD(, enl_audit) audits; /* that wait until there are none, or look again soon */
    uv_timer_t audit_pause;         /* between two looks of the audits in `audits` */
    struct enl_lines lines;
};

/* Before all else. */
void enl_here_init(struct enl_here *here, struct enl_self *self, struct enl_conns *conns,
                   const struct enl_here_ops *ops, void *owner);
/* Starts its timers and the worker, when here->host is there. Returns 0 or -errno. */
int enl_here_start(struct enl_here *here);
/* The loop ends. False: the worker's thread is stuck, and nothing that it uses may be freed. */
bool enl_here_stop(struct enl_here *here);

#endif
