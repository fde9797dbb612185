/* SPDX-License-Identifier: MIT */
/* worker.c -- a helper that operates on cells. */
#include "worker.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "audit.h"
#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/cell0.h"
#include "bcri/estate.h"
#include "bcri/flow.h"
#include "bcri/heap.h"
#include "bcri/repair.h"
#include "helper.h"

/* Repair waits for nobody who is dead, and at the end everybody is; unless shared memory was damaged. */
#define STOP_MSEC 2000u

struct enl_worker {
    struct enl_program *program;
    void (*done)(struct enl_program *program, const struct enl_work *work);
    struct enl_helper *helper;
    const struct enl_work *interruptible; /* of who acts: what may go aside */
    atomic_bool look_queued;              /* one look serves all who have told until it begins */
    atomic_bool ending;                   /* deaths are not queued any more */
    bool look_due;                        /* of who acts: to be done when nobody is aside */
    struct bcri_estate *estate;           /* of who acts */
};

/* What can go, goes. Records are given out by the loop, which may still have one of them in use for what is in the queue
 * of finished work. */
static void look_at_estate(struct bcri_estate *estate, struct enl_work *work)
{
    uint32_t index;
    size_t room = 0;
    bcri_estate_look(estate);
    for (;;) {
        if (work->free_count == room) {
            room = room != 0 ? 2 * room : 16;
            uint32_t *list = realloc(work->free_records, room * sizeof *list);
            if (list == NULL)
                return; /* the next look brings the rest */
            work->free_records = list;
        }
        if (!bcri_estate_take(estate, &index))
            return;
        work->free_records[work->free_count++] = index;
    }
}

static int do_birth(struct bcri_ctx *ctx, const struct enl_work *work)
{
    if (bcri_record(ctx, work->index) == NULL)
        return bcrE_NOMEM;
    bcri_cell0_init(ctx, work->index);
    return work->has_data ? bcri_birth_put(ctx, work->index, work->archtype, work->data, work->length) : 0;
}

static int do_repair(struct enl_worker *worker, struct bcri_ctx *ctx, const struct enl_work *work)
{
    ctx->damaged = false;
    worker->interruptible = work;
    bcri_cce_repair(ctx, work->index);
    worker->interruptible = NULL;
    bcri_estate_add(worker->estate, work->index);
    worker->look_due = true;
    return ctx->damaged ? bcrE_INTERNAL : 0;
}

static int do_error(struct enl_worker *worker, struct bcri_ctx *ctx, const struct enl_work *work)
{
    worker->interruptible = work;
    int error = bcri_error_put(ctx, work->index, work->code, work->operation, NULL, work->ordinal);
    worker->interruptible = NULL;
    return error;
}

static int do_work(struct enl_worker *worker, struct enl_work *work)
{
    struct bcri_ctx *ctx = bcri_host_ctx(worker->program->host);
    switch (work->kind) {
    case ENL_WORK_BIRTH: return do_birth(ctx, work);
    case ENL_WORK_ERROR: return do_error(worker, ctx, work);
    case ENL_WORK_REPAIR: return do_repair(worker, ctx, work);
    case ENL_WORK_AUDIT: return enl_audit_perform(work->audit, ctx);
    case ENL_WORK_HELD_UP: return 0;
    case ENL_WORK_LOOK:
        atomic_store(&worker->look_queued, false);
        worker->look_due = true;
        return 0;
    }
    return 0;
}

static void perform(void *owner, struct enl_task *task)
{
    struct enl_worker *worker = owner;
    struct enl_work *work = (struct enl_work *)task;
    work->code = do_work(worker, work);
    /* Who is aside may have in hand what an ended CCE has left. */
    if (worker->look_due && bcri_host_ctx(worker->program->host)->asides == NULL) {
        worker->look_due = false;
        look_at_estate(worker->estate, work);
    }
}

static void drop(void *owner, struct enl_task *task)
{
    (void)owner;
    struct enl_work *work = (struct enl_work *)task;
    free(work->free_records);
    free(work->audit);
    free(work);
}

static void done(void *owner, struct enl_task *task)
{
    struct enl_worker *worker = owner;
    struct enl_work *work = (struct enl_work *)task;
    worker->done(worker->program, work);
    for (size_t i = 0; i < work->free_count; i++)
        bcri_host_cce_release(worker->program->host, work->free_records[i]);
    drop(owner, task);
}

static bool is_birth(const struct enl_task *task)
{
    return ((const struct enl_work *)task)->kind == ENL_WORK_BIRTH;
}

static bool fits_aside(const struct enl_task *task)
{
    const struct enl_work *work = (const struct enl_work *)task;
    return work->kind == ENL_WORK_BIRTH || work->kind == ENL_WORK_REPAIR || work->kind == ENL_WORK_ERROR;
}

/* In the thread: it is about to sleep until somebody lets go of something. If no other can act meanwhile it does what can be done
 * in the midst of it. A birth that has to wait itself is no place for another. */
static bool meanwhile(struct bcri_ctx *ctx)
{
    struct enl_worker *worker = ctx->client;
    const struct enl_work *work = worker->interruptible;
    if (work == NULL || enl_helper_spare(worker->helper))
        return false;
    worker->interruptible = NULL;
    bool did = enl_helper_perform_one(worker->helper, is_birth);
    worker->interruptible = work;
    return did;
}

static void wait_aside(struct bcri_ctx *ctx, _Atomic uint32_t *word, uint32_t expected, uint64_t until_ns)
{
    struct enl_worker *worker = ctx->client;
    const struct enl_work *work = worker->interruptible;
    struct bcri_repair_aside aside;
    if (work == NULL) {
        bcri_futex_wait(word, expected, until_ns);
        return;
    }
    bcri_repair_put_aside(ctx, &aside);
    worker->interruptible = NULL;
    enl_helper_aside(worker->helper);
    bcri_futex_wait(word, expected, until_ns);
    enl_helper_back(worker->helper);
    worker->interruptible = work;
    bcri_repair_take_up(ctx, &aside);
}

/* Whose repair is queued, or will be, is another thread's to repair; in the midst of this one only if there is no other. */
static bool holder_died(struct bcri_ctx *ctx, uint32_t index)
{
    struct enl_worker *worker = ctx->client;
    if (worker->interruptible != NULL && !atomic_load(&worker->ending) && enl_helper_spare(worker->helper))
        return false;
    return bcri_journal_repair(ctx, index);
}

static void holder_stays(struct bcri_ctx *ctx, uint32_t index)
{
    struct enl_worker *worker = ctx->client;
    struct enl_work *work = calloc(1, sizeof *work);
    if (work == NULL)
        return;
    work->kind = ENL_WORK_HELD_UP;
    work->index = index;
    const struct enl_work *waits = worker->interruptible;
    work->waiter = waits != NULL && waits->kind == ENL_WORK_REPAIR ? waits->index : BCRI_ENL_INDEX;
    enl_helper_tell(worker->helper, &work->task);
}

struct enl_worker *enl_worker_start(struct enl_program *program,
                                    void (*when_done)(struct enl_program *program,
                                                      const struct enl_work *work))
{
    static const struct enl_helper_ops ops = {perform, done, drop, fits_aside};
    struct enl_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->program = program;
    worker->done = when_done;
    worker->estate = bcri_estate_init(program->host);
    if (worker->estate != NULL) {
        struct bcri_ctx *ctx = bcri_host_ctx(program->host);
        ctx->holder_died = holder_died;
        ctx->wait_aside = wait_aside;
        ctx->client = worker;
        ctx->meanwhile = meanwhile;
        ctx->holder_stays = holder_stays;
        worker->helper = enl_helper_start(&program->loop, &ops, worker);
    }
    if (worker->helper != NULL)
        return worker;
    bcri_estate_fini(worker->estate);
    free(worker);
    return NULL;
}

bool enl_worker_add(struct enl_worker *worker, const struct enl_work *work)
{
    struct enl_work *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return false;
    *copy = *work;
    enl_helper_add(worker->helper, &copy->task);
    if (work->kind == ENL_WORK_BIRTH)
        bcri_repair_wake(worker->program->host);
    return true;
}

void enl_worker_end(struct enl_worker *worker)
{
    atomic_store(&worker->ending, true);
}

bool enl_worker_look(struct enl_worker *worker)
{
    struct enl_work work = {.kind = ENL_WORK_LOOK};
    if (atomic_exchange(&worker->look_queued, true) || enl_worker_add(worker, &work))
        return true;
    atomic_store(&worker->look_queued, false);
    return false;
}

bool enl_worker_stop(struct enl_worker *worker)
{
    if (!enl_helper_stop(worker->helper, STOP_MSEC))
        return false;
    struct bcri_ctx *ctx = bcri_host_ctx(worker->program->host); /* what its operations have kept privately */
    bcri_places_fini(ctx);
    bcri_heap_fini(ctx);
    bcri_estate_fini(worker->estate);
    free(worker);
    return true;
}
