/* SPDX-License-Identifier: MIT */
/* Stepping another process, one instruction at a time, and stopping it later wherever it once
 * stood.
 *
 * The victim is a fork of the tracer, so an address means the same in both. One thread does all the
 * tracing. */
#ifndef BCR_TEST_TRACE_H
#define BCR_TEST_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Why this machine cannot step, or NULL. */
const char *trace_missing(void);

/* In the victim: the first instruction that counts comes after the return of trace_begin; what
 * follows trace_end does not count. Both stop until the tracer says otherwise. */
void trace_begin(void);
void trace_end(void);

/* Waits for the victim's trace_begin. False: it has ended instead. */
bool trace_attach(pid_t victim);

enum trace_at {
    TRACE_AT_INSTRUCTION,
    TRACE_AT_YIELD, /* the next instruction is the system call sched_yield */
    TRACE_AT_SLEEP, /* ... is one that may sleep until another CCE does something */
    TRACE_AT_END,   /* it has come to trace_end */
    TRACE_GONE      /* it has ended by itself */
};

/* Where it stands: the address of the next instruction. */
uintptr_t trace_place(pid_t victim);

/* Executes one instruction. */
enum trace_at trace_step(pid_t victim);

/* Lets it run, at its own speed, until it comes to `place` for the `times`th time from here (being
 * there already does not count). `place` 0: to trace_end. `sleep`, if not 0, is the instruction by
 * which it would go to sleep: before it does, it is stopped there. Returns what it came to:
 * TRACE_AT_INSTRUCTION if the place, TRACE_AT_SLEEP. */
enum trace_at trace_run(pid_t victim, uintptr_t place, uint64_t times, uintptr_t sleep);

/* The same place as an offset that addr2line(1) understands. */
unsigned long trace_offset(uintptr_t place);

/* Kills it where it stands and returns when it is dead; its status is still to be waited for. */
void trace_kill(pid_t victim);

#endif
