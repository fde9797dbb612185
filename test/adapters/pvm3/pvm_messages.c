/* SPDX-License-Identifier: MIT */
/* pvm_messages.c -- scenarios of sending and receiving. */
#include <time.h>

#include "pvm_members.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Around the lengths at which a message goes in another way. */
void lengths(void)
{
    static const int some[] = {0, 1, 8, 463, 464, 960, 961, 8191, 8192, 8193, 65536, 262145, 2000003};
    enum { MOST = 2000003 };
    char *sent = malloc(MOST), *got = malloc(MOST);
    MUST(sent != NULL && got != NULL);
    for (int from = 0; from < count; from++) {
        for (int i = 0; i < (int)(sizeof some / sizeof some[0]); i++) {
            int bytes;
            for (int k = 0; k < some[i]; k++)
                sent[k] = (char)(k * 7 + from * 31 + i);
            if (self == from) {
                MUST(pvm_initsend(i % 3) > 0);
                IS(pvm_pkbyte(sent, some[i] / 2, 1), PvmOk);
                IS(pvm_pkbyte(sent + some[i] / 2, some[i] - some[i] / 2, 1), PvmOk);
                for (int to = 0; to < count; to++)
                    IS(pvm_send(tids[to], i), PvmOk);
            }
            IS(pvm_bufinfo(pvm_recv(tids[from], i), &bytes, NULL, NULL), PvmOk);
            IS(bytes, some[i]);
            IS(pvm_upkbyte(got, bytes, 1), PvmOk);
            MUST(memcmp(sent, got, (size_t)bytes) == 0);
        }
    }
    free(sent);
    free(got);
}

/* Tags and senders choose; what is sent first comes first. */
void order(void)
{
    pvm_setopt(PvmAutoErr, 0);
    const int last = count - 1;
    for (int i = 0; i < 4; i++)
        send_int(0, i % 2, 10 * self + i);
    send_int(0, 9, 10 * self + 4);
    if (self == 0) {
        int tid;
        for (int i = 0; i < count; i++) /* all is there then */
            MUST(pvm_recv(tids[i], 9) > 0);
        IS(pvm_nrecv(-1, 9), 0);
        IS(pvm_probe(-1, 2), 0);
        IS(pvm_bufinfo(pvm_probe(tids[last], 1), NULL, NULL, &tid), PvmOk);
        IS(tid, tids[last]);
        MUST(pvm_nrecv(tids[last], 1) > 0);
        IS(next_int(), 10 * last + 1);
        for (int i = 0; i < count; i++) {
            MUST(pvm_recv(tids[i], -1) > 0);
            IS(next_int(), 10 * i);
        }
        for (int i = 0; i < count; i++) {
            MUST(pvm_recv(tids[i], 0) > 0);
            IS(next_int(), 10 * i + 2);
        }
        for (int i = 0; i < 2 * count - 1; i++) {
            IS(pvm_bufinfo(pvm_recv(-1, 1), NULL, NULL, &tid), PvmOk);
            const int from = place_of(tid), value = next_int() - 10 * from;
            MUST(value == 1 || value == 3);
        }
        IS(pvm_nrecv(-1, -1), 0);
        IS(pvm_probe(-1, -1), 0);
    }
    FAILS(pvm_recv(-1, -2), PvmBadParam);
    FAILS(pvm_recv(0x40000, 1), PvmBadParam);
    FAILS(pvm_recv(0, 1), PvmBadParam);
    FAILS(pvm_nrecv(-2, 1), PvmBadParam);
    FAILS(pvm_probe(17, 1), PvmBadParam);
    FAILS(pvm_probe(-1, -3), PvmBadParam);
    FAILS(pvm_send(0x80000, 1), PvmBadParam);
    FAILS(pvm_send(-1, 1), PvmBadParam);
    FAILS(pvm_send(tids[last], -1), PvmBadParam);
    all_meet();
}

void timed(void)
{
    static const int usecs[] = {1, 999, 1000, 30500};
    const int next = (self + 1) % count;
    struct timeval time = {0, 0};
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_trecv(-1, -1, &time), 0);
    for (int i = 0; i < 4; i++) {
        time.tv_usec = usecs[i];
        const double begun = seconds();
        IS(pvm_trecv(-1, 5, &time), 0);
        MUST(seconds() - begun >= usecs[i] / 1e6);
    }
    /* What it does not want does not end it. */
    send_int(self, 4, 1);
    const double begun = seconds();
    time.tv_usec = 20000;
    IS(pvm_trecv(-1, 5, &time), 0);
    MUST(seconds() - begun >= 0.02);
    all_meet();
    /* In the midst of it, and without limit. */
    if (self == 0)
        send_int(next, 5, 0);
    time.tv_sec = 1000;
    MUST(pvm_trecv(-1, 5, &time) > 0);
    IS(next_int(), 0);
    if (self != 0)
        send_int(next, 5, 0);
    MUST(pvm_trecv(self == 0 ? tids[0] : -1, 4, NULL) > 0);
    time.tv_sec = (time_t)1 << 30;
    send_int(self, 6, 3);
    MUST(pvm_trecv(-1, 6, &time) > 0);
    time = (struct timeval){-1, 0};
    FAILS(pvm_trecv(-1, 6, &time), PvmBadParam);
    time = (struct timeval){0, 1000000};
    FAILS(pvm_trecv(-1, 6, &time), PvmBadParam);
    time = (struct timeval){0, 0};
    FAILS(pvm_trecv(3, 6, &time), PvmBadParam);
    all_meet();
}

void casts(void)
{
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_mcast(tids, count, 1), PvmNoBuf);
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_packf("%d", self), PvmOk);
    IS(pvm_mcast(tids, count, 1), PvmOk);
    IS(pvm_mcast(tids, 0, 1), PvmOk);
    IS(pvm_mcast(NULL, 0, 1), PvmOk);
    IS(pvm_mcast(&tids[self], 1, 1), PvmOk);
    for (int i = 0; i < count; i++)
        if (i != self) {
            MUST(pvm_recv(tids[i], 1) > 0);
            IS(next_int(), i);
        }
    all_meet();
    IS(pvm_nrecv(-1, -1), 0); /* not to the caller */
    const int bad[2] = {tids[0], 4};
    FAILS(pvm_mcast(bad, 2, 1), PvmBadParam);
    FAILS(pvm_mcast(tids, -1, 1), PvmBadParam);
    FAILS(pvm_mcast(NULL, 1, 1), PvmBadParam);
    FAILS(pvm_mcast(tids, count, -1), PvmBadParam);
    all_meet();
    IS(pvm_nrecv(-1, -1), 0); /* and to none of a list with a mistake */
}

/* psend and precv, with each other and with the others. */
void direct(void)
{
    enum { MANY = 5000 };
    static const int sizes[] = {1,
                                1,
                                sizeof(short),
                                sizeof(int),
                                sizeof(float),
                                2 * sizeof(float),
                                sizeof(double),
                                2 * sizeof(double),
                                sizeof(long),
                                sizeof(short),
                                sizeof(int),
                                sizeof(long)};
    const int next = (self + 1) % count, before = (self + count - 1) % count;
    static char sent[MANY * 16], got[MANY * 16 + 1];
    int tid, tag, many;
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < MANY * 16; i++)
        sent[i] = (char)(i * 5 + 1);
    const int mine = pvm_initsend(PvmDataDefault);
    send_int(self, 50, 1);
    const int received = pvm_recv(-1, 50), sending = pvm_getsbuf();
    for (int type = PVM_STR; type <= PVM_ULONG; type++) {
        for (int turn = 0; turn < 4; turn++) {
            const int length = turn == 0 ? 0 : turn == 1 ? 1 : MANY, room = turn == 3 ? 17 : MANY;
            memset(got, 0, sizeof got);
            IS(pvm_psend(tids[next], type, sent, length, type), PvmOk);
            tid = tag = many = -1;
            IS(pvm_precv(tids[before], -1, got, room, type, &tid, &tag, &many), PvmOk);
            MUST(tid == tids[before] && tag == type && many == length * sizes[type]);
            const size_t bytes = (size_t)sizes[type] * (size_t)(length < room ? length : room);
            MUST(memcmp(got, sent, bytes) == 0 && got[bytes] == 0);
        }
    }
    MUST(pvm_getrbuf() == received && pvm_getsbuf() == sending && mine > 0);
    /* With recv and unpack; and what send sent. */
    IS(pvm_psend(tids[next], 1, sent, 3, PVM_INT), PvmOk);
    MUST(pvm_recv(tids[before], 1) > 0);
    IS(pvm_upkint((int *)(void *)got, 3, 1), PvmOk);
    MUST(memcmp(sent, got, 12) == 0);
    send_int(next, 2, 77);
    IS(pvm_precv(-1, 2, got, 9, PVM_INT, NULL, NULL, &many), PvmOk);
    MUST(many == 4 && *(int *)(void *)got == 77);
    FAILS(pvm_psend(tids[next], 1, sent, 3, 12), PvmBadParam);
    FAILS(pvm_psend(tids[next], 1, sent, 3, -1), PvmBadParam);
    FAILS(pvm_psend(tids[next], -1, sent, 3, PVM_INT), PvmBadParam);
    FAILS(pvm_psend(4, 1, sent, 3, PVM_INT), PvmBadParam);
    FAILS(pvm_psend(tids[next], 1, sent, -3, PVM_INT), PvmBadParam);
    FAILS(pvm_psend(tids[next], 1, NULL, 3, PVM_INT), PvmBadParam);
    FAILS(pvm_precv(4, 1, got, 3, PVM_INT, &tid, &tag, &many), PvmBadParam);
    FAILS(pvm_precv(-1, -2, got, 3, PVM_INT, &tid, &tag, &many), PvmBadParam);
    FAILS(pvm_precv(-1, 1, got, -3, PVM_INT, &tid, &tag, &many), PvmBadParam);
    FAILS(pvm_precv(-1, 1, NULL, 3, PVM_INT, &tid, &tag, &many), PvmBadParam);
    FAILS(pvm_precv(-1, 1, got, 3, 12, &tid, &tag, &many), PvmBadParam);
    all_meet();
}

/* Each task sends to all others before it receives anything. */
void all_send_first(void)
{
    enum { MOST = 20000 };
    static char sent[MOST], got[MOST];
    int bytes, tid;
    for (int i = 0; i < number; i++) {
        memset(sent, i + self, sizeof sent);
        MUST(pvm_initsend(i % 3) > 0);
        IS(pvm_pkbyte(sent, i * 1237 % MOST, 1), PvmOk);
        IS(pvm_mcast(tids, count, i), PvmOk);
    }
    for (int i = 0; i < number; i++) {
        for (int k = 1; k < count; k++) {
            IS(pvm_bufinfo(pvm_recv(-1, i), &bytes, NULL, &tid), PvmOk);
            IS(bytes, i * 1237 % MOST);
            IS(pvm_upkbyte(got, bytes, 1), PvmOk);
            memset(sent, i + place_of(tid), sizeof sent);
            MUST(memcmp(sent, got, (size_t)bytes) == 0);
        }
    }
    IS(pvm_nrecv(-1, -1), 0);
}

/* One computes while the others send it more than its inbox holds. */
void flood(void)
{
    int *next = calloc((size_t)count, sizeof *next), tid;
    MUST(next != NULL);
    for (int i = 0; i < number && self != 0; i++)
        send_int(0, 7, i);
    for (const double begun = seconds(); self == 0 && seconds() < begun + 0.2;)
        ;
    for (int i = 0; self == 0 && i < number * (count - 1); i++) {
        IS(pvm_bufinfo(pvm_recv(-1, 7), NULL, NULL, &tid), PvmOk);
        IS(next_int(), next[place_of(tid)]++);
    }
    all_meet();
    free(next);
}

/* The sender has memory for one of these: it has it again once the receiver waits for the next. */
void long_one_by_one(void)
{
    enum { LONG = 700000 };
    static char bytes[LONG], got[LONG];
    for (int i = 0; i < number && self < 2; i++) {
        memset(bytes, i, sizeof bytes);
        if (self == 0) {
            MUST(pvm_initsend(PvmDataRaw) > 0);
            IS(pvm_pkbyte(bytes, LONG, 1), PvmOk);
            IS(pvm_send(tids[1], 3), PvmOk);
        } else {
            MUST(pvm_recv(tids[0], 3) > 0);
            IS(pvm_upkbyte(got, LONG, 1), PvmOk);
            MUST(memcmp(bytes, got, LONG) == 0);
        }
    }
}

/* What goes to a task that has ended vanishes. */
void to_an_ended_task(void)
{
    static char bytes[5000];
    if (self == 1)
        return;
    for (int i = 0; i < 2000; i++) {
        MUST(pvm_initsend(PvmDataRaw) > 0);
        IS(pvm_pkbyte(bytes, i % 2 == 0 ? 4 : (int)sizeof bytes, 1), PvmOk);
        IS(pvm_send(tids[1], 1), PvmOk);
        IS(pvm_psend(tids[1], 1, bytes, 9, PVM_BYTE), PvmOk);
    }
}
