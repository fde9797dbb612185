/* SPDX-License-Identifier: MIT */
/* See regions.h. */
#include "inspect/look/look_private.h"

#include <stdlib.h>

static size_t slot_of_key(uint64_t key, size_t room)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);
}

/* Room for one more at half load; both tables' sizes are powers of two. */
static bool met_grow(struct look_regions *regions)
{
    const size_t room = regions->met_room != 0 ? regions->met_room * 2 : 1024;
    if (regions->met_count * 2 < regions->met_room)
        return true;
    bcri_ref *met = calloc(room, sizeof *met);
    if (met == NULL)
        return false;
    for (size_t i = 0; i < regions->met_room; i++) {
        size_t at = slot_of_key(regions->met[i], room);
        while (regions->met[i] != 0 && met[at] != 0)
            at = (at + 1) & (room - 1);
        if (regions->met[i] != 0)
            met[at] = regions->met[i];
    }
    free(regions->met);
    regions->met = met;
    regions->met_room = room;
    return true;
}

static bool sums_grow(struct look_regions *regions)
{
    const size_t room = regions->sums_room != 0 ? regions->sums_room * 2 : 256;
    if (regions->sums_count * 2 < regions->sums_room)
        return true;
    struct look_sum *sums = calloc(room, sizeof *sums);
    if (sums == NULL)
        return false;
    for (size_t i = 0; i < regions->sums_room; i++) {
        size_t at = slot_of_key(regions->sums[i].key, room);
        while (regions->sums[i].count != 0 && sums[at].count != 0)
            at = (at + 1) & (room - 1);
        if (regions->sums[i].count != 0)
            sums[at] = regions->sums[i];
    }
    free(regions->sums);
    regions->sums = sums;
    regions->sums_room = room;
    return true;
}

bool look_regions_add(struct look_regions *regions, bcri_ref ref, uint32_t holder, bool in_cells,
                      uint16_t home, uint64_t bytes)
{
    if (!met_grow(regions) || !sums_grow(regions))
        return false;
    size_t at = slot_of_key(ref, regions->met_room);
    while (regions->met[at] != 0 && regions->met[at] != ref)
        at = (at + 1) & (regions->met_room - 1);
    if (regions->met[at] == 0) {
        regions->met[at] = ref;
        regions->met_count++;
        regions->used[home] += bytes;
    }
    const uint64_t key = (uint64_t)holder << 17 | (uint64_t)in_cells << 16 | home;
    at = slot_of_key(key, regions->sums_room);
    while (regions->sums[at].count != 0 && regions->sums[at].key != key)
        at = (at + 1) & (regions->sums_room - 1);
    struct look_sum *sum = &regions->sums[at];
    regions->sums_count += sum->count == 0;
    sum->key = key;
    sum->count++;
    sum->bytes += bytes;
    return true;
}

const struct look_sum *look_regions_next(const struct look_regions *regions, size_t *at)
{
    while (*at < regions->sums_room)
        if (regions->sums[(*at)++].count != 0)
            return &regions->sums[*at - 1];
    return NULL;
}

void look_regions_fini(struct look_regions *regions)
{
    free(regions->met);
    free(regions->sums);
}
