/* SPDX-License-Identifier: MIT */
/* nx_numbers.c -- a Fourier transform and a Cholesky factorization, as hypercubes computed them. */
#include <complex.h>
#include <math.h>

#include "nx_classic.h"
#include "retold.h"

/* `number` points, a power of 2; so are the nodes. Each has a block; in each step of the first it exchanges that with the node whose number
 * differs in one bit. */
void fft(void)
{
    const long own = number / nodes, first = me * own;
    complex double *x = memory((size_t)own * sizeof *x), *other = memory((size_t)own * sizeof *other);
    const long bytes = own * (long)sizeof *x;
    for (long i = 0; i < own; i++)
        x[i] = fourier_input(first + i);
    for (long half = number / 2; half >= own; half /= 2) {
        const long partner = me ^ half / own;
        if (csendrecv(half, x, bytes, partner, mypid(), half, other, bytes) != bytes || infonode() != partner)
            exit(3);
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
    double error = 0, energy = 0, work;
    for (long i = 0; i < own; i++) {
        energy += creal(x[i] * conj(x[i])) / number;
        error = fmax(error, cabs(x[i] - fourier_defined(fourier_reversed(first + i, number), number)));
    }
    gdhigh(&error, 1, &work);
    gdsum(&energy, 1, &work);
    if (me == 0)
        printf("fft: energy %.3f, error %s\n", energy, error < 1e-8 ? "small" : "large");
    free(x);
    free(other);
}

/* Of a symmetric matrix of `number` rows, whose columns go around the nodes: who has finished a column sends it to all. */
void cholesky(void)
{
    const size_t column_bytes = (size_t)number * sizeof(double);
    double **columns = memory((size_t)number * sizeof *columns), *finished = memory(column_bytes), work;
    for (long j = me; j < number; j += nodes) {
        columns[j] = memory(column_bytes);
        for (long i = 0; i < number; i++)
            columns[j][i] = cholesky_matrix(i, j, number);
    }
    for (long k = 0; k < number; k++) {
        if (k % nodes == me) {
            const double diagonal = sqrt(columns[k][k]);
            for (long i = 0; i < number; i++)
                finished[i] = columns[k][i] = i < k ? 0 : columns[k][i] / diagonal;
            csend(k, finished, (long)column_bytes, -1, mypid());
        } else {
            crecv(k, finished, (long)column_bytes);
        }
        for (long j = me; j < number; j += nodes)
            for (long i = j; j > k && i < number; i++)
                columns[j][i] -= finished[i] * finished[j];
    }
    double error = 0, sum = 0;
    for (long j = me; j < number; j += nodes) {
        for (long i = 0; i < number; i++) {
            error = fmax(error, fabs(columns[j][i] - cholesky_factor(i, j, number)));
            sum += columns[j][i];
        }
        free(columns[j]);
    }
    gdhigh(&error, 1, &work);
    gdsum(&sum, 1, &work);
    if (me == 0)
        printf("cholesky: sum %.3f, error %s\n", sum, error < 1e-8 ? "small" : "large");
    free(columns);
    free(finished);
}
