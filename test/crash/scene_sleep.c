/* SPDX-License-Identifier: MIT */
/* A CCE that sleeps in a call while the victim dies. If the victim owed it a wake-up, the repair must
 * wake it: no other CCE will. */
#include "scene_parts.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "bcri/handler_request.h"
#include "bcri/self.h"
#include "bcri/waiters.h"

struct sleeper {
    pthread_t thread;
    struct bcri_ctx *ctx;
    int home, cell;
    char call;
    int value; /* what it got; 0 for a put */
    int error;
    _Atomic uint32_t done;
};

static void *sleep_in_call(void *arg)
{
    struct sleeper *sleeper = arg;
    bcri_self_set(sleeper->ctx);
    if (sleeper->call == 'H') {
        while (!bcri_requests_any(sleeper->ctx))
            requests_sleep(sleeper->ctx, UINT64_MAX);
    } else if (sleeper->call == 'P') {
        if (bcr_enq(number(SCENE_SLEEPERS_PUT), sleeper->home, sleeper->cell, bcr_FREE) != 0)
            sleeper->error = bcr_errno;
    } else {
        bcr_region rgid = bcr_get(sleeper->call == 'T', sleeper->home, sleeper->cell, bcr_BLOCK);
        if (rgid != NULL)
            sleeper->value = value_of(rgid);
        else
            sleeper->error = bcr_errno;
    }
    bcri_store_release(&sleeper->done, 1);
    return NULL;
}

static void count_ready(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct scene *scene = arg;
    (void)ref;
    if (bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_LIVE)
        return; /* the region that a waiting put is about */
    scene->sleeps_on = !bcri_request_ready(group_enl(scene->group), slot);
}

void scene_fall_asleep(struct scene *scene)
{
    struct sleeper *sleeper = calloc(1, sizeof *sleeper);
    CHECK(sleeper != NULL);
    scene->sleeper = sleeper;
    sleeper->call = scene->scenario->sleeper;
    sleeper->ctx = sleeper->call == 'H' ? scene->owner : scene_survivor(scene->group);
    if (sleeper->call != 'H')
        CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
    sleeper->home = group_name(sleeper->ctx, scene->home_index);
    sleeper->cell = scene->cell;
    CHECK_INT(pthread_create(&sleeper->thread, NULL, sleep_in_call, sleeper), 0);
    while (bcri_load_acquire(&sleeper->ctx->bell->sleeping) == 0)
        sched_yield();
    while (sleeper->call == 'H' && bcri_load_acquire(&sleeper->ctx->record->requests.asleep) == 0)
        sched_yield();
}

static bool is_requested(struct scene *scene)
{
    struct requests *requests = &scene->requests;
    requests_look(requests);
    for (int i = 0; i < requests->count; i++)
        if (requests->of[i].told != requests->of[i].seen)
            return true;
    return false;
}

/* The owner itself. If there is news, requests or not, it must have been woken. */
static void wake_owner_up(struct scene *scene, struct line *line)
{
    struct sleeper *sleeper = scene->sleeper;
    const bool slept_on = !bcri_requests_any(scene->owner);
    if (!slept_on)
        CHECK_INT(pthread_join(sleeper->thread, NULL), 0);
    const bool requested = is_requested(scene);
    if (!requested) {
        as_peer(scene);
        CHECK_INT(bcr_enq(number(SCENE_SLEEPERS_PUT), scene->home, scene->cell, bcr_FREE), 0);
    }
    if (slept_on)
        CHECK_INT(pthread_join(sleeper->thread, NULL), 0);
    scene_add(line, "S=%s ", requested ? "s" : "-");
    free(sleeper);
}

/* The word for the line: what it returned, or "-" if nothing was owed to it. Then another
 * CCE lets it go on. */
void scene_wake_up(struct scene *scene, struct line *line)
{
    struct sleeper *sleeper = scene->sleeper;
    if (sleeper->call == 'H') {
        wake_owner_up(scene, line);
        return;
    }
    scene->sleeps_on = false;
    if (bcri_load_acquire(&sleeper->done) == 0)
        bcri_slot_each(group_enl(scene->group), sleeper->ctx->index, count_ready, scene);
    bool slept_on = scene->sleeps_on;
    as_owner(scene);
    if (slept_on && sleeper->call == 'P')
        CHECK_INT(bcr_zap(scene->home, scene->cell), 0);
    else if (slept_on)
        CHECK_INT(bcr_enq(number(SCENE_SLEEPERS_PUT), scene->home, scene->cell, bcr_FREE), 0);
    CHECK_INT(pthread_join(sleeper->thread, NULL), 0);
    if (slept_on)
        scene_add(line, "S=- ");
    else if (sleeper->error != 0)
        scene_add(line, "S=%s ", scene_code_name(sleeper->error));
    else if (sleeper->call == 'P')
        scene_add(line, "S=in ");
    else
        scene_add(line, "S=%d ", sleeper->value);
    group_leave(scene->group, sleeper->ctx);
    free(sleeper);
}
