/* SPDX-License-Identifier: MIT */
/* crash.h -- the interface of enl/inspect/crash: reports of CCEs that crash. */
#ifndef ENL_CRASH_H
#define ENL_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

#include "bcri/channel.h"
#include "host/host.h"

struct enl_cce;
struct enl_crash;
struct enl_crash_report;
struct enl_self;

/* ordinals.c -- A bounded set of CCEs' ordinals, as ranges: which CCEs a report is about. */

/* How many ranges there is room for, and the bytes of the longest text of them. */
#define ENL_ORDINALS_MAX      24u
#define ENL_ORDINALS_TEXT_MAX (ENL_ORDINALS_MAX * 23u + 8u)

struct enl_ordinals {
    uint32_t count;
    bool cut; /* some had no room */
    struct {
        uint32_t first, last;
    } range[ENL_ORDINALS_MAX]; /* ascending, with gaps between them */
};

/* Adds first .. last. */
void enl_ordinals_add(struct enl_ordinals *set, uint32_t first, uint32_t last);
void enl_ordinals_add_all(struct enl_ordinals *set, const struct enl_ordinals *other);
/* "0, 3-7", and " ..." behind it if some had no room. */
void enl_ordinals_text(const struct enl_ordinals *set, char text_out[ENL_ORDINALS_TEXT_MAX]);
/* Adds what such a text says, up to where it says something else. */
void enl_ordinals_read(struct enl_ordinals *set, const char *text);
/* What a report says of `cces` CCEs whose ordinals these are: the text, and how many it does not name, or that several have the
 * same ordinal, as bcr_enlist may give it to any. */
void enl_ordinals_tell(const struct enl_ordinals *set, uint32_t cces, char *text_out, size_t size);

/* crash.c -- CCEs that crash, in the daemon: between the CCE's message and its end, and what is shown of it.
 *
 *   the CCE says `crashed` --> a tracer is started, or the crash waits for one of the few to end
 *   the tracer has ended   --> the CCE is let die; its end is noticed like any other (death.c)
 *   the CCE has ended      --> its report, together with those of others that ended alike
 *
 * The tracer is a process (enl --trace, trace.c): it reads the CCE's memory and debug information, which
 * may hold anything, and may be killed at any time. The daemon takes from it a bounded text, which it
 * escapes like what CCEs print. The CCE itself waits two seconds at most, the daemon a little less.
 *
 * While a crash is being looked at, the end of the whole program (onfail abort, enl kill) waits for it, two
 * seconds at most. So of several CCEs that crash together each is seen.
 */

struct enl_crashes {
    struct enl_self *self;
    struct enl_here *here;

    TAILQ_HEAD(, enl_crash) open;            /* that are not done, oldest first */
    unsigned tracers;                        /* that run */
    STAILQ_HEAD(, enl_crash_report) reports; /* that are not shown, the oldest first */
    unsigned kinds, left_out;                /* reports there are; CCEs for whose there was no room */
    bool holds;                              /* they are shown when enl_crash_show says so */
    STAILQ_HEAD(, enl_crash_report) held;
    unsigned held_count;
    STAILQ_HEAD(, enl_crash_report) parts; /* of reports of other hosts, whose rest has not come */
    uv_timer_t look;                       /* while a crash is open, or the program's end is deferred */
    uv_timer_t gather;                     /* while there are reports that are not shown */
    bool defers, deferred;                 /* the program's end waits; has waited */
    uint64_t defers_until_ns;
};

/* Before all else. */
void enl_crash_init(struct enl_crashes *crashes, struct enl_self *self, struct enl_here *here);
/* When there is a loop. */
void enl_crash_start(struct enl_crashes *crashes);
/* The loop ends. */
void enl_crash_close(struct enl_crashes *crashes);

/* What a CCE's message `crashed` brings. Returns NULL or why the connection must end. */
const char *enl_crash_begun(struct enl_crashes *crashes, struct enl_cce *cce, struct bcri_incoming *in);
/* A CCE with a crash has ended by `signal`, or one that has not said anything by a signal that is a crash:
 * its report. Called before its record is repaired. */
void enl_crash_ended(struct enl_crashes *crashes, struct enl_cce *cce, int signal, bool core_file);
/* The CCE goes: nothing of its crash is needed any more. */
void enl_crash_drop(struct enl_cce *cce);

/* A child of the daemon's has ended; it may be a tracer. */
void enl_crash_reaped(struct enl_crashes *crashes, pid_t pid);

/* Whether the end of the program waits: self->ops->end_is_due is called when it need not any more. */
bool enl_crash_defers_end(struct enl_crashes *crashes);

/* Shows, sends up, or holds back all reports there are. Of those that are held there are 64 at most; more are shown. */
void enl_crash_flush(struct enl_crashes *crashes);
/* Shows the reports that are held of the CCE with that ordinal; UINT32_MAX: of all. */
void enl_crash_show(struct enl_crashes *crashes, uint32_t ordinal);
/* died: another host's report, or a part of it. Returns NULL or why it is none. */
const char *enl_crash_of_host(struct enl_crashes *crashes, uint32_t host, const struct bcri_control *message);

/* trace.c -- enl --trace: what the daemon runs to see where a CCE is (crash.h). It is a process of its own, since it
 * reads memory and debug information that may hold anything, and since no other process of BCR's then needs libdw.
 *
 * It writes a text to its stdout, for the daemon: the stack of the thread that has crashed, a NUL, then
 * the stacks of suspended handlers and of other threads. Each line is one frame or one heading. */

/* Prints the stacks of all threads of a process that runs, which it stops one after the other, each for that moment. To be
 * called once in a process. What is no stack, but is said of the process, is a line that begins with "! ". */
void enl_trace_running(pid_t pid);

/* enl --trace PID THREAD CONTEXT COROUTINES. Returns the exit status. */
int enl_trace(int argc, char **argv);

#endif
