/* SPDX-License-Identifier: MIT */
/* Which CCE the calling thread belongs to, and the thread's bcr_errno.
 *
 * A process is one CCE: bcr_init makes its context the process's, and each thread finds it there
 * once and remembers it in a thread-local word. Tests give each thread a context of its own
 * (bcri_self_set), so that several CCEs live in one process. After fork the child has neither:
 * every routine fails there with bcrE_FORK, until a test gives the child's thread a context of its
 * own.
 *
 * bcr_errno has storage in every thread, also before bcr_init and after fork.
 *
 * Code below the public routines must not use this: they look the context up once and hand it
 * down. */
#ifndef BCRI_SELF_H
#define BCRI_SELF_H

#include "bcr/error.h"
#include "bcri/atomics.h"
#include "bcri/ctx.h"

/* Initial-exec: one load from the thread pointer, no call. It costs the loader 16 bytes of static
 * TLS. */
#define BCRI_TLS _Thread_local __attribute__((tls_model("initial-exec")))

extern BCRI_TLS struct bcri_ctx *bcri_self_thread;
extern BCRI_TLS int bcri_self_errno;

struct bcri_ctx *bcri_self_find(void);
struct bcri_ctx *bcri_self_missing(void);

/* The calling thread's context, or NULL: no bcr_init yet, or this is a fork of a CCE. */
static inline struct bcri_ctx *bcri_self(void)
{
    struct bcri_ctx *ctx = bcri_self_thread;
    return bcri_likely(ctx != NULL) ? ctx : bcri_self_find();
}

/* The same; when there is none, bcr_errno says why (bcrE_NOINIT, bcrE_FORK). The first line of
 * public routines. */
static inline struct bcri_ctx *bcri_self_or_error(void)
{
    struct bcri_ctx *ctx = bcri_self_thread;
    return bcri_likely(ctx != NULL) ? ctx : bcri_self_missing();
}

/* The connection to the daemon is broken. What needs it in the midst of a call has no memory then, as
 * far as that knows, and no reason is worth a way of its own through the layers: the process ends soon. */
extern _Atomic bool bcri_self_disconnected;

static inline void bcri_set_errno(int code)
{
    bcri_self_errno = code == bcrE_NOMEM && bcri_load(&bcri_self_disconnected) ? bcrE_ENLIST : code;
}

/* Makes `ctx` the calling thread's, for tests; NULL: the process's own again, if there is one. */
void bcri_self_set(struct bcri_ctx *ctx);

/* Makes `ctx` the process's: every thread without one of its own finds it. NULL takes it away from
 * threads that have not found it yet and from the calling one (a bcr_init that failed half-way). */
void bcri_self_set_process(struct bcri_ctx *ctx);

/* True in a process that was forked by a CCE and has not become one by a test's bcri_self_set. */
bool bcri_self_is_fork(void);

#endif
