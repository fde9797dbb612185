/* SPDX-License-Identifier: MIT */
/* nx_mistakes.c -- scenarios of numbers, clocks, and of what programs do wrong. */
#include "nx_members.h"

static void nothing(long type, long count, long node, long ptype)
{
    (void)type;
    (void)count;
    (void)node;
    (void)ptype;
}

static void nothing_x(long hparam)
{
    (void)hparam;
}

void node_numbers(void)
{
    MUST(me >= 0 && me < nodes && myhost() == nodes && mypid() == 0 && myptype() == 0);
    MUST(1L << nodedim() <= nodes && nodes < 2L << nodedim());
    for (long i = 0; i < 5000; i++) {
        MUST(ginv(gray(i)) == i);
        const long changed = gray(i) ^ gray(i + 1);
        MUST(changed != 0 && (changed & (changed - 1)) == 0);
    }
    MUST(gray(0) == 0 && gray(1) == 1 && gray(2) == 3 && gray(3) == 2 && ginv(0x40000000) == 0x7fffffff);
}

void clocks(void)
{
    esize_t first, second;
    const unsigned long milliseconds = mclock();
    const double begun = dclock();
    hwclock(&first);
    while (dclock() < begun + 0.02)
        ;
    hwclock(&second);
    const double ticks =
        (double)(second.shigh - first.shigh) * 4294967296.0 + (double)(second.slow - first.slow);
    MUST(ticks > 0.015 * HWHZ && ticks < 600.0 * HWHZ);
    MUST(mclock() >= milliseconds + 15 && dclock() > begun);
    flick();
}

void lamp(void)
{
    led(1);
    led(0);
}

/* Each code of each routine that can fail. */
void codes(void)
{
    long x[2] = {1, 2}, info[8];
    char bytes[8] = "";
    MUST_FAIL(_csend(-1, bytes, 1, 0, 0), EQTYPE);
    MUST_FAIL(_csend(1, bytes, -1, 0, 0), EQLEN);
    MUST_FAIL(_csend(1, NULL, 1, 0, 0), EQPBUF);
    MUST_FAIL(_csend(1, bytes, 1, nodes, 0), EQNODE);
    MUST_FAIL(_csend(1, bytes, 1, -2, 0), EQNODE);
    MUST_FAIL(_csend(1, bytes, 1, 0, 1), EQPID);
    MUST_FAIL(_csend(1, bytes, 1, -1, 1), EQPID);
    MUST_FAIL(_csend(1, bytes, 1, myhost(), 0), EQNODE);
    MUST_FAIL(_isend(-5, bytes, 1, 0, 0), EQTYPE);
    MUST_FAIL(_isend(1, bytes, 1, nodes, 0), EQNODE);
    MUST_FAIL(_crecv(1, bytes, -1), EQLEN);
    MUST_FAIL(_crecv(1, NULL, 1), EQPBUF);
    MUST_FAIL(_crecv(TYPES(0), bytes, 1), EQTYPE);
    MUST_FAIL(_irecv(1, bytes, -1), EQLEN);
    MUST_FAIL(_crecvx(1, bytes, 1, nodes, 0, info), EQNODE);
    MUST_FAIL(_crecvx(1, bytes, 1, -2, 0, info), EQNODE);
    MUST_FAIL(_crecvx(1, bytes, 1, 0, -2, info), EQPID);
    MUST_FAIL(_crecvx(1, bytes, 1, 0, 0, NULL), EQPBUF);
    MUST_FAIL(_irecvx(1, bytes, 1, 0, -2, info), EQPID);
    MUST_FAIL(_irecvx(1, bytes, 1, 0, 0, NULL), EQPBUF);
    MUST_FAIL(_csendrecv(1, bytes, 1, nodes, 0, 1, bytes, 1), EQNODE);
    MUST_FAIL(_csendrecv(1, bytes, 1, 0, 0, 1, bytes, -1), EQLEN);
    MUST_FAIL(_isendrecv(1, bytes, 1, 0, 0, TYPES(0), bytes, 1), EQTYPE);
    MUST_FAIL(_isendrecv(-2, bytes, 1, 0, 0, 1, bytes, 1), EQTYPE);
    MUST_FAIL(_hrecv(1, bytes, 1, NULL), EQHND);
    MUST_FAIL(_hrecv(1, bytes, -1, nothing), EQLEN);
    MUST_FAIL(_hrecvx(1, bytes, 1, nodes, 0, nothing_x, 0), EQNODE);
    MUST_FAIL(_hrecvx(1, bytes, 1, 0, 0, NULL, 0), EQHND);
    MUST_FAIL(_hsend(1, bytes, 1, 0, 0, NULL), EQHND);
    MUST_FAIL(_hsend(1, bytes, 1, 0, 3, nothing), EQPID);
    MUST_FAIL(_hsendx(1, bytes, -1, 0, 0, nothing_x, 0), EQLEN);
    MUST_FAIL(_hsendrecv(1, bytes, 1, 0, 0, 1, bytes, 1, NULL), EQHND);
    MUST_FAIL(_hsendrecv(1, bytes, 1, 0, 0, TYPES(0), bytes, 1, nothing), EQTYPE);
    MUST_FAIL(_hsendrecv(1, bytes, 1, 0, 4, 1, bytes, 1, nothing), EQPID);
    MUST_FAIL(_cprobe(TYPES(0)), EQTYPE);
    MUST_FAIL(_iprobe(TYPES(0)), EQTYPE);
    MUST_FAIL(_cprobex(1, nodes, 0, info), EQNODE);
    MUST_FAIL(_iprobex(1, 0, -2, info), EQPID);
    MUST_FAIL(_iprobex(1, 0, 0, NULL), EQPBUF);
    MUST_FAIL(_flushmsg(TYPES(0), 0, 0), EQTYPE);
    MUST_FAIL(_flushmsg(1, nodes, 0), EQNODE);
    MUST_FAIL(_msgdone(0), EQMID);
    MUST_FAIL(_msgdone(-1), EQMID);
    MUST_FAIL(_msgwait(100000000), EQMID);
    MUST_FAIL(_msgcancel(17), EQMID);
    MUST_FAIL(_msgignore(17), EQMID);
    MUST_FAIL(_msgmerge(17, -1), EQMID);
    MUST_FAIL(_msgmerge(-1, 17), EQMID);
    MUST_FAIL(_gisum(x, -1, NULL), EQLEN);
    MUST_FAIL(_gdsum(NULL, 1, NULL), EQPBUF);
    MUST_FAIL(_gcol(bytes, -1, bytes, 1, x), EQLEN);
    MUST_FAIL(_gcol(bytes, 1, bytes, -1, x), EQLEN);
    MUST_FAIL(_gcol(bytes, 1, bytes, 1, NULL), EQPBUF);
    MUST_FAIL(_gcolx(bytes, NULL, bytes), EQPBUF);
    x[0] = -1;
    MUST_FAIL(_gcolx(bytes, x, bytes), EQLEN);
    MUST_FAIL(_gopf(bytes, -1, bytes, NULL), EQLEN);
    MUST_FAIL(_gopf(bytes, 1, NULL, NULL), EQPBUF);
    MUST_FAIL(_gopf(bytes, 1, bytes, NULL), EQHND);
    /* Too long: what fits is stored, the message is gone, the info routines tell of it. */
    csend(1, "abcdefg", 8, me, 0);
    MUST_FAIL(_crecv(1, bytes, 3), EQMSGLONG);
    MUST(memcmp(bytes, "abc", 4) == 0 && infocount() == 8 && iprobe(1) == 0);
    /* After all of these nothing is left open, and messages pass. */
    csend(2, bytes, 1, me, 0);
    crecv(-1, bytes, 1);
    MUST(infotype() == 2);
    MUST(_gsync() == 0);
}

void told_codes(void)
{
    if (_csend(1, NULL, 0, nodes, 0) == -1)
        nx_perror("csend");
    if (_msgdone(5) == -1)
        nx_perror(NULL);
    errno = ENOENT;
    nx_perror("file");
}

/* The same without the underscore: one of them, by number. */
void mistake(void)
{
    long x[2] = {-1, 2};
    char bytes[8] = "abcdefg";
    csend(1, bytes, 8, me, 0);
    if (number != 14 && me != 0) /* the mistake of one ends all */
        crecv(2, bytes, 8);
    switch (number) {
    case 0: csend(1, bytes, 1, nodes + 6, 0); break;
    case 1: crecv(1, bytes, 3); break;
    case 2: (void)isend(-4, bytes, 1, 0, 0); break;
    case 3: msgwait(irecv(1, bytes, 2)); break;
    case 4: (void)msgdone(12); break;
    case 5: hrecv(2, bytes, 1, NULL); break;
    case 6: /* too long for a handler's buffer */
        hrecv(1, bytes, 1, nothing);
        csend(1, bytes, 8, me, 0);
        for (;;)
            flick();
    case 7: crecvx(1, bytes, 1, 0, -3, x); break;
    case 8: gisum(x, -3, NULL); break;
    case 9: setptype(4); break;
    case 10: (void)csendrecv(1, bytes, 1, 0, 2, 1, bytes, 1); break;
    case 11: gsendx(1, bytes, 1, x, 1); break;
    case 12: (void)masktrap(8); break;
    case 13: csend(1, NULL, 5, 0, 0); break;
    case 14: gisum(x, me + 1, NULL); break;
    default: return;
    }
    _Exit(4); /* the mistake was none */
}
