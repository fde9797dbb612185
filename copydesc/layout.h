/* SPDX-License-Identifier: MIT */
/*
 * layout.h -- how one side of a copy lays out the atomic types.
 *
 * Sizes are multiples of their alignments, which are powers of two, so items of one type follow
 * each other without gaps. No alignment exceeds LAYOUT_PHASES, so a position has one of that many
 * phases. */
#ifndef COPYDESC_LAYOUT_H
#define COPYDESC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <bcr/types.h>
#include <bcri/archtype.h>

enum { LAYOUT_PHASES = BCRI_ARCHTYPE_ALIGN_MAX };

/* Stands for the user side where a routine takes an archtype. */
enum { LAYOUT_USER = 0 };

struct layout {
    uint8_t size_bytes[bcrT_CCE + 1];
    uint8_t align_bytes[bcrT_CCE + 1];
    bool swapped; /* numbers have the other byte order than on this machine */
    bool user;    /* adjusts concern this side, and a CCE is named by an int here */
};

static inline struct layout layout_of_region(int archtype)
{
    struct layout layout = {.swapped = bcri_archtype_bigendian(archtype) !=
                                       bcri_archtype_bigendian(bcri_archtype_native())};
    for (int type = bcrT_CHAR; type <= bcrT_CCE; type++) {
        layout.size_bytes[type] = (uint8_t)bcri_archtype_size(archtype, type);
        layout.align_bytes[type] = (uint8_t)bcri_archtype_align(archtype, type);
    }
    return layout;
}

/* The C ABI of this program. */
static inline struct layout layout_of_user(void)
{
    struct layout layout = layout_of_region(bcri_archtype_native());
    layout.size_bytes[bcrT_CCE] = layout.size_bytes[bcrT_INT];
    layout.align_bytes[bcrT_CCE] = layout.align_bytes[bcrT_INT];
    layout.user = true;
    return layout;
}

static inline struct layout layout_of(int archtype)
{
    return archtype == LAYOUT_USER ? layout_of_user() : layout_of_region(archtype);
}

/* `pos` rounded up to a multiple of `align` (a power of two); `pos` may be negative. */
static inline int64_t layout_align_up(int64_t pos, int align)
{
    return (pos + align - 1) & ~(int64_t)(align - 1);
}

#endif
