/* SPDX-License-Identifier: MIT */
/* retold.h -- what the programs of that time compute, whatever interface they are written in. */
#ifndef RETOLD_H
#define RETOLD_H

#include <complex.h>

/* The puzzle of eight tiles: positions have numbers, the solved one is 0. */
enum { POSITIONS = 362880, MOVES_MAX = 4 };
/* Writes the positions that are one move away, and returns how many there are. */
int puzzle_neighbours(int position, int *next);

/* A Fourier transform of `length` points, a power of 2: the points, a root of unity, the transform by its
 * definition, and an index with its bits in reverse. */
double fourier_input(long index);
complex double fourier_root(long index, long length);
complex double fourier_defined(long frequency, long length);
long fourier_reversed(long index, long length);

/* The factor that a Cholesky factorization is to find, and the matrix of `rows` rows that is to be factored. */
double cholesky_factor(long row, long column, long rows);
double cholesky_matrix(long row, long column, long rows);

/* Two matrices, of which the product is to be made. */
double product_left(long row, long column);
double product_right(long row, long column);

#endif
