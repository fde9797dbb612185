/* SPDX-License-Identifier: MIT */
/* A thread that does what the loop must not wait for: one task after the other, in the order given.
 *
 *   loop                              thread
 *    | --- enl_helper_add(task) --->   |  perform(owner, task)
 *    | <-- done(owner, task) -------   |
 *
 * The owner makes a task, which belongs to the helper until the helper calls `done` or `drop` with it. Everything but
 * `perform` runs on the loop's thread. */
#ifndef ENL_HELPER_H
#define ENL_HELPER_H

#include <stdbool.h>

#include <uv.h>

#include "base/mailbox.h"

struct enl_helper_ops {
    void (*perform)(void *owner, struct enl_mail *task); /* in the thread */
    void (*done)(void *owner, struct enl_mail *task);
    void (*drop)(void *owner, struct enl_mail *task); /* the helper was stopped before `done` */
};

struct enl_helper;

/* `ops` and `owner` must stay until enl_helper_stop has returned true. NULL: no thread, no
 * memory. */
struct enl_helper *enl_helper_start(uv_loop_t *loop, const struct enl_helper_ops *ops, void *owner);
void enl_helper_add(struct enl_helper *helper, struct enl_mail *task);

/* Waits at most `patience_ms` for the task that is being performed, and drops the others. True: the
 * thread has ended, and the helper is gone. False: the thread is stuck, and nothing that it uses
 * may be freed; neither done nor drop is called any more. */
bool enl_helper_stop(struct enl_helper *helper, unsigned patience_ms);

#endif
