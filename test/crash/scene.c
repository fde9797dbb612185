/* SPDX-License-Identifier: MIT */
/* Setting a scene: who is there, what lies in the cells, who waits; and forking the victim. */
#include "scene_parts.h"

#include <bcr/program.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/clock.h"
#include "bcri/give_back.h"
#include "bcri/lookup.h"
#include "bcri/private.h"
#include "bcri/put_waiters.h"
#include "bcri/segment.h"
#include "bcri/self.h"
#include "bcri/waiters.h"
#include "bcri/wakefd.h"
#include "bcri/watermark.h"

enum { NRGNS = 40 };

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

bcr_region large(int value, int length_bytes)
{
    bcr_region rgid = bcr_rgalloc(length_bytes, 0);
    CHECK(rgid != NULL);
    memcpy(*rgid, &value, sizeof value);
    return rgid;
}

bcr_region number(int value)
{
    return large(value, (int)sizeof value);
}

static struct bcri_slot_shm *waiting_put(struct scene *scene, int value)
{
    struct bcri_resolved *resolved;
    struct bcri_slot_shm *request;
    bcr_region rgid = number(value);
    CHECK_INT(bcri_resolved_find(scene->peer, scene->home, scene->cell, &resolved), 0);
    CHECK_INT(bcri_putwait_begin(scene->peer, false, group_region(scene->peer, rgid), resolved, &request,
                                 BCRI_DEADLINE_NEVER)
                  .outcome,
              BCRI_DONE);
    CHECK_INT(bcr_rgfree(rgid), 0);
    return request;
}

static void give_back(struct scene *scene, int value)
{
    /* As a write lock that finds no memory for its copy. */
    CHECK_INT(bcr_enq(number(value), scene->home, scene->cell, bcr_FREE), 0);
    bcr_region rgid = bcr_deq(scene->home, scene->cell, 0);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(scene->peer, scene->home, scene->cell, &resolved), 0);
    struct bcri_slot_shm *slot = group_slot(scene->peer, rgid);
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->prev, resolved->open);
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

void scene_mark(struct bcri_ctx *owner, struct scene *scene)
{
    const struct scenario *s = scene->scenario;
    if (!s->marked)
        return;
    for (int cell = scene->cell; cell <= scene->cell + 1; cell++)
        requests_watch(&scene->requests, owner, cell);
    CHECK_INT(bcri_watermark_set(owner, scene->cell, 0), 0);
    for (int i = 0; i < s->requests; i++)
        CHECK(bcr_deq(scene->home, scene->cell, 0) == NULL);
    for (int cell = scene->cell; cell <= scene->cell + 1; cell++)
        CHECK_INT(bcri_watermark_set(owner, cell, s->mark), 0);
}

static void fill(struct scene *scene)
{
    const struct scenario *s = scene->scenario;
    if (s->ownerdead)
        die_with_lock(scene);
    as_peer(scene);
    /* Given back in the end, but taken first: the youngest is given back first. */
    bcr_region taken[SCENE_IDS];
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
        bcri_request_give_back(scene->peer, group_slot(scene->peer, taken[i]));
    if (s->sleeper != 0)
        scene_fall_asleep(scene);
    as_peer(scene);
    for (const char *w = s->waiters; w != NULL && *w != '\0'; w++) {
        bcr_region id = *w == 'L' ? bcr_acqwl(scene->home, scene->cell, bcr_PENDING)
                                  : bcr_get(*w == 'T', scene->home, scene->cell, bcr_PENDING);
        CHECK(id != NULL);
        scene->waiter[scene->waiters++] = id;
    }
    for (int i = 0; i < s->puts; i++)
        scene->put[scene->puts++] = waiting_put(scene, 51 + i);
}

/* So that the operation's own instructions are not lost among those that ask for segments and make
 * tables. */
static void map_all(struct bcri_ctx *ctx, const struct scene *scene)
{
    for (uint32_t seg = 0; seg < bcri_load_acquire(&ctx->host->segment_count); seg++)
        CHECK(bcri_segment_map(ctx, seg) != NULL);
    CHECK(bcr_celllen(scene->home, scene->cell) >= 0 && bcr_celllen(scene->home, scene->cell2) >= 0);
}

/* Private memory, too, has to go the same way each time: to a block of that size which was freed before,
 * whatever the test's process, of which the victim is a copy, has done until now. */
static void settle_memory(void)
{
    enum { AT_ONCE = 8 };
    void *block[AT_ONCE];
    for (size_t size = 16; size <= 16384; size += size < 64 ? 16 : size / 2) /* each class, some twice */
        for (int turn = 0; turn < 2; turn++)
            for (int i = 0; i < AT_ONCE; i++)
                if (turn == 0)
                    CHECK((block[i] = bcri_private_alloc(size)) != NULL);
                else
                    bcri_private_free(block[i]);
}

/* `owns`: the cells are its own. */
static int victim(struct bcri_ctx *ctx, struct scene *scene, bool (*run)(struct scene *scene), bool owns)
{
    ctx->cpus = 1; /* it sleeps early: every turn of spinning is stepped through */
    if (owns) {
        scene->home = bcr_cce;
        scene->cell = grow_cells(scene->scenario);
        scene_mark(ctx, scene);
    } else {
        scene->home = group_name(ctx, scene->home_index);
        CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 20) > 0);
    }
    scene->cell2 = scene->cell + 1;
    if (scene->scenario->prepare != NULL)
        scene->scenario->prepare(scene);
    if (!scene->scenario->cold)
        map_all(ctx, scene);
    settle_memory();
    trace_begin();
    bool good = run(scene);
    if (!good) {
        printf("run failed: %s\n", bcr_strerror(bcr_errno));
        fflush(stdout);
        _exit(9);
    }
    trace_end();
    _exit(0);
}

static int first_victim(struct bcri_ctx *ctx, void *arg)
{
    const struct scenario *scenario = ((struct scene *)arg)->scenario;
    return victim(ctx, arg, scenario->run, scenario->own);
}
static int second_victim(struct bcri_ctx *ctx, void *arg)
{
    return victim(ctx, arg, ((struct scene *)arg)->scenario->second, false);
}

/* Tracer and victim take turns: on one processor that is several times faster than waking each
 * other across two. The other processors are for the contender. */
static cpu_set_t all_cpus, other_cpus;

void scene_share_cpu(void)
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

static int contend(struct bcri_ctx *ctx, void *arg)
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

pid_t scene_contend(struct scene *scene, uint32_t *index_out)
{
    return group_fork(scene->group, contend, scene, index_out);
}

struct bcri_ctx *scene_survivor(struct group *group)
{
    struct bcri_ctx *ctx = group_join(group);
    bcri_self_set(ctx);
    ctx->cpus = 1;
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, SCENE_BLOCKS * SCENE_BLOCK_BYTES) > 0);
    CHECK_INT(bcr_putwait(0), 0);
    return ctx;
}

void scene_open(struct scene *scene)
{
    const struct scenario *s = scene->scenario;
    scene->group = group_open();
    scene->owner = scene_survivor(scene->group);
    scene->peer = scene_survivor(scene->group);
    scene->owner_index = scene->owner->index;
    scene->peer_index = scene->peer->index;
    if (!s->own) {
        scene->home_index = scene->owner->index;
        bcri_self_set(scene->owner);
        scene->owner_home = bcr_cce;
        scene->peer_home = group_name(scene->peer, scene->home_index);
        scene->cell = grow_cells(s);
        as_owner(scene);
        scene_mark(scene->owner, scene);
        fill(scene);
        if (s->marked && s->requests == 0 && s->sleeper == 0)
            CHECK(scene_take_requests(scene) >= 0);
        if (s->armed) {
            as_owner(scene);
            scene->fd = bcr_fd(scene->cell);
            CHECK(scene->fd >= 0);
        }
        if (s->polls) {
            as_owner(scene);
            CHECK_INT(bcr_wakeon(scene->cell, 1), 0);
            CHECK_INT(bcri_wakefd_make(scene->owner), 0);
            bcri_wakefd_arm(scene->owner);
            scene->fd = scene->owner->wakefd.fd;
        }
    }
    bcri_self_set(NULL);
    scene->victim = group_fork(scene->group, first_victim, scene, &scene->victim_index);
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
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(scene->peer, scene->peer_home, scene->cell, &resolved), 0);
    scene->first = resolved->cell;
    if (s->arrange != NULL) {
        as_owner(scene);
        s->arrange(scene);
    }
}

void scene_open_second(struct scene *scene, struct scene_second *second_out)
{
    bcri_self_set(NULL);
    second_out->pid = group_fork(scene->group, second_victim, scene, &second_out->index);
    if (!trace_attach(second_out->pid))
        FAIL("the second victim ended while it prepared");
}

void scene_close(struct scene *scene)
{
    bcri_self_set(NULL);
    group_leave(scene->group, scene->owner);
    group_leave(scene->group, scene->peer);
    group_close(scene->group);
}
