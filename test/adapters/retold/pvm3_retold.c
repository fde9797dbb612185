/* SPDX-License-Identifier: MIT */
/* pvm3_retold.c -- enl -n COUNT pvm3_retold matrix|puzzle|fft|cholesky NUMBER: programs of that time, in PVM 3. Task 0 prints a
 * result that does not depend on the number of tasks, and each compares its part with what one process computes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvm3.h>

#include "retold.h"

/* What goes wrong ends the task with status 3. */
#define MUST(condition)                                                                              \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            fprintf(stderr, "pvm3_retold: line %d: not %s (%d)\n", __LINE__, #condition, pvm_errno); \
            exit(3);                                                                                 \
        }                                                                                            \
    } while (0)

#define GROUP "retold"
enum { PART = 1000, TOTAL = 2000, ANSWER = 2001 };

static int me, count, number;
static int *tids;

static void *memory(long items, size_t size)
{
    void *block = calloc((size_t)items + 1, size);
    MUST(block != NULL);
    return block;
}

/* What all have, combined, comes to all. */
static double of_all(void (*function)(int *, void *, void *, int *, int *), double value)
{
    const int root = pvm_getinst(GROUP, tids[0]);
    MUST(root >= 0 && pvm_reduce(function, &value, 1, PVM_DOUBLE, TOTAL, GROUP, root) == PvmOk);
    if (me == 0) {
        MUST(pvm_initsend(PvmDataDefault) > 0 && pvm_pkdouble(&value, 1, 1) == PvmOk);
        MUST(pvm_bcast(GROUP, ANSWER) == PvmOk);
    } else {
        MUST(pvm_recv(tids[0], ANSWER) > 0 && pvm_upkdouble(&value, 1, 1) == PvmOk);
    }
    return value;
}

static long start_of(int place)
{
    return (long)number * place / count;
}

/* Each has rows of the left matrix, and columns of the right one go around. */
static void matrix(void)
{
    const long first = start_of(me), rows = start_of(me + 1) - first, most = number / count + 1;
    double *columns = memory(most * number, sizeof *columns), check = 0;
    for (long j = 0; j < rows; j++)
        for (long k = 0; k < number; k++)
            columns[j * number + k] = product_right(k, first + j);
    for (int step = 0; step < count; step++) {
        const int owner = (me + step) % count, next = (owner + 1) % count;
        const long start = start_of(owner), many = start_of(owner + 1) - start;
        for (long i = first; i < first + rows; i++)
            for (long j = 0; j < many; j++) {
                double sum = 0, alone = 0;
                for (long k = 0; k < number; k++) {
                    sum += product_left(i, k) * columns[j * number + k];
                    alone += product_left(i, k) * product_right(k, start + j);
                }
                MUST(sum == alone);
                check += sum * (double)(i % 3 + (start + j) % 4);
            }
        MUST(pvm_psend(tids[(me + count - 1) % count], PART + step, columns, (int)(many * number),
                       PVM_DOUBLE) == PvmOk);
        MUST(pvm_precv(tids[(me + 1) % count], PART + step, columns,
                       (int)((start_of(next + 1) - start_of(next)) * number), PVM_DOUBLE, NULL, NULL,
                       NULL) == PvmOk);
    }
    check = of_all(PvmSum, check);
    if (me == 0)
        printf("matrix: %.0f\n", check);
    free(columns);
}

struct level {
    int *positions;
    int count;
};

static void add(struct level *level, unsigned char *known, int position)
{
    if (known[position] == 0) {
        known[position] = 1;
        level->positions[level->count++] = position;
    }
}

/* Level by level: how many positions are 0, 1, 2, ... moves away. A position belongs to one task, which gets it
 * from those that reach it. */
static void puzzle(void)
{
    const int most = POSITIONS / count + 1;
    unsigned char *known = memory(POSITIONS, 1);
    struct level now = {memory(most, sizeof(int)), 0}, next = {memory(most, sizeof(int)), 0};
    int **out = memory(count, sizeof *out), *in = memory((long)most * MOVES_MAX, sizeof *in);
    int *lengths = memory(count, sizeof *lengths);
    for (int place = 0; place < count; place++)
        out[place] = memory((long)most * MOVES_MAX, sizeof(int));
    if (me == 0)
        add(&now, known, 0);
    if (me == 0)
        printf("puzzle:");
    for (int level = 0;; level++) {
        const double all = of_all(PvmSum, now.count);
        if (all == 0)
            break;
        if (me == 0)
            printf(" %.0f", all);
        memset(lengths, 0, (size_t)count * sizeof *lengths);
        for (int i = 0; i < now.count; i++) {
            int reached[MOVES_MAX];
            const int many = puzzle_neighbours(now.positions[i], reached);
            for (int k = 0; k < many; k++)
                out[reached[k] % count][lengths[reached[k] % count]++] = reached[k];
        }
        for (int place = 0; place < count; place++) {
            MUST(pvm_initsend(PvmDataDefault) > 0 && pvm_pkint(&lengths[place], 1, 1) == PvmOk);
            MUST(pvm_pkint(out[place], lengths[place], 1) == PvmOk);
            MUST(pvm_send(tids[place], PART + level) == PvmOk);
        }
        next.count = 0;
        for (int place = 0; place < count; place++) {
            int many;
            MUST(pvm_recv(-1, PART + level) > 0 && pvm_upkint(&many, 1, 1) == PvmOk);
            MUST(many <= most * MOVES_MAX && pvm_upkint(in, many, 1) == PvmOk);
            for (int i = 0; i < many; i++)
                add(&next, known, in[i]);
        }
        const struct level swap = now;
        now = next;
        next = swap;
    }
    if (me == 0)
        printf("\n");
    for (int place = 0; place < count; place++)
        free(out[place]);
    free(out), free(in), free(lengths), free(known), free(now.positions), free(next.positions);
}

/* As a hypercube: a power of 2 of tasks, each with a block, which it exchanges with the one whose place differs in one bit. */
static void fft(void)
{
    const long own = number / count, first = me * own;
    complex double *x = memory(own, sizeof *x), *other = memory(own, sizeof *other);
    for (long i = 0; i < own; i++)
        x[i] = fourier_input(first + i);
    for (long half = number / 2; half >= own; half /= 2) {
        const int partner = me ^ (int)(half / own);
        MUST(pvm_psend(tids[partner], PART + (int)half, x, (int)own, PVM_DCPLX) == PvmOk);
        MUST(pvm_precv(tids[partner], PART + (int)half, other, (int)own, PVM_DCPLX, NULL, NULL, NULL) ==
             PvmOk);
        for (long i = 0; i < own; i++)
            x[i] = me < partner ? x[i] + other[i]
                                : (other[i] - x[i]) * fourier_root((first + i) % half, 2 * half);
    }
    for (long half = own / 2; half >= 1; half /= 2)
        for (long i = 0; i < own; i++)
            if ((i & half) == 0) {
                const complex double a = x[i], b = x[i + half];
                x[i] = a + b;
                x[i + half] = (a - b) * fourier_root(i % half, 2 * half);
            }
    double error = 0, energy = 0;
    for (long i = 0; i < own; i++) {
        energy += creal(x[i] * conj(x[i])) / number;
        error = fmax(error, cabs(x[i] - fourier_defined(fourier_reversed(first + i, number), number)));
    }
    error = of_all(PvmMax, error);
    energy = of_all(PvmSum, energy);
    if (me == 0)
        printf("fft: energy %.3f, error %s\n", energy, error < 1e-8 ? "small" : "large");
    free(x), free(other);
}

/* Columns of a symmetric matrix go around the tasks: which has finished a column sends it to all. */
static void cholesky(void)
{
    double **columns = memory(number, sizeof *columns), *finished = memory(number, sizeof *finished);
    double error = 0, sum = 0;
    for (int j = me; j < number; j += count) {
        columns[j] = memory(number, sizeof(double));
        for (int i = 0; i < number; i++)
            columns[j][i] = cholesky_matrix(i, j, number);
    }
    for (int k = 0; k < number; k++) {
        if (k % count == me) {
            MUST(columns[k] != NULL);
            const double diagonal = sqrt(columns[k][k]);
            for (int i = 0; i < number; i++)
                finished[i] = columns[k][i] = i < k ? 0 : columns[k][i] / diagonal;
            MUST(pvm_initsend(PvmDataDefault) > 0 && pvm_pkdouble(finished, number, 1) == PvmOk);
            MUST(pvm_mcast(tids, count, PART + k) == PvmOk);
        } else {
            MUST(pvm_recv(tids[k % count], PART + k) > 0 && pvm_upkdouble(finished, number, 1) == PvmOk);
        }
        for (int j = me; j < number; j += count)
            for (int i = j; j > k && i < number; i++)
                columns[j][i] -= finished[i] * finished[j];
    }
    for (int j = me; j < number; j += count) {
        for (int i = 0; i < number; i++) {
            error = fmax(error, fabs(columns[j][i] - cholesky_factor(i, j, number)));
            sum += columns[j][i];
        }
        free(columns[j]);
    }
    error = of_all(PvmMax, error);
    sum = of_all(PvmSum, sum);
    if (me == 0)
        printf("cholesky: sum %.3f, error %s\n", sum, error < 1e-8 ? "small" : "large");
    free(columns), free(finished);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int tid = pvm_mytid();
    count = pvm_siblings(&tids);
    number = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    MUST(tid > 0 && count > 0);
    while (tids[me] != tid)
        MUST(++me < count);
    MUST(pvm_joingroup(GROUP) >= 0 && pvm_barrier(GROUP, count) == PvmOk);
    if (strcmp(what, "matrix") == 0)
        matrix();
    else if (strcmp(what, "puzzle") == 0)
        puzzle();
    else if (strcmp(what, "fft") == 0)
        fft();
    else if (strcmp(what, "cholesky") == 0)
        cholesky();
    else
        return 2;
    MUST(pvm_barrier(GROUP, count) == PvmOk);
    pvm_exit();
    return 0;
}
