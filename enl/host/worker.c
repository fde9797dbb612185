/* SPDX-License-Identifier: MIT */
/* worker.c -- a thread that operates on cells. */
#include "host/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/grow.h"
#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/cell0.h"
#include "bcri/clock.h"
#include "bcri/failure.h"
#include "bcri/heap.h"
#include "bcri/lookup.h"
#include "bcri/reclaim.h"
#include "bcri/repair.h"
#include "host/host.h"

/* How long enl waits for the thread to end. The thread itself waits for nobody, unless shared
 * memory is corrupt. */
#define STOP_MSEC 2000u
/* A holder that keeps work parked for so long is reported. */
#define TOLD_AFTER_NS BCRI_NS_PER_S
/* Where the kernel has no membarrier, a holder's release may miss the daemon's sleep flag: then the
 * thread looks again after this time. */
#define LOOK_AGAIN_NS (10 * BCRI_NS_PER_MS)

struct enl_worker {
    struct enl_here *here;
    void (*done)(struct enl_here *here, const struct enl_work *work);
    uv_async_t bell; /* thread -> loop: something is finished */
    struct enl_mailbox todo, finished;
    atomic_bool stop;
    size_t pending; /* the loop's: pieces added and not told */
    pthread_t thread;
    struct enl_mails mine;        /* the thread's own: what it is to do, oldest first */
    struct bcri_reclaim *reclaim; /* the thread's own */
    atomic_bool look_queued;      /* one look serves all that asked for one before it begins */
};

static struct bcri_ctx *context(const struct enl_worker *worker)
{
    return bcri_host_ctx(worker->here->host);
}

/* ---- in the thread */

/* Frees what can be freed. The loop releases the records, since it may still use one of them for a
 * piece in the queue of finished work. */
static void look_at_reclaim(struct bcri_reclaim *reclaim, struct enl_work *work)
{
    uint32_t index;
    size_t room = 0;
    bcri_reclaim_look(reclaim);
    /* Without memory the next look brings the rest. */
    while (enl_grow(&work->free_records, &room, work->free_count + 1, sizeof index) &&
           bcri_reclaim_take(reclaim, &index))
        work->free_records[work->free_count++] = index;
}

/* do_birth, do_repair, do_error, perform: false: the piece is parked. */
static bool do_birth(struct bcri_ctx *ctx, struct enl_work *work)
{
    work->code = bcrE_NOMEM;
    if (bcri_record(ctx, work->index) == NULL)
        return true;
    bcri_cell0_init(ctx, work->index);
    work->code =
        work->has_data ? bcri_birth_put(ctx, work->index, work->archtype, work->data, work->length) : 0;
    return work->code != bcrE_TIMEOUT;
}

static bool do_repair(struct enl_worker *worker, struct enl_work *work)
{
    struct bcri_ctx *ctx = context(worker);
    ctx->daemon.corrupt = work->code != 0;
    const bool done = bcri_cce_repair(ctx, work->index);
    work->code = ctx->daemon.corrupt ? bcrE_INTERNAL : 0;
    if (done)
        bcri_reclaim_add(worker->reclaim, work->index);
    return done;
}

static bool do_error(struct bcri_ctx *ctx, struct enl_work *work)
{
    int error = bcri_error_put(ctx, work->index, work->code, work->operation, NULL, work->ordinal);
    if (error != bcrE_TIMEOUT)
        work->code = error;
    return error != bcrE_TIMEOUT;
}

static bool perform(struct enl_worker *worker, struct enl_work *work)
{
    switch (work->kind) {
    case ENL_WORK_CELL0_INIT: return do_birth(context(worker), work);
    case ENL_WORK_ERROR: return do_error(context(worker), work);
    case ENL_WORK_REPAIR: return do_repair(worker, work);
    case ENL_WORK_BLOCKED_BY: return true;
    case ENL_WORK_POOL: work->code = bcri_heap_piece_reserve(context(worker), &work->piece); return true;
    case ENL_WORK_CALL:
        work->code = work->call->perform(work->call, context(worker));
        return work->code != bcrE_TIMEOUT;
    case ENL_WORK_LOOK: atomic_store(&worker->look_queued, false); return true;
    }
    return true;
}

static void tell_loop(struct enl_worker *worker, struct enl_work *work)
{
    enl_mailbox_add(&worker->finished, &work->mail);
    uv_async_send(&worker->bell);
}

static void park(struct enl_worker *worker, struct enl_work *work)
{
    const uint32_t holder = context(worker)->daemon.parked;
    if (work->parked_ns == 0)
        work->parked_ns = bcri_clock_ns();
    if (work->parked_for != holder)
        work->told = false;
    work->parked_for = holder;
    STAILQ_INSERT_TAIL(&worker->mine, &work->mail, entry);
}

/* Returns whether any piece was done: then parked ones may be begun again.
 * Model: lock.pml */
static bool do_all(struct enl_worker *worker)
{
    bool any = false;
    struct enl_mails todo = STAILQ_HEAD_INITIALIZER(todo);
    STAILQ_CONCAT(&todo, &worker->mine);
    while (!STAILQ_EMPTY(&todo) && !atomic_load(&worker->stop)) {
        struct enl_work *work = (struct enl_work *)STAILQ_FIRST(&todo);
        STAILQ_REMOVE_HEAD(&todo, entry);
        context(worker)->daemon.parked = 0;
        if (!perform(worker, work)) {
            park(worker, work);
            continue;
        }
        any = true;
        if (work->kind == ENL_WORK_REPAIR || work->kind == ENL_WORK_LOOK)
            look_at_reclaim(worker->reclaim, work);
        tell_loop(worker, work);
    }
    STAILQ_CONCAT(&worker->mine, &todo);
    return any;
}

/* Reports the holders for which work has been parked for long. Returns when the next report is
 * due. */
static uint64_t tell_of_parked(struct enl_worker *worker)
{
    uint64_t next_ns = UINT64_MAX;
    const uint64_t now_ns = !STAILQ_EMPTY(&worker->mine) ? bcri_clock_ns() : 0;
    struct enl_mail *mail;
    STAILQ_FOREACH (mail, &worker->mine, entry) {
        struct enl_work *work = (struct enl_work *)mail;
        if (work->told || work->parked_for == 0)
            continue;
        if (now_ns < work->parked_ns + TOLD_AFTER_NS) {
            next_ns = next_ns < work->parked_ns + TOLD_AFTER_NS ? next_ns : work->parked_ns + TOLD_AFTER_NS;
            continue;
        }
        work->told = true;
        struct enl_work *blocked_by = calloc(1, sizeof *blocked_by);
        if (blocked_by == NULL)
            continue;
        blocked_by->kind = ENL_WORK_BLOCKED_BY;
        blocked_by->index = work->parked_for - 1;
        blocked_by->waiter = work->kind == ENL_WORK_REPAIR ? work->index : BCRI_ENL_INDEX;
        tell_loop(worker, blocked_by);
    }
    return next_ns;
}

/* Sleeps until the bell is rung, unless it was rung since it said `seen`.
 * Model: lock.pml */
static void rest(struct enl_worker *worker, uint32_t seen, bool looks)
{
    struct bcri_bell_shm *bell = context(worker)->bell;
    uint64_t until_ns = tell_of_parked(worker);
    if (context(worker)->full_fence && (looks || !STAILQ_EMPTY(&worker->mine)))
        until_ns = bcri_clock_ns() + LOOK_AGAIN_NS;
    atomic_store_explicit(&bell->sleeping, BCRI_SLEEPS_ON_FUTEX, memory_order_seq_cst);
    bcri_futex_wait(&bell->bell, seen, until_ns);
    bcri_store(&bell->sleeping, BCRI_AWAKE);
}

/* Model: lock.pml */
static void *work_on(void *data)
{
    struct enl_worker *worker = data;
    for (;;) {
        uint32_t seen = bcri_load_acquire(&context(worker)->bell->bell);
        enl_mailbox_take_all(&worker->todo, &worker->mine);
        if (atomic_load(&worker->stop))
            return NULL;
        const bool any = do_all(worker);
        const bool looks = !bcri_looks_done(context(worker));
        if (!any)
            rest(worker, seen, looks);
    }
}

/* ---- on the loop */

static void drop_work(struct enl_work *work)
{
    free(work->free_records);
    if (work->call != NULL)
        work->call->drop(work->call);
    free(work);
}

static void on_bell(uv_async_t *bell)
{
    struct enl_worker *worker = bell->data;
    struct enl_here *here = worker->here;
    /* `done` may stop the worker, which closes the bell; the worker's memory stays until the loop's
     * next turn. */
    for (struct enl_work *work; !uv_is_closing((uv_handle_t *)bell) &&
                                (work = (struct enl_work *)enl_mailbox_take(&worker->finished)) != NULL;) {
        worker->pending -= work->kind != ENL_WORK_BLOCKED_BY; /* that the thread has added */
        if (work->kind == ENL_WORK_CALL)
            work->call->done(here, work->call, work->code);
        else
            worker->done(here, work);
        work->call = NULL; /* taken */
        for (size_t i = 0; i < work->free_count; i++)
            bcri_host_cce_release(here->host, work->free_records[i]);
        drop_work(work);
    }
}

static void on_bell_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void ring(struct enl_worker *worker)
{
    bcri_bell_ring(context(worker), context(worker)->record);
}

struct enl_worker *enl_worker_start(struct enl_here *here,
                                    void (*when_done)(struct enl_here *here, const struct enl_work *work))
{
    struct enl_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->here = here;
    worker->done = when_done;
    worker->bell.data = worker;
    enl_mailbox_init(&worker->todo);
    enl_mailbox_init(&worker->finished);
    STAILQ_INIT(&worker->mine);
    worker->reclaim = bcri_reclaim_init(here->host);
    if (worker->reclaim != NULL && uv_async_init(&here->self->loop, &worker->bell, on_bell) == 0) {
        errno = pthread_create(&worker->thread, NULL, work_on, worker);
        if (errno == 0)
            return worker;
        bcri_failure_note("pthread_create");
        uv_close((uv_handle_t *)&worker->bell, NULL); /* the program ends without a turn of the loop */
        return NULL;
    }
    bcri_reclaim_fini(worker->reclaim);
    free(worker);
    return NULL;
}

/* Model: lock.pml */
bool enl_worker_add(struct enl_worker *worker, const struct enl_work *work)
{
    struct enl_work *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return false;
    *copy = *work;
    worker->pending++;
    enl_mailbox_add(&worker->todo, &copy->mail);
    ring(worker);
    return true;
}

bool enl_worker_is_idle(const struct enl_worker *worker)
{
    return worker->pending == 0;
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
    struct timespec deadline;
    atomic_store(&worker->stop, true);
    ring(worker);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += STOP_MSEC / 1000;
    if (pthread_clockjoin_np(worker->thread, NULL, CLOCK_MONOTONIC, &deadline) != 0) {
        uv_unref((uv_handle_t *)&worker->bell);
        return false;
    }
    enl_mailbox_take_all(&worker->todo, &worker->mine);
    enl_mailbox_take_all(&worker->finished, &worker->mine);
    for (struct enl_mail *mail; (mail = STAILQ_FIRST(&worker->mine)) != NULL;) {
        STAILQ_REMOVE_HEAD(&worker->mine, entry);
        drop_work((struct enl_work *)mail);
    }
    struct bcri_ctx *ctx = context(worker); /* the private memory of its operations */
    bcri_resolved_fini(ctx);
    bcri_heap_fini(ctx);
    bcri_reclaim_fini(worker->reclaim);
    uv_close((uv_handle_t *)&worker->bell, on_bell_closed);
    return true;
}
