/* SPDX-License-Identifier: MIT */
/* See scheduler.h. */
#include "scheduler.h"

#include <string.h>

#include "check.h"

static struct sched_invocation *running(struct sched *sched)
{
    CHECK(sched->runs != SCHED_NOBODY);
    return &sched->invocation[sched->runs];
}

void sched_begin(struct sched *sched)
{
    memset(sched, 0, sizeof *sched);
    sched->invocation_count = 1;
}

/* ---- what happens ---- */

int sched_request(struct sched *sched, int cell, int activep, int blockp)
{
    CHECK(sched->request_count < SCHED_REQUESTS);
    sched->request[sched->request_count] =
        (struct sched_request){.queued = true, .cell = cell, .activep = activep, .blockp = blockp};
    return sched->request_count++;
}

void sched_replace(struct sched *sched, int cell, int activep, int blockp)
{
    for (int i = 0; i < sched->request_count; i++)
        if (sched->request[i].cell == cell) {
            sched->request[i].activep = activep;
            sched->request[i].blockp = blockp;
        }
}

void sched_drop(struct sched *sched, int cell)
{
    for (int i = 0; i < sched->request_count; i++)
        sched->request[i].dropped |= sched->request[i].cell == cell;
}

void sched_over(struct sched *sched, int invocation)
{
    CHECK_INT(sched->invocation[invocation].state, SCHED_WAITS);
    CHECK(!sched->invocation[invocation].over);
    sched->invocation[invocation].over = true;
}

/* ---- seeing it ---- */

static struct sched_time now(struct sched *sched)
{
    struct sched_time time = {.latest = ++sched->clock};
    time.earliest = sched->idle_since != 0 ? sched->idle_since : time.latest;
    return time;
}

/* Requests are seen in their order. */
static void see_requests(struct sched *sched)
{
    for (int i = 0; i < sched->request_count; i++)
        if (sched->request[i].queued && sched->request[i].came.latest == 0)
            sched->request[i].came = now(sched);
}

/* All that is over is seen at the same time. */
static void see_waits(struct sched *sched)
{
    const struct sched_time time = now(sched);
    for (int i = 0; i < sched->invocation_count; i++)
        if (sched->invocation[i].state == SCHED_WAITS && sched->invocation[i].over) {
            sched->invocation[i].state = SCHED_READY;
            sched->invocation[i].stopped = 0;
            sched->invocation[i].came = time;
        }
}

/* ---- who may be next ---- */

int sched_level(const struct sched *sched)
{
    const struct sched_invocation *top = NULL;
    for (int i = 0; i < sched->invocation_count; i++)
        if (sched->invocation[i].stopped > (top != NULL ? top->stopped : 0))
            top = &sched->invocation[i];
    if (top == NULL)
        return 0;
    return top->state == SCHED_WAITS ? top->blockp : top->state == SCHED_ALLOWS ? top->allowed : top->activep;
}

/* How one candidate stands to others. */
struct rank {
    int priority;
    bool last; /* among its equals: it is in bcr_allow */
    struct sched_time came;
    int request; /* their order is known; -1: none */
};

static bool must_go_before(struct rank a, struct rank b)
{
    if (a.priority != b.priority)
        return a.priority > b.priority;
    if (a.last != b.last)
        return b.last;
    if (a.last)
        return false; /* there is one only */
    if (a.request >= 0 && b.request >= 0)
        return a.request < b.request;
    return a.came.latest < b.came.earliest;
}

static bool rank_of_request(const struct sched *sched, int i, struct rank *rank_out)
{
    const struct sched_request *request = &sched->request[i];
    if (!request->queued || request->dropped || request->came.latest == 0)
        return false;
    *rank_out = (struct rank){.priority = request->activep, .came = request->came, .request = i};
    return true;
}

static int priority_of(const struct sched_invocation *invocation)
{
    return invocation->state == SCHED_ALLOWS ? invocation->allowed : invocation->activep;
}

/* Of those that were interrupted or are in bcr_allow, the last of its priority. */
static bool is_innermost(const struct sched *sched, const struct sched_invocation *one)
{
    for (int i = 0; i < sched->invocation_count; i++) {
        const struct sched_invocation *other = &sched->invocation[i];
        if ((other->state == SCHED_INTERRUPTED || other->state == SCHED_ALLOWS) &&
            priority_of(other) == priority_of(one) && other->stopped > one->stopped)
            return false;
    }
    return true;
}

static bool rank_of_invocation(const struct sched *sched, int i, struct rank *rank_out)
{
    const struct sched_invocation *one = &sched->invocation[i];
    *rank_out = (struct rank){
        .priority = priority_of(one), .last = one->state == SCHED_ALLOWS, .came = one->came, .request = -1};
    return one->state == SCHED_READY ||
           ((one->state == SCHED_INTERRUPTED || one->state == SCHED_ALLOWS) && is_innermost(sched, one));
}

static bool nobody_goes_before(const struct sched *sched, struct rank rank)
{
    struct rank other;
    for (int i = 0; i < sched->request_count; i++)
        if (rank_of_request(sched, i, &other) && must_go_before(other, rank))
            return false;
    for (int i = 0; i < sched->invocation_count; i++)
        if (rank_of_invocation(sched, i, &other) && must_go_before(other, rank))
            return false;
    return true;
}

bool sched_may_start(const struct sched *sched, int request)
{
    struct rank rank;
    return sched->runs == SCHED_NOBODY && rank_of_request(sched, request, &rank) &&
           rank.priority >= sched_level(sched) && nobody_goes_before(sched, rank);
}

bool sched_may_go_on(const struct sched *sched, int invocation)
{
    struct rank rank;
    return sched->runs == SCHED_NOBODY && rank_of_invocation(sched, invocation, &rank) &&
           rank.priority >= sched_level(sched) && nobody_goes_before(sched, rank);
}

bool sched_look(struct sched *sched)
{
    bool any = false;
    CHECK_INT(sched->runs, SCHED_NOBODY);
    see_requests(sched);
    see_waits(sched);
    for (int i = 0; i < sched->request_count && !any; i++)
        any = sched_may_start(sched, i);
    for (int i = 0; i < sched->invocation_count && !any; i++)
        any = sched_may_go_on(sched, i);
    if (!any && sched->idle_since == 0)
        sched->idle_since = ++sched->clock;
    return any;
}

/* ---- what the one that runs does ---- */

static void stop(struct sched *sched, enum sched_state state)
{
    struct sched_invocation *self = running(sched);
    self->state = state;
    self->came = now(sched);
    self->stopped = self->came.latest;
    self->over = false;
    sched->runs = SCHED_NOBODY;
}

bool sched_would_interrupt(struct sched *sched)
{
    const struct sched_invocation *self = running(sched);
    struct rank rank;
    bool interrupts = false;
    see_requests(sched);
    for (int i = 0; i < sched->request_count; i++)
        if (rank_of_request(sched, i, &rank))
            interrupts |= rank.priority > self->activep ||
                          (sched->runs == SCHED_MAIN && rank.priority == self->activep);
    for (int i = 0; i < sched->invocation_count; i++)
        if (rank_of_invocation(sched, i, &rank))
            interrupts |= rank.priority > self->activep;
    return interrupts;
}

bool sched_interrupts(struct sched *sched)
{
    const bool interrupts = sched_would_interrupt(sched);
    if (interrupts)
        stop(sched, SCHED_INTERRUPTED);
    return interrupts;
}

void sched_allow(struct sched *sched, int priority)
{
    running(sched)->allowed = priority;
    stop(sched, SCHED_ALLOWS);
}

void sched_block(struct sched *sched)
{
    running(sched)->blockp = 0;
    stop(sched, SCHED_WAITS);
}

void sched_wait(struct sched *sched)
{
    stop(sched, SCHED_WAITS);
}

void sched_end(struct sched *sched)
{
    running(sched)->state = SCHED_OVER;
    sched->runs = SCHED_NOBODY;
}

void sched_priority(struct sched *sched, int activep, int blockp)
{
    running(sched)->activep = activep;
    running(sched)->blockp = blockp;
}

/* ---- what happens next ---- */

static void run(struct sched *sched, int invocation)
{
    sched->runs = invocation;
    sched->idle_since = 0;
    sched->invocation[invocation].state = SCHED_RUNS;
    sched->invocation[invocation].stopped = 0;
}

int sched_start(struct sched *sched, int request)
{
    CHECK(sched_may_start(sched, request));
    CHECK(sched->invocation_count < SCHED_INVOCATIONS);
    const int invocation = sched->invocation_count++;
    sched->invocation[invocation] = (struct sched_invocation){.activep = sched->request[request].activep,
                                                              .blockp = sched->request[request].blockp};
    sched->request[request].queued = false;
    run(sched, invocation);
    return invocation;
}

void sched_go_on(struct sched *sched, int invocation)
{
    CHECK(sched_may_go_on(sched, invocation));
    run(sched, invocation);
}
