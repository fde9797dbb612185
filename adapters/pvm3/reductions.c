/* SPDX-License-Identifier: MIT */
/* reductions.c -- the functions that pvm_reduce is given: x becomes the larger, the smaller, the sum or the product of x and y, item
 * by item. Overflows of integers wrap, as they did. */
#include <stdbool.h>

#include "pvm_private.h"

/* Where there are more than two integers' worth of bits, sums and products are made of unsigned ones: those may wrap. */
#define EACH_INTEGER(X)                     \
    X(PVM_SHORT, short, unsigned)           \
    X(PVM_INT, int, unsigned)               \
    X(PVM_LONG, long, unsigned long)        \
    X(PVM_USHORT, unsigned short, unsigned) \
    X(PVM_UINT, unsigned, unsigned)         \
    X(PVM_ULONG, unsigned long, unsigned long)
#define EACH_FRACTION(X)       \
    X(PVM_FLOAT, float, float) \
    X(PVM_DOUBLE, double, double)

#define LARGER(type, wide, x, y)  ((y) > (x) ? (y) : (x))
#define SMALLER(type, wide, x, y) ((y) < (x) ? (y) : (x))
#define SUM(type, wide, x, y)     ((type)((wide)(x) + (wide)(y)))
#define PRODUCT(type, wide, x, y) ((type)((wide)(x) * (wide)(y)))

/* The case of a datatype. */
#define ITEMS(operation, datatype, type, wide)             \
    case datatype: {                                       \
        type *to = x;                                      \
        const type *from = y;                              \
        for (int i = 0; i < count; i++)                    \
            to[i] = operation(type, wide, to[i], from[i]); \
        return true;                                       \
    }
#define CASE_LARGER(datatype, type, wide)  ITEMS(LARGER, datatype, type, wide)
#define CASE_SMALLER(datatype, type, wide) ITEMS(SMALLER, datatype, type, wide)
#define CASE_SUM(datatype, type, wide)     ITEMS(SUM, datatype, type, wide)
#define CASE_PRODUCT(datatype, type, wide) ITEMS(PRODUCT, datatype, type, wide)

/* Complex numbers, which are pairs. */
#define PAIRS(name, type)                                                               \
    static void choose_##name(type *to, const type *from, int count, bool takes_larger) \
    {                                                                                   \
        for (int i = 0; i < 2 * count; i += 2) {                                        \
            const type own = to[i] * to[i] + to[i + 1] * to[i + 1];                     \
            const type its = from[i] * from[i] + from[i + 1] * from[i + 1];             \
            if (takes_larger ? its > own : its < own) {                                 \
                to[i] = from[i];                                                        \
                to[i + 1] = from[i + 1];                                                \
            }                                                                           \
        }                                                                               \
    }                                                                                   \
    static void multiply_##name(type *to, const type *from, int count)                  \
    {                                                                                   \
        for (int i = 0; i < 2 * count; i += 2) {                                        \
            const type real = to[i] * from[i] - to[i + 1] * from[i + 1];                \
            to[i + 1] = to[i] * from[i + 1] + to[i + 1] * from[i];                      \
            to[i] = real;                                                               \
        }                                                                               \
    }                                                                                   \
    static void add_##name(type *to, const type *from, int count)                       \
    {                                                                                   \
        for (int i = 0; i < 2 * count; i++)                                             \
            to[i] += from[i];                                                           \
    }
PAIRS(floats, float)
PAIRS(doubles, double)

static bool choose_complex(int datatype, void *x, const void *y, int count, bool takes_larger)
{
    if (datatype == PVM_CPLX)
        choose_floats(x, y, count, takes_larger);
    else if (datatype == PVM_DCPLX)
        choose_doubles(x, y, count, takes_larger);
    return datatype == PVM_CPLX || datatype == PVM_DCPLX;
}

static bool make_larger(int datatype, void *x, const void *y, int count)
{
    switch (datatype) {
        EACH_INTEGER(CASE_LARGER)
        EACH_FRACTION(CASE_LARGER)
        CASE_LARGER(PVM_BYTE, signed char, int)
    default: return choose_complex(datatype, x, y, count, true);
    }
}

static bool make_smaller(int datatype, void *x, const void *y, int count)
{
    switch (datatype) {
        EACH_INTEGER(CASE_SMALLER)
        EACH_FRACTION(CASE_SMALLER)
        CASE_SMALLER(PVM_BYTE, signed char, int)
    default: return choose_complex(datatype, x, y, count, false);
    }
}

static bool make_sum(int datatype, void *x, const void *y, int count)
{
    switch (datatype) {
        EACH_INTEGER(CASE_SUM)
        EACH_FRACTION(CASE_SUM)
    case PVM_CPLX: add_floats(x, y, count); return true;
    case PVM_DCPLX: add_doubles(x, y, count); return true;
    default: return false;
    }
}

static bool make_product(int datatype, void *x, const void *y, int count)
{
    switch (datatype) {
        EACH_INTEGER(CASE_PRODUCT)
        EACH_FRACTION(CASE_PRODUCT)
    case PVM_CPLX: multiply_floats(x, y, count); return true;
    case PVM_DCPLX: multiply_doubles(x, y, count); return true;
    default: return false;
    }
}

/* NOLINTBEGIN(readability-non-const-parameter): so the interface has them */
#define FUNCTION(name, make)                                        \
    void name(int *datatype, void *x, void *y, int *num, int *info) \
    {                                                               \
        *info = make(*datatype, x, y, *num) ? PvmOk : PvmBadParam;  \
    }
FUNCTION(PvmMax, make_larger)
FUNCTION(PvmMin, make_smaller)
FUNCTION(PvmSum, make_sum)
FUNCTION(PvmProduct, make_product)
/* NOLINTEND(readability-non-const-parameter) */
