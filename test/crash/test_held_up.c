/* SPDX-License-Identifier: MIT */
/* Somebody is stopped anywhere in a call on a cell, as under SIGSTOP or a debugger, and others' calls that have a time come back
 * meanwhile. Then it goes on, or dies; nothing is lost, nothing there twice, nobody left asleep.
 *
 * The one that is stopped is the scene's victim. What the others do, in their order, is a word of letters:
 *     t l r    a get, a lock, a read of a millisecond      T  a get that polls
 *     w m f    bcr_rgwait with failfree for the first of the peer's waiting requests, bcr_rgwaitm for all, bcr_rgfree of one
 *     p q      a put of 7 that waits a millisecond for room, into the first or the second cell; W  a write
 *     o        a put of 7 that does not wait
 *     S        somebody begins to wait, without a time, and falls asleep; B  the same in a put of 98, for room
 *     k        a second process, traced too, is killed anywhere in what the scenario calls `second`
 * That each comes to its end at all is the test: nobody is continued before. */
#include "scene_calls.h"
#include "scene_parts.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/clock.h"
#include "bcri/flow.h"
#include "bcri/repair.h"
#include "bcri/self.h"

enum { HANG_SECONDS = 120, SAMPLES = 12, FULL_SAMPLES = 150, STEPS_MAX = 1 << 20, VALUES = 32 };

static bool read_it(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, 0) != NULL || bcr_errno == bcrE_TIMEOUT;
}

static void one_region(struct scene *scene)
{
    CHECK_INT(bcr_putwait(0), 0);
    scene->id[0] = number(100);
}
/* For a second one: a request that waits by then. */
static void one_waits(struct scene *scene)
{
    one_region(scene);
    scene->id[1] = bcr_deq(scene->home, scene->cell, bcr_PENDING);
    CHECK(scene->id[1] != NULL);
}
static bool give_up(struct scene *scene)
{
    return bcr_rgwait(scene->id[1], 0, 1) >= 0;
}

/* What there is, however it came there. */
struct values {
    int value[VALUES];
    int count;
};
static void note(struct values *values, int value)
{
    CHECK(values->count < VALUES);
    values->value[values->count++] = value;
}

struct play {
    struct scene scene;
    struct values got, put;
    struct bcri_ctx *sleeper;
    bool puts; /* the sleeper */
    pthread_t thread;
    _Atomic int slept;
    int value;
    void **kept[VALUES]; /* whoever is stopped may have their counts in its hand: freed when it is over */
    int kept_count;
    pthread_t repairer;
    struct scene_second second;
};

static void *sleep_in_get(void *arg)
{
    struct play *play = arg;
    bcri_self_set(play->sleeper);
    void **rgid = bcr_deq(group_name(play->sleeper, play->scene.home_index), play->scene.cell, bcr_BLOCK);
    play->value = rgid != NULL ? value_of(rgid) : -bcr_errno;
    atomic_store(&play->slept, 1);
    return NULL;
}

static void *sleep_in_put(void *arg)
{
    struct play *play = arg;
    bcri_self_set(play->sleeper);
    CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
    const int home = group_name(play->sleeper, play->scene.home_index);
    play->value = bcr_enq(number(98), home, play->scene.cell, bcr_FREE) == 0 ? 98 : -bcr_errno;
    atomic_store(&play->slept, 1);
    return NULL;
}

static void begin_to_sleep(struct play *play, bool puts)
{
    play->sleeper = scene_survivor(play->scene.group);
    play->puts = puts;
    CHECK_INT(pthread_create(&play->thread, NULL, puts ? sleep_in_put : sleep_in_get, play), 0);
    const struct bcri_bell_shm *bell = play->sleeper->bell;
    while (bcri_load_acquire(&bell->sleeping) == 0 && bcri_load_acquire(&bell->waits_on) == 0 &&
           atomic_load(&play->slept) == 0)
        sched_yield();
    as_peer(&play->scene);
}

static void take_all(struct play *play)
{
    struct scene *scene = &play->scene;
    as_peer(scene);
    for (int cell = scene->cell; cell <= scene->cell2; cell++)
        for (void **rgid; (rgid = bcr_deq(scene->home, cell, 0)) != NULL;)
            note(&play->got, value_of(rgid));
}

static void wake(struct play *play)
{
    as_owner(&play->scene);
    if (play->puts) {
        take_all(play);
    } else {
        CHECK_INT(bcr_enq(number(99), play->scene.home, play->scene.cell, bcr_FREE), 0);
        note(&play->put, 99);
    }
    CHECK_INT(pthread_join(play->thread, NULL), 0);
    if (play->value < 0)
        FAIL("%s: who slept got error %s", scene_position, scene_code_name(-play->value));
    note(play->puts ? &play->put : &play->got, play->value);
    group_leave(play->scene.group, play->sleeper);
}

static void keep(struct play *play, void **rgid)
{
    CHECK(play->kept_count < VALUES);
    play->kept[play->kept_count++] = rgid;
}

static void keep_taken(struct play *play, void **rgid)
{
    int value;
    memcpy(&value, *rgid, sizeof value);
    note(&play->got, value);
    keep(play, rgid);
}

static void keep_value(struct play *play, void **rgid, int code)
{
    if (rgid != NULL)
        keep_taken(play, rgid);
    else if (bcr_errno != code)
        FAIL("%s: %s", scene_position, bcr_strerror(bcr_errno));
}

static bool reads(void **rgid)
{
    return bcri_request_want((struct bcri_slot_shm *)(void *)rgid) == BCRI_WANT_READ;
}

/* A request that was served. */
static void keep_served(struct play *play, void **rgid)
{
    if (reads(rgid))
        keep(play, rgid);
    else
        keep_taken(play, rgid);
}

static void wait_for_many(struct play *play)
{
    struct scene *scene = &play->scene;
    int ready = bcr_rgwaitm(scene->waiters, scene->waiter, 1, 1);
    CHECK(ready >= 0);
    if (ready == 0) {
        scene->waiters = 0;
        return;
    }
    CHECK_INT(bcr_rgwait(scene->waiter[ready - 1], 1, 0), 1);
    keep_served(play, scene->waiter[ready - 1]);
    scene->waiter[ready - 1] = scene->waiter[--scene->waiters];
}

/* As the daemon's worker: it may come to wait for the one that is stopped. */
static void *repair_second(void *arg)
{
    struct play *play = arg;
    bcri_cce_repair(group_enl(play->scene.group), play->second.index);
    return NULL;
}

static void kill_second(struct play *play, uint64_t *random)
{
    struct scene *scene = &play->scene;
    const struct scene_second second = play->second;
    enum trace_at at = TRACE_AT_INSTRUCTION;
    int status;
    for (uint64_t left = 1 + test_rand_below(random, 6000); left > 0 && at != TRACE_AT_END; left--) {
        at = trace_step(second.pid);
        CHECK(at != TRACE_GONE);
    }
    trace_kill(second.pid);
    CHECK_INT(waitpid(second.pid, &status, 0), second.pid);
    bcri_cce_dying(group_host(scene->group), second.index);
    CHECK_INT(pthread_create(&play->repairer, NULL, repair_second, play), 0);
    as_peer(scene);
}

/* A put of 7. */
static void put(struct play *play, bool write, int cell, int msec)
{
    const struct scene *scene = &play->scene;
    void **rgid = number(7);
    CHECK_INT(bcr_putwait(msec), 0);
    if (bcr_put(!write, rgid, scene->home, cell, bcr_FREE) == 0)
        note(&play->put, 7);
    else
        CHECK(bcr_errno == bcrE_FULL && bcr_rgfree(rgid) == 0);
    CHECK_INT(bcr_putwait(0), 0);
}

static void others_call(struct play *play, const char *calls, uint64_t *random)
{
    struct scene *scene = &play->scene;
    as_peer(scene);
    for (const char *call = calls; *call != '\0'; call++) {
        void **rgid = NULL;
        int result = 0;
        switch (*call) {
        case 't': keep_value(play, bcr_deq(scene->home, scene->cell, 1), bcrE_TIMEOUT); break;
        case 'T': keep_value(play, bcr_deq(scene->home, scene->cell, 0), bcrE_TIMEOUT); break;
        case 'l': keep_value(play, bcr_acqwl(scene->home, scene->cell, 1), bcrE_TIMEOUT); break;
        case 'r':
            rgid = bcr_read(scene->home, scene->cell, 1);
            CHECK(rgid != NULL || bcr_errno == bcrE_TIMEOUT);
            if (rgid != NULL)
                keep(play, rgid);
            break;
        case 'w':
            result = bcr_rgwait(scene->waiter[0], 1, 1);
            CHECK(result >= 0);
            if (result == 1)
                keep_served(play, scene->waiter[0]);
            scene->waiter[0] = scene->waiter[--scene->waiters];
            break;
        case 'm': wait_for_many(play); break;
        case 'f':
            CHECK_INT(bcr_rgfree(scene->waiter[0]), 0);
            scene->waiter[0] = scene->waiter[--scene->waiters];
            break;
        case 'p': put(play, false, scene->cell, 1); break;
        case 'q': put(play, false, scene->cell2, 1); break;
        case 'W': put(play, true, scene->cell, 1); break;
        case 'o': put(play, false, scene->cell, 0); break;
        case 'S': begin_to_sleep(play, false); break;
        case 'B': begin_to_sleep(play, true); break;
        case 'k': kill_second(play, random); break;
        default: FAIL("no such call: %c", *call);
        }
    }
}

static int ascending(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

/* Whether there is what `expected` says, and what was put: in any order. */
static bool is_there(const struct play *play, const char *expected)
{
    struct values all = play->put;
    for (const char *at = expected; *at != '\0';) {
        char *end;
        note(&all, (int)strtol(at, &end, 10));
        at = end + strspn(end, " ");
    }
    struct values got = play->got;
    qsort(all.value, (size_t)all.count, sizeof(int), ascending);
    qsort(got.value, (size_t)got.count, sizeof(int), ascending);
    /* The one that is stopped may have taken one: whichever was first when it went on. */
    int missing = play->scene.scenario->run == deq && play->scene.puts != 0 ? 1 : 0, met = 0;
    for (int i = 0; i < all.count; i++) {
        if (met < got.count && got.value[met] == all.value[i])
            met++;
        else if (missing-- == 0)
            return false;
    }
    return met == got.count;
}

/* Puts of the peer's that have waited from the start: none of them waits while there is room. */
static void end_puts(struct play *play)
{
    struct scene *scene = &play->scene;
    const int all = scene->scenario->nrgns;
    for (int i = 0; i < scene->puts; i++) {
        const bool waits = !bcri_request_ready(scene->peer, scene->put[i]);
        if (waits && bcr_celllen(scene->home, scene->cell) + bcr_celllen(scene->home, scene->cell2) < all)
            FAIL("%s: a put waits, and there is room", scene_position);
        if (bcri_putwait_end(scene->peer, scene->put[i], BCRI_DEADLINE_PASSED) == 0)
            note(&play->put, 51 + i);
    }
}

static void collect_all(struct play *play)
{
    struct scene *scene = &play->scene;
    as_peer(scene);
    for (int i = 0; i < scene->waiters; i++)
        if (bcr_rgwait(scene->waiter[i], 0, 1) == 1) {
            if (reads(scene->waiter[i]))
                CHECK_INT(bcr_rgfree(scene->waiter[i]), 0);
            else
                note(&play->got, value_of(scene->waiter[i]));
        }
    end_puts(play);
    take_all(play);
}

static uint64_t step(pid_t victim, uint64_t most, bool *ended_out)
{
    uint64_t done = 0;
    enum trace_at at = TRACE_AT_INSTRUCTION;
    while (done < most && at != TRACE_AT_END) {
        at = trace_step(victim);
        CHECK(at != TRACE_GONE);
        done++;
    }
    *ended_out = at == TRACE_AT_END;
    return done;
}

/* `steps`: after how many instructions it is stopped; they come back as what was possible. */
static void play(const struct scenario *scenario, uint64_t *steps, bool dies, uint64_t *random)
{
    struct play play = {.scene = {.scenario = scenario}};
    struct scene *scene = &play.scene;
    bool ended;
    int status;
    snprintf(scene_position, sizeof scene_position, "stopped after %llu instructions, and then %s",
             (unsigned long long)*steps, dies ? "killed" : "continued");
    alarm(HANG_SECONDS);
    scene->shared =
        mmap(NULL, sizeof *scene->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene->shared != MAP_FAILED);
    scene_open(scene);
    if (scenario->second != NULL)
        scene_open_second(scene, &play.second);
    *steps = step(scene->victim, *steps, &ended);
    others_call(&play, scenario->late, random);
    if (!dies && !ended && trace_run(scene->victim, 0, 1) != TRACE_AT_END)
        FAIL("%s: it has not come to its end", scene_position);
    trace_kill(scene->victim);
    CHECK_INT(waitpid(scene->victim, &status, 0), scene->victim);
    bcri_cce_dying(group_host(scene->group), scene->victim_index);
    if (scenario->second != NULL)
        CHECK_INT(pthread_join(play.repairer, NULL), 0);
    bcri_cce_repair(group_enl(scene->group), scene->victim_index);
    as_peer(scene);
    for (int i = 0; i < play.kept_count; i++)
        CHECK_INT(bcr_rgfree(play.kept[i]), 0);
    if (play.sleeper != NULL)
        wake(&play);
    scene_audit(scene, "when it was over");
    collect_all(&play);
    if (scenario->after != NULL && !is_there(&play, scenario->after) &&
        !(dies && is_there(&play, scenario->before)) &&
        !(scenario->also != NULL && is_there(&play, scenario->also))) {
        printf("%s:", scene_position);
        for (int i = 0; i < play.got.count; i++)
            printf(" %d", play.got.value[i]);
        FAIL(" is what was found");
    }
    scene_end(scene);
    alarm(0);
}

static void held_up(const struct scenario *scenario)
{
    uint64_t random = test_seed(), plays = 0, all = STEPS_MAX;
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    scene_watch();
    scene_share_cpu();
    const char *only = getenv("BCR_CRASH_INSTRUCTION");
    play(scenario, &all, false, &random);
    const uint64_t stride = scene_stride(all, SAMPLES, FULL_SAMPLES);
    for (uint64_t at = 1 + test_rand_below(&random, stride); at <= all;
         at += 1 + test_rand_below(&random, 2 * stride - 1)) {
        uint64_t steps = only != NULL ? strtoull(only, NULL, 10) : at;
        play(scenario, &steps, plays++ % 2 != 0, &random);
        if (test_scale(0, 1) != 0 || only != NULL)
            play(scenario, &steps, plays++ % 2 != 0, &random);
        if (only != NULL)
            break;
    }
    printf("%llu plays at one in %llu of %llu instructions\n", (unsigned long long)plays,
           (unsigned long long)stride, (unsigned long long)all);
}

#define HELD_UP(name, ...)                                     \
    TEST_TIMEOUT(name, 3600)                                   \
    {                                                          \
        static const struct scenario scenario = {__VA_ARGS__}; \
        held_up(&scenario);                                    \
    }

HELD_UP(gets_locks_and_reads_behind_an_enq, .prepare = one_region, .run = enq, .late = "ttlrT", .before = "",
        .after = "100")
HELD_UP(gets_behind_an_enq_of_a_region_that_is_kept, .prepare = one_region, .run = enq_nofree, .late = "ttT",
        .before = "", .after = "100")
HELD_UP(gets_behind_a_write, .prepare = one_region, .run = write_it, .late = "tlrT", .before = "",
        .after = "100")
HELD_UP(gets_behind_a_write_over_a_queue, .queued = 2, .prepare = one_region, .run = write_it, .late = "trT")
HELD_UP(gets_behind_an_enq_into_two_cells, .prepare = one_region, .run = enqm, .late = "ttT", .before = "",
        .after = "100 100", .also = "100")
HELD_UP(locks_behind_an_enq, .prepare = one_region, .run = enq, .late = "lltl", .before = "", .after = "100")
HELD_UP(requests_behind_an_enq, .waiters = "TTT", .prepare = one_region, .run = enq, .late = "wmT",
        .before = "", .after = "100")
HELD_UP(lock_requests_behind_an_enq, .waiters = "LL", .prepare = one_region, .run = enq, .late = "wwT",
        .before = "", .after = "100")
HELD_UP(requests_of_a_slow_cell_behind_an_enq, .waiters = "RTRLT", .prepare = one_region, .run = enq,
        .late = "wmT", .before = "", .after = "100")
HELD_UP(reads_of_a_slow_cell_behind_an_enq, .waiters = "RRR", .prepare = one_region, .run = enq,
        .late = "wft")
HELD_UP(requests_that_are_freed_behind_an_enq, .waiters = "TLT", .prepare = one_region, .run = enq,
        .late = "fft", .before = "", .after = "100", .also = "")
HELD_UP(gets_behind_a_deq, .queued = 1, .prepare = one_region, .run = deq, .late = "ttlr", .before = "1",
        .after = "", .also = "1")
HELD_UP(gets_behind_a_read, .queued = 1, .prepare = one_region, .run = read_it, .late = "rttlT",
        .before = "1", .after = "1")
HELD_UP(gets_behind_a_deq_that_begins_to_wait, .prepare = one_region, .run = deq_pending, .late = "tltrT",
        .before = "", .after = "")
HELD_UP(requests_behind_a_deq_that_begins_to_wait, .waiters = "TT", .prepare = one_region, .run = deq_pending,
        .late = "wmt", .before = "", .after = "")
HELD_UP(requests_behind_a_read_that_begins_to_wait, .waiters = "TL", .prepare = one_region,
        .run = read_pending, .late = "wwtT", .before = "", .after = "")
HELD_UP(gets_behind_a_zap, .queued = 2, .prepare = one_region, .run = zap, .late = "tlr")
HELD_UP(requests_behind_a_zap, .waiters = "TL", .prepare = one_region, .run = zap, .late = "wwt",
        .before = "", .after = "")
HELD_UP(locks_behind_a_lock, .queued = 1, .prepare = one_region, .run = lock_and_release, .late = "llrt",
        .before = "1", .after = "1", .also = "")
HELD_UP(one_falls_asleep_behind_an_enq, .prepare = one_region, .run = enq, .late = "S", .before = "",
        .after = "100")
HELD_UP(one_falls_asleep_behind_an_enq_after_others_gave_up, .prepare = one_region, .run = enq,
        .late = "ttSlT", .before = "", .after = "100")
HELD_UP(one_falls_asleep_behind_a_deq_that_begins_to_wait, .prepare = one_region, .run = deq_pending,
        .late = "tS", .before = "", .after = "")
HELD_UP(who_gives_up_behind_an_enq_dies, .prepare = one_waits, .run = enq, .second = give_up, .late = "kt",
        .before = "", .after = "100")
HELD_UP(who_gives_up_behind_a_zap_dies, .prepare = one_waits, .run = zap, .second = give_up, .late = "kt",
        .before = "", .after = "")

/* Its cells are looked up anew meanwhile. */
static bool grow_and_free(struct scene *scene)
{
    (void)scene;
    int base = bcr_cagrow(0, 0, 0, 0, 1, 4, 0);
    return base > 0 && bcr_cafree(base) == 0;
}
HELD_UP(look_ups_behind_an_owner_that_changes_its_cells, .own = true, .run = grow_and_free, .late = "tporlTq")

/* A put that waits a little itself, wherever it is stopped. */
static void one_region_and_time(struct scene *scene)
{
    one_region(scene);
    CHECK_INT(bcr_putwait(3), 0);
}

HELD_UP(puts_without_room_behind_a_deq, .nrgns = 1, .queued = 1, .prepare = one_region, .run = deq,
        .late = "pqopt", .before = "1", .after = "", .also = "1")
HELD_UP(puts_without_room_behind_an_enq, .nrgns = 1, .prepare = one_region, .run = enq, .late = "pqot",
        .before = "", .after = "100", .also = "")
HELD_UP(puts_behind_one_that_looks_for_room, .nrgns = 2, .queued = 1, .prepare = one_region, .run = enq,
        .late = "qpqo", .before = "1", .after = "1 100", .also = "1")
HELD_UP(puts_behind_one_that_waits_for_room, .nrgns = 1, .queued = 1, .prepare = one_region_and_time,
        .run = enq, .late = "pqopt", .before = "1", .after = "1 100", .also = "1")
HELD_UP(puts_and_gets_behind_one_that_serves_a_put, .nrgns = 1, .queued = 1, .puts = 2, .prepare = one_region,
        .run = deq, .late = "ptpqt", .before = "1", .after = "1")
HELD_UP(puts_behind_a_zap_that_serves_puts, .nrgns = 2, .queued = 2, .puts = 2, .prepare = one_region,
        .run = zap, .late = "pqpt")
HELD_UP(writes_behind_a_write_while_puts_wait, .nrgns = 2, .queued = 2, .puts = 1, .prepare = one_region,
        .run = write_it, .late = "WqWt")
HELD_UP(a_put_falls_asleep_behind_a_deq, .nrgns = 1, .queued = 1, .prepare = one_region, .run = deq,
        .late = "qB", .before = "1", .after = "", .also = "1")
HELD_UP(a_put_falls_asleep_behind_one_that_waits_for_room, .nrgns = 1, .queued = 1,
        .prepare = one_region_and_time, .run = enq, .late = "pB", .before = "1", .after = "1 100",
        .also = "1")
HELD_UP(who_gives_up_a_put_behind_a_deq_dies, .nrgns = 1, .queued = 1, .puts = 1,
        .prepare = one_region_and_time, .run = deq, .second = enq, .late = "kpt")
