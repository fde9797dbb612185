/* SPDX-License-Identifier: MIT */
/* This daemon: what every part of it may ask and use. */
#ifndef ENL_SELF_H
#define ENL_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/report.h"
#include "base/spawn.h"
#include "bcri/config.h"
#include "bcri/host.h"
#include "bcri/log.h"

struct enl_crashes;
struct enl_jobs;
struct enl_links;
struct enl_program;
struct enl_session;

/*   PREPARING --> RUNNING --> ENDING --> ENDED
 *   startscript   the root    all is     all processes have ended: endscript, then the last
 *   runs          is started  killed     messages are written (report.c), then the loop stops
 *
 * RUNNING goes to ENDED without ENDING when the last CCE ends by itself. A daemon that another has
 * started (conductor/parent.c) has no root: it begins to listen to its parent instead, and RUNNING also needs
 * the parent to end. */
enum enl_phase { ENL_PREPARING, ENL_RUNNING, ENL_ENDING, ENL_ENDED };

/* What any part asks of the program as a whole (program.h). */
struct enl_program_ops {
    void (*abort)(struct enl_program *program, int status);
    /* All CCEs are killed, on all hosts, and what they have printed is shown. `who` has asked for it. The first status that
     * is decided stays. */
    void (*finish)(struct enl_program *program, int status, const char *who);
    void (*end_is_due)(
        struct enl_program *program); /* it was deferred (enl_crash_defers_end), and need not be any more */
    void (*something_ended)(struct enl_program *program);
};

struct enl_self {
    /* What parts call by their ops stands above them: they have no more than its name. */
    struct enl_program *program;
    const struct enl_program_ops *ops;
    struct enl_links *links;
    struct enl_jobs *jobs;
    struct enl_crashes *crashes;
    struct enl_session *session;

    enum enl_phase phase; /* of the program here */
    uv_loop_t loop;
    struct bcri_config config;
    struct bcri_log log;
    char *no_log;  /* why there is none, though one is wanted; NULL: there is one, or none is wanted */
    bool is_child; /* another daemon has started this one, and is its way to the user */
    struct enl_inherited inherited;
    char **environment; /* what CCEs get: without BCR's own variables */

    char name[BCRI_PROGRAM_NAME_MAX]; /* of the program (own_name.c) */
    uint32_t host_number;             /* of this host in the program; the root's has 0 */
    uint32_t daemon_number;           /* of this daemon among the program's on this machine, from 0 */
    /* This daemon's own: NAME for daemon 0, NAME:K for others. */
    char socket_name[BCRI_PROGRAM_NAME_MAX + 16];
    char hostname[BCRI_LOG_HOST_MAX + 1];
    char address[64]; /* of this host, for the scripts */

    struct enl_report report; /* how it speaks to its user */
    const struct enl_upward
        *upward; /* NULL: this is the root's daemon, or the one that has started it is gone */
    struct enl_often often[ENL_OFTEN_KINDS];
};

#endif
