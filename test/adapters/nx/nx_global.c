/* SPDX-License-Identifier: MIT */
/* nx_global.c -- scenarios of what all nodes do together. */
#include "nx_members.h"

enum { N = 5 };

/* Each operation by its definition, against what the nodes give: element i of a node is start(node, i). */
#define CHECK_OPERATION(name, element, start, combined) \
    do {                                                \
        element x[N], work[N];                          \
        for (int i = 0; i < N; i++) {                   \
            const long node = me;                       \
            x[i] = (element)(start);                    \
        }                                               \
        name(x, N, work);                               \
        for (int i = 0; i < N; i++) {                   \
            long node = 0;                              \
            element a = (element)(start);               \
            for (node = 1; node < nodes; node++) {      \
                const element b = (element)(start);     \
                a = (element)(combined);                \
            }                                           \
            MUST(memcmp(&x[i], &a, sizeof a) == 0);     \
        }                                               \
    } while (0)

#define CHECK_NUMBERS(letter, element)                                                    \
    CHECK_OPERATION(g##letter##sum, element, node * 3 + i, a + b);                        \
    CHECK_OPERATION(g##letter##prod, element, (node + i) % 3 + 1, a * b);                 \
    CHECK_OPERATION(g##letter##high, element, (node * 5 + i * 3) % 7 - 3, a > b ? a : b); \
    CHECK_OPERATION(g##letter##low, element, (node * 5 + i * 3) % 7 - 3, a < b ? a : b)

void operations(void)
{
    CHECK_NUMBERS(d, double);
    CHECK_NUMBERS(i, long);
    CHECK_NUMBERS(s, float);
    CHECK_OPERATION(giand, long, -1 ^ (1L << (node + i)), a & b);
    CHECK_OPERATION(gior, long, 1L << (node + i), a | b);
    CHECK_OPERATION(gixor, long, node * 0x55 + i, a ^ b);
    CHECK_OPERATION(gland, long, i == 0 ? node + 1 : node % (i + 1), (a != 0) && (b != 0));
    CHECK_OPERATION(glor, long, i == 0 ? 0 : node % (i + 1), (a != 0) || (b != 0));
    CHECK_OPERATION(glxor, long, node % 2 == 0, (a != 0) != (b != 0));
    /* Many elements, and none. */
    const long many = 100000;
    double *x = memory(sizeof *x * (size_t)many);
    for (long i = 0; i < many; i++)
        x[i] = (double)(i + me);
    gdsum(x, many, NULL);
    for (long i = 0; i < many; i++)
        MUST(x[i] == (double)(i * nodes + nodes * (nodes - 1) / 2));
    free(x);
    gisum(NULL, 0, NULL);
}

void collections(void)
{
    unsigned char *mine = memory(100), *all = memory(10000);
    long *lengths = memory(sizeof *lengths * (size_t)nodes), sum = -1, at = 0;
    fill(mine, me * 3, me, 1);
    gcol(mine, me * 3, all, 10000, &sum);
    for (long node = 0; node < nodes; at += 3 * node++)
        must_be_filled(all + at, node * 3, node, 1);
    MUST(sum == at);
    for (long node = 0; node < nodes; node++)
        lengths[node] = (nodes - node) * 2;
    fill(mine, lengths[me], me, 2);
    gcolx(mine, lengths, all);
    at = 0;
    for (long node = 0; node < nodes; at += lengths[node++])
        must_be_filled(all + at, lengths[node], node, 2);
    free(mine);
    free(all);
    free(lengths);
}

/* Two by two matrices, whose product needs its order. */
static long multiply(void *x, void *work)
{
    long *a = x, product[4];
    const long *b = work;
    for (int i = 0; i < 4; i++)
        product[i] = a[i & 2] * b[i & 1] + a[(i & 2) + 1] * b[2 + (i & 1)];
    memcpy(a, product, sizeof product);
    return 0;
}

void own_operation(void)
{
    long x[4] = {1, me + 1, 0, 1}, work[4], wanted[4] = {1, 1, 0, 1};
    if (me % 2 == 1) {
        x[1] = 0;
        x[2] = 1;
    }
    gopf(x, sizeof x, work, (nx_operation *)multiply);
    for (long node = 1; node < nodes; node++) {
        long next[4] = {1, node + 1, 0, 1};
        if (node % 2 == 1) {
            next[1] = 0;
            next[2] = 1;
        }
        multiply(wanted, next);
    }
    MUST(memcmp(x, wanted, sizeof x) == 0);
}

void lists(void)
{
    long list[64], count = 0, got;
    for (long node = 0; node < nodes; node += 2)
        list[count++] = node;
    if (me == 0) /* to itself, too */
        gsendx(1, &me, sizeof me, list, count);
    gsync();
    MUST(iprobe(1) == (me % 2 == 0));
    if (me % 2 == 0)
        crecv(1, &got, sizeof got);
    gsendx(1, &me, sizeof me, list, 0);
    list[0] = -1;
    MUST_FAIL(_gsendx(1, &me, sizeof me, list, 1), EQNODE);
    MUST_FAIL(_gsendx(1, &me, sizeof me, NULL, 1), EQPBUF);
    MUST_FAIL(_gsendx(1, &me, sizeof me, list, -1), EQPARAM);
}

void small_buffer(void)
{
    char mine[16] = "0123456789", all[200];
    long sum = -1;
    if (me == 0)
        MUST_FAIL(_gcol(mine, 10, all, 10 * nodes - 1, &sum), EQBLEN);
    else
        MUST(_gcol(mine, 10, all, 10 * nodes, &sum) == 0 && sum == 10 * nodes);
    sum = 1; /* and all can go on */
    gisum(&sum, 1, NULL);
    MUST(sum == nodes);
}
