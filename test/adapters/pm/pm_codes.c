/* SPDX-License-Identifier: MIT */
/* Each routine and each of its codes that can be had; composites. All members do the same. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pm_members.h"

static int other(void)
{
    return (score_self_node + 1) % score_num_node;
}

/* ---- messages ---- */

static void sending(void)
{
    caddr_t buffer = NULL, second;
    char bytes[8];
    const int to = other();
    CODE(pmSend(net), EIO);
    CODE(pmTruncateBuffer(net, 1), EIO);
    CODE(pmGetSendBuffer(NULL, to, &buffer, 1), EINVAL);
    CODE(pmGetSendBuffer(net, to, NULL, 1), EINVAL);
    CODE(pmGetSendBuffer(net, to, &buffer, 0), EINVAL);
    CODE(pmGetSendBuffer(net, to, &buffer, PM_MTU + 1), EINVAL);
    CODE(pmGetSendBuffer(net, score_self_node, &buffer, 1), EINVAL);
    CODE(pmGetSendBuffer(net, -1, &buffer, 1), EINVAL);
    CODE(pmGetSendBuffer(net, score_num_node, &buffer, 1), EINVAL);
    CODE(pmGetSendBuffer(net, INT32_MAX, &buffer, 1), EINVAL);
    OK(pmGetSendBuffer(net, to, &buffer, PM_MTU));
    MUST((uintptr_t)buffer % 16 == 0);
    memset(buffer, 'x', PM_MTU);
    CODE(pmGetSendBuffer(net, to, &second, 1), EBUSY);
    CODE(pmGetMulticastBuffer(net, (int[]){to}, 1, &second, 1), EBUSY);
    CODE(pmGetSendBuffer(net, score_self_node, &second, 1), EINVAL);
    CODE(pmTruncateBuffer(net, 0), EINVAL);
    CODE(pmTruncateBuffer(net, (size_t)PM_MTU + 1), EINVAL);
    OK(pmTruncateBuffer(net, PM_MTU));
    OK(pmTruncateBuffer(net, 9));
    CODE(pmTruncateBuffer(net, 10), EINVAL);
    OK(pmTruncateBuffer(net, 8));
    OK(pmSend(net));
    CODE(pmSend(net), EIO);
    CODE(pmSend(NULL), EINVAL);
    MUST(receive_bytes(net, bytes, sizeof bytes) == 8 && memcmp(bytes, "xxxxxxxx", 8) == 0);
    /* The same buffer, longer again. */
    OK(pmGetSendBuffer(net, to, &buffer, PM_MTU));
    memset(buffer, 'y', PM_MTU);
    OK(pmSend(net));
    AWAIT(pmIsSendDone(net));
    CODE(pmIsSendDone(NULL), EINVAL);
}

static void receiving(void)
{
    caddr_t buffer, second;
    size_t length = 0;
    CODE(pmReleaseReceiveBuffer(net), EIO);
    CODE(pmReleaseReceiveBuffer(NULL), EINVAL);
    CODE(pmReceive(NULL, &buffer, &length), EINVAL);
    CODE(pmReceive(net, NULL, &length), EINVAL);
    CODE(pmReceive(net, &buffer, NULL), EINVAL);
    AWAIT(pmReceive(net, &buffer, &length));
    MUST(length == PM_MTU && buffer[0] == 'y' && buffer[PM_MTU - 1] == 'y' && (uintptr_t)buffer % 16 == 0);
    CODE(pmReceive(net, &second, &length), EBUSY);
    OK(pmReleaseReceiveBuffer(net));
    CODE(pmReleaseReceiveBuffer(net), EIO);
    CODE(pmReceive(net, &buffer, &length), ENOBUFS);
}

static void multicasts(void)
{
    int all[64], count = 0;
    caddr_t buffer;
    char bytes[4];
    for (int i = 0; i < score_num_node; i++)
        if (i != score_self_node)
            all[count++] = i;
    CODE(pmGetMulticastBuffer(net, NULL, 1, &buffer, 1), EINVAL);
    CODE(pmGetMulticastBuffer(net, all, 0, &buffer, 1), EINVAL);
    CODE(pmGetMulticastBuffer(net, all, -1, &buffer, 1), EINVAL);
    CODE(pmGetMulticastBuffer(net, all, count, &buffer, 0), EINVAL);
    CODE(pmGetMulticastBuffer(net, all, count, &buffer, PM_MTU + 1), EINVAL);
    CODE(pmGetMulticastBuffer(net, (int[]){other(), score_self_node}, 2, &buffer, 1), EINVAL);
    CODE(pmGetMulticastBuffer(net, (int[]){other(), other()}, 2, &buffer, 1), EINVAL);
    CODE(pmGetMulticastBuffer(net, (int[]){other(), score_num_node}, 2, &buffer, 1), EINVAL);
    for (int round = 0; round < 40; round++) {
        for (int code; (code = pmGetMulticastBuffer(net, all, count, &buffer, 100)) != PM_SUCCESS;)
            MUST(code == ENOBUFS);
        memset(buffer, round, 100);
        OK(pmTruncateBuffer(net, 4));
        OK(pmSend(net));
        for (int i = 0; i < count; i++)
            MUST(receive_bytes(net, bytes, sizeof bytes) == 4);
    }
    AWAIT(pmIsSendDone(net));
}

/* ---- contexts ---- */

static void telling(void)
{
    int self = -1;
    size_t mtu = 0;
    pmContextConfig config;
    pmMessageQueueStatus status;
    OK(pmGetSelf(net, &self));
    MUST(self == score_self_node);
    CODE(pmGetSelf(NULL, &self), EINVAL);
    CODE(pmGetSelf(net, NULL), EINVAL);
    OK(pmGetMtu(net, other(), &mtu));
    MUST(mtu == PM_MTU && mtu >= PM_MIN_MTU);
    CODE(pmGetMtu(net, score_self_node, &mtu), EINVAL);
    CODE(pmGetMtu(net, score_num_node, &mtu), EINVAL);
    CODE(pmGetMtu(net, -1, &mtu), EINVAL);
    OK(pmGetContextConfig(nets[1], &config));
    MUST(strcmp(config.type, "composite") == 0 && config.number == 1 && config.nodes == score_num_node);
    MUST(config.mtu == PM_MTU && config.size > 0 &&
         config.option == (PM_OPT_REMOTE_WRITE | PM_OPT_REMOTE_READ));
    CODE(pmGetContextConfig(NULL, &config), EINVAL);
    CODE(pmGetContextConfig(net, NULL), EINVAL);
    OK(pmGetMessageQueueStatus(net, &status));
    MUST(status.receive == 0 && status.read == 0);
    CODE(pmGetMessageQueueStatus(net, NULL), EINVAL);
    MUST(strcmp(pmErrorString(PM_SUCCESS), pmErrorString(EINVAL)) != 0 && pmErrorString(12345)[0] != '\0');
    CODE(pmCheckpoint(net), ENOSYS);
    CODE(pmGetMmapInfo(net), ENOSYS);
    CODE(pmMigrateUser(net), ENOSYS);
    CODE(pmRestartUser(net), ENOSYS);
}

static void selecting(void)
{
    int fds[8], count = -1;
    CODE(pmGetFd(net, fds, &count), EINVAL);
    const int wanted = count;
    MUST(wanted == 1 || wanted == 2);
    count = 0;
    CODE(pmGetFd(net, NULL, &count), ENOSPC);
    MUST(count == wanted);
    count = wanted - 1;
    CODE(pmGetFd(net, fds, &count), ENOSPC);
    count = 8;
    OK(pmGetFd(net, fds, &count));
    MUST(count == wanted && fds[0] >= 0 && fds[count - 1] >= 0);
    CODE(pmGetFd(NULL, fds, &count), EINVAL);
    CODE(pmGetFd(net, fds, NULL), EINVAL);
    /* Armed once, it tells of a message, and tells no more when a pmReceive has found nothing. */
    struct pollfd polled[8];
    char byte = 0;
    for (int i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    OK(pmBeforeSelect(net));
    MUST(poll(polled, (nfds_t)count, 0) == 0);
    meet();
    send_bytes(net, other(), &byte, 1);
    MUST(poll(polled, (nfds_t)count, -1) == 1);
    MUST(receive_bytes(net, &byte, 1) == 1);
    for (int i = 0; i < 3; i++) {
        caddr_t buffer;
        size_t length;
        CODE(pmReceive(net, &buffer, &length), ENOBUFS);
        MUST(poll(polled, (nfds_t)count, 0) == 0);
    }
    OK(pmAfterSelect(net));
    CODE(pmBeforeSelect(NULL), EINVAL);
    CODE(pmAfterSelect(NULL), EINVAL);
}

/* ---- one-sided ---- */

static void locking(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = pages(4 * page);
    const int to = other();
    pmAddrHandle handle = 0, again = 0, part = 0;
    CODE(pmMLock(net, PM_NODE_ANY, memory, 0, &handle), EINVAL);
    CODE(pmMLock(net, PM_NODE_ANY, memory + 8, page, &handle), EINVAL);
    CODE(pmMLock(net, PM_NODE_ANY, memory, page - 8, &handle), EINVAL);
    CODE(pmMLock(net, score_num_node, memory, page, &handle), EINVAL);
    CODE(pmMLock(net, score_self_node, memory, page, &handle), EINVAL);
    CODE(pmMLock(net, -2, memory, page, &handle), EINVAL);
    CODE(pmMLock(net, PM_NODE_ANY, NULL, page, &handle), EINVAL);
    CODE(pmMLock(net, PM_NODE_ANY, memory, page, NULL), EINVAL);
    CODE(pmMLock(NULL, PM_NODE_ANY, memory, page, &handle), EINVAL);
    CODE(pmMUnlock(net, PM_NODE_ANY, memory, page), ENOENT);
    OK(pmMLock(net, PM_NODE_ANY, memory, 2 * page, &handle));
    OK(pmMLock(net, to, memory, 2 * page, &again));
    MUST(handle == again && handle != 0);
    OK(pmMLock(net, PM_NODE_ANY, memory, page, &part));
    MUST(part != handle);
    CODE(pmMUnlock(net, PM_NODE_ANY, memory, 3 * page), ENOENT);
    CODE(pmMUnlock(net, PM_NODE_ANY, memory, 0), EINVAL);
    CODE(pmMUnlock(net, score_num_node, memory, page), EINVAL);
    OK(pmMUnlock(net, PM_NODE_ANY, memory, page));
    CODE(pmMUnlock(net, PM_NODE_ANY, memory, page), ENOENT);

    CODE(pmWrite(NULL, to, handle, handle, 8), EINVAL);
    CODE(pmWrite(net, to, handle, handle, 0), EINVAL);
    CODE(pmWrite(net, to, handle, handle, PM_RMA_MTU + 1), EINVAL);
    CODE(pmWrite(net, score_self_node, handle, handle, 8), EINVAL);
    CODE(pmWrite(net, score_num_node, handle, handle, 8), EINVAL);
    CODE(pmWrite(net, PM_NODE_ANY, handle, handle, 8), EINVAL);
    CODE(pmWrite(net, to, handle, part, 8), EINVAL);                  /* unlocked since */
    CODE(pmWrite(net, to, handle, handle + 2 * page - 4, 8), EINVAL); /* beyond the end */
    CODE(pmRead(net, to, handle, handle + 2 * page, 1), EINVAL);
    CODE(pmRead(net, to, handle, 0, 8), EINVAL);
    CODE(pmRead(net, to, handle, handle, PM_RMA_MTU + 1), EINVAL);
    CODE(pmIsWriteDone(net), PM_SUCCESS);
    CODE(pmIsReadDone(net), PM_SUCCESS);
    CODE(pmIsWriteDone(NULL), EINVAL);
    CODE(pmIsReadDone(NULL), EINVAL);
    /* A handle of this node is none there: told at once on one host, later by others. */
    if (is_near(to)) {
        CODE(pmWrite(net, to, handle, handle, 8), EINVAL);
        CODE(pmRead(net, to, handle, handle, 8), EINVAL);
    } else {
        int code;
        OK(pmWrite(net, to, handle, handle, 8));
        while ((code = pmIsWriteDone(net)) == EBUSY)
            CODE(pmReleaseReceiveBuffer(net), EIO);
        MUST(code == EIO);
        CODE(pmIsWriteDone(net), PM_SUCCESS);
        OK(pmRead(net, to, handle, handle, 8));
        while ((code = pmIsReadDone(net)) == EBUSY)
            continue;
        MUST(code == EIO);
    }
    meet();
    OK(pmMUnlock(net, PM_NODE_ANY, memory, 2 * page));
    OK(pmMUnlock(net, to, memory, 2 * page));
    CODE(pmMUnlock(net, to, memory, 2 * page), ENOENT);
}

void codes(void)
{
    telling();
    meet();
    sending();
    receiving();
    meet();
    multicasts();
    meet();
    selecting();
    locking();
}

static void *run_codes(void *argument)
{
    codes();
    return argument;
}

/* By another thread than that which has called bcr_init, while this one looks for what there is none of. */
void codes_of_thread(void)
{
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, run_codes, NULL) == 0);
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        caddr_t buffer;
        size_t length;
        CODE(pmReceive(nets[1 - number % 2], &buffer, &length), ENOBUFS);
    }
}

/* Node 0 may not reach the memory of others, which may reach each other, and so have no helper. */
void one_refused(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pmAddrHandle own, there;
    OK(pmMLock(net, PM_NODE_ANY, pages(page), page, &own));
    if (score_self_node != 0)
        send_bytes(net, 0, &own, sizeof own);
    for (int i = 1; score_self_node == 0 && i < score_num_node; i++) {
        caddr_t buffer;
        size_t length;
        AWAIT(pmReceive(net, &buffer, &length));
        memcpy(&there, buffer, sizeof there);
        OK(pmReleaseReceiveBuffer(net));
        int codes_come = 0;
        for (int node = 1; node < score_num_node; node++)
            codes_come += pmWrite(net, node, there, own, 8) == ENOSYS;
        MUST(codes_come == 1); /* elsewhere the handle is none */
    }
    meet();
}

/* ---- composites ---- */

static void attaching(void)
{
    pmContext *member = NULL, *fresh = NULL, *mine = NULL;
    int node = -1, fd = -1, self;
    OK(pmExtractNode(net, other(), &member, &node));
    MUST(node == other());
    CODE(pmExtractNode(net, score_self_node, &member, &node), EINVAL);
    CODE(pmExtractNode(net, score_num_node, &member, &node), EINVAL);
    CODE(pmExtractNode(member, other(), &member, &node), ENOSYS);
    CODE(pmExtractNode(net, other(), NULL, &node), EINVAL);
    const char *type = is_near(other()) ? "shmem" : "agent-udp";
    CODE(pmCreateAttachFd(net, &fd), EINVAL);
    OK(pmCreateAttachFd(member, &fd));
    CODE(pmAttachContext((char *)"token-ring", fd, &fresh), ENODEV);
    CODE(pmAttachContext((char *)type, -1, &fresh), EINVAL);
    CODE(pmAttachContext((char *)type, 0, &fresh), EINVAL);
    CODE(pmAttachContext((char *)(is_near(other()) ? "myrinet" : "shmem"), fd, &fresh), EINVAL);
    CODE(pmAttachContext((char *)"composite", fd, &fresh), EINVAL);
    CODE(pmAttachContext(NULL, fd, &fresh), EINVAL);
    OK(pmAttachContext((char *)(is_near(other()) ? type : "myrinet"), fd, &fresh));
    close(fd);
    const int file = open("/dev/null", O_RDONLY);
    CODE(pmAttachContext((char *)type, file, &mine), EINVAL);
    close(file);

    OK(pmAttachContext((char *)"composite", -1, &mine));
    CODE(pmGetSelf(mine, &self), EINVAL);
    CODE(pmAddNode(fresh, 0, fresh, other()), ENOSYS);
    CODE(pmAddNode(mine, 0, net, other()), EINVAL);
    CODE(pmAddNode(mine, -1, fresh, other()), EINVAL);
    CODE(pmAddNode(mine, PM_MAX_NODE, fresh, other()), EINVAL);
    CODE(pmAddNode(mine, 0, fresh, score_self_node), EINVAL);
    CODE(pmAddNode(mine, 0, fresh, score_num_node), EINVAL);
    CODE(pmAddNode(mine, 0, member, other()), EBUSY);
    CODE(pmAddNode(NULL, 0, fresh, other()), EINVAL);
    OK(pmAddNode(mine, 777, fresh, other()));
    CODE(pmAddNode(mine, 777, fresh, other()), EBUSY);
    OK(pmGetSelf(mine, &self));
    MUST(self == score_self_node);
    CODE(pmDetachContext(fresh), EBUSY);

    /* A message by the new one comes to the old one, whose cell it is. */
    meet();
    send_bytes(mine, 777, "hello", 5);
    char bytes[8] = "";
    MUST(receive_bytes(net, bytes, sizeof bytes) == 5 && strcmp(bytes, "hello") == 0);
    meet();
    send_bytes(fresh, other(), "member", 6);
    MUST(receive_bytes(net, bytes, sizeof bytes) == 6 && memcmp(bytes, "member", 6) == 0);
    meet();

    CODE(pmRemoveNode(mine, 5), EINVAL);
    CODE(pmRemoveNode(fresh, 777), ENOSYS);
    OK(pmRemoveNode(mine, 777));
    CODE(pmRemoveNode(mine, 777), EINVAL);
    caddr_t buffer;
    size_t length;
    CODE(pmGetSendBuffer(mine, 777, &buffer, 1), EINVAL);
    CODE(pmReceive(mine, &buffer, &length), ENOBUFS);
    OK(pmAssociateNodes(mine, fresh));
    CODE(pmAssociateNodes(mine, fresh), EBUSY);
    CODE(pmAssociateNodes(mine, member), EBUSY);
    OK(pmGetSendBuffer(mine, other(), &buffer, 1));
    CODE(pmDetachContext(mine), EBUSY);
    OK(pmResetContext(mine));
    CODE(pmSend(mine), EIO);
    OK(pmDetachContext(mine));
    OK(pmDetachContext(fresh));
    CODE(pmDetachContext(NULL), EINVAL);
    CODE(pmControlReceive(net, &buffer, &length), ENOBUFS);
}

/* What is reset is gone: the buffer, the message, and those that have come. */
static void resetting(void)
{
    caddr_t buffer;
    size_t length;
    meet();
    for (int i = 0; i < 5; i++)
        send_bytes(net, other(), "abc", 3);
    AWAIT(pmIsSendDone(net));
    meet();
    OK(pmReceive(net, &buffer, &length));
    OK(pmGetSendBuffer(net, other(), &buffer, 3));
    meet();
    OK(pmResetContext(net));
    CODE(pmReceive(net, &buffer, &length), ENOBUFS);
    CODE(pmSend(net), EIO);
    meet();
    for (int i = 0; i < PM_SLOTS; i++)
        OK(pmGetSendBuffer(net, other(), &buffer, 3) || pmSend(net));
}

/* Network sets have nothing in common. */
static void keeping_apart(void)
{
    caddr_t buffer;
    size_t length;
    char bytes[8];
    send_bytes(nets[1], other(), "apart", 5);
    AWAIT(pmIsSendDone(nets[1]));
    meet();
    CODE(pmReceive(nets[0], &buffer, &length), ENOBUFS);
    MUST(receive_bytes(nets[1], bytes, sizeof bytes) == 5);
    meet();
}

/* What the dump says goes to stdout. */
void composites(void)
{
    meet();
    keeping_apart();
    attaching();
    resetting();
    OK(pmDumpContext(net, STDOUT_FILENO));
    CODE(pmDumpContext(net, -1), EIO);
    MUST(pmDebug(1) == 0 && pmDebug(0) == 1);
    AWAIT(pmIsSendDone(net));
    meet();
}

/* One call of each kind, for what PM_DEBUG says of them. */
void debugging(void)
{
    pmContext *member, *fresh;
    caddr_t buffer;
    size_t length;
    int node, fd;
    OK(pmExtractNode(net, other(), &member, &node));
    CODE(pmExtractNode(net, score_self_node, &member, &node), EINVAL);
    CODE(pmReceive(net, &buffer, &length), ENOBUFS);
    OK(pmCreateAttachFd(member, &fd));
    OK(pmAttachContext((char *)"myrinet", fd, &fresh));
    meet();
}
