/* SPDX-License-Identifier: MIT */
/* trio.c -- see trio.h. Doubles have few bits, so that no sum is rounded and their order has no effect. */
#include "trio.h"

void trio_begin(struct trio *token)
{
    for (int i = 0; i < TRIO_ITEMS; i++) {
        token->marks[i] = -i;
        token->parts[i] = i + 0.25;
    }
}

void trio_change(struct trio *token, int place)
{
    for (int i = 0; i < TRIO_ITEMS; i++) {
        token->marks[i] = (token->marks[i] * 5 + place + i) % 100003;
        token->parts[i] += (token->marks[i] % 16) * 0.125;
    }
}

void trio_share(struct trio *share, const struct trio *token, int place)
{
    for (int i = 0; i < TRIO_ITEMS; i++) {
        share->marks[i] = token->marks[i] ^ place;
        share->parts[i] = token->parts[i] * (place + 1);
    }
}

void trio_combine(struct trio *into, const struct trio *from)
{
    for (int i = 0; i < TRIO_ITEMS; i++) {
        if (from->marks[i] > into->marks[i])
            into->marks[i] = from->marks[i];
        into->parts[i] += from->parts[i];
    }
}

void trio_print(FILE *into, const struct trio *all, int count, int rounds)
{
    long marks = 0;
    double parts = 0;
    for (int i = 0; i < TRIO_ITEMS; i++) {
        marks += (long)all->marks[i] * (i % 3 + 1);
        parts += all->parts[i];
    }
    fprintf(into, "trio of %d, %d rounds: %ld and %.3f\n", count, rounds, marks, parts);
}
