/* SPDX-License-Identifier: MIT */
/* pvm_old.c -- as programs were written then: without prototypes, in the style of K&R; it has routines of its own under common names. */
#include "pvm3.h"

extern int pvm_errno;
extern int pvm_nerr;
extern char *pvm_errlist[];

static int send_sum(to, sum)
int to, sum;
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&sum, 1, 1);
    return pvm_send(to, 3);
}

main()
{
    int mytid = pvm_mytid(), *tids, n, me, sum = 0, bufid, bytes, tag, tid;
    char name[20];
    n = pvm_siblings(&tids);
    for (me = 0; tids[me] != mytid; me++)
        ;
    pvm_setopt(PvmAutoErr, 0);
    if (pvm_parent() != PvmNoParent || pvm_nerr != 37 || pvm_errlist[2][0] != 'B')
        return 9;
    if (me > 0) {
        bufid = pvm_recv(tids[me - 1], 3);
        pvm_bufinfo(bufid, &bytes, &tag, &tid);
        if (bytes != 4 || tag != 3 || tid != tids[me - 1])
            return 7;
        pvm_upkint(&sum, 1, 1);
    }
    sum += me;
    if (me < n - 1) {
        send_sum(tids[me + 1], sum);
    } else {
        pvm_initsend(PvmDataRaw);
        pvm_packf("%s %d", "old", sum);
        pvm_send(mytid, 4);
        pvm_recv(-1, -1);
        pvm_unpackf("%s %d", name, &sum);
        printf("%s %d: %d\n", name, n, sum);
    }
    pvm_exit();
    return 0;
}
