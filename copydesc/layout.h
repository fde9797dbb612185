/* SPDX-License-Identifier: MIT */
/*
 * layout.h -- size and alignment of each atomic type on one side of a copy.
 *
 * Sizes are multiples of their alignments, which are powers of two, so items of one type follow each other without
 * gaps. User-side alignments are at most LAYOUT_PHASES: that many phases are all that a position there can have.
 */
#ifndef COPYDESC_LAYOUT_H
#define COPYDESC_LAYOUT_H

#include <stdint.h>

#include <bcr/types.h>
#include <bcri/archtype.h>

enum { LAYOUT_PHASES = BCRI_ARCHTYPE_ALIGN_MAX };

struct layout {
    uint8_t size_bytes[bcrT_CCE + 1];
    uint8_t align_bytes[bcrT_CCE + 1];
};

static inline struct layout layout_of_region(int archtype)
{
    struct layout layout = {{0}, {0}};
    for (int type = bcrT_CHAR; type <= bcrT_CCE; type++) {
        layout.size_bytes[type] = (uint8_t)bcri_archtype_size(archtype, type);
        layout.align_bytes[type] = (uint8_t)bcri_archtype_align(archtype, type);
    }
    return layout;
}

/* The C ABI of this program, where a CCE is named by an int. */
static inline struct layout layout_of_user(void)
{
    struct layout layout = layout_of_region(bcri_archtype_native());
    layout.size_bytes[bcrT_CCE] = layout.size_bytes[bcrT_INT];
    layout.align_bytes[bcrT_CCE] = layout.align_bytes[bcrT_INT];
    return layout;
}

/* The first multiple of `align` (a power of two) from `pos` up; `pos` may be negative. */
static inline int64_t layout_align_up(int64_t pos, int align)
{
    return (pos + align - 1) & ~(int64_t)(align - 1);
}

#endif
