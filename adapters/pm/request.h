/* SPDX-License-Identifier: MIT */
/* request.h -- a one-sided operation that another process carries out, as it lies in a region.
 *
 * The request goes to PM_CELL_REQUESTS of the process that has the memory, and comes back as the answer to PM_CELL_ANSWERS of the
 * one that has asked: the same region, so that the other needs no memory for answers, and cannot lack it. It begins with these
 * numbers, of eight bytes each, the most significant first; behind them is the data, in a write's request and a read's answer.
 * The request of a read has room for that. */
#ifndef PM_REQUEST_H
#define PM_REQUEST_H

#include <stdint.h>

enum pm_request_field {
    PM_FIELD_KIND,   /* PM_KIND_WRITE, PM_KIND_READ */
    PM_FIELD_RANK,   /* who asks */
    PM_FIELD_NUMBER, /* its own, for the answer */
    PM_FIELD_HANDLE,
    PM_FIELD_LENGTH,
    PM_FIELD_DONE, /* in an answer: 1, it was carried out; 0, not */
    PM_FIELDS
};
enum { PM_KIND_WRITE = 1, PM_KIND_READ = 2, PM_REQUEST_BYTES = 8 * PM_FIELDS };

static inline uint64_t pm_field_get(const void *region, enum pm_request_field field)
{
    const unsigned char *bytes = (const unsigned char *)region + 8 * field;
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

static inline void pm_field_set(void *region, enum pm_request_field field, uint64_t value)
{
    unsigned char *bytes = (unsigned char *)region + 8 * field;
    for (int i = 7; i >= 0; i--, value >>= 8)
        bytes[i] = (unsigned char)value;
}

#endif
