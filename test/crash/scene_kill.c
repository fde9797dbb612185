/* SPDX-License-Identifier: MIT */
/* Killing at every instruction.
 *
 * A scenario is stepped through once, and every place where the victim stood is written down. Then,
 * for each of them, the same scene is set again and the victim runs at full speed to a breakpoint
 * there. Setting and victim are deterministic, so it comes there the same way; with a contender it
 * may come another way, which is then the one that is tried. */
#include "scene_parts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcri/region.h"
#include "bcri/self.h"

enum {
    KILLS = 8, /* of a scenario, unless all instructions are tried */
    FULL_KILLS = 200,
    CONTENDED_KILLS = 30, /* of each path that was taken under contention */
    CONTENDED_PATHS = 20,
    TURNS = 4 /* of a loop: this many of its first, and of its last */
};

char scene_position[512];

static const char *volatile step_now = "";

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(3);
}

static void on_alarm(int signal)
{
    (void)signal;
    say("hangs while ");
    say(step_now);
    say(": ");
    say(scene_position);
    say("\n");
    _exit(1);
}

void scene_step(const char *step)
{
    step_now = step;
}

void scene_watch_begin(void)
{
    step_now = "the scene is set";
    alarm(SCENE_HANG_SECONDS);
}

void scene_watch_end(void)
{
    alarm(0);
}

uint64_t scene_stride(uint64_t count, uint64_t reduced, uint64_t full)
{
    const char *every = getenv("BCR_CRASH_EVERY");
    const uint64_t tried = test_scale(reduced, full);
    return every != NULL && *every != '\0' ? 1 : (count + tried - 1) / tried;
}

void scene_watch(void)
{
    signal(SIGALRM, on_alarm);
}

/* Where the victim stood after k instructions, k < count. */
struct path {
    struct stand {
        uintptr_t place;
        uint64_t before, after; /* how often it stood there before, and will afterwards */
        bool changed;           /* the last instruction has changed what the repair decides by */
    } * stand;
    uint64_t count, room;
    uint64_t helped_at; /* before this many instructions were done; 0: never */
    uintptr_t sleep;    /* where it went to sleep, or would have; 0: nowhere */
    bool ended;         /* it came to the end: what is after `count` instructions */
};

static void path_add(struct path *path, uintptr_t place)
{
    if (path->count != 0 && path->stand[path->count - 1].place == place)
        return; /* a turn of a repeated string instruction */
    if (path->count == path->room) {
        path->room = path->room != 0 ? 2 * path->room : 4096;
        path->stand = realloc(path->stand, (size_t)path->room * sizeof *path->stand);
        CHECK(path->stand != NULL);
    }
    path->stand[path->count++] = (struct stand){.place = place};
}

/* What the repair decides by: words of the victim's journal, the count of the region and the ID
 * that it names, the first cell's header with its two locks, its ends and its waiters, and how many
 * requests are counted at the cells that bear a mark. */
struct basis {
    uint32_t op, phase, cw_state, redo_state;
    uint64_t count, id;
    struct bcri_head_shm head;
    struct bcri_tail_shm tail;
    uint64_t requests;
};

static struct basis basis_of(const struct scene *scene)
{
    struct bcri_ctx *enl = group_enl(scene->group);
    const struct bcri_journal_shm *j = &bcri_record(enl, scene->victim_index)->journal;
    struct basis basis;
    memset(&basis, 0, sizeof basis);
    basis.op = bcri_load(&j->op);
    basis.phase = bcri_load(&j->phase);
    basis.cw_state = bcri_load(&j->cw_state);
    basis.redo_state = bcri_load(&j->redo_state);
    if (basis.op != 0) {
        const struct bcri_region_shm *region = bcri_at_stale(enl, bcri_load(&j->region));
        const struct bcri_slot_shm *slot = bcri_at_stale(enl, bcri_load(&j->slot));
        basis.count = region != NULL ? bcri_load(&region->count) : 0;
        basis.id = slot != NULL ? bcri_load(&slot->word) : 0;
    }
    memcpy(&basis.head, &scene->first->h, sizeof basis.head);
    memcpy(&basis.tail, &scene->first->t, sizeof basis.tail);
    for (int i = 0; i < scene->requests.count; i++)
        basis.requests += bcri_load(scene->requests.of[i].counter);
    return basis;
}

static void path_count(struct path *path)
{
    for (uint64_t k = 1; k < path->count; k++)
        for (uint64_t i = k; i-- > 0;)
            if (path->stand[i].place == path->stand[k].place) {
                path->stand[k].before = path->stand[i].before + 1;
                break;
            }
    for (uint64_t k = path->count; k-- > 0;)
        for (uint64_t i = k + 1; i < path->count; i++)
            if (path->stand[i].place == path->stand[k].place) {
                path->stand[k].after = path->stand[i].after + 1;
                break;
            }
}

static void help(struct scene *scene)
{
    scene->scenario->help(scene);
    bcri_self_set(NULL);
}

static enum trace_at record(struct scene *scene, struct path *path)
{
    const struct scenario *s = scene->scenario;
    enum trace_at at = TRACE_AT_INSTRUCTION;
    path->count = path->helped_at = 0;
    path->sleep = 0;
    path_add(path, trace_place(scene->victim));
    struct basis before = basis_of(scene);
    for (;;) {
        if (at == TRACE_AT_SLEEP)
            path->sleep = trace_place(scene->victim);
        if (s->help != NULL && path->helped_at == 0 && (at == s->help_at || at == TRACE_AT_SLEEP)) {
            path->helped_at = path->count - 1;
            help(scene);
        } else if (at == TRACE_AT_SLEEP && s->contender == NULL) {
            break; /* no CCE would wake it */
        }
        at = trace_step(scene->victim);
        if (at == TRACE_AT_END || at == TRACE_GONE)
            break;
        path_add(path, trace_place(scene->victim));
        const struct basis now = basis_of(scene);
        path->stand[path->count - 1].changed |= memcmp(&now, &before, sizeof now) != 0;
        before = now;
    }
    path->ended = at == TRACE_AT_END;
    return at;
}

/* How often it comes to the place of stand `k` after stand `from`, up to and with `k`. */
static uint64_t times(const struct path *path, uint64_t from, uint64_t k)
{
    uint64_t count = 0;
    for (uint64_t i = from + 1; i <= k; i++)
        count += path->stand[i].place == path->stand[k].place;
    return count;
}

/* How long a wait spins and yields is not the same each time: if it comes to sleep earlier than it
 * did when the path was recorded, it is helped, or killed, there. */
static enum trace_at replay(struct scene *scene, const struct path *path, uint64_t k)
{
    enum trace_at at = TRACE_AT_INSTRUCTION;
    uint64_t from = 0;
    if (path->helped_at != 0 && k > path->helped_at) {
        from = path->helped_at;
        at = trace_run(scene->victim, path->stand[from].place, times(path, 0, from), path->sleep);
        if (at == TRACE_AT_SLEEP)
            at = TRACE_AT_INSTRUCTION;
        if (at == TRACE_AT_INSTRUCTION)
            help(scene);
    }
    if (at == TRACE_AT_INSTRUCTION && k >= path->count)
        at = trace_run(scene->victim, 0, 1, 0);
    else if (at == TRACE_AT_INSTRUCTION && k > from)
        at = trace_run(scene->victim, path->stand[k].place, times(path, from, k), path->sleep);
    return at;
}

static void remember_position(struct scene *scene, uint64_t k)
{
    const struct bcri_journal_shm *j = &bcri_record(group_enl(scene->group), scene->victim_index)->journal;
    snprintf(
        scene_position, sizeof scene_position,
        "killed after instruction %llu (at %#lx; journal op %u phase %u, count state %u, %u stores of redo "
        "state %u)",
        (unsigned long long)k, trace_offset(trace_place(scene->victim)), bcri_load(&j->op),
        bcri_load(&j->phase), bcri_load(&j->cw_state), bcri_load(&j->redo_len), bcri_load(&j->redo_state));
}

static void compare(const struct scene *scene, const struct line *line, enum trace_at at, uint64_t k)
{
    const struct scenario *s = scene->scenario;
    if (s->contender != NULL)
        return;
    if (k == 0 && strcmp(line->text, s->before) != 0)
        FAIL("%s: saw \"%s\", wanted \"%s\" before", scene_position, line->text, s->before);
    if (at == TRACE_AT_END && strcmp(line->text, s->after) != 0)
        FAIL("%s: saw \"%s\", wanted \"%s\" after", scene_position, line->text, s->after);
    if (!scene_allows(s, line->text))
        FAIL("%s: saw \"%s\", wanted \"%s\" or \"%s\"%s%s", scene_position, line->text, s->before, s->after,
             s->also != NULL ? " or one of " : "", s->also != NULL ? s->also : "");
}

struct tally {
    uint64_t kills, open, elsewhere;
};

/* One scene. `k` UINT64_MAX: the path is recorded, to the end. */
static void play(const struct scenario *scenario, struct path *path, uint64_t k, struct tally *tally)
{
    struct scene scene = {.scenario = scenario};
    pid_t contender = 0;
    uint32_t contender_index = 0;
    if (k == UINT64_MAX)
        snprintf(scene_position, sizeof scene_position, "before the first kill");
    else
        snprintf(scene_position, sizeof scene_position, "to be killed after instruction %llu",
                 (unsigned long long)k);
    scene_watch_begin();
    scene.shared =
        mmap(NULL, sizeof *scene.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene.shared != MAP_FAILED);
    scene_open(&scene);
    if (scenario->contender != NULL)
        contender = scene_contend(&scene, &contender_index);
    scene_step("the victim runs");
    enum trace_at at = k == UINT64_MAX ? record(&scene, path) : replay(&scene, path, k);
    if (at == TRACE_GONE)
        FAIL("%s: the victim ended by itself", scene_position);
    remember_position(&scene, k == UINT64_MAX ? path->count : k);
    trace_kill(scene.victim);
    tally->kills++;
    tally->elsewhere += at == TRACE_AT_END && k < path->count;
    tally->open += bcri_load(&bcri_record(group_enl(scene.group), scene.victim_index)->journal.op) != 0;
    scene_step("the victim is buried");
    group_bury(scene.group, scene.victim, scene.victim_index);
    scene_step("the contender ends");
    if (contender != 0) {
        bcri_store(&scene.shared->stop, 1);
        CHECK_INT(group_bury(scene.group, contender, contender_index), 0);
    }
    struct line line = {.length = 0};
    scene_step("the sleeper is woken");
    if (scene.sleeper != NULL)
        scene_wake_up(&scene, &line); /* first: it may be on its way already, and the audit wants silence */
    scene_step("the memory is audited");
    scene_audit(&scene, "after the burial");
    scene_step("the survivors look");
    scene_see(&scene, &line);
    compare(&scene, &line, at, k);
    scene_audit(&scene, "after the survivors have looked");
    scene_step("the survivors go on");
    scene_end(&scene);
    scene_watch_end();
}

static void play_alone(const struct scenario *scenario, struct path *path, uint64_t *random,
                       struct tally *tally)
{
    play(scenario, path, UINT64_MAX, tally);
    path_count(path);
    uint64_t last = path->ended ? path->count : path->count - 1;
    uint64_t *wanted = calloc((size_t)last + 1, sizeof *wanted), count = 0;
    CHECK(wanted != NULL);
    for (uint64_t k = 0; k <= last; k++)
        if (k == path->count || path->stand[k].before < TURNS || path->stand[k].after < TURNS)
            wanted[count++] = k;
    const uint64_t stride = scene_stride(count, KILLS, FULL_KILLS);
    uint64_t next = 0, changes = 0;
    for (uint64_t i = 0; i < count; i++) {
        const bool changed = wanted[i] < path->count && path->stand[wanted[i]].changed;
        changes += changed;
        if (i == next || changed)
            play(scenario, path, wanted[i], tally);
        if (i == next)
            next += 1 + test_rand_below(random, 2 * stride - 1);
    }
    printf("one place in %llu, and %llu at which that has changed which the repair decides by\n",
           (unsigned long long)stride, (unsigned long long)changes);
    free(wanted);
}

static void play_contended(const struct scenario *scenario, struct path *path, uint64_t *random,
                           struct tally *tally)
{
    for (uint64_t i = 0; i < test_scale(1, CONTENDED_PATHS); i++) {
        play(scenario, path, UINT64_MAX, tally);
        for (int kill = 0; kill < CONTENDED_KILLS; kill++)
            play(scenario, path, test_rand_below(random, path->count + 1), tally);
    }
}

void scene_test(const struct scenario *scenario)
{
    uint64_t random = test_seed();
    const char *only = getenv("BCR_CRASH_INSTRUCTION");
    struct path path = {.count = 0};
    struct tally tally = {.kills = 0};
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    scene_watch();
    scene_share_cpu();
    if (only != NULL) {
        play(scenario, &path, UINT64_MAX, &tally);
        play(scenario, &path, strtoull(only, NULL, 0), &tally);
    } else if (scenario->contender != NULL) {
        play_contended(scenario, &path, &random, &tally);
    } else {
        play_alone(scenario, &path, &random, &tally);
    }
    printf("%llu instructions; %llu kills, %llu with an open journal, %llu by another way\n",
           (unsigned long long)path.count, (unsigned long long)tally.kills, (unsigned long long)tally.open,
           (unsigned long long)tally.elsewhere);
    free(path.stand);
}
