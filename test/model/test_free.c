/* SPDX-License-Identifier: MIT */
/* Handlers of several CCEs that run freely, as processes and as threads: puts, replacements, gets
 * with and without time, locks, demands, from the main programs and from handlers, which wait in
 * the midst of it and are replaced while they are requested. Nobody can say beforehand what comes
 * of it. But the cells are such that each caller knows whether its call has requested a handler, so
 * that in the end
 *
 *   - each handler has run as often as it was requested,
 *   - a cell's handler was started in the order in which a main program put regions there,
 *   - what handlers gave was got, once,
 *   - no CCE has changed what another one had locked.
 *
 * A run in which a request is lost ends with one run too few; one that waits for it for ever is
 * ended by the watchdog. */
#include <bcr.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "group.h"

#include "bcri/audit.h"
#include "bcri/cces.h"
#include "bcri/repair.h"
#include "bcri/self.h"

/* The cells of each member. FIRST and SECOND: mark 1, one priority, no CCE waits there and only
 * their handlers take. STOCK, LOCKED: every take requests, whatever it finds. FICKLE: its handler
 * comes and goes. DEMAND: no room, so it is empty always. SILENT has no handler, and no CCE puts
 * anything there. */
enum { FIRST = 1, SECOND, STOCK, FICKLE, LOCKED, DEMAND, CELLS = DEMAND, SILENT };
enum { MEMBERS = 4, NRGNS = 200, HEAP_BYTES = 1 << 18, UNDER_WAY_MOST = 30, ALL = -100000 };
enum { LOW = 0, MIDDLE = 1, HIGH = 2, ANSWERS = 3 }; /* priorities */

struct shared {
    _Atomic uint32_t index[MEMBERS], ready, finished, counted;
    _Atomic uint64_t requests[MEMBERS][CELLS + 1];
    _Atomic uint64_t given[MEMBERS],
        got[MEMBERS];                  /* sums of what DEMAND's handler gave, and of what others got */
    _Atomic uint64_t changes[MEMBERS]; /* of what lies in LOCKED */
};

struct message {
    uint32_t from, number; /* 0: of a handler, which may be interrupted before it puts this */
};

/* `from` is the cell where it tells who began. */
struct log {
    size_t count, room;
    struct message *entry;
};

struct member {
    struct bcri_ctx *ctx;
    struct shared *shared;
    int self, cce[MEMBERS];
    uint64_t random;
    uint32_t steps;
    bool quiet, fickle; /* its handlers begin nothing; FICKLE has one */
    int under_way;
    uint32_t sent; /* the last that its main program put into a CCE's FIRST or SECOND */
    struct log started,
        taken[SECOND + 1]; /* of FIRST and SECOND: whose handler began, and what was taken, in order */
    uint64_t runs[CELLS + 1], answers;
};

/* Members are processes, or threads of one. */
static _Thread_local struct member *me;

static int below(int bound)
{
    return (int)test_rand_below(&me->random, (uint64_t)bound);
}

/* What may come of a call among others. */
static void expect(const char *what)
{
    if (bcr_errno != bcrE_FULL && bcr_errno != bcrE_TIMEOUT)
        FAIL("%s: %s", what, bcr_strerror(bcr_errno));
}

static void requested(int member, int cell)
{
    atomic_fetch_add(&me->shared->requests[member][cell], 1);
}

static void note(struct log *log, struct message entry)
{
    if (log->count == log->room) {
        log->room = log->room != 0 ? 2 * log->room : 1024;
        log->entry = realloc(log->entry, log->room * sizeof *log->entry);
        CHECK(log->entry != NULL);
    }
    log->entry[log->count++] = entry;
}

static bcr_region message(uint32_t number)
{
    bcr_region rgid = bcr_rgalloc((int)sizeof(struct message), 0);
    CHECK(rgid != NULL);
    *(struct message *)*rgid = (struct message){(uint32_t)me->self, number};
    return rgid;
}

/* ---- what they do ---- */

/* `number` may be 0. */
static void send_to(int member, int cell, bool write, uint32_t number)
{
    bcr_region rgid = message(number);
    if (bcr_put(!write, rgid, me->cce[member], cell, bcr_FREE) == 0) {
        if (cell != STOCK)
            requested(member, cell);
    } else {
        expect("put");
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
}

static void send_to_all(uint32_t number)
{
    int cells[2 * MEMBERS];
    bcr_region rgid = message(number);
    for (int i = 0; i < MEMBERS; i++) {
        cells[2 * i] = me->cce[i];
        cells[2 * i + 1] = FIRST + i % 2;
    }
    for (int i = 0; i < MEMBERS; i++)
        if (bcr_celllen(me->cce[i], FIRST) > NRGNS / 4) {
            CHECK_INT(bcr_rgfree(rgid), 0);
            return; /* which of them have failed could not be told */
        }
    CHECK_INT(bcr_enqm(rgid, MEMBERS, cells, bcr_FREE), 0);
    for (int i = 0; i < MEMBERS; i++)
        requested(i, FIRST + i % 2);
}

static void take_from_stock(int member, int msec)
{
    requested(member, STOCK);
    bcr_region rgid = bcr_deq(me->cce[member], STOCK, msec);
    if (rgid != NULL)
        CHECK_INT(bcr_rgfree(rgid), 0);
    else
        expect("deq");
}

static void ask(int member, int msec)
{
    requested(member, DEMAND);
    bcr_region rgid = bcr_deq(me->cce[member], DEMAND, msec == bcr_PENDING ? bcr_PENDING : msec);
    if (rgid != NULL && msec == bcr_PENDING) {
        const int ready = bcr_rgwait(rgid, below(3) - 1, 1);
        CHECK(ready == 0 || ready == 1);
        if (ready == 0)
            return;
    }
    if (rgid == NULL) {
        expect("deq of a demand");
        CHECK(msec != bcr_BLOCK);
        return;
    }
    const struct message *answer = *rgid;
    CHECK_UINT(answer->from, (uint32_t)member);
    atomic_fetch_add(&me->shared->got[member], answer->number);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

static void change(int member)
{
    requested(member, LOCKED);
    bcr_region rgid = bcr_acqwl(me->cce[member], LOCKED, below(3));
    if (rgid == NULL) {
        expect("acqwl");
        return;
    }
    uint64_t *value = *rgid;
    ++*value;
    atomic_fetch_add(&me->shared->changes[member], 1);
    CHECK_INT(bcr_rlswl(rgid, me->cce[member], LOCKED), 0);
}

static void something(bool is_main, bool may_wait)
{
    const int member = below(MEMBERS);
    const uint32_t number = is_main ? ++me->sent : 0;
    switch (below(14)) {
    case 0:
    case 1:
    case 2:
    case 3: send_to(member, FIRST + below(2), false, number); break;
    case 4: send_to_all(number); break;
    case 5:
    case 6: send_to(member, STOCK, below(3) == 0, 0); break;
    case 7: send_to(member, FICKLE, below(3) == 0, 0); break;
    case 8:
    case 9: take_from_stock(member, may_wait && below(4) == 0); break;
    case 10: change(member); break;
    case 11: ask(member, may_wait ? bcr_BLOCK : 0); break;
    case 12: ask(member, may_wait ? bcr_PENDING : 0); break;
    default: ask(member, may_wait ? below(3) : 0);
    }
}

/* ---- handlers ---- */

static void begins(int cell)
{
    me->runs[cell]++;
    me->under_way++;
}
static void go_on(bool may_wait)
{
    if (!me->quiet && below(4) == 0)
        something(false, may_wait && me->under_way < UNDER_WAY_MOST);
}

static void on_message(int cell)
{
    begins(cell);
    note(&me->started, (struct message){.from = (uint32_t)cell});
    bcr_region rgid = bcr_deq(bcr_cce, cell,
                              0); /* which others may interrupt: then they take what this was requested for */
    CHECK(rgid != NULL);
    note(&me->taken[cell], *(struct message *)*rgid);
    CHECK_INT(bcr_rgfree(rgid), 0);
    go_on(true);
    if (below(16) == 0)
        CHECK_INT(bcr_allow(below(4) - 1), 0);
    me->under_way--;
}

static void on_stock(int cell)
{
    begins(cell);
    if (!me->quiet && below(8) == 0)
        something(false, false);
    me->under_way--;
}

static void on_fickle(int cell)
{
    begins(cell);
    CHECK(me->fickle);
    CHECK(bcr_zap(bcr_cce, cell) == 0);
    go_on(true);
    me->under_way--;
}

static void on_locked(int cell)
{
    begins(cell);
    go_on(true);
    me->under_way--;
}

static void on_demand(int cell)
{
    begins(cell);
    const uint32_t number = (uint32_t)(me->answers + 1);
    bcr_region rgid = message(number);
    if (bcr_enq(rgid, bcr_cce, cell, bcr_FREE) == 0) {
        me->answers++;
        atomic_fetch_add(&me->shared->given[me->self], number);
    } else {
        CHECK_INT(bcr_errno, bcrE_FULL); /* who asked does not wait */
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
    me->under_way--;
}

static void install(int cell)
{
    int error = 0;
    switch (cell) {
    case FIRST:
    case SECOND: error = bcr_handler(cell, on_message, 1, MIDDLE, below(MIDDLE + 1)); break;
    case STOCK: error = bcr_handler(cell, on_stock, ALL, HIGH, HIGH + below(2)); break;
    case FICKLE: {
        const bool stays = below(2);
        me->fickle |= stays;
        error = bcr_handler(cell, stays ? on_fickle : NULL, 1, below(MIDDLE + 1), MIDDLE);
        me->fickle = stays;
        break;
    }
    case LOCKED: error = bcr_handler(cell, on_locked, ALL, LOW, below(MIDDLE + 1)); break;
    default: error = bcr_handler(cell, on_demand, 0, ANSWERS, ANSWERS);
    }
    CHECK_INT(error, 0);
}

/* ---- a member's life ---- */

/* Lets all others run; bcr_allow would not let those go on that its caller has interrupted. */
static void wait_somewhat(void)
{
    CHECK(bcr_deq(bcr_cce, SILENT, 1) == NULL);
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
}

static void meet(_Atomic uint32_t *counter)
{
    atomic_fetch_add(counter, 1);
    while (atomic_load(counter) < MEMBERS)
        wait_somewhat();
}

static void settle(void)
{
    CHECK_INT(bcr_cagrow(FIRST, 0, 0, 0, FICKLE, NRGNS, HEAP_BYTES), FIRST);
    CHECK_INT(bcr_cagrow(LOCKED, 0, 0, 0, 1, 1, 0), LOCKED);
    CHECK_INT(bcr_cagrow(DEMAND, 0, 0, 0, 2, 0, 0), DEMAND);
    bcr_region rgid = bcr_rgalloc(8, 0);
    CHECK(rgid != NULL);
    *(uint64_t *)*rgid = 0;
    CHECK_INT(bcr_enq(rgid, bcr_cce, LOCKED, bcr_FREE), 0);
    CHECK_INT(bcr_putwait(0), 0);
    for (int cell = FIRST; cell <= CELLS; cell++)
        install(cell);
}

static void live(void)
{
    me->quiet = false;
    for (uint32_t i = 0; i < me->steps; i++) {
        something(true, true);
        switch (below(24)) {
        case 0: install(1 + below(CELLS)); break;
        case 1: CHECK_INT(bcr_priority(below(ANSWERS + 1), below(ANSWERS + 1)), 0); break;
        case 2:
        case 3: CHECK_INT(bcr_allow(below(5) - 1), 0); break;
        default: break;
        }
    }
    CHECK_INT(bcr_priority(0, 0), 0);
    me->quiet = true;
    while (me->under_way > 0)
        wait_somewhat();
}

/* The nth start of a cell's handler was requested by the nth region there. */
static void check_order(void)
{
    size_t next[SECOND + 1] = {0};
    uint32_t seen[SECOND + 1][MEMBERS] = {0};
    for (size_t i = 0; i < me->started.count; i++) {
        const uint32_t cell = me->started.entry[i].from;
        CHECK(next[cell] < me->taken[cell].count);
        const struct message *message = &me->taken[cell].entry[next[cell]++];
        CHECK(message->from < MEMBERS);
        if (message->number == 0)
            continue;
        if (message->number <= seen[cell][message->from])
            FAIL("start %zu: %u of member %u came after %u", i, message->number, message->from,
                 seen[cell][message->from]);
        seen[cell][message->from] = message->number;
    }
    free(me->started.entry);
    free(me->taken[FIRST].entry);
    free(me->taken[SECOND].entry);
}

static void count(void)
{
    struct shared *shared = me->shared;
    CHECK_INT(bcr_allow(0), 0);
    while (me->under_way > 0) /* one that was interrupted */
        wait_somewhat();
    for (int cell = FIRST; cell <= CELLS; cell++) {
        const uint64_t requests = atomic_load(&shared->requests[me->self][cell]);
        if (cell == FICKLE ? me->runs[cell] > requests : me->runs[cell] != requests)
            FAIL("the handler of cell %d of member %d was requested %llu times and has run %llu times", cell,
                 me->self, (unsigned long long)requests, (unsigned long long)me->runs[cell]);
    }
    CHECK_INT(bcr_celllen(bcr_cce, FIRST), 0);
    CHECK_INT(bcr_celllen(bcr_cce, SECOND), 0);
    CHECK_UINT(atomic_load(&shared->got[me->self]), atomic_load(&shared->given[me->self]));
    CHECK_INT(bcr_handler(LOCKED, NULL, 0, 0, 0), 0);
    bcr_region rgid = bcr_deq(bcr_cce, LOCKED, 0);
    CHECK(rgid != NULL);
    CHECK_UINT(*(uint64_t *)*rgid, atomic_load(&shared->changes[me->self]));
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_zap(bcr_cce, STOCK), 0);
    CHECK_INT(bcr_zap(bcr_cce, FICKLE), 0);
    check_order();
}

static int body(struct bcri_ctx *ctx, void *arg)
{
    struct member self = *(struct member *)arg;
    me = &self;
    me->ctx = ctx;
    me->quiet = true; /* until it knows the others */
    me->random += (uint64_t)me->self * 1000;
    settle();
    meet(&me->shared->ready);
    for (int i = 0; i < MEMBERS; i++)
        CHECK_INT(bcri_cce_id_of_index(ctx, atomic_load(&me->shared->index[i]), &me->cce[i]), 0);
    live();
    meet(&me->shared->finished);
    count();
    meet(&me->shared->counted);
    return 0;
}

/* ---- the tests ---- */

static struct member begin_run(uint64_t seed)
{
    struct member member = {.random = seed, .steps = (uint32_t)test_scale(1500, 30000)};
    member.shared =
        mmap(NULL, sizeof *member.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(member.shared != MAP_FAILED);
    return member;
}

static void print_finding(void *arg, const char *sentence)
{
    (void)arg;
    printf("audit: %s\n", sentence);
}

static void end_run(struct group *group, const struct member *member)
{
    struct bcri_audit audit = {.found = print_finding};
    uint64_t requests = 0;
    CHECK_INT(bcri_audit(group_enl(group), &audit), 0);
    CHECK_UINT(audit.findings, 0);
    CHECK_UINT(audit.regions, 0);
    for (int i = 0; i < MEMBERS; i++)
        for (int cell = FIRST; cell <= CELLS; cell++)
            requests += atomic_load(&member->shared->requests[i][cell]);
    printf("%llu requests\n", (unsigned long long)requests);
    munmap(member->shared, sizeof *member->shared);
}

TEST_TIMEOUT(processes_that_run_freely_run_each_handler_as_often_as_it_was_requested, 900)
{
    struct member member = begin_run(test_seed());
    struct group *group = group_open();
    uint32_t index[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
        member.self = i;
        (void)group_fork(group, body, &member, &index[i]);
        atomic_store(&member.shared->index[i], index[i]);
    }
    for (int i = 0; i < MEMBERS; i++) {
        int status;
        /* In the order in which they end: the others may wait for one that has failed. */
        CHECK(waitpid(-1, &status, 0) > 0);
        CHECK_INT(status, 0);
    }
    for (int i = 0; i < MEMBERS; i++) {
        bcri_cce_dying(group_host(group), index[i]);
        group_repair(group, index[i]);
    }
    end_run(group, &member);
    group_close(group);
}

static void *thread_body(void *arg)
{
    struct member *member = arg;
    bcri_self_set(member->ctx);
    body(member->ctx, member);
    bcri_self_set(NULL);
    return NULL;
}

TEST_TIMEOUT(threads_that_run_freely_run_each_handler_as_often_as_it_was_requested, 900)
{
    struct member like = begin_run(test_seed()), member[MEMBERS];
    struct group *group = group_open();
    pthread_t thread[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
        member[i] = like;
        member[i].self = i;
        member[i].ctx = group_join(group);
        atomic_store(&like.shared->index[i], member[i].ctx->index);
    }
    for (int i = 0; i < MEMBERS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, thread_body, &member[i]), 0);
    for (int i = 0; i < MEMBERS; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < MEMBERS; i++)
        group_leave(group, member[i].ctx);
    end_run(group, &like);
    group_close(group);
}
