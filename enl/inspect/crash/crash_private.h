/* SPDX-License-Identifier: MIT */
/* What the files of the daemon's part share: crash.h. crash.c calls the others, and none of them calls back. */
#ifndef ENL_CRASH_PRIVATE_H
#define ENL_CRASH_PRIVATE_H

#include "inspect/crash/crash.h"

struct enl_crash {
    TAILQ_ENTRY(enl_crash) entry; /* of those that are not done */
    struct enl_crashes *crashes;
    struct enl_cce *cce;
    int signal, code;
    uint32_t thread;
    uint64_t address, context, coroutines;
    int release;             /* its end lets the CCE die; -1: it has been let */
    pid_t tracer;            /* 0: not started, or reaped */
    struct enl_watch *watch; /* of its output; NULL: not started, or ended */
    uint64_t until_ns;
    struct enl_crash_text text;
    struct enl_waiters *waiters; /* NULL: not known, or not yet */
    bool traced;                 /* the tracer has ended, or could not be started */
    bool asked;                  /* the worker is to say who waits */
};

/* tracer.c: starts tracers for the oldest crashes, as many as may run at a time. */
void enl_crash_start_tracers(struct enl_crashes *crashes);
/* Reads what its tracer has said and is not read; after the end of that it is traced. */
void enl_crash_take_trace(struct enl_crashes *crashes, struct enl_crash *crash);
/* The CCE may die; what the tracer has said until now is its trace. */
void enl_crash_let_die(struct enl_crashes *crashes, struct enl_crash *crash);
/* The same, once its trace and its waiters are known. */
void enl_crash_let_die_when_known(struct enl_crashes *crashes, struct enl_crash *crash);

/* account.c: what is known of the end of `cce`: the trace's two parts, and between them what brought it
 * about. */
struct enl_crash_text enl_crash_account(const struct enl_cce *cce, bool core_file);

/* gathered.c: the report (taken) is shown, or sent up, together with those that follow soon. */
void enl_crash_gather(struct enl_crashes *crashes, struct enl_crash_report *report);

#endif
