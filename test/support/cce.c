/* SPDX-License-Identifier: MIT */
/* See cce.h. */
#include "cce.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "bcri/audit.h"
#include "bcri/cell.h"
#include "bcri/lookup.h"
#include "bcri/self.h"
#include "bcri/slot.h"

struct group *group;
struct bcri_ctx *one, *two;
int two_of_one, one_of_two;

enum { MEMBERS = 80 };
static struct bcri_ctx *members[MEMBERS];
static int member_count;

static struct bcri_ctx *add_member(void)
{
    CHECK(member_count < MEMBERS);
    return members[member_count++] = group_join(group);
}

struct bcri_ctx *join(void)
{
    struct bcri_ctx *self = bcri_self_find();
    struct bcri_ctx *ctx = add_member();
    bcri_self_set(ctx);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16), INT_MAX - 1);
    bcri_self_set(self);
    return ctx;
}

void as(struct bcri_ctx *ctx)
{
    bcri_self_set(ctx);
}

static _Atomic int refused;

static int no_descriptor(void *up, uint32_t seg)
{
    (void)up;
    (void)seg;
    atomic_fetch_add(&refused, 1);
    return -1;
}

int refusals(void)
{
    return atomic_load(&refused);
}

void cannot_map(struct bcri_ctx *ctx)
{
    static struct bcri_ctx *last;
    static const struct bcri_upcalls *were;
    static struct bcri_upcalls refusing;
    if (last != NULL)
        last->upcalls = were;
    last = ctx;
    atomic_store(&refused, 0);
    if (ctx == NULL)
        return;
    were = ctx->upcalls;
    refusing = *were;
    refusing.segment_fd = no_descriptor;
    ctx->upcalls = &refusing;
}

bcr_cce_id name(struct bcri_ctx *from, struct bcri_ctx *to)
{
    return group_name(from, to->index);
}

void begin(void)
{
    group = group_open();
    one = add_member();
    two = join();
    two_of_one = name(one, two);
    one_of_two = name(two, one);
    as(one);
}

void leave(struct bcri_ctx *ctx)
{
    if (bcri_self() == ctx)
        as(NULL);
    for (int i = 0; i < member_count; i++)
        if (members[i] == ctx) {
            members[i] = NULL;
            group_leave(group, ctx);
            return;
        }
    FAIL("not a member any more");
}

static void print_finding(void *arg, const char *sentence)
{
    (void)arg;
    printf("audit: %s\n", sentence);
}

uint64_t audit(void)
{
    struct bcri_audit audit = {.found = print_finding};
    CHECK_INT(bcri_audit(group_enl(group), &audit), 0);
    CHECK_UINT(audit.findings, 0);
    CHECK_UINT(audit.lost_nodes, 0); /* no test here lets a CCE die while it drops a queue */
    return audit.regions;
}

void end(void)
{
    as(NULL);
    audit();
    for (int i = 0; i < member_count; i++)
        if (members[i] != NULL)
            leave(members[i]);
    CHECK(!group_enl(group)->daemon.corrupt);
    CHECK_UINT(audit(), 0); /* the ended leave nothing behind */
    member_count = 0;
    group_close(group);
}

int grow(int cells, int nrgns, int nbytes)
{
    int base = bcr_cagrow(0, 0, 0, 0, cells, nrgns, nbytes);
    CHECK(base >= 1);
    return base;
}

int take(bcr_cce_id cce, int cell)
{
    return value_of(bcr_deq(cce, cell, 0));
}

/* ---- calls that wait ---- */

enum what { PUT, PUTM, GET, LOCK };

struct later {
    pthread_t thread;
    struct bcri_ctx *ctx;
    enum what what;
    int qlike, value, cce, cell, msec, ncells;
    const int *cells;
    struct outcome outcome;
    _Atomic int over;
};

static void put_it(struct later *later)
{
    struct outcome *outcome = &later->outcome;
    bcr_region rgid = number(later->value);
    outcome->returned = later->what == PUT
                            ? bcr_put(later->qlike, rgid, later->cce, later->cell, bcr_FREE)
                            : bcr_putm(later->qlike, rgid, later->ncells, later->cells, bcr_FREE);
    outcome->error = bcr_errno;
    if (outcome->returned != 0 && later->what == PUT)
        CHECK_INT(value_of(rgid), later->value); /* still held */
}

static void get_it(struct later *later)
{
    struct outcome *outcome = &later->outcome;
    outcome->rgid = later->what == LOCK ? bcr_acqwl(later->cce, later->cell, later->msec)
                                        : bcr_get(later->qlike, later->cce, later->cell, later->msec);
    outcome->returned = outcome->rgid != NULL ? 0 : -1;
    outcome->is_lock = later->what == LOCK;
    outcome->error = bcr_errno;
    if (outcome->rgid != NULL)
        outcome->value = later->what == LOCK ? peek(outcome->rgid) : value_of(outcome->rgid);
}

static void *run(void *arg)
{
    struct later *later = arg;
    as(later->ctx);
    bcr_errno = 0;
    if (later->what == PUT || later->what == PUTM)
        put_it(later);
    else
        get_it(later);
    atomic_store(&later->over, 1);
    return NULL;
}

static void count_waiting(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    (void)ref;
    *(int *)arg += state == BCRI_SLOT_TICKET || state == BCRI_SLOT_LISTED;
}

static void count_pending(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    (void)ref;
    *(int *)arg += state >= BCRI_SLOT_TICKET && state <= BCRI_SLOT_FAILED;
}

static void count_waiting_puts(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    (void)ref;
    *(int *)arg += bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_PUTWAIT;
}

static int count(struct bcri_ctx *ctx, void (*visit)(void *, struct bcri_slot_shm *, bcri_ref))
{
    int found = 0;
    bcri_slot_each(bcri_self(), ctx->index, visit, &found);
    return found;
}

int pending_gets(struct bcri_ctx *ctx)
{
    return count(ctx, count_pending);
}

static struct bcri_area_shm *area_of(bcr_cce_id cce, int cell)
{
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(bcri_self(), cce, cell, &resolved), 0);
    return resolved->area;
}

int waiting_puts_at(bcr_cce_id cce, int cell)
{
    return (int)bcri_load_acquire(&area_of(cce, cell)->waitputs);
}

int waiting_puts(int cell)
{
    return waiting_puts_at(1, cell);
}

static struct later *start(struct later like)
{
    struct later *later = malloc(sizeof *later);
    CHECK(later != NULL);
    *later = like;
    CHECK_INT(pthread_create(&later->thread, NULL, run, later), 0);
    return later;
}

static struct later *start_get(struct later like)
{
    int before = count(like.ctx, count_waiting);
    struct later *later = start(like);
    while (!atomic_load(&later->over) && count(like.ctx, count_waiting) == before)
        sched_yield();
    return later;
}

/* Each put that waits has an ID for its request; once the locks of the areas are free again it has
 * taken its place. */
static struct later *start_put(struct later like, int ncells, const int *cells, int waits)
{
    struct bcri_area_shm **areas = malloc((size_t)ncells * sizeof(struct bcri_area_shm *));
    CHECK(areas != NULL);
    struct bcri_ctx *self = bcri_self();
    as(like.ctx);
    for (int i = 0; i < ncells; i++)
        areas[i] = area_of(cells[2 * i], cells[2 * i + 1]);
    as(self);
    int before = count(like.ctx, count_waiting_puts);
    struct later *later = start(like);
    while (!atomic_load(&later->over) && count(like.ctx, count_waiting_puts) < before + waits)
        sched_yield();
    for (int i = 0; i < ncells; i++)
        while (bcri_load_acquire(&areas[i]->lock) != 0)
            sched_yield();
    free(areas);
    return later;
}

struct later *later_put(struct bcri_ctx *ctx, int qlike, int value, bcr_cce_id cce, int cell)
{
    const int cells[2] = {cce, cell};
    return start_put(
        (struct later){.ctx = ctx, .what = PUT, .qlike = qlike, .value = value, .cce = cce, .cell = cell}, 1,
        cells, 1);
}

struct later *later_putm(struct bcri_ctx *ctx, int qlike, int value, int ncells, const int *cells, int waits)
{
    return start_put(
        (struct later){
            .ctx = ctx, .what = PUTM, .qlike = qlike, .value = value, .ncells = ncells, .cells = cells},
        ncells, cells, waits);
}

struct later *later_get(struct bcri_ctx *ctx, int qlike, bcr_cce_id cce, int cell, int msec)
{
    return start_get(
        (struct later){.ctx = ctx, .what = GET, .qlike = qlike, .cce = cce, .cell = cell, .msec = msec});
}

struct later *later_acqwl(struct bcri_ctx *ctx, bcr_cce_id cce, int cell, int msec)
{
    return start_get((struct later){.ctx = ctx, .what = LOCK, .cce = cce, .cell = cell, .msec = msec});
}

struct outcome result(struct later *later)
{
    CHECK_INT(pthread_join(later->thread, NULL), 0);
    struct outcome outcome = later->outcome;
    free(later);
    return outcome;
}
