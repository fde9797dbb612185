/* SPDX-License-Identifier: MIT */
/*
 * reverse.h -- reverses the bytes of many items at once, with the instructions that the processor
 * has for it.
 *
 * All sets of routines do the same. A copier gets its set when it is created. All sets that this
 * processor can run are listed, so that tests can compare them and benches measure them. */
#ifndef BCRI_REVERSE_H
#define BCRI_REVERSE_H

#include <stddef.h>
#include <stdint.h>

/* Item `i` of `destination` becomes item `i` of `source` with its bytes in reverse order, for items
 * of 2, 4 or 8 bytes. Addresses need no alignment; the two areas do not overlap. Nothing outside is
 * read or written. */
struct bcri_reverse {
    const char *name;
    void (*items_2)(uint8_t *destination, const uint8_t *source, size_t count);
    void (*items_4)(uint8_t *destination, const uint8_t *source, size_t count);
    void (*items_8)(uint8_t *destination, const uint8_t *source, size_t count);
};

/* The fastest set that this processor can run. */
const struct bcri_reverse *bcri_reverse_best(void);

/* Set number `idx`, from the portable one (0) to the fastest; NULL behind the last that this
 * processor can run. */
const struct bcri_reverse *bcri_reverse_nth(int idx);

#endif
