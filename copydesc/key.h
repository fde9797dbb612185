/* SPDX-License-Identifier: MIT */
/*
 * key.h -- the triples that can be reached from a descriptor: reads them once, and compares other
 * arrays with what was read.
 *
 * A descriptor is recognised by its content, never by its address. A triple of the program's array
 * is read only after a triple that leads to it was found well formed (or equal to a well-formed
 * one). So nothing behind a malformed triple or an END is ever read. */
#ifndef COPYDESC_KEY_H
#define COPYDESC_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bcri/atomics.h>

#include "triple.h"

/* Triples that follow each other. */
struct span {
    int first, count;
};

struct key {
    int *triples;     /* a copy, each at its own number; those that cannot be reached are 0; owned */
    int triple_count; /* up to the last one that can be reached */
    bool *starts;     /* by triple: whether a nested list begins there; owned */
    /* The triples that can be reached, each once, each only after one that leads to it; owned. */
    struct span *spans;
    int span_count;
};

/* Returns 0; bcrE_DESC if a triple is malformed or a list has no END (the validation checks cycles
 * and depth); bcrE_NOMEM. */
int key_read(struct key *key_out, const int *copydesc);
void key_free(struct key *key);

/* Whether the array holds what was read, from span `first_span` on. All earlier spans are known to
 * be equal. */
bool key_rest_equals(const struct key *key, const int *copydesc, int first_span);

enum { KEY_LOOKED_AT_MAX = 16 };

/* What key_look finds out about a descriptor's first list. */
struct key_look {
    uint64_t hash; /* the same for arrays that key_equals would call equal */
    int count;     /* triples in the list; 0 if there are more than KEY_LOOKED_AT_MAX, or it is malformed */
};

static inline struct key_look key_look(const int *copydesc)
{
    uint64_t hash = 0;
    const int *words = copydesc;
    for (int idx = 0; idx < KEY_LOOKED_AT_MAX; idx++, words += 3) {
        if (bcri_unlikely(!triple_good_fast(words, idx)))
            break;
        uint64_t front; /* adjust and type */
        memcpy(&front, words, sizeof front);
        hash = (hash << 9 | hash >> 55) + (front ^ (uint64_t)(uint32_t)words[2] << 20);
        if (words[1] & bcrT_END)
            return (struct key_look){hash, idx + 1};
    }
    return (struct key_look){hash, 0};
}

/* Whether the array holds what was read; for an array at which key_look has not looked. */
static inline bool key_equals_unseen(const struct key *key, const int *copydesc)
{
    const int *want = key->triples, *got = copydesc, *end = want + (ptrdiff_t)3 * key->spans[0].count;
    for (; want < end; want += 3, got += 3) {
        uint64_t a, b;
        memcpy(&a, want, sizeof a);
        memcpy(&b, got, sizeof b);
        if (((a ^ b) | (uint32_t)(want[2] ^ got[2])) != 0)
            return false; /* what follows may not exist in the program's array */
    }
    return key->span_count == 1 || key_rest_equals(key, copydesc, 1);
}

/* Whether the array holds what was read; for an array with its key_look. */
static inline bool key_equals(const struct key *key, const int *copydesc, const struct key_look *look)
{
    if (bcri_unlikely(look->count == 0 || key->spans[0].count != look->count))
        return key_rest_equals(key, copydesc, 0);
    return memcmp(key->triples, copydesc, (size_t)look->count * 3 * sizeof(int)) == 0 &&
           (key->span_count == 1 || key_rest_equals(key, copydesc, 1));
}

#endif
