/* SPDX-License-Identifier: MIT */
/* Codes that never reach a program: what a routine below the public ones may return besides 0 and
 * the bcrE_ codes. */
#ifndef BCRI_RESULT_H
#define BCRI_RESULT_H

/* Above every bcrE_ code. STALE: the resolved cell is out of date; NO_ROOM: the area's bound is
 * reached, or other puts wait for room. */
enum { BCRI_STALE = 1000, BCRI_NO_ROOM };

#endif
