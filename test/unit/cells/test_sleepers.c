/* SPDX-License-Identifier: MIT */
/* Several CCEs asleep at once on what one other CCE has: its release, or its death, wakes all of
 * them, since no other process will. */
#include "cce.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bcri/cell.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"

enum { SLEEPERS = 5 };

struct sleeper {
    pthread_t thread;
    struct bcri_ctx *ctx;
    int cell;
    _Atomic int tid;
};

static struct sleeper sleepers[SLEEPERS];

/* Takes a region, for which it needs the head lock of the cell. */
static void *take_one(void *arg)
{
    struct sleeper *sleeper = arg;
    as(sleeper->ctx);
    sleeper->ctx->cpus = 1; /* it sleeps early */
    const bcr_cce_id owner = name(sleeper->ctx, one);
    atomic_store(&sleeper->tid, (int)syscall(SYS_gettid));
    CHECK(bcr_deq(owner, sleeper->cell, bcr_BLOCK) != NULL);
    return NULL;
}

/* Whether the kernel says that the thread sleeps. */
static bool is_asleep(int tid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return length != 0 && strrchr(text, ')')[2] == 'S';
}

/* A cell with a region for each of them, all of whom sleep until `holder` releases its head
 * lock. */
static _Atomic uint32_t *begin_asleep(struct bcri_ctx *holder, int *cell_out)
{
    struct bcri_resolved *resolved;
    const int cell = *cell_out = grow(1, SLEEPERS, SLEEPERS * NUMBER_BYTES);
    for (int i = 0; i < SLEEPERS; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    _Atomic uint32_t *lock = &resolved->cell->h.lock;
    bcri_store(&holder->journal->cell, resolved->ref);
    bcri_store(&holder->journal->slot, BCRI_REF_NONE);
    bcri_store(&holder->journal->op, BCRI_OP_SLOW);
    CHECK(bcri_lock_try(holder, lock));
    for (int i = 0; i < SLEEPERS; i++) {
        sleepers[i] = (struct sleeper){.ctx = join(), .cell = cell};
        CHECK_INT(pthread_create(&sleepers[i].thread, NULL, take_one, &sleepers[i]), 0);
    }
    for (int i = 0; i < SLEEPERS; i++)
        while (atomic_load(&sleepers[i].tid) == 0 ||
               bcri_load_acquire(&sleepers[i].ctx->bell->waits_on) != holder->tag ||
               !is_asleep(atomic_load(&sleepers[i].tid)))
            sched_yield();
    CHECK(bcri_load(&holder->bell->lock_sleepers) != 0);
    return lock;
}

static void sleep_in_get(struct later **later, struct bcri_ctx *ctx, int cell)
{
    ctx->cpus = 1;
    *later = later_get(ctx, 1, name(ctx, one), cell, bcr_BLOCK);
    while (bcri_load_acquire(&ctx->bell->sleeping) == 0)
        sched_yield();
}

/* By ticket; one between them only waits. Each put rings the sleeper of its entry, if there is
 * one. */
TEST(each_sleeper_at_a_ring_is_woken_by_its_own_put)
{
    begin();
    const int cell = grow(1, 8, 1024);
    struct later *first, *last;
    sleep_in_get(&first, join(), cell);
    as(two);
    bcr_region awake[2];
    for (int i = 0; i < 2; i++)
        awake[i] = bcr_deq(one_of_two, cell, bcr_PENDING);
    as(one);
    sleep_in_get(&last, join(), cell);
    for (int i = 0; i < 4; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(result(first).value, 0);
    CHECK_INT(result(last).value, 3);
    as(two);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_rgwait(awake[i], 0, 0), 1);
    as(one);
    end();
}

static void all_come(int cell)
{
    for (int i = 0; i < SLEEPERS; i++)
        CHECK_INT(pthread_join(sleepers[i].thread, NULL), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    end();
}

TEST(a_release_wakes_all_who_sleep_on_its_holder)
{
    int cell;
    begin();
    struct bcri_ctx *holder = join();
    _Atomic uint32_t *lock = begin_asleep(holder, &cell);
    bcri_unlock(holder, lock);
    bcri_store(&holder->journal->op, BCRI_OP_NONE);
    all_come(cell);
}

TEST(a_stale_release_wakes_all_who_sleep_on_its_holder)
{
    int cell;
    begin();
    struct bcri_ctx *holder = join();
    _Atomic uint32_t *lock = begin_asleep(holder, &cell);
    bcri_unlock_stale(holder, lock);
    bcri_store(&holder->journal->op, BCRI_OP_NONE);
    all_come(cell);
}

TEST(the_death_of_a_holder_wakes_all_who_sleep_on_it)
{
    int cell;
    begin();
    struct bcri_ctx *holder = join();
    (void)begin_asleep(holder, &cell);
    leave(holder);
    all_come(cell);
}

/* A look-up waits while the owner's list of areas changes. */
static void *look_one_up(void *arg)
{
    struct sleeper *sleeper = arg;
    as(sleeper->ctx);
    sleeper->ctx->cpus = 1;
    const bcr_cce_id owner = name(sleeper->ctx, one);
    atomic_store(&sleeper->tid, (int)syscall(SYS_gettid));
    CHECK_INT(bcr_celllen(owner, sleeper->cell), 0);
    return NULL;
}

TEST(all_look_ups_that_sleep_while_the_list_of_areas_changes_are_woken)
{
    begin();
    const int cell = grow(1, 1, NUMBER_BYTES);
    atomic_fetch_add(&one->record->id.version, 1);
    for (int i = 0; i < SLEEPERS; i++) {
        sleepers[i] = (struct sleeper){.ctx = join(), .cell = cell};
        CHECK_INT(pthread_create(&sleepers[i].thread, NULL, look_one_up, &sleepers[i]), 0);
    }
    for (int i = 0; i < SLEEPERS; i++)
        while (atomic_load(&sleepers[i].tid) == 0 ||
               bcri_load_acquire(&sleepers[i].ctx->bell->waits_on) != one->tag ||
               !is_asleep(atomic_load(&sleepers[i].tid)))
            sched_yield();
    atomic_fetch_add(&one->record->id.version, 1);
    CHECK_INT(bcr_cafree(grow(1, 1, 0)), 0); /* each change ends with a look for sleepers */
    for (int i = 0; i < SLEEPERS; i++)
        CHECK_INT(pthread_join(sleepers[i].thread, NULL), 0);
    end();
}
