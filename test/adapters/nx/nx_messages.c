/* SPDX-License-Identifier: MIT */
/* nx_messages.c -- scenarios of csend, crecv and csendrecv. */
#include "nx_members.h"

/* Around the lengths at which a message goes in another way. */
static const long some_lengths[] = {0,    1,     8,     960,   961,    1024,   4096,   8191,   8192,
                                    8193, 65535, 65536, 70001, 262144, 262145, 600000, 2000003};
enum { LENGTHS = sizeof some_lengths / sizeof some_lengths[0] };

/* From each node to each, the sender too: whole, in order, with what the info routines say of them. */
void lengths(void)
{
    const size_t most = 2000003;
    unsigned char *sent = memory(most), *got = memory(most);
    for (long from = 0; from < nodes; from++) {
        for (int i = 0; i < LENGTHS; i++) {
            const long type = 100 + i, count = some_lengths[i];
            if (me == from) {
                fill(sent, count, me, type);
                for (long to = 0; to < nodes; to++)
                    if (to != me)
                        csend(type, sent, count, to, 0);
                const long send = isend(type, sent, count, me, 0);
                crecv(type, got, count);
                msgwait(send);
            } else {
                crecv(type, got, (long)most);
            }
            MUST(infocount() == count && infotype() == type && infonode() == from && infopid() == 0 &&
                 infoptype() == 0);
            must_be_filled(got, count, from, type);
        }
        gsync(); /* else messages of the next one might come before these: they are taken from any node */
    }
    /* A force type and the largest type are types. */
    csend(0x40000000, sent, 5, -1, 0);
    csend(0x7fffffff, sent, 6, -1, 0);
    for (long i = 1; i < nodes; i++) {
        crecv(0x7fffffff, got, 6);
        crecv(-1, got, 5);
        MUST(infotype() == 0x40000000 && infocount() == 5);
    }
    free(sent);
    free(got);
}

static void expect(long typesel, int wanted)
{
    int got = -1;
    crecv(typesel, &got, sizeof got);
    MUST(got == wanted && infotype() == wanted && infocount() == sizeof got);
}

void selectors(void)
{
    static const int types[] = {0, 31, 1, 30, 40, 5, 5, 29, 99};
    if (me == 1)
        for (int i = 0; i < 9; i++)
            csend(types[i], &types[i], sizeof types[i], 0, 0);
    if (me != 0)
        return;
    cprobe(99); /* what was sent before is here, too */
    MUST(iprobe(TYPES(1U << 4)) == 0);
    MUST(iprobe(98) == 0);
    MUST(iprobe(TYPES(1U << 29 | 1U << 3)) == 1 && infotype() == 29);
    expect(TYPES(1U << 30 | 1U << 1), 1); /* the first that was sent of them */
    expect(TYPES(1U << 30 | 1U << 1), 30);
    MUST(iprobe(TYPES(1U << 30 | 1U << 1)) == 0);
    expect(5, 5);
    expect(TYPES(0x7fffffff ^ 1), 5); /* any of 1 to 30: 31 is none of them */
    expect(-1, 0);
    expect(-1, 31);
    expect(TYPES(1U << 29), 29);
    expect(99, 99);
    expect(-1, 40);
    MUST(iprobe(-1) == 0);
}

void selected_x(void)
{
    long info[8] = {0}, got;
    if (me != 0) {
        csend(me % 2, &me, sizeof me, 0, 0);
        return;
    }
    for (long from = nodes - 1; from > 0; from--) { /* against the order in which they come */
        got = -1;
        crecvx(-1, &got, sizeof got, from, from % 3 == 0 ? -1 : 0, info);
        MUST(got == from);
        MUST(info[0] == from % 2 && info[1] == sizeof got && info[2] == from && info[3] == 0);
        MUST(infonode() == -1 && infocount() == -1); /* another info is not msginfo */
    }
    csend(3, &me, sizeof me, 0, 0);
    MUST(iprobex(3, 1, -1, info) == 0);
    MUST(iprobex(3, -1, 7, info) == 0); /* no process has type 7 */
    MUST(iprobex(TYPES(1U << 4), 0, 0, info) == 0);
    MUST(iprobex(TYPES(1U << 3), 0, 0, info) == 1 && info[0] == 3);
    cprobex(3, 0, 0, msginfo);
    MUST(infotype() == 3 && infonode() == 0 && msginfo[0] == 3);
    const long receive = irecvx(3, &got, sizeof got, 0, 0, info);
    info[1] = -1;
    msgwait(receive);
    MUST(info[1] == sizeof got && got == 0);
    const long other = irecvx(-1, &got, sizeof got, 0, -1, msginfo);
    csend(4, &me, 2, 0, 0);
    while (msgdone(other) == 0)
        ;
    MUST(infotype() == 4 && infocount() == 2 && msginfo[1] == 2);
}

/* Of three nodes the last has another process type. */
void process_types(void)
{
    const long other = nodes - 1;
    long got, info[8];
    MUST(nodes == 3 && mypid() == number && myptype() == number);
    setptype(number); /* as it is */
    MUST_FAIL(_setptype(number + 1), EQSET);
    MUST_FAIL(_setptype(-1), EQPID);
    MUST_FAIL(_csend(1, &me, sizeof me, other, me == other ? number + 1 : number), EQPID);
    MUST_FAIL(_csend(1, &me, sizeof me, -1, 12345), EQPID);
    if (me == other) {
        csend(1, &me, sizeof me, -1, 4);      /* the two others */
        csend(1, &me, sizeof me, -1, number); /* none */
        return;
    }
    crecvx(1, &got, sizeof got, -1, 9, info);
    MUST(got == other && info[2] == other && info[3] == 9);
    csend(2, &me, sizeof me, -1, 4);
    crecvx(-1, &got, sizeof got, -1, 4, msginfo);
    MUST(got == 1 - me && infonode() == 1 - me && infoptype() == 4 && infotype() == 2);
    MUST(iprobex(-1, -1, 9, info) == 0);
}

/* Each node sends to all others before it receives anything. */
void all_send_first(void)
{
    enum { MOST = 20000 };
    static unsigned char sent[MOST], got[MOST];
    for (int i = 0; i < number; i++) {
        const long count = i * 1237 % MOST;
        fill(sent, count, me, i);
        csend(i, sent, count, -1, 0);
    }
    for (int i = 0; i < number; i++) {
        for (long k = 1; k < nodes; k++) {
            crecv(i, got, MOST);
            MUST(infocount() == i * 1237 % MOST);
            must_be_filled(got, infocount(), infonode(), i);
        }
    }
    MUST(iprobe(-1) == 0);
}

/* One computes while the others send it more than its inbox holds. */
void flood(void)
{
    int *next = memory(sizeof *next * (size_t)nodes), got;
    if (me != 0)
        for (int i = 0; i < number; i++)
            csend(7, &i, sizeof i, 0, 0);
    for (const double begun = dclock(); me == 0 && dclock() < begun + 0.2;)
        ;
    for (long i = 0; i < nodes; i++)
        next[i] = 0;
    for (long i = 0; me == 0 && i < number * (nodes - 1); i++) {
        crecv(7, &got, sizeof got);
        MUST(got == next[infonode()]++);
    }
    gsync();
    free(next);
}

/* Node 0 asks, the others answer. */
void exchanges(void)
{
    long answers[8], ids[8], got;
    if (me != 0) {
        for (int i = 0; i < 3; i++) {
            crecv(1, &got, sizeof got);
            got = got * 2 + me;
            csend(2, &got, sizeof got, infonode(), 0);
        }
        return;
    }
    MUST(nodes <= 8);
    for (long node = 1; node < nodes; node++) {
        answers[0] = -1;
        MUST(csendrecv(1, &node, sizeof node, node, 0, 2, answers, sizeof answers) == sizeof(long));
        MUST(answers[0] == node * 3 && infonode() == node && infocount() == sizeof(long));
        MUST_FAIL(_csendrecv(1, &node, sizeof node, node, 0, 2, answers, 3), EQMSGLONG);
        ids[node] =
            isendrecv(1, &node, sizeof node, node, 0, TYPES(1U << 2), &answers[node], sizeof answers[0]);
        msgwait(ids[node]);
        MUST(answers[node] == node * 3 && infonode() == node);
    }
}

/* What goes to a node that has ended vanishes, and nobody waits for room there. */
void to_an_ended_node(void)
{
    static char bytes[5000];
    if (me == 1)
        return;
    for (int i = 0; i < 3000; i++)
        csend(1, bytes, i % 2 == 0 ? 4 : sizeof bytes, 1, 0);
    for (int i = 0; i < 100; i++)
        msgwait(isend(1, bytes, 100, -1, 0));
    msgignore(isend(1, bytes, 100, 1, 0));
}
