/* SPDX-License-Identifier: MIT */
/* Cells are looked for in lists that their owners change, and in memory that goes when an owner has
 * ended, without a lock: the CCE that looks finds the cell, or that there is none, or that its owner has
 * ended, and never takes what it has seen halfway for corrupt memory. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#include "bcri/audit.h"
#include "bcri/cces.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/lookup.h"
#include "bcri/reclaim.h"
#include "bcri/self.h"
#include "cce.h"

enum { AREAS = 3, CELLS = 4, FIRST = 2 };

struct looker {
    struct bcri_ctx *ctx;
    bcr_cce_id cce;
    atomic_bool stop;
    int unexpected; /* the first code that no lookup may give */
    unsigned long found, missed, dead;
};

static void *look(void *arg)
{
    struct looker *looker = arg;
    as(looker->ctx);
    for (int n = 0; !atomic_load(&looker->stop) && looker->unexpected == 0; n++) {
        /* Not by the table of what was found before. */
        struct bcri_resolved *resolved;
        const int error =
            bcri_resolved_find_slow(looker->ctx, bcri_resolved_key(looker->cce, FIRST + n % (AREAS * CELLS)),
                                    bcr_BLOCK, &resolved)
                .error;
        switch (error) {
        case 0: looker->found++; break;
        case bcrE_NOCELL: looker->missed++; break;
        case bcrE_DEAD: looker->dead++; break;
        default: looker->unexpected = error;
        }
    }
    return NULL;
}

static void start(struct looker *looker, pthread_t *thread, struct bcri_ctx *at)
{
    looker->ctx = one;
    looker->cce = name(one, at);
    CHECK_INT(pthread_create(thread, NULL, look, looker), 0);
}

static void stop(struct looker *looker, pthread_t thread)
{
    atomic_store(&looker->stop, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(looker->unexpected, 0);
}

TEST_TIMEOUT(who_looks_while_areas_come_and_go_finds_cells_or_none, 120)
{
    struct looker looker = {0};
    pthread_t thread;
    begin();
    start(&looker, &thread, two);
    as(two);
    for (uint64_t turn = 0, turns = test_scale(5000, 100000); turn < turns; turn++) {
        int base[AREAS];
        /* Of several shapes, so that memory serves areas of other numbers in turn. */
        for (int i = 0; i < AREAS; i++)
            base[i] = bcr_cagrow(FIRST + CELLS * (int)(((uint64_t)i + turn) % AREAS), 0, 0, 0, CELLS,
                                 4 << (int)(turn % 3), 0);
        for (int i = 0; i < AREAS; i++)
            CHECK_INT(bcr_cafree(base[i]), 0);
    }
    stop(&looker, thread);
    printf("  found %lu times, not found %lu times\n", looker.found, looker.missed);
    as(one);
    end();
}

TEST_TIMEOUT(who_looks_while_the_owner_ends_and_its_memory_goes_finds_cells_or_that_it_is_DEAD, 120)
{
    unsigned long found = 0, dead = 0;
    begin();
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    for (uint64_t turn = 0, turns = test_scale(800, 15000); turn < turns; turn++) {
        struct looker looker = {0};
        pthread_t thread;
        struct bcri_ctx *owner = group_join(group);
        const uint32_t index = owner->index;
        as(owner);
        for (int i = 0; i < AREAS; i++)
            CHECK(bcr_cagrow(FIRST + CELLS * i, 0, 0, 0, CELLS, 4, 0) > 0);
        start(&looker, &thread, owner);
        as(one);
        group_leave(group, owner);
        CHECK(bcri_reclaim_add(reclaim, index));
        bcri_reclaim_look(reclaim);
        stop(&looker, thread);
        found += looker.found;
        dead += looker.dead;
        CHECK_UINT(looker.missed, 0);
    }
    printf("  found %lu times, dead %lu times\n", found, dead);
    bcri_reclaim_fini(reclaim);
    as(one);
    end();
}

/* `two` makes and gives back areas as fast as it can. */
struct changer {
    struct bcri_ctx *ctx;
    atomic_bool stop;
    unsigned long turns;
};

static void *change(void *arg)
{
    struct changer *changer = arg;
    as(changer->ctx);
    for (; !atomic_load(&changer->stop); changer->turns++) {
        int base[AREAS];
        for (int i = 0; i < AREAS; i++)
            base[i] = bcr_cagrow(FIRST + CELLS * (int)(((unsigned)i + changer->turns) % AREAS), 0, 0, 0,
                                 CELLS, 4 << (int)(changer->turns % 3), 0);
        for (int i = 0; i < AREAS; i++)
            CHECK_INT(bcr_cafree(base[i]), 0);
    }
    return NULL;
}

TEST_TIMEOUT(a_repair_that_looks_for_marks_where_areas_come_and_go_calls_nothing_corrupt, 120)
{
    pthread_t thread;
    begin();
    struct changer changer = {.ctx = two};
    CHECK_INT(pthread_create(&thread, NULL, change, &changer), 0);
    /* No CCE gets these records again, and each repair looks at all: the time grows with the
     * square. */
    for (uint64_t turn = 0, turns = test_scale(800, 6000); turn < turns; turn++) {
        struct bcri_ctx *taker = group_join(group);
        bcri_store(&taker->record->id.uses_locks, 1); /* so that marks of it are looked for everywhere */
        group_leave(group, taker);
        CHECK(!group_enl(group)->daemon.corrupt);
    }
    atomic_store(&changer.stop, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    printf("  %lu turns of areas\n", changer.turns);
    as(one);
    end();
}

TEST_TIMEOUT(an_audit_of_what_is_just_changing_is_no_damage_that_a_repair_is_blamed_for, 120)
{
    pthread_t thread;
    begin();
    struct changer changer = {.ctx = two};
    CHECK_INT(pthread_create(&thread, NULL, change, &changer), 0);
    for (uint64_t turn = 0, turns = test_scale(10000, 200000); turn < turns; turn++) {
        struct bcri_audit seen = {.found = NULL};
        CHECK_INT(bcri_audit(group_enl(group), &seen), 0);
        CHECK(!group_enl(group)->daemon.corrupt);
    }
    atomic_store(&changer.stop, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    as(one);
    end();
}

/* Waits at cells that come and go; spins at some, sleeps at others. */
static void *wait_there(void *arg)
{
    struct looker *looker = arg;
    as(looker->ctx);
    for (int n = 0; !atomic_load(&looker->stop) && looker->unexpected == 0; n++) {
        const int cell = FIRST + n % (AREAS * CELLS);
        bcr_region rgid = n % 3 == 0 ? bcr_read(looker->cce, cell, n % 2) : bcr_deq(looker->cce, cell, n % 2);
        CHECK(rgid == NULL);
        switch (bcr_errno) {
        case bcrE_TIMEOUT: looker->found++; break;
        case bcrE_NOCELL: looker->missed++; break;
        default: looker->unexpected = bcr_errno;
        }
    }
    return NULL;
}

TEST_TIMEOUT(who_waits_at_a_cell_that_is_given_back_is_told_that_there_is_none, 120)
{
    struct looker looker = {0};
    pthread_t thread;
    begin();
    looker.ctx = one;
    looker.cce = two_of_one;
    CHECK_INT(pthread_create(&thread, NULL, wait_there, &looker), 0);
    as(two);
    for (uint64_t turn = 0, turns = test_scale(5000, 100000); turn < turns; turn++) {
        int base[AREAS];
        for (int i = 0; i < AREAS; i++)
            base[i] = bcr_cagrow(FIRST + CELLS * i, 0, 0, 0, CELLS, 4, 0);
        for (int i = 0; i < AREAS; i++)
            CHECK_INT(bcr_cafree(base[i]), 0);
    }
    stop(&looker, thread);
    printf("  waited in vain %lu times, no cell %lu times\n", looker.found, looker.missed);
    as(one);
    end();
}

/* Requests at cells of a CCE that ends. */
static void *ask_there(void *arg)
{
    struct looker *looker = arg;
    as(looker->ctx);
    for (int n = 0; !atomic_load(&looker->stop) && looker->unexpected == 0; n++) {
        const int cell = FIRST + n % (AREAS * CELLS);
        bcr_region request = bcr_deq(looker->cce, cell, bcr_PENDING);
        if (request != NULL) {
            int got = bcr_rgwait(request, 0, 1); /* cancelled, or its cell has gone meanwhile */
            CHECK(got <= 0);
            if (got == 0) {
                looker->found++;
                continue;
            }
        }
        looker->dead += bcr_errno == bcrE_DEAD;
        if (bcr_errno != bcrE_DEAD)
            looker->unexpected = bcr_errno;
    }
    return NULL;
}

TEST_TIMEOUT(requests_at_cells_of_a_CCE_that_ends_say_DEAD, 120)
{
    unsigned long found = 0, dead = 0;
    begin();
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    for (uint64_t turn = 0, turns = test_scale(800, 15000); turn < turns; turn++) {
        struct looker looker = {.ctx = one};
        pthread_t thread;
        struct bcri_ctx *owner = group_join(group);
        const uint32_t index = owner->index;
        as(owner);
        for (int i = 0; i < AREAS; i++)
            CHECK(bcr_cagrow(FIRST + CELLS * i, 0, 0, 0, CELLS, 4, 0) > 0);
        looker.cce = name(one, owner);
        CHECK_INT(pthread_create(&thread, NULL, ask_there, &looker), 0);
        as(two);
        group_leave(group, owner);
        CHECK(!group_enl(group)->daemon.corrupt);
        CHECK(bcri_reclaim_add(reclaim, index));
        bcri_reclaim_look(reclaim);
        CHECK(!group_enl(group)->daemon.corrupt);
        stop(&looker, thread);
        found += looker.found;
        dead += looker.dead;
    }
    printf("  cancelled %lu times, dead %lu times\n", found, dead);
    bcri_reclaim_fini(reclaim);
    as(one);
    end();
}

/* Owners whose areas, each of another size, come to lie where others' were, and users who put there
 * and take. What is put to an owner bears its number: none ever comes to another's cell. */
enum { OWNERS = 2, USERS = 2, CELLS_MOST = 40, HEAP = 1 << 16, BEHIND = 1000 };

struct mover {
    struct bcri_ctx *ctx;
    bcr_cce_id cce[OWNERS]; /* as this one names them */
    int nth;
    uint64_t random;
    atomic_bool *stop;
    unsigned long moved, put, taken;
};

static bool drop_if_of(bcr_region rgid, int owner)
{
    if (rgid != NULL) {
        CHECK_INT(**(int **)rgid, owner);
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
    return rgid != NULL;
}

static void *own_areas(void *arg)
{
    struct mover *mover = arg;
    as(mover->ctx);
    for (; !atomic_load(mover->stop); mover->moved++) {
        const int cells = 1 + (int)test_rand_below(&mover->random, CELLS_MOST);
        const int nrgns = (int)test_rand_below(&mover->random, 300);
        CHECK_INT(bcr_cagrow(FIRST, 0, 0, 0, cells, nrgns, 0), FIRST);
        do
            for (int i = 0; i < cells; i++)
                while (drop_if_of(bcr_deq(bcr_cce, FIRST + i, 0), mover->nth))
                    continue;
        while (bcr_cafree(FIRST) != 0);
    }
    return NULL;
}

static void *use_areas(void *arg)
{
    struct mover *mover = arg;
    as(mover->ctx);
    bcr_putwait(1);
    while (!atomic_load(mover->stop)) {
        const int owner = (int)test_rand_below(&mover->random, OWNERS);
        const int cell = FIRST + (int)test_rand_below(&mover->random, CELLS_MOST);
        bcr_region rgid = number(owner);
        if (bcr_enq(rgid, mover->cce[owner], cell, bcr_FREE) == 0)
            mover->put++;
        else
            CHECK_INT(bcr_rgfree(rgid), 0);
        const int wait = (int)test_rand_below(&mover->random, 8) == 0;
        mover->taken += drop_if_of(bcr_deq(mover->cce[owner], cell, wait), owner);
    }
    return NULL;
}

TEST_TIMEOUT(what_is_put_to_one_never_comes_to_another_whose_cells_lie_there_by_now, 120)
{
    static struct mover movers[OWNERS + USERS];
    pthread_t threads[OWNERS + USERS];
    atomic_bool over = false;
    uint64_t seed = test_seed();
    begin();
    for (int i = 0; i < OWNERS + USERS; i++) {
        movers[i] = (struct mover){.ctx = join(), .nth = i, .random = seed + (uint64_t)i, .stop = &over};
        as(movers[i].ctx);
        CHECK_INT(bcr_cagrow(BEHIND, 0, 0, 0, 0, 0, HEAP), BEHIND);
    }
    for (int i = OWNERS; i < OWNERS + USERS; i++)
        for (int k = 0; k < OWNERS; k++)
            movers[i].cce[k] = name(movers[i].ctx, movers[k].ctx);
    for (int i = 0; i < OWNERS + USERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, i < OWNERS ? own_areas : use_areas, &movers[i]), 0);
    const uint64_t until = bcri_clock_ns() + test_scale(2, 20) * UINT64_C(1000000000);
    while (bcri_clock_ns() < until)
        sched_yield();
    atomic_store(&over, true);
    for (int i = 0; i < OWNERS + USERS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    printf("  areas %lu and %lu, put %lu and %lu, taken %lu and %lu\n", movers[0].moved, movers[1].moved,
           movers[2].put, movers[3].put, movers[2].taken, movers[3].taken);
    as(one);
    CHECK_INT(audit(), 0);
    end();
}

static int known(const struct bcri_ctx *ctx, int base, int cells)
{
    int count = 0;
    for (int i = 0; i < cells; i++) {
        uint64_t key = bcri_resolved_key(two_of_one, base + i);
        const struct bcri_resolved *resolved = bcri_resolved_entry((struct bcri_ctx *)(uintptr_t)ctx, key);
        count += resolved->key == key && resolved->version == bcri_load(resolved->version_at);
    }
    return count;
}

TEST(nearly_all_of_the_cells_that_a_CCE_uses_in_turn_are_remembered_however_many)
{
    enum { MANY = 5000, WALKS = 8 };
    begin();
    as(two);
    const int base = grow(MANY, 4, 0);
    as(one);
    for (int walk = 0; walk < WALKS; walk++)
        for (int i = 0; i < MANY; i++) {
            struct bcri_resolved *resolved;
            CHECK_INT(bcri_resolved_find(one, two_of_one, base + i, &resolved), 0);
            CHECK_INT(resolved->number, base + i);
            CHECK_UINT(resolved->ref, bcri_area_cell(resolved->area, (uint32_t)i));
        }
    CHECK(known(one, base, MANY) > MANY / 10 * 9);
    as(two);
    CHECK_INT(bcr_cafree(base), 0);
    CHECK_INT(known(one, base, MANY), 0);
    as(one);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, two_of_one, base, &resolved), bcrE_NOCELL);
    end();
}

/* A look-up of a CCE of another host says so, and drives no cell of this host out of the table. What
 * it has found does not change when the CCE meets others. */
TEST(a_cell_of_another_host_is_found_to_be_elsewhere_and_nothing_else_changes)
{
    enum { MANY = 3000 };
    begin();
    uint8_t identity[BCRI_IDENTITY_BYTES];
    struct bcri_resolved *resolved;
    bcr_cce_id far, other;
    (void)grow(0, 0, 1024);
    as(two);
    const int base = grow(200, 4, 1024);
    as(one);
    for (int i = 0; i < 200; i++)
        CHECK_INT(bcri_resolved_find(one, two_of_one, base + i, &resolved), 0);
    const struct bcri_cellmap *map = one->cells;
    const int before = known(one, base, 200);
    CHECK(before > 150);

    CHECK_INT(bcri_cce_encode(one, two_of_one, identity), 0);
    const uint32_t here = bcri_identity_host(identity);
    bcri_identity_name(identity, here + 1, bcri_identity_index(identity));
    CHECK_INT(bcri_cce_decode(one, identity, &far), 0);
    const struct bcri_elsewhere found = bcri_elsewhere(one, bcri_resolved_key(far, 17));
    for (int i = 0; i < MANY; i++) {
        const uint64_t key = bcri_resolved_key(far, i);
        CHECK_INT(bcri_resolved_find_key(one, key, &resolved).outcome, BCRI_ELSEWHERE);
        CHECK_INT(bcri_resolved_find_within(one, key, 0, &resolved).outcome, BCRI_ELSEWHERE);
        const struct bcri_elsewhere cell = bcri_elsewhere(one, key);
        CHECK_INT(cell.number, i);
        CHECK_UINT(cell.host, here + 1);
        CHECK_MEM(cell.identity, identity, sizeof identity);
        uint8_t stranger[BCRI_IDENTITY_BYTES]; /* the table of names grows */
        memcpy(stranger, identity, sizeof stranger);
        stranger[14] = (uint8_t)(identity[14] ^ (i + 1) >> 8);
        stranger[15] = (uint8_t)(identity[15] ^ (i + 1));
        CHECK_INT(bcri_cce_decode(one, stranger, &other), 0);
        CHECK(other != far);
    }
    CHECK_MEM(found.identity, identity, sizeof identity);
    CHECK_INT(found.number, 17);
    CHECK_PTR(one->cells, map);
    CHECK_INT(known(one, base, 200), before);

    bcr_region rgid = number(3);
    FAILS(bcr_enq(rgid, far, base, bcr_FREE), bcrE_NOCCE);
    FAILS_NULL(bcr_deq(far, base, bcr_BLOCK), bcrE_NOCCE);
    FAILS(bcr_zap(far, base), bcrE_NOCCE);
    FAILS(bcr_celllen(far, base), bcrE_NOCCE);
    int cells[2] = {far, base};
    FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_NOCCE);
    CHECK_INT(value_of(rgid), 3);
    end();
}

TEST(cells_that_come_and_go_do_not_make_the_table_of_places_grow)
{
    begin();
    for (int turn = 0; turn < 2000; turn++) {
        const int base = bcr_cagrow(1 + turn % 1000, 0, 0, 0, 4, 4, 0);
        struct bcri_resolved *resolved;
        for (int i = 0; i < 4; i++)
            CHECK_INT(bcri_resolved_find(one, 1, base + i, &resolved), 0);
        CHECK_INT(bcr_cafree(base), 0);
    }
    CHECK_UINT(one->cells_shift, 64 - BCRI_RESOLVEDS_LOG2);
    end();
}

/* To reach a segment for the first time takes a descriptor for a moment. One of this size is had
 * for these cells alone: smaller ones lie beside cells that have been reached. */
TEST(a_cell_that_cannot_be_reached_for_want_of_descriptors_is_NOMEM_and_nothing_has_changed)
{
    begin();
    grow(0, 0, 1024);
    struct bcri_ctx *far = join();
    as(far);
    int cell = grow(1 << 15, 9, 1024);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
    as(one);
    int cells[2] = {name(one, far), cell}, value = 7;
    bcr_region rgid = number(1);
    struct rlimit limit, none;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    FAILS(bcr_enq(rgid, cells[0], cell, bcr_FREE), bcrE_NOMEM);
    FAILS(bcr_write(rgid, cells[0], cell, bcr_NOFREE), bcrE_NOMEM);
    FAILS(bcr_rlswl(rgid, cells[0], cell), bcrE_NOMEM);
    FAILS(bcr_wl2rl(rgid, cells[0], cell), bcrE_NOMEM);
    FAILS_NULL(bcr_deq(cells[0], cell, bcr_BLOCK), bcrE_NOMEM);
    FAILS_NULL(bcr_read(cells[0], cell, bcr_PENDING), bcrE_NOMEM);
    FAILS_NULL(bcr_acqwl(cells[0], cell, 0), bcrE_NOMEM);
    FAILS_NULL(bcr_acqrl(cells[0], cell, bcr_BLOCK), bcrE_NOMEM);
    FAILS(bcr_zap(cells[0], cell), bcrE_NOMEM);
    FAILS(bcr_celllen(cells[0], cell), bcrE_NOMEM);
    bcr_errno = 0;
    CHECK_INT(bcr_send(&value, sizeof value, bcrT_1INT, 1, cells[0], cell, 1, 0), -2);
    CHECK_INT(bcr_errno, bcrE_NOMEM);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_NOMEM);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_INT(bcr_celllen(cells[0], cell), 1);
    CHECK_INT(take(cells[0], cell), 5);
    CHECK_INT(bcr_enq(rgid, cells[0], cell, bcr_FREE), 0);
    CHECK_INT(take(cells[0], cell), 1);
    CHECK_INT(audit(), 0);
    end();
}
