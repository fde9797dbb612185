/* SPDX-License-Identifier: MIT */
/* A member that has ended, with status 0, while others go on. */
#include <unistd.h>

#include "pm_members.h"

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
    if (score_self_node == last) {
        for (int i = 0; i < last; i++)
            send_bytes(net, i, &own, sizeof own);
        AWAIT(pmIsSendDone(net));
        return;
    }
    MUST(receive_bytes(net, &there, sizeof there) == sizeof there);
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
