/* SPDX-License-Identifier: MIT */
/* What generic_cubes.c loads on nodes: it tells the host who it is, sends round a ring of its process ID, and does what the host says. */
#include "generic_members.h"

int main(void)
{
    long size, me, host, number, from;
    const int pid = Generic_FirstCall(NULL, &size, &me, &host);
    MUST(pid >= 0 && pid == Generic_mypid() && me == Generic_mynode() && host == size &&
         Generic_myhost() == size);
    MUST(me >= 0 && me < size && Generic_cubesize() == size);
    /* The next one may not be loaded yet. */
    MUST_BE(Generic_BBsend((const char *)&me, NULL, sizeof me, 77, 0, pid, (me + 1) % size), 0);
    MUST_BE(Generic_Breceive((char *)&from, sizeof from, 77), 77);
    MUST(from == (me + size - 1) % size && Generic_getmsource() == from && Generic_getmpid() == pid);
    number = 100 * me + pid;
    MUST_BE(Generic_BBsend((const char *)&number, "", sizeof number, TELL, 0, -1, host), 0);
    for (;;) {
        const long type = Generic_Breceive(NULL, 0, -1);
        MUST_BE(Generic_getmsource(), host);
        if (type == EXIT)
            exit((int)me + 10);
        MUST_BE(type, COMPLETE);
        Generic_LastCall(1);
        return 0;
    }
}
