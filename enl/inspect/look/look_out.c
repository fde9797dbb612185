/* SPDX-License-Identifier: MIT */
/* What the parts of a look add to: its rows, and who holds regions of whose heap. All within bounds. */
#include "bcri/region.h"

#include "base/grow.h"
#include "inspect/look/look_private.h"

void look_say(struct look *look, struct look_row *row)
{
    if (look->rows >= LOOK_ROWS_MAX && row->kind != LOOK_KIND_END) {
        look->cut = true;
        return;
    }
    row->host.host = look->host; /* the first field of each kind */
    look->rows++;
    look->gone = look->gone || !look_write(stdout, row);
}

bool look_step(struct look *look)
{
    if (++look->steps > LOOK_STEPS_MAX)
        look->cut = true;
    return !look->cut && !look->gone;
}

uint64_t look_at_region(struct look *look, bcri_ref region, uint32_t holder, bool in_cells)
{
    region &= BCRI_REF_MASK;
    const struct bcri_region_shm *header = look_at(&look->memory, region, sizeof *header);
    if (header == NULL || BCRI_COUNT(bcri_load(&header->count)) == 0 || !look_step(look))
        return 0;
    const uint32_t length = header->length;
    if (enl_grow(&look->held, &look->held_room, look->held_count + 1, sizeof *look->held))
        look->held[look->held_count++] = (struct look_held){region, holder, in_cells, header->home, length};
    else
        look->cut = true;
    return length;
}

static int by_region(const void *left, const void *right)
{
    const struct look_held *a = left, *b = right;
    return (a->region > b->region) - (a->region < b->region);
}

static int by_holder(const void *left, const void *right)
{
    const struct look_held *a = left, *b = right;
    if (a->holder != b->holder)
        return a->holder < b->holder ? -1 : 1;
    if (a->in_cells != b->in_cells)
        return a->in_cells ? 1 : -1;
    return a->home - b->home;
}

void look_say_held(struct look *look)
{
    static uint64_t used[65536]; /* bytes of the regions, by home */
    if (look->held_count != 0)
        qsort(look->held, look->held_count, sizeof *look->held, by_region);
    for (size_t i = 0; i < look->held_count; i++)
        if (i == 0 || look->held[i].region != look->held[i - 1].region)
            used[look->held[i].home] += look->held[i].bytes;
    for (size_t i = 0; i < look->cce_count; i++) {
        look->cces[i].cce.used = used[look->cces[i].cce.index];
        look_say(look, &look->cces[i]);
    }
    if (look->held_count != 0)
        qsort(look->held, look->held_count, sizeof *look->held, by_holder);
    for (size_t i = 0; i < look->held_count;) {
        const struct look_held *first = &look->held[i];
        struct look_row row = {
            .kind = LOOK_KIND_HOLD,
            .hold = {.holder = first->holder, .in_cells = first->in_cells, .home = first->home}};
        for (; i < look->held_count && by_holder(first, &look->held[i]) == 0; i++) {
            row.hold.regions++;
            row.hold.bytes += look->held[i].bytes;
        }
        look_say(look, &row);
    }
}
