/* SPDX-License-Identifier: MIT */
/*
 * triple.h -- one triple of a copy descriptor, taken apart.
 *
 * Only this file knows the bits of the type word (drawn in <bcr/types.h>) and what makes a single
 * triple malformed. Triples are numbered from the array's first. A *list* begins at some triple and
 * ends with the next one that has bcrT_END: the descriptor itself is a list, and so is each nested
 * one. */
#ifndef COPYDESC_TRIPLE_H
#define COPYDESC_TRIPLE_H

#include <stdbool.h>
#include <stdint.h>

#include <bcr/error.h>
#include <bcr/types.h>

enum {
    TRIPLE_COUNT_MAX = 65536, /* no triple behind these is ever read */
    TRIPLE_SKIP_MASK = bcrT_SKIP_FM | bcrT_SKIP_TO,

    TRIPLE_NEST_FLAG = 1 << 29,
    TRIPLE_NEST_BIAS = 1 << 23,
    TRIPLE_LOW_MASK = (1 << 24) - 1,
    TRIPLE_FLAG_MASK = TRIPLE_SKIP_MASK | TRIPLE_NEST_FLAG | bcrT_END,
};

struct triple {
    int adjust;
    int repl;
    int skip; /* bcrT_SKIP_ flags of its own */
    bool end;
    bool nest;
    int type;   /* bcrT_CHAR to bcrT_CCE, unless nest */
    int target; /* first triple of the nested list, if nest */
};

/* Takes triple `idx` apart, which must be well formed. */
static inline struct triple triple_known(const int *triples, int idx)
{
    const int *words = triples + 3 * idx;
    int word = words[1], low = word & TRIPLE_LOW_MASK;
    return (struct triple){
        .adjust = words[0],
        .repl = words[2],
        .skip = word & TRIPLE_SKIP_MASK,
        .end = (word & bcrT_END) != 0,
        .nest = (word & TRIPLE_NEST_FLAG) != 0,
        .type = low,
        .target = idx + low - TRIPLE_NEST_BIAS,
    };
}

/* Whether triple `idx` (below TRIPLE_COUNT_MAX) with these words is well formed by itself. */
static inline bool triple_good(const int words[3], int idx)
{
    int word = words[1], low = word & TRIPLE_LOW_MASK;
    if ((word & ~(TRIPLE_FLAG_MASK | TRIPLE_LOW_MASK)) != 0 || words[2] < 0)
        return false;
    if ((word & TRIPLE_NEST_FLAG) == 0)
        return bcrT_CHAR <= low && low <= bcrT_CCE;
    int target = idx + low - TRIPLE_NEST_BIAS;
    return 0 <= target && target < TRIPLE_COUNT_MAX;
}

/* The same, with a fast answer for most well-formed triples: items of an atomic type. */
static inline bool triple_good_fast(const int words[3], int idx)
{
    uint32_t type = (uint32_t)words[1] & ~(uint32_t)(TRIPLE_SKIP_MASK | bcrT_END);
    return (type - bcrT_CHAR <= bcrT_CCE - bcrT_CHAR && words[2] >= 0) || triple_good(words, idx);
}

/* Whether an item under these flags moves the position on each side. */
static inline bool skip_moves_source(int skip)
{
    return skip == 0 || (skip & bcrT_SKIP_FM) != 0;
}

static inline bool skip_moves_destination(int skip)
{
    return skip == 0 || (skip & bcrT_SKIP_TO) != 0;
}

#endif
