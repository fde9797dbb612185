/* SPDX-License-Identifier: MIT */
/* pvm_groups.c -- scenarios of mailboxes and groups. */
#include <limits.h>

#include "pvm_members.h"

static int message_of(int value)
{
    const int buffer = pvm_mkbuf(PvmDataDefault), former = pvm_setsbuf(buffer);
    IS(pvm_packf("%d %s", value, "kept"), PvmOk);
    IS(pvm_setsbuf(former), buffer);
    return buffer;
}

/* Puts a message, whose buffer is not needed then. */
static int put(const char *name, int value, int flags)
{
    const int buffer = message_of(value), index = pvm_putinfo(name, buffer, flags);
    IS(pvm_freebuf(buffer), PvmOk);
    return index;
}

static void must_get(const char *name, int index, int flags, int value)
{
    char text[10];
    int got;
    const int buffer = pvm_recvinfo(name, index, flags);
    MUST(buffer > 0 && pvm_getrbuf() == buffer);
    IS(pvm_unpackf("%d %s", &got, text), PvmOk);
    IS(got, value);
    MUST(strcmp(text, "kept") == 0);
}

void mailboxes(void)
{
    struct pvmmboxinfo *classes;
    int many;
    char own[20];
    pvm_setopt(PvmAutoErr, 0);
    snprintf(own, sizeof own, "own %d", self);
    IS(put(own, 1, PvmMboxDefault), 0);
    IS(put(own, 2, PvmMboxDefault), 0); /* in its place */
    must_get(own, 0, PvmMboxDefault, 2);
    must_get(own, 0, PvmMboxFirstAvail, 2);
    FAILS(pvm_recvinfo(own, 1, PvmMboxDefault), PvmNotFound);
    FAILS(pvm_recvinfo("none", 0, PvmMboxFirstAvail), PvmNotFound);
    all_meet();
    /* Others may not change it, nor put one beside it. */
    char its[20];
    snprintf(its, sizeof its, "own %d", (self + 1) % count);
    must_get(its, 0, PvmMboxDefault, 2);
    if (count > 1) {
        IS(put(its, 9, PvmMboxOverWritable), PvmDenied);
        IS(put(its, 9, PvmMboxDefault), PvmDenied);
        FAILS(pvm_delinfo(its, 0, 0), PvmDenied);
        FAILS(pvm_recvinfo(its, 0, PvmMboxReadAndDelete), PvmDenied);
    }
    all_meet();
    IS(pvm_delinfo(own, 0, 0), PvmOk);
    FAILS(pvm_delinfo(own, 0, 0), PvmNotFound);
    all_meet();
    /* Several under one name; with an index of one's own; some that others may replace. */
    const int index = put("several", 100 + self, PvmMboxMultiInstance | PvmMboxOverWritable);
    MUST(index >= 0 && index < count);
    must_get("several", index, PvmMboxDefault, 100 + self);
    all_meet();
    IS(pvm_getmboxinfo("*", &many, &classes), PvmOk);
    IS(many, 1);
    MUST(strcmp(classes[0].mi_name, "several") == 0 && classes[0].mi_nentries == count);
    for (int i = 0; i < count; i++) {
        IS(classes[0].mi_indices[i], i);
        (void)place_of(classes[0].mi_owners[i]);
        IS(classes[0].mi_flags[i], PvmMboxMultiInstance | PvmMboxOverWritable);
    }
    IS(pvm_getmboxinfo("^sev", &many, NULL), PvmOk);
    IS(many, 1);
    IS(pvm_getmboxinfo("^ev", &many, &classes), PvmOk);
    IS(many, 0);
    all_meet();
    if (self == 0) {
        IS(put("several", 77, PvmMboxMultiInstance | PvmMboxOverWritable | PvmMboxDirectIndex(5)), 5);
        IS(put("several", 78, PvmMboxMultiInstance | PvmMboxOverWritable | PvmMboxDirectIndex(5)), 5);
        must_get("several", 5, PvmMboxDefault, 78);
        must_get("several", count, PvmMboxFirstAvail, count <= 5 ? 78 : 0);
        must_get("several", 5, PvmMboxReadAndDelete, 78);
        FAILS(pvm_recvinfo("several", 5, PvmMboxDefault), PvmNotFound);
        for (int i = 0; i < count; i++)
            IS(pvm_delinfo("several", i, 0), PvmOk);
        IS(put("one", 1, PvmMboxOverWritable), 0);
    }
    all_meet();
    if (self == count - 1) {
        IS(put("one", 2, PvmMboxOverWritable), 0); /* in its place */
        must_get("one", 0, PvmMboxDefault, 2);
    }
    all_meet();
    FAILS(pvm_putinfo("", pvm_mkbuf(0), 0), PvmBadParam);
    FAILS(pvm_putinfo(NULL, pvm_mkbuf(0), 0), PvmBadParam);
    FAILS(pvm_putinfo("a", 0, 0), PvmBadParam);
    FAILS(pvm_putinfo("a", 9999, 0), PvmNoSuchBuf);
    FAILS(pvm_putinfo("a", pvm_mkbuf(0), -1), PvmBadParam);
    FAILS(pvm_recvinfo("", 0, 0), PvmBadParam);
    FAILS(pvm_recvinfo("a", -1, 0), PvmBadParam);
    FAILS(pvm_delinfo("a", -1, 0), PvmBadParam);
    FAILS(pvm_getmboxinfo("(", &many, &classes), PvmBadParam);
    FAILS(pvm_getmboxinfo(NULL, &many, &classes), PvmBadParam);
    IS((int)PvmMboxDirectIndexOf(PvmMboxDirectIndex(5) | 7), 5);
}

/* One waits for what another puts later; what persists outlives its owner. */
void waits_for_mail(void)
{
    pvm_setopt(PvmAutoErr, 0);
    MUST(count > 2);
    if (self == 0) {
        send_int(1, 1, 0);
        must_get("later", 0, PvmMboxWaitForInfo, 5);
        MUST(pvm_recv(tids[1], 2) > 0);
        while (pvm_pstat(tids[1]) == PvmOk)
            ;
        struct pvmmboxinfo *classes;
        int many;
        must_get("later", 0, PvmMboxDefault, 5);
        FAILS(pvm_recvinfo("mine", 0, PvmMboxDefault), PvmNotFound);
        IS(pvm_getmboxinfo("later", &many, &classes), PvmOk);
        MUST(many == 1 && classes[0].mi_owners[0] == 0 && classes[0].mi_flags[0] == PvmMboxPersistent);
    } else if (self == 1) {
        MUST(pvm_recv(tids[0], 1) > 0);
        IS(put("mine", 6, PvmMboxDefault), 0);
        IS(put("later", 5, PvmMboxPersistent), 0);
        send_int(0, 2, 0);
    }
}

/* PVM 3.3's. */
void numbers(void)
{
    int data = -1;
    pvm_setopt(PvmAutoErr, 0);
    if (self == 0) {
        FAILS(pvm_lookup("numbers", -1, &data), PvmNoEntry);
        IS(pvm_insert("numbers", 3, 33), 3);
        IS(pvm_insert("numbers", -1, 10), 0);
        IS(pvm_insert("numbers", -1, 11), 1);
        FAILS(pvm_insert("numbers", 3, 5), PvmDupEntry);
        MUST(data == -1);
        IS(pvm_lookup("numbers", -1, &data), 0);
        IS(data, 10);
        IS(pvm_lookup("numbers", 3, NULL), 3);
        FAILS(pvm_lookup("numbers", 2, &data), PvmNoEntry);
    }
    all_meet();
    IS(pvm_lookup("numbers", 3, &data), 3);
    IS(data, 33);
    all_meet();
    if (self == count - 1) {
        IS(pvm_delete("numbers", 0), PvmOk); /* another's */
        FAILS(pvm_delete("numbers", 0), PvmNoEntry);
        IS(pvm_lookup("numbers", -1, &data), 1);
        IS(data, 11);
    }
    FAILS(pvm_insert("", 0, 1), PvmBadParam);
    FAILS(pvm_insert("a", -2, 1), PvmBadParam);
    FAILS(pvm_lookup("a", -2, &data), PvmBadParam);
    FAILS(pvm_delete("a", -1), PvmBadParam);
}

void groups(void)
{
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_gsize("workers"), PvmNoGroup);
    FAILS(pvm_lvgroup("workers"), PvmNoGroup);
    FAILS(pvm_barrier("workers", 1), PvmNoGroup);
    all_meet();
    const int place = pvm_joingroup("workers");
    MUST(place >= 0 && place < count);
    FAILS(pvm_joingroup("workers"), PvmDupGroup);
    IS(pvm_barrier("workers", count), PvmOk);
    IS(pvm_barrier("workers", -1), PvmOk);
    IS(pvm_gsize("workers"), count);
    IS(pvm_getinst("workers", tids[self]), place);
    IS(pvm_gettid("workers", place), tids[self]);
    for (int i = 0; i < count; i++)
        IS(pvm_gettid("workers", pvm_getinst("workers", tids[i])), tids[i]);
    FAILS(pvm_gettid("workers", count), PvmNoInst);
    FAILS(pvm_gettid("workers", -1), PvmNoInst);
    FAILS(pvm_getinst("workers", 0x40000 + 5000), PvmNotInGroup);
    FAILS(pvm_getinst("workers", 3), PvmBadParam);
    /* To all but the caller, which need be no member. */
    send_int(self, 9, 0);
    MUST(pvm_recv(-1, 9) > 0);
    IS(pvm_packf("%d", 5), PvmOk);
    IS(pvm_bcast("workers", 7), PvmOk);
    for (int i = 0; i < count; i++)
        if (i != self)
            MUST(pvm_recv(tids[i], 7) > 0);
    all_meet();
    IS(pvm_nrecv(-1, -1), 0);
    FAILS(pvm_bcast("workers", -1), PvmBadParam);
    FAILS(pvm_bcast("others", 1), PvmNoGroup);
    (void)pvm_setsbuf(0);
    FAILS(pvm_bcast("workers", 1), PvmNoBuf);
    FAILS(pvm_barrier("workers", 0), PvmBadParam);
    FAILS(pvm_barrier("workers", -2), PvmBadParam);
    all_meet();
    /* A place that is free is the next one's. */
    if (place == 0) {
        IS(pvm_lvgroup("workers"), PvmOk);
        if (count > 1) {
            FAILS(pvm_lvgroup("workers"), PvmNotInGroup);
            FAILS(pvm_barrier("workers", 1), PvmNotInGroup);
            IS(pvm_gsize("workers"), count - 1);
            FAILS(pvm_gettid("workers", 0), PvmNoInst);
        }
        IS(pvm_joingroup("workers"), 0);
    }
    all_meet();
    FAILS(pvm_joingroup(NULL), PvmNullGroup);
    FAILS(pvm_joingroup(""), PvmNullGroup);
    FAILS(pvm_lvgroup(NULL), PvmNullGroup);
    FAILS(pvm_gsize(""), PvmNullGroup);
    FAILS(pvm_gettid(NULL, 0), PvmNullGroup);
    FAILS(pvm_getinst(NULL, tids[0]), PvmNullGroup);
    FAILS(pvm_barrier(NULL, 1), PvmNullGroup);
    FAILS(pvm_bcast(NULL, 1), PvmNullGroup);
}

/* ---- all members together ---- */

static int my_place, calls;

/* A function of the program's own: it minds the order. */
static void append(int *datatype, void *x, void *y, int *num, int *info)
{
    int *to = x;
    const int *from = y;
    calls += *datatype == PVM_INT;
    for (int i = 0; i < *num; i++)
        to[i] = to[i] * 10 + from[i];
    *info = PvmOk;
}

#define REDUCE(function, type, datatype, item, wanted)                                 \
    {                                                                                  \
        type items[300];                                                               \
        for (int i = 0; i < 300; i++)                                                  \
            items[i] = (type)(item);                                                   \
        IS(pvm_reduce(function, items, 300, datatype, 5, "all", count - 1), PvmOk);    \
        for (int i = 0; i < 300; i++)                                                  \
            MUST(items[i] == (my_place == count - 1 ? (type)(wanted) : (type)(item))); \
    }
#define REDUCE_EACH(function, item, wanted)                    \
    REDUCE(function, short, PVM_SHORT, item, wanted)           \
    REDUCE(function, int, PVM_INT, item, wanted)               \
    REDUCE(function, long, PVM_LONG, item, wanted)             \
    REDUCE(function, unsigned short, PVM_USHORT, item, wanted) \
    REDUCE(function, unsigned, PVM_UINT, item, wanted)         \
    REDUCE(function, unsigned long, PVM_ULONG, item, wanted)   \
    REDUCE(function, float, PVM_FLOAT, item, wanted)           \
    REDUCE(function, double, PVM_DOUBLE, item, wanted)

static void complexes(void)
{
    float sum[4] = {1, (float)my_place, 2, 0}, most[2] = {(float)my_place, -1};
    double product[2] = {0, 1}, least[2] = {3, (double)(my_place + 1)};
    IS(pvm_reduce(PvmSum, sum, 2, PVM_CPLX, 6, "all", 0), PvmOk);
    IS(pvm_reduce(PvmMax, most, 1, PVM_CPLX, 6, "all", 0), PvmOk);
    IS(pvm_reduce(PvmProduct, product, 1, PVM_DCPLX, 6, "all", 0), PvmOk);
    IS(pvm_reduce(PvmMin, least, 1, PVM_DCPLX, 6, "all", 0), PvmOk);
    if (my_place != 0)
        return;
    static const double powers[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}; /* of i */
    MUST(sum[0] == (float)count && sum[1] == (float)(count * (count - 1) / 2) && sum[2] == 2 * (float)count);
    MUST(most[0] == (float)(count - 1) && most[1] == -1);
    MUST(product[0] == powers[count % 4][0] && product[1] == powers[count % 4][1]);
    MUST(least[0] == 3 && least[1] == 1);
}

void collections(void)
{
    int factorial = 1;
    pvm_setopt(PvmAutoErr, 0);
    my_place = pvm_joingroup("all");
    IS(pvm_barrier("all", count), PvmOk);
    for (int i = 2; i <= count; i++)
        factorial *= i;
    REDUCE_EACH(PvmSum, (my_place + 1) * (i % 50), count * (count + 1) / 2 * (i % 50))
    REDUCE_EACH(PvmMax, (my_place + 1) * (i + 1), count * (i + 1))
    REDUCE_EACH(PvmMin, (my_place + 1) * (i + 1), i + 1)
    REDUCE_EACH(PvmProduct, my_place + 1, factorial)
    REDUCE(PvmMax, char, PVM_BYTE, my_place, count - 1)
    REDUCE(PvmMin, char, PVM_BYTE, -my_place, 1 - count)
    complexes();
    /* In the order of the places, the root's own first. */
    int word = my_place + 1, wanted = 1;
    for (int i = 2; i <= count; i++)
        wanted = wanted * 10 + i;
    calls = 0;
    IS(pvm_reduce(append, &word, 1, PVM_INT, 7, "all", 0), PvmOk);
    IS(word, my_place == 0 ? wanted : my_place + 1);
    IS(calls, my_place == 0 ? count : 1); /* and one call that asks about the datatype */
    /* Gathered, and scattered. */
    long rows[8 * 3], row[3] = {10 * my_place, 10 * my_place + 1, 10 * my_place + 2};
    memset(rows, -1, sizeof rows);
    MUST(count <= 8);
    IS(pvm_gather(rows, row, 3, PVM_LONG, 8, "all", count - 1), PvmOk);
    for (int i = 0; i < 3 * count; i++)
        MUST(rows[i] == (my_place == count - 1 ? 10 * (i / 3) + i % 3 : -1));
    MUST(3 * count == 24 || rows[3 * count] == -1);
    for (int i = 0; i < 3 * count; i++)
        rows[i] = 5 * i;
    IS(pvm_scatter(row, my_place == count - 1 ? rows : NULL, 3, PVM_LONG, 9, "all", count - 1), PvmOk);
    for (int i = 0; i < 3; i++)
        MUST(row[i] == 5 * (3 * my_place + i));
    IS(pvm_gather(NULL, NULL, 0, PVM_INT, 9, "all", 0), PvmOk);
    IS(pvm_scatter(NULL, NULL, 0, PVM_INT, 9, "all", 0), PvmOk);
    all_meet();

    FAILS(pvm_reduce(PvmSum, row, 1, PVM_BYTE, 1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(PvmProduct, row, 1, PVM_BYTE, 1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(PvmMax, row, 1, PVM_STR, 1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(PvmMax, row, 1, 12, 1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(PvmMax, row, -1, PVM_INT, 1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(PvmMax, NULL, 1, PVM_INT, 1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(NULL, row, 1, PVM_INT, 1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(PvmMax, row, 1, PVM_INT, -1, "all", 0), PvmBadParam);
    FAILS(pvm_reduce(PvmMax, row, 1, PVM_INT, 1, "all", count), PvmNoInst);
    FAILS(pvm_reduce(PvmMax, row, 1, PVM_INT, 1, "all", -1), PvmNoInst);
    FAILS(pvm_reduce(PvmMax, row, 1, PVM_INT, 1, "none", 0), PvmNoGroup);
    FAILS(pvm_gather(rows, row, 1, PVM_STR, 1, "all", 0), PvmBadParam);
    FAILS(pvm_gather(rows, row, 1, PVM_INT, 1, "", 0), PvmNullGroup);
    FAILS(pvm_scatter(rows, row, 1, PVM_INT, 1, "all", count), PvmNoInst);
    IS(pvm_joingroup("alone"), self == 0 ? pvm_getinst("alone", tids[0]) : pvm_getinst("alone", tids[self]));
    all_meet();
    if (my_place == 0)
        IS(pvm_lvgroup("all"), PvmOk);
    all_meet();
    if (my_place == 0 && count > 1)
        FAILS(pvm_reduce(PvmMax, row, 1, PVM_INT, 1, "all", 1), PvmNotInGroup);
    /* Members who do not agree how many there are. */
    if (count == 5 && my_place == 1)
        FAILS(pvm_gather(rows, row, 2, PVM_LONG, 3, "all", 1), PvmMismatch);
    else if (count == 5 && my_place > 1)
        IS(pvm_gather(NULL, row, 3, PVM_LONG, 3, "all", 1), PvmOk);
    all_meet();
}

void frozen(void)
{
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_freezegroup("ice", 1), PvmNoGroup);
    FAILS(pvm_freezegroup(NULL, 1), PvmNullGroup);
    all_meet();
    const int place = self == 0 ? -1 : pvm_joingroup("ice");
    all_meet();
    if (self == 0) {
        FAILS(pvm_freezegroup("ice", 1), PvmNotInGroup);
    } else {
        FAILS(pvm_freezegroup("ice", 0), PvmBadParam);
        IS(pvm_freezegroup("ice", self == 1 ? -1 : count - 1), PvmOk);
        FAILS(pvm_freezegroup("ice", count - 1), PvmDupGroup);
    }
    all_meet();
    if (self == 0)
        IS(pvm_joingroup("ice"), count - 1);
    all_meet();
    /* Who has it frozen does not see who joins then; others do. */
    IS(pvm_gsize("ice"), self == 0 ? count : count - 1);
    all_meet();
    if (self != 0) {
        IS(pvm_getinst("ice", tids[self]), place);
        FAILS(pvm_getinst("ice", tids[0]), PvmNotInGroup);
        IS(pvm_barrier("ice", count - 1), PvmOk);
        IS(pvm_lvgroup("ice"), PvmOk);
        FAILS(pvm_getinst("ice", tids[self]), PvmNotInGroup);
    }
    all_meet();
    IS(pvm_gsize("ice"), 1);
    all_meet();
}
