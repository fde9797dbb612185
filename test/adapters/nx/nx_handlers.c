/* SPDX-License-Identifier: MIT */
/* nx_handlers.c -- scenarios of hrecv, hsend, hsendrecv and masktrap. */
#include "nx_members.h"

static volatile int calls, x_calls; /* of note and of note_parameter */
static volatile long seen[4];

static void note(long type, long count, long node, long ptype)
{
    seen[0] = type;
    seen[1] = count;
    seen[2] = node;
    seen[3] = ptype;
    calls++;
}

static void must_have_seen(long type, long count, long node)
{
    MUST(seen[0] == type && seen[1] == count && seen[2] == node && seen[3] == 0);
}

static int question;

static void answer(long type, long count, long node, long ptype)
{
    const int reply = question + 1;
    csend(2, &reply, sizeof reply, node, ptype);
    note(type, count, node, ptype);
}

/* Node 0 computes and calls nothing; a message is answered all the same. */
void interrupts(void)
{
    for (int round = 0; round < number; round++) {
        calls = 0;
        if (me == 0) {
            hrecv(1, &question, sizeof question, answer);
            compute_until(&calls, 1);
            must_have_seen(1, sizeof question, 1);
            MUST(question == round);
        }
        if (me == 1) {
            int reply;
            csend(1, &round, sizeof round, 0, 0);
            crecv(2, &reply, sizeof reply);
            MUST(reply == round + 1);
        }
    }
}

/* So does a long one, of many parts. */
void long_interrupts(void)
{
    const long count = 2000000;
    unsigned char *bytes = memory((size_t)count);
    for (int round = 0; round < number; round++) {
        calls = 0;
        if (me == 0) {
            hrecv(1, bytes, count, note);
            csend(2, &round, sizeof round, 1, 0);
            compute_until(&calls, 1);
            must_be_filled(bytes, count, 1, round);
        }
        if (me == 1) {
            int token;
            fill(bytes, count, 1, round);
            crecv(2, &token, sizeof token);
            csend(1, bytes, count, 0, 0);
        }
    }
    gsync();
    free(bytes);
}

void masks(void)
{
    int got = 0;
    if (me == 1) {
        for (int i = 0; i < 3; i++)
            csend(1, &i, sizeof i, 0, 0);
        csend(2, &got, sizeof got, 0, 0);
        return;
    }
    if (me != 0)
        return;
    static int into[3];
    MUST(masktrap(0) == 0);
    MUST(masktrap(1) == 0);
    MUST(masktrap(1) == 1);
    MUST_FAIL(_masktrap(2), EQPARAM);
    for (int i = 0; i < 3; i++)
        hrecv(1, &into[i], sizeof into[i], note);
    crecv(2, &got, sizeof got); /* the three have come before it */
    for (const double begun = dclock(); dclock() < begun + 0.05;)
        ;
    MUST(calls == 0);
    MUST(masktrap(0) == 1);
    MUST(calls == 3 && into[0] == 0 && into[1] == 1 && into[2] == 2);
}

static struct {
    int got;
    volatile int count;
} stream;

static void next_of_stream(long type, long count, long node, long ptype)
{
    (void)ptype;
    MUST(type == 3 && count == sizeof stream.got && node == 1);
    MUST(stream.got == stream.count);
    if (++stream.count < number)
        hrecv(3, &stream.got, sizeof stream.got, next_of_stream);
}

/* A handler posts the next of its kind, while the process computes, and while it uses IDs of its own. */
void handlers_repost(void)
{
    if (me == 1)
        for (int i = 0; i < number; i++)
            csend(3, &i, sizeof i, 0, 0);
    if (me == 0) {
        int sent = 5, got = 0;
        hrecv(3, &stream.got, sizeof stream.got, next_of_stream);
        while (stream.count < number / 2) {
            const long receive = irecv(4, &got, sizeof got), send = isend(4, &sent, sizeof sent, 0, 0);
            msgwait(msgmerge(send, receive));
            MUST(got == sent++);
        }
        compute_until(&stream.count, number);
    }
    gsync();
    MUST(iprobe(-1) == 0);
}

static volatile long parameter;

static void note_parameter(long hparam)
{
    parameter = hparam;
    x_calls++;
}

void handlers_of_sends(void)
{
    int got = -1;
    const int sent = (int)me;
    hsend(1, &sent, sizeof sent, me, 0, note);
    crecv(1, &got, sizeof got);
    compute_until(&calls, 1);
    must_have_seen(1, sizeof sent, me);
    MUST(got == me);

    hsend(2, &sent, sizeof sent, -1, 0, note); /* called once, also where there is none */
    for (long i = 1; i < nodes; i++)
        crecv(2, &got, sizeof got);
    compute_until(&calls, 2);
    must_have_seen(2, sizeof sent, -1);

    MUST(masktrap(1) == 0);
    hsendx(3, &sent, sizeof sent, me, 0, note_parameter, (long)(size_t)&got);
    hsendx(3, &sent, sizeof sent, -1, 0, note_parameter, (long)(size_t)&got);
    gsync();
    MUST(x_calls == 0);
    masktrap(0);
    for (long i = 0; i < nodes; i++)
        crecv(3, &got, sizeof got);
    compute_until(&x_calls, 2);
    MUST(parameter == (long)(size_t)&got);

    /* The answer of the next node, by a handler there. */
    static int reply;
    hrecvx(4, &question, sizeof question, (me + nodes - 1) % nodes, 0, note_parameter, -7);
    gsync();
    hsendrecv(4, &sent, sizeof sent, (me + 1) % nodes, 0, 5, &reply, sizeof reply, note);
    compute_until(&x_calls, 3);
    MUST(parameter == -7 && question == (me + nodes - 1) % nodes);
    question += 50;
    csend(5, &question, sizeof question, (me + nodes - 1) % nodes, 0);
    compute_until(&calls, 3);
    must_have_seen(5, sizeof reply, (me + 1) % nodes);
    MUST(reply == me + 50);
}

static void note_info(long hparam)
{
    MUST(infotype() == 2 && infocount() == 3 && infonode() == 1 && infoptype() == 0);
    parameter = hparam;
    errno = 99;
    calls = 1;
}

/* A message that is too long to go unasked is not done while one of its receivers has not asked. */
void handlers_of_slow_receivers(void)
{
    const long count = 3000000;
    unsigned char *bytes = memory((size_t)count);
    long token = 0;
    if (me == 0) {
        fill(bytes, count, 0, 6);
        hsend(6, bytes, count, -1, 0, note);
        crecv(7, &token, sizeof token); /* all but the last have it */
        MUST(calls == 0);
        csend(8, &token, sizeof token, nodes - 1, 0);
        while (calls == 0) /* its parts go while it calls NX */
            flick();
        must_have_seen(6, count, -1);
        memset(bytes, 0, (size_t)count);
        gsync();
    } else {
        if (me == nodes - 1)
            crecv(8, &token, sizeof token);
        crecv(6, bytes, count);
        if (me == nodes - 2)
            csend(7, &token, sizeof token, 0, 0);
        gsync();
        must_be_filled(bytes, count, 0, 6);
    }
    free(bytes);
}

/* A handler has info routines and errno of its own. */
void handlers_info(void)
{
    static char bytes[8];
    if (me == 1) {
        crecv(1, bytes, 1);
        csend(2, bytes, 3, 0, 0);
    }
    if (me != 0)
        return;
    csend(3, bytes, 5, 0, 0);
    crecv(3, bytes, 5);
    hrecvx(2, bytes, 3, -1, -1, note_info, 11);
    errno = 7;
    csend(1, bytes, 1, 1, 0);
    compute_until(&calls, 1);
    MUST(errno == 7 && parameter == 11);
    MUST(infotype() == 3 && infocount() == 5 && infonode() == 0);
}
