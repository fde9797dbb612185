/* SPDX-License-Identifier: MIT */
/* retold.c -- see retold.h. */
#include "retold.h"

#include <math.h>
#include <string.h>

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

int puzzle_neighbours(int position, int *next)
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

double fourier_input(long index)
{
    return (double)(index * index % 17 - 8);
}

complex double fourier_root(long index, long length)
{
    return cexp(-2 * acos(-1) * I * (double)index / (double)length);
}

complex double fourier_defined(long frequency, long length)
{
    complex double sum = 0;
    for (long i = 0; i < length; i++)
        sum += fourier_input(i) * fourier_root(i * frequency % length, length);
    return sum;
}

long fourier_reversed(long index, long length)
{
    long result = 0;
    for (long bit = 1; bit < length; bit *= 2, index /= 2)
        result = result * 2 + index % 2;
    return result;
}

double cholesky_factor(long row, long column, long rows)
{
    return row < column    ? 0
           : row == column ? (double)(rows + row % 3)
                           : (double)((row * 3 + column * 5) % 7 - 3);
}

double cholesky_matrix(long row, long column, long rows)
{
    double sum = 0;
    for (long k = 0; k <= column && k <= row; k++)
        sum += cholesky_factor(row, k, rows) * cholesky_factor(column, k, rows);
    return sum;
}

double product_left(long row, long column)
{
    return (double)((row + column) % 7);
}

double product_right(long row, long column)
{
    return (double)(column * row % 5);
}
