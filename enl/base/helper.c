/* SPDX-License-Identifier: MIT */
/* helper.c -- a thread with two mailboxes: tasks to perform, and performed tasks of which the owner is
 * still to be told. */
#include "base/helper.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "bcri/clock.h"
#include "bcri/failure.h"

struct enl_helper {
    const struct enl_helper_ops *ops;
    void *owner;
    uv_async_t bell; /* thread -> loop: something is done */
    uv_sem_t wake;   /* loop -> thread: a task each, or the stop */
    struct enl_mailbox todo, finished;
    atomic_bool stop;
    pthread_t thread;
};

static void *work_on(void *data)
{
    struct enl_helper *helper = data;
    for (uv_sem_wait(&helper->wake); !atomic_load(&helper->stop); uv_sem_wait(&helper->wake)) {
        struct enl_mail *task = enl_mailbox_take(&helper->todo);
        helper->ops->perform(helper->owner, task);
        enl_mailbox_add(&helper->finished, task);
        uv_async_send(&helper->bell);
    }
    return NULL;
}

static void on_bell(uv_async_t *bell)
{
    struct enl_helper *helper = bell->data;
    /* `done` may stop the helper, which closes the bell; the helper's memory stays until the loop's
     * next turn. */
    for (struct enl_mail *task;
         !uv_is_closing((uv_handle_t *)bell) && (task = enl_mailbox_take(&helper->finished)) != NULL;)
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
    enl_mailbox_init(&helper->todo);
    enl_mailbox_init(&helper->finished);
    if (uv_async_init(loop, &helper->bell, on_bell) != 0) {
        free(helper);
        return NULL;
    }
    uv_sem_init(&helper->wake, 0);
    errno = pthread_create(&helper->thread, NULL, work_on, helper);
    if (errno != 0) {
        bcri_failure_note("pthread_create");
        uv_close((uv_handle_t *)&helper->bell, NULL); /* the program ends without a turn of the loop */
        return NULL;
    }
    return helper;
}

void enl_helper_add(struct enl_helper *helper, struct enl_mail *task)
{
    enl_mailbox_add(&helper->todo, task);
    uv_sem_post(&helper->wake);
}

static void on_bell_closed(uv_handle_t *handle)
{
    struct enl_helper *helper = handle->data;
    uv_sem_destroy(&helper->wake);
    free(helper);
}

bool enl_helper_stop(struct enl_helper *helper, unsigned patience_ms)
{
    atomic_store(&helper->stop, true);
    uv_sem_post(&helper->wake);
    struct timespec deadline;
    bcri_deadline_timespec(bcri_deadline_after((int)patience_ms), &deadline);
    if (pthread_clockjoin_np(helper->thread, NULL, CLOCK_MONOTONIC, &deadline) != 0) {
        uv_unref((uv_handle_t *)&helper->bell);
        return false;
    }
    for (struct enl_mail *task; (task = enl_mailbox_take(&helper->finished)) != NULL ||
                                (task = enl_mailbox_take(&helper->todo)) != NULL;)
        helper->ops->drop(helper->owner, task);
    uv_close((uv_handle_t *)&helper->bell, on_bell_closed);
    return true;
}
