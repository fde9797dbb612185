/* SPDX-License-Identifier: MIT */
/* A thread that does what the loop must not wait for: one task after the other, in the order given.
 *
 *   loop                              thread
 *    | --- enl_helper_add(task) --->   |  perform(owner, task)
 *    | <-- done(owner, task) -------   |
 *
 * A task is made by its owner, who embeds struct enl_task as the first field of his own, and
 * belongs to the helper until done or drop gets it back. Everything but `perform` runs on the
 * loop's thread. */
#ifndef ENL_HELPER_H
#define ENL_HELPER_H

#include <stdbool.h>

#include <uv.h>

struct enl_task {
    struct enl_task *next; /* the helper's */
};

struct enl_helper_ops {
    void (*perform)(void *owner, struct enl_task *task); /* in the thread */
    void (*done)(void *owner, struct enl_task *task);
    void (*drop)(void *owner,
                 struct enl_task *task); /* not performed, or not told of: the helper has been stopped */
};

struct enl_helper;

/* `ops` and `owner` stay until enl_helper_stop has returned true. NULL: no thread, no memory. */
struct enl_helper *enl_helper_start(uv_loop_t *loop, const struct enl_helper_ops *ops, void *owner);
void enl_helper_add(struct enl_helper *helper, struct enl_task *task);

/* Waits at most `patience_ms` for the task that is being performed; drops the others. True if the
 * thread has ended: the helper is gone. False: it is stuck, and nothing that it uses may be freed;
 * neither done nor drop is called any more. */
bool enl_helper_stop(struct enl_helper *helper, unsigned patience_ms);

#endif
