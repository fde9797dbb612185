/* SPDX-License-Identifier: MIT */
/* The layout signature: one number for all that two processes must agree on to share memory.
 *
 * Each layer that lays out shared memory folds its own part into the number of the layers below.
 * Its part is the size and offset of each field of each struct ..._shm and the value of each
 * constant, with their names (so it shows when two fields of one size change places). The list is
 * made from the headers at build time (cmake/BcrLayout.cmake), so that a new field cannot be
 * forgotten. The highest layer's number is bcri_layout_signature() (cells, bcri/signature.h). The
 * daemon writes it into the host segment; each CCE compares that with its own and sends its own in
 * its hello.
 *
 * A change that no list shows, such as another meaning of a journal's phase or another order of
 * stores, must raise BCRI_LAYOUT_VERSION (host.h). The byte order is part of the archtype, which is
 * compared separately. */
#ifndef BCRI_LAYOUT_H
#define BCRI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct bcri_layout_part {
    const char *name;
    uint64_t value;
};

/* What the lines of a generated list mean. A field's value is its offset and its size. */
#define BCRI_LAYOUT_SIZES(where, size) ((uint64_t)(where) << 32 | (uint64_t)(size))
#define BCRI_LAYOUT_STRUCT(type)       {"struct " #type, sizeof(struct type)},
#define BCRI_LAYOUT_FIELD(type, field) \
    {#type "." #field, BCRI_LAYOUT_SIZES(offsetof(struct type, field), sizeof(((struct type *)0)->field))},
#define BCRI_LAYOUT_FLEXIBLE(type, field) \
    {#type "." #field, BCRI_LAYOUT_SIZES(offsetof(struct type, field), sizeof(((struct type *)0)->field[0]))},
#define BCRI_LAYOUT_VALUE(name) {#name, (uint64_t)(name)},

/* Folds `count` parts into `below`: FNV-1a over names and values. */
uint32_t bcri_layout_fold(uint32_t below, const struct bcri_layout_part *parts, size_t count);

/* The number of this layer, the lowest. */
uint32_t bcri_core_layout(void);

#endif
