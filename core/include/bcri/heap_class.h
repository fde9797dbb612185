/* SPDX-License-Identifier: MIT */
/* Size classes of the comm heap, and how the blocks of a class lie in a span of pages. All
 * processes of a group agree on them (they are part of the layout).
 *
 *   data class    | header 0 | header 1 | ... | to 64 | data 0 | data 1 | ...     classes 0..63: 64..512 bytes by 64,
 *                                                                              then 8 steps to a doubling up to 64 KiB
 *   SMALL         | header 0 | data 0 | header 1 | data 1 | ...                  32 bytes of data in the header's line
 *   HEADERS       | header 0 | header 1 | ...                                    of page runs, for data above 64 KiB
 */
#ifndef BCRI_HEAP_CLASS_H
#define BCRI_HEAP_CLASS_H

#include <stdint.h>

#include "bcri/heap.h"
#include "bcri/region.h"

#define BCRI_HEAP_SPAN_MAX 65536u /* data bytes; larger blocks are page runs */

enum { BCRI_DATA_CLASSES = 64, BCRI_CLASS_SMALL = 64, BCRI_CLASS_HEADERS = 65, BCRI_HEAP_CLASSES = 66 };

struct bcri_heap_class {
    uint32_t data_bytes; /* capacity of a block */
    uint16_t pages;      /* of a span */
    uint16_t blocks;     /* in a span */
    uint32_t shift;      /* headers are 32 << shift bytes apart */
    uint32_t data_off;   /* of the first block's data */
};
extern const struct bcri_heap_class bcri_heap_classes[BCRI_HEAP_CLASSES];

/* The class of each 32 bytes of length: bcri_class_of. */
extern const uint8_t bcri_heap_class_of[BCRI_HEAP_SPAN_MAX / 32];

/* What a live block is charged with, in bytes: a region of length 0 costs one too. */
static inline uint32_t bcri_heap_charge(uint32_t length_bytes)
{
    return length_bytes + (length_bytes == 0);
}

/* The class for data of up to BCRI_HEAP_SPAN_MAX bytes. */
static inline uint32_t bcri_class_of(uint32_t length_bytes)
{
    return bcri_heap_class_of[(bcri_heap_charge(length_bytes) - 1) >> 5];
}

/* Where block `i` of a span keeps its data, from the start of the span. */
static inline uint64_t bcri_class_data(const struct bcri_heap_class *class, uint32_t i)
{
    if (class->shift != 0)
        return ((uint64_t)i << (5 + class->shift)) + class->data_off;
    return class->data_off + (uint64_t)i * class->data_bytes;
}

#endif
