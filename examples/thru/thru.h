/* SPDX-License-Identifier: MIT */
/*
 * thru.h -- what thrut (the taker) and thrup (the putter) agree on.
 */
#ifndef THRU_H
#define THRU_H

#include <bcr.h>
#include <stdint.h>

/* The taker's cells. */
enum { STREAM = 1, REPORT = 2 };

/* The taker's order, in the putter's birth region. */
struct order {
    int count;  /* regions to put */
    int bytes;  /* length of each, a multiple of the word */
    int window; /* regions that the taker's cells hold: so many are under way */
};
static const int ORDER[] = {0, bcrT_INT | bcrT_END, 3};
enum { ORDER_BYTES = 64 };

/* The putter's report, when all has been put. */
static const int SECONDS[] = {0, bcrT_DOUBLE | bcrT_END, 1};

/* Every word of a region is its number in the stream, mixed with the word's place. */
typedef uint64_t word;
static inline word thru_word(int number, size_t place)
{
    return ((word)number << 32) ^ place;
}

#endif
