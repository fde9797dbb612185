/* SPDX-License-Identifier: MIT */
/* See two.h. */
#include "two.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/repair.h"

enum { SAMPLES = 3, MARKED_SAMPLES = 2, FULL_SAMPLES = 12, STEPS_MAX = 1 << 20 };

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

static void reap(pid_t pid)
{
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
}

static void bury_both(struct scene *scene, const struct scene_second *second, enum order order)
{
    struct bcri_host *host = group_host(scene->group);
    trace_kill(scene->victim);
    reap(scene->victim);
    if (order == DURING_THE_REPAIR) {
        /* It ends, or is parked on what the second holds. */
        bcri_cce_dying(host, scene->victim_index);
        (void)bcri_cce_repair(group_enl(scene->group), scene->victim_index);
    }
    trace_kill(second->pid);
    reap(second->pid);
    if (order != DURING_THE_REPAIR)
        bcri_cce_dying(host, scene->victim_index);
    bcri_cce_dying(host, second->index);
    if (order == SECOND_THEN_FIRST)
        group_repair_both(scene->group, second->index, scene->victim_index);
    else
        group_repair_both(scene->group, scene->victim_index, second->index);
}

/* A call that has no time does not wait for one who is stopped, as those are that a tracer steps.
 * Mostly it shall: then no CCE can see it. */
static void hide_that_it_is_stopped(struct scene *scene, uint32_t index)
{
    static unsigned plays;
    if (plays++ % 4 != 0)
        bcri_store(&bcri_host_record(group_host(scene->group), index)->id.pid, 0);
}

/* How many numbers there are behind the colon of a line, or how many of `only`. */
static int count_regions(const char *line, int only)
{
    char text[SCENE_LINE];
    int count = 0;
    strcpy(text, strchr(line, ':') + 1);
    for (char *at = NULL, *word = strtok_r(text, " ", &at); word != NULL; word = strtok_r(NULL, " ", &at))
        count += strspn(word, "0123456789") == strlen(word) && (only == 0 || atoi(word) == only);
    return count;
}

static void look(struct scene *scene)
{
    const struct scenario *s = scene->scenario;
    struct line line = {.length = 0};
    int requested = 0;
    scene_audit(scene, "after the burials");
    scene_see(scene, &line);
    if (s->sum == SCENE_ANY)
        return;
    CHECK_INT(sscanf(line.text, "s=%d ", &requested), 1);
    if (requested != (s->sum == SCENE_PUTS_REQUEST ? count_regions(line.text, SCENE_VICTIMS_PUT)
                                                   : s->queued - count_regions(line.text, 0)))
        FAIL("%s: saw \"%s\"", scene_position, line.text);
}

/* One pair of deaths. `first`, `second`: how many instructions each has done; UINT64_MAX: all. They
 * come back as what was possible. */
static void play(const struct scenario *scenario, uint64_t *first, uint64_t *second_steps, enum order order)
{
    struct scene scene = {.scenario = scenario};
    struct scene_second second;
    bool ended;
    snprintf(scene_position, sizeof scene_position, "first after %llu, second after %llu, order %d",
             (unsigned long long)*first, (unsigned long long)*second_steps, order);
    scene_watch_begin();
    scene.shared =
        mmap(NULL, sizeof *scene.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene.shared != MAP_FAILED);
    scene_open(&scene);
    scene_open_second(&scene, &second);
    hide_that_it_is_stopped(&scene, scene.victim_index);
    scene_step("the two run");
    *first = steps(scene.victim, *first, &ended);
    *second_steps = steps(second.pid, *second_steps, &ended);
    scene_step("the two are buried");
    bury_both(&scene, &second, order);
    scene_step("the survivors look");
    look(&scene);
    scene_step("the survivors go on");
    scene_end(&scene);
    scene_watch_end();
}

/* Repairs both, as enl's worker does, while the one that was stopped goes on. */
struct repairs {
    struct group *group;
    uint32_t first, second;
};

static void *repairs_both(void *arg)
{
    const struct repairs *repairs = arg;
    group_repair_both(repairs->group, repairs->first, repairs->second);
    return NULL;
}

/* `holder`: how many instructions the one that lives has done when it is stopped. Returns whether a
 * repair waited for it. */
static bool play_stopped(const struct scenario *scenario, uint64_t *holder, uint64_t *first, uint64_t *second)
{
    struct scene scene = {.scenario = scenario};
    struct scene_second stopped, other;
    bool ended;
    pthread_t thread;
    snprintf(scene_position, sizeof scene_position, "stopped after %llu, first after %llu, second after %llu",
             (unsigned long long)*holder, (unsigned long long)*first, (unsigned long long)*second);
    scene_watch_begin();
    scene.shared =
        mmap(NULL, sizeof *scene.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene.shared != MAP_FAILED);
    scene_open(&scene);
    scene_open_second(&scene, &stopped);
    scene_open_second(&scene, &other);
    hide_that_it_is_stopped(&scene, stopped.index);
    scene_step("the three run");
    *first = steps(scene.victim, *first, &ended);
    *holder = steps(stopped.pid, *holder, &ended);
    const bool at_end = ended;
    *second = steps(other.pid, *second, &ended);

    struct bcri_host *host = group_host(scene.group);
    struct bcri_ctx *enl = group_enl(scene.group);
    struct repairs repairs = {scene.group, scene.victim_index, other.index};
    scene_step("the first is buried");
    trace_kill(scene.victim);
    reap(scene.victim);
    bcri_cce_dying(host, scene.victim_index);
    const bool waited =
        !bcri_cce_repair(enl, scene.victim_index) && enl->daemon.parked == BCRI_TAG(stopped.index);
    trace_kill(other.pid);
    reap(other.pid);
    bcri_cce_dying(host, other.index);
    CHECK_INT(pthread_create(&thread, NULL, repairs_both, &repairs), 0);
    scene_step("the one that was stopped goes on, and both repairs end");
    if (!at_end && trace_run(stopped.pid, 0, 1, 0) != TRACE_AT_END)
        FAIL("%s: who was stopped has not come to its end", scene_position);
    CHECK_INT(pthread_join(thread, NULL), 0);
    trace_kill(stopped.pid);
    reap(stopped.pid);
    bcri_cce_dying(host, stopped.index);
    group_repair(scene.group, stopped.index);

    scene_step("the survivors look");
    look(&scene);
    scene_step("the survivors go on");
    scene_end(&scene);
    scene_watch_end();
    return waited;
}

void two_die(const struct scenario *scenario)
{
    uint64_t random = test_seed(), kills = 0, waited = 0;
    uint64_t samples = test_scale(scenario->marked ? MARKED_SAMPLES : SAMPLES, FULL_SAMPLES);
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    scene_watch();
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

void two_one_is_stopped(const struct scenario *scenario)
{
    uint64_t random = test_seed(), plays = 0, waited = 0;
    uint64_t samples = test_scale(6, 200);
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    scene_watch();
    scene_share_cpu();
    uint64_t holder_all = STEPS_MAX, first_all = STEPS_MAX, none = 0;
    play_stopped(scenario, &holder_all, &none, &none);
    play_stopped(scenario, &none, &first_all, &none);
    /* A repair waits only for one that is stopped with a lock in its hand: look until some have. */
    for (; plays < samples || (waited < samples / 3 && plays < 10 * samples); plays++) {
        uint64_t holder = 1 + test_rand_below(&random, holder_all);
        /* Half of the time its call is over: then it holds no lock, and the others come to
         * theirs. */
        uint64_t first =
            test_rand_below(&random, 2) != 0 ? STEPS_MAX : 1 + test_rand_below(&random, first_all);
        uint64_t second = 1 + test_rand_below(&random, holder_all);
        waited += play_stopped(scenario, &holder, &first, &second);
    }
    printf("%llu plays; in %llu of them a repair waited for the one that was stopped\n",
           (unsigned long long)plays, (unsigned long long)waited);
}
