/* SPDX-License-Identifier: MIT */
/* cores.c -- the cores on which threads of this CCE may run: bcr_threadcores. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include <bcr/program.h>

#include "bcri/client.h"
#include "bcri/ids.h"
#include "bcri/self.h"

/* A CCE that may use one core, the one to which the daemon has pinned it, is given those of the program. One whose cores
 * somebody else has chosen, such as taskset in front of it, keeps these. */
void bcri_client_take_cores(struct bcri_client *client, const struct bcri_control *welcome)
{
    cpu_set_t *const cores = &client->cores;
    if (sched_getaffinity(0, sizeof *cores, cores) != 0)
        CPU_ZERO(cores); /* a machine with more than CPU_SETSIZE: the daemon pins nothing there */
    if (welcome->bytes.length == sizeof *cores && CPU_COUNT(cores) == 1 && welcome->core >= 0 &&
        CPU_ISSET((size_t)welcome->core, cores))
        memcpy(cores, welcome->bytes.bytes, sizeof *cores);
}

/* It is no call in the sense of one_thread.h: what it reads is as bcr_init has left it. */
int bcr_threadcores(void)
{
    const struct bcri_ctx *const ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    const struct bcri_client *const client = ctx->client;
    if (client == NULL || CPU_COUNT(&client->cores) == 0)
        return 0;
    const int before = errno, failed = sched_setaffinity(0, sizeof client->cores, &client->cores);
    errno = before;
    return failed == 0 ? 0 : bcri_fail(bcrE_NOCORE);
}
