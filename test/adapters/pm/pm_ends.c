/* SPDX-License-Identifier: MIT */
/* A member that has ended, with status 0, while others go on; and what there is not enough of. */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pm_members.h"

/* It ends, or with number 1 is killed, with the requests of all other hosts in its cell. */
static _Noreturn void end_with_requests(pmAddrHandle own)
{
    int wanted = 0;
    caddr_t buffer;
    size_t length;
    if (number == 1) {
        AWAIT(pmReceive(net, &buffer, &length));
        OK(pmGetSendBuffer(nets[0], 0, &buffer, PM_MTU));
    }
    pm_lock();
    for (int i = 0; i < score_num_node - 1; i++) {
        send_locked(i, &own, sizeof own);
        wanted += !is_near(i);
    }
    while (bcr_celllen(bcr_cce, PM_CELL_REQUESTS) < wanted || bcr_putdone(0) != 1)
        continue;
    if (number == 1)
        raise(SIGKILL);
    exit(0);
}

/* The last member lends memory, sends, and exits. Others receive what it has sent; what goes there later is lost, which they are
 * told, and nothing waits for it. */
void ends(void)
{
    const int last = score_num_node - 1;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pmAddrHandle own, there;
    caddr_t buffer;
    int code;
    OK(pmMLock(net, PM_NODE_ANY, pages(page), page, &own));
    meet();
    if (score_self_node == last)
        end_with_requests(own);
    for (int i = 0; number == 1 && i < PM_SLOTS; i++)
        send_bytes(net, last, "full", 4);
    MUST(receive_bytes(net, &there, sizeof there) == sizeof there);
    if (!is_near(last)) {
        AWAIT(pmWrite(net, last, there, own, 8));
        while ((code = pmIsWriteDone(net)) == EBUSY)
            continue;
        MUST(code == EIO);
    }
    do { /* until it has ended */
        while ((code = pmGetSendBuffer(net, last, &buffer, 1)) == ENOBUFS)
            MUST(pmIsSendDone(net) != EINVAL);
        MUST(code == PM_SUCCESS);
        OK(pmSend(net));
        while ((code = pmIsSendDone(net)) == EBUSY)
            continue;
        MUST(code == PM_SUCCESS || code == EIO);
    } while (code != EIO);
    for (int round = 0; round < 3; round++) {
        while ((code = pmWrite(net, last, there, own, 8)) == ENOBUFS)
            continue;
        MUST(code == PM_SUCCESS);
        while ((code = pmIsWriteDone(net)) == EBUSY)
            continue;
        MUST(code == EIO);
        while ((code = pmRead(net, last, there, own, 8)) == ENOBUFS)
            continue;
        MUST(code == PM_SUCCESS);
        while ((code = pmIsReadDone(net)) == EBUSY)
            continue;
        MUST(code == EIO);
    }
}

/* ---- too few descriptors, and no memory: with PM_MEMORY=1 ---- */

static void no_descriptors(char *memory, size_t page)
{
    struct rlimit before, none;
    pmContext *member;
    pmAddrHandle handle;
    int node, fds[8], count = 8;
    OK(pmExtractNode(net, (score_self_node + 1) % score_num_node, &member, &node));
    MUST(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){0, before.rlim_max};
    MUST(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CODE(pmCreateAttachFd(member, &fds[0]), ENOMEM);
    CODE(pmMLock(net, PM_NODE_ANY, memory, page, &handle), ENOSPC);
    CODE(pmGetFd(net, fds, &count), ENOMEM);
    CODE(pmBeforeSelect(net), ENOMEM);
    MUST(setrlimit(RLIMIT_NOFILE, &before) == 0);
    OK(pmMLock(net, PM_NODE_ANY, memory, page, &handle));
    OK(pmGetFd(net, fds, &count));
    OK(pmBeforeSelect(net));
    OK(pmAfterSelect(net));
}

/* Sends to all until there is no memory for a message of one byte; nobody receives. */
static unsigned use_all_memory(void)
{
    static const size_t lengths[] = {PM_MTU, 4096, 1024, 256, 64, 1};
    unsigned sent = 0;
    caddr_t buffer;
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int node = 0; node < score_num_node; node++)
            while (node != score_self_node && pmGetSendBuffer(net, node, &buffer, lengths[i]) == PM_SUCCESS) {
                memset(buffer, 1, lengths[i]);
                OK(pmSend(net));
                sent++;
            }
    return sent;
}

void limits(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = pages(2 * page);
    unsigned char bytes[PM_MTU];
    pmAddrHandle handle;
    meet();
    no_descriptors(memory, page);
    meet();
    MUST(use_all_memory() < (unsigned)(score_num_node - 1) * PM_SLOTS);
    CODE(pmMLock(net, PM_NODE_ANY, memory + page, page, &handle), ENOSPC);
    CODE(pmMUnlock(net, PM_NODE_ANY, memory + page, page), ENOENT);
    OK(pmMUnlock(net, PM_NODE_ANY, memory, page));
    meet();
    for (caddr_t buffer; pmReceive(net, &buffer, &(size_t){0}) == PM_SUCCESS;)
        OK(pmReleaseReceiveBuffer(net));
    meet();
    /* All is there again. */
    OK(pmMLock(net, PM_NODE_ANY, memory + page, page, &handle));
    memset(bytes, 7, sizeof bytes);
    send_bytes(net, (score_self_node + 1) % score_num_node, bytes, sizeof bytes);
    MUST(receive_bytes(net, bytes, sizeof bytes) == sizeof bytes && bytes[0] == 7);
    meet();
}
