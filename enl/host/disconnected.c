/* SPDX-License-Identifier: MIT */
/* disconnected.c -- a CCE whose private socket has ended while its process runs: by an exec, or since it has closed the
 * descriptor. The daemon would not hear of what it does, and it not of the program's end, so it is killed: at once if it is
 * under a wrapper or has joined, else when a second is over, in which most only end. */
#include "host/host.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status.h"
#include "base/watch.h"

static void report_disconnected(struct enl_cce *cce)
{
    if (!cce->disconnect_reported)
        enl_report(cce->here->self, BCRI_LOG_ERROR,
                   "%s gave up its connection to enl and runs on (an exec, or it closed descriptors that are "
                   "not its own); it is killed",
                   enl_cce_text(cce));
    cce->disconnect_reported = true;
}

/* Whether the process has passed the point after which no signal can change how it ends: the kernel sets this flag
 * before it closes descriptors. Or is gone, or unknown: then it has the second that all have. */
static bool is_exiting(pid_t pid)
{
    enum { EXITING = 4 };
    const uint64_t flags = enl_process_stat(pid, ENL_STAT_FLAGS);
    return (flags & EXITING) != 0 || (flags == 0 && enl_process_stat(pid, ENL_STAT_START_TIME) == 0);
}

/* Kills a disconnected CCE that is under a wrapper or has joined: if the daemon were killed within
 * the second that others have, nothing else would end such a CCE. The signal goes by its pidfd,
 * since its parent may have reaped it, and its pid be another process's. */
static void kill_orphan(struct enl_cce *cce)
{
    if (cce->pid_watch == NULL || cce->life == ENL_OVER || is_exiting(cce->pid))
        return;
    report_disconnected(cce);
    syscall(SYS_pidfd_send_signal, cce->pid_watch->fd, SIGKILL, NULL, 0);
}

/* The time of those that are disconnected is up. */
static void on_linger(uv_timer_t *timer)
{
    struct enl_here *here = timer->data;
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry) {
        if (!cce->disconnected || cce->life == ENL_OVER)
            continue;
        report_disconnected(cce);
        enl_cce_signal(cce, SIGKILL, false);
    }
}

void enl_cce_disconnected(struct enl_cce *cce)
{
    cce->disconnected = true;
    kill_orphan(cce);
    uv_timer_start(&cce->here->linger, on_linger, 1000, 0);
}
