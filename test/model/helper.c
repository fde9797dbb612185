/* SPDX-License-Identifier: MIT */
/* See helper.h. */
#include "helper.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/atomics.h"
#include "bcri/bell.h"
#include "random_run.h"

int cell_number[CELLS], next_value;

static struct bcri_ctx *three;
static pthread_t thread;
static sem_t idle, helped;
static bool helper_ends, over_and_out;
static bool helping; /* of `one`: the helper was called, and has not been heard of since */
static pid_t thread_of_one;

/* What stands behind `key` in what the system tells of the thread of `one`. */
static void of_thread(const char *key, char value_out[32])
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread_of_one);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    value_out[0] = '\0';
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            (void)sscanf(line + strlen(key), " %31s", value_out);
    fclose(file);
}

static long sleeps(void)
{
    char value[32];
    of_thread("voluntary_ctxt_switches:", value);
    return atol(value);
}

static bool is_asleep(void)
{
    char value[32];
    of_thread("State:", value);
    return value[0] == 'S';
}

/* No CCE runs: `one` has gone to sleep, after it has looked whether it need not, and more than
 * `slept` times. */
static void see_it_sleep(long slept)
{
    while (bcri_load_acquire(&one->bell->sleeping) == 0 || !is_asleep() || sleeps() <= slept)
        sched_yield();
}

struct deed some_put(int cell)
{
    return (struct deed){.put = true, .write = below(6) == 0, .cell = cell};
}
struct deed some_get(int cell)
{
    return (struct deed){.takes = below(4) != 0, .cell = cell};
}

/* How much would come of it that `one` may see: requests, and waits that are over. */
static int events_of(struct deed deed)
{
    static struct reference trial;
    const int cell = deed.cell, before = ref.cell[cell].length;
    int events;
    trial = ref;
    if (deed.put) {
        const enum ref_answer answer = ref_put(&trial, next_id, cell, next_value, deed.write, false);
        events = put_requests(cell, before, trial.cell[cell].length, deed.write, answer);
    } else {
        ref_get(&trial, next_id, cell, !deed.takes, false);
        events = get_requests(cell, before, deed.takes);
    }
    for (int i = 0; i < sched.invocation_count; i++)
        events += sched.invocation[i].state == SCHED_WAITS && !sched.invocation[i].over &&
                  call[i].id != NONE && trial.request[call[i].id].done;
    return events;
}

static void put_as(struct bcri_ctx *who, struct deed deed)
{
    const int cell = deed.cell;
    bcr_region rgid = number(next_value);
    const bcr_cce_id owner = name(who, cell < OWN ? one : two);
    TRACE("  %s of %d into cell %d%s\n", deed.write ? "write" : "put", next_value, cell,
          who == three ? " by the helper" : "");
    CHECK(next_id < REF_REQUESTS); /* else no CCE can go on for good */
    is_own = false;
    const enum ref_answer answer = put_by_reference(next_id++, cell, next_value++, deed.write, false);
    if (who == three)
        helper_ends = advance(); /* from now on `one` may run */
    bcr_errno = 0;
    CHECK_INT(bcr_put(!deed.write, rgid, owner, cell_number[cell], bcr_FREE), answer == REF_DONE ? 0 : -1);
    if (answer != REF_DONE) {
        CHECK_INT(bcr_errno, bcrE_FULL);
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
}

static void get_as(struct bcri_ctx *who, struct deed deed)
{
    const int cell = deed.cell, owner = name(who, cell < OWN ? one : two), id = next_id++;
    TRACE("  %s of cell %d%s\n", deed.takes ? "take" : "read", cell, who == three ? " by the helper" : "");
    is_own = false;
    const enum ref_answer answer = get_by_reference(id, cell, deed.takes, false);
    const int value = ref.request[id].value;
    if (who == three)
        helper_ends = advance();
    bcr_region rgid = bcr_get(deed.takes, owner, cell_number[cell], 0);
    CHECK_INT(rgid != NULL, answer == REF_DONE);
    if (rgid != NULL)
        CHECK_INT(value_of(rgid), value);
}

void do_as(struct bcri_ctx *who, struct deed deed)
{
    if (deed.put)
        put_as(who, deed);
    else
        get_as(who, deed);
}

/* What lets the one go on that decides the level. */
static struct deed help_the_topmost(void)
{
    int top = NONE;
    for (int i = 0; i < sched.invocation_count; i++)
        if (sched.invocation[i].state == SCHED_WAITS && !sched.invocation[i].over &&
            (top == NONE || sched.invocation[i].stopped > sched.invocation[top].stopped))
            top = i;
    CHECK(top != NONE);
    return call[top].what == PUT ? some_get(call[top].cell) : some_put(call[top].cell);
}

/* A deed of which at most one event comes: `one` might wake up and look between two. Invocations wait
 * only where such a deed can be found (may_wait_to_get and its like). */
static struct deed some_help(void)
{
    for (int tries = 0;; tries++) {
        CHECK(tries < 100000);
        const struct deed deed = below(2)   ? help_the_topmost()
                                 : below(3) ? some_put(below(CELLS))
                                            : some_get(below(CELLS));
        if (events_of(deed) <= 1)
            return deed;
    }
}

static void *help(void *arg)
{
    (void)arg;
    as(three);
    for (;;) {
        long slept = -1;
        CHECK_INT(sem_wait(&idle), 0);
        if (over_and_out)
            return NULL;
        for (helper_ends = false; !helper_ends;) {
            see_it_sleep(slept);
            const int before = performed;
            const long sleeps_before = sleeps();
            do_as(three, some_help());
            /* an invocation went on, and `one` sleeps again */
            slept = performed > before ? sleeps_before : -1;
        }
        CHECK_INT(sem_post(&helped), 0);
    }
}

void expect_idleness(void)
{
    helping = true;
    CHECK_INT(sem_post(&idle), 0);
}

void wait_for_helper(void)
{
    if (helping)
        CHECK_INT(sem_wait(&helped), 0);
    helping = false;
}

void helper_begin(void)
{
    thread_of_one = gettid();
    three = join();
    as(three);
    CHECK_INT(bcr_putwait(0), 0);
    as(one);
    over_and_out = helping = false;
    CHECK_INT(sem_init(&idle, 0, 0), 0);
    CHECK_INT(sem_init(&helped, 0, 0), 0);
    CHECK_INT(pthread_create(&thread, NULL, help, NULL), 0);
}

void helper_end(void)
{
    over_and_out = true;
    CHECK_INT(sem_post(&idle), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
}
