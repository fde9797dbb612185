/* SPDX-License-Identifier: MIT */
/* Records of one size that come and go at the rate of messages: those that were freed are used again. */
#ifndef BCRI_AGENT_RECORDS_H
#define BCRI_AGENT_RECORDS_H

#include <stdint.h>
#include <stdlib.h>

enum { RECORDS_KEPT_MAX = 1024 };

struct records {
    size_t bytes;
    uint32_t kept;
    void *free; /* each begins with the next */
};

/* What it has is undefined. NULL: no memory. */
static inline void *record_take(struct records *records)
{
    void *record = records->free;
    if (record == NULL)
        return malloc(records->bytes);
    records->free = *(void **)record;
    records->kept--;
    return record;
}

#ifdef __clang_analyzer__
/* It does not see that a record has left its lists, and would find it there after it is freed. */
void record_give(struct records *records, void *record);
#else
static inline void record_give(struct records *records, void *record)
{
    if (records->kept == RECORDS_KEPT_MAX) {
        free(record);
        return;
    }
    *(void **)record = records->free;
    records->free = record;
    records->kept++;
}
#endif

static inline void records_free(struct records *records)
{
    while (records->free != NULL) {
        void *next = *(void **)records->free;
        free(records->free);
        records->free = next;
    }
    records->kept = 0;
}

#endif
