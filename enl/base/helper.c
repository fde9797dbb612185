/* SPDX-License-Identifier: MIT */
/* helper.c -- a thread with two queues: tasks to perform, and performed tasks of which the owner is
 * still to be told. */
#include "base/helper.h"
#include "bcri/failure.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct queue {
    struct enl_task *first, **end;
};

struct enl_helper {
    const struct enl_helper_ops *ops;
    void *owner;
    uv_async_t bell;       /* thread -> loop: something is done */
    pthread_mutex_t mutex; /* of all members below */
    pthread_cond_t wake;
    struct queue todo, finished;
    bool stop;
    pthread_t thread;
};

static void queue_init(struct queue *queue)
{
    queue->first = NULL;
    queue->end = &queue->first;
}

static void queue_add(struct queue *queue, struct enl_task *task)
{
    task->next = NULL;
    *queue->end = task;
    queue->end = &task->next;
}

static struct enl_task *queue_take(struct queue *queue)
{
    struct enl_task *task = queue->first;
    if (task == NULL)
        return NULL;
    queue->first = task->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    return task;
}

static void *work_on(void *data)
{
    struct enl_helper *helper = data;
    pthread_mutex_lock(&helper->mutex);
    while (!helper->stop) {
        struct enl_task *task = queue_take(&helper->todo);
        if (task == NULL) {
            pthread_cond_wait(&helper->wake, &helper->mutex);
            continue;
        }
        pthread_mutex_unlock(&helper->mutex);
        helper->ops->perform(helper->owner, task);
        pthread_mutex_lock(&helper->mutex);
        queue_add(&helper->finished, task);
        uv_async_send(&helper->bell);
    }
    pthread_mutex_unlock(&helper->mutex);
    return NULL;
}

static struct enl_task *take_finished(struct enl_helper *helper)
{
    pthread_mutex_lock(&helper->mutex);
    struct enl_task *task = queue_take(&helper->finished);
    pthread_mutex_unlock(&helper->mutex);
    return task;
}

static void on_bell(uv_async_t *bell)
{
    struct enl_helper *helper = bell->data;
    /* `done` may stop the helper, which closes the bell; the helper's memory stays until the loop's
     * next turn. */
    for (struct enl_task *task;
         !uv_is_closing((uv_handle_t *)bell) && (task = take_finished(helper)) != NULL;)
        helper->ops->done(helper->owner, task);
}

struct enl_helper *enl_helper_start(uv_loop_t *loop, const struct enl_helper_ops *ops, void *owner)
{
    struct enl_helper *helper = calloc(1, sizeof *helper);
    if (helper == NULL)
        return NULL;
    helper->ops = ops;
    helper->owner = owner;
    helper->bell.data = helper;
    queue_init(&helper->todo);
    queue_init(&helper->finished);
    pthread_mutex_init(&helper->mutex, NULL);
    pthread_cond_init(&helper->wake, NULL);
    if (uv_async_init(loop, &helper->bell, on_bell) != 0) {
        free(helper);
        return NULL;
    }
    errno = pthread_create(&helper->thread, NULL, work_on, helper);
    if (errno != 0) {
        bcri_failure_note("pthread_create");
        uv_close((uv_handle_t *)&helper->bell, NULL); /* the program ends without a turn of the loop */
        return NULL;
    }
    return helper;
}

void enl_helper_add(struct enl_helper *helper, struct enl_task *task)
{
    pthread_mutex_lock(&helper->mutex);
    queue_add(&helper->todo, task);
    pthread_cond_signal(&helper->wake);
    pthread_mutex_unlock(&helper->mutex);
}

static void on_bell_closed(uv_handle_t *handle)
{
    struct enl_helper *helper = handle->data;
    pthread_mutex_destroy(&helper->mutex);
    pthread_cond_destroy(&helper->wake);
    free(helper);
}

bool enl_helper_stop(struct enl_helper *helper, unsigned patience_ms)
{
    pthread_mutex_lock(&helper->mutex);
    helper->stop = true;
    pthread_cond_signal(&helper->wake);
    pthread_mutex_unlock(&helper->mutex);
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    long nsec = deadline.tv_nsec + (long)(patience_ms % 1000) * 1000000;
    deadline.tv_sec += (time_t)(patience_ms / 1000) + nsec / 1000000000;
    deadline.tv_nsec = nsec % 1000000000;
    if (pthread_clockjoin_np(helper->thread, NULL, CLOCK_MONOTONIC, &deadline) != 0) {
        uv_unref((uv_handle_t *)&helper->bell);
        return false;
    }
    for (struct enl_task *task;
         (task = queue_take(&helper->finished)) != NULL || (task = queue_take(&helper->todo)) != NULL;)
        helper->ops->drop(helper->owner, task);
    uv_close((uv_handle_t *)&helper->bell, on_bell_closed);
    return true;
}
