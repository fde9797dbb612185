/* SPDX-License-Identifier: MIT */
/* CCEs that crash, in the daemon: between the CCE's message and its end, and what is shown of it.
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
 * seconds at most. So of several CCEs that crash together each is seen. */
#ifndef ENL_CRASH_H
#define ENL_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/channel.h"
#include "host/cce.h"
#include "program.h"

/* Of one report. */
#define ENL_CRASH_BYTES_MAX 32768u

/* What a CCE's message `crashed` brings. Returns NULL or why the connection must end. */
const char *enl_crash_begun(struct enl_cce *cce, struct bcri_incoming *in);
/* A CCE with a crash has ended by `signal`, or one that has not said anything by a signal that is a crash:
 * its report. Called before its record is repaired. */
void enl_crash_ended(struct enl_cce *cce, int signal, bool core_file);
/* The CCE goes: nothing of its crash is needed any more. */
void enl_crash_drop(struct enl_cce *cce);

/* A child of the daemon's has ended; it may be a tracer. */
void enl_crash_reaped(struct enl_program *program, pid_t pid);

/* True: the program is to end with `status`, and enl_program_abort will be called again soon. */
bool enl_crash_defers_abort(struct enl_program *program, int status);

/* Shows, or sends up, all reports there are. */
void enl_crash_flush(struct enl_program *program);
/* A child's frame with a report, or a part of it. Returns NULL or why it is none. */
struct enl_child;
const char *enl_crash_of_child(struct enl_child *child, const struct bcri_control *message);
/* At the program's end: closes the timers. */
void enl_crash_close(struct enl_program *program);

#endif
