/* SPDX-License-Identifier: MIT */
/* Random operations by several CCEs, one at a time, against the reference: after each, what every
 * cell holds, who waits, and what everybody was told is compared exactly.
 *
 * The thread of the test is each CCE in turn. A call that must wait, as the reference says, is made
 * on a thread of its own, and the test goes on when it waits; so a run depends on the seed alone.
 * BCR_TEST_SEED repeats it, BCR_MODEL_TRACE=1 prints each step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/waiters.h"
#include "cce.h"
#include "queue.h"
#include "random_run.h"
#include "reference.h"

enum { ACTORS = 4, HELD = 6, PENDING = 6, TARGETS = 4, ENDS = 40, PLENTY = 500 };
enum want { TAKE, READ, LOCK, READ_LOCK };

struct held {
    bcr_region rgid;
    int value;
};
struct pending {
    bcr_region rgid;
    int id;
    bool collected; /* by bcr_rgwaitm */
};
struct actor {
    struct bcri_ctx *ctx;
    bcr_cce_id cce[2]; /* what it calls the owners, actors 0 and 1 */
    struct later *busy;
    int busy_id[TARGETS], busy_count, busy_error;
    bool busy_gets;
    int busy_cells[2 * TARGETS];
    struct held held[HELD];
    int held_count;
    struct pending pending[PENDING];
    int pending_count;
};

static struct reference ref;
static struct actor actor[ACTORS];
static struct bcri_ctx *watcher;
static bcr_cce_id watcher_cce[2];
static int cell_number[REF_CELLS];
static const int area_of_cell[REF_CELLS] = {0, 0, 0, 1, 1, 2, 2, 2};
static const int owner_of_area[REF_AREAS] = {0, 0, 1};
static int next_value, next_id, ends;
static bool long_queues;

static int owner_of(int cell)
{
    return owner_of_area[area_of_cell[cell]];
}

static int free_actors(void)
{
    int count = 0;
    for (int i = 0; i < ACTORS; i++)
        count += actor[i].busy == NULL;
    return count;
}

static bool is_own(const struct actor *a, int cell)
{
    return a == &actor[owner_of(cell)];
}

/* ---- what a CCE holds ---- */

static void hold(struct actor *a, bcr_region rgid, int value)
{
    CHECK(rgid != NULL);
    CHECK_INT(peek(rgid), value);
    if (a->held_count < HELD && below(2))
        a->held[a->held_count++] = (struct held){rgid, value};
    else
        CHECK_INT(bcr_rgfree(rgid), 0);
}

static struct held pick_held(struct actor *a)
{
    if (a->held_count == 0 || below(3) == 0) {
        int value = next_value++;
        return (struct held){number(value), value};
    }
    int i = below(a->held_count);
    struct held held = a->held[i];
    a->held[i] = a->held[--a->held_count];
    return held;
}

/* The caller still has it, or has it again. */
static void keep(struct actor *a, struct held held)
{
    CHECK_INT(peek(held.rgid), held.value);
    if (a->held_count < HELD)
        a->held[a->held_count++] = held;
    else
        CHECK_INT(bcr_rgfree(held.rgid), 0);
}

/* ---- operations ---- */

static void wait_for(struct actor *a, struct later *later, bool gets, int error)
{
    a->busy = later;
    a->busy_gets = gets;
    a->busy_error = error;
}

static void do_put(struct actor *a, int cell, bool write)
{
    bool nofree = below(2);
    bool may_wait = !is_own(a, cell) && below(3) == 0 && free_actors() > 1;
    bcr_cce_id cce = a->cce[owner_of(cell)];
    int id = next_id++;
    struct held held = may_wait ? (struct held){NULL, next_value++} : pick_held(a);
    CHECK_INT(bcr_putwait(may_wait ? bcr_BLOCK : 0), 0);
    enum ref_answer answer = ref_put(&ref, id, cell, held.value, write, may_wait);
    TRACE("%td: %s %d to %d: %d\n", a - actor, write ? "write" : "put", held.value, cell, (int)answer);
    if (answer == REF_WAITING) {
        a->busy_id[0] = id;
        a->busy_count = 1;
        wait_for(a, later_put(a->ctx, !write, held.value, cce, cell_number[cell]), false, 0);
        return;
    }
    if (held.rgid == NULL)
        held.rgid = number(held.value);
    bcr_errno = 0;
    int returned = bcr_put(!write, held.rgid, cce, cell_number[cell], nofree);
    CHECK_INT(returned, answer == REF_DONE ? 0 : -1);
    CHECK_INT(bcr_errno, answer == REF_DONE ? 0 : bcrE_FULL);
    if (nofree || answer != REF_DONE)
        keep(a, held);
}

static void do_putm(struct actor *a)
{
    bool write = below(long_queues ? 32 : 4) == 0;
    bool may_wait = below(2) && free_actors() > 1;
    int count = 1 + below(TARGETS), value = next_value++, error = 0, target[TARGETS];
    enum ref_answer answer[TARGETS];
    for (int i = 0; i < count; i++) {
        target[i] = below(REF_CELLS);
        a->busy_cells[2 * i] = a->cce[owner_of(target[i])];
        a->busy_cells[2 * i + 1] = cell_number[target[i]];
        answer[i] = ref_put(&ref, next_id++, target[i], value, write, false);
    }
    a->busy_count = 0;
    for (int i = 0; i < count; i++) {
        if (answer[i] == REF_FULL && may_wait && !is_own(a, target[i]))
            answer[i] = ref_put(&ref, next_id++, target[i], value, write, true);
        if (answer[i] == REF_WAITING)
            a->busy_id[a->busy_count++] = next_id - 1;
        if (answer[i] == REF_FULL)
            error = bcrE_FULL;
        TRACE("%td: putm %d to %d: %d\n", a - actor, value, target[i], (int)answer[i]);
    }
    CHECK_INT(bcr_putwait(may_wait ? bcr_BLOCK : 0), 0);
    if (a->busy_count != 0) {
        wait_for(a, later_putm(a->ctx, !write, value, count, a->busy_cells, a->busy_count), false, error);
        return;
    }
    bcr_errno = 0;
    CHECK_INT(bcr_putm(!write, number(value), count, a->busy_cells, bcr_FREE), error == 0 ? 0 : -1);
    CHECK_INT(bcr_errno, error);
}

static bcr_region get_now(enum want want, bcr_cce_id cce, int number_, int msec)
{
    switch (want) {
    case TAKE: return bcr_deq(cce, number_, msec);
    case READ: return bcr_read(cce, number_, msec);
    case LOCK: return bcr_acqwl(cce, number_, msec);
    case READ_LOCK: return bcr_acqrl(cce, number_, msec);
    }
    return NULL;
}

static void do_get(struct actor *a, int cell)
{
    static const int msecs[] = {0, bcr_BLOCK, bcr_PENDING, 1000000};
    enum want want = (enum want)below(4);
    if (want == LOCK && a == &actor[ACTORS - 1])
        want = TAKE;
    int msec = msecs[below(4)], id = next_id++, cce = a->cce[owner_of(cell)];
    if (a->pending_count == PENDING && msec == bcr_PENDING)
        msec = 0;
    if (free_actors() == 1 && msec != bcr_PENDING)
        msec = 0;
    bool read = want == READ || want == READ_LOCK;
    enum ref_answer answer = ref_get(&ref, id, cell, read, msec != 0);
    TRACE("%td: get %d from %d, msec %d: %d\n", a - actor, (int)want, cell, msec, (int)answer);
    if (answer == REF_WAITING && msec != bcr_PENDING) {
        a->busy_id[0] = id;
        a->busy_count = 1;
        struct later *later = want == LOCK ? later_acqwl(a->ctx, cce, cell_number[cell], msec)
                                           : later_get(a->ctx, want == TAKE, cce, cell_number[cell], msec);
        wait_for(a, later, true, 0);
        return;
    }
    bcr_errno = 0;
    bcr_region rgid = get_now(want, cce, cell_number[cell], msec);
    if (answer == REF_TIMEOUT) {
        CHECK_PTR(rgid, NULL);
        CHECK_INT(bcr_errno, bcrE_TIMEOUT);
        return;
    }
    CHECK(rgid != NULL);
    if (answer == REF_WAITING) {
        a->pending[a->pending_count++] = (struct pending){.rgid = rgid, .id = id};
        return;
    }
    if (msec == bcr_PENDING)
        CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
    hold(a, rgid, ref.request[id].value);
}

static void drop_pending(struct actor *a, int i)
{
    a->pending[i] = a->pending[--a->pending_count];
}

static void do_rgwait(struct actor *a)
{
    if (a->pending_count == 0)
        return;
    int i = below(a->pending_count), how = below(3);
    struct pending pending = a->pending[i];
    bool done = ref.request[pending.id].done;
    TRACE("%td: rgwait %d, how %d: %d\n", a - actor, pending.id, how, done);
    if (how == 2) {
        CHECK_INT(bcr_rgfree(pending.rgid), 0);
        drop_pending(a, i);
    } else {
        CHECK_INT(bcr_rgwait(pending.rgid, done ? bcr_BLOCK : 0, how), done);
        if (done || how == 1)
            drop_pending(a, i);
        if (done)
            hold(a, pending.rgid, ref.request[pending.id].value);
    }
    if (!done && how != 0)
        ref_cancel(&ref, pending.id);
}

static void do_rgwaitm(struct actor *a)
{
    bcr_region ids[PENDING];
    int first = 0, failfree = below(2);
    if (a->pending_count == 0)
        return;
    for (int i = a->pending_count; i-- > 0;) {
        ids[i] = a->pending[i].rgid;
        if (ref.request[a->pending[i].id].done)
            first = i + 1;
    }
    TRACE("%td: rgwaitm of %d, failfree %d: %d\n", a - actor, a->pending_count, failfree, first);
    CHECK_INT(bcr_rgwaitm(a->pending_count, ids, first != 0 ? bcr_BLOCK : 0, failfree), first);
    if (first != 0)
        a->pending[first - 1].collected = true;
    if (first == 0 && failfree)
        for (; a->pending_count > 0; a->pending_count--)
            ref_cancel(&ref, a->pending[a->pending_count - 1].id);
}

static void do_change(struct actor *a)
{
    if (a->held_count == 0)
        return;
    struct held *held = &a->held[below(a->held_count)];
    CHECK_INT(peek(held->rgid), held->value);
    TRACE("%td: change %d to %d\n", a - actor, held->value, next_value);
    if (below(2)) {
        CHECK_INT(bcr_rgmod(held->rgid), 0);
        **(int **)held->rgid = next_value;
    } else {
        CHECK_INT(bcr_copyto(bcrT_1INT, 1, held->rgid, 0, &next_value, sizeof next_value), 2);
    }
    held->value = next_value++;
}

static void do_free(struct actor *a)
{
    if (a->held_count != 0)
        CHECK_INT(value_of(a->held[a->held_count - 1].rgid), a->held[a->held_count - 1].value);
    if (a->held_count != 0)
        a->held_count--;
}

static void do_zap(struct actor *a, int cell)
{
    TRACE("%td: zap %d\n", a - actor, cell);
    ref_zap(&ref, cell);
    CHECK_INT(bcr_zap(a->cce[owner_of(cell)], cell_number[cell]), 0);
}

/* What is given back may be beyond the bound: only where there is plenty is it certain what room is
 * left then. */
static bool may_end(const struct actor *a)
{
    for (int i = 0; i < a->pending_count; i++) {
        int id = a->pending[i].id;
        if (ref.request[id].done && ref.area[area_of_cell[ref.request[id].cell]].nrgns != PLENTY)
            return false;
    }
    return true;
}

/* One that never takes a write lock ends, and another takes its place. What it was handed and has
 * not collected goes back; what it held is free. */
static void do_end(struct actor *a)
{
    TRACE("%td: ends\n", a - actor);
    as(NULL);
    leave(a->ctx);
    for (int i = 0; i < a->pending_count; i++)
        if (!ref.request[a->pending[i].id].done)
            ref_cancel(&ref, a->pending[i].id);
    for (;;) {
        int last = -1;
        for (int i = 0; i < a->pending_count; i++) {
            int id = a->pending[i].id;
            if (ref.request[id].done && !ref.request[id].read && !a->pending[i].collected &&
                (last < 0 || ref.request[id].served > ref.request[last].served))
                last = id;
        }
        if (last < 0)
            break;
        ref_give_back(&ref, last);
        ref.request[last].done = false;
    }
    for (int cell = 0; cell < REF_CELLS; cell++)
        ref_service(&ref, cell);
    a->pending_count = a->held_count = 0;
    a->ctx = join();
    a->cce[0] = name(a->ctx, one);
    a->cce[1] = name(a->ctx, two);
    ends++;
}

/* ---- comparing ---- */

static void collect(struct actor *a)
{
    for (int i = 0; i < a->busy_count; i++)
        if (!ref.request[a->busy_id[i]].done)
            return;
    struct outcome outcome = result(a->busy);
    a->busy = NULL;
    TRACE("%td: goes on: %d\n", a - actor, outcome.returned);
    CHECK_INT(outcome.returned, a->busy_error == 0 ? 0 : -1);
    if (a->busy_error != 0)
        CHECK_INT(outcome.error, a->busy_error);
    if (!a->busy_gets)
        return;
    CHECK_INT(outcome.value, ref.request[a->busy_id[0]].value);
    if (outcome.is_lock) {
        as(a->ctx);
        hold(a, outcome.rgid, outcome.value);
    }
}

static void compare_cell(int cell)
{
    int values[REF_QUEUE];
    bcr_cce_id cce = watcher_cce[owner_of(cell)];
    int length = queue_values(watcher, cce, cell_number[cell], values, REF_QUEUE);
    CHECK_INT(length, ref.cell[cell].length);
    for (int i = 0; i < length; i++)
        CHECK_INT(values[i], ref.cell[cell].queue[i]);
    as(watcher);
    CHECK_INT(bcr_celllen(cce, cell_number[cell]), length);
}

/* Without collecting it. */
static bool is_ready(const struct actor *a, const struct pending *pending)
{
    return bcri_request_ready(a->ctx, group_slot(a->ctx, pending->rgid));
}

static void trace_state(void)
{
    for (int cell = 0; cell < REF_CELLS; cell++)
        TRACE(" %d", ref.cell[cell].length);
    for (int area = 0; area < REF_AREAS; area++) {
        TRACE(" | area %d:", area);
        for (int i = 0; i < ref.area[area].puts.count; i++) {
            int id = ref.area[area].puts.id[i];
            TRACE(" %s%d to %d", ref.request[id].write ? "write " : "", ref.request[id].value,
                  ref.request[id].cell);
        }
    }
    TRACE("\n");
}

static void compare(void)
{
    trace_state();
    for (int i = 0; i < ACTORS; i++)
        if (actor[i].busy != NULL)
            collect(&actor[i]);
    for (int cell = 0; cell < REF_CELLS; cell++)
        compare_cell(cell);
    for (int area = 0, cell = 0; area < REF_AREAS; area++) {
        while (area_of_cell[cell] != area)
            cell++;
        CHECK_INT(waiting_puts_at(watcher_cce[owner_of_area[area]], cell_number[cell]),
                  ref.area[area].puts.count);
    }
    for (int i = 0; i < ACTORS; i++) {
        struct actor *a = &actor[i];
        if (a->busy != NULL)
            continue;
        as(a->ctx);
        for (int k = 0; k < a->pending_count; k++)
            CHECK_INT(is_ready(a, &a->pending[k]), ref.request[a->pending[k].id].done);
    }
}

static void step(void)
{
    struct actor *a;
    do
        a = &actor[below(ACTORS)];
    while (a->busy != NULL);
    as(a->ctx);
    int cell = below(REF_CELLS);
    switch (below(long_queues ? 14 : 16)) {
    case 0:
    case 1:
    case 2:
    case 3: do_put(a, cell, false); break;
    case 4: do_put(a, cell, !long_queues || below(8) == 0); break;
    case 5: do_putm(a); break;
    case 6:
    case 7:
    case 8:
    case 9: do_get(a, cell); break;
    case 10:
    case 11: do_rgwait(a); break;
    case 12: do_rgwaitm(a); break;
    case 13: do_change(a); break;
    case 14: do_free(a); break;
    default:
        if (below(4) == 0)
            do_zap(a, cell);
    }
    if (a == &actor[ACTORS - 1] && a->busy == NULL && ends < ENDS && below(8) == 0) {
        compare();
        if (may_end(a))
            do_end(a);
    }
}

/* ---- runs ---- */

static void start(void)
{
    static const int bounds[] = {0, 1, 2, 3, 9, 20, PLENTY, PLENTY};
    begin();
    watcher = join();
    watcher_cce[0] = name(watcher, one);
    watcher_cce[1] = name(watcher, two);
    memset(&ref, 0, sizeof ref);
    memset(actor, 0, sizeof actor);
    next_value = next_id = ends = 0;
    actor[0].ctx = one;
    actor[1].ctx = two;
    for (int i = 2; i < ACTORS; i++)
        actor[i].ctx = join();
    for (int i = 0; i < ACTORS; i++) {
        actor[i].cce[0] = name(actor[i].ctx, one);
        actor[i].cce[1] = name(actor[i].ctx, two);
    }
    for (int area = 0, cell = 0; area < REF_AREAS; area++) {
        int cells = 0;
        while (cell + cells < REF_CELLS && area_of_cell[cell + cells] == area)
            cells++;
        ref.area[area].nrgns = bounds[below(sizeof bounds / sizeof bounds[0])];
        as(actor[owner_of_area[area]].ctx);
        /* Unused cells make the others' rings short: queues go on behind them. */
        int base = grow(cells + 15 * below(2), ref.area[area].nrgns, 1 << 17);
        for (int i = 0; i < cells; i++, cell++) {
            ref.cell[cell].area = area;
            cell_number[cell] = base + i;
        }
    }
}

/* Brings everybody home: waiting puts find their regions taken, waiting gets are given one. */
static void finish(void)
{
    struct actor *helper = NULL;
    while (free_actors() < ACTORS) {
        for (int i = 0; i < ACTORS; i++)
            if (actor[i].busy == NULL)
                helper = &actor[i];
        CHECK(helper != NULL);
        as(helper->ctx);
        for (int cell = 0; cell < REF_CELLS; cell++) {
            bcr_cce_id cce = helper->cce[owner_of(cell)];
            /* a take, for those who put; then a put, for those who get: it meets a take in any
             * case */
            int id = next_id++;
            enum ref_answer answer = ref_get(&ref, id, cell, false, true);
            bcr_region rgid = bcr_deq(cce, cell_number[cell], bcr_PENDING);
            if (answer == REF_WAITING) {
                CHECK_INT(bcr_putwait(0), 0);
                CHECK_INT(ref_put(&ref, next_id++, cell, next_value, false, false), REF_DONE);
                CHECK_INT(bcr_enq(number(next_value++), cce, cell_number[cell], bcr_FREE), 0);
            }
            bool done = ref.request[id].done;
            CHECK_INT(bcr_rgwait(rgid, 0, 1), done);
            if (done)
                CHECK_INT(value_of(rgid), ref.request[id].value);
            else
                ref_cancel(&ref, id);
        }
        compare();
        as(helper->ctx);
    }
    for (int i = 0; i < ACTORS; i++) {
        struct actor *a = &actor[i];
        as(a->ctx);
        for (; a->pending_count > 0; a->pending_count--)
            CHECK_INT(bcr_rgfree(a->pending[a->pending_count - 1].rgid), 0);
        while (a->held_count > 0)
            do_free(a);
    }
    as(watcher);
    int queued = 0;
    for (int cell = 0; cell < REF_CELLS; cell++)
        queued += ref.cell[cell].length;
    CHECK((int)audit() <= queued); /* one region may lie in several cells */
}

static void run(uint64_t seed, int steps)
{
    rng = seed;
    long_queues = below(2);
    start();
    for (int i = 0; i < steps; i++) {
        step();
        compare();
    }
    finish();
    end();
}

TEST_TIMEOUT(what_several_do_in_turn_is_what_the_reference_says, 1200)
{
    uint64_t seed = test_seed();
    trace_if_wanted();
    int runs = (int)test_scale(20, 1000);
    for (int i = 0; i < runs; i++) {
        TRACE("run %d\n", i);
        run(seed + (uint64_t)i, 1000); /* of at most eight requests each: REF_REQUESTS */
    }
}
