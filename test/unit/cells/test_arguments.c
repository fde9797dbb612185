/* SPDX-License-Identifier: MIT */
/* No bad argument crashes, hangs or corrupts: three CCEs call everything with whatever comes, IDs
 * that are none and IDs of others among it; what is right among that is done, and all structures
 * agree all the while. */
#include "cce.h"

#include <bcr/program.h>

#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ACTORS = 3, HELD = 32, DEAD = 64, TRIPLES = 65536, LIST = 8, BYTES = 2048 };

struct actor {
    struct bcri_ctx *ctx;
    bcr_region held[HELD];
};

static struct actor actors[ACTORS];
static bcr_region dead[DEAD]; /* freed, by whomever */
static unsigned dead_count;
static int descriptor[3 * TRIPLES + 3];
static char *nowhere; /* a page without access */
static uint64_t state;

static unsigned below(unsigned bound)
{
    return (unsigned)test_rand_below(&state, bound);
}

static int any_int(void)
{
    static const int edges[] = {0,       1,           -1,          -2,      -3,      2,     3,
                                63,      64,          65,          4096,    1 << 20, 65536, INT_MAX,
                                INT_MIN, INT_MAX - 1, INT_MIN + 1, 1 << 30, -65536,  255};
    switch (below(8)) {
    case 0: return edges[below(sizeof edges / sizeof edges[0])];
    case 1: return (int)test_rand(&state);
    default: return (int)below(6);
    }
}
static int any_cell(void)
{
    return below(8) != 0 ? (int)below(6) : any_int();
}
static int any_cce(void)
{
    return below(6) != 0 ? 1 + (int)below(ACTORS) : any_int();
}
/* None that could wait for ever. */
static int any_msec(void)
{
    const int some[] = {0, 0, 0, 1, bcr_PENDING};
    return some[below(5)];
}

static bcr_region any_id(const struct actor *self)
{
    static void *variable;
    bcr_region held = self->held[below(HELD)];
    switch (below(20)) {
    case 0: return NULL;
    case 1: return (bcr_region)(uintptr_t)test_rand(&state);
    case 2: return (bcr_region)(uintptr_t)below(4096);
    case 3: return &variable;
    case 4: return (bcr_region)(void *)(nowhere + below(4096));
    case 5: return dead[below(DEAD)];
    case 6: return actors[below(ACTORS)].held[below(HELD)];
    case 7: return held != NULL ? (bcr_region)(void *)((char *)held + (int)below(128) - 64) : NULL;
    case 8: return held != NULL ? (bcr_region)*held : NULL;
    default: return held;
    }
}

static const int *any_descriptor(void)
{
    if (below(3) != 0)
        return bcrT_1INT;
    if (below(8) == 0)
        return below(2) != 0 ? NULL : bcrT_1CCE;
    const unsigned length = 3 * (1 + below(8));
    for (unsigned i = 0; i < length; i++)
        descriptor[i] = any_int();
    for (unsigned i = 1; i < length; i += 3)
        if (below(4) != 0)
            descriptor[i] = (int)below(10) | (below(4) == 0 ? bcrT_END : 0) |
                            (below(4) == 0 ? bcrT_NEST : 0) | (below(6) == 0 ? bcrT_SKIP_FM : 0) |
                            (below(6) == 0 ? bcrT_SKIP_TO : 0);
    descriptor[length + 1] = bcrT_CHAR | bcrT_END;
    return descriptor;
}

static void bury(bcr_region rgid)
{
    if (rgid != NULL && bcr_rgfree(rgid) == 0)
        dead[dead_count++ % DEAD] = rgid;
}
static void keep(struct actor *self, bcr_region rgid)
{
    bcr_region *place = &self->held[below(HELD)];
    if (rgid == NULL)
        return;
    bury(
        *place); /* it may have gone already, and its ID may be another region's by now: that is then freed */
    *place = rgid;
}

static void regions(struct actor *self)
{
    int archtype;
    bcr_region list[LIST];
    for (int i = 0; i < LIST; i++)
        list[i] = any_id(self);
    switch (below(12)) {
    case 0:
    case 1:
    case 2:
        keep(self, bcr_rgalloc(below(4) != 0 ? (int)below(600) : any_int(), below(8) != 0 ? 0 : any_int()));
        return;
    case 3: bcr_rgmod(any_id(self)); return;
    case 4: bury(any_id(self)); return;
    case 5: bcr_rgrealloc(any_id(self), any_int()); return;
    case 6: bcr_rglen(any_id(self), below(2) != 0 ? &archtype : NULL); return;
    case 7: bcr_rgwait(any_id(self), (int)below(2), any_int()); return;
    case 8:
        bcr_rgwaitm((int)below(LIST + 3) - 2 > LIST ? LIST : (int)below(LIST + 1),
                    below(9) != 0 ? list : NULL, 0, (int)below(2));
        return;
    case 9: bcr_rgshared(any_id(self)); return;
    case 10: bcr_rgkind(any_id(self)); return;
    default: bcr_rgerror(any_id(self)); return;
    }
}

static void cells(struct actor *self)
{
    int list[2 * LIST];
    for (int i = 0; i < LIST; i++) {
        list[2 * i] = any_cce();
        list[2 * i + 1] = any_cell();
    }
    switch (below(19)) {
    case 18: bcr_wakeon(any_cell(), (int)below(2)); return;
    case 17: bcr_wake(any_cell()); return;
    case 13: bcr_watch(any_cce(), any_cell()); return;
    case 14: bcr_unwatch(any_cce(), any_cell()); return;
    case 0:
    case 1: bcr_put(any_int(), any_id(self), any_cce(), any_cell(), any_int()); return;
    case 2:
    case 3: keep(self, bcr_get(any_int(), any_cce(), any_cell(), any_msec())); return;
    case 4: bcr_zap(any_cce(), any_cell()); return;
    case 5:
        bcr_putm(any_int(), any_id(self), (int)below(LIST + 3) - 2, below(9) != 0 ? list : NULL, any_int());
        return;
    case 6: keep(self, bcr_acqrl(any_cce(), any_cell(), any_msec())); return;
    case 7: keep(self, bcr_acqwl(any_cce(), any_cell(), any_msec())); return;
    case 8: bcr_rlswl(any_id(self), any_cce(), any_cell()); return;
    case 9: bcr_wl2rl(any_id(self), any_cce(), any_cell()); return;
    case 10: bcr_celllen(any_cce(), any_cell()); return;
    case 11: bcr_rlsrl(any_id(self)); return;
    case 12: bcr_put_within(any_int(), any_id(self), any_cce(), any_cell(), any_int(), any_msec()); return;
    case 15: keep(self, bcr_rgalloc_within(any_int() % 5000, any_int(), any_msec())); return;
    default: {
        const int base = bcr_cagrow(any_int(), (int)below(3), (int)below(3), (int)below(3),
                                    below(9) != 0 ? 1 : -1, (int)below(9), (int)below(4096));
        if (base > 0)
            CHECK_INT(bcr_cafree(base), 0);
        else
            bcr_cafree(5 + (int)below(9));
        bcr_putwait(bcr_PENDING);
        bcr_putdone(any_int());
    }
    }
}

static void copies(struct actor *self)
{
    static char buffer[BYTES];
    char *user = below(9) != 0 ? buffer : NULL;
    const int length = below(4) != 0 ? (int)below(BYTES + 1) : -(int)below(4),
              repl = below(2) != 0 ? 1 : any_int();
    const int *shape = any_descriptor();
    switch (below(8)) {
    case 0: bcr_copyfm(shape, repl, any_id(self), any_int(), user, length); return;
    case 1: bcr_copyto(shape, repl, any_id(self), any_int(), user, length); return;
    case 2: bcr_copytofm(shape, repl, any_id(self), any_int(), any_id(self), any_int()); return;
    case 3: bcr_copytosz(shape, repl, below(2) != 0 ? 0 : any_int(), any_int(), user, any_int()); return;
    case 4:
        bcr_send(user, length, shape, repl, any_cce(), any_cell(), any_int(), below(4) != 0 ? 0 : any_int());
        return;
    case 5: bcr_recv(user, length, shape, repl, any_cce(), any_cell(), any_int(), any_msec()); return;
    case 6:
        bcr_sendm(user, length, shape, repl, 2, (const int[]){any_cce(), any_cell(), any_cce(), any_cell()},
                  any_int(), 0);
        return;
    default: bcr_descshow(shape, below(2) != 0 ? 0 : any_int(), user, length); return;
    }
}

TEST_TIMEOUT(whatever_arguments_come_nothing_crashes_or_hangs_and_all_structures_agree, 600)
{
    begin();
    state = test_seed();
    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nowhere != MAP_FAILED);
    actors[0].ctx = one;
    actors[1].ctx = two;
    actors[2].ctx = join();
    for (int i = 0; i < ACTORS; i++) {
        as(actors[i].ctx);
        CHECK(bcr_cagrow(1, 1, 1, 1, 1, 30, 1 << 16) > 0);
        CHECK_INT(bcr_putwait(0), 0);
        actors[i].ctx->flags |= bcr_errors;
        for (int k = 0; k < ACTORS; k++)
            if (k != i)
                CHECK(name(actors[i].ctx, actors[k].ctx) <= ACTORS);
    }
    for (uint64_t round = test_scale(100000, 3000000); round-- > 0;) {
        struct actor *self = &actors[below(ACTORS)];
        as(self->ctx);
        switch (below(5)) {
        case 0:
        case 1: regions(self); break;
        case 2:
        case 3: cells(self); break;
        default: copies(self); break;
        }
        if (round % 2000 == 0)
            audit();
    }
    end();
}
