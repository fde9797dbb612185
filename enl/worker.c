/* SPDX-License-Identifier: MIT */
/* worker.c -- a thread with two queues: what is to be done, and what is done and not yet told. */
#include "worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "audit.h"
#include "bcri/cell.h"
#include "bcri/cell0.h"
#include "bcri/estate.h"
#include "bcri/flow.h"
#include "bcri/heap.h"
#include "bcri/repair.h"
#include "bcri/returns.h"

/* Repair waits for nobody who is dead, and at the end everybody is; unless shared memory was damaged. */
#define STOP_SECONDS 2

struct queue {
    struct enl_work *first, **end;
};

struct enl_worker {
    struct enl_program *program;
    void (*done)(struct enl_program *program, const struct enl_work *work);
    uv_async_t bell; /* thread -> loop: something is done */
    pthread_t thread;
    pthread_mutex_t mutex; /* all below */
    pthread_cond_t wake;
    struct queue todo, finished;
    bool stop;
    bool look_queued;           /* one look serves all who have told until it begins */
    struct bcri_estate *estate; /* the thread's */
};

static void queue_init(struct queue *queue)
{
    queue->first = NULL;
    queue->end = &queue->first;
}

static void queue_add(struct queue *queue, struct enl_work *work)
{
    work->next = NULL;
    *queue->end = work;
    queue->end = &work->next;
}

static struct enl_work *queue_take(struct queue *queue)
{
    struct enl_work *work = queue->first;
    if (work == NULL)
        return NULL;
    queue->first = work->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    return work;
}

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

static int perform(struct enl_worker *worker, struct enl_work *work)
{
    struct bcri_ctx *ctx = bcri_host_ctx(worker->program->host);
    switch (work->kind) {
    case ENL_WORK_BIRTH:
        bcri_cell0_init(ctx, work->index);
        return work->has_data ? bcri_birth_put(ctx, work->index, work->archtype, work->data, work->length)
                              : 0;
    case ENL_WORK_ERROR:
        return bcri_error_put(ctx, work->index, work->code, work->operation, NULL, work->ordinal);
    case ENL_WORK_REPAIR:
        bcri_cce_repair(ctx, work->index);
        bcri_estate_add(worker->estate, work->index);
        look_at_estate(worker->estate, work);
        return 0;
    case ENL_WORK_AUDIT: return enl_audit_perform(work->audit, ctx);
    case ENL_WORK_LOOK: look_at_estate(worker->estate, work); return 0;
    }
    return 0;
}

static void *work_on(void *data)
{
    struct enl_worker *worker = data;
    pthread_mutex_lock(&worker->mutex);
    while (!worker->stop) {
        struct enl_work *work = queue_take(&worker->todo);
        if (work == NULL) {
            pthread_cond_wait(&worker->wake, &worker->mutex);
            continue;
        }
        if (work->kind == ENL_WORK_LOOK)
            worker->look_queued = false;
        pthread_mutex_unlock(&worker->mutex);
        work->code = perform(worker, work);
        pthread_mutex_lock(&worker->mutex);
        queue_add(&worker->finished, work);
        uv_async_send(&worker->bell);
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

static void free_work(struct enl_work *work)
{
    free(work->free_records);
    free(work->audit);
    free(work);
}

static void on_bell(uv_async_t *bell)
{
    struct enl_worker *worker = bell->data;
    for (;;) {
        pthread_mutex_lock(&worker->mutex);
        struct enl_work *work = queue_take(&worker->finished);
        pthread_mutex_unlock(&worker->mutex);
        if (work == NULL)
            return;
        worker->done(worker->program, work);
        for (size_t i = 0; i < work->free_count; i++)
            bcri_host_cce_release(worker->program->host, work->free_records[i]);
        free_work(work);
    }
}

struct enl_worker *enl_worker_start(struct enl_program *program,
                                    void (*done)(struct enl_program *program, const struct enl_work *work))
{
    struct enl_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->program = program;
    worker->done = done;
    worker->bell.data = worker;
    queue_init(&worker->todo);
    queue_init(&worker->finished);
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_cond_init(&worker->wake, NULL);
    worker->estate = bcri_estate_init(program->host);
    if (worker->estate == NULL || uv_async_init(&program->loop, &worker->bell, on_bell) != 0) {
        bcri_estate_fini(worker->estate);
        free(worker);
        return NULL;
    }
    bcri_repair_init(bcri_host_ctx(program->host));
    if (pthread_create(&worker->thread, NULL, work_on, worker) != 0) {
        uv_close((uv_handle_t *)&worker->bell, NULL);
        return NULL;
    }
    return worker;
}

bool enl_worker_add(struct enl_worker *worker, const struct enl_work *work)
{
    struct enl_work *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return false;
    *copy = *work;
    pthread_mutex_lock(&worker->mutex);
    queue_add(&worker->todo, copy);
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->mutex);
    return true;
}

bool enl_worker_look(struct enl_worker *worker)
{
    struct enl_work work = {.kind = ENL_WORK_LOOK};
    pthread_mutex_lock(&worker->mutex);
    bool queued = worker->look_queued;
    worker->look_queued = true;
    pthread_mutex_unlock(&worker->mutex);
    return queued || enl_worker_add(worker, &work);
}

static void on_bell_closed(uv_handle_t *handle)
{
    struct enl_worker *worker = handle->data;
    struct enl_work *work;
    while ((work = queue_take(&worker->todo)) != NULL || (work = queue_take(&worker->finished)) != NULL)
        free_work(work);
    bcri_estate_fini(worker->estate);
    pthread_mutex_destroy(&worker->mutex);
    pthread_cond_destroy(&worker->wake);
    free(worker);
}

bool enl_worker_stop(struct enl_worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    worker->stop = true;
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->mutex);
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += STOP_SECONDS;
    if (pthread_timedjoin_np(worker->thread, NULL, &deadline) != 0) {
        uv_unref((uv_handle_t *)&worker->bell);
        return false;
    }
    struct bcri_ctx *ctx = bcri_host_ctx(worker->program->host); /* what its operations have kept privately */
    bcri_places_fini(ctx);
    bcri_areas_fini(ctx);
    bcri_returns_fini(ctx);
    bcri_heap_fini(ctx);
    uv_close((uv_handle_t *)&worker->bell, on_bell_closed);
    return true;
}
