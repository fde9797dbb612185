/* SPDX-License-Identifier: MIT */
/* calls.c -- the system calls of SCore-D that concern all nodes: barrier, end, output, signals, and the small ones.
 *
 * Any thread may call them, and BCR takes one call at a time. A call that waits must not keep the threads that use PM from BCR:
 * pm_wait does not. */
#include "sc.h"
#include "score_options.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bcr/program.h>

#include "pm_private.h"
#include "score_private.h"

static struct pm_wait barrier = {bcr_teamsync, PTHREAD_MUTEX_INITIALIZER},
                      flush = {bcr_outdone, PTHREAD_MUTEX_INITIALIZER};

int sc_barrier(void)
{
    if (!score_self.is_begun)
        return EINVAL;
    return !score_self.has_team || pm_wait(&barrier) == 0 ? 0 : EPIPE;
}

int sc_flush(void)
{
    if (!score_self.is_begun)
        return EINVAL;
    (void)fflush(stdout);
    return score_self.is_alone || pm_wait(&flush) == 0 ? 0 : EPIPE;
}

int sc_exit(int status)
{
    if (!score_self.is_alone && score_self.is_begun) {
        pm_lock();
        bcr_end(status & 0xff, score_self.has_team ? bcr_TEAM : bcr_ALL);
        pm_unlock(); /* it has failed, and handlers of atexit may call PM */
    }
    exit(status & 0xff);
}

int sc_terminate(void)
{
    return sc_exit(1);
}

/* A number of 31 bits that is not 0, from what nobody can guess of the first node's identity. */
static int number_of_first_node(void)
{
    const int first = bcr_teamcce(0);
    uint32_t number = 2166136261u;
    bcr_region region = bcr_rgalloc(16, 0);
    if (region == NULL || bcr_copyto(bcrT_1CCE, 1, region, 0, &first, sizeof first) < 2)
        score_fail("sc_getpid: %s", bcr_strerror(bcr_errno));
    for (int i = 0; i < 16; i++)
        number = (number ^ (*(const unsigned char **)region)[i]) * 16777619u;
    bcr_rgfree(region);
    return (int)(number >> 1 | 1);
}

int sc_getpid(int *scpid)
{
    static int number;
    if (scpid == NULL)
        return EINVAL;
    if (!score_self.has_team) {
        *scpid = (int)getpid();
        return 0;
    }
    pm_lock();
    if (number == 0)
        number = number_of_first_node();
    *scpid = number;
    pm_unlock();
    return 0;
}

int sc_signal_bcast(int signal)
{
    if (signal <= 0 || signal == SIGSTOP || signal == SIGCONT || signal == SIGKILL)
        return EINVAL;
    if (score_self.is_alone || !score_self.is_begun)
        return kill(getpid(), signal) == 0 ? 0 : errno;
    pm_lock();
    const int code = bcr_signal(score_self.has_team ? bcr_TEAM : bcr_ALL, signal) == 0 ? 0 : bcr_errno;
    pm_unlock();
    return code == 0 ? 0 : code == bcrE_ARG ? EINVAL : EAGAIN;
}

int sc_sleep(int sec)
{
    if (sec < 0)
        return EINVAL;
    struct timespec left = {.tv_sec = sec};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
    return 0;
}

int sc_yield(void)
{
    sched_yield();
    return 0;
}

static unsigned char monitors[2];

void sc_set_monitor(int which, unsigned char value)
{
    monitors[which != 0] = value;
}

int sc_checkpoint(void)
{
    return ENOSYS;
}

static _Atomic int uncheckpointable;

void score_ckpt_enter_uncheckpointable(void)
{
    uncheckpointable++;
}

void score_ckpt_leave_uncheckpointable(void)
{
    uncheckpointable--;
}
