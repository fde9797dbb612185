/* SPDX-License-Identifier: MIT */
/* The shared memory as a helper sees it; and what the parts of a look add to: its rows, and which CCEs hold regions of which heap. All
 * within bounds. */
#include "inspect/look/look_private.h"

#include <signal.h>

#include "base/grow.h"
#include "bcri/region.h"
#include "bcri/signature.h"
#include "wire/wire.h"

static const unsigned char *segment(struct look_memory *memory, uint32_t seg, size_t *size_out)
{
    if (seg >= BCRI_SEG_MAX)
        return NULL;
    if (!memory->segments[seg].tried) {
        memory->segments[seg].tried = true;
        memory->segments[seg].base = enl_far_end_map(memory->socket, seg, &memory->segments[seg].size);
    }
    *size_out = memory->segments[seg].size;
    return memory->segments[seg].base;
}

int look_memory_open(struct look_memory *memory, const char *usage)
{
    size_t size = 0;
    signal(SIGPIPE, SIG_IGN);
    memory->socket = enl_far_end_socket();
    if (memory->socket < 0) {
        fprintf(stderr, "enl: %s\n", usage);
        return 2;
    }
    memory->host = (const void *)segment(memory, BCRI_HOST_SEG, &size);
    return memory->host != NULL && size >= sizeof *memory->host && memory->host->magic == BCRI_HOST_MAGIC &&
                   memory->host->layout == bcri_layout_signature()
               ? 0
               : 1;
}

const void *look_at(struct look_memory *memory, bcri_ref ref, uint64_t bytes)
{
    size_t size = 0;
    const uint64_t offset = bcri_ref_offset(ref);
    const unsigned char *base =
        ref != BCRI_REF_NONE && ref >> BCRI_REF_BITS == 0 ? segment(memory, bcri_ref_seg(ref), &size) : NULL;
    return base != NULL && offset < size && bytes <= size - offset ? base + offset : NULL;
}

const struct bcri_record_shm *look_record(struct look_memory *memory, uint32_t index)
{
    const uint32_t seg = bcri_load_acquire(&memory->host->record_seg[index / BCRI_RECORDS_PER_SEG]);
    const bcri_ref ref = bcri_ref_make(seg, (uint64_t)(index % BCRI_RECORDS_PER_SEG) * BCRI_RECORD_BYTES);
    const struct bcri_record_shm *record = seg != 0 ? look_at(memory, ref, BCRI_RECORD_BYTES) : NULL;
    return record != NULL && bcri_load(&record->id.pid) != memory->host->enl_pid ? record : NULL;
}

/* ---- what a look writes ---- */

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
