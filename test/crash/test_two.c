/* SPDX-License-Identifier: MIT */
/* Two die at once, each anywhere in a call on the same cell: one may hold what the other waits for, and one may die while the
 * other is being repaired.
 *
 * The first victim is stepped to some instruction and stopped. The second is stepped to one of its own, or until it sleeps
 * on a lock of the first. Then, in turn: both are dead before either is repaired, in this order or the other; or the first
 * is repaired while the second still holds whatever it holds, and that one is killed when the repair waits for it, or is
 * done. Afterwards the audit has no finding, and the survivors go on.
 *
 * With a third one that lives: it is stopped (as by SIGSTOP or a debugger) anywhere in the second's call, then one dies, and
 * while its repair waits for the one that is stopped, another dies. That one's journal is repaired from within the wait;
 * then the stopped one goes on, and everything comes to its end. */
#include "scene_parts.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/bell.h"
#include "bcri/flow.h"
#include "bcri/repair.h"
#include "bcri/self.h"

enum { HANG_SECONDS = 120, SAMPLES = 3, FULL_SAMPLES = 12, STEPS_MAX = 1 << 20 };

static bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0 || bcr_errno == bcrE_FULL;
}
static bool enq_nofree(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0 || bcr_errno == bcrE_FULL;
}
static bool write_it(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0 || bcr_errno == bcrE_FULL;
}
static bool enqm(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_enqm(scene->id[0], 2, cells, bcr_FREE) == 0 || bcr_errno == bcrE_FULL;
}
static bool deq(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) != NULL || bcr_errno == bcrE_TIMEOUT;
}
static bool deq_pending(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static bool read_pending(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static bool zap(struct scene *scene)
{
    return bcr_zap(scene->home, scene->cell) == 0;
}
static bool lock_and_release(struct scene *scene)
{
    void **rgid = bcr_acqwl(scene->home, scene->cell, 0);
    return rgid == NULL || bcr_rlswl(rgid, scene->home, scene->cell) == 0;
}
static bool lock_and_keep(struct scene *scene)
{
    return bcr_acqwl(scene->home, scene->cell, 0) != NULL || bcr_errno == bcrE_TIMEOUT;
}
static bool drop_shared(struct scene *scene)
{
    void **rgid = bcr_read(scene->home, scene->cell, 0);
    return rgid == NULL || bcr_rgfree(rgid) == 0;
}

static void one_region(struct scene *scene)
{
    CHECK_INT(bcr_putwait(0), 0);
    scene->id[0] = number(100);
}

/* How often a victim can be stepped before its call is over or it sleeps. */
static uint64_t steps(pid_t victim, uint64_t most, bool *ended_out)
{
    uint64_t done = 0;
    enum trace_at at = TRACE_AT_INSTRUCTION;
    *ended_out = false;
    while (done < most) {
        at = trace_step(victim);
        if (at == TRACE_GONE)
            FAIL("%s: a victim ended by itself", scene_position);
        done++;
        if (at == TRACE_AT_END)
            *ended_out = true;
        if (at == TRACE_AT_END || at == TRACE_AT_SLEEP)
            break;
    }
    return done;
}

enum order { FIRST_THEN_SECOND, SECOND_THEN_FIRST, DURING_THE_REPAIR, ORDERS };

struct repair {
    struct scene *scene;
    uint32_t index;
    _Atomic int done;
};

static void *repairs(void *arg)
{
    struct repair *repair = arg;
    bcri_cce_repair(group_enl(repair->scene->group), repair->index);
    atomic_store(&repair->done, 1);
    return NULL;
}

static void reap(pid_t pid)
{
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
}

static void bury_both(struct scene *scene, const struct scene_second *second, enum order order)
{
    struct bcri_host *host = group_host(scene->group);
    struct bcri_ctx *enl = group_enl(scene->group);
    trace_kill(scene->victim);
    reap(scene->victim);
    if (order != DURING_THE_REPAIR) {
        trace_kill(second->pid);
        reap(second->pid);
        bcri_cce_dying(host, order == FIRST_THEN_SECOND ? scene->victim_index : second->index);
        bcri_cce_dying(host, order == FIRST_THEN_SECOND ? second->index : scene->victim_index);
        bcri_cce_repair(enl, order == FIRST_THEN_SECOND ? scene->victim_index : second->index);
        bcri_cce_repair(enl, order == FIRST_THEN_SECOND ? second->index : scene->victim_index);
        return;
    }
    struct repair repair = {.scene = scene, .index = scene->victim_index};
    pthread_t thread;
    bcri_cce_dying(host, scene->victim_index);
    CHECK_INT(pthread_create(&thread, NULL, repairs, &repair), 0);
    while (atomic_load(&repair.done) == 0 && bcri_load_acquire(&enl->host->enl_waits_on) == 0)
        sched_yield();
    trace_kill(second->pid);
    reap(second->pid);
    bcri_cce_dying(host, second->index);
    pthread_join(thread, NULL);
    bcri_cce_repair(enl, second->index);
}

/* A call that has no time does not wait for one who is stopped, as those are that a tracer steps. Mostly it shall: then nobody can
 * see it. */
static void hide_that_it_is_stopped(struct scene *scene, uint32_t index)
{
    static unsigned plays;
    if (plays++ % 4 != 0)
        bcri_store(&bcri_host_record(group_host(scene->group), index)->id.pid, 0);
}

/* One pair of deaths. `first`, `second`: how many instructions each has done; UINT64_MAX: all. They come back as what was
 * possible. */
static void play(const struct scenario *scenario, uint64_t *first, uint64_t *second_steps, enum order order)
{
    struct scene scene = {.scenario = scenario};
    struct scene_second second;
    bool ended;
    snprintf(scene_position, sizeof scene_position, "first after %llu, second after %llu, order %d",
             (unsigned long long)*first, (unsigned long long)*second_steps, order);
    alarm(HANG_SECONDS);
    scene.shared =
        mmap(NULL, sizeof *scene.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene.shared != MAP_FAILED);
    scene_open(&scene);
    scene_open_second(&scene, &second);
    hide_that_it_is_stopped(&scene, scene.victim_index);
    *first = steps(scene.victim, *first, &ended);
    *second_steps = steps(second.pid, *second_steps, &ended);
    bury_both(&scene, &second, order);
    struct line line = {.length = 0};
    scene_audit(&scene, "after the burials");
    scene_see(&scene, &line);
    scene_end(&scene);
    alarm(0);
}

/* Repairs the first, and the second as soon as that is dead: as enl's worker does, one after the other. */
struct repairs {
    struct bcri_ctx *enl;
    uint32_t first, second;
    _Atomic uint32_t dead; /* futex: both */
    _Atomic int done;      /* how many are repaired */
};

static void *repairs_both(void *arg)
{
    struct repairs *repairs = arg;
    bcri_cce_repair(repairs->enl, repairs->first);
    atomic_store(&repairs->done, 1);
    while (bcri_load_acquire(&repairs->dead) == 0)
        bcri_futex_wait(&repairs->dead, 0, UINT64_MAX);
    bcri_cce_repair(repairs->enl, repairs->second);
    return NULL;
}

/* `holder`: how many instructions the one that lives has done when it is stopped. Returns whether a repair waited for it. */
static bool play_stopped(const struct scenario *scenario, uint64_t *holder, uint64_t *first, uint64_t *second)
{
    struct scene scene = {.scenario = scenario};
    struct scene_second stopped, other;
    bool ended;
    pthread_t thread;
    snprintf(scene_position, sizeof scene_position, "stopped after %llu, first after %llu, second after %llu",
             (unsigned long long)*holder, (unsigned long long)*first, (unsigned long long)*second);
    alarm(HANG_SECONDS);
    scene.shared =
        mmap(NULL, sizeof *scene.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene.shared != MAP_FAILED);
    scene_open(&scene);
    scene_open_second(&scene, &stopped);
    scene_open_second(&scene, &other);
    hide_that_it_is_stopped(&scene, stopped.index);
    *first = steps(scene.victim, *first, &ended);
    *holder = steps(stopped.pid, *holder, &ended);
    const bool at_end = ended;
    *second = steps(other.pid, *second, &ended);

    struct bcri_host *host = group_host(scene.group);
    struct repairs repairs = {
        .enl = group_enl(scene.group), .first = scene.victim_index, .second = other.index};
    trace_kill(scene.victim);
    reap(scene.victim);
    bcri_cce_dying(host, scene.victim_index);
    CHECK_INT(pthread_create(&thread, NULL, repairs_both, &repairs), 0);
    while (atomic_load(&repairs.done) == 0 &&
           bcri_load_acquire(&repairs.enl->host->enl_waits_on) != BCRI_TAG(stopped.index) &&
           bcri_load_acquire(&repairs.enl->host->enl_waits_on) != BCRI_TAG(other.index))
        sched_yield();
    const bool waited = bcri_load_acquire(&repairs.enl->host->enl_waits_on) == BCRI_TAG(stopped.index);
    trace_kill(other.pid);
    reap(other.pid);
    bcri_cce_dying(host, other.index);
    bcri_store_release(&repairs.dead, 1);
    bcri_futex_wake(&repairs.dead, 1);
    if (!at_end && trace_run(stopped.pid, 0, 1) != TRACE_AT_END)
        FAIL("%s: who was stopped has not come to its end", scene_position);
    CHECK_INT(pthread_join(thread, NULL), 0);
    trace_kill(stopped.pid);
    reap(stopped.pid);
    bcri_cce_dying(host, stopped.index);
    bcri_cce_repair(repairs.enl, stopped.index);

    struct line line = {.length = 0};
    scene_audit(&scene, "after the burials");
    scene_see(&scene, &line);
    scene_end(&scene);
    alarm(0);
    return waited;
}

static void on_alarm(int signal)
{
    (void)signal;
    static const char text[] = "hangs: ";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0 ||
        write(STDOUT_FILENO, scene_position, strlen(scene_position)) < 0)
        _exit(3);
    _exit(1);
}

static void two_die(const struct scenario *scenario)
{
    uint64_t random = test_seed(), kills = 0, waited = 0;
    uint64_t samples = test_scale(SAMPLES, FULL_SAMPLES);
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    signal(SIGALRM, on_alarm);
    scene_share_cpu();
    uint64_t first_all = STEPS_MAX, none = 0;
    play(scenario, &first_all, &none, FIRST_THEN_SECOND);
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t first = 1 + test_rand_below(&random, first_all);
        uint64_t second_all = STEPS_MAX, stopped = first;
        play(scenario, &stopped, &second_all, (enum order)test_rand_below(&random, ORDERS));
        for (uint64_t k = 0; k < samples; k++) {
            uint64_t at = first, second = 1 + test_rand_below(&random, second_all);
            play(scenario, &at, &second, (enum order)test_rand_below(&random, ORDERS));
            kills++;
        }
        waited++;
    }
    printf("%llu pairs at %llu places of the first's %llu instructions\n", (unsigned long long)kills,
           (unsigned long long)waited, (unsigned long long)first_all);
}

static void one_is_stopped(const struct scenario *scenario)
{
    uint64_t random = test_seed(), plays = 0, waited = 0;
    uint64_t samples = test_scale(6, 200);
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    signal(SIGALRM, on_alarm);
    scene_share_cpu();
    uint64_t holder_all = STEPS_MAX, first_all = STEPS_MAX, none = 0;
    play_stopped(scenario, &holder_all, &none, &none);
    play_stopped(scenario, &none, &first_all, &none);
    /* A repair waits only for one that is stopped with a lock in its hand: look until some have. */
    for (; plays < samples || (waited < samples / 3 && plays < 10 * samples); plays++) {
        uint64_t holder = 1 + test_rand_below(&random, holder_all);
        /* Half of the time its call is over: then it holds no lock, and the others come to theirs. */
        uint64_t first =
            test_rand_below(&random, 2) != 0 ? STEPS_MAX : 1 + test_rand_below(&random, first_all);
        uint64_t second = 1 + test_rand_below(&random, holder_all);
        waited += play_stopped(scenario, &holder, &first, &second);
    }
    printf("%llu plays; in %llu of them a repair waited for the one that was stopped\n",
           (unsigned long long)plays, (unsigned long long)waited);
}

#define TWO(name, ...)                                         \
    TEST_TIMEOUT(name, 900)                                    \
    {                                                          \
        static const struct scenario scenario = {__VA_ARGS__}; \
        two_die(&scenario);                                    \
    }

#define STOPPED(name, ...)                                     \
    TEST_TIMEOUT(name, 900)                                    \
    {                                                          \
        static const struct scenario scenario = {__VA_ARGS__}; \
        one_is_stopped(&scenario);                             \
    }

/* The name says first what the first one does. */
TWO(enq_and_enq, .queued = 2, .prepare = one_region, .run = enq, .second = enq)
TWO(enq_and_deq, .queued = 2, .prepare = one_region, .run = enq, .second = deq)
TWO(enq_to_a_waiting_taker_and_deq, .waiters = "T", .prepare = one_region, .run = enq, .second = deq_pending)
TWO(enq_to_readers_and_takers_and_write, .waiters = "RTRT", .prepare = one_region, .run = enq_nofree,
    .second = write_it)
TWO(enq_beyond_the_ring_and_zap, .cells = 10, .queued = 8, .prepare = one_region, .run = enq, .second = zap)
TWO(enq_without_room_and_deq, .nrgns = 2, .queued = 2, .puts = 2, .prepare = one_region, .run = enq,
    .second = deq)
TWO(deq_and_enq_where_puts_wait, .nrgns = 2, .queued = 2, .puts = 2, .prepare = one_region, .run = deq,
    .second = enq)
TWO(deq_and_deq, .queued = 3, .prepare = one_region, .run = deq, .second = deq)
TWO(deq_that_waits_and_enq, .prepare = one_region, .run = deq_pending, .second = enq)
TWO(read_that_waits_and_write, .prepare = one_region, .run = read_pending, .second = write_it)
TWO(read_and_read_of_one_region, .queued = 1, .prepare = one_region, .run = drop_shared,
    .second = drop_shared)
TWO(write_over_three_and_deq, .queued = 3, .prepare = one_region, .run = write_it, .second = deq)
TWO(write_over_three_and_read, .queued = 3, .prepare = one_region, .run = write_it, .second = drop_shared)
TWO(zap_and_write, .queued = 4, .given_back = 2, .prepare = one_region, .run = zap, .second = write_it)
TWO(lock_and_lock, .queued = 1, .prepare = one_region, .run = lock_and_release, .second = lock_and_release)
TWO(lock_and_enq, .queued = 1, .prepare = one_region, .run = lock_and_release, .second = enq)
TWO(enqm_and_enqm, .queued = 1, .prepare = one_region, .run = enqm, .second = enqm)
TWO(enqm_without_room_and_zap, .nrgns = 2, .queued = 2, .prepare = one_region, .run = enqm, .second = zap)

/* The name says first what the first one has done or does, then what the one does that is stopped and the second that dies. */
STOPPED(a_waiting_deq_while_an_enq_is_stopped, .prepare = one_region, .run = deq_pending, .second = enq)
STOPPED(a_waiting_read_while_a_write_is_stopped, .waiters = "RT", .prepare = one_region, .run = read_pending,
        .second = write_it)
STOPPED(a_waiting_deq_while_another_is_stopped, .prepare = one_region, .run = deq_pending,
        .second = deq_pending)
STOPPED(lock_while_a_lock_is_stopped, .queued = 1, .prepare = one_region, .run = lock_and_keep,
        .second = lock_and_release)
