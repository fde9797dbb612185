/* SPDX-License-Identifier: MIT */
/* See actor.h.
 *
 * With marks: a cell of each kind of mark. Handlers do what the main program does, one call, so
 * that they are interrupted, wait, and request others' handlers; each keeps to the rule that what
 * is in a bag is in no call. */
#include "actor.h"

#include <bcr.h>

#include <stdio.h>
#include <unistd.h>

#include "check.h"

#include "bcri/bell.h"
#include "bcri/cces.h"

enum {
    NRGNS = 12,
    HEAP_BYTES = 1 << 20,
    WAITING_MOST = 24 /* invocations of one member, beyond which handlers do not wait */
};

static _Noreturn void refuse(const char *what, int code)
{
    printf("process %d: %s: %s\n", (int)getpid(), what, bcr_strerror(code));
    fflush(stdout);
    _exit(5);
}

static uint64_t below(struct actor *actor, uint64_t bound)
{
    return test_rand_below(&actor->random, bound);
}

enum { WORDS = 32 };

/* Every word of a region follows from its first; the last is looked at, and some in front. */
static void fill(uint32_t *word, int length, uint32_t first)
{
    int words = length / 4;
    for (int i = 0; i < words && i < WORDS; i++)
        word[i] = first + (uint32_t)i;
    word[words - 1] = first + (uint32_t)(words - 1);
}

static bcr_region make(struct actor *actor)
{
    static const int sizes[] = {8, 8, 8, 8, 8, 8, 32, 32, 32, 40, 40, 200, 200, 1000, 5000, 70000};
    int length = sizes[below(actor, sizeof sizes / sizeof sizes[0])];
    bcr_region rgid = bcr_rgalloc(length, 0);
    if (rgid == NULL) {
        if (bcr_errno != bcrE_NBYTES)
            refuse("rgalloc", bcr_errno);
        return NULL;
    }
    uint32_t *word = *rgid, first = (uint32_t)test_rand(&actor->random);
    fill(word, length, first);
    return rgid;
}

static bcr_region whole(bcr_region rgid)
{
    int words = bcr_rglen(rgid, NULL) / 4;
    const uint32_t *word = *rgid;
    bool same = word[words - 1] == word[0] + (uint32_t)(words - 1);
    for (int i = 0; i < words && i < WORDS; i++)
        same = same && word[i] == word[0] + (uint32_t)i;
    if (!same)
        refuse("a region is not what it was", bcrE_INTERNAL);
    return rgid;
}

/* What may come of a call when others die and fill the cells. */
static void expect(const char *what)
{
    switch (bcr_errno) {
    case bcrE_DEAD:
    case bcrE_NOCELL:
    case bcrE_FULL:
    case bcrE_TIMEOUT:
    case bcrE_NOMEM:
    case bcrE_NBYTES:
    case bcrE_OWNERDEAD:
    case bcrE_BUSY: return;
    default: refuse(what, bcr_errno);
    }
}

static void drop(bcr_region rgid)
{
    if (rgid != NULL && bcr_rgfree(rgid) != 0)
        expect("rgfree");
}

/* A cell of some actor, half the time the same cell, so that the actors meet. False if that actor is
 * not there. */
static bool some_cell(struct actor *actor, bcr_cce_id *cce, int *cell)
{
    bool busy = below(actor, 2) == 0;
    uint32_t index = bcri_load(&actor->arena->index[busy ? 0 : below(actor, MEMBERS)]);
    *cell = 1 + (busy ? 0 : (int)below(actor, CELLS));
    return index != 0 && bcri_cce_id_of_index(actor->ctx, index, cce) == 0;
}

static void keep(struct actor *actor, bcr_region rgid)
{
    bcr_region *place = &actor->held[below(actor, BAG)];
    if (rgid == NULL)
        return;
    drop(*place);
    *place = whole(rgid);
}

static void put(struct actor *actor, bcr_cce_id cce, int cell, int qlike, int nofree)
{
    bcr_region *place = &actor->held[below(actor, BAG)];
    bcr_region rgid = *place != NULL && below(actor, 4) == 0 ? *place : make(actor);
    if (rgid == NULL)
        return;
    if (rgid == *place)
        *place = NULL;
    if (bcr_put(qlike, rgid, cce, cell, nofree) != 0) {
        expect("put");
        drop(rgid);
    } else if (nofree != 0) {
        drop(rgid);
    }
}

static void get(struct actor *actor, bcr_cce_id cce, int cell, int qlike, int msec)
{
    bcr_region rgid = bcr_get(qlike, cce, cell, msec);
    if (rgid == NULL)
        expect("get");
    else if (below(actor, 3) == 0)
        keep(actor, rgid);
    else
        drop(whole(rgid));
}

static void change(struct actor *actor)
{
    bcr_region rgid = actor->held[below(actor, BAG)];
    if (rgid == NULL)
        return;
    if (bcr_rgmod(rgid) != 0) {
        expect("rgmod");
        return;
    }
    fill(*rgid, bcr_rglen(rgid, NULL), 77);
}

static void lock(struct actor *actor, bcr_cce_id cce, int cell)
{
    bcr_region rgid = bcr_acqwl(cce, cell, below(actor, 512) == 0);
    if (rgid == NULL) {
        expect("acqwl");
        return;
    }
    int error = below(actor, 3) == 0 ? bcr_wl2rl(whole(rgid), cce, cell) : 1;
    if (error == 1)
        error = bcr_rlswl(whole(rgid), cce, cell);
    else if (error == 0)
        drop(rgid);
    if (error != 0) {
        expect("rlswl");
        drop(rgid);
    }
}

static void putm(struct actor *actor)
{
    int cells[2 * CELLS], count = 0;
    for (int i = 0; i < CELLS; i++)
        if (some_cell(actor, &cells[2 * count], &cells[2 * count + 1]))
            count++;
    bcr_region rgid = make(actor);
    if (rgid != NULL && bcr_enqm(rgid, count, cells, bcr_FREE) != 0)
        expect("putm");
}

/* Handlers may run meanwhile, and fill the place. */
static void put_back(bcr_region *place, bcr_region rgid)
{
    if (*place == NULL)
        *place = rgid;
    else
        drop(rgid);
}

static void later(struct actor *actor, bcr_cce_id cce, int cell)
{
    bcr_region *place = &actor->pending[below(actor, BAG)], rgid = *place;
    *place = NULL;
    if (rgid == NULL) {
        rgid = below(actor, 8) == 0 ? bcr_acqwl(cce, cell, bcr_PENDING)
                                    : bcr_get((int)below(actor, 2), cce, cell, bcr_PENDING);
        if (rgid == NULL)
            expect("pending get");
        else
            put_back(place, rgid);
        return;
    }
    int failfree = (int)below(actor, 2);
    int ready = bcr_rgwait(rgid, below(actor, 256) == 0, failfree);
    if (ready == 0 && failfree == 0 && below(actor, 2) == 0)
        drop(rgid);
    else if (ready == 0 && failfree == 0)
        put_back(place, rgid);
    else if (ready == 1)
        keep(actor, rgid);
    else if (ready < 0)
        expect("rgwait");
}

static void count_invocations(struct actor *actor, int change)
{
    actor->under_way += change;
    atomic_store_explicit(&actor->arena->under_way[actor->ctx->index % RECORDS], (uint32_t)actor->under_way,
                          memory_order_relaxed);
}

static void one_call(struct actor *actor)
{
    bcr_cce_id cce;
    int cell;
    if (!some_cell(actor, &cce, &cell))
        return;
    (void)bcr_putwait(below(actor, 512) == 0);
    switch (below(actor, 16)) {
    case 0:
    case 1:
    case 2: put(actor, cce, cell, 1, bcr_FREE); break;
    case 3: put(actor, cce, cell, 1, bcr_NOFREE); break;
    case 4: put(actor, cce, cell, 0, (int)below(actor, 2)); break;
    case 5:
    case 6:
    case 7: get(actor, cce, cell, 1, 0); break;
    case 8: get(actor, cce, cell, 0, 0); break;
    case 9: get(actor, cce, cell, (int)below(actor, 2), below(actor, 1024) == 0); break;
    case 10: change(actor); break;
    case 11: lock(actor, cce, cell); break;
    case 12: putm(actor); break;
    case 13: later(actor, cce, cell); break;
    case 14:
        if (bcr_zap(cce, cell) != 0)
            expect("zap");
        break;
    default: {
        int base = below(actor, 2048) == 0 ? bcr_cagrow(100, 1, 0, 0, 1, 4, 4096) : -2;
        if (base >= 0 && bcr_cafree(base) != 0)
            expect("cafree");
        else if (base == -1)
            expect("cagrow");
        break;
    }
    }
}

/* ---- handlers ---- */

static struct actor *me;

static void wait_somewhat(struct actor *actor, int cell)
{
    if (actor->under_way <= WAITING_MOST)
        get(actor, bcr_cce, cell, 1, 1 + (int)below(actor, 3));
}

static void on_cell(int cell)
{
    count_invocations(me, 1);
    switch (below(me, 16)) {
    case 0: wait_somewhat(me, cell); break;
    case 1:
        if (bcr_allow((int)below(me, 4) - 1) != 0)
            expect("allow");
        break;
    case 2:
        if (bcr_priority((int)below(me, 4), (int)below(me, 4)) != 0)
            expect("priority");
        one_call(me);
        break;
    case 3:
    case 4:
    case 5:
    case 6: one_call(me); break;
    default: get(me, bcr_cce, cell, 1, 0);
    }
    count_invocations(me, -1);
}

/* Cell 1, at which all meet, counts what is put; 2 is a demand; 3 has a low mark. */
static void install(struct actor *actor, int cell, bool removes)
{
    static const int mark[CELLS + 1] = {0, 1, 0, -2};
    if (bcr_handler(cell, removes ? NULL : on_cell, mark[cell], (int)below(actor, 3), (int)below(actor, 3)) !=
        0)
        expect("handler");
}

static void with_handlers(struct actor *actor)
{
    if (below(actor, 8) == 0 && bcr_allow(-1) != 0)
        expect("allow");
    if (below(actor, 256) == 0) {
        int cell = 1 + (int)below(actor, CELLS);
        if (below(actor, 4) == 0)
            install(actor, cell, true);
        install(actor, cell, false);
    }
}

static void park(struct actor *actor, uint32_t pause)
{
    struct arena *arena = actor->arena;
    atomic_fetch_add(&arena->parked, 1);
    bcri_futex_wake(&arena->parked, 1);
    while (bcri_load_acquire(&arena->pause) == pause)
        bcri_futex_wait(&arena->pause, pause, UINT64_MAX);
}

int actor_body(struct bcri_ctx *ctx, void *arg)
{
    struct actor *actor = arg;
    actor->ctx = ctx;
    actor->random = actor->seed + ctx->index;
    if (bcr_cagrow(1, 0, 0, 0, CELLS, NRGNS, HEAP_BYTES) != 1)
        refuse("cagrow", bcr_errno);
    me = actor;
    for (int cell = 1; actor->marked && cell <= CELLS; cell++)
        install(actor, cell, false);
    for (;;) {
        uint32_t pause = bcri_load_acquire(&actor->arena->pause);
        if (pause == OVER)
            return 0;
        if (pause % 2 != 0)
            park(actor, pause);
        one_call(actor);
        if (actor->marked)
            with_handlers(actor);
    }
}
