/* SPDX-License-Identifier: MIT */
/* When the time of a put (bcr_putwait) begins and ends at the other host: in virtual time, which shows it to the millisecond. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/get.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/order.h"
#include "links/agent/serve.h"
#include "regions.h"

#include "putm_scene.h"

/* A put of one region that its CCE would wait for, with `msec`: the ID that is answered. */
static struct bcri_slot_shm *timed_put(bcr_region rgid, int to, int at, int msec)
{
    as(requester);
    return order(bcr_op_put, rgid, to, at, msec, false);
}

static bool is_answered(const struct bcri_slot_shm *answer)
{
    return bcri_slot_state(bcri_load(&answer->word)) == BCRI_SLOT_ANSWERED;
}

static bool turn_until_answered(void *answer)
{
    world_turn(&world);
    return is_answered(answer);
}

/* It is answered with `code`, after `msec` and no sooner; its region is the putter's. */
static void is_answered_after(bcr_region rgid, struct bcri_slot_shm *answer, uint64_t from, uint64_t msec,
                              int code)
{
    CHECK(sim_run(world.network, from + (msec + 1000) * SIM_MS, turn_until_answered, answer));
    CHECK_INT(bcri_order_code(bcri_load(&answer->given)), code);
    CHECK(sim_now(world.network) >= from + msec * SIM_MS);
    CHECK(sim_now(world.network) < from + (msec + 50) * SIM_MS); /* of virtual time */
    as(requester);
    bcri_store(&answer->word, 0);
    bcri_slot_give(requester, answer);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

static bool requester_runs(void *context)
{
    (void)context;
    bcri_agent_run(world.host[0].agent, sim_now(world.network));
    sim_flush(&world.host[0].end);
    return false;
}

/* What the requester orders comes to the owners' host, whose agent has not run since. */
static void arrives_there(void)
{
    (void)requester_runs(NULL);
    (void)sim_run(world.network, sim_now(world.network) + 5 * SIM_MS, requester_runs, NULL);
}

TEST(the_time_for_room_begins_when_the_put_comes_though_the_agent_had_rested)
{
    begin();
    bcr_region rgid = filled(300000, 1);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_put(1, rgid, there[0], cell, bcr_NOFREE), 0);
    CHECK(world_settle(&world, SIM_S));
    sim_pass(world.network, sim_now(world.network) + 10 * SIM_S);
    const uint64_t from = sim_now(world.network);
    struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, 1000);
    arrives_there();
    is_answered_after(rgid, answer, from, 1000, bcrE_FULL);
    end();
}

TEST(a_put_with_a_time_whose_host_is_lost_before_it_is_performed_does_not_wait)
{
    begin();
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(i), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    bcr_region rgid = number(77);
    struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, 1000000);
    const uint64_t from = sim_now(world.network);
    arrives_there();
    CHECK(!list_is_empty(&world.host[1].agent->ready));
    world_cut(&world);
    CHECK(world_settle(&world, SIM_S));
    is_answered_after(rgid, answer, from, 0, bcrE_DEAD);
    as(owner[0]);
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), i);
    (void)world_settle(&world, SIM_S);
    as(owner[0]);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    end();
}

TEST(what_a_put_waits_for_room_in_the_pool_it_does_not_wait_at_the_cell_again)
{
    begin();
    bcr_region rgid = filled(300000, 1);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_put(1, rgid, there[1], cell, bcr_NOFREE), 0);
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(i), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    const uint64_t from = sim_now(world.network);
    struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, 1000);
    (void)world_settle(&world, 900 * SIM_MS);
    CHECK(!is_answered(answer));
    as(owner[1]);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    is_answered_after(rgid, answer, from, 1000, bcrE_FULL);
    end();
}

/* As within a host. */
TEST(a_put_that_waits_with_a_time_is_withdrawn_when_its_cce_ends_and_any_other_is_carried_out)
{
    begin();
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(i), there[0], cell, bcr_FREE), 0);
    (void)order(bcr_op_putm, number(77), 0, cell, 1000000, false);
    (void)order(bcr_op_putm, number(78), 0, cell, bcr_BLOCK, false);
    (void)world_settle(&world, SIM_S);
    world_kill(&world, 0, 0);
    (void)world_settle(&world, SIM_S);
    as(owner[0]);
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), i);
    CHECK(world_settle(&world, SIM_S));
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 78);
    FAILS_NULL(bcr_get(1, bcr_cce, cell, 0), bcrE_TIMEOUT);
    end();
}

/* The owner's process, for all that anybody can tell: it has the cell's lock, and is stopped. */
static pid_t stop_with_the_lock(struct bcri_ctx *ctx, struct bcri_resolved **resolved_out)
{
    int status;
    const pid_t stopped = fork();
    if (stopped == 0)
        for (raise(SIGSTOP);;)
            pause();
    CHECK(stopped > 0);
    CHECK_INT(waitpid(stopped, &status, WUNTRACED), stopped);
    CHECK(WIFSTOPPED(status));
    as(ctx);
    CHECK_INT(bcri_resolved_find_key(ctx, bcri_resolved_key(bcr_cce, cell), resolved_out).outcome, BCRI_DONE);
    bcri_journal_open(ctx, BCRI_OP_SLOW, (*resolved_out)->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    bcri_lock(ctx, &(*resolved_out)->cell->t.lock);
    bcri_store(&ctx->record->id.pid, (uint32_t)stopped);
    return stopped;
}

static void goes_on(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, pid_t stopped)
{
    bcri_store(&ctx->record->id.pid, (uint32_t)getpid());
    bcri_unlock(ctx, &resolved->cell->t.lock);
    bcri_journal_close(ctx);
    CHECK_INT(kill(stopped, SIGKILL), 0);
    CHECK_INT(waitpid(stopped, NULL, 0), stopped);
}

TEST(a_put_and_a_get_with_a_time_end_though_a_stopped_cce_has_the_lock)
{
    for (int msec = 0; msec <= 500; msec += 500) {
        struct bcri_resolved *resolved;
        begin();
        CHECK_INT(bcr_put(1, number(1), there[1], cell, bcr_FREE), 0);
        CHECK(world_settle(&world, SIM_S));
        const pid_t stopped = stop_with_the_lock(owner[0], &resolved);
        as(requester);
        const uint64_t from = sim_now(world.network);
        bcr_region rgid = number(2);
        struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, msec);
        is_answered_after(rgid, answer, from, (uint64_t)msec, bcrE_FULL);
        struct bcri_get get = {.key = bcri_resolved_key(there[0], cell),
                               .slot = bcri_slot_take(requester),
                               .want = BCRI_WANT_TAKE,
                               .msec = msec};
        CHECK(get.slot != NULL);
        CHECK_INT(bcri_order_get(requester, &get), 0);
        (void)world_settle(&world, SIM_S);
        const struct bcri_answer got = bcri_order_collect(requester, get.slot);
        CHECK(got.came);
        CHECK_INT(got.error, bcrE_TIMEOUT);
        goes_on(owner[0], resolved, stopped);
        end();
    }
}
