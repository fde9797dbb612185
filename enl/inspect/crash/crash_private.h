/* SPDX-License-Identifier: MIT */
/* crash_private.h -- what the files of enl/inspect/crash have of each other. */
#ifndef ENL_CRASH_PRIVATE_H
#define ENL_CRASH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/ctx.h"
#include "host/worker.h"
#include "inspect/crash/crash.h"

/* account.c -- What a report says. */

#define ENL_CRASH_BYTES_MAX 32768u /* of one */

struct enl_crash_text {
    char *bytes;
    size_t length, limit;
    bool cut;
};
/* Adds bytes up to `limit`, ENL_CRASH_BYTES_MAX at most. What does not fit is cut behind a line that does; "... and more" stands
 * there, and nothing is added until the limit is larger. */
void enl_crash_text_add(struct enl_crash_text *text, size_t limit, const char *bytes, size_t length);
/* The text ends behind its last whole line, where `why` (not longer than 40 bytes) is added. */
void enl_crash_text_cut(struct enl_crash_text *text, const char *why);

/* What is known of the end of `cce`: the trace's two parts, and between them what brought it about. */
struct enl_crash_text enl_crash_account(const struct enl_cce *cce, bool core_file);

/* crash.c -- A crash between the CCE's message and its end. */

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
    struct enl_crash_text text;  /* what the tracer has written */
    struct enl_waiters *waiters; /* NULL: not known, or not yet */
    bool traced;                 /* the tracer has ended, or could not be started */
    bool asked;                  /* the worker is to say which CCEs wait */
};

/* reports.c -- Reports of crashes. Those of CCEs that crashed alike are one: the same signal and the same stack. */

struct enl_crash_report {
    STAILQ_ENTRY(enl_crash_report) entry;
    uint32_t host; /* that tells of it */
    int signal;
    uint32_t count;   /* of CCEs */
    uint32_t ordinal; /* of the first, as the next */
    char who[512];    /* "CCE 3 (ring, pid 1234) on alpha" */
    struct enl_ordinals ordinals;
    /* The stack where it crashed, by which reports are equal; then, after a NUL, the rest about the
     * first. Lines that end in newlines, not escaped. */
    char *text;
    size_t length;
};

/* The report (taken) is shown, or sent up, together with those that follow soon. */
void enl_crash_gather(struct enl_crashes *crashes, struct enl_crash_report *report);
/* Frees those that are not shown. */
void enl_crash_reports_fini(struct enl_crashes *crashes);

/* frames.c -- The frames of a stack, printed. */

/* Registers in DWARF's order for x86-64, the only machine whose stacks are read; the last one is the program counter. */
enum { ENL_REGISTERS = 17, ENL_REGISTER_BP = 6, ENL_REGISTER_SP = 7, ENL_REGISTER_PC = 16 };

struct enl_registers {
    uint64_t at[ENL_REGISTERS];
};

/* Prepares. `pid` is any thread of the process that has not ended: of one that has, the system tells nothing. False: there is no
 * libdw, and enl_frames_print prints the first frame only. */
bool enl_frames_open(pid_t pid);
/* Prints the frames of a stack on which nothing runs meanwhile. With `in_call`, from the call of BCR's on in
 * which it stands. */
void enl_frames_print(pid_t pid, const struct enl_registers *registers, bool in_call);

/* locals.c -- The local variables of a crashed thread's functions, by gdb, if that was asked for (enl -g). */

/* Prints the frames of `thread` of process `pid` above its signal handler, each with its variables; or why there
 * are none. May take seconds. */
void enl_locals_print(pid_t pid, pid_t thread);

/* process.c -- What a tracer sees of a process by the system alone. `pid` is a thread of it that has not ended;
 * the first one may have. */

/* Reads the memory of process `pid`; false: not all of it is there, or may be read. */
bool enl_process_memory(pid_t pid, uint64_t address, void *to, size_t bytes);
/* Whether code is mapped at `address`. */
bool enl_process_is_code(pid_t pid, uint64_t address);
/* Prints a frame as module+offset, which addr2line -e MODULE understands wherever the program was loaded. */
void enl_process_print(pid_t pid, unsigned number, uint64_t pc);
/* Opens the file that is mapped at `base`, where the first part of it lies: that file, not what its path holds by now. A file
 * that was replaced or removed since the program started still has the names of what runs. Returns the descriptor, or -1: it
 * cannot be reached any more. */
int enl_process_open_mapped(pid_t pid, uint64_t base);

/* waiters.c -- Which CCEs wait for one that has crashed: by what each CCE of this host has noted before it went to
 * sleep (struct bcri_sleep_shm); and how many requests of CCEs elsewhere the agent has at its cells. The
 * worker looks, since it may map segments. What it finds is a hint: no CCE is stopped for it. */

struct enl_waiter {
    bcri_ref request; /* an ID slot; none: it waits for a lock of that CCE's */
    uint32_t index;   /* of the CCE that waits; the agent's: CCEs of other hosts do */
    uint32_t cell;    /* for what it waits */
    uint32_t others;  /* how many requests the agent has there for them; 0: it is a CCE's */
    bool puts;
    bool noted; /* its note names that CCE; where it waits is another matter */
    uint64_t since_ns;
};

#define ENL_WAITERS_MAX 256u

struct enl_waiters {
    struct enl_call call;
    uint32_t owner; /* the CCE that they wait for */
    uint32_t count;
    struct enl_waiter at[ENL_WAITERS_MAX];
};

/* For the call: finds those that wait for the owner. */
int enl_waiters_find(struct enl_call *call, struct bcri_ctx *ctx);

#endif
