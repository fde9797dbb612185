/* SPDX-License-Identifier: MIT */
/* What combines two arrays of numbers: a list of operations, of which global.c and fortran_global.c make routines. */
#ifndef NX_GLOBAL_H
#define NX_GLOBAL_H

#include "nx_private.h"

/* argument: an int, how many elements there are. */
typedef void nxi_combiner(void *into, const void *from, void *argument);

/* n elements of `size` bytes. */
long nxi_combine(void *x, long n, size_t size, nxi_combiner *combine);

/* X(name, element, what becomes of an a and a b): of one letter, and of bits and truth. */
#define NXI_COMBINERS(letter, element, X)      \
    X(g##letter##sum, element, a + b)          \
    X(g##letter##prod, element, a *b)          \
    X(g##letter##high, element, a > b ? a : b) \
    X(g##letter##low, element, a < b ? a : b)
#define NXI_BIT_COMBINERS(element, X) \
    X(giand, element, a &b)           \
    X(gior, element, a | b)           \
    X(gixor, element, a ^ b)          \
    X(gland, element, a &&b)          \
    X(glor, element, a || b)          \
    X(glxor, element, !a != !b)

#define NXI_COMBINER(name, element, result)                                  \
    static void name##_combine(void *into, const void *from, void *argument) \
    {                                                                        \
        element *x = into;                                                   \
        const element *y = from;                                             \
        for (int i = 0; i < *(const int *)argument; i++) {                   \
            const element a = x[i], b = y[i];                                \
            x[i] = result;                                                   \
        }                                                                    \
    }

#endif
