/* SPDX-License-Identifier: MIT */
/* held_up.c -- who waits for whom. */
#include "held_up.h"

#include <stdio.h>

#include "bcri/stopped.h"
#include "cce.h"

enum { SAY_AGAIN_MSEC = 60000 };

void enl_held_up(struct enl_program *program, uint32_t holder_index, uint32_t waiter_index)
{
    struct enl_cce *holder = enl_cce_at(program, holder_index);
    const struct enl_cce *waiter = enl_cce_at(program, waiter_index);
    char who[512], whom[512] = "enl";
    if (holder == NULL || holder->life != ENL_ALIVE)
        return; /* its repair lets the others go on */
    enl_cce_text(holder, who, sizeof who);
    const bool repair = waiter != NULL && waiter->life == ENL_OVER;
    if (waiter != NULL)
        enl_cce_text(waiter, whom, sizeof whom);
    const long pid = (long)holder->pid;
    char why[128] = "it is not stopped; it may be short of processor time";
    if (bcri_process_stopped((uint32_t)pid))
        snprintf(why, sizeof why,
                 "it is stopped, in the midst of a call (a debugger, or SIGSTOP: kill -CONT %ld)", pid);
    const uint64_t now = uv_now(&program->loop);
    if (holder->held_up_ms != 0 && now - holder->held_up_ms < SAY_AGAIN_MSEC) {
        bcri_log_write(&program->log, BCRI_LOG_INFO, "%s holds up %s too", who, whom);
        return;
    }
    holder->held_up_ms = now != 0 ? now : 1;
    enl_say(program, BCRI_LOG_WARN, "%s holds up %s%s: %s", who,
            repair ? "the repair of what was left by " : "", whom, why);
}
