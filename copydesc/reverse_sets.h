/* SPDX-License-Identifier: MIT */
/* reverse_sets.h -- shared by the files about reversing bytes: the portable routines, which the
 * vector routines use for the items that do not fill a vector, and the list of the vector sets of
 * this architecture. */
#ifndef COPYDESC_REVERSE_SETS_H
#define COPYDESC_REVERSE_SETS_H

#include <bcri/reverse.h>

void reverse_2_portable(uint8_t *destination, const uint8_t *source, size_t count);
void reverse_4_portable(uint8_t *destination, const uint8_t *source, size_t count);
void reverse_8_portable(uint8_t *destination, const uint8_t *source, size_t count);

/* The vector sets that this processor can run, slowest first; NULL behind the last. */
const struct bcri_reverse *reverse_vector_nth(int idx);

#endif
