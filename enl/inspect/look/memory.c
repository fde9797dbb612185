/* SPDX-License-Identifier: MIT */
/* See memory.h. */
#include "inspect/look/look_private.h"

#include "bcri/signature.h"

static const unsigned char *segment(struct look_memory *memory, uint32_t seg, size_t *size_out)
{
    if (seg >= BCRI_SEG_MAX)
        return NULL;
    if (!memory->segments[seg].tried) {
        memory->segments[seg].tried = 1;
        memory->segments[seg].base = memory->map(memory->data, seg, &memory->segments[seg].size);
    }
    *size_out = memory->segments[seg].size;
    return memory->segments[seg].base;
}

const char *look_memory_open(struct look_memory *memory)
{
    size_t size = 0;
    const struct bcri_host_shm *host = (const void *)segment(memory, BCRI_HOST_SEG, &size);
    if (host == NULL)
        return "the daemon gives no access to the program's memory";
    if (size < sizeof *host || host->magic != BCRI_HOST_MAGIC)
        return "the program's memory makes no sense";
    if (host->layout != bcri_layout_signature())
        return "the program was built for another version of BCR than this enl";
    memory->host = host;
    return NULL;
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
    if (index >= bcri_host_records(memory->host))
        return NULL;
    const uint32_t seg = bcri_load_acquire(&memory->host->record_seg[index / BCRI_RECORDS_PER_SEG]);
    if (seg == 0)
        return NULL;
    return look_at(memory, bcri_ref_make(seg, (uint64_t)(index % BCRI_RECORDS_PER_SEG) * BCRI_RECORD_BYTES),
                   BCRI_RECORD_BYTES);
}
