/* SPDX-License-Identifier: MIT */
/* Codes that never reach a program: what a routine below the public ones may return besides 0 and
 * the bcrE_ codes. Each such routine says so where it is declared.
 *
 * They share an int with the bcrE_ codes, because most callers handle one of them and pass all else
 * on. A type of their own would take an out-parameter or a conversion at some thirty places, all in
 * slow routines, and a caller that forgets one of them would still compile. */
#ifndef BCRI_RESULT_H
#define BCRI_RESULT_H

/* Above every bcrE_ code. STALE: the resolved cell is out of date; NO_ROOM: the area's bound is
 * reached, or other puts wait for room. */
enum { BCRI_STALE = 1000, BCRI_NO_ROOM };

#endif
