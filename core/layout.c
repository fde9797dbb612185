/* SPDX-License-Identifier: MIT */
/* The layout signature of this layer: layout.h. FNV-1a:
 * http://www.isthe.com/chongo/tech/comp/fnv/ */
#include "bcri/layout.h"

#include "bcri/atomics.h"
#include "bcri/heap.h"
#include "bcri/heap_class.h"
#include "bcri/host.h"
#include "bcri/journal.h"
#include "bcri/record.h"
#include "bcri/ref.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/trace.h"
#include "bcri/tx.h"

#define STRUCT   BCRI_LAYOUT_STRUCT
#define FIELD    BCRI_LAYOUT_FIELD
#define FLEXIBLE BCRI_LAYOUT_FLEXIBLE
#define VALUE    BCRI_LAYOUT_VALUE
static const struct bcri_layout_part core_parts[] = {
#include "layout_core.inc"
    VALUE(BCRI_CACHELINE) VALUE(sizeof(void *))};

#define FNV_OFFSET 2166136261u
#define FNV_PRIME  16777619u

static uint32_t fold_byte(uint32_t hash, unsigned byte)
{
    return (hash ^ (byte & 0xffu)) * FNV_PRIME;
}

static uint32_t fold_value(uint32_t hash, uint64_t value)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = fold_byte(hash, (unsigned)(value >> shift));
    return hash;
}

uint32_t bcri_layout_fold(uint32_t below, const struct bcri_layout_part *parts, size_t count)
{
    uint32_t hash = below;
    for (size_t i = 0; i < count; i++) {
        for (const char *c = parts[i].name; *c != '\0'; c++)
            hash = fold_byte(hash, (unsigned char)*c);
        hash = fold_value(hash, parts[i].value);
    }
    return hash;
}

/* The table of size classes is no struct, so the generated list does not have it. */
static uint32_t fold_classes(uint32_t hash)
{
    for (int i = 0; i < BCRI_HEAP_CLASSES; i++) {
        const struct bcri_heap_class *class = &bcri_heap_classes[i];
        const struct bcri_layout_part parts[] = {{"data_bytes", class->data_bytes},
                                                 {"pages", class->pages},
                                                 {"blocks", class->blocks},
                                                 {"shift", class->shift},
                                                 {"data_off", class->data_off}};
        hash = bcri_layout_fold(hash, parts, sizeof parts / sizeof parts[0]);
    }
    return hash;
}

uint32_t bcri_core_layout(void)
{
    return fold_classes(bcri_layout_fold(FNV_OFFSET, core_parts, sizeof core_parts / sizeof core_parts[0]));
}
