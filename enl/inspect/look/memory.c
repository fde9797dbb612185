/* SPDX-License-Identifier: MIT */
/* See look_private.h. */
#include "inspect/look/look_private.h"

#include <signal.h>

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
