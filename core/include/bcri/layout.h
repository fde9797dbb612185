/* SPDX-License-Identifier: MIT */
/* The layout signature: one number for all that two processes must agree on to share memory.
 *
 * Each floor that lays anything out there folds its own part into what the floors below have made
 * of theirs: size and place of each field of each struct ..._shm, the value of each constant, both
 * with their names (two fields of one size that change places are a change). The list is made from
 * the headers at build time (cmake/BcrLayout.cmake), so that a new field cannot be forgotten. The
 * highest floor's number, bcri_layout_signature() (cells, bcri/signature.h), is what the daemon
 * writes into the host segment, what each CCE compares with its own, and says in its hello.
 *
 * What no list shows must raise BCRI_LAYOUT_VERSION (host.h): another meaning of a journal's phase,
 * another order of stores. The byte order is in the archtype, which is compared by itself. */
#ifndef BCRI_LAYOUT_H
#define BCRI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct bcri_layout_part {
    const char *name;
    uint64_t value;
};

/* What the lines of a generated list mean. A field's value is its place and its size. */
#define BCRI_LAYOUT_SIZES(where, size) ((uint64_t)(where) << 32 | (uint64_t)(size))
#define BCRI_LAYOUT_STRUCT(type)       {"struct " #type, sizeof(struct type)},
#define BCRI_LAYOUT_FIELD(type, field) \
    {#type "." #field, BCRI_LAYOUT_SIZES(offsetof(struct type, field), sizeof(((struct type *)0)->field))},
#define BCRI_LAYOUT_FLEXIBLE(type, field) \
    {#type "." #field, BCRI_LAYOUT_SIZES(offsetof(struct type, field), sizeof(((struct type *)0)->field[0]))},
#define BCRI_LAYOUT_VALUE(name) {#name, (uint64_t)(name)},

/* Folds `count` parts into `below`: FNV-1a over names and values. */
uint32_t bcri_layout_fold(uint32_t below, const struct bcri_layout_part *parts, size_t count);

/* This floor's part. */
uint32_t bcri_core_layout(void);

#endif
