/* SPDX-License-Identifier: MIT */
/* nx_classic.c -- programs of that time, retold: nx_classic ring|matrix|puzzle|fft|cholesky [NUMBER]. Node 0 prints a result that does not depend on
 * the number of nodes. */
#include "nx_classic.h"

long me, nodes;
int number;

void *memory(size_t bytes)
{
    void *block = malloc(bytes > 0 ? bytes : 1);
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
            a[i * number + k] = (double)((first + i + k) % 7);
            b[i * number + k] = (double)((first + i) * k % 5); /* column first + i of B */
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
enum { POSITIONS = 362880, MOVES_MAX = 4 };

static int rank_of(const int *tiles)
{
    int rank = 0;
    for (int i = 0; i < 9; i++) {
        int smaller = 0;
        for (int j = i + 1; j < 9; j++)
            smaller += tiles[j] < tiles[i];
        rank = rank * (9 - i) + smaller;
    }
    return rank;
}

static void unrank(int rank, int *tiles)
{
    int digits[9], left[9];
    for (int i = 8; i >= 0; i--) {
        digits[i] = rank % (9 - i);
        rank /= 9 - i;
        left[i] = i;
    }
    for (int i = 0; i < 9; i++) {
        tiles[i] = left[digits[i]];
        memmove(&left[digits[i]], &left[digits[i] + 1], (size_t)(8 - digits[i]) * sizeof left[0]);
    }
}

static int neighbours(int position, int *next)
{
    static const int steps[4] = {-3, 3, -1, 1};
    int tiles[9], blank = 0, count = 0;
    unrank(position, tiles);
    while (tiles[blank] != 0)
        blank++;
    for (int i = 0; i < 4; i++) {
        const int to = blank + steps[i];
        if (to < 0 || to > 8 || (i >= 2 && to / 3 != blank / 3))
            continue;
        tiles[blank] = tiles[to];
        tiles[to] = 0;
        next[count++] = rank_of(tiles);
        tiles[to] = tiles[blank];
        tiles[blank] = 0;
    }
    return count;
}

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
        const int solved[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        add(&now, known, rank_of(solved)); /* its rank is 0, so it is node 0's */
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
            const int count = neighbours(now.positions[i], reached);
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
