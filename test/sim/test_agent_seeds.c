/* SPDX-License-Identifier: MIT */
/* Four CCEs on two hosts, which put and get at random at each other's cells over networks of all kinds:
 * each region that was put is got once, unaltered, or stands in its cell in the order in which its
 * putter put it, or its putter was told; one whose put has failed is nowhere but with its putter, who is told nothing
 * more; and all structures of both hosts agree. All is drawn from the seed. Some CCEs are killed, some hosts lose each
 * other.
 *
 * SIM_SEED=N in the environment runs that seed alone; SIM_TELL=1 tells each before it is run.
 *
 * A call that waits turns the world meanwhile (waits.h), so a seed gives the same run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents.h"
#include "links/agent/private.h"

#include "bcri/self.h"
#include "check.h"
#include "waits.h"

enum { TOGETHER = 5 }; /* cells of a bcr_putm */
enum { CELLS = 3, ROOM = 4, PENDING = 6, ACTORS = WORLD_HOSTS * WORLD_CCES, PUTS_MAX = 4096 };

struct actor {
    struct bcri_ctx *ctx;
    bcr_cce_id name_of[ACTORS];
    int cells; /* the first of its own */
    bcr_region pending[PENDING];
};

struct run {
    struct world world;
    struct actor actor[ACTORS];
    unsigned puts, copies_put, told, seen_count;
    bool exact;      /* no CCE was killed, no host was lost */
    bool small_pool; /* puts may stand still until a CCE takes: no call that waits behind them */
    bool timed;      /* of a run with a small pool: all puts have a time, and so do not stand still */
    uint8_t copies[PUTS_MAX], seen[PUTS_MAX];
    uint8_t putter[PUTS_MAX];
    bool may_be_there[PUTS_MAX];
};
static struct run run;

static bool once(void *context)
{
    unsigned *turns = context;
    return (*turns)++ != 0;
}

/* The call of `actor`. */
static void make(struct actor *actor, void (*what)(struct actor *actor))
{
    bcri_self_set(actor->ctx);
    what(actor);
    bcri_self_set(NULL);
}

static uint64_t draw(uint64_t bound)
{
    return sim_random(run.world.network, bound);
}

/* ---- what CCEs do ---- */

static int target, target_cell; /* of the call that is made */
static int targets, several[TOGETHER], several_cells[TOGETHER];

static void draw_target(void)
{
    target = (int)draw(ACTORS);
    target_cell = run.actor[target].cells + (int)draw(CELLS);
}

static void draw_targets(void)
{
    targets = 1 + (int)draw(TOGETHER);
    for (int i = 0; i < targets; i++) {
        draw_target();
        several[i] = target;
        several_cells[i] = target_cell;
    }
}

static int length_drawn;

static void fill(unsigned char *data, int length, unsigned number)
{
    memcpy(data, &number, sizeof number);
    for (int i = (int)sizeof number; i < length; i++)
        data[i] = (unsigned char)(number * 7 + (unsigned)i);
}

static bool is_far(const struct actor *actor, int at)
{
    return (at < WORLD_CCES) != (actor < &run.actor[WORLD_CCES]);
}

/* None waits at a cell of its own host, since nobody takes meanwhile. */
static int draw_patience(bool far)
{
    const bool may_block = far && !run.timed, must_block = may_block && run.small_pool;
    if (must_block || (may_block && draw(2) == 0))
        return bcr_BLOCK;
    return far ? (int)draw(4) : 0;
}

static void put_one(struct actor *actor)
{
    const bool far = is_far(actor, target);
    bcr_region rgid = bcr_rgalloc(length_drawn, 0);
    if (rgid == NULL || run.puts == PUTS_MAX) { /* its regions are all on their way */
        if (rgid != NULL)
            (void)bcr_rgfree(rgid);
        return;
    }
    fill(*rgid, length_drawn, run.puts);
    CHECK_INT(bcr_putwait(draw_patience(far)), 0);
    run.putter[run.puts] = (uint8_t)(actor - run.actor);
    const void *const data = *rgid;
    const int nofree = draw(4) == 0;
    const bool done = bcr_put(1, rgid, actor->name_of[target], target_cell, nofree) == 0;
    if (!done) {
        CHECK(bcr_errno == bcrE_FULL || (!run.exact && bcr_errno == bcrE_DEAD));
        run.may_be_there[run.puts] = bcr_errno == bcrE_DEAD; /* and its host is lost */
        CHECK_INT(bcr_rgmod(rgid), 0);
        CHECK_PTR(*rgid, data); /* nobody else has it */
    }
    if (!done || nofree)
        CHECK_INT(bcr_rgfree(rgid), 0);
    run.copies[run.puts++] = done;
    run.copies_put += done;
}

/* Each cell has the region, or its putter is told. */
static void put_several(struct actor *actor)
{
    int cells[2 * TOGETHER];
    const int length = length_drawn + 256;
    bcr_region rgid = run.puts < PUTS_MAX ? bcr_rgalloc(length, 0) : NULL;
    bool only_far = true;
    if (rgid == NULL)
        return;
    fill(*rgid, length, run.puts);
    for (int i = 0; i < targets; i++) {
        if (run.small_pool && !run.timed &&
            !is_far(actor, several[i])) /* it would wait behind what stands still */
            several[i] = (several[i] + WORLD_CCES) % ACTORS;
        only_far &= is_far(actor, several[i]);
        cells[2 * i] = actor->name_of[several[i]];
        cells[2 * i + 1] = several_cells[i];
    }
    CHECK_INT(bcr_putwait(only_far ? draw_patience(true) : 0), 0);
    (void)!bcr_putm(1, rgid, targets, cells, bcr_FREE);
    run.copies[run.puts] = (uint8_t)targets;
    run.copies_put += (unsigned)targets;
    run.putter[run.puts++] = (uint8_t)(actor - run.actor);
}

/* Looks at a region that was got, and frees it. Returns its number. */
static unsigned see(bcr_region rgid)
{
    static unsigned char want[100000];
    unsigned number;
    const int length = bcr_rglen(rgid, NULL);
    CHECK(length >= (int)sizeof number && length <= (int)sizeof want);
    memcpy(&number, *rgid, sizeof number);
    CHECK(number < run.puts);
    fill(want, length, number);
    CHECK_MEM(*rgid, want, (size_t)length);
    CHECK(run.copies[number] != 0 || run.may_be_there[number]);
    if (run.exact)
        CHECK(run.seen[number] < run.copies[number]);
    run.seen[number]++;
    run.seen_count++;
    CHECK_INT(bcr_rgfree(rgid), 0);
    return number;
}

static void begin_get(struct actor *actor)
{
    for (int i = 0; i < PENDING; i++)
        if (actor->pending[i] == NULL) {
            actor->pending[i] = bcr_get(1, actor->name_of[target], target_cell, bcr_PENDING);
            CHECK(actor->pending[i] != NULL || (!run.exact && bcr_errno == bcrE_DEAD));
            return;
        }
}

static void look_at_gets(struct actor *actor)
{
    for (int i = 0; i < PENDING; i++) {
        const int ready = actor->pending[i] != NULL ? bcr_rgwait(actor->pending[i], 0, 0) : 0;
        if (ready == 1)
            (void)see(actor->pending[i]);
        else if (ready < 0)
            CHECK(bcr_errno == bcrE_NOMEM || (!run.exact && bcr_errno == bcrE_DEAD));
        if (ready != 0)
            actor->pending[i] = NULL;
    }
}

static void cancel_gets(struct actor *actor)
{
    for (int i = 0; i < PENDING; i++) {
        if (actor->pending[i] == NULL)
            continue;
        const int ready = bcr_rgwait(actor->pending[i], 0, 1);
        if (ready == 1)
            (void)see(actor->pending[i]);
        actor->pending[i] = NULL;
    }
}

static void get_now(struct actor *actor)
{
    bcr_region rgid = bcr_get(1, actor->name_of[target], target_cell, 0);
    if (rgid != NULL)
        (void)see(rgid);
    else
        CHECK(bcr_errno == bcrE_TIMEOUT || bcr_errno == bcrE_NOMEM || (!run.exact && bcr_errno == bcrE_DEAD));
}

static void get_for_a_while(struct actor *actor)
{
    bcr_region rgid = bcr_get(1, actor->name_of[target], target_cell, 3);
    if (rgid != NULL)
        (void)see(rgid);
}

static void ask_length(struct actor *actor)
{
    CHECK(bcr_celllen(actor->name_of[target], target_cell) >= 0 || (!run.exact && bcr_errno == bcrE_DEAD));
}

/* What stands in an actor's own cells, each putter's in its order; and what it was told. */
static void drain(struct actor *actor)
{
    for (int i = 0; i < CELLS; i++) {
        unsigned last[ACTORS] = {0};
        bcr_region rgid;
        while ((rgid = bcr_get(1, bcr_cce, actor->cells + i, 0)) != NULL) {
            const unsigned number = see(rgid), from = run.putter[number];
            CHECK(!run.exact || number + 1 > last[from] ||
                  (number + 1 == last[from] && run.copies[number] > 1));
            last[from] = number + 1;
        }
    }
    for (bcr_region rgid; (rgid = bcr_get(1, bcr_cce, 0, 0)) != NULL; run.told++)
        CHECK_INT(bcr_rgfree(rgid), 0);
}

static void set_up(struct actor *actor)
{
    actor->cells = bcr_cagrow(0, 0, 0, 0, CELLS, ROOM, 1 << 18);
    CHECK(actor->cells >= 1);
    for (int i = 0; i < ACTORS; i++)
        actor->name_of[i] = world_name(actor->ctx, run.actor[i].ctx);
}

/* ---- a run ---- */

static void draw_path(struct sim_path *path)
{
    *path = (struct sim_path){.delay_ns = SIM_US + draw(SIM_MS)};
    if (draw(2) == 0)
        path->lost = (unsigned)draw(301);
    if (draw(3) == 0)
        path->doubled = (unsigned)draw(200);
    if (draw(3) == 0)
        path->held = (unsigned)draw(300);
    if (draw(2) == 0)
        path->jitter_ns = draw(2 * path->delay_ns);
}

static void act(struct actor *actor)
{
    static void (*const calls[])(struct actor *) = {put_one, put_one,         put_one,     put_several,
                                                    put_one, begin_get,       begin_get,   look_at_gets,
                                                    get_now, get_for_a_while, cancel_gets, ask_length};
    const uint64_t kinds = run.small_pool && !run.timed ? 8 : sizeof calls / sizeof calls[0];
    draw_targets();
    length_drawn = 4 + (int)draw(draw(8) == 0 ? 20000 : 100);
    make(actor, calls[draw(kinds)]);
    for (uint64_t i = draw(4); i != 0; i--) {
        unsigned turns = 0;
        world_turn(&run.world);
        (void)sim_run(run.world.network, sim_now(run.world.network) + SIM_MS, once, &turns);
    }
}

static void kill_one(void)
{
    const unsigned victim = (unsigned)draw(ACTORS);
    if (run.actor[victim].ctx == NULL)
        return;
    run.exact = false;
    run.actor[victim].ctx = NULL;
    world_kill(&run.world, victim / WORLD_CCES, victim % WORLD_CCES);
}

static void all_make(void (*what)(struct actor *actor))
{
    for (int i = 0; i < ACTORS; i++)
        if (run.actor[i].ctx != NULL)
            make(&run.actor[i], what);
}

static void drain_all(void)
{
    unsigned before;
    do { /* what is taken out makes room for puts that wait */
        before = run.seen_count + run.told;
        (void)world_settle(&run.world, 10 * SIM_S);
        all_make(look_at_gets);
        all_make(drain);
    } while (before != run.seen_count + run.told);
}

static void end_run(void)
{
    drain_all();
    all_make(cancel_gets);
    drain_all();
    CHECK(world_settle(&run.world, 3600 * SIM_S));
    if (run.exact)
        CHECK_UINT(run.seen_count + run.told, run.copies_put);
}

static void run_seed(uint64_t seed)
{
    memset(&run, 0, sizeof run);
    run.exact = true;
    const bool small_pool = seed % 3 == 0;
    world_open(&run.world, seed, small_pool ? 1 << 16 : 1 << 21);
    waits_in(&run.world);
    run.small_pool = small_pool;
    run.timed = small_pool && draw(2) == 0;
    for (int at = 0; at < WORLD_HOSTS; at++)
        draw_path(&run.world.host[at].end.path);
    for (int at = 0; at < WORLD_HOSTS && draw(2) == 0; at++)
        run.world.host[at].agent->peer_payloads_max = draw(1 << 15);
    for (int i = 0; i < ACTORS; i++) {
        run.actor[i].ctx = run.world.host[i / WORLD_CCES].cce[i % WORLD_CCES];
        run.actor[i].ctx->flags |= bcr_errors;
        run.actor[i].ctx->cpus = 1; /* it sleeps soon */
    }
    for (int i = 0; i < ACTORS; i++)
        make(&run.actor[i], set_up);
    const bool kills = draw(4) == 0, cuts = draw(8) == 0;
    for (uint64_t left = 50 + draw(300); left != 0; left--) {
        struct actor *actor = &run.actor[draw(ACTORS)];
        if (actor->ctx != NULL)
            act(actor);
        if (kills && draw(100) == 0)
            kill_one();
        if (cuts && draw(200) == 0) {
            run.exact = false;
            world_cut(&run.world);
        }
    }
    end_run();
    world_close(&run.world);
}

TEST_TIMEOUT(each_region_is_in_one_place, 36000)
{
    const char *one = getenv("SIM_SEED");
    const uint64_t first = one != NULL ? strtoull(one, NULL, 10) : test_seed() >> 20;
    const uint64_t count = one != NULL ? 1 : test_scale(400, 20000);
    printf("  seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (getenv("SIM_TELL") != NULL)
            fprintf(stderr, "  seed %llu\n", (unsigned long long)seed);
        run_seed(seed);
    }
}
