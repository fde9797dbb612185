/* SPDX-License-Identifier: MIT */
/* The shared memory of a host as a helper sees it: mapped for reading only, each segment when it is
 * first needed.
 *
 * The program runs on meanwhile. What is read here may be half of a change, or belong to something
 * else by the time it is followed; so each reference is compared with the segment in which it lies,
 * and whoever follows a list bounds it. A read can change nothing. A segment whose pages are given
 * back at this moment reads as zero. */
#ifndef ENL_LOOK_MEMORY_H
#define ENL_LOOK_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "bcri/host.h"
#include "bcri/record.h"
#include "bcri/ref.h"

struct look_memory {
    const struct bcri_host_shm *host;
    /* How a segment is mapped: NULL where there is none. */
    const void *(*map)(void *data, uint32_t seg, size_t *size_out);
    void *data;
    struct {
        const unsigned char *base;
        size_t size;
        int tried;
    } segments[BCRI_SEG_MAX];
};

/* NULL, or why the host cannot be looked at. */
const char *look_memory_open(struct look_memory *memory);
/* What lies at `ref`; NULL if `bytes` bytes do not lie there. */
const void *look_at(struct look_memory *memory, bcri_ref ref, uint64_t bytes);
/* The record of that index; NULL: there is none. */
const struct bcri_record_shm *look_record(struct look_memory *memory, uint32_t index);

#endif
