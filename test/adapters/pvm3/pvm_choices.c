/* SPDX-License-Identifier: MIT */
/* pvm_choices.c -- scenarios of routines that choose messages, of handlers, and of contexts. */
#include "pvm_members.h"

static int asked, most_asked;

/* Ranks by the tag: an error of 99, none of 0, else the tag itself. */
static int by_tag(int bufid, int tid, int tag)
{
    int bytes, its, sender;
    IS(pvm_bufinfo(bufid, &bytes, &its, &sender), PvmOk);
    MUST(tid == -1 && tag == 1234 && bytes == 4);
    asked++;
    return its == 99 ? -5000 : its;
}

static int with_freeing(int bufid, int tid, int tag)
{
    (void)tid, (void)tag;
    FAILS(pvm_freebuf(bufid), PvmDenied);
    return 0;
}

static int wants_three(int bufid, int tid, int tag)
{
    int its;
    (void)tid, (void)tag;
    IS(pvm_bufinfo(bufid, NULL, &its, NULL), PvmOk);
    most_asked += its == 0;
    return its == 3;
}

static void must_be(int bufid, int value)
{
    MUST(bufid > 0);
    IS(next_int(), value);
}

void chooses(void)
{
    static const int tags[] = {0, 3, 7, 2, 7, 0, 5};
    pvm_setopt(PvmAutoErr, 0);
    MUST(pvm_recvf(by_tag) == NULL);
    IS(pvm_nrecv(-1, 1234), 0);
    IS(asked, 0);
    for (int i = 0; i < 7; i++)
        send_int(self, tags[i], i);
    const int probed = pvm_probe(-1, 1234); /* the highest, of these the first; each was asked about once */
    IS(asked, 7);
    int tag;
    IS(pvm_bufinfo(probed, NULL, &tag, NULL), PvmOk);
    IS(tag, 7);
    must_be(pvm_recv(-1, 1234), 2);
    must_be(pvm_nrecv(-1, 1234), 4);
    must_be(pvm_recv(-1, 1234), 6);
    must_be(pvm_recv(-1, 1234), 1);
    send_int(self, 1, 7);
    send_int(self, 9, 8);
    must_be(pvm_recv(-1, 1234), 7); /* 1 ends the look: 9 comes later */
    must_be(pvm_recv(-1, 1234), 8);
    send_int(self, 99, 9);
    FAILS(pvm_recv(-1, 1234), -5000);
    FAILS(pvm_probe(-1, 1234), -5000);
    /* Without it: in the order of arrival, first what was kept; with senders and tags. */
    MUST(pvm_recvf(NULL) == by_tag);
    send_int(self, 0, 10);
    must_be(pvm_nrecv(tids[self], 99), 9);
    must_be(pvm_probe(tids[self], 0) > 0 ? pvm_recv(-1, 0) : 0, 0);
    must_be(pvm_recv(tids[self], -1), 3);
    must_be(pvm_recv(tids[self], 0), 5);
    must_be(pvm_recv(-1, -1), 10);
    IS(pvm_nrecv(-1, -1), 0);
    /* A message that it would choose from can be freed, but not by the routine itself. */
    send_int(self, 4, 11);
    (void)pvm_recvf(with_freeing);
    IS(pvm_nrecv(-1, -1), 0);
    (void)pvm_recvf(NULL);
    const int kept = pvm_probe(-1, 4);
    MUST(kept > 0 && pvm_setrbuf(kept) >= 0);
    IS(next_int(), 11);
    IS(pvm_freebuf(kept), PvmOk);
    IS(pvm_nrecv(-1, 4), 0);
    all_meet();
    /* It waits; and is asked once about a message that it does not want. */
    (void)pvm_recvf(wants_three);
    const int next = (self + 1) % count;
    send_int(next, 0, 1);
    if (self == 0)
        send_int(next, 3, 2);
    must_be(pvm_recv(-1, -1), 2);
    IS(most_asked, 1);
    if (self != 0)
        send_int(next, 3, 2);
    struct timeval time = {0, 2000};
    IS(pvm_trecv(-1, -1, &time), 0);
    IS(most_asked, 2);
    (void)pvm_recvf(NULL);
    must_be(pvm_recv(-1, 0), 1);
    all_meet();
}

void contexts(void)
{
    const int next = (self + 1) % count, before = (self + count - 1) % count;
    struct pvmminfo info;
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_getcontext(), 0);
    const int own = pvm_newcontext(), other = pvm_newcontext();
    MUST(own > 0 && other > 0 && own != other);
    IS(pvm_getcontext(), 0);
    send_int(next, 1, own);
    MUST(pvm_recv(tids[before], 1) > 0);
    const int its = next_int();
    MUST(count == 1 || (its != own && its != other)); /* no two tasks make the same */
    /* What is sent in a context is received in it alone. */
    IS(pvm_setcontext(own), 0);
    send_int(next, 2, 5);
    IS(pvm_setcontext(0), own);
    send_int(next, 2, 6);
    MUST(pvm_recv(-1, -1) > 0);
    IS(next_int(), 6);
    IS(pvm_nrecv(-1, -1), 0);
    IS(pvm_setcontext(other), 0);
    IS(pvm_nrecv(-1, -1), 0);
    IS(pvm_setcontext(its), other);
    IS(pvm_getminfo(pvm_recv(-1, -1), &info), PvmOk);
    IS(info.ctx, its);
    IS(next_int(), 5);
    IS(pvm_setcontext(0), its);
    /* A routine of pvm_recvf sees those of the current context only. */
    (void)pvm_recvf(wants_three);
    (void)pvm_setcontext(own);
    send_int(self, 3, 1);
    send_int(self, 4, 3);
    must_be(pvm_recv(-1, -1), 1);
    (void)pvm_setcontext(other);
    IS(pvm_nrecv(-1, -1), 0);
    (void)pvm_recvf(NULL);
    IS(pvm_nrecv(-1, -1), 0);
    (void)pvm_setcontext(own);
    must_be(pvm_recv(-1, -1), 3);
    (void)pvm_setcontext(0);

    FAILS(pvm_setcontext(-1), PvmBadParam);
    FAILS(pvm_setcontext(0x7fffffff), PvmBadParam);
    IS(pvm_setcontext(0x3fff0000), 0);
    IS(pvm_setcontext(0), 0x3fff0000);
    IS(pvm_freecontext(own), PvmOk);
    FAILS(pvm_freecontext(own), PvmNotFound);
    FAILS(pvm_freecontext(0), PvmNotFound);
    FAILS(pvm_freecontext(-1), PvmNotFound);
    IS(pvm_newcontext(), own);
    for (int i = 2; i < 4095; i++)
        MUST(pvm_newcontext() > 0);
    FAILS(pvm_newcontext(), PvmOutOfRes);
    IS(pvm_freecontext(other), PvmOk);
    IS(pvm_newcontext(), other);
    all_meet();
}

/* ---- handlers ---- */

static int handled[3], mhids[3];

static int add_up(int mid)
{
    int word;
    MUST(pvm_getrbuf() == mid && pvm_getsbuf() == 0);
    IS(pvm_upkint(&word, 1, 1), PvmOk);
    handled[0] += word;
    return 0;
}

/* It answers in the context of the message, whatever the current one is. */
static int answer(int mid)
{
    struct pvmminfo info;
    int word;
    IS(pvm_getminfo(mid, &info), PvmOk);
    IS(pvm_upkint(&word, 1, 1), PvmOk);
    const int context = pvm_setcontext(info.ctx);
    IS(pvm_packf("%+ %d", PvmDataDefault, word + 1), PvmOk);
    IS(pvm_send(info.src, info.tag + 1), PvmOk);
    IS(pvm_setcontext(context), info.ctx);
    IS(pvm_freebuf(pvm_setsbuf(0)), PvmOk);
    IS(pvm_freebuf(mid), PvmOk); /* it may do that itself */
    handled[1]++;
    return 0;
}

static int once(int mid)
{
    (void)mid;
    IS(pvm_delmhf(mhids[2]), PvmOk);
    handled[2]++;
    return 0;
}

void handlers(void)
{
    const int next = (self + 1) % count, before = (self + count - 1) % count;
    int value;
    pvm_setopt(PvmAutoErr, 0);
    mhids[0] = pvm_addmhf(-1, 10, 0, add_up);
    mhids[1] = pvm_addmhf(-1, 20, -1, answer);
    mhids[2] = pvm_addmhf(tids[self], -1, 77, once);
    MUST(mhids[0] >= 0 && mhids[1] >= 0 && mhids[2] >= 0 && mhids[0] != mhids[1] && mhids[1] != mhids[2]);
    FAILS(pvm_addmhf(-1, 10, 0, answer), PvmExists);
    FAILS(pvm_addmhf(-1, 10, 0, NULL), PvmBadParam);
    FAILS(pvm_addmhf(5, 10, 0, add_up), PvmBadParam);
    FAILS(pvm_addmhf(-1, -2, 0, add_up), PvmBadParam);
    FAILS(pvm_addmhf(-1, 1, -2, add_up), PvmBadParam);
    FAILS(pvm_delmhf(-1), PvmBadParam);
    FAILS(pvm_delmhf(4711), PvmNotFound);

    /* They run within receives, whatever these wait for; the active buffers stay. */
    send_int(self, 10, 0);
    MUST(pvm_getsbuf() > 0); /* it has run within the send */
    send_int(next, 10, 5);
    send_int(next, 10, 6);
    send_int(next, 1, 0);
    const int sending = pvm_getsbuf();
    MUST(pvm_recv(tids[before], 1) > 0);
    IS(handled[0], 11);
    IS(pvm_getsbuf(), sending);
    IS(next_int(), 0);
    IS(pvm_nrecv(-1, 10), 0);
    IS(pvm_probe(-1, 10), 0);
    /* Questions that come while all wait for their answers. */
    for (int i = 0; i < number; i++) {
        send_int(next, 20, i);
        MUST(pvm_recv(tids[next], 21) > 0);
        IS(next_int(), i + 1);
    }
    /* In each context that the task has had. */
    const int own = pvm_newcontext();
    (void)pvm_setcontext(own);
    send_int(self, 20, 50);
    (void)pvm_setcontext(0);
    IS(pvm_nrecv(-1, 21), 0);
    (void)pvm_setcontext(own);
    MUST(pvm_recv(tids[self], 21) > 0);
    IS(next_int(), 51);
    /* One that takes itself away; then the message is received. */
    (void)pvm_setcontext(77);
    send_int(self, 8, 1);
    send_int(self, 8, 2);
    IS(handled[2], 1);
    MUST(pvm_recv(-1, 8) > 0);
    IS(next_int(), 2);
    FAILS(pvm_delmhf(mhids[2]), PvmNotFound);
    (void)pvm_setcontext(0);
    /* With a routine of pvm_recvf, which does not see what is theirs. */
    (void)pvm_recvf(wants_three);
    send_int(self, 10, 100);
    send_int(self, 3, 4);
    MUST(pvm_recv(-1, -1) > 0);
    IS(handled[0], 111);
    (void)pvm_recvf(NULL);
    all_meet();
    while (handled[1] < number + 1)
        IS(pvm_nrecv(-1, 4), 0);
    IS(handled[1], number + 1);
    IS(pvm_delmhf(mhids[0]), PvmOk);
    IS(pvm_delmhf(mhids[1]), PvmOk);
    send_int(self, 10, 1);
    MUST(pvm_precv(-1, 10, &value, 1, PVM_INT, NULL, NULL, NULL) == PvmOk && value == 1);
    IS(handled[0], 111);
    all_meet();
}
