/* SPDX-License-Identifier: MIT */
/* nx_classic.c -- programs of that time, retold: nx_classic ring|matrix|puzzle|fft|cholesky [NUMBER]. Node 0 prints a result that does not depend on
 * the number of nodes. */
#include "nx_classic.h"
#include "retold.h"

long me, nodes;
int number;

void *memory(size_t bytes)
{
    void *block = calloc(bytes + 1, 1);
    if (block == NULL)
        exit(3);
    return block;
}

/* A token goes around `number` times, and each node adds to it. */
static void ring(void)
{
    const long next = (me + 1) % nodes;
    long token = 0;
    for (int round = 0; round < number; round++) {
        if (me == 0)
            csend(round, &token, sizeof token, next, 0);
        crecv(round, &token, sizeof token);
        token++;
        if (me != 0)
            csend(round, &token, sizeof token, next, 0);
    }
    if (me == 0)
        printf("ring: %ld\n", token / nodes);
}

/* C = A * B, `number` by `number`: each node has rows of A and C, and columns of B go around. */
static long rows_of(long node)
{
    return (number * (node + 1)) / nodes - (number * node) / nodes;
}

static void matrix(void)
{
    const size_t most = (size_t)(number / nodes + 1) * (size_t)number;
    double *a = memory(most * sizeof *a), *b = memory(most * sizeof *b), *c = memory(most * sizeof *c),
           *other = memory(most * sizeof *other);
    const long first = (number * me) / nodes, rows = rows_of(me);
    for (long i = 0; i < rows; i++)
        for (long k = 0; k < number; k++) {
            a[i * number + k] = product_left(first + i, k);
            b[i * number + k] = product_right(k, first + i);
        }
    for (long step = 0; step < nodes; step++) {
        const long owner = (me + step) % nodes, columns = rows_of(owner), start = (number * owner) / nodes;
        const long receive = irecv(1, other, (long)(most * sizeof *other));
        const long send = isend(1, b, columns * number * (long)sizeof *b, (me + nodes - 1) % nodes, 0);
        for (long i = 0; i < rows; i++)
            for (long j = 0; j < columns; j++) {
                double sum = 0;
                for (long k = 0; k < number; k++)
                    sum += a[i * number + k] * b[j * number + k];
                c[i * number + start + j] = sum;
            }
        msgwait(msgmerge(receive, send));
        double *swap = b;
        b = other;
        other = swap;
    }
    double check = 0, work;
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < number; j++)
            check += c[i * number + j] * (double)((first + i) % 3 + j % 4);
    gdsum(&check, 1, &work);
    if (me == 0)
        printf("matrix: %.0f\n", check);
    free(a);
    free(b);
    free(c);
    free(other);
}

/* The puzzle of eight tiles, level by level: how many positions are 0, 1, 2, ... moves away. A position belongs to one node, which
 * gets it from those that reach it. */
struct level {
    int *positions;
    long count;
};

static void add(struct level *level, unsigned char *known, int position)
{
    if (known[position])
        return;
    known[position] = 1;
    level->positions[level->count++] = position;
}

static void puzzle(void)
{
    const long most = POSITIONS / nodes + 1;
    unsigned char *known = memory(POSITIONS);
    struct level now = {memory((size_t)most * sizeof(int)), 0},
                 next = {memory((size_t)most * sizeof(int)), 0};
    int **out = memory((size_t)nodes * sizeof *out), *in = memory((size_t)most * MOVES_MAX * sizeof *in);
    long *lengths = memory((size_t)nodes * sizeof *lengths), work;
    memset(known, 0, POSITIONS);
    for (long node = 0; node < nodes; node++)
        out[node] = memory((size_t)most * MOVES_MAX * sizeof(int));
    if (me == 0) {
        add(&now, known, 0); /* it is node 0's */
        printf("puzzle:");
    }
    for (int level = 0;; level++) {
        long all = now.count;
        gisum(&all, 1, &work);
        if (all == 0)
            break;
        if (me == 0)
            printf(" %ld", all);
        memset(lengths, 0, (size_t)nodes * sizeof *lengths);
        for (long i = 0; i < now.count; i++) {
            int reached[MOVES_MAX];
            const int count = puzzle_neighbours(now.positions[i], reached);
            for (int k = 0; k < count; k++)
                out[reached[k] % nodes][lengths[reached[k] % nodes]++] = reached[k];
        }
        for (long node = 0; node < nodes; node++)
            csend(level, out[node], lengths[node] * (long)sizeof(int), node, 0);
        next.count = 0;
        for (long k = 0; k < nodes; k++) {
            crecv(level, in, most * MOVES_MAX * (long)sizeof *in);
            for (long i = 0; i < infocount() / (long)sizeof *in; i++)
                add(&next, known, in[i]);
        }
        const struct level swap = now;
        now = next;
        next = swap;
    }
    if (me == 0)
        printf("\n");
    for (long node = 0; node < nodes; node++)
        free(out[node]);
    free(out);
    free(in);
    free(lengths);
    free(known);
    free(now.positions);
    free(next.positions);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    number = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    me = mynode();
    nodes = numnodes();
    if (strcmp(what, "ring") == 0)
        ring();
    else if (strcmp(what, "matrix") == 0)
        matrix();
    else if (strcmp(what, "puzzle") == 0)
        puzzle();
    else if (strcmp(what, "fft") == 0)
        fft();
    else if (strcmp(what, "cholesky") == 0)
        cholesky();
    else
        return 2;
    return 0;
}
