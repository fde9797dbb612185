/* SPDX-License-Identifier: MIT */
/* Programs of that time, in NX and in PVM 3: whatever the number of processes and hosts, both print what this
 * test computes alone. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "retold.h"
#include "run.h"

enum { LIMIT = 300, ROWS = 61, POINTS = 256, COLUMNS = 40 };

static struct run run;
static char wanted[2000];

static void prints(const char *variable, const char *count, bool on_hosts, const char *what, int number)
{
    char word[16];
    const char *program = run_of_environment(variable);
    snprintf(word, sizeof word, "%d", number);
    run_folder();
    if (on_hosts)
        run_start(&run, run_enl(), "--local", "2", "--per-host", count, "--map", "cyclic", "-n", count,
                  program, what, word);
    else
        run_start(&run, run_enl(), "-n", count, program, what, word);
    run_end(&run);
    if (run.status != 0)
        FAIL("%s %s among %s ends with status %d: %s", variable, what, count, run.status, run.error);
    CHECK_STR(run.text, wanted);
}

static void both_print(const char *count, const char *what, int number)
{
    for (int on_hosts = 0; on_hosts < 2; on_hosts++) {
        prints("NX_CLASSIC", count, on_hosts != 0, what, number);
        prints("PVM3_RETOLD", count, on_hosts != 0, what, number);
    }
}

TEST_TIMEOUT(a_product_of_matrices_is_that_of_one_process, LIMIT)
{
    double check = 0;
    for (long i = 0; i < ROWS; i++)
        for (long j = 0; j < ROWS; j++) {
            double sum = 0;
            for (long k = 0; k < ROWS; k++)
                sum += product_left(i, k) * product_right(k, j);
            check += sum * (double)(i % 3 + j % 4);
        }
    snprintf(wanted, sizeof wanted, "matrix: %.0f\n", check);
    both_print("1", "matrix", ROWS);
    both_print("5", "matrix", ROWS);
}

TEST_TIMEOUT(a_puzzle_has_as_many_positions_in_each_level_as_for_one_process, LIMIT)
{
    int *queue = calloc(POSITIONS, sizeof *queue), *level = calloc(POSITIONS, sizeof *level);
    CHECK(queue != NULL && level != NULL);
    int found = 1, counts[64] = {0};
    level[0] = 1;
    for (int taken = 0; taken < found; taken++) {
        int next[MOVES_MAX];
        const int own = level[queue[taken]], many = puzzle_neighbours(queue[taken], next);
        CHECK(own < 64);
        counts[own]++;
        for (int i = 0; i < many; i++)
            if (level[next[i]] == 0) {
                level[next[i]] = own + 1;
                queue[found++] = next[i];
            }
    }
    free(queue);
    free(level);
    CHECK_INT(found, POSITIONS / 2);
    int length = snprintf(wanted, sizeof wanted, "puzzle:");
    for (int i = 1; counts[i] != 0; i++)
        length += snprintf(wanted + length, sizeof wanted - (size_t)length, " %d", counts[i]);
    snprintf(wanted + length, sizeof wanted - (size_t)length, "\n");
    both_print("1", "puzzle", 0);
    both_print("5", "puzzle", 0);
}

TEST_TIMEOUT(a_fourier_transform_is_that_of_its_definition, LIMIT)
{
    double energy = 0;
    for (long i = 0; i < POINTS; i++)
        energy += fourier_input(i) * fourier_input(i);
    snprintf(wanted, sizeof wanted, "fft: energy %.3f, error small\n", energy);
    both_print("1", "fft", POINTS);
    both_print("8", "fft", POINTS);
}

TEST_TIMEOUT(a_cholesky_factorization_finds_the_factor, LIMIT)
{
    double sum = 0;
    for (long i = 0; i < COLUMNS; i++)
        for (long j = 0; j < COLUMNS; j++)
            sum += cholesky_factor(i, j, COLUMNS);
    snprintf(wanted, sizeof wanted, "cholesky: sum %.3f, error small\n", sum);
    both_print("1", "cholesky", COLUMNS);
    both_print("4", "cholesky", COLUMNS);
}
