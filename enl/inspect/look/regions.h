/* SPDX-License-Identifier: MIT */
/* Who holds regions of whose heap: sums over what a look has met. A region that several hold counts
 * with each holder, and once in the heap that it lies in. */
#ifndef ENL_LOOK_REGIONS_H
#define ENL_LOOK_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/ref.h"

struct look_sum {
    uint64_t key;   /* holder << 17 | in_cells << 16 | home */
    uint64_t count; /* 0: no sum */
    uint64_t bytes;
};

struct look_regions {
    bcri_ref *met; /* hash table; 0: free */
    size_t met_room, met_count;
    struct look_sum *sums; /* the same */
    size_t sums_room, sums_count;
    uint64_t used[65536]; /* bytes of the regions met, by home */
};

/* `holder` holds the region at `ref`, of `bytes` bytes in the heap of `home`. False: no memory. */
bool look_regions_add(struct look_regions *regions, bcri_ref ref, uint32_t holder, bool in_cells,
                      uint16_t home, uint64_t bytes);
/* The `at`th sum and those after it; *at_out goes on from there. NULL: that was the last. */
const struct look_sum *look_regions_next(const struct look_regions *regions, size_t *at);
void look_regions_fini(struct look_regions *regions);

#endif
