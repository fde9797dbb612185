/* SPDX-License-Identifier: MIT */
/* unlike_pvm2.c -- enl -n COUNT unlike_pvm2 COUNT: instances of PVM 2.4 on unlike machines send each other values of each kind, and
 * a long that not all of them have. Each prints what machine it is on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvm.h>

#define ALL "unlike"
enum { VALUES = 1 };

#define MUST(condition)                                                              \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "unlike_pvm2: line %d: not %s\n", __LINE__, #condition); \
            exit(3);                                                                 \
        }                                                                            \
    } while (0)

static const short shorts[3] = {-32768, -2, 32767};
static const int ints[3] = {-2147483647 - 1, -2, 2147483647};
static const long longs[3] = {-2147483647L - 1, 258, 2147483647L};
static const float floats[4] = {0, -1.5F, 1.17549435e-38F, 3.4e38F};
static const double doubles[4] = {0, -1.5, 2.2250738585072014e-308, 1.7e308};
static const char bytes[4] = {0, 127, (char)-128, (char)-1}, text[] = "a string, which no machine turns";

/* Where a long has 64 bits, one that has more than 32. */
static long large(void)
{
    long value = 5;
    for (int i = 0; i < 9 && sizeof value == 8; i++)
        value *= 10;
    return value;
}

static void send_all(void)
{
    const int width = (int)sizeof(long);
    const long last = large();
    MUST(initsend() == 0 && putnint(&width, 1) == 0 && putbytes(bytes, 4) == 0);
    MUST(putnshort(shorts, 3) == 0 && putnint(ints, 3) == 0 && putnlong(longs, 3) == 0);
    MUST(putnfloat(floats, 4) == 0 && putndfloat(doubles, 4) == 0);
    MUST(putncplx(floats, 2) == 0 && putndcplx(doubles, 2) == 0);
    MUST(putstring(text) == 0 && putnlong(&last, 1) == 0 && snd(ALL, -1, VALUES) == 0);
}

static int are_same(const void *got, const void *wanted, size_t length)
{
    return memcmp(got, wanted, length) == 0;
}

#define COMES(name, items, many)                                                     \
    do {                                                                             \
        char got[sizeof(items)];                                                     \
        MUST(get##name((void *)got, many) == 0 && are_same(got, items, sizeof got)); \
    } while (0)

static void receive_one(void)
{
    int width;
    char word[sizeof text];
    long last = 0;
    MUST(rcv(VALUES) == VALUES && getnint(&width, 1) == 0);
    COMES(bytes, bytes, 4);
    COMES(nshort, shorts, 3);
    COMES(nint, ints, 3);
    COMES(nlong, longs, 3);
    COMES(nfloat, floats, 4);
    COMES(ndfloat, doubles, 4);
    COMES(ncplx, floats, 2);
    COMES(ndcplx, doubles, 2);
    MUST(getstring(word) == 0 && strcmp(word, text) == 0);
    const int code = getnlong(&last, 1);
    if (width > (int)sizeof last)
        MUST(code == PvmBadParam);
    else
        MUST(code == 0 && (width == (int)sizeof last ? last == large() : last == 5));
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0, one = 1;
    char first;
    MUST(enroll(ALL) >= 0 && count > 1 && barrier(ALL, count) == 0);
    send_all();
    for (int i = 1; i < count; i++)
        receive_one();
    memcpy(&first, &one, 1);
    printf("a long of %d bytes, the %s end first\n", (int)sizeof(long), first == 1 ? "little" : "big");
    leave();
    return 0;
}
