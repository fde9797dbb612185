/* SPDX-License-Identifier: MIT */
/* pvm_packs.c -- scenarios of packing: each type, strings, formats, encodings, buffers, messages in messages. */
#include <limits.h>

#include "pvm_members.h"

enum { MANY = 700 };

/* Items whose values follow from their place. */
#define EACH(X)                                              \
    X(byte, char, (char)(i * 3))                             \
    X(short, short, (short)(i * 90 - 30000))                 \
    X(ushort, unsigned short, (unsigned short)(i * 91))      \
    X(int, int, i * 3000000 - 1000000000)                    \
    X(uint, unsigned, 3000000000u + (unsigned)i)             \
    X(long, long, i * 3000000L - 1000000000L)                \
    X(ulong, unsigned long, 3000000000ul + (unsigned long)i) \
    X(float, float, (float)i / 8)                            \
    X(double, double, i / 1024.0 - 1e200)

static void pack_each(int stride)
{
#define PACK(name, type, value)                       \
    {                                                 \
        static type items[3 * MANY];                  \
        memset(items, 77, sizeof items);              \
        for (int i = 0; i < MANY; i++)                \
            items[i * stride] = (type)(value);        \
        IS(pvm_pk##name(items, MANY, stride), PvmOk); \
    }
    EACH(PACK)
    static float complexes[12] = {1.5f, -2, 0, 0, 3, 4, 0, 0, 5, 6};
    static double doubles[12] = {1.5, -2, 0, 0, 3e300, 4, 0, 0, 5, 6};
    IS(pvm_pkcplx(complexes, 3, 2), PvmOk);
    IS(pvm_pkdcplx(doubles, 3, 2), PvmOk);
}

static void unpack_each(int stride)
{
#define UNPACK(name, type, value)                                                 \
    {                                                                             \
        static type items[3 * MANY];                                              \
        memset(items, 88, sizeof items);                                          \
        const type other = items[3 * MANY - 1];                                   \
        IS(pvm_upk##name(items, MANY, stride), PvmOk);                            \
        for (int i = 0; i < MANY; i++)                                            \
            MUST(items[i * stride] == (type)(value));                             \
        MUST(items[3 * MANY - 1] == other && (stride == 1 || items[1] == other)); \
    }
    EACH(UNPACK)
    float complexes[6];
    double doubles[6];
    IS(pvm_upkcplx(complexes, 3, 1), PvmOk);
    MUST(complexes[0] == 1.5f && complexes[1] == -2 && complexes[2] == 3 && complexes[5] == 6);
    IS(pvm_upkdcplx(doubles, 2, 2), PvmOk);
    MUST(doubles[0] == 1.5 && doubles[4] == (double)3e300);
    IS(pvm_upkdcplx(doubles, 1, 1), PvmOk);
    MUST(doubles[0] == 5 && doubles[1] == 6);
    FAILS(pvm_upkbyte((char *)doubles, 1, 1), PvmNoData);
}

/* Each task to each, itself too, in each encoding; raw items only if number is 0, that is between machines of one kind. */
void types(void)
{
    pvm_setopt(PvmAutoErr, 0);
    for (int encoding = PvmDataDefault; encoding <= (number == 0 ? PvmDataRaw : PvmDataDefault); encoding++) {
        for (int stride = 1; stride <= 3; stride++) {
            MUST(pvm_initsend(encoding) > 0);
            pack_each(stride);
            for (int i = 0; i < count; i++)
                IS(pvm_send(tids[i], 10 * encoding + stride), PvmOk);
            for (int i = 0; i < count; i++) {
                MUST(pvm_recv(tids[i], 10 * encoding + stride) > 0);
                unpack_each(i % 2 == 0 ? 4 - stride : 1);
            }
        }
    }
    /* No items are none. */
    int word = 5;
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_pkint(NULL, 0, 1), PvmOk);
    FAILS(pvm_pkint(NULL, 1, 1), PvmBadParam);
    FAILS(pvm_pkint(&word, -1, 1), PvmBadParam);
    IS(pvm_send(tids[self], 1), PvmOk);
    MUST(pvm_recv(tids[self], 1) > 0);
    IS(pvm_upkint(NULL, 0, 1), PvmOk);
    FAILS(pvm_upkint(&word, 1, 1), PvmNoData);
    FAILS(pvm_upkint(NULL, 1, 1), PvmBadParam);
    FAILS(pvm_upkint(&word, -1, 1), PvmBadParam);
    MUST(word == 5);
    all_meet();
}

/* What is in place is what it is when it is sent. */
void in_place(void)
{
    const int next = (self + 1) % count;
    static int items[40];
    int got[20], bytes;
    pvm_setopt(PvmAutoErr, 0);
    const int buffer = pvm_initsend(PvmDataInPlace);
    MUST(buffer > 0);
    for (int i = 0; i < 10; i++) /* more places than there is room for at first */
        IS(pvm_pkint(&items[4 * i], 2, 2), PvmOk);
    IS(pvm_bufinfo(buffer, &bytes, NULL, NULL), PvmOk);
    IS(bytes, 20 * (int)sizeof(int));
    FAILS(pvm_pkstr("text"), PvmNotImpl);
    FAILS(pvm_packf("%d", 5), PvmNotImpl);
    FAILS(pvm_pkint(NULL, 1, 1), PvmBadParam);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 40; i++)
            items[i] = i + 100 * turn;
        IS(pvm_send(tids[next], turn), PvmOk);
        memset(items, 0, sizeof items);
    }
    for (int turn = 0; turn < 3; turn++) {
        MUST(pvm_recv(-1, turn) > 0);
        IS(pvm_upkint(got, 20, 1), PvmOk);
        for (int i = 0; i < 20; i++)
            IS(got[i], 2 * i + 100 * turn);
        FAILS(pvm_upkbyte((char *)got, 1, 1), PvmNoData);
    }
    IS(pvm_setrbuf(buffer) > 0, 1);
    FAILS(pvm_upkint(got, 1, 1), PvmNoData);
    /* The empty one. */
    MUST(pvm_initsend(PvmDataInPlace) > 0);
    IS(pvm_send(tids[self], 9), PvmOk);
    const int empty = pvm_recv(tids[self], 9);
    IS(pvm_bufinfo(empty, &bytes, NULL, NULL), PvmOk);
    IS(bytes, 0);
}

void texts(void)
{
    static char text[70000], got[70001];
    const int lengths[] = {0, 1, 7, 511, 512, 69999};
    pvm_setopt(PvmAutoErr, 0);
    MUST(pvm_initsend(PvmDataDefault) > 0);
    FAILS(pvm_pkstr(NULL), PvmBadParam);
    for (int i = 0; i < 6; i++) {
        memset(text, 'a' + i, sizeof text);
        text[lengths[i]] = '\0';
        IS(pvm_pkstr(text), PvmOk);
    }
    const int negative = -4;
    IS(pvm_pkint(&negative, 1, 1), PvmOk);
    IS(pvm_send(tids[(self + 1) % count], 1), PvmOk);
    MUST(pvm_recv(-1, 1) > 0);
    for (int i = 0; i < 6; i++) {
        IS(pvm_upkstr(got), PvmOk);
        IS((int)strlen(got), lengths[i]);
        memset(text, 'a' + i, sizeof text);
        MUST(memcmp(got, text, (size_t)lengths[i]) == 0);
    }
    FAILS(pvm_upkstr(got), PvmBadMsg); /* no length of a string */
    FAILS(pvm_upkstr(got), PvmNoData);
    FAILS(pvm_upkstr(NULL), PvmBadParam);
    /* A length, and bytes without an end: no string; nothing is written behind them. */
    const int two = 2;
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_pkint(&two, 1, 1), PvmOk);
    IS(pvm_pkbyte("xyz", 3, 1), PvmOk);
    IS(pvm_pkint(&two, 1, 1), PvmOk);
    IS(pvm_send(tids[self], 2), PvmOk);
    MUST(pvm_recv(tids[self], 2) > 0);
    got[2] = '!';
    FAILS(pvm_upkstr(got), PvmBadMsg);
    MUST(got[0] == 'x' && got[1] == '\0' && got[2] == '!');
    IS(pvm_upkbyte(got, 1, 1), PvmOk);
    MUST(got[0] == 'z');
    FAILS(pvm_upkstr(got), PvmNoData); /* two bytes that do not follow */
}

void formats(void)
{
    const int next = (self + 1) % count;
    short h[2] = {-3, 4};
    unsigned short uh = 65000;
    int d[6] = {1, 2, 3, 4, 5, 6}, di = 0;
    unsigned ud = 4000000000u;
    long l[2] = {-5, 6};
    unsigned long ul = 7;
    float f[2] = {0.5f, 0.25f}, x[4] = {1, 2, 3, 4};
    double g[2] = {1e100, 2}, z[4] = {5, 6, 7, 8};
    char c[3] = {'a', 'b', 'c'}, s[20];
    pvm_setopt(PvmAutoErr, 0);
    /* By value, by address, with counts and strides. */
    IS(pvm_packf("%+ %c %hd %uhd %d %ud %ld %uld %f %lf %s, %*d %2.3d %.*d", PvmDataRaw, 'q', -3, 65000, -9,
                 ud, -5L, ul, 0.5, 1e100, "text", 6, d, d, 2, d),
       PvmOk);
    IS(pvm_packf("%3c%2hd%1uhd%1ud%2ld%1uld%2f%2lf%2x%2lx%x", c, h, &uh, &ud, l, &ul, f, g, x, z, x), PvmOk);
    IS(pvm_send(tids[next], 1), PvmOk);
    memset(h, 0, sizeof h), memset(d, 0, sizeof d), memset(l, 0, sizeof l), memset(f, 0, sizeof f);
    memset(g, 0, sizeof g), memset(x, 0, sizeof x), memset(z, 0, sizeof z), memset(c, 0, sizeof c);
    uh = 0, ud = 0, ul = 0;
    MUST(pvm_recv(-1, 1) > 0);
    IS(pvm_unpackf("%c %hd %uhd %d %ud %ld %uld %f %lf %s", c, h, &uh, &di, &ud, l, &ul, f, g, s), PvmOk);
    MUST(c[0] == 'q' && h[0] == -3 && uh == 65000 && di == -9 && ud == 4000000000u && l[0] == -5 && ul == 7);
    MUST(f[0] == 0.5f && g[0] == (double)1e100 && strcmp(s, "text") == 0);
    IS(pvm_unpackf("%*d", 6, d), PvmOk);
    MUST(d[0] == 1 && d[5] == 6);
    IS(pvm_unpackf("%2.3d", d), PvmOk);
    MUST(d[0] == 1 && d[3] == 4 && d[1] == 2);
    IS(pvm_unpackf("%d", &di), PvmOk);
    MUST(di == 1);
    IS(pvm_unpackf("%3c%2hd%1uhd%1ud%2ld%1uld%2f%2lf%2x%2lx%x", c, h, &uh, &ud, l, &ul, f, g, x, z, x + 2),
       PvmOk);
    MUST(c[2] == 'c' && h[1] == 4 && l[1] == 6 && f[1] == 0.25f && g[1] == 2 && x[2] == 1 && x[3] == 2 &&
         x[1] == 2 && z[3] == 8);
    FAILS(pvm_unpackf("%d", &di), PvmNoData);
    /* What is no format; up to there all is done. */
    static const char *const bad[] = {"%q", "%", "%.d", "%2", "%99999999999d", "%d%+"};
    for (int i = 0; i < 6; i++) {
        MUST(pvm_initsend(PvmDataDefault) > 0);
        FAILS(pvm_packf(bad[i], 1, 2, 3), PvmBadParam);
        FAILS(pvm_packf("%+%d", 17, 1), PvmBadParam);
    }
    FAILS(pvm_packf(NULL), PvmBadParam);
    FAILS(pvm_unpackf(NULL), PvmBadParam);
    FAILS(pvm_packf("%s", (char *)NULL), PvmBadParam);
    IS(pvm_packf("no items"), PvmOk);
    FAILS(pvm_unpackf("%+", PvmDataRaw), PvmBadParam);
    (void)pvm_setsbuf(0);
    FAILS(pvm_packf("%d", 1), PvmNoBuf);
}

/* Active buffers, and others. */
void buffers(void)
{
    int word;
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_getsbuf(), 0);
    IS(pvm_getrbuf(), 0);
    FAILS(pvm_pkint(&number, 1, 1), PvmNoBuf);
    FAILS(pvm_upkint(&word, 1, 1), PvmNoBuf);
    FAILS(pvm_send(tids[self], 1), PvmNoBuf);
    FAILS(pvm_upkmesg(), PvmNoBuf);
    FAILS(pvm_mkbuf(-1), PvmBadParam);
    FAILS(pvm_mkbuf(3), PvmBadParam);
    FAILS(pvm_initsend(4), PvmBadParam);
    const int one = pvm_mkbuf(PvmDataDefault), two = pvm_mkbuf(PvmDataRaw);
    MUST(one > 0 && two > 0 && one != two);
    IS(pvm_getsbuf(), 0);
    IS(pvm_setsbuf(one), 0);
    IS(pvm_packf("%d", 1), PvmOk);
    IS(pvm_setsbuf(two), one);
    IS(pvm_packf("%d", 2), PvmOk);
    IS(pvm_send(tids[self], 2), PvmOk);
    IS(pvm_setsbuf(one), two);
    IS(pvm_send(tids[self], 1), PvmOk);
    IS(pvm_packf("%d", 11), PvmOk);
    IS(pvm_send(tids[self], 1), PvmOk); /* what was sent is packed and sent further */
    IS(pvm_setsbuf(0), one);
    IS(pvm_getsbuf(), 0);
    FAILS(pvm_setsbuf(-1), PvmBadParam);
    FAILS(pvm_setsbuf(9999), PvmNoSuchBuf);
    FAILS(pvm_setrbuf(-1), PvmBadParam);
    FAILS(pvm_setrbuf(9999), PvmNoSuchBuf);
    FAILS(pvm_freebuf(0), PvmBadParam);
    FAILS(pvm_freebuf(9999), PvmNoSuchBuf);

    /* A receive frees the former buffer, unless that was saved. */
    const int first = pvm_recv(-1, 1);
    MUST(first > 0 && pvm_getrbuf() == first);
    IS(next_int(), 1);
    IS(pvm_setrbuf(0), first);
    FAILS(pvm_upkint(&word, 1, 1), PvmNoBuf);
    const int second = pvm_recv(-1, 1);
    MUST(second != first && pvm_getrbuf() == second);
    IS(next_int(), 1);
    IS(pvm_nrecv(-1, 77), 0); /* none: the buffer stays */
    IS(next_int(), 11);
    const int third = pvm_recv(-1, 2);
    IS(next_int(), 2);
    if (third != second)
        FAILS(pvm_bufinfo(second, NULL, NULL, NULL), PvmNoSuchBuf);
    IS(pvm_bufinfo(first, &word, NULL, NULL), PvmOk);
    IS(pvm_setrbuf(first), third);
    FAILS(pvm_upkint(&word, 1, 1), PvmNoData);
    IS(pvm_freebuf(first), PvmOk);
    IS(pvm_getrbuf(), 0);
    FAILS(pvm_freebuf(first), PvmNoSuchBuf);
    IS(pvm_freebuf(third), PvmOk);

    /* What is packed can be unpacked, too; what was received can be packed further. */
    IS(pvm_setrbuf(one), 0);
    IS(next_int(), 1);
    IS(next_int(), 11);
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_send(tids[self], 3), PvmOk);
    const int mine = pvm_getsbuf();
    IS(pvm_setrbuf(0), one);
    IS(pvm_setsbuf(pvm_recv(-1, 3)), mine);
    word = 12;
    IS(pvm_pkint(&word, 1, 1), PvmOk); /* what came is packed further */
    IS(pvm_send(tids[self], 4), PvmOk);
    IS(pvm_setsbuf(one), pvm_getrbuf());
    MUST(pvm_recv(-1, 4) > 0);
    IS(next_int(), 12);
    FAILS(pvm_upkint(&word, 1, 1), PvmNoData);
    IS(pvm_freebuf(one), PvmOk);
    IS(pvm_getsbuf(), 0);
    IS(pvm_freebuf(two), PvmOk);
    /* initsend frees the active one, and no other. */
    IS(pvm_setsbuf(mine), 0);
    MUST(pvm_initsend(PvmDataRaw) > 0);
    if (pvm_getsbuf() != mine)
        FAILS(pvm_freebuf(mine), PvmNoSuchBuf);
}

/* More than the table has room for, freed in another order; IDs are used again. */
void many_buffers(void)
{
    int *ids = malloc(sizeof *ids * (size_t)number);
    MUST(ids != NULL);
    pvm_setopt(PvmAutoErr, 0);
    for (int turn = 0; turn < 3; turn++) {
        int most = 0;
        for (int i = 0; i < number; i++) {
            ids[i] = pvm_mkbuf(i % 3);
            most = ids[i] > most ? ids[i] : most;
        }
        IS(most, number);
        for (int i = 0; i < number; i++)
            IS(pvm_freebuf(ids[turn == 0   ? i
                               : turn == 1 ? number - 1 - i
                                           : (i + number / 2) % number]),
               PvmOk);
        FAILS(pvm_freebuf(ids[0]), PvmNoSuchBuf);
    }
    free(ids);
}

/* A message goes round as it came. */
void forwards(void)
{
    const int next = (self + 1) % count;
    pvm_setopt(PvmAutoErr, 0);
    if (self == 0) {
        MUST(pvm_initsend(number) > 0);
        pack_each(1);
        IS(pvm_send(tids[next], 1), PvmOk);
    }
    const int got = pvm_recv(-1, 1);
    MUST(got > 0);
    if (self != 0) {
        char byte;
        IS(pvm_upkbyte(&byte, 1, 1), PvmOk); /* which changes nothing */
        MUST(byte == 0);
        const int former = pvm_setsbuf(got);
        IS(pvm_send(tids[next], 1), PvmOk);
        IS(pvm_mcast(tids, count, 2), PvmOk);
        IS(pvm_setsbuf(former), got);
        IS(pvm_setrbuf(got), got);
    } else {
        unpack_each(1);
    }
    for (int i = 1; i < count; i++)
        if (i != self) {
            MUST(pvm_recv(tids[i], 2) > 0);
            unpack_each(2);
        }
    all_meet();
}

static void must_be_inner(int bufid, int tag)
{
    struct pvmminfo info;
    const int outer = pvm_setrbuf(bufid);
    IS(pvm_getminfo(bufid, &info), PvmOk);
    MUST(info.tag == tag && info.wid == 40 && info.src == tids[self] && info.ctx == 0);
    unpack_each(1);
    IS(pvm_setrbuf(outer), bufid);
    IS(pvm_freebuf(bufid), PvmOk);
}

void nested(void)
{
    struct pvmminfo info = {0};
    pvm_setopt(PvmAutoErr, 0);
    for (int encoding = PvmDataDefault; encoding <= PvmDataRaw; encoding++) {
        const int inner = pvm_initsend(1 - encoding);
        pack_each(1);
        IS(pvm_getminfo(inner, &info), PvmOk);
        info.tag = 6, info.wid = 40;
        IS(pvm_setminfo(inner, &info), PvmOk);
        IS(pvm_setsbuf(pvm_mkbuf(encoding)), inner);
        IS(pvm_packf("%d", 5), PvmOk);
        IS(pvm_pkmesg(inner), PvmOk);
        IS(pvm_packf("%d %s", 7, "behind"), PvmOk);
        IS(pvm_pkmesg(inner), PvmOk);
        IS(pvm_send(tids[self], 1), PvmOk);
        FAILS(pvm_pkmesgbody(inner), PvmMismatch);
        MUST(pvm_initsend(encoding) > 0);
        FAILS(pvm_pkmesgbody(inner), PvmMismatch); /* into an empty one, too */
        MUST(pvm_recv(-1, 1) > 0);
        IS(next_int(), 5);
        must_be_inner(pvm_upkmesg(), 6);
        char text[10];
        int seven;
        IS(pvm_unpackf("%d %s", &seven, text), PvmOk);
        MUST(seven == 7 && strcmp(text, "behind") == 0);
        must_be_inner(pvm_upkmesg(), 6);
        FAILS(pvm_upkmesg(), PvmNoData);
        IS(pvm_freebuf(inner), PvmOk);
    }
    /* A body is spliced in; one that came, too. */
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_packf("%d", 1), PvmOk);
    IS(pvm_send(tids[self], 2), PvmOk);
    const int got = pvm_recv(-1, 2);
    IS(next_int(), 1);
    IS(pvm_packf("%d", 2), PvmOk);
    IS(pvm_pkmesgbody(got), PvmOk);
    IS(pvm_send(tids[self], 2), PvmOk);
    FAILS(pvm_upkint(&info.len, 1, 1), PvmNoData); /* it is left as it was */
    MUST(pvm_recv(-1, 2) > 0);
    int words[3];
    IS(pvm_upkint(words, 3, 1), PvmOk);
    MUST(words[0] == 1 && words[1] == 2 && words[2] == 1);
    /* In place, as the inner one; not as the outer one. */
    int nine = 9;
    const int places = pvm_mkbuf(PvmDataInPlace), outer = pvm_getsbuf();
    IS(pvm_setsbuf(places), outer);
    IS(pvm_pkint(&nine, 1, 1), PvmOk);
    FAILS(pvm_pkmesg(outer), PvmNotImpl);
    IS(pvm_setsbuf(outer), places);
    IS(pvm_pkmesg(places), PvmOk);
    FAILS(pvm_pkmesgbody(places), PvmMismatch);
    /* It is packed further where it came, as any other that came. */
    IS(pvm_send(tids[self], 3), PvmOk);
    MUST(pvm_recv(-1, 3) > 0);
    IS(pvm_upkint(words, 3, 1), PvmOk);
    const int came = pvm_upkmesg();
    IS(pvm_setsbuf(came), outer);
    IS(pvm_packf("%d", 10), PvmOk);
    IS(pvm_send(tids[self], 3), PvmOk);
    MUST(pvm_recv(-1, 3) > 0);
    IS(next_int(), 9);
    IS(next_int(), 10);
    IS(pvm_setsbuf(outer), came);
    FAILS(pvm_pkmesg(0), PvmBadParam);
    FAILS(pvm_pkmesg(outer), PvmBadParam);
    FAILS(pvm_pkmesgbody(9999), PvmNoSuchBuf);
    /* What is no message in a message. */
    MUST(pvm_initsend(PvmDataDefault) > 0);
    for (int i = 0; i < 20; i++)
        IS(pvm_packf("%d", 1), PvmOk);
    IS(pvm_send(tids[self], 3), PvmOk);
    MUST(pvm_recv(-1, 3) > 0);
    FAILS(pvm_upkmesg(), PvmBadMsg);
    (void)pvm_setsbuf(0);
    FAILS(pvm_pkmesg(places), PvmNoBuf);
}

void infos(void)
{
    struct pvmminfo info, other;
    int bytes, tag, tid;
    pvm_setopt(PvmAutoErr, 0);
    const int mine = pvm_initsend(PvmDataRaw);
    IS(pvm_packf("%d %lf", 1, 2.0), PvmOk);
    IS(pvm_getminfo(mine, &info), PvmOk);
    struct pvmhostinfo *hosts;
    IS(pvm_config(NULL, NULL, &hosts), PvmOk);
    MUST(info.len == 12 && info.enc == hosts[0].hi_dsig && info.src == tids[self]);
    IS(pvm_send(tids[self], 17), PvmOk);
    const int probed = pvm_probe(-1, -1);
    MUST(probed > 0 && pvm_probe(-1, 17) == probed);
    IS(pvm_bufinfo(probed, &bytes, &tag, &tid), PvmOk);
    MUST(bytes == 12 && tag == 17 && tid == tids[self]);
    const int got = pvm_recv(-1, -1);
    if (got != probed)
        FAILS(pvm_bufinfo(probed, &bytes, &tag, &tid), PvmNoSuchBuf); /* it is over */
    bytes = tag = tid = 0;
    IS(pvm_bufinfo(got, &bytes, &tag, &tid), PvmOk);
    MUST(bytes == 12 && tag == 17 && tid == tids[self]);
    IS(pvm_bufinfo(got, NULL, NULL, NULL), PvmOk);
    IS(pvm_getminfo(got, &info), PvmOk);
    MUST(info.len == 12 && info.tag == 17 && info.src == tids[self] && info.dst == tids[self] &&
         info.ctx == 0 && info.enc == hosts[0].hi_dsig && info.wid == 0);
    other = info;
    other.len = other.enc = other.crc = 1000;
    other.ctx = 1, other.tag = 2, other.wid = 3, other.src = 4, other.dst = 5;
    IS(pvm_setminfo(got, &other), PvmOk);
    IS(pvm_getminfo(got, &other), PvmOk);
    MUST(other.len == 12 && other.enc == info.enc && other.crc == 0 && other.ctx == 1 && other.tag == 2 &&
         other.wid == 3 && other.src == 4 && other.dst == 5);
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_send(tids[self], 18), PvmOk);
    IS(pvm_getminfo(pvm_recv(-1, 18), &info), PvmOk);
    MUST(info.enc == 0x10000000 && info.len == 0);
    /* What came and was packed further is, once it is emptied, a buffer of its encoding. */
    for (int encoding = PvmDataDefault; encoding <= PvmDataRaw; encoding++) {
        IS(pvm_packf("%+%d", encoding, 1), PvmOk);
        IS(pvm_send(tids[self], 19), PvmOk);
        IS(pvm_freebuf(pvm_getsbuf()), PvmOk);
        MUST(pvm_setsbuf(pvm_recv(-1, 19)) == 0 && pvm_setrbuf(0) > 0);
        IS(pvm_packf("%d", 2), PvmOk);
        IS(pvm_packf("%+%d", encoding, 3), PvmOk);
        IS(pvm_send(tids[self], 20), PvmOk);
        IS(pvm_getminfo(pvm_recv(-1, 20), &info), PvmOk);
        MUST(info.enc == (encoding == PvmDataRaw ? hosts[0].hi_dsig : 0x10000000) && info.len == 4);
    }
    FAILS(pvm_bufinfo(0, NULL, NULL, NULL), PvmBadParam);
    FAILS(pvm_bufinfo(9999, NULL, NULL, NULL), PvmNoSuchBuf);
    FAILS(pvm_getminfo(-5, &info), PvmBadParam);
    FAILS(pvm_getminfo(got, NULL), PvmBadParam);
    FAILS(pvm_getminfo(9999, &info), PvmNoSuchBuf);
    FAILS(pvm_setminfo(0, &info), PvmBadParam);
    FAILS(pvm_setminfo(mine, NULL), PvmBadParam);
    FAILS(pvm_setminfo(9999, &info), PvmNoSuchBuf);
}
