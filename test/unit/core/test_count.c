/* SPDX-License-Identifier: MIT */
/* The count protocol: holders counted exactly, by one and by several, and a death at any
 * instruction leaves the change done once or not at all. */
#include "bcri/region.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/heap.h"
#include "bcri/repair.h"
#include "check.h"
#include "owner.h"

static struct bcri_region_shm *at(bcri_ref ref)
{
    return bcri_at(owner, ref);
}

static uint64_t count_of(bcri_ref ref)
{
    return bcri_load(&at(ref)->count);
}

TEST(a_hold_counts_up_and_a_drop_down_to_the_block_itself)
{
    open_group(1 << 16);
    bcri_ref ref = new_region(owner, 100, 1);
    CHECK_INT(bcri_region_hold(owner, ref, 1), 0);
    CHECK_UINT(bcri_load(&owner->journal->cw_state), BCRI_CW_COMMIT);
    bcri_count_committed(owner);
    CHECK_UINT(bcri_load(&owner->journal->cw_state), BCRI_CW_IDLE);
    CHECK_UINT(count_of(ref), 2);
    CHECK_INT(bcri_region_hold(owner, ref, 40), 0);
    bcri_count_committed(owner);
    CHECK_UINT(count_of(ref), 42);
    for (unsigned i = 0; i < 41; i++)
        drop(owner, ref);
    CHECK_UINT(count_of(ref), 1);
    CHECK_UINT(bcri_heap_charged(owner), 100);
    drop(owner, ref);
    CHECK_UINT(bcri_heap_charged(owner), 0);
    close_group();
}

TEST(a_count_that_would_overflow_is_refused_and_stays)
{
    open_group(1 << 16);
    bcri_ref ref = new_region(owner, 100, UINT32_MAX - 1);
    CHECK_INT(bcri_region_hold(owner, ref, 2), bcrE_NOMEM);
    CHECK_UINT(count_of(ref), UINT32_MAX - 1);
    CHECK_UINT(bcri_load(&owner->journal->cw_state), BCRI_CW_IDLE);
    CHECK_INT(bcri_region_hold(owner, ref, 1), 0);
    bcri_count_committed(owner);
    CHECK_UINT(count_of(ref), UINT32_MAX);
    bcri_store(&at(ref)->count, BCRI_COUNT_ONE);
    CHECK_INT(bcri_region_hold(owner, ref, UINT32_MAX), bcrE_NOMEM);
    CHECK_UINT(count_of(ref), 1);
    drop(owner, ref);
    close_group();
}

TEST(a_transaction_may_lock_the_word_and_let_it_go)
{
    open_group(1 << 16);
    bcri_ref ref = new_region(owner, 100, 3);
    CHECK_UINT(bcri_count_lock(owner, ref), 3);
    CHECK_UINT(BCRI_COUNT_OWNER(count_of(ref)), owner->tag);
    CHECK_UINT(bcri_load(&owner->journal->cw_state), BCRI_CW_TRY);
    bcri_count_unlock(owner, ref, 3);
    CHECK_UINT(count_of(ref), 3);
    CHECK_UINT(bcri_load(&owner->journal->cw_state), BCRI_CW_IDLE);
    for (unsigned i = 0; i < 3; i++)
        drop(owner, ref);
    close_group();
}

/* Two processes hold and drop the same region as fast as they can. */
struct contest {
    bcri_ref ref;
    uint64_t rounds;
};

static int hold_and_drop(struct bcri_ctx *ctx, void *arg)
{
    const struct contest *contest = arg;
    for (uint64_t i = 0; i < contest->rounds; i++) {
        if (bcri_region_hold(ctx, contest->ref, 1) != 0)
            return 1;
        bcri_count_committed(ctx);
        drop(ctx, contest->ref);
    }
    drop(ctx, contest->ref);
    return 0;
}

TEST_TIMEOUT(two_processes_count_one_word_exactly, 60)
{
    open_group(1 << 16);
    struct contest contest = {new_region(owner, 8, 3), test_scale(20000, 1000000)};
    uint32_t index[2];
    pid_t pid[2];
    for (unsigned i = 0; i < 2; i++)
        pid[i] = group_fork(group, hold_and_drop, &contest, &index[i]);
    for (unsigned i = 0; i < 2; i++)
        CHECK_INT(group_bury(group, pid[i], index[i]), 0);
    CHECK_UINT(count_of(contest.ref), 1);
    drop(owner, contest.ref);
    close_group();
}

/* Each state of the journal, set by hand in a member that then "dies", and what repair makes of
 * it. */
static struct bcri_record_shm *dead_record(uint32_t *index_out)
{
    uint32_t index = *index_out;
    return bcri_record(group_enl(group), index);
}

TEST(repair_finishes_or_undoes_by_the_state_of_the_journal)
{
    static const struct {
        enum bcri_cw_state state;
        uint32_t count, count_new;
        bool tagged;
        enum bcri_cw_state want;
        uint32_t want_count;
    } cases[] = {
        {BCRI_CW_IDLE, 2, 9, false, BCRI_CW_IDLE, 2},     /* nothing was open */
        {BCRI_CW_TRY, 2, 9, false, BCRI_CW_IDLE, 2},      /* not locked yet */
        {BCRI_CW_TRY, 2, 9, true, BCRI_CW_IDLE, 2},       /* locked, nothing decided */
        {BCRI_CW_COMMIT, 2, 3, true, BCRI_CW_COMMIT, 3},  /* decided, not stored */
        {BCRI_CW_COMMIT, 5, 3, false, BCRI_CW_COMMIT, 5}, /* stored; others have gone on */
        {BCRI_CW_COMMIT, 1, 0, true, BCRI_CW_LAST, 0},    /* the last hold, not stored */
        {BCRI_CW_COMMIT, 0, 0, false, BCRI_CW_LAST, 0},   /* the last hold, stored, not sent */
        {BCRI_CW_SOLE, 1, 3, false, BCRI_CW_COMMIT, 3},   {BCRI_CW_SOLE, 3, 3, false, BCRI_CW_COMMIT, 3},
        {BCRI_CW_SOLE, 1, 0, false, BCRI_CW_LAST, 0},     {BCRI_CW_SOLE, 0, 0, false, BCRI_CW_LAST, 0},
        {BCRI_CW_LAST, 0, 0, false, BCRI_CW_LAST, 0},
    };
    open_group(1 << 16);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bcri_ctx *dead = group_join(group);
        uint32_t index = dead->index;
        bcri_ref ref = new_region(owner, 8, cases[i].count);
        bcri_store(&at(ref)->count, BCRI_COUNT_WORD(cases[i].count, cases[i].tagged ? dead->tag : 0));
        bcri_store(&dead->journal->cw_incarnation, bcri_load(&at(ref)->incarnation));
        bcri_store(&dead->journal->cw_ref, ref);
        bcri_store(&dead->journal->cw_new, cases[i].count_new);
        bcri_store(&dead->journal->cw_state, cases[i].state);
        (void)dead_record(&index);
        bcri_cce_dying(group_host(group), index);
        CHECK_INT(bcri_count_repair(group_enl(group), index), cases[i].want);
        CHECK_INT(bcri_count_repair(group_enl(group), index), cases[i].want); /* once more changes nothing */
        CHECK_UINT(count_of(ref), cases[i].want_count);
        bcri_heap_collect(owner);
        CHECK_UINT(bcri_heap_charged(owner), cases[i].want_count != 0 ? 8 : 0);
        bcri_store(&dead->journal->cw_state, BCRI_CW_IDLE);
        if (cases[i].want_count != 0) {
            bcri_store(&at(ref)->count, BCRI_COUNT_ONE);
            drop(owner, ref);
        }
        group_leave(group, dead);
    }
    close_group();
}

/* What a child that is stepped or killed tells about itself, in memory that its parent shares. */
struct script {
    bcri_ref warm, ref, other;
    int holds; /* 0: drops `ref`; 1: holds it */
    _Atomic uint32_t done;
};

static int stepped(struct bcri_ctx *ctx, void *arg)
{
    struct script *script = arg;
    drop(ctx, script->warm); /* blocks can be freed remotely, the pages are there */
    if (bcri_at(ctx, script->ref) == NULL || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 1;
    raise(SIGSTOP);
    if (script->holds)
        bcri_region_hold(ctx, script->ref, 1);
    else
        bcri_region_drop(ctx, script->ref);
    bcri_step();
    bcri_store(&script->done, 1);
    bcri_step();
    bcri_count_committed(ctx);
    raise(SIGSTOP);
    return 0;
}

/* Steps the child `steps` instructions and kills it there. False if it was through before. */
static bool kill_after(pid_t pid, unsigned steps)
{
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSTOPPED(status));
    for (unsigned i = 0; i < steps; i++) {
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
            SKIP("this machine cannot single-step");
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFSTOPPED(status));
        if (WSTOPSIG(status) == SIGSTOP) {
            kill(pid, SIGKILL);
            return false;
        }
    }
    kill(pid, SIGKILL);
    return true;
}

/* One script, killed after every instruction in turn. `count` is what the word says before, `after`
 * what it says when the change is done. */
static void kill_everywhere(int holds, uint32_t count, uint32_t after)
{
    struct script *script =
        mmap(NULL, sizeof *script, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(script != MAP_FAILED);
    unsigned undone = 0;
    unsigned finished = 0;
    unsigned stride = (unsigned)test_scale(3, 1);
    if (test_is_instrumented())
        SKIP("it would step through the instructions of the sanitizer or of valgrind");
    open_group(1 << 20);
    for (unsigned steps = 0;; steps += stride) {
        uint32_t index;
        script->holds = holds;
        script->warm = new_region(owner, 8, 1);
        script->ref = new_region(owner, 8, count);
        bcri_store(&script->done, 0);
        pid_t pid = group_fork(group, stepped, script, &index);
        bool inside = kill_after(pid, steps);
        CHECK_INT(waitpid(pid, NULL, 0), pid);
        bcri_cce_dying(group_host(group), index);
        enum bcri_cw_state state = bcri_count_repair(group_enl(group), index);
        bool done = bcri_load(&script->done) != 0 || state != BCRI_CW_IDLE;
        CHECK_UINT(count_of(script->ref), done ? after : count);
        undone += !done;
        finished += done && bcri_load(&script->done) == 0;
        bcri_heap_collect(owner);
        CHECK_UINT(bcri_heap_charged(owner), count_of(script->ref) != 0 ? 8 : 0);
        if (count_of(script->ref) != 0) {
            bcri_store(&at(script->ref)->count, BCRI_COUNT_ONE);
            drop(owner, script->ref);
        }
        CHECK(bcri_heap_valid(owner));
        bcri_store(&bcri_record(group_enl(group), index)->journal.cw_state, BCRI_CW_IDLE);
        group_repair(group, index);
        if (!inside)
            break;
    }
    CHECK(undone != 0);
    CHECK(finished != 0);
    close_group();
}

TEST_TIMEOUT(the_last_drop_killed_at_any_instruction_is_done_once_or_not_at_all, 120)
{
    kill_everywhere(0, 1, 0);
}
TEST_TIMEOUT(a_drop_killed_at_any_instruction_is_done_once_or_not_at_all, 120)
{
    kill_everywhere(0, 2, 1);
}
TEST_TIMEOUT(a_hold_killed_at_any_instruction_is_done_once_or_not_at_all, 120)
{
    kill_everywhere(1, 2, 3);
}
TEST_TIMEOUT(a_sole_holders_hold_killed_at_any_instruction_is_done_once_or_not_at_all, 120)
{
    kill_everywhere(1, 1, 2);
}

/* Two freers drop their holds on the same blocks, in opposite order, and are killed somewhere. */
enum { LOT = 2000 };
struct lot {
    bcri_ref ref[LOT];
    struct {
        _Atomic uint32_t at, done; /* which drop is under way; how many are through */
        uint32_t backwards;
    } freer[2];
};
struct freer {
    struct lot *lot;
    unsigned me;
};

static bcri_ref lot_ref(const struct lot *lot, unsigned me, uint32_t i)
{
    return lot->ref[me == 0 ? i : LOT - 1 - i];
}

static int drop_lot(struct bcri_ctx *ctx, void *arg)
{
    const struct freer *freer = arg;
    for (uint32_t i = 0; i < LOT; i++) {
        bcri_store(&freer->lot->freer[freer->me].at, i);
        bcri_step();
        bcri_region_drop(ctx, lot_ref(freer->lot, freer->me, i));
        bcri_step();
        bcri_store(&freer->lot->freer[freer->me].done, i + 1);
        bcri_step();
        bcri_count_committed(ctx);
    }
    return 0;
}

static void bury_freer(struct lot *lot, unsigned me, pid_t pid, uint32_t index)
{
    struct bcri_ctx *enl = group_enl(group);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    bcri_cce_dying(group_host(group), index);
    enum bcri_cw_state state = bcri_count_repair(enl, index);
    bcri_cce_wake_sleepers(bcri_record(enl, index));
    uint32_t at_drop = bcri_load(&lot->freer[me].at);
    uint32_t done = bcri_load(&lot->freer[me].done);
    if (done == at_drop && state != BCRI_CW_IDLE)
        done++;
    bcri_store(&bcri_record(enl, index)->journal.cw_state, BCRI_CW_IDLE);
    group_repair(group, index);
    for (uint32_t i = done; i < LOT; i++)
        drop(enl, lot_ref(lot, me, i)); /* what enl does with the holdings of the dead */
}

TEST_TIMEOUT(freers_killed_at_random_lose_no_block_and_free_none_twice, 240)
{
    struct lot *lot = mmap(NULL, sizeof *lot, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(lot != MAP_FAILED);
    uint64_t state = test_seed();
    open_group(LOT * 64);
    const uint64_t rounds =
        test_is_instrumented() ? 60 : test_scale(300, 3000); /* 4,000 counted drops each */
    for (uint64_t round = 0; round < rounds; round++) {
        memset((void *)lot, 0, sizeof *lot);
        for (uint32_t i = 0; i < LOT; i++)
            lot->ref[i] = new_region(owner, 32, 2);
        struct freer freers[2] = {{lot, 0}, {lot, 1}};
        pid_t pid[2];
        uint32_t index[2];
        for (unsigned k = 0; k < 2; k++)
            pid[k] = group_fork(group, drop_lot, &freers[k], &index[k]);
        unsigned first = (unsigned)test_rand_below(&state, 2);
        uint32_t until = (uint32_t)test_rand_below(&state, LOT);
        while (bcri_load(&lot->freer[first].done) < until)
            sched_yield();
        for (uint64_t turns = test_rand_below(&state, 2000); turns > 0; turns--)
            bcri_cpu_pause();
        kill(pid[first], SIGKILL);
        if (test_rand_below(&state, 2) != 0)
            kill(pid[!first], SIGKILL);
        bury_freer(lot, first, pid[first], index[first]);
        bury_freer(lot, !first, pid[!first], index[!first]);
        bcri_heap_collect(owner);
        for (uint32_t i = 0; i < LOT; i++)
            CHECK_UINT(count_of(lot->ref[i]), 0);
        CHECK_UINT(bcri_heap_charged(owner), 0);
        CHECK(bcri_heap_valid(owner));
    }
    printf("%llu rounds\n", (unsigned long long)rounds);
    close_group();
}
