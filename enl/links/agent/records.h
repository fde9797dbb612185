/* SPDX-License-Identifier: MIT */
/* Records that come and go at the rate of messages: those that were freed are used again, up to a number. Without this a
 * quarter of the agent's instructions were malloc's. */
#ifndef BCRI_AGENT_RECORDS_H
#define BCRI_AGENT_RECORDS_H

#include <stdint.h>
#include <stdlib.h>

#include "links/agent/list.h"

#ifdef __SANITIZE_ADDRESS__
enum { RECORDS_KEPT_MAX = 0 }; /* AddressSanitizer sees what is used after it was freed */
#else
enum { RECORDS_KEPT_MAX = 1024 };
#endif

/* Of one size. All zeros: none is kept. */
struct records {
    uint32_t kept;
    void *free; /* each begins with the next */
};

/* What it has is undefined. NULL: no memory. */
static inline void *record_take(struct records *records, size_t bytes)
{
    void *record = records->free;
    if (record == NULL)
        return malloc(bytes);
    records->free = *(void **)record;
    records->kept--;
    return record;
}

static inline void record_give(struct records *records, void *record)
{
    if (records->kept == RECORDS_KEPT_MAX) {
        record_free(record);
        return;
    }
    *(void **)record = records->free;
    records->free = record;
    records->kept++;
}

static inline void records_free(struct records *records)
{
    while (records->free != NULL) {
        void *next = *(void **)records->free;
        free(records->free);
        records->free = next;
    }
}

#endif
