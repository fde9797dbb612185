/* SPDX-License-Identifier: MIT */
/* last.c -- what a CCE did last. Its process has ended, or waits in its signal handler; its record may hold
 * anything that a wild store has left there. */
#include <stdio.h>

#include "bcri/trace.h"
#include "inspect/crash/crash.h"

#include "host/host.h"

enum { SHOWN = 8 };

static const char *name_of_operation(uint32_t op)
{
    static const char *const names[] = {
        [BCRI_TRACE_PUT] = "put",   [BCRI_TRACE_WRITE] = "write", [BCRI_TRACE_GET] = "get",
        [BCRI_TRACE_READ] = "read", [BCRI_TRACE_LOCK] = "lock",   [BCRI_TRACE_ZAP] = "zap"};
    return op < sizeof names / sizeof names[0] && names[op] != NULL ? names[op] : "?";
}

/* The peer is a record's index, or enl's, if its CCE is on another host; it may have ended since, and another have its
 * record. */
static const char *peer_of(const struct enl_cce *cce, uint32_t peer, char *text, size_t size)
{
    const struct enl_cce *other = enl_cce_at(cce->here, peer);
    if (peer == cce->index)
        return "its own";
    if (peer == BCRI_ENL_INDEX)
        return "another host's";
    if (other == NULL)
        return "an ended CCE's";
    snprintf(text, size, "CCE %u's", other->ordinal);
    return text;
}

static void add_one(struct enl_crash_text *text, const struct enl_cce *cce,
                    const struct bcri_trace_shm *trace, uint64_t head)
{
    char peer[32];
    const uint32_t op = (uint32_t)(head >> 32) & 255, result = (uint32_t)(head >> 40) & 255;
    char failed[32] = "";
    if (result != 0)
        snprintf(failed, sizeof failed, ", failed (%u)", result);
    if (op == BCRI_TRACE_ZAP)
        enl_crash_text_line(text, "  zap of %s cell %u%s",
                            peer_of(cce, (uint32_t)(head >> 48), peer, sizeof peer), trace->cell, failed);
    else
        enl_crash_text_line(text, "  %s, %s cell %u, %u bytes%s", name_of_operation(op),
                            peer_of(cce, (uint32_t)(head >> 48), peer, sizeof peer), trace->cell,
                            trace->bytes, failed);
}

void enl_crash_last_operations(struct enl_crash_text *text, const struct enl_cce *cce)
{
    const struct bcri_trace_shm *ring = cce->record->trace;
    uint32_t last = 0;
    for (uint32_t i = 0; i < BCRI_TRACE_RECORDS; i++) {
        const uint32_t seq = (uint32_t)bcri_load_acquire(&ring[i].head);
        if (seq % BCRI_TRACE_RECORDS == i && seq > last)
            last = seq;
    }
    if (last == 0)
        return;
    enl_crash_text_line(text, "its last operations, the last one first:");
    for (uint32_t seq = last; seq != 0 && last - seq < SHOWN; seq--) {
        const struct bcri_trace_shm *trace = &ring[seq % BCRI_TRACE_RECORDS];
        const uint64_t head = bcri_load_acquire(&trace->head);
        if ((uint32_t)head != seq)
            break;
        add_one(text, cce, trace, head);
    }
}
