/* SPDX-License-Identifier: MIT */
/* nx_requests.c -- scenarios of message IDs, probes and flushmsg. */
#include "nx_members.h"

void identifiers(void)
{
    int sent = (int)me, got = -1;
    const long next = (me + 1) % nodes, before = (me + nodes - 1) % nodes;
    const long receive = irecv(1, &got, sizeof got);
    MUST(receive > 0);
    gsync();
    MUST(msgdone(receive) == 0); /* nothing was sent yet */
    gsync();
    const long send = isend(1, &sent, sizeof sent, next, 0);
    MUST(send > 0 && send != receive);
    while (msgdone(receive) == 0)
        flick();
    MUST(got == before && infonode() == before && infotype() == 1 && infocount() == sizeof got);
    msgwait(send);
    MUST(infonode() == before); /* a send changes nothing there */
    MUST_FAIL(_msgdone(receive), EQMID);
    MUST_FAIL(_msgwait(send), EQMID);

    /* One message to all others; of one node, to none. */
    sent += 100;
    const long to_all = isend(2, &sent, sizeof sent, -1, 0);
    for (long i = 1; i < nodes; i++) {
        crecv(2, &got, sizeof got);
        MUST(got == 100 + infonode());
    }
    msgwait(to_all);
    msgignore(isend(3, &sent, sizeof sent, next, 0));
    crecv(3, &got, sizeof got);
    MUST(got == 100 + before);

    /* A receive of which nobody hears any more still takes its message. */
    static int ignored;
    msgignore(irecv(4, &ignored, sizeof ignored));
    csend(4, &sent, sizeof sent, me, 0);
    MUST(iprobe(4) == 0 && ignored == sent);

    /* Too long: told when it is done, and the ID is given back. */
    const long narrow = irecv(5, &got, 2);
    csend(5, &sent, sizeof sent, me, 0);
    MUST_FAIL(_msgwait(narrow), EQMSGLONG);
    MUST(infocount() == sizeof sent);
    MUST_FAIL(_msgwait(narrow), EQMID);
    const long other = irecv(5, &got, 2);
    csend(5, &sent, sizeof sent, me, 0);
    long done = 0;
    while (done == 0)
        done = _msgdone(other);
    MUST(done == -1 && errno == EQMSGLONG);
}

/* More open at a time than any table begins with, twice. */
void many_identifiers(void)
{
    long *ids = memory(sizeof *ids * (size_t)number);
    int *got = memory(sizeof *got * (size_t)number);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < number; i++) {
            got[i] = -1;
            ids[i] = irecv(i, &got[i], sizeof got[i]);
        }
        for (int i = number - 1; i >= 0; i--)
            msgignore(isend(i, &ids[i], sizeof(int), (me + 1) % nodes, 0));
        for (int i = 0; i < number; i++) {
            msgwait(ids[i]);
            MUST(infotype() == i && got[i] != -1);
            MUST_FAIL(_msgdone(ids[i]), EQMID);
        }
        gsync(); /* ids[] is read until then */
    }
    free(ids);
    free(got);
}

void merges(void)
{
    enum { MANY = 300 };
    static int sent[MANY], got[MANY];
    long all = -1;
    MUST(msgmerge(-1, -1) == -1);
    for (int i = 0; i < MANY; i++) {
        got[i] = -1;
        const long receive = irecv(i, &got[i], sizeof got[i]);
        all = msgmerge(all, receive);
        if (i > 0)
            MUST_FAIL(_msgwait(receive), EQMID); /* it is a part */
    }
    MUST(msgmerge(all, -1) == all);
    MUST_FAIL(_msgmerge(all, all), EQMID);
    MUST_FAIL(_msgmerge(all, 123456), EQMID);
    gsync();
    MUST(msgdone(all) == 0);
    long sends = -1;
    for (int i = 0; i < MANY - 1; i++) {
        sent[i] = i + 1000 * (int)me;
        sends = msgmerge(isend(i, &sent[i], sizeof sent[i], (me + 1) % nodes, 0), sends);
    }
    gsync();
    MUST(msgdone(all) == 0); /* one is missing */
    gsync();
    sent[MANY - 1] = MANY - 1 + 1000 * (int)me;
    csend(MANY - 1, &sent[MANY - 1], sizeof sent[0], (me + 1) % nodes, 0);
    msgwait(all);
    for (int i = 0; i < MANY; i++)
        MUST(got[i] == i + 1000 * (int)((me + nodes - 1) % nodes));
    msgwait(sends);
    MUST_FAIL(_msgdone(all), EQMID);

    /* One that fails makes all fail, when all are done. */
    const long narrow = msgmerge(irecv(1, got, 1), irecv(2, &got[1], sizeof got[1]));
    csend(1, sent, sizeof sent[0], me, 0);
    MUST(msgdone(narrow) == 0);
    csend(2, sent, sizeof sent[0], me, 0);
    MUST_FAIL(_msgwait(narrow), EQMSGLONG);
}

void cancels(void)
{
    int got = -1, kept = -1;
    const long receive = irecv(1, &got, sizeof got);
    msgcancel(receive);
    MUST_FAIL(_msgcancel(receive), EQMID);
    csend(1, &me, sizeof got, me, 0);
    MUST(got == -1 && iprobe(1) == 1); /* it does not take the message */
    crecv(1, &kept, sizeof kept);
    MUST(kept == (int)me);
    const long late = irecv(1, &got, sizeof got);
    csend(1, &me, sizeof got, me, 0);
    msgcancel(late); /* too late: the message is gone with it */
    MUST(got == (int)me && iprobe(1) == 0);
    const long send = isend(2, &me, sizeof me, me, 0);
    msgcancel(send);
    MUST(iprobe(2) == 1);
    long both = msgmerge(irecv(3, &got, sizeof got), irecv(4, &got, sizeof got));
    msgcancel(both);
    csend(3, &me, sizeof got, me, 0);
    csend(4, &me, sizeof got, me, 0);
    MUST(iprobe(3) == 1 && iprobe(4) == 1);
}

void probes(void)
{
    long got;
    MUST(iprobe(-1) == 0);
    gsync();
    if (me == 0)
        for (long node = 1; node < nodes; node++)
            csend(9, &node, sizeof node, node, 0);
    if (me != 0) {
        cprobe(9);
        MUST(infotype() == 9 && infonode() == 0 && infocount() == sizeof got);
        MUST(iprobe(9) == 1); /* it is still there */
        crecv(9, &got, infocount());
        MUST(got == me && iprobe(9) == 0);
    }
    gsync();
    if (me == 0)
        csend(1, NULL, 0, 0, 0);
    if (me == 0)
        MUST(iprobe(1) == 1 && infocount() == 0);
}

void flushes(void)
{
    enum { MANY = 20 };
    long got;
    if (me == 1)
        for (long i = 0; i < MANY; i++)
            csend(i % 4, &i, sizeof i, 0, 0);
    gsync();
    if (me != 0)
        return;
    csend(50, &me, sizeof me, 0, 0);
    crecv(50, &got, sizeof got);
    flushmsg(1, 1, 0);  /* of node 1: nothing is dropped */
    flushmsg(1, -1, 9); /* no process has that type */
    MUST(iprobe(1) == 1);
    flushmsg(1, 0, 0);
    MUST(iprobe(1) == 0);
    flushmsg(TYPES(1U << 0 | 1U << 3), -1, -1);
    MUST(iprobe(0) == 0 && iprobe(3) == 0);
    for (int i = 0; i < MANY / 4; i++) {
        crecv(-1, &got, sizeof got);
        MUST(got == i * 4 + 2);
    }
    flushmsg(-1, -1, -1);
    MUST(iprobe(-1) == 0);
}
