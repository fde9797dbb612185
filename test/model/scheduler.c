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

static struct sched_time now(struct sched *sched)
{
    struct sched_time time = {.latest = ++sched->clock};
    time.earliest = sched->idle_since != 0 ? sched->idle_since : time.latest;
    return time;
}

static bool is_seen(const struct sched_request *request)
{
    return request->queued && !request->dropped && request->came.latest != 0;
}

static bool waits_for_its_turn(const struct sched *sched, int cell)
{
    for (int i = 0; i < sched->request_count; i++)
        if (sched->request[i].cell == cell && is_seen(&sched->request[i]))
            return true;
    return false;
}

/* All that is requested at one cell. */
static void see_cell(struct sched *sched, int cell, struct sched_time time)
{
    if (!waits_for_its_turn(sched, cell))
        sched->turn[cell] = time;
    for (int i = 0; i < sched->request_count; i++)
        if (sched->request[i].cell == cell && sched->request[i].came.latest == 0)
            sched->request[i].came = time;
}

/* Of several cells it is not known which came first. */
static void see_requests(struct sched *sched)
{
    const struct sched_time time = now(sched);
    for (int cell = 0; cell < SCHED_CELLS; cell++)
        see_cell(sched, cell, time);
}

int sched_request(struct sched *sched, int cell, int activep, int blockp, bool own)
{
    CHECK(sched->request_count < SCHED_REQUESTS && cell < SCHED_CELLS);
    sched->request[sched->request_count] =
        (struct sched_request){.queued = true, .cell = cell, .activep = activep, .blockp = blockp};
    sched->request_count++;
    if (own)
        see_cell(sched, cell, now(sched));
    return sched->request_count - 1;
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

/* How one candidate stands to others of its priority: who can go on, new ones, who is in
 * bcr_allow. */
enum kind { RESUMABLE, NEW, ALLOWS };
struct rank {
    int priority;
    enum kind kind;
    struct sched_time came;
};

static bool must_go_before(struct rank a, struct rank b)
{
    if (a.priority != b.priority)
        return a.priority > b.priority;
    if (a.kind != b.kind)
        return a.kind < b.kind;
    return a.came.latest < b.came.earliest; /* of those in bcr_allow there is one only */
}

static bool rank_of_request(const struct sched *sched, int i, struct rank *rank_out)
{
    const struct sched_request *request = &sched->request[i];
    if (!is_seen(request))
        return false;
    for (int k = 0; k < i; k++)
        if (sched->request[k].cell == request->cell && is_seen(&sched->request[k]))
            return false; /* it has an older one */
    *rank_out = (struct rank){.priority = request->activep, .kind = NEW, .came = sched->turn[request->cell]};
    return true;
}

static int requests_of_priority(const struct sched *sched, int priority)
{
    int count = 0;
    for (int i = 0; i < sched->request_count; i++)
        count += is_seen(&sched->request[i]) && sched->request[i].activep == priority;
    return count;
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

/* Whether it is the main program, and lets turns pass. */
static bool lets_pass(const struct sched *sched, int i)
{
    const struct sched_invocation *one = &sched->invocation[i];
    return i == SCHED_MAIN && one->state == SCHED_INTERRUPTED && sched->passes > 0 &&
           requests_of_priority(sched, one->activep) != 0;
}

static bool rank_of_invocation(const struct sched *sched, int i, struct rank *rank_out)
{
    const struct sched_invocation *one = &sched->invocation[i];
    *rank_out = (struct rank){.priority = priority_of(one),
                              .kind = one->state == SCHED_ALLOWS ? ALLOWS : RESUMABLE,
                              .came = one->came};
    return one->state == SCHED_READY || ((one->state == SCHED_INTERRUPTED || one->state == SCHED_ALLOWS) &&
                                         is_innermost(sched, one) && !lets_pass(sched, i));
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
    if (interrupts && sched->runs == SCHED_MAIN)
        sched->passes = requests_of_priority(sched, running(sched)->activep);
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
    const struct sched_request *started = &sched->request[request];
    sched->request[request].queued = false;
    sched->passes -= started->activep == sched->invocation[SCHED_MAIN].activep;
    run(sched, invocation);
    sched->turn[started->cell] = now(sched);
    return invocation;
}

void sched_go_on(struct sched *sched, int invocation)
{
    CHECK(sched_may_go_on(sched, invocation));
    run(sched, invocation);
}
