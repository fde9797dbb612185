/* SPDX-License-Identifier: MIT */
/* Deadlock detection on random programs: no false alarm, and no deadlock that is missed.
 *
 * CCEs of up to three hosts put, get, compute, start others and end, at random. Each is a machine of small
 * steps: those of cells/wait.c store by store into a real record, a put and its ring, an order and its
 * ring. Some spin instead, and say so (bcr_idle): they look into their cells, or at requests there, and answer the daemon
 * when they have found nothing. Agents and the network carry what is for other hosts. The scheduler takes any of them next, and lets some
 * rest for long, so a CCE that was rung may go on much later. Between them the daemons look: record by record,
 * with the code that enl has (stillness.c, host_detector.c, root_detector.c), while frames to the root are late.
 *
 * At a verdict the whole state is looked at: no CCE may be able to go on. When nothing moves any more and
 * CCEs are left, there must be a verdict within some seconds; and one only.
 *
 * SIM_SEED=N in the environment runs that seed alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
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

static struct {
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
} w;

static unsigned draw(unsigned below)
{
    w.random ^= w.random << 13;
    w.random ^= w.random >> 7;
    w.random ^= w.random << 17;
    return (unsigned)((w.random >> 11) % below);
}

static void push(struct queue *queue, struct message message)
{
    CHECK(queue->count < QUEUE_MAX);
    queue->at[(queue->first + queue->count++) % QUEUE_MAX] = message;
}
static struct message pop(struct queue *queue)
{
    queue->count--;
    return queue->at[queue->first++ % QUEUE_MAX];
}

/* ---- the truth ---- */

static bool has_nothing_to_find(const struct cce *cce)
{
    return w.cell[cce->cell].regions == 0 && !cce->got;
}

static bool waits_for_ever(const struct cce *cce)
{
    return cce->pc >= SEE                       ? !cce->got && !cce->timed
           : cce->pc == POLL || cce->pc == VAIN ? has_nothing_to_find(cce)
                                                : false;
}

/* Whether nothing can ever move: how many CCEs wait then; 0: something can, or all have ended. */
static unsigned dead_count(void)
{
    unsigned count = 0;
    for (int i = 0; i < CCES_MAX; i++) {
        if (w.cce[i].pc != FREE && !waits_for_ever(&w.cce[i]))
            return 0;
        count += w.cce[i].pc != FREE;
    }
    for (int h = 0; h < w.hosts; h++) {
        const struct agent *agent = &w.agent[h];
        if (agent->outbox.count + agent->inbox.count + agent->served.count + agent->deadlines != 0 ||
            agent->pc == A_RING)
            return 0;
        for (int to = 0; to < w.hosts; to++)
            if (w.wire[h][to].count != 0)
                return 0;
    }
    return count;
}

static void tell_daemon(int host, struct news news)
{
    struct daemon *daemon = &w.daemon[host];
    CHECK(daemon->news_count < QUEUE_MAX);
    daemon->news[daemon->news_count++] = news;
}

/* ---- CCEs ---- */

/* A region for a cell, stored there by somebody of the cell's host. Returns whom to ring: a CCE, or
 * CCES_MAX for the agent; NOBODY. */
static int put_here(int number)
{
    struct cell *cell = &w.cell[number];
    if (cell->waiter_count == 0) {
        cell->regions++;
        return NOBODY;
    }
    const struct waiter first = cell->waiter[0];
    memmove(cell->waiter, cell->waiter + 1, --cell->waiter_count * sizeof first);
    if (first.far) {
        struct agent *agent = &w.agent[w.cce[number].host];
        agent->deadlines -= first.timed;
        push(&agent->served, (struct message){.kind = M_ANSWER,
                                              .requester = first.cce,
                                              .from = w.cce[number].host,
                                              .to = w.cce[first.cce].host});
        return CCES_MAX;
    }
    w.cce[first.cce].got = true;
    return w.cce[first.cce].flagged ? first.cce : NOBODY;
}

static void begin_to_look(struct cce *cce)
{
    struct bcri_idle_shm *const idle = &cce->record->idle;
    cce->cell = (int)(cce - w.cce);
    cce->pends = draw(2) == 0;
    cce->got = cce->flagged = cce->timed = false;
    if (cce->pends && w.cell[cce->cell].regions == 0)
        w.cell[cce->cell].waiter[w.cell[cce->cell].waiter_count++] = (struct waiter){.cce = cce->cell};
    cce->deeds_then = cce->deeds;
    bcri_store(&idle->period, bcri_load(&idle->period) + 1 + bcri_load(&idle->period) % 2);
    cce->pc = POLL;
}

static void think(struct cce *cce)
{
    cce->deeds++; /* something that others may notice comes next */
    if (cce->left == 0 && draw(2) == 0) {
        cce->left = draw(2); /* it looks until it is stuck, or has done a bit */
        begin_to_look(cce);
        return;
    }
    if (cce->left == 0) {
        if (cce->ends) {
            bcri_store(&cce->record->id.state, BCRI_CCE_DEAD);
            cce->pc = FREE;
            return;
        }
        cce->left = 1 + draw(3); /* it gets until it is stuck */
        cce->cell = (int)(cce - w.cce);
        cce->pc = GET;
        return;
    }
    cce->left--;
    do
        cce->cell = (int)draw(CCES_MAX);
    while (w.cce[cce->cell].host >= w.hosts);
    switch (draw(8)) {
    case 0: cce->pc = COMPUTE; break;
    case 1:
    case 2:
    case 3: cce->pc = PUT; break;
    default: cce->pc = GET; break;
    }
    if (draw(20) == 0) /* it starts another */
        for (int i = 0; i < CCES_MAX; i++)
            if (w.cce[i].pc == FREE && bcri_load(&w.cce[i].record->id.state) == BCRI_CCE_FREE) {
                bcri_store(&w.cce[i].record->id.state, BCRI_CCE_STARTING);
                w.cce[i].pc = STARTING;
                break;
            }
}

static void ring(int target, int host)
{
    if (target == CCES_MAX)
        w.agent[host].bell++;
    else
        atomic_fetch_add(&w.cce[target].record->bell.bell, 1);
}

static void order(struct cce *cce, enum kind kind, enum pc then)
{
    push(&w.agent[cce->host].outbox, (struct message){.kind = kind,
                                                      .cell = cce->cell,
                                                      .requester = (int)(cce - w.cce),
                                                      .from = cce->host,
                                                      .to = w.cce[cce->cell].host});
    cce->pc = RING_AGENT;
    cce->then = then;
}

static void get(struct cce *cce)
{
    struct cell *cell = &w.cell[cce->cell];
    cce->got = cce->flagged = cce->slept = false;
    cce->timed = draw(6) == 0;
    cce->pc = SEE;
    if (cce->far) { /* only the cell decides about time */
        order(cce, cce->timed ? M_TIMED_GET : M_GET, SEE);
        cce->timed = false;
    } else if (cell->regions != 0) {
        cell->regions--;
        cce->pc = THINK;
    } else {
        cell->waiter[cell->waiter_count++] = (struct waiter){.cce = (int)(cce - w.cce)};
    }
}

/* It looks; in a later step it answers, if it was asked, for that step. */
static void poll_once(struct cce *cce)
{
    struct cell *cell = &w.cell[cce->cell];
    if (has_nothing_to_find(cce)) {
        cce->pc = VAIN;
        return;
    }
    cell->regions -= !cce->got;
    cce->deeds++; /* the period goes on until it looks again */
    cce->pc = draw(3) == 0 ? COMPUTE : THINK;
}

static void answer_daemon(struct cce *cce)
{
    struct bcri_idle_shm *const idle = &cce->record->idle;
    const uint32_t asked = bcri_load(&idle->asked);
    const bool only_looked = cce->deeds == cce->deeds_then;
    if (bcri_load(&idle->period) % 2 == 0 || asked == cce->answered)
        return;
    cce->answered = asked;
    tell_daemon(cce->host, (struct news){.kind = N_IDLE,
                                         .number = asked,
                                         .from = (int)(cce - w.cce),
                                         .quiet = only_looked && has_nothing_to_find(cce),
                                         .messages = bcri_load(&idle->period)});
    bcri_store(&idle->period, bcri_load(&idle->period) + !only_looked);
}

static void give_up(struct cce *cce)
{
    struct cell *cell = &w.cell[cce->cell];
    for (unsigned i = 0; i < cell->waiter_count; i++)
        if (!cell->waiter[i].far && cell->waiter[i].cce == (int)(cce - w.cce))
            memmove(&cell->waiter[i], &cell->waiter[i + 1],
                    (--cell->waiter_count - i) * sizeof cell->waiter[0]);
    cce->pc = THINK;
}

static void step_cce(struct cce *cce)
{
    struct bcri_record_shm *record = cce->record;
    cce->turns++;
    switch (cce->pc) {
    case FREE: return;
    case STARTING:
        bcri_store(&record->id.state, BCRI_CCE_ALIVE);
        cce->pc = THINK;
        return;
    case THINK:
        think(cce);
        cce->far = w.cce[cce->cell].host != cce->host;
        return;
    case COMPUTE: /* it may look in vain meanwhile, though it has something to do */
        if (draw(4) == 0)
            answer_daemon(cce);
        cce->pc = draw(10) == 0 ? THINK : COMPUTE;
        return;
    case PUT:
        if (cce->far) {
            order(cce, M_PUT, THINK);
            return;
        }
        cce->ring = put_here(cce->cell);
        cce->pc = cce->ring != NOBODY ? RING : THINK;
        cce->then = THINK;
        return;
    case RING:
        ring(cce->ring, cce->host);
        cce->pc = cce->then;
        return;
    case RING_AGENT:
        ring(CCES_MAX, cce->host);
        cce->pc = cce->then;
        return;
    case GET: get(cce); return;
    case POLL: poll_once(cce); return;
    case VAIN:
        answer_daemon(cce);
        cce->pc = draw(3) == 0 ? POLL : VAIN; /* it has several cells, and finds nothing in another one */
        return;
    case SEE:
        cce->seen = bcri_load(&record->bell.bell);
        cce->pc = NOTE;
        return;
    case NOTE:
        if (!cce->slept) /* what wakes it for nothing does not begin another wait */
            bcri_store(&record->sleep.since_ns, cce->turns);
        cce->slept = true;
        bcri_store(&record->sleep.deadline_ns, cce->timed ? 1 : UINT64_MAX);
        cce->pc = NOTED;
        return;
    case NOTED:
        bcri_store(&record->sleep.sleeps, bcri_load(&record->sleep.sleeps) + 1);
        cce->pc = SLEEPING;
        return;
    case SLEEPING:
        bcri_store(&record->bell.sleeping, BCRI_SLEEPS_ON_FUTEX);
        cce->pc = FLAG;
        return;
    case FLAG:
        cce->flagged = true;
        cce->pc = LOOK;
        return;
    case LOOK: cce->pc = cce->got ? AWAKE : REST; return;
    case REST:
        bcri_store(&record->bell.rests, (uint64_t)bcri_load(&record->sleep.sleeps) << 32 | cce->seen);
        cce->pc = BLOCK;
        return;
    case BLOCK: /* signals end it early, until the end */
        if (bcri_load(&record->bell.bell) != cce->seen || cce->timed || (!w.fair && draw(40) == 0))
            cce->pc = AWAKE;
        return;
    case AWAKE:
        bcri_store(&record->bell.sleeping, BCRI_AWAKE);
        cce->pc = cce->got ? THINK : SEE;
        if (cce->timed && !cce->got && draw(3) == 0)
            give_up(cce);
        return;
    }
}

/* ---- agents and the network ---- */

static void send_message(struct agent *agent, struct message message)
{
    agent->messages++;
    agent->unacked++;
    push(&w.wire[message.from][message.to], message);
}

static void perform(struct agent *agent, struct message message)
{
    struct cell *cell = &w.cell[message.cell];
    agent->messages++;
    if (message.kind == M_ANSWER) {
        w.cce[message.requester].got = true;
        agent->ring = message.requester;
        agent->pc = A_RING;
    } else if (message.kind == M_PUT) {
        agent->ring = put_here(message.cell);
        if (agent->ring != NOBODY)
            agent->pc = A_RING;
    } else if (cell->regions != 0) {
        cell->regions--;
        send_message(agent, (struct message){M_ANSWER, 0, message.requester, message.to, message.from});
    } else {
        const bool timed = message.kind == M_TIMED_GET;
        cell->waiter[cell->waiter_count++] = (struct waiter){message.requester, true, timed};
        agent->deadlines += timed;
    }
}

/* A get that waits here for one elsewhere has no more time. */
static bool time_out(struct agent *agent, int host)
{
    for (int c = 0; c < CELLS && agent->deadlines != 0; c++)
        for (unsigned i = 0; w.cce[c].host == host && i < w.cell[c].waiter_count; i++)
            if (w.cell[c].waiter[i].timed) {
                const int requester = w.cell[c].waiter[i].cce;
                memmove(&w.cell[c].waiter[i], &w.cell[c].waiter[i + 1],
                        (--w.cell[c].waiter_count - i) * sizeof w.cell[c].waiter[0]);
                agent->deadlines--;
                send_message(agent, (struct message){M_ANSWER, 0, requester, host, w.cce[requester].host});
                return true;
            }
    return false;
}

static void step_agent(int host)
{
    struct agent *agent = &w.agent[host];
    switch (agent->pc) {
    case A_ASLEEP:
        if (agent->bell != agent->bell_seen || agent->inbox.count != 0 || agent->question != 0 ||
            (agent->deadlines != 0 && draw(8) == 0 && time_out(agent, host)))
            agent->pc = A_BEGIN;
        return;
    case A_BEGIN:
        agent->bell_seen = agent->bell;
        agent->pc = A_TAKE;
        return;
    case A_TAKE:
        if (agent->outbox.count != 0)
            send_message(agent, pop(&agent->outbox));
        else if (agent->served.count != 0)
            send_message(agent, pop(&agent->served));
        else if (agent->inbox.count != 0)
            perform(agent, pop(&agent->inbox));
        else
            agent->pc = A_ANSWER;
        return;
    case A_RING:
        ring(agent->ring, host);
        agent->pc = A_TAKE;
        return;
    case A_ANSWER:
        if (agent->question != 0)
            tell_daemon(host, (struct news){.kind = N_ANSWER,
                                            .number = agent->question,
                                            .quiet = agent->unacked == 0 && agent->inbox.count == 0 &&
                                                     agent->deadlines == 0 && agent->bell == agent->bell_seen,
                                            .messages = agent->messages});
        agent->question = 0;
        agent->pc = A_ASLEEP;
        return;
    }
}

static void step_network(void)
{
    const int from = (int)draw((unsigned)w.hosts), to = (int)draw((unsigned)w.hosts);
    if (w.wire[from][to].count != 0) {
        push(&w.agent[to].inbox, pop(&w.wire[from][to]));
        w.acks[from]++;
    }
    if (w.acks[to] != 0 && draw(2) == 0) {
        w.acks[to]--;
        w.agent[to].unacked--;
    }
}

/* ---- daemons ---- */

static void root_detector_of(enum enl_verdict verdict)
{
    if (verdict == ENL_ASK)
        for (int h = 0; h < w.hosts; h++)
            tell_daemon(h, (struct news){.kind = N_ASK, .number = w.root_detector.round});
    if (verdict != ENL_DEADLOCK)
        return;
    const unsigned dead = dead_count();
    if (dead == 0 || dead != enl_root_detector_count(&w.root_detector))
        FAIL("seed %llu: %u CCEs accused, %u are dead", (unsigned long long)w.seed,
             enl_root_detector_count(&w.root_detector), dead);
    w.verdicts++;
}

static void obey(int host, enum enl_host_detector_wants wants)
{
    struct daemon *daemon = &w.daemon[host];
    const struct enl_host_detector *host_detector = &daemon->host_detector;
    switch (wants) {
    case ENL_HOST_DETECTOR_NOTHING: return;
    case ENL_HOST_DETECTOR_LOOK:
        daemon->pc = D_LOOK;
        daemon->at = 0;
        daemon->round = 0;
        return;
    case ENL_HOST_DETECTOR_ASK:
        if (w.has_agents)
            w.agent[host].question = host_detector->question;
        for (int i = 0; i < CCES_MAX; i++)
            if (w.cce[i].host == host &&
                (w.cce[i].question = w.cce[i].period != 0 ? host_detector->question : 0) != 0)
                bcri_store(&w.cce[i].record->idle.asked, host_detector->question);
        return;
    case ENL_HOST_DETECTOR_TELL:
        if (host == 0)
            root_detector_of(
                enl_root_detector_hear(&w.root_detector, 0, host_detector->round, &host_detector->last));
        else
            tell_daemon(0, (struct news){.kind = N_STILL,
                                         .number = host_detector->round,
                                         .from = host,
                                         .stillness = host_detector->last});
        return;
    }
}

static void hear(int host)
{
    struct daemon *daemon = &w.daemon[host];
    const struct news news = daemon->news[0];
    memmove(daemon->news, daemon->news + 1, --daemon->news_count * sizeof news);
    if (news.kind == N_ANSWER) {
        obey(host, enl_host_detector_answer(&daemon->host_detector, news.number, news.quiet, news.messages));
    } else if (news.kind == N_IDLE) {
        struct cce *cce = &w.cce[news.from];
        if (cce->question == 0 || cce->question != news.number)
            return;
        cce->question = 0;
        obey(host, enl_host_detector_answer(&daemon->host_detector, news.number,
                                            news.quiet && news.messages == cce->period, 0));
    } else if (news.kind == N_STILL) {
        root_detector_of(
            enl_root_detector_hear(&w.root_detector, (uint32_t)news.from, news.number, &news.stillness));
    } else {
        daemon->pc = D_LOOK;
        daemon->at = 0;
        daemon->round = news.number;
    }
}

static void step_daemon(int host)
{
    struct daemon *daemon = &w.daemon[host];
    if (daemon->pc == D_IDLE) {
        if (daemon->news_count != 0 && draw(3) != 0) {
            hear(host);
        } else if (draw(4) == 0) {
            daemon->pc = D_SECOND;
            daemon->at = 0;
        }
        return;
    }
    if (daemon->at == 0) {
        daemon->seen = (struct enl_stillness){.still = true};
        daemon->lookers = 0;
    }
    while (daemon->at < CCES_MAX && w.cce[daemon->at].host != host)
        daemon->at++;
    if (daemon->at < CCES_MAX) {
        struct cce *cce = &w.cce[daemon->at++];
        const uint32_t state = bcri_load(&cce->record->id.state);
        if (daemon->pc == D_LOOK)
            cce->period = 0;
        if (state == BCRI_CCE_FREE || state == BCRI_CCE_DEAD)
            return;
        const struct enl_rest rest = enl_rest_of(cce->record);
        if (daemon->pc == D_LOOK && rest.looks) {
            cce->period = rest.moves;
            daemon->lookers++;
        }
        daemon->seen.still = daemon->seen.still && rest.rests;
        if (rest.rests)
            enl_stillness_add(&daemon->seen, &rest);
        return;
    }
    const bool second = daemon->pc == D_SECOND;
    daemon->pc = D_IDLE;
    obey(host, second ? enl_host_detector_second(&daemon->host_detector, &daemon->seen)
                      : enl_host_detector_look(&daemon->host_detector, daemon->round, &daemon->seen,
                                               w.has_agents + daemon->lookers));
    if (second && host == 0)
        root_detector_of(enl_root_detector_tick(&w.root_detector));
}

/* ---- a run ---- */

static void step(void)
{
    const unsigned which = draw(CCES_MAX + 3 * HOSTS_MAX);
    if (which < CCES_MAX + HOSTS_MAX && !w.fair) {
        if (w.starved[which] != 0) {
            w.starved[which]--;
            return;
        }
        if (draw(60) == 0)
            w.starved[which] = draw(200);
    }
    if (which < CCES_MAX)
        step_cce(&w.cce[which]);
    else if (which >= CCES_MAX + 2 * HOSTS_MAX)
        step_network();
    else if ((which - CCES_MAX) % HOSTS_MAX < (unsigned)w.hosts && which < CCES_MAX + HOSTS_MAX)
        step_agent((int)(which - CCES_MAX));
    else if ((which - CCES_MAX) % HOSTS_MAX < (unsigned)w.hosts)
        for (unsigned steps = draw(2) == 0 ? 1 : draw(20); steps != 0; steps--)
            step_daemon((int)(which - CCES_MAX - HOSTS_MAX));
}

static bool all_have_ended(void)
{
    for (int i = 0; i < CCES_MAX; i++)
        if (w.cce[i].pc != FREE)
            return false;
    return true;
}

static void begin(uint64_t seed)
{
    static struct bcri_record_shm records[CCES_MAX];
    static const uint32_t numbers[HOSTS_MAX] = {0, 1, 2};
    enl_root_detector_fini(&w.root_detector);
    memset(&w, 0, sizeof w);
    w.seed = seed;
    w.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w.hosts = 1 + (int)(seed % HOSTS_MAX);
    w.has_agents = w.hosts > 1;
    CHECK(enl_root_detector_hosts(&w.root_detector, numbers, (size_t)w.hosts));
    const unsigned length = 1 + draw(12), living = 1 + draw(CCES_MAX - 1);
    for (int i = 0; i < CCES_MAX; i++) {
        struct bcri_record_shm *record = &records[i];
        memset(&record->id, 0, sizeof record->id);
        memset(&record->bell, 0, sizeof record->bell);
        memset(&record->sleep, 0, sizeof record->sleep);
        memset(&record->idle, 0, sizeof record->idle);
        for (int b = 0; b < (int)BCRI_IDENTITY_BYTES; b++)
            record->id.identity[b] = (uint8_t)draw(256);
        w.cce[i] = (struct cce){
            .record = record, .host = i % HOSTS_MAX % w.hosts, .left = draw(length), .ends = draw(3) == 0};
        if ((unsigned)i < living) {
            w.cce[i].pc = THINK;
            bcri_store(&record->id.state, BCRI_CCE_ALIVE);
        }
    }
}

/* Returns whether it ended in a deadlock. */
static bool run_seed(uint64_t seed)
{
    begin(seed);
    for (unsigned i = 0; i < 400 + draw(1600); i++)
        step();
    w.fair = true;
    for (unsigned i = 0; dead_count() == 0 && !all_have_ended(); i++) {
        step();
        if (i == 1000000)
            FAIL("seed %llu does not come to rest", (unsigned long long)seed);
    }
    const bool dead = !all_have_ended();
    for (unsigned i = 0; i < 20000 && w.verdicts == 0 && dead; i++)
        step();
    for (unsigned i = 0; i < 200; i++)
        step();
    if (w.verdicts != dead)
        FAIL("seed %llu: %u verdicts, %s", (unsigned long long)seed, w.verdicts,
             dead ? "and there is a deadlock" : "though all have ended");
    return dead;
}

TEST_TIMEOUT(no_false_alarm_and_none_missed, 36000)
{
    const char *one = getenv("SIM_SEED");
    const uint64_t first = one != NULL ? strtoull(one, NULL, 10) : test_seed() >> 20;
    const uint64_t count = one != NULL ? 1 : test_scale(10000, 1000000);
    uint64_t dead = 0;
    printf("  seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++)
        dead += run_seed(seed);
    printf("  %llu deadlocks\n", (unsigned long long)dead);
    CHECK(one != NULL || (dead != 0 && dead != count));
}
