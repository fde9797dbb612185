/* SPDX-License-Identifier: MIT */
/* pm.h -- PM version 2, the communication library of SCore, on BCR.
 *
 * Programs that were written for PMv2 compile with this header, by way of score.h, and run on BCR's cells: a message is a region,
 * and the receive buffer of a context is a cell. docs/score.md has what each routine is here, and what differs. Source of all:
 * the "SCore and PM Programming Manual" and its pages pm*(3).
 *
 * Each routine but pmErrorString, pmDebug returns PM_SUCCESS or a code of <errno.h>, which its block lists; the first
 * sentence of a code is the same everywhere:
 *     EINVAL   An argument is out of range, or NULL where something is needed.
 *     EBUSY    The context is locked, by this thread or another one of this process; or the work is not done yet.
 *     ENOBUFS  Nothing is there, or no room; call again.
 * Any thread may call any routine at any time; signal handlers, and handlers of cells (bcr_handler), may not. */
#ifndef PM_H
#define PM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* <sys/types.h> has it only for programs that ask for more than C11. */
#if !defined __caddr_t_defined && defined __GLIBC__
typedef char *caddr_t;
#define __caddr_t_defined /* NOLINT(bugprone-reserved-identifier): glibc's own mark */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PM_SUCCESS  0
#define PM_MAX_NODE 65000             /* nodes that a program can have at most */
#define PM_MIN_MTU  ((size_t)1400)    /* bytes of a message that every node takes */
#define PM_RMA_MTU  ((size_t)1 << 20) /* bytes of one pmWrite or pmRead */
#define PM_NODE_ANY (-1)              /* pmMLock, pmMUnlock: for all nodes */

/* In option of a pmContextConfig: what the context can do. */
#define PM_OPT_REMOTE_WRITE 0x1ul
#define PM_OPT_REMOTE_READ  0x2ul

/* An end of communication. A composite context sends by that of its member contexts that has been added for a node; a
 * member context is one of device shmem, which reaches the nodes of this host, or agent-udp, which reaches the others. */
typedef struct pm_context pmContext;

/* Locked memory. A byte offset may be added to it, by the process that has locked and by those that it was sent to; as
 * raw bytes it is the same on all machines. */
typedef uint64_t pmAddrHandle;

typedef struct pm_message_queue_status {
    int receive; /* messages that have come and were not received yet */
    int send;    /* messages that may not have come to their destinations yet */
    int read;    /* pmReads that are not done */
} pmMessageQueueStatus;

typedef struct pm_context_config {
    const char *type; /* "composite", "shmem", "agent-udp" */
    int number;       /* of the network set */
    int nodes;
    size_t mtu;
    size_t size;          /* bytes of the context */
    unsigned long option; /* PM_OPT_... that every member has */
} pmContextConfig;

/* ---- messages: 1 byte to the MTU, in the order of their sending, each once ---- */

/* A buffer for a message of `len` bytes to a node other than this one, aligned for any type. From its success until pmSend the
 * context is locked for sending. EINVAL EBUSY; ENOBUFS: 16 messages of this process lie there and were not released, or what
 * it has sent to other hosts has not come there yet. */
int pmGetSendBuffer(pmContext *pmc, int dest, caddr_t *bufp, size_t len);
/* The same, for `ndest` different nodes, at most 500 of them on other hosts. Receivers of one host share the message, and may
 * not write to it. */
int pmGetMulticastBuffer(pmContext *pmc, int *dest, int ndest, caddr_t *bufp, size_t len);
/* Makes the message shorter. EINVAL; EIO: there is no buffer. */
int pmTruncateBuffer(pmContext *pmc, size_t len);
/* Sends the message, and unlocks. Neither waits nor fails; what becomes of the message pmIsSendDone tells. EIO: there is no
 * buffer. */
int pmSend(pmContext *pmc);
/* Whether all messages have come to their destinations. EBUSY; EIO: since the last call one went to a node that has ended. */
int pmIsSendDone(pmContext *pmc);

/* The next message. From its success until pmReleaseReceiveBuffer the context is locked for receiving. EBUSY ENOBUFS EIO */
int pmReceive(pmContext *pmc, caddr_t *bufp, size_t *lenp);
/* Lets go of the message, and unlocks. EIO: there is none. */
int pmReleaseReceiveBuffer(pmContext *pmc);

/* ---- waiting by select or poll ---- */

/* Descriptors that are readable when something has come, since pmBeforeSelect and since the last pmReceive that found nothing.
 * *nfdp is the room in `fd`, and is set to their number. EINVAL ENOMEM; ENOSPC: the room is too small. */
int pmGetFd(pmContext *pmc, int *fd, int *nfdp);
int pmBeforeSelect(pmContext *pmc); /* ENOMEM; afterwards receive until ENOBUFS, and wait then */
int pmAfterSelect(pmContext *pmc);

/* ---- one-sided: memory of another node ---- */

/* Lets nodes write and read `len` bytes from `addr` on, both multiples of the page size and not 0. Locks of the same memory nest.
 * rmt_node is a node or PM_NODE_ANY; all nodes may use it either way. EINVAL; ENOSPC: no memory for one more. */
int pmMLock(pmContext *pmc, int rmt_node, caddr_t addr, size_t len, pmAddrHandle *hndlp);
/* Undoes one pmMLock of just that memory. EINVAL; ENOENT: it is not locked. */
int pmMUnlock(pmContext *pmc, int rmt_node, caddr_t addr, size_t len);
/* Copy 1 to PM_RMA_MTU bytes from local locked memory to locked memory of another node, or back. On this host they are done
 * when they return. EINVAL, of a handle that is none there only on this host; ENOBUFS; ENOSYS: the system lets this process not
 * reach that one. A later error is told by pmIsWriteDone and pmIsReadDone. A message that is sent to the node later does not
 * overtake them; they may overtake messages. */
int pmWrite(pmContext *pmc, int rmt_node, pmAddrHandle rmt_hndl, pmAddrHandle local_hndl, size_t len);
int pmRead(pmContext *pmc, int rmt_node, pmAddrHandle rmt_hndl, pmAddrHandle local_hndl, size_t len);
/* Whether all are done: local memory may be changed, or has what was read. EBUSY; EIO: since the last call one has failed. */
int pmIsWriteDone(pmContext *pmc);
int pmIsReadDone(pmContext *pmc);

/* ---- contexts ---- */

int pmGetSelf(pmContext *pmc, int *selfp);            /* EINVAL: it has no node yet */
int pmGetMtu(pmContext *pmc, int node, size_t *mtup); /* EINVAL */
int pmGetContextConfig(pmContext *pmc, pmContextConfig *config);
int pmGetMessageQueueStatus(pmContext *pmc, pmMessageQueueStatus *statp);
/* Messages of composite pmc to `node` go by member_pmc to its `member_node`. EINVAL; EBUSY: the node has a context, or the
 * context another composite; ENOSYS: pmc is no composite; ENOMEM */
int pmAddNode(pmContext *pmc, int node, pmContext *member_pmc, int member_node);
int pmRemoveNode(pmContext *pmc, int node);                                              /* EINVAL ENOSYS */
int pmExtractNode(pmContext *pmc, int node, pmContext **member_pmcp, int *member_nodep); /* EINVAL ENOSYS */
/* Makes a context: a composite without nodes (type "composite", fd -1), or a further one of the device and network set that
 * `fd` of pmCreateAttachFd stands for. The types of other devices of PM mean agent-udp. ENODEV: there is no such type; EINVAL:
 * fd is none of pmCreateAttachFd for that type in this process; ENOMEM */
int pmAttachContext(char *type, int fd, pmContext **pmcp);
/* What went wrong, for a code of these routines. */
char *pmErrorString(int error);

/* ---- of which the manual has the names alone: the arguments and meanings are ours ---- */

int pmCreateAttachFd(pmContext *pmc, int *fdp); /* of a member context; the caller closes it. EINVAL ENOMEM */
int pmDetachContext(pmContext *pmc); /* the context is no more. EBUSY: it is locked, or nodes use it */
int pmResetContext(
    pmContext *pmc); /* unlocks, and drops the buffer, the message, and the messages that have come */
int pmAssociateNodes(pmContext *pmc, pmContext *member_pmc); /* pmAddNode for all that the member reaches */
int pmControlReceive(pmContext *pmc, caddr_t *bufp,
                     size_t *lenp);        /* messages of SCore-D: ENOBUFS, none come */
int pmDumpContext(pmContext *pmc, int fd); /* what the context holds, as text. EIO */
int pmDebug(int level);                    /* as variable PM_DEBUG; returns the level before */

/* ---- ENOSYS: there are no checkpoints ---- */

int pmCheckpoint(pmContext *pmc);
int pmGetMmapInfo(pmContext *pmc);
int pmMigrateUser(pmContext *pmc);
int pmRestartUser(pmContext *pmc);

#ifdef __cplusplus
}
#endif

#endif
