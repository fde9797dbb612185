/* SPDX-License-Identifier: MIT */
/* unlike_pvm3.c -- enl -n COUNT unlike_pvm3: tasks of PVM 3 on unlike machines send each other items of each type in the default
 * encoding, and a long that not all of them have. Task 0 prints what machines they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvm3.h>

enum { ITEMS = 1, MACHINE = 2 };

#define MUST(condition)                                                                              \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            fprintf(stderr, "unlike_pvm3: line %d: not %s (%d)\n", __LINE__, #condition, pvm_errno); \
            exit(3);                                                                                 \
        }                                                                                            \
    } while (0)

static char bytes[4] = {0, 127, (char)-128, (char)-1};
static short shorts[3] = {-32768, -2, 32767};
static unsigned short ushorts[2] = {1, 65535};
static int ints[3] = {-2147483647 - 1, -2, 2147483647};
static unsigned uints[2] = {1, 4294967295U};
static long longs[3] = {-2147483647L - 1, 258, 2147483647L};
static unsigned long ulongs[2] = {772, 4294967295UL};
static float floats[4] = {0, -1.5F, 1.17549435e-38F, 3.4e38F};
static double doubles[4] = {0, -1.5, 2.2250738585072014e-308, 1.7e308};
static char text[] = "a string, which no machine turns";

/* Where a long has 64 bits, one that has more than 32. */
static long large(void)
{
    long value = 5;
    for (int i = 0; i < 9 && sizeof value == 8; i++)
        value *= 10;
    return value;
}

static void send_all(const int *tids, int count)
{
    const int width = (int)sizeof(long);
    long last = large();
    MUST(pvm_initsend(PvmDataDefault) >= 0);
    MUST(pvm_pkint(&width, 1, 1) == PvmOk && pvm_pkbyte(bytes, 4, 1) == PvmOk);
    MUST(pvm_pkshort(shorts, 3, 1) == PvmOk && pvm_pkushort(ushorts, 2, 1) == PvmOk);
    MUST(pvm_pkint(ints, 3, 1) == PvmOk && pvm_pkuint(uints, 2, 1) == PvmOk);
    MUST(pvm_pklong(longs, 3, 1) == PvmOk && pvm_pkulong(ulongs, 2, 1) == PvmOk);
    MUST(pvm_pkfloat(floats, 4, 1) == PvmOk && pvm_pkdouble(doubles, 4, 1) == PvmOk);
    MUST(pvm_pkcplx(floats, 2, 1) == PvmOk && pvm_pkdcplx(doubles, 2, 1) == PvmOk);
    MUST(pvm_pkstr(text) == PvmOk && pvm_pklong(&last, 1, 1) == PvmOk);
    for (int i = 0; i < count; i++)
        MUST(pvm_send(tids[i], ITEMS) == PvmOk);
}

static int are_same(const void *got, const void *wanted, size_t length)
{
    return memcmp(got, wanted, length) == 0;
}

#define COMES(name, items, many)                                                                \
    do {                                                                                        \
        char got[sizeof(items)];                                                                \
        MUST(pvm_upk##name((void *)got, many, 1) == PvmOk && are_same(got, items, sizeof got)); \
    } while (0)

static void receive_one(void)
{
    int width;
    char word[sizeof text];
    long last = 0;
    MUST(pvm_recv(-1, ITEMS) > 0 && pvm_upkint(&width, 1, 1) == PvmOk);
    COMES(byte, bytes, 4);
    COMES(short, shorts, 3);
    COMES(ushort, ushorts, 2);
    COMES(int, ints, 3);
    COMES(uint, uints, 2);
    COMES(long, longs, 3);
    COMES(ulong, ulongs, 2);
    COMES(float, floats, 4);
    COMES(double, doubles, 4);
    COMES(cplx, floats, 2);
    COMES(dcplx, doubles, 2);
    MUST(pvm_upkstr(word) == PvmOk && strcmp(word, text) == 0);
    const int code = pvm_upklong(&last, 1, 1);
    if (width > (int)sizeof last)
        MUST(code == PvmOverflow);
    else
        MUST(code == PvmOk && (width == (int)sizeof last ? last == large() : last == 5));
}

int main(void)
{
    int *tids;
    const int tid = pvm_mytid(), count = pvm_siblings(&tids), one = 1;
    MUST(tid > 0 && count > 1);
    pvm_setopt(PvmAutoErr, 0);
    send_all(tids, count);
    for (int i = 0; i < count; i++)
        receive_one();
    int is_little = 0;
    memcpy(&is_little, &one, 1);
    is_little = is_little == 1;
    MUST(pvm_packf("%+ %d %d", PvmDataDefault, (int)sizeof(long), is_little) >= 0);
    MUST(pvm_send(tids[0], MACHINE) == PvmOk);
    for (int i = 0; tid == tids[0] && i < count; i++) {
        int width;
        MUST(pvm_recv(tids[i], MACHINE) > 0 && pvm_unpackf("%d %d", &width, &is_little) == PvmOk);
        printf("task %d: a long of %d bytes, the %s end first\n", i, width, is_little ? "little" : "big");
    }
    pvm_exit();
    return 0;
}
