/* SPDX-License-Identifier: MIT */
/* Death at any moment: processes that work on each other's cells as fast as they can, and one after the other is killed,
 * buried while the others go on, and replaced. What it leaves, memory and record, goes while the others are at it, and its
 * record serves one that comes later. Between burials all stop for a moment and the shared memory is audited.
 *
 * Half of the kills at least must find an open journal: else they hit waits and the program's own code. */
#include <bcr.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "group.h"

#include "bcri/audit.h"
#include "bcri/bell.h"
#include "bcri/cces.h"
#include "bcri/estate.h"
#include "bcri/self.h"

enum {
    MEMBERS = 4,
    CELLS = 3,
    NRGNS = 12,
    HEAP_BYTES = 1 << 20,
    BAG = 8,            /* regions that a member keeps */
    GROUP_KILLS = 100,  /* after these a new program begins */
    HANG_SECONDS = 120, /* without a kill */
    MOMENTS = 40,       /* at most, that one kill passes over */
    GAP_NS = 5000000    /* between kills, twice that at most */
};
#define OVER (UINT32_MAX - 1)

struct arena {
    _Atomic uint32_t pause;          /* futex: 1: stop between two calls; 2: and exit */
    _Atomic uint32_t parked;         /* futex */
    _Atomic uint32_t index[MEMBERS]; /* records; 0: nobody */
};

struct actor {
    struct bcri_ctx *ctx;
    struct arena *arena;
    uint64_t random, seed;
    void **held[BAG];
    void **pending[BAG];
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

static void **make(struct actor *actor)
{
    static const int sizes[] = {8, 8, 8, 8, 8, 8, 32, 32, 32, 40, 40, 200, 200, 1000, 5000, 70000};
    int length = sizes[below(actor, sizeof sizes / sizeof sizes[0])];
    void **rgid = bcr_rgalloc(length, 0);
    if (rgid == NULL) {
        if (bcr_errno != bcrE_NOMEM)
            refuse("rgalloc", bcr_errno);
        return NULL;
    }
    uint32_t *word = *rgid, first = (uint32_t)test_rand(&actor->random);
    fill(word, length, first);
    return rgid;
}

static void **whole(void **rgid)
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
    case bcrE_OWNERDEAD:
    case bcrE_BUSY: return;
    default: refuse(what, bcr_errno);
    }
}

static void drop(void **rgid)
{
    if (rgid != NULL && bcr_rgfree(rgid) != 0)
        expect("rgfree");
}

/* A cell of somebody, half the time of the same one, so that they meet. False if nobody is there. */
static bool somebody(struct actor *actor, int *cce, int *cell)
{
    bool busy = below(actor, 2) == 0;
    uint32_t index = bcri_load(&actor->arena->index[busy ? 0 : below(actor, MEMBERS)]);
    *cell = 1 + (busy ? 0 : (int)below(actor, CELLS));
    return index != 0 && bcri_cce_id_of_index(actor->ctx, index, cce) == 0;
}

static void keep(struct actor *actor, void **rgid)
{
    void ***place = &actor->held[below(actor, BAG)];
    if (rgid == NULL)
        return;
    drop(*place);
    *place = whole(rgid);
}

static void put(struct actor *actor, int cce, int cell, int qlike, int nofree)
{
    void ***place = &actor->held[below(actor, BAG)];
    void **rgid = *place != NULL && below(actor, 4) == 0 ? *place : make(actor);
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

static void get(struct actor *actor, int cce, int cell, int qlike, int msec)
{
    void **rgid = bcr_get(qlike, cce, cell, msec);
    if (rgid == NULL)
        expect("get");
    else if (below(actor, 3) == 0)
        keep(actor, rgid);
    else
        drop(whole(rgid));
}

static void change(struct actor *actor)
{
    void **rgid = actor->held[below(actor, BAG)];
    if (rgid == NULL)
        return;
    if (bcr_rgmod(rgid) != 0) {
        expect("rgmod");
        return;
    }
    fill(*rgid, bcr_rglen(rgid, NULL), 77);
}

static void lock(struct actor *actor, int cce, int cell)
{
    void **rgid = bcr_acqwl(cce, cell, below(actor, 512) == 0);
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
        if (somebody(actor, &cells[2 * count], &cells[2 * count + 1]))
            count++;
    void **rgid = make(actor);
    if (rgid != NULL && bcr_enqm(rgid, count, cells, bcr_FREE) != 0)
        expect("putm");
}

static void later(struct actor *actor, int cce, int cell)
{
    void ***place = &actor->pending[below(actor, BAG)];
    if (*place == NULL) {
        *place = below(actor, 8) == 0 ? bcr_acqwl(cce, cell, bcr_PENDING)
                                      : bcr_get((int)below(actor, 2), cce, cell, bcr_PENDING);
        if (*place == NULL)
            expect("pending get");
        return;
    }
    int failfree = (int)below(actor, 2);
    int ready = bcr_rgwait(*place, below(actor, 256) == 0, failfree);
    if (ready == 0 && failfree == 0 && below(actor, 2) == 0)
        drop(*place);
    else if (ready == 0 && failfree == 0)
        return;
    if (ready == 1)
        keep(actor, *place);
    else if (ready < 0)
        expect("rgwait");
    *place = NULL;
}

static void one_call(struct actor *actor)
{
    int cce, cell;
    if (!somebody(actor, &cce, &cell))
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

static void park(struct actor *actor, uint32_t pause)
{
    struct arena *arena = actor->arena;
    atomic_fetch_add(&arena->parked, 1);
    bcri_futex_wake(&arena->parked, 1);
    while (bcri_load_acquire(&arena->pause) == pause)
        bcri_futex_wait(&arena->pause, pause, UINT64_MAX);
}

static int body(struct bcri_ctx *ctx, void *arg)
{
    struct actor *actor = arg;
    actor->ctx = ctx;
    actor->random = actor->seed + ctx->index;
    if (bcr_cagrow(1, 0, 0, 0, CELLS, NRGNS, HEAP_BYTES) != 1)
        refuse("cagrow", bcr_errno);
    for (;;) {
        uint32_t pause = bcri_load_acquire(&actor->arena->pause);
        if (pause == OVER)
            return 0;
        if (pause % 2 != 0)
            park(actor, pause);
        one_call(actor);
    }
}

/* ---- the one who kills ---- */

struct killer {
    struct group *group;
    struct bcri_estate *estate;
    struct actor actor;
    pid_t pid[MEMBERS];
    uint32_t index[MEMBERS];
    int youngest;
    uint64_t random;
};

static void on_alarm(int signal)
{
    static const char text[] = "somebody hangs\n";
    (void)signal;
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(3);
    _exit(1);
}

static void start(struct killer *killer, int i)
{
    killer->pid[i] = group_fork(killer->group, body, &killer->actor, &killer->index[i]);
    bcri_store_release(&killer->actor.arena->index[i], killer->index[i]);
}

/* As enl's worker does after a repair. */
static void bury(struct killer *killer, int i)
{
    int status = group_bury(killer->group, killer->pid[i], killer->index[i]);
    uint32_t index;
    if (status != 0 && status != SIGKILL)
        FAIL("process %d ended by itself", (int)killer->pid[i]);
    CHECK(bcri_estate_add(killer->estate, killer->index[i]));
    bcri_estate_look(killer->estate);
    while (bcri_estate_take(killer->estate, &index))
        bcri_host_cce_release(group_host(killer->group), index);
    if (group_enl(killer->group)->damaged)
        FAIL("CCE %u is buried, and shared memory called damaged", killer->index[i]);
}

static void print_finding(void *arg, const char *sentence)
{
    (void)arg;
    printf("audit: %s\n", sentence);
}

static struct bcri_audit audit(struct killer *killer, const char *when)
{
    struct bcri_audit result = {.found = print_finding};
    CHECK_INT(bcri_audit(group_enl(killer->group), &result), 0);
    if (result.findings != 0)
        FAIL("%llu findings %s", (unsigned long long)result.findings, when);
    return result;
}

static void audit_while_all_stand(struct killer *killer)
{
    struct arena *arena = killer->actor.arena;
    uint32_t parked;
    atomic_store(&arena->parked, 0);
    atomic_fetch_add(&arena->pause, 1);
    while ((parked = bcri_load_acquire(&arena->parked)) < MEMBERS)
        bcri_futex_wait(&arena->parked, parked, UINT64_MAX);
    audit(killer, "while all stand");
    atomic_fetch_add(&arena->pause, 1);
    bcri_futex_wake(&arena->pause, INT32_MAX);
}

static void wait_a_moment(struct killer *killer, uint64_t most_ns)
{
    struct timespec gap = {.tv_nsec = 1 + (long)test_rand_below(&killer->random, most_ns)};
    nanosleep(&gap, NULL);
}

static bool journal_is_open(const struct killer *killer, int i)
{
    return bcri_load(&bcri_record(group_enl(killer->group), killer->index[i])->journal.op) != 0;
}

/* Kills one at a random moment; true if its journal was open. `reluctant`: too many were closed lately, so a moment at
 * which this one is closed, too, is passed over. On a busy machine members spend most of their time waiting. */
static bool kill_one(struct killer *killer, bool reluctant)
{
    int i = (int)test_rand_below(&killer->random, MEMBERS - 1);
    siginfo_t info;
    i += i >= killer->youngest; /* which is still finding its way */
    wait_a_moment(killer, 2 * GAP_NS);
    for (int tries = 0; reluctant && tries < MOMENTS && !journal_is_open(killer, i); tries++)
        wait_a_moment(killer, GAP_NS / 8);
    kill(killer->pid[i], SIGKILL);
    while (waitid(P_PID, (id_t)killer->pid[i], &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    if (info.si_code != CLD_KILLED)
        FAIL("process %d ended by itself", (int)killer->pid[i]);
    bool open = journal_is_open(killer, i);
    bcri_store(&killer->actor.arena->index[i], 0);
    bury(killer, i);
    start(killer, i);
    killer->youngest = i;
    return open;
}

static void end_all(struct killer *killer)
{
    atomic_store(&killer->actor.arena->pause, OVER);
    for (int i = 0; i < MEMBERS; i++)
        bury(killer, i);
    CHECK_UINT(audit(killer, "in the end").regions, 0);
}

TEST_TIMEOUT(whoever_is_killed_at_any_moment_the_others_go_on, 1800)
{
    uint64_t kills = test_scale(200, 1000), open = 0;
    struct killer killer = {.random = test_seed()};
    if (test_is_instrumented())
        SKIP("under a tool most kills would hit the tool");
    killer.actor.seed = killer.random;
    killer.actor.arena =
        mmap(NULL, sizeof *killer.actor.arena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(killer.actor.arena != MAP_FAILED);
    signal(SIGALRM, on_alarm);
    for (uint64_t done = 0; done < kills;) {
        memset(killer.actor.arena, 0, sizeof *killer.actor.arena);
        killer.group = group_open();
        killer.estate = bcri_estate_init(group_host(killer.group));
        CHECK(killer.estate != NULL);
        for (int i = 0; i < MEMBERS; i++)
            start(&killer, i);
        for (int n = 0; n < GROUP_KILLS && done < kills; n++, done++) {
            alarm(HANG_SECONDS);
            open += kill_one(&killer, 2 * open < done + 2);
            audit_while_all_stand(&killer);
        }
        end_all(&killer);
        bcri_estate_fini(killer.estate);
        group_close(killer.group);
    }
    alarm(0);
    printf("%llu kills, %llu with an open journal\n", (unsigned long long)kills, (unsigned long long)open);
    CHECK(2 * open >= kills);
}
