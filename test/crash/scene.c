/* SPDX-License-Identifier: MIT */
/* See scene.h. */
#include "scene.h"

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcri/audit.h"
#include "bcri/flow.h"
#include "bcri/repair.h"
#include "bcri/segment.h"
#include "bcri/self.h"

enum {
    NRGNS = 40,
    BLOCKS = 48,       /* of the least size, in each survivor's heap */
    BLOCK_BYTES = 64,  /* what one is charged */
    HANG_SECONDS = 60, /* per kill */
    KILLS = 40,        /* per scenario, unless all instructions are tried */
    YIELDS_KEPT = 3    /* of the hundreds before a sleep */
};

struct scene_shared {
    _Atomic uint32_t stop;
};

/* Where a hang happened; read by the alarm. */
static char position[512];

static void on_alarm(int signal)
{
    static const char text[] = "hangs: ";
    (void)signal;
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0 ||
        write(STDOUT_FILENO, position, strlen(position)) < 0)
        _exit(3);
    _exit(1);
}

void as_owner(struct scene *scene)
{
    bcri_self_set(scene->owner);
    scene->home = scene->owner_home;
}

void as_peer(struct scene *scene)
{
    bcri_self_set(scene->peer);
    scene->home = scene->peer_home;
}

void **large(int value, int length_bytes)
{
    void **rgid = bcr_rgalloc(length_bytes, 0);
    CHECK(rgid != NULL);
    memcpy(*rgid, &value, sizeof value);
    return rgid;
}

void **number(int value)
{
    return large(value, (int)sizeof value);
}

static int peek(void **rgid)
{
    int value;
    memcpy(&value, *rgid, sizeof value);
    return value;
}

int value_of(void **rgid)
{
    int value = peek(rgid);
    CHECK_INT(bcr_rgfree(rgid), 0);
    return value;
}

/* ---- before ---- */

static struct bcri_slot_shm *waiting_put(struct scene *scene, int value)
{
    struct bcri_place *place;
    struct bcri_slot_shm *request;
    void **rgid = number(value);
    CHECK_INT(bcri_place_find(scene->peer, scene->home, scene->cell, &place), 0);
    CHECK_INT(bcri_putwait_begin(scene->peer, false,
                                 bcri_slot_region(bcri_load(&((struct bcri_slot_shm *)(void *)rgid)->word)),
                                 place, &request),
              BCRI_WAITS);
    CHECK_INT(bcr_rgfree(rgid), 0);
    return request;
}

static void give_back(struct scene *scene, int value)
{
    /* As a write lock that finds no memory for its copy. */
    CHECK_INT(bcr_enq(number(value), scene->home, scene->cell, bcr_FREE), 0);
    void **rgid = bcr_deq(scene->home, scene->cell, 0);
    struct bcri_place *place;
    CHECK_INT(bcri_place_find(scene->peer, scene->home, scene->cell, &place), 0);
    bcri_store(&((struct bcri_slot_shm *)(void *)rgid)->cell, place->ref);
    scene->id[0] = rgid;
}

static void die_with_lock(struct scene *scene)
{
    as_owner(scene);
    CHECK_INT(bcr_enq(number(1), scene->home, scene->cell, bcr_FREE), 0);
    struct bcri_ctx *holder = group_join(scene->group);
    bcri_self_set(holder);
    CHECK(bcr_acqwl(group_name(holder, scene->home_index), scene->cell, 0) != NULL);
    bcri_self_set(NULL);
    group_leave(scene->group, holder);
}

static int grow_cells(const struct scenario *s)
{
    int nrgns = s->nrgns == 0 ? NRGNS : s->nrgns < 0 ? 0 : s->nrgns;
    int base = bcr_cagrow(0, 0, 0, 0, s->cells != 0 ? s->cells : 2, nrgns, s->own ? 1 << 20 : 0);
    CHECK(base > 0);
    return base;
}

static void fill(struct scene *scene)
{
    const struct scenario *s = scene->scenario;
    if (s->ownerdead)
        die_with_lock(scene);
    as_peer(scene);
    /* Given back in the end, but taken first: the youngest is given back first. */
    void **taken[SCENE_IDS];
    for (int i = 0; i < s->given_back; i++) {
        give_back(scene, 61 + i);
        taken[i] = scene->id[0];
    }
    for (int i = 1; i <= s->queued; i++) {
        if (i % 2 != 0)
            as_owner(scene);
        else
            as_peer(scene);
        CHECK_INT(bcr_enq(number(i), scene->home, scene->cell, bcr_FREE), 0);
    }
    as_peer(scene);
    for (int i = s->given_back; i-- > 0;)
        bcri_request_give_back(scene->peer, (struct bcri_slot_shm *)(void *)taken[i]);
    for (const char *w = s->waiters; w != NULL && *w != '\0'; w++) {
        void **id = *w == 'L' ? bcr_acqwl(scene->home, scene->cell, bcr_PENDING)
                              : bcr_get(*w == 'T', scene->home, scene->cell, bcr_PENDING);
        CHECK(id != NULL);
        scene->waiter[scene->waiters++] = id;
    }
    for (int i = 0; i < s->puts; i++)
        scene->put[scene->puts++] = waiting_put(scene, 51 + i);
}

/* So that the operation's own instructions are not lost among those that ask for segments and make tables. */
static void map_all(struct bcri_ctx *ctx, const struct scene *scene)
{
    for (uint32_t seg = 0; seg < bcri_load_acquire(&ctx->host->segment_count); seg++)
        CHECK(bcri_segment_map(ctx, seg) != NULL);
    CHECK(bcr_celllen(scene->home, scene->cell) >= 0 && bcr_celllen(scene->home, scene->cell2) >= 0);
}

static int body(struct bcri_ctx *ctx, void *arg)
{
    struct scene *scene = arg;
    ctx->cpus = 1; /* it sleeps early: every turn of spinning is stepped through */
    if (scene->scenario->own) {
        scene->home = bcr_cce;
        scene->cell = grow_cells(scene->scenario);
    } else {
        scene->home = group_name(ctx, scene->home_index);
        CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 20) > 0);
    }
    scene->cell2 = scene->cell + 1;
    if (scene->scenario->prepare != NULL)
        scene->scenario->prepare(scene);
    if (!scene->scenario->cold)
        map_all(ctx, scene);
    trace_begin();
    bool good = scene->scenario->run(scene);
    if (!good) {
        printf("run failed: %s\n", bcr_strerror(bcr_errno));
        fflush(stdout);
        _exit(9);
    }
    trace_end();
    _exit(0);
}

/* Tracer and victim take turns: on one processor that is several times faster than waking each other across two. The
 * other processors are for the contender. */
static cpu_set_t all_cpus, other_cpus;

static void share_a_cpu(void)
{
    cpu_set_t mine;
    CHECK_INT(sched_getaffinity(0, sizeof all_cpus, &all_cpus), 0);
    size_t cpu = (size_t)sched_getcpu();
    CPU_ZERO(&mine);
    CPU_SET(cpu, &mine);
    other_cpus = all_cpus;
    if (CPU_COUNT(&all_cpus) > 1)
        CPU_CLR(cpu, &other_cpus);
    CHECK_INT(sched_setaffinity(0, sizeof mine, &mine), 0);
}

static int contender(struct bcri_ctx *ctx, void *arg)
{
    struct scene *scene = arg;
    CHECK_INT(sched_setaffinity(0, sizeof other_cpus, &other_cpus), 0);
    ctx->cpus = CPU_COUNT(&all_cpus);
    scene->home = group_name(ctx, scene->home_index);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 65536) > 0);
    CHECK_INT(bcr_putwait(0), 0);
    while (bcri_load(&scene->shared->stop) == 0)
        scene->scenario->contender(scene);
    return 0;
}

static struct bcri_ctx *survivor(struct group *group)
{
    struct bcri_ctx *ctx = group_join(group);
    bcri_self_set(ctx);
    ctx->cpus = 1;
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, BLOCKS * BLOCK_BYTES) > 0);
    CHECK_INT(bcr_putwait(0), 0);
    return ctx;
}

static void open_scene(struct scene *scene)
{
    const struct scenario *s = scene->scenario;
    scene->group = group_open();
    scene->owner = survivor(scene->group);
    scene->peer = survivor(scene->group);
    scene->owner_index = scene->owner->index;
    scene->peer_index = scene->peer->index;
    if (!s->own) {
        scene->home_index = scene->owner->index;
        bcri_self_set(scene->owner);
        scene->owner_home = bcr_cce;
        scene->peer_home = group_name(scene->peer, scene->home_index);
        scene->cell = grow_cells(s);
        fill(scene);
    }
    bcri_self_set(NULL);
    scene->victim = group_fork(scene->group, body, scene, &scene->victim_index);
    if (!trace_attach(scene->victim))
        FAIL("the victim ended while it prepared");
    if (s->own) {
        scene->home_index = scene->victim_index;
        scene->cell = 1;
        scene->owner_home = group_name(scene->owner, scene->home_index);
        scene->peer_home = group_name(scene->peer, scene->home_index);
        fill(scene);
    }
    scene->cell2 = scene->cell + 1;
    if (s->arrange != NULL) {
        as_owner(scene);
        s->arrange(scene);
    }
}

/* ---- after ---- */

struct line {
    char text[SCENE_LINE];
    size_t length;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->text + line->length, sizeof line->text - line->length, format, args);
    va_end(args);
    line->length += (size_t)n;
    CHECK(line->length < sizeof line->text);
}

static const char *code_name(int code)
{
    switch (code) {
    case bcrE_DEAD: return "DEAD";
    case bcrE_OWNERDEAD: return "OWNERDEAD";
    case bcrE_NOCELL: return "NOCELL";
    case bcrE_FULL: return "FULL";
    case bcrE_TIMEOUT: return "TIMEOUT";
    default: return bcr_strerror(code);
    }
}

static void see_waiters(struct scene *scene, struct line *line)
{
    as_peer(scene);
    for (int i = 0; i < scene->waiters; i++) {
        int ready = bcr_rgwait(scene->waiter[i], 0, 1);
        add(line, "%c=", scene->scenario->waiters[i]);
        if (ready == 1)
            add(line, "%d ", value_of(scene->waiter[i]));
        else
            add(line, "%s ", ready == 0 ? "-" : code_name(bcr_errno));
    }
}

static void see_puts(struct scene *scene, struct line *line)
{
    for (int i = 0; i < scene->puts; i++) {
        enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&scene->put[i]->word));
        if (state == BCRI_SLOT_FAILED)
            add(line, "P=%s ", code_name((int)bcri_load(&scene->put[i]->given)));
        else
            add(line, "P=%s ", state == BCRI_SLOT_PUTDONE ? "in" : "-");
    }
}

static void see_cell(struct scene *scene, struct line *line, int cell)
{
    void **rgid;
    as_owner(scene);
    while ((rgid = bcr_deq(scene->home, cell, 0)) != NULL)
        add(line, " %d", value_of(rgid));
    if (bcr_errno != bcrE_TIMEOUT)
        add(line, " %s", code_name(bcr_errno));
}

static void end_puts(struct scene *scene)
{
    as_peer(scene);
    for (int i = 0; i < scene->puts; i++)
        (void)bcri_putwait_end(scene->peer, scene->put[i], 0);
}

static void see(struct scene *scene, struct line *line)
{
    see_waiters(scene, line);
    see_puts(scene, line);
    add(line, ":");
    see_cell(scene, line, scene->cell);
    struct line second = {.length = 0};
    see_cell(scene, &second, scene->cell2);
    if (second.length != 0 && !scene->scenario->own)
        add(line, " ;%s", second.text);
    end_puts(scene);
}

/* The survivors still put and get. */
static void go_on(struct scene *scene)
{
    if (scene->scenario->own)
        return;
    for (int cell = scene->cell; cell <= scene->cell2; cell++) {
        as_peer(scene);
        void **early = bcr_deq(scene->home, cell, bcr_PENDING);
        if (early == NULL && bcr_errno != bcrE_OWNERDEAD)
            FAIL("%s: a get afterwards: %s", position, bcr_strerror(bcr_errno));
        as_owner(scene);
        CHECK_INT(bcr_enq(number(7), scene->home, cell, bcr_FREE), 0);
        as_peer(scene);
        if (early != NULL)
            CHECK_INT(bcr_rgwait(early, 0, 0), 1);
        CHECK_INT(value_of(early != NULL ? early : bcr_deq(scene->home, cell, 0)), 7);
        if (scene->scenario->nrgns < 0)
            continue;
        CHECK_INT(bcr_write(number(8), scene->home, cell, bcr_FREE), 0);
        void **read = bcr_read(scene->home, cell, 0);
        CHECK(read != NULL);
        CHECK_INT(value_of(read), 8);
        as_owner(scene);
        CHECK_INT(value_of(bcr_deq(scene->home, cell, 0)), 8);
        CHECK_INT(bcr_zap(scene->home, cell), 0);
    }
}

/* Each block of a survivor's heap is free again. */
static void all_memory_is_home(struct bcri_ctx *ctx)
{
    void **rgid[BLOCKS + 1];
    int count = 0;
    bcri_self_set(ctx);
    while (count <= BLOCKS && (rgid[count] = bcr_rgalloc(8, 0)) != NULL)
        count++;
    if (count != BLOCKS)
        FAIL("%s: CCE %u can have %d of its %d blocks", position, ctx->index, count, BLOCKS);
    while (count > 0)
        CHECK_INT(bcr_rgfree(rgid[--count]), 0);
}

static void print_finding(void *arg, const char *sentence)
{
    (void)arg;
    printf("audit: %s\n", sentence);
}

static struct bcri_audit audit(struct scene *scene, const char *when)
{
    struct bcri_audit result = {.found = print_finding};
    CHECK_INT(bcri_audit(group_enl(scene->group), &result), 0);
    if (result.findings != 0)
        FAIL("%s: %llu findings %s", position, (unsigned long long)result.findings, when);
    return result;
}

static bool allowed(const struct scenario *s, const char *line)
{
    if (strcmp(line, s->before) == 0 || strcmp(line, s->after) == 0)
        return true;
    for (const char *at = s->also; at != NULL; at = strchr(at, '|') != NULL ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, line, strlen(line)) == 0 && (at[strlen(line)] == '|' || at[strlen(line)] == '\0'))
            return true;
    return false;
}

/* ---- one kill ---- */

struct walk {
    uint64_t steps, helped_at;
    unsigned yields; /* before it was helped, fell asleep or was done */
    enum trace_at at;
};

/* Steps until `most` instructions are done or the run has ended. A wait yields hundreds of times before it sleeps: `pass`
 * of these are let go by, uncounted. */
static struct walk step_through(struct scene *scene, uint64_t most, unsigned pass)
{
    const struct scenario *s = scene->scenario;
    struct walk walk = {.at = TRACE_AT_INSTRUCTION};
    bool helped = s->help == NULL;
    while (walk.steps < most) {
        if (walk.at == TRACE_AT_YIELD && walk.helped_at == 0) {
            walk.yields++;
            if (pass != 0 && (helped || s->help_at != TRACE_AT_YIELD)) {
                trace_pass_yields(scene->victim, pass);
                pass = 0;
            }
        }
        if (!helped && (walk.at == s->help_at || walk.at == TRACE_AT_SLEEP)) {
            s->help(scene);
            bcri_self_set(NULL);
            helped = true;
            walk.helped_at = walk.steps;
        } else if (walk.at == TRACE_AT_SLEEP && s->contender == NULL) {
            break; /* nobody would wake it */
        }
        walk.at = trace_step(scene->victim);
        if (walk.at == TRACE_AT_END || walk.at == TRACE_GONE)
            break;
        walk.steps++;
    }
    return walk;
}

static void remember_position(struct scene *scene, uint64_t k)
{
    const struct bcri_journal_shm *j = &bcri_record(group_enl(scene->group), scene->victim_index)->journal;
    snprintf(
        position, sizeof position,
        "killed after instruction %llu (at %#lx; journal op %u phase %u, count state %u, %u stores of redo "
        "state %u)\n",
        (unsigned long long)k, trace_address(scene->victim), bcri_load(&j->op), bcri_load(&j->phase),
        bcri_load(&j->cw_state), bcri_load(&j->redo_len), bcri_load(&j->redo_state));
}

static void compare(struct scene *scene, const struct walk *walk, uint64_t k)
{
    const struct scenario *s = scene->scenario;
    struct line line = {.length = 0};
    see(scene, &line);
    if (s->contender != NULL)
        return;
    if (k == 0 && strcmp(line.text, s->before) != 0)
        FAIL("%s: saw \"%s\", wanted \"%s\" before", position, line.text, s->before);
    if (walk->at == TRACE_AT_END && strcmp(line.text, s->after) != 0)
        FAIL("%s: saw \"%s\", wanted \"%s\" after", position, line.text, s->after);
    if (!allowed(s, line.text))
        FAIL("%s: saw \"%s\", wanted \"%s\" or \"%s\"%s%s", position, line.text, s->before, s->after,
             s->also != NULL ? " or one of " : "", s->also != NULL ? s->also : "");
}

static struct walk kill_after(const struct scenario *scenario, uint64_t k, unsigned pass, bool *open_out)
{
    struct scene scene = {.scenario = scenario};
    pid_t contending = 0;
    uint32_t contender_index = 0;
    snprintf(position, sizeof position, "before instruction %llu\n", (unsigned long long)k);
    alarm(HANG_SECONDS);
    scene.shared =
        mmap(NULL, sizeof *scene.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene.shared != MAP_FAILED);
    open_scene(&scene);
    if (scenario->contender != NULL)
        contending = group_fork(scene.group, contender, &scene, &contender_index);
    struct walk walk = step_through(&scene, k, pass);
    if (walk.at == TRACE_GONE)
        FAIL("the victim ended by itself after %llu instructions", (unsigned long long)walk.steps);
    remember_position(&scene, walk.steps);
    trace_kill(scene.victim);
    *open_out = bcri_load(&bcri_record(group_enl(scene.group), scene.victim_index)->journal.op) != 0;
    group_bury(scene.group, scene.victim, scene.victim_index);
    if (contending != 0) {
        bcri_store(&scene.shared->stop, 1);
        CHECK_INT(group_bury(scene.group, contending, contender_index), 0);
    }
    audit(&scene, "after the burial");
    compare(&scene, &walk, k);
    audit(&scene, "after the survivors have looked");
    go_on(&scene);
    all_memory_is_home(scene.owner);
    all_memory_is_home(scene.peer);
    CHECK_UINT(audit(&scene, "in the end").regions, 0);
    bcri_self_set(NULL);
    group_leave(scene.group, scene.owner);
    group_leave(scene.group, scene.peer);
    group_close(scene.group);
    munmap(scene.shared, sizeof *scene.shared);
    alarm(0);
    return walk;
}

void scene_test(const struct scenario *scenario)
{
    uint64_t random = test_seed();
    const char *only = getenv("BCR_CRASH_STEP");
    bool open = false, full = test_scale(0, 1) != 0;
    uint64_t kills = 0, opens = 0;
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    signal(SIGALRM, on_alarm);
    share_a_cpu();
    if (only != NULL) {
        kill_after(scenario, strtoull(only, NULL, 0), 0, &open);
        return;
    }
    unsigned pass = 0;
    struct walk whole = kill_after(scenario, UINT64_MAX, 0, &open);
    if (whole.yields > YIELDS_KEPT) {
        pass = whole.yields - YIELDS_KEPT;
        whole = kill_after(scenario, UINT64_MAX, pass, &open);
    }
    uint64_t last = scenario->contender != NULL ? whole.steps + whole.steps / 2 : whole.steps;
    uint64_t stride = full && scenario->contender == NULL ? 1 : (last + KILLS - 1) / KILLS;
    for (uint64_t k = 0; k <= last; kills++) {
        opens += (kill_after(scenario, k, pass, &open), open);
        k += stride > 1 ? 1 + test_rand_below(&random, 2 * stride - 1) : 1;
    }
    printf("%llu instructions, killed after %llu of them, journal open %llu times\n",
           (unsigned long long)whole.steps, (unsigned long long)kills, (unsigned long long)opens);
}
