/* SPDX-License-Identifier: MIT */
/* Random programs of puts, gets, locks, handlers with random priorities, and waiting, in one CCE:
 * every start of a handler, every return of a call that could have let other invocations run, and
 * what it returned, must be what the references allow (joint.h).
 *
 * One CCE, `one`, has the handlers. Each invocation, the main program too, does random steps; some
 * of them it does as `two`, a CCE without handlers and with cells of its own. When no invocation of
 * `one` can run, as the references say, the helper (helper.h) first sees `one` sleep and then puts
 * or takes something. So a run depends on its seed alone. BCR_TEST_SEED repeats it,
 * BCR_MODEL_TRACE=1 prints each step. */
#include "cce.h"
#include "helper.h"
#include "joint.h"
#include "random_run.h"

enum { ALIVE_MAX = 40, STEPS = 400 };

static int steps_left;

/* ---- what the invocations do ---- */

static void on_cell(int number);

static void enter(int self, struct call c)
{
    call[self] = c;
    if (c.what != ALLOW)
        sched_interrupts(&sched);
    if (!advance())
        expect_idleness();
}

/* Its call has returned. */
static const struct call *returned(int self)
{
    wait_for_helper();
    advance();
    if (sched.runs != self) {
        if (!sched_may_go_on(&sched, self))
            disagree("returned to invocation", self);
        sched_go_on(&sched, self);
    }
    TRACE("%d goes on\n", self);
    return &call[self];
}

/* Whether a put may wait for room there: where a write waits no other put does, since one region
 * that comes into its cell lets both in. */
static bool may_wait_to_put(int cell, bool write)
{
    const struct ref_list *puts = &ref.area[ref.cell[cell].area].puts;
    for (int i = 0; i < puts->count; i++)
        if (write || ref.request[puts->id[i]].write)
            return false;
    return !sched_would_interrupt(&sched) && alive() < ALIVE_MAX;
}

static bool a_read_waits(int cell)
{
    for (int i = 0; i < ref.cell[cell].gets.count; i++)
        if (ref.request[ref.cell[cell].gets.id[i]].read)
            return true;
    return false;
}

/* Whether a get may wait there: where a read waits no other get does, and what it shares requests
 * nothing. */
static bool may_wait_to_get(int cell, bool takes)
{
    if (sched_would_interrupt(&sched) || alive() >= ALIVE_MAX)
        return false; /* when its turn comes others may wait */
    return takes ? !a_read_waits(cell)
                 : ref.cell[cell].gets.count == 0 &&
                       !(cell < OWN && handler[cell].installed && handler[cell].mark > 0);
}

static void step_put(int self)
{
    const bool write = below(5) == 0;
    int cell = below(CELLS);
    if (cell >= OWN && !may_wait_to_put(cell, write))
        cell = below(OWN);
    const int value = next_value++;
    const bool wait = cell >= OWN;
    bcr_region rgid = number(value);
    TRACE("%d: %s of %d into cell %d%s\n", self, write ? "write" : "put", value, cell,
          wait ? ", waiting" : "");
    enter(self,
          (struct call){
              .what = PUT, .cell = cell, .value = value, .write = write, .may_wait = wait, .id = next_id++});
    bcr_errno = 1000 + self;
    const int result =
        bcr_put(!write, rgid, cell < OWN ? bcr_cce : name(one, two), cell_number[cell], bcr_FREE);
    const struct call *c = returned(self);
    const bool done = c->answer == REF_DONE || c->answer == REF_WAITING;
    CHECK_INT(result, done ? 0 : -1);
    CHECK_INT(bcr_errno, done ? 1000 + self : bcrE_FULL);
    if (!done)
        CHECK_INT(bcr_rgfree(rgid), 0);
}

/* How a region is got: by bcr_get, or as one that is locked; and put back. */
struct means {
    bcr_region (*get)(bcr_cce_id cce, int cell, int msec);
    const char *name;
    bool takes;
};
static bcr_region take_it(bcr_cce_id cce, int cell, int msec)
{
    return bcr_deq(cce, cell, msec);
}
static bcr_region read_it(bcr_cce_id cce, int cell, int msec)
{
    return bcr_read(cce, cell, msec);
}
static const struct means take_means = {take_it, "take", true}, read_means = {read_it, "read", false},
                          write_lock = {bcr_acqwl, "write lock", true},
                          read_lock = {bcr_acqrl, "read lock", false};

/* The region, or NULL; its value in `*value_out`. */
static bcr_region get_by(int self, int cell, const struct means *means, bool wait, bool pending,
                         int *value_out)
{
    const int id = next_id++;
    TRACE("%d: %s of cell %d%s%s\n", self, means->name, cell, wait ? ", waiting" : "",
          pending ? " later" : "");
    enter(
        self,
        (struct call){
            .what = GET, .cell = cell, .take = means->takes, .may_wait = wait, .pending = pending, .id = id});
    bcr_errno = 1000 + self;
    bcr_region rgid = means->get(cell < OWN ? bcr_cce : name(one, two), cell_number[cell],
                                 pending ? bcr_PENDING
                                 : wait  ? bcr_BLOCK
                                         : 0);
    const struct call *c = returned(self);
    const bool found = c->answer != REF_TIMEOUT;
    CHECK_INT(rgid != NULL, found);
    CHECK_INT(bcr_errno, found ? 1000 + self : bcrE_TIMEOUT);
    if (found && pending) {
        enter(self, (struct call){.what = RGWAIT, .cell = cell, .id = id});
        CHECK_INT(bcr_rgwait(rgid, -1, 0), 1);
        returned(self);
    }
    *value_out = ref.request[id].value;
    return rgid;
}

static void get(int self, int cell, bool takes, bool wait, bool pending)
{
    int value;
    bcr_region rgid = get_by(self, cell, takes ? &take_means : &read_means, wait, pending, &value);
    if (rgid != NULL)
        CHECK_INT(value_of(rgid), value);
}

static void step_get(int self)
{
    const int cell = below(CELLS);
    const bool takes = below(3) != 0, wait = below(2) && may_wait_to_get(cell, takes);
    get(self, cell, takes, wait, wait && below(3) == 0);
}

/* A write lock's release is a replacement; in a cell of two's it may have to wait for room. */
static void release(int self, int cell, int value, bcr_region rgid)
{
    const bool keeps = below(3) == 0;
    TRACE("%d: release of %d into cell %d%s\n", self, value, cell, keeps ? ", still read" : "");
    enter(self,
          (struct call){
              .what = PUT, .cell = cell, .value = value, .write = true, .may_wait = true, .id = next_id++});
    const bcr_cce_id cce = cell < OWN ? bcr_cce : name(one, two);
    CHECK_INT(keeps ? bcr_wl2rl(rgid, cce, cell_number[cell]) : bcr_rlswl(rgid, cce, cell_number[cell]), 0);
    returned(self);
    if (keeps)
        CHECK_INT(value_of(rgid), value);
}

static void step(int self);

static void step_lock(int self)
{
    const int cell = below(CELLS);
    const bool writes = below(2), wait = below(2) && may_wait_to_get(cell, writes);
    int value;
    bcr_region rgid =
        get_by(self, cell, writes ? &write_lock : &read_lock, wait, wait && below(3) == 0, &value);
    if (rgid == NULL)
        return;
    CHECK_INT(peek(rgid), value);
    for (int i = below(3); i > 0 && steps_left > 0; i--)
        step(self); /* with the lock */
    if (!writes) {
        CHECK_INT(bcr_rlsrl(rgid), 0);
    } else if (cell < OWN) {
        value = next_value++;
        **(int **)rgid = value;
        release(self, cell, value, rgid);
    } else if (may_wait_to_put(cell, true)) {
        release(self, cell, value, rgid);
    } else {
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
}

static void step_putm(int self)
{
    struct call c = {.what = PUTM, .value = next_value++, .id = NONE};
    int pairs[2 * OWN], count = 0;
    bcr_region rgid = number(c.value);
    TRACE("%d: putm of %d into", self, c.value);
    for (int cell = 0; cell < OWN; cell++)
        if ((c.goes_to[cell] = below(2))) {
            pairs[2 * count] = bcr_cce;
            pairs[2 * count++ + 1] = cell_number[cell];
            TRACE(" %d", cell);
        }
    TRACE("\n");
    enter(self, c);
    CHECK_INT(bcr_enqm(rgid, count, pairs, bcr_FREE), 0);
    returned(self);
}

static void step_priority(int self, int activep, int blockp)
{
    TRACE("%d: priority %d/%d\n", self, activep, blockp);
    enter(self, (struct call){.what = PRIORITY, .activep = activep, .blockp = blockp, .id = NONE});
    CHECK_INT(bcr_priority(activep, blockp), 0);
    returned(self);
}

static void allow(int self, int priority)
{
    TRACE("%d: allow %d\n", self, priority);
    enter(self, (struct call){.what = ALLOW, .activep = priority, .id = NONE});
    CHECK_INT(bcr_allow(priority), 0);
    returned(self);
}

static void install(int self, int cell, bool removes)
{
    const int most = a_read_waits(cell) || sched_would_interrupt(&sched) ? 0 : 3;
    const struct call c = {.what = INSTALL,
                           .cell = cell,
                           .mark = below(most + 4) - 3,
                           .activep = below(PRIORITIES),
                           .blockp = below(PRIORITIES),
                           .removes = removes,
                           .id = NONE};
    TRACE("%d: %s cell %d, mark %d, %d/%d\n", self, removes ? "removes" : "installs", cell, c.mark, c.activep,
          c.blockp);
    enter(self, c);
    CHECK_INT(bcr_handler(cell_number[cell], removes ? NULL : on_cell, c.mark, c.activep, c.blockp), 0);
    returned(self);
}

static void step(int self)
{
    steps_left--;
    switch (below(18)) {
    case 16: step_lock(self); break;
    case 17: step_putm(self); break;
    case 0:
    case 1:
    case 2: step_put(self); break;
    case 3:
    case 4:
    case 5: step_get(self); break;
    case 6: step_priority(self, below(PRIORITIES), below(PRIORITIES)); break;
    case 7: allow(self, below(PRIORITIES + 1) - 1); break;
    case 8: install(self, below(OWN), below(6) == 0); break;
    case 9:
    case 10:
    case 11:
    case 12:
        as(two);
        do_as(two, some_put(below(CELLS)));
        as(one);
        break;
    default:
        as(two);
        do_as(two, some_get(below(CELLS)));
        as(one);
    }
}

static void on_cell(int number)
{
    int cell = 0, first = NONE;
    wait_for_helper();
    while (cell_number[cell] != number)
        cell++;
    advance();
    for (int i = 0; i < sched.request_count && first == NONE; i++)
        if (sched.request[i].cell == cell && sched_may_start(&sched, i))
            first = i;
    if (first == NONE)
        disagree("started the handler of cell", cell);
    const int self = sched_start(&sched, first);
    TRACE("%d starts, request %d of cell %d\n", self, first, cell);
    CHECK_INT(bcr_errno, bcrE_OK);
    for (int i = below(5); i > 0 && steps_left > 0; i--)
        step(self);
    TRACE("%d ends\n", self);
    sched_end(&sched);
    if (!advance())
        expect_idleness();
}

/* ---- runs ---- */

static void start(uint64_t seed)
{
    rng = seed;
    begin();
    joint_begin();
    next_value = 0;
    steps_left = STEPS;
    int base = grow(OWN, PLENTY, 1 << 17);
    as(two);
    CHECK_INT(bcr_putwait(0), 0);
    int other = grow(CELLS - OWN, ROOM, 0);
    as(one); /* who waits: what bcr_putwait says holds for all invocations */
    for (int cell = 0; cell < CELLS; cell++)
        cell_number[cell] = cell < OWN ? base + cell : other + cell - OWN;
    helper_begin();
}

/* The main program waits until all others have gone home, which have no further steps to do. */
static void finish(void)
{
    for (int cell = 0; cell < OWN; cell++)
        install(SCHED_MAIN, cell, true);
    step_priority(SCHED_MAIN, 0, 0);
    while (alive() > 1) {
        int cell = 0;
        while (a_read_waits(cell))
            CHECK(++cell < CELLS);
        as(two);
        while (ref.cell[cell].length > 0)
            do_as(two, (struct deed){.takes = true, .cell = cell});
        as(one);
        get(SCHED_MAIN, cell, true, true, false);
    }
}

static void run(uint64_t seed)
{
    start(seed);
    for (int cell = 0; cell < OWN; cell++)
        install(SCHED_MAIN, cell, false);
    while (steps_left > 0)
        step(SCHED_MAIN);
    finish();
    helper_end();
    as(one);
    for (int cell = 0; cell < OWN; cell++)
        CHECK_INT(bcr_celllen(bcr_cce, cell_number[cell]), ref.cell[cell].length);
    end();
}

TEST_TIMEOUT(every_start_and_every_return_is_one_that_the_rule_allows, 1200)
{
    uint64_t seed = test_seed();
    trace_if_wanted();
    int runs = (int)test_scale(60, 3000);
    for (int i = 0; i < runs; i++) {
        TRACE("run %d\n", i);
        run(seed + (uint64_t)i);
    }
}
