/* SPDX-License-Identifier: MIT */
/* The random programs of test_deadlock.c, their agents, and the daemons that look at them: machines of small steps, whose state is
 * one structure. A random number says which of them goes on next. */
#ifndef BCR_TEST_DEADLOCK_MODEL_H
#define BCR_TEST_DEADLOCK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/deadlock/deadlock.h"

enum { HOSTS_MAX = 3, CCES_MAX = 9, CELLS = CCES_MAX, QUEUE_MAX = 256, NOBODY = -1 };

enum pc {
    FREE,
    STARTING,
    THINK,
    COMPUTE,
    PUT,
    RING,       /* the CCE whose get was served, or the agent: `ring`; then `then` */
    RING_AGENT, /* of this host, for an order; then `then` */
    GET,
    POLL, /* it only looks, as it has said */
    VAIN, /* it has found nothing, there or elsewhere: if the daemon has asked, it answers */
    /* From here on it waits. */
    SEE,
    NOTE,
    NOTED,
    SLEEPING,
    FLAG,
    LOOK,
    REST,
    BLOCK,
    AWAKE,
};

enum kind { M_PUT, M_GET, M_TIMED_GET, M_ANSWER };
struct message {
    enum kind kind;
    int cell, requester, from, to; /* hosts */
};
struct queue {
    struct message at[QUEUE_MAX];
    unsigned first, count;
};

/* A get that waits at a cell: of a CCE here, or of one elsewhere, for which the agent waits. */
struct waiter {
    int cce;
    bool far, timed;
};
struct cell {
    unsigned regions, waiter_count;
    struct waiter waiter[CCES_MAX];
};

struct cce {
    struct bcri_record_shm *record;
    enum pc pc, then;
    int host, cell, ring;
    bool far, timed, got, flagged, slept;
    unsigned seen, left, turns;
    bool ends;
    /* Of bcr_idle: whether it looks by a request; what it has done, and had done when it called; what it has answered. */
    bool pends;
    unsigned deeds, deeds_then;
    uint32_t answered;
    /* The daemon's of it: the question that it has not answered, and about which period. */
    uint32_t question;
    uint64_t period;
};

struct agent {
    unsigned bell, bell_seen;
    enum { A_ASLEEP, A_BEGIN, A_TAKE, A_RING, A_ANSWER } pc;
    int ring;
    struct queue outbox, inbox, served; /* served: by CCEs, for requesters elsewhere */
    unsigned unacked, deadlines;
    uint64_t messages;
    uint32_t question; /* 0: none */
};

/* What a daemon has been told and has not read. */
struct news {
    enum { N_ANSWER, N_ASK, N_STILL, N_IDLE } kind;
    uint32_t number; /* question, or round */
    int from;        /* host; IDLE: CCE */
    bool quiet;
    uint64_t messages; /* IDLE: the period */
    struct enl_stillness stillness;
};
struct daemon {
    struct enl_host_detector host_detector;
    enum { D_IDLE, D_SECOND, D_LOOK } pc;
    int at; /* the next record */
    uint32_t round;
    struct enl_stillness seen;
    unsigned lookers; /* that it has counted */
    struct news news[QUEUE_MAX];
    unsigned news_count;
};

struct model {
    uint64_t random;
    int hosts;
    bool has_agents;
    struct cce cce[CCES_MAX];
    struct cell cell[CELLS]; /* cell c is that of CCE c */
    struct agent agent[HOSTS_MAX];
    struct queue wire[HOSTS_MAX][HOSTS_MAX];
    unsigned acks[HOSTS_MAX]; /* on their way */
    struct daemon daemon[HOSTS_MAX];
    struct enl_root_detector root_detector;
    unsigned starved[CCES_MAX + HOSTS_MAX]; /* turns */
    unsigned verdicts;
    bool fair; /* nobody rests for long, and no signal comes */
    uint64_t seed;
};
extern struct model model;

/* All anew, from that seed. */
void begin(uint64_t seed);
/* One step of one of them. */
void step(void);

/* ---- what several of them use (deadlock_model.c) ---- */

unsigned draw(unsigned below);
void push(struct queue *queue, struct message message);
struct message pop(struct queue *queue);
/* A region for a cell, stored there by somebody of the cell's host. Returns whom to ring: a CCE, or
 * CCES_MAX for the agent; NOBODY. */
int put_here(int number);
void ring(int target, int host);
void tell_daemon(int host, struct news news);

/* ---- the steps of each (deadlock_cces.c, deadlock_agents.c, deadlock_daemons.c) ---- */

void step_cce(struct cce *cce);
void step_agent(int host);
void step_network(void);
void step_daemon(int host);
/* Whether a CCE that only looks has nothing to find. */
bool has_nothing_to_find(const struct cce *cce);

/* The daemons say that there is a deadlock: the test sees whether there is (test_deadlock.c). */
void hear_verdict(void);

#endif
