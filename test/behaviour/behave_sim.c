/* SPDX-License-Identifier: MIT */
/* See behave.h: the places `simulated` and `simulated_timed`. All CCEs are threads of the test's process, in two groups with an
 * agent each, and the simulator of links between (../sim/agents.h); the owner is on one host, all others on
 * the other. They are told what to do by lines, as in behave.c. */
#include "behave.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../sim/agents.h"
#include "bcri/self.h"
#include "cce.h"
#include "verbs.h"

enum { MEMORY_BYTES = 1 << 16 };
/* All of it is reserved at once. */
#ifndef POOL_MEGABYTES
#define POOL_MEGABYTES 8
#endif

const struct place place_simulated = {.name = "simulated", .mach = "elsewhere", .far = true};
const struct place place_simulated_timed = {
    .name = "simulated_timed", .mach = "elsewhere", .far = true, .timed = true};

/* One for each CCE: `me`, the owner, `another`, `third`. */
static struct thread {
    struct cce cce;
    unsigned host, nth;
    pthread_t thread;
    int end;          /* the thread's, of the lines */
    atomic_bool ends; /* it has been told to; set before its last put */
} threads[] = {{.host = 0}, {.host = 1}, {.nth = 1}, {.nth = 2}};
static struct world world;

static struct bcri_ctx *ctx_of(const struct thread *thread)
{
    return world.host[thread->host].cce[thread->nth];
}

/* ---- the CCEs ---- */

/* What ends a process; here it ends the thread, and then the CCE. */
static bool is_end(struct thread *self, const char *line, bcr_cce_id cce)
{
    int cell, value;
    const bool puts = sscanf(line, "last %d %d", &cell, &value) == 2;
    if (!puts && strncmp(line, "exit", 4) != 0)
        return false;
    self->ends = true;
    if (puts)
        CHECK_INT(bcr_enq(number(value), cce, cell, bcr_FREE), 0);
    return true;
}

static void *act(void *arg)
{
    struct thread *const self = arg;
    char line[256];
    FILE *in = fdopen(self->end, "r"), *out = fdopen(dup(self->end), "w");
    CHECK(in != NULL && out != NULL);
    bcri_self_set(ctx_of(self));
    bcr_cce_id owner_of_it = bcr_cce;
    while (fgets(line, sizeof line, in) != NULL && !is_end(self, line, owner_of_it)) {
        bcr_errno = 0;
        const int result = verb_do(line, &owner_of_it);
        fprintf(out, "%d %d\n", result, bcr_errno);
        fflush(out);
    }
    bcri_self_set(NULL);
    world_kill(&world, self->host, self->nth);
    fclose(in);
    fclose(out);
    return NULL;
}

static struct cce *enlist(struct thread *thread)
{
    int ends[2];
    struct cce *const cce = &thread->cce;
    struct bcri_ctx *const ctx = ctx_of(thread);
    ctx->flags |= bcr_errors;
    bcri_self_set(ctx);
    CHECK_INT(bcr_cagrow(MEETING_CELL, 0, 0, 0, 1, 4, MEMORY_BYTES), MEETING_CELL);
    bcri_self_set(ctx_of(threads));
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    thread->end = ends[1];
    cce->in = fdopen(ends[0], "r");
    cce->out = fdopen(dup(ends[0]), "w");
    CHECK(cce->in != NULL && cce->out != NULL);
    cce->name = world_name(ctx_of(threads), ctx);
    CHECK_INT(pthread_create(&thread->thread, NULL, act, thread), 0);
    return cce;
}

/* Started when it is first asked for. */
static struct cce *at_hand(struct thread *thread)
{
    struct cce *const cce = &thread->cce;
    if (cce->in != NULL)
        return cce;
    const int memory = bcr_cagrow(MY_MEMORY, 0, 0, 0, 0, 0, 4096);
    CHECK(memory > 0);
    (void)enlist(thread);
    CHECK_INT(bcr_send(&there, sizeof there, bcrT_1CCE, 1, cce->name, MEETING_CELL, 1, 0), 2);
    CHECK(by(cce, "meet") > 0);
    if (place->timed)
        CHECK_INT(by(cce, "putwait %d", TIMED_MSEC), 0);
    while (bcr_cafree(memory) != 0) /* the other host's acknowledgement may be on its way */
        CHECK_INT(bcr_errno, bcrE_BUSY);
    return cce;
}

struct cce *another(void)
{
    return at_hand(&threads[2]);
}

struct cce *third(void)
{
    return at_hand(&threads[3]);
}

void lose_host(void)
{
    world_cut(&world);
    have_lost_host();
    while (bcr_celllen(there, MEETING_CELL) >= 0)
        continue;
    CHECK_INT(bcr_errno, bcrE_DEAD);
}

void have_lost_host(void)
{
    owner->gone = true;
}

void behave(const struct place *at, void (*behaviour)(void))
{
    CHECK_INT(setenv("BEHAVE_FAR", "1", 1), 0);
    world_open(&world, test_seed(), POOL_MEGABYTES << 20);
    for (unsigned i = 0; i < WORLD_HOSTS; i++)
        world.host[i].end.path.delay_ns = 20 * SIM_US;
    world_start(&world);
    place = at;
    me = &threads[0].cce;
    ctx_of(threads)->flags |= bcr_errors;
    bcri_self_set(ctx_of(threads));
    me->name = bcr_cce;
    owner = enlist(&threads[1]);
    there = owner->name;
    if (place->timed)
        putwait(TIMED_MSEC);
    behaviour();
    bcri_self_set(NULL);
    for (size_t i = 1; i < sizeof threads / sizeof threads[0]; i++)
        if (threads[i].ends) /* who has ended is repaired before the audit */
            CHECK_INT(pthread_join(threads[i].thread, NULL), 0);
    world_stop(&world);
    (void)world_settle(&world, SIM_S);
    (void)world_audit(&world);
}
