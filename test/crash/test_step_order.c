/* SPDX-License-Identifier: MIT */
/* Orders to another host, whose CCE is killed after any of its instructions: its agent is told first,
 * then its IDs are walked. A put is there once or not at all, a get has taken nothing or what its dead
 * CCE had, and both hosts' structures agree. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <bcr.h>

#include "agents.h"

#include "bcri/cces.h"
#include "bcri/order.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "check.h"
#include "trace.h"

enum { EACH_MAX = 2000 }; /* instructions of a call that is killed after each of them, at full size */

static struct world world;
static struct bcri_ctx *owner;
static int cell;

/* What the victim has. */
static bcr_cce_id there;
static bcr_region rgid;

static bcr_region number(int value)
{
    bcr_region made = bcr_rgalloc((int)sizeof value, 0);
    if (made != NULL)
        **(int **)made = value;
    return made;
}

struct scenario {
    const char *name;
    int queued;            /* a region of this number is in the second cell, 0: none */
    void (*prepare)(void); /* in the victim */
    void (*call)(void);    /* so is this, step by step */
    bool may_be_gone;      /* the queued region, with the dead */
};

static void prepare_put(void)
{
    rgid = number(2);
}
static void call_put(void)
{
    (void)bcr_put(1, rgid, there, cell, bcr_FREE);
}
static void call_put_nofree(void)
{
    (void)bcr_put(1, rgid, there, cell, bcr_NOFREE);
}
static void call_put_and_wait(void)
{
    (void)bcr_put(1, rgid, there, cell, bcr_FREE);
    (void)bcr_putdone(bcr_BLOCK);
}
static void prepare_putm(void)
{
    rgid = bcr_rgalloc(BCRI_ORDER_SHARED_MIN, 0);
    **(int **)rgid = 2;
}
static void call_putm(void)
{
    const int cells[] = {there, cell, there, cell};
    (void)bcr_putm(1, rgid, 2, cells, bcr_FREE);
}
/* With a time the call waits for the answer. */
static void prepare_timed_put(void)
{
    prepare_put();
    (void)!bcr_putwait(1000);
}
static void call_put_that_fails(void)
{
    (void)!bcr_put(1, rgid, there, cell + 7, bcr_FREE);
    (void)bcr_rgfree(rgid);
}
static void prepare_timed_putm(void)
{
    prepare_putm();
    (void)!bcr_putwait(1000);
}
static void prepare_nothing(void) {}
static void call_get_pending(void)
{
    rgid = bcr_get(1, there, cell + 1, bcr_PENDING);
}
static void call_get(void)
{
    rgid = bcr_get(1, there, cell + 1, bcr_BLOCK);
}
static void prepare_get(void)
{
    rgid = bcr_get(1, there, cell + 1, bcr_PENDING);
}
static void call_cancel(void)
{
    (void)bcr_rgfree(rgid);
}
static void call_get_pending_and_wait(void)
{
    rgid = bcr_get(1, there, cell + 1, bcr_PENDING);
    (void)bcr_rgwait(rgid, bcr_BLOCK, 0);
}
static void call_give_up(void)
{
    (void)bcr_rgwait(rgid, 0, 1);
}
static void call_lock_and_put(void)
{
    rgid = bcr_acqwl(there, cell + 1, bcr_BLOCK);
    (void)bcr_put(1, rgid, there, cell + 1, bcr_FREE);
}
static void call_read_and_length(void)
{
    rgid = bcr_get(0, there, cell + 1, bcr_BLOCK);
    (void)bcr_celllen(there, cell);
}
static void call_zap(void)
{
    (void)bcr_zap(there, cell + 1);
}

static int victim(struct bcri_ctx *ctx, void *arg)
{
    const struct scenario *scenario = arg;
    ctx->cpus = 1; /* it yields at once instead of spinning */
    if (bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16) < 1 ||
        bcri_cce_decode(ctx, owner->record->id.identity, &there) != 0)
        return 1;
    (void)bcr_put(1, number(1), there, cell, bcr_FREE); /* this makes the outbox */
    scenario->prepare();
    trace_begin();
    scenario->call();
    trace_end();
    return 0;
}

/* The victim takes `steps` steps; the world is turned while it sleeps. Returns how many it took. */
static uint64_t walk(pid_t pid, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        switch (trace_step(pid)) {
        case TRACE_AT_YIELD:
        case TRACE_AT_SLEEP: (void)world_settle(&world, SIM_S); break;
        case TRACE_AT_END: return i;
        case TRACE_GONE: FAIL("the victim has ended by itself");
        default: break;
        }
    return steps;
}

/* The regions of a cell, as a line. */
static void drain(int at, char *line)
{
    bcr_region got;
    while ((got = bcr_get(1, bcr_cce, at, 0)) != NULL) {
        line += sprintf(line, " %d", **(int **)got);
        CHECK_INT(bcr_rgfree(got), 0);
    }
    *line = '\0';
}

static void look(const struct scenario *scenario, uint64_t steps)
{
    char first[64], second[64], queued[64] = "";
    drain(cell, first);
    drain(cell + 1, second);
    if (scenario->queued != 0)
        sprintf(queued, " %d", scenario->queued);
    const bool is_putm = scenario->prepare == prepare_putm || scenario->prepare == prepare_timed_putm,
               is_put = scenario->prepare == prepare_put || scenario->prepare == prepare_timed_put || is_putm;
    if (strcmp(first, " 1") != 0 && !(is_put && strcmp(first, " 1 2") == 0) &&
        !(is_putm && strcmp(first, " 1 2 2") == 0))
        FAIL("%s, killed after %llu steps: the first cell has%s", scenario->name, (unsigned long long)steps,
             first);
    if (strcmp(second, queued) != 0 && !(scenario->may_be_gone && second[0] == '\0'))
        FAIL("%s, killed after %llu steps: the second cell has%s", scenario->name, (unsigned long long)steps,
             second);
}

/* Returns how many steps the victim took. */
static uint64_t kill_after(const struct scenario *scenario, uint64_t steps)
{
    uint32_t index;
    world_open(&world, 1, 1 << 18);
    struct world_host *host = &world.host[0];
    owner = world.host[1].cce[0];
    bcri_self_set(owner);
    cell = bcr_cagrow(0, 0, 0, 0, 2, 8, 4096);
    CHECK(cell >= 1);
    if (scenario->queued != 0)
        CHECK_INT(bcr_put(1, number(scenario->queued), bcr_cce, cell + 1, bcr_FREE), 0);
    const pid_t pid = group_fork(host->group, victim, (void *)(uintptr_t)scenario, &index);
    CHECK(trace_attach(pid));
    const uint64_t taken = walk(pid, steps);
    trace_kill(pid);
    bcri_cce_dying(group_host(host->group), index);
    bcri_agent_forget(host->agent, index);
    (void)group_bury(host->group, pid, index);
    CHECK(world_settle(&world, 3600 * SIM_S));
    look(scenario, taken);
    world_close(&world);
    return taken;
}

static const struct scenario scenarios[] = {
    {"a put", 0, prepare_put, call_put, false},
    {"a put with nofree", 0, prepare_put, call_put_nofree, false},
    {"a put that is waited for", 0, prepare_put, call_put_and_wait, false},
    {"a putm to two cells", 0, prepare_putm, call_putm, false},
    {"a put with a time", 0, prepare_timed_put, call_put, false},
    {"a put with a time and nofree", 0, prepare_timed_put, call_put_nofree, false},
    {"a put with a time that fails", 0, prepare_timed_put, call_put_that_fails, false},
    {"a putm with a time to two cells", 0, prepare_timed_putm, call_putm, false},
    {"a pending get", 5, prepare_nothing, call_get_pending, true},
    {"a get", 5, prepare_nothing, call_get, true},
    {"a get that is cancelled", 0, prepare_get, call_cancel, false},
    {"a get that is cancelled when it has a region", 5, prepare_get, call_cancel, true},
    {"a pending get that is waited for", 5, prepare_nothing, call_get_pending_and_wait, true},
    {"a get that is given up", 5, prepare_get, call_give_up, true},
    {"a write lock and the put that releases it", 5, prepare_nothing, call_lock_and_put, true},
    {"a read, and a length", 5, prepare_nothing, call_read_and_length, false},
    {"a zap", 5, prepare_nothing, call_zap, true},
};

TEST_TIMEOUT(an_order_is_carried_out_or_has_never_been, 36000)
{
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    uint64_t random = test_seed();
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const uint64_t all = kill_after(&scenarios[i], UINT64_MAX);
        const bool each = test_scale(0, 1) != 0 && all <= EACH_MAX;
        const uint64_t kills = each ? all : test_scale(12, 400);
        printf("  %s: %llu of %llu instructions\n", scenarios[i].name, (unsigned long long)kills,
               (unsigned long long)all);
        for (uint64_t k = 0; k < kills; k++)
            (void)kill_after(&scenarios[i], each ? k : test_rand_below(&random, all));
    }
}
