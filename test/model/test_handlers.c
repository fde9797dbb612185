/* SPDX-License-Identifier: MIT */
/* Random programs of puts, gets, locks, handlers with random priorities, and waiting, in one CCE:
 * every start of a handler, every return of a call that could have let others run, and what it
 * returned, must be what the two references allow, the one of cells (reference.h) and the one of
 * the scheduler (scheduler.h).
 *
 * One CCE, `one`, has the handlers. Each invocation, the main program too, does random steps; some
 * of them it does as `two`, who has no handlers and cells of its own. When nobody in `one` can run,
 * as the references say, a helper, a third CCE on a thread of its own, first sees it sleep and then
 * puts or takes something. So a run depends on its seed alone. BCR_TEST_SEED repeats it,
 * BCR_MODEL_TRACE=1 prints each step. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/atomics.h"
#include "bcri/bell.h"
#include "cce.h"
#include "reference.h"
#include "scheduler.h"

/* Cells 0 to OWN - 1 are one's, in an area with room; the others are two's, with little. */
enum { CELLS = 7, OWN = 5, ROOM = 2, PLENTY = 400, PRIORITIES = 4, ALIVE_MAX = 40, STEPS = 400, NONE = -1 };

enum what { PUT, GET, PUTM, RGWAIT, PRIORITY, ALLOW, INSTALL };

/* A call of `one` that may let others run, and what comes of it. */
struct call {
    enum what what;
    bool may_wait, take, write, pending, performed;
    int cell, value, id; /* of the request in `ref` */
    bool goes_to[OWN];   /* of PUTM */
    int activep, blockp; /* of PRIORITY, ALLOW, INSTALL */
    int mark;
    bool removes;
    enum ref_answer answer;
};

struct handler {
    bool installed;
    int mark, activep, blockp;
};

static struct sched sched;
static struct reference ref;
static struct call call[SCHED_INVOCATIONS]; /* that each invocation is in */
static struct handler handler[OWN];
static int cell_number[CELLS];
static uint64_t rng;
static int next_id, next_value, steps_left, performed;
static bool tracing, over_and_out;

static struct bcri_ctx *three;
static sem_t idle, helped;
static bool helper_ends;
static bool helping; /* of `one`: the helper was called, and has not been heard of since */
static pid_t thread_of_one;

#define TRACE(...)               \
    do {                         \
        if (tracing) {           \
            printf(__VA_ARGS__); \
            fflush(stdout);      \
        }                        \
    } while (0)

static int below(int bound)
{
    return (int)test_rand_below(&rng, (uint64_t)bound);
}

static int alive(void)
{
    int count = 0;
    for (int i = 0; i < sched.invocation_count; i++)
        count += sched.invocation[i].state != SCHED_OVER;
    return count;
}

/* ---- cells and marks, by the references ---- */

/* Whether `one` does what is done just now. */
static bool is_own;

static void request(int cell)
{
    int id = sched_request(&sched, cell, handler[cell].activep, handler[cell].blockp, is_own);
    TRACE("  request %d of cell %d, %d/%d\n", id, cell, handler[cell].activep, handler[cell].blockp);
}

/* Whose wait is over now? */
static void notice(void)
{
    for (int i = 0; i < sched.invocation_count; i++)
        if (sched.invocation[i].state == SCHED_WAITS && !sched.invocation[i].over && call[i].id != NONE &&
            ref.request[call[i].id].done) {
            TRACE("  the wait of %d is over\n", i);
            sched_over(&sched, i);
        }
}

static bool put_requests(int cell, int before, int after, bool write, enum ref_answer answer)
{
    return cell < OWN && handler[cell].installed && handler[cell].mark > 0 && answer == REF_DONE &&
           (write ? after >= 1 : after > before) && after >= handler[cell].mark;
}
static bool get_requests(int cell, int before, bool take)
{
    return cell < OWN && handler[cell].installed && handler[cell].mark <= 0 &&
           (handler[cell].mark == 0 ? before == 0 : take && before <= -handler[cell].mark);
}

static enum ref_answer put_by_reference(int id, int cell, int value, bool write, bool may_wait)
{
    const int before = ref.cell[cell].length;
    const enum ref_answer answer = ref_put(&ref, id, cell, value, write, may_wait);
    if (put_requests(cell, before, ref.cell[cell].length, write, answer))
        request(cell);
    notice();
    return answer;
}

static enum ref_answer get_by_reference(int id, int cell, bool take, bool may_wait)
{
    if (get_requests(cell, ref.cell[cell].length, take))
        request(cell);
    const enum ref_answer answer = ref_get(&ref, id, cell, !take, may_wait);
    notice();
    return answer;
}

static void install_by_reference(const struct call *c)
{
    struct handler *h = &handler[c->cell];
    if (c->removes) {
        sched_drop(&sched, c->cell);
        h->installed = false;
        return;
    }
    if (h->installed)
        sched_replace(&sched, c->cell, c->activep, c->blockp);
    *h = (struct handler){true, c->mark, c->activep, c->blockp};
}

/* ---- what happens inside of a call, by the references ---- */

/* The running invocation does what it called for. False: it waits now, or lets others run. */
static bool perform(int self)
{
    struct call *c = &call[self];
    c->performed = true;
    performed++;
    is_own = true;
    switch (c->what) {
    case PUT: c->answer = put_by_reference(c->id, c->cell, c->value, c->write, c->may_wait); break;
    case PUTM:
        for (int cell = 0; cell < OWN; cell++)
            if (c->goes_to[cell])
                put_by_reference(next_id++, cell, c->value, false, false);
        c->answer = REF_DONE;
        break;
    case GET: c->answer = get_by_reference(c->id, c->cell, c->take, c->may_wait); break;
    case RGWAIT: c->answer = ref.request[c->id].done ? REF_DONE : REF_WAITING; break;
    case PRIORITY: sched_priority(&sched, c->activep, c->blockp); return !sched_interrupts(&sched);
    case ALLOW:
        sched_allow(&sched, c->activep < 0 ? sched.invocation[self].activep : c->activep);
        return false;
    case INSTALL: install_by_reference(c); break;
    }
    if (c->answer == REF_WAITING && !c->pending) {
        sched_wait(&sched);
        return false;
    }
    return true;
}

/* Goes on until something can be seen from outside: a handler starts, a call returns, or, false,
 * nobody can run. */
static bool advance(void)
{
    for (;;) {
        int self = sched.runs;
        if (self == SCHED_NOBODY) {
            if (!sched_look(&sched))
                return false;
            for (int i = 0; i < sched.invocation_count && self == SCHED_NOBODY; i++)
                if (sched.invocation[i].state == SCHED_INTERRUPTED && !call[i].performed &&
                    sched_may_go_on(&sched, i))
                    self = i;
            if (self == SCHED_NOBODY)
                return true;
            sched_go_on(&sched, self);
        }
        if (call[self].performed || perform(self))
            return true;
    }
}

static _Noreturn void disagree(const char *happened, int id)
{
    printf("level %d, runs %d\n", sched_level(&sched), sched.runs);
    for (int i = 0; i < sched.invocation_count; i++)
        if (sched.invocation[i].state != SCHED_OVER)
            printf("  invocation %d: state %d, %d/%d, stopped %d, came %d..%d%s\n", i,
                   (int)sched.invocation[i].state, sched.invocation[i].activep, sched.invocation[i].blockp,
                   sched.invocation[i].stopped, sched.invocation[i].came.earliest,
                   sched.invocation[i].came.latest, sched_may_go_on(&sched, i) ? ": may go on" : "");
    for (int i = 0; i < sched.request_count; i++)
        if (sched.request[i].queued && !sched.request[i].dropped)
            printf("  request %d: cell %d, %d/%d, came %d..%d%s\n", i, sched.request[i].cell,
                   sched.request[i].activep, sched.request[i].blockp, sched.request[i].came.earliest,
                   sched.request[i].came.latest, sched_may_start(&sched, i) ? ": may start" : "");
    FAIL("%s %d, which the reference does not allow here", happened, id);
}

/* ---- the helper: it acts when nobody else can ---- */

/* What stands behind `key` in what the system tells of the thread of `one`. */
static void of_thread(const char *key, char value_out[32])
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread_of_one);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    value_out[0] = '\0';
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            (void)sscanf(line + strlen(key), " %31s", value_out);
    fclose(file);
}

static long sleeps(void)
{
    char value[32];
    of_thread("voluntary_ctxt_switches:", value);
    return atol(value);
}

static bool is_asleep(void)
{
    char value[32];
    of_thread("State:", value);
    return value[0] == 'S';
}

/* Nobody runs: `one` has gone to sleep, after it has looked whether it need not, and more than
 * `slept` times. */
static void see_it_sleep(long slept)
{
    while (bcri_load_acquire(&one->bell->sleeping) == 0 || !is_asleep() || sleeps() <= slept)
        sched_yield();
}

/* What another CCE does. */
struct deed {
    bool put, write, takes;
    int cell;
};

static struct deed some_put(int cell)
{
    return (struct deed){.put = true, .write = below(6) == 0, .cell = cell};
}
static struct deed some_get(int cell)
{
    return (struct deed){.takes = below(4) != 0, .cell = cell};
}

/* How much would come of it that `one` may see: requests, and waits that are over. */
static int events_of(struct deed deed)
{
    static struct reference trial;
    const int cell = deed.cell, before = ref.cell[cell].length;
    int events;
    trial = ref;
    if (deed.put) {
        const enum ref_answer answer = ref_put(&trial, next_id, cell, next_value, deed.write, false);
        events = put_requests(cell, before, trial.cell[cell].length, deed.write, answer);
    } else {
        ref_get(&trial, next_id, cell, !deed.takes, false);
        events = get_requests(cell, before, deed.takes);
    }
    for (int i = 0; i < sched.invocation_count; i++)
        events += sched.invocation[i].state == SCHED_WAITS && !sched.invocation[i].over &&
                  call[i].id != NONE && trial.request[call[i].id].done;
    return events;
}

static void put_as(struct bcri_ctx *who, struct deed deed)
{
    const int cell = deed.cell;
    bcr_region rgid = number(next_value);
    const bcr_cce_id owner = name(who, cell < OWN ? one : two);
    TRACE("  %s of %d into cell %d%s\n", deed.write ? "write" : "put", next_value, cell,
          who == three ? " by the helper" : "");
    CHECK(next_id < REF_REQUESTS); /* else nobody can go on for good */
    is_own = false;
    const enum ref_answer answer = put_by_reference(next_id++, cell, next_value++, deed.write, false);
    if (who == three)
        helper_ends = advance(); /* from now on `one` may run */
    bcr_errno = 0;
    CHECK_INT(bcr_put(!deed.write, rgid, owner, cell_number[cell], bcr_FREE), answer == REF_DONE ? 0 : -1);
    if (answer != REF_DONE) {
        CHECK_INT(bcr_errno, bcrE_FULL);
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
}

static void get_as(struct bcri_ctx *who, struct deed deed)
{
    const int cell = deed.cell, owner = name(who, cell < OWN ? one : two), id = next_id++;
    TRACE("  %s of cell %d%s\n", deed.takes ? "take" : "read", cell, who == three ? " by the helper" : "");
    is_own = false;
    const enum ref_answer answer = get_by_reference(id, cell, deed.takes, false);
    const int value = ref.request[id].value;
    if (who == three)
        helper_ends = advance();
    bcr_region rgid = bcr_get(deed.takes, owner, cell_number[cell], 0);
    CHECK_INT(rgid != NULL, answer == REF_DONE);
    if (rgid != NULL)
        CHECK_INT(value_of(rgid), value);
}

static void do_as(struct bcri_ctx *who, struct deed deed)
{
    if (deed.put)
        put_as(who, deed);
    else
        get_as(who, deed);
}

/* What lets the one go on that decides the level. */
static struct deed help_the_topmost(void)
{
    int top = NONE;
    for (int i = 0; i < sched.invocation_count; i++)
        if (sched.invocation[i].state == SCHED_WAITS && !sched.invocation[i].over &&
            (top == NONE || sched.invocation[i].stopped > sched.invocation[top].stopped))
            top = i;
    CHECK(top != NONE);
    return call[top].what == PUT ? some_get(call[top].cell) : some_put(call[top].cell);
}

/* Never one of which two things come: `one` might wake up and look between them. What waits waits
 * so that this can be found (may_wait_to_get and its like). */
static struct deed help_somebody(void)
{
    for (int tries = 0;; tries++) {
        CHECK(tries < 100000);
        const struct deed deed = below(2)   ? help_the_topmost()
                                 : below(3) ? some_put(below(CELLS))
                                            : some_get(below(CELLS));
        if (events_of(deed) <= 1)
            return deed;
    }
}

static void *help(void *arg)
{
    (void)arg;
    as(three);
    for (;;) {
        long slept = -1;
        CHECK_INT(sem_wait(&idle), 0);
        if (over_and_out)
            return NULL;
        for (helper_ends = false; !helper_ends;) {
            see_it_sleep(slept);
            const int before = performed;
            const long sleeps_before = sleeps();
            do_as(three, help_somebody());
            /* somebody went on, and waits again */
            slept = performed > before ? sleeps_before : -1;
        }
        CHECK_INT(sem_post(&helped), 0);
    }
}

/* Before `one` does what leaves nobody to run. */
static void expect_idleness(void)
{
    helping = true;
    CHECK_INT(sem_post(&idle), 0);
}

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

/* The helper may still be in the last lines of what it did. */
static void wait_for_helper(void)
{
    if (helping)
        CHECK_INT(sem_wait(&helped), 0);
    helping = false;
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

/* Whether a put may wait for room there: where a write waits nobody else does, since one region
 * that comes into its cell lets both in. */
static bool may_wait_to_put(int cell, bool write)
{
    const struct ref_list *puts = &ref.area[ref.cell[cell].area].puts;
    for (int i = 0; i < puts->count; i++)
        if (write || ref.request[puts->id[i]].write)
            return false;
    return !sched_would_interrupt(&sched) && alive() < ALIVE_MAX;
}

static bool somebody_reads(int cell)
{
    for (int i = 0; i < ref.cell[cell].gets.count; i++)
        if (ref.request[ref.cell[cell].gets.id[i]].read)
            return true;
    return false;
}

/* Whether a get may wait there: where a read waits nobody else does, and what it shares requests
 * nothing. */
static bool may_wait_to_get(int cell, bool takes)
{
    if (sched_would_interrupt(&sched) || alive() >= ALIVE_MAX)
        return false; /* when its turn comes others may wait */
    return takes ? !somebody_reads(cell)
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
    const int most = somebody_reads(cell) || sched_would_interrupt(&sched) ? 0 : 3;
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
    thread_of_one = gettid();
    three = join();
    memset(&ref, 0, sizeof ref);
    memset(handler, 0, sizeof handler);
    sched_begin(&sched);
    next_id = next_value = 0;
    steps_left = STEPS;
    over_and_out = helping = false;
    CHECK_INT(sem_init(&idle, 0, 0), 0);
    CHECK_INT(sem_init(&helped, 0, 0), 0);
    ref.area[0].nrgns = PLENTY;
    ref.area[1].nrgns = ROOM;
    int base = grow(OWN, PLENTY, 1 << 17);
    as(two);
    CHECK_INT(bcr_putwait(0), 0);
    int other = grow(CELLS - OWN, ROOM, 0);
    as(three);
    CHECK_INT(bcr_putwait(0), 0);
    as(one); /* who waits: what bcr_putwait says holds for all invocations */
    for (int cell = 0; cell < CELLS; cell++) {
        ref.cell[cell].area = cell >= OWN;
        cell_number[cell] = cell < OWN ? base + cell : other + cell - OWN;
    }
}

/* The main program waits until all others have gone home, which have no further steps to do. */
static void finish(void)
{
    for (int cell = 0; cell < OWN; cell++)
        install(SCHED_MAIN, cell, true);
    step_priority(SCHED_MAIN, 0, 0);
    while (alive() > 1) {
        int cell = 0;
        while (somebody_reads(cell))
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
    pthread_t helper;
    start(seed);
    CHECK_INT(pthread_create(&helper, NULL, help, NULL), 0);
    for (int cell = 0; cell < OWN; cell++)
        install(SCHED_MAIN, cell, false);
    while (steps_left > 0)
        step(SCHED_MAIN);
    finish();
    over_and_out = true;
    CHECK_INT(sem_post(&idle), 0);
    CHECK_INT(pthread_join(helper, NULL), 0);
    as(one);
    for (int cell = 0; cell < OWN; cell++)
        CHECK_INT(bcr_celllen(bcr_cce, cell_number[cell]), ref.cell[cell].length);
    end();
}

TEST_TIMEOUT(every_start_and_every_return_is_one_that_the_rule_allows, 1200)
{
    uint64_t seed = test_seed();
    tracing = getenv("BCR_MODEL_TRACE") != NULL;
    int runs = (int)test_scale(60, 3000);
    for (int i = 0; i < runs; i++) {
        TRACE("run %d\n", i);
        run(seed + (uint64_t)i);
    }
}
