/* SPDX-License-Identifier: MIT */
/* The reference of the scheduler: docs/handlers.md, "The rule", in the plainest words. It knows
 * nothing of cells: the test tells it what is requested, which invocations wait and whose wait is
 * over, and asks which may be the next to run. It shares nothing with the library; where they
 * differ, docs/handlers.md decides who is wrong.
 *
 * Invocations and requests are numbered from 0; invocation 0 is the main program. One invocation
 * runs at a time; what is said to be done without naming one is done by it. */
#ifndef BCR_TEST_MODEL_SCHEDULER_H
#define BCR_TEST_MODEL_SCHEDULER_H

#include <stdbool.h>

enum {
    SCHED_INVOCATIONS = 1 << 14,
    SCHED_REQUESTS = 1 << 14,
    SCHED_CELLS = 16,
    SCHED_MAIN = 0,
    SCHED_NOBODY = -1
};

enum sched_state { SCHED_RUNS, SCHED_INTERRUPTED, SCHED_ALLOWS, SCHED_WAITS, SCHED_READY, SCHED_OVER };

/* When something came. Of what the CCE sees at one time, while it waits, nobody can tell which came
 * first. */
struct sched_time {
    int earliest, latest; /* 0: not seen yet */
};
struct sched_invocation {
    enum sched_state state;
    int activep, blockp;
    int allowed; /* in SCHED_ALLOWS */
    int stopped; /* when; 0: it is not among those who have stopped */
    bool over;   /* what it waits for has come, seen or not */
    struct sched_time came;
};
struct sched_request {
    bool queued, dropped;
    int cell, activep, blockp;
    struct sched_time came;
};

struct sched {
    int clock, runs;
    int idle_since; /* the CCE waits since then; 0: it does not */
    int passes; /* so many turns of its priority the main program, interrupted, lets pass before it goes on */
    int invocation_count, request_count;
    struct sched_invocation invocation[SCHED_INVOCATIONS];
    struct sched_request request[SCHED_REQUESTS];
    struct sched_time turn[SCHED_CELLS]; /* by cell: since when its turn has waited */
};

void sched_begin(struct sched *sched);

/* A cell has met its mark. Returns the request's number. If `own`, the CCE has done it itself: then
 * it sees at once what is requested there. */
int sched_request(struct sched *sched, int cell, int activep, int blockp, bool own);
/* The handler there is another one now: requests are for that. There is none: they are dropped. */
void sched_replace(struct sched *sched, int cell, int activep, int blockp);
void sched_drop(struct sched *sched, int cell);
/* What that one waits for has come. */
void sched_over(struct sched *sched, int invocation);

/* A call begins, or bcr_priority ends: does another invocation go first? If so, the caller is
 * interrupted. */
bool sched_interrupts(struct sched *sched);
/* Whether it does, if the next thing is a call. */
bool sched_would_interrupt(struct sched *sched);
void sched_allow(struct sched *sched, int priority);
void sched_block(struct sched *sched);
void sched_wait(struct sched *sched);
void sched_end(struct sched *sched);
void sched_priority(struct sched *sched, int activep, int blockp);

/* After one of these, if no invocation runs: what has happened is seen. False: none can run, the
 * CCE waits until sched_look says true. */
bool sched_look(struct sched *sched);
/* Whether that request may be started, that invocation may go on, now. */
bool sched_may_start(const struct sched *sched, int request);
bool sched_may_go_on(const struct sched *sched, int invocation);
/* It does. sched_start returns the new invocation. */
int sched_start(struct sched *sched, int request);
void sched_go_on(struct sched *sched, int invocation);

/* The lowest priority that may run. */
int sched_level(const struct sched *sched);

#endif
