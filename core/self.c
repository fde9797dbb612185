/* SPDX-License-Identifier: MIT */
/* self.c -- which CCE the calling thread belongs to.
 *
 * A thread that has found the process's context keeps it in its thread-local word, so `process` is
 * read once per thread. Only fork makes that word wrong, and only in the child's one thread: the
 * handler of pthread_atfork clears it there. The handler is registered with the first context, so
 * every process that has a context has it. */
#include "bcri/self.h"

#include <pthread.h>

#include <bcr/error.h>

BCRI_TLS struct bcri_ctx *bcri_self_thread;
BCRI_TLS int bcri_self_errno;
_Atomic bool bcri_self_disconnected;

static _Atomic(struct bcri_ctx *) process;
static _Atomic int forked;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    if (bcri_self_find() == NULL)
        return; /* forked before it was a CCE: nothing is lost, bcr_init may still come */
    bcri_self_thread = NULL;
    bcri_store(&process, NULL);
    bcri_store(&forked, 1);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

struct bcri_ctx *bcri_self_find(void)
{
    if (bcri_self_thread == NULL)
        bcri_self_thread = bcri_load_acquire(&process);
    return bcri_self_thread;
}

struct bcri_ctx *bcri_self_missing(void)
{
    struct bcri_ctx *ctx = bcri_self_find();
    if (ctx == NULL)
        bcri_set_errno(bcri_load(&forked) ? bcrE_FORK : bcrE_NOINIT);
    return ctx;
}

void bcri_self_set(struct bcri_ctx *ctx)
{
    pthread_once(&watch_once, watch);
    bcri_self_thread = ctx;
    if (ctx != NULL)
        bcri_store(&forked, 0);
}

void bcri_self_set_process(struct bcri_ctx *ctx)
{
    pthread_once(&watch_once, watch);
    bcri_store_release(&process, ctx);
    bcri_self_thread = ctx;
}

bool bcri_self_is_fork(void)
{
    return bcri_load(&forked) != 0;
}
