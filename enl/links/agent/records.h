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

/* Frees a record that has been taken out of its lists. clang's analyzer does not follow that, and would find what
 * it sees freed in them. */
#ifdef __clang_analyzer__
void record_free(void *record);
#else
static inline void record_free(void *record)
{
    free(record);
}
#endif

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
    records->kept = 0;
}

#endif
