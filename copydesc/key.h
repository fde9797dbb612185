/* SPDX-License-Identifier: MIT */
/*
 * key.h -- the triples that can be reached from a descriptor: reading them, once, and comparing with what was read.
 *
 * A descriptor is known by its content, never by its address. No triple of the program's array is read before one that
 * leads to it was found good (or equal to a good one): so nothing behind a malformed triple or an END is ever touched.
 */
#ifndef COPYDESC_KEY_H
#define COPYDESC_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Triples that follow each other. */
struct span {
    int first, count;
};

struct key {
    int *triples;     /* a copy, each at its own number; those that cannot be reached are 0; owned */
    int triple_count; /* up to the last one that can be reached */
    struct span
        *spans; /* those that can be reached, each once, each only after one that leads to it; owned */
    int span_count;
};

/* 0; bcrE_DESC if a triple is malformed or a list has no END (cycles and depth are the survey's business); bcrE_NOMEM. */
int key_read(struct key *key_out, const int *copydesc);
void key_free(struct key *key);

/* Does the array hold what was read? */
bool key_equals(const struct key *key, const int *copydesc);

/* The same for arrays that key_equals would call equal. Looks at the first list only. */
uint32_t key_hash(const int *copydesc);

#endif
