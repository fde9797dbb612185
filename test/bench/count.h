/* SPDX-License-Identifier: MIT */
/*
 * count.h -- user-mode instructions of a routine.  Times drift with the machine; instructions do not.
 */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

/*
 * Instructions that body(argument, n) takes per unit of n, or a negative number where they cannot
 * be counted: no hardware counters and no single-stepping here (then: callgrind, see the README).
 * body is called several times, with n up to count, and must do the same work for each unit. */
double bench_count_instructions(void (*body)(void *argument, long n), void *argument, long count);

#endif
