/* SPDX-License-Identifier: MIT */
/* idle.c -- score_become_idle and score_become_busy: bcr_idle. What else the node does with
 * messages ends its being idle, too. */
#include "score.h"

#include <bcr/program.h>

#include "pm_private.h"
#include "score_private.h"

static void say(int how)
{
    if (!score_self.has_team || score_option("noidle") != NULL)
        return;
    pm_lock();
    bcr_idle(how);
    pm_unlock();
}

void score_become_idle(void)
{
    say(bcr_IDLE_WAITING);
}

void score_become_busy(void)
{
    say(0);
}
