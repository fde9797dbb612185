/* SPDX-License-Identifier: MIT */
/* The IDs of a CCE: the regions that they hold, and the requests that wait. */
#include <endian.h>

#include "bcri/order.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/trace.h"

#include "inspect/look/look_private.h"

struct cce {
    uint32_t index;
    bcri_ref slept_for; /* the first of the requests that it sleeps for */
    struct look_cce *row;
};

/* The answer of an order with a time is waited for without a limit: the other host's agent decides when that is over. */
static void look_at_time(struct look_cce *cce, uint32_t op, int msec)
{
    const bool has_time = bcri_order_is_get(op) || op == BCRI_ORDER_PUT || op == BCRI_ORDER_WRITE;
    if (has_time && msec >= 0 && cce->waiting_for == 1 && cce->deadline_ns == UINT64_MAX)
        cce->deadline_ns = cce->since_ns + (uint64_t)msec * 1000000;
}

static void look_at_request(struct look *look, const struct cce *cce, const struct bcri_slot_shm *slot,
                            bcri_ref ref, enum bcri_slot_state state, uint64_t bytes)
{
    struct look_row row = {.kind = LOOK_KIND_WAIT};
    const uint32_t want = bcri_load(&slot->kind) & 0xffu;
    row.wait.index = cce->index;
    row.wait.state = state;
    row.wait.want = want;
    row.wait.bytes = bytes;
    row.wait.slept = ref == cce->slept_for;
    if (state == BCRI_SLOT_ORDERED) {
        row.wait.identity0 = be64toh(bcri_load(&slot->next));
        row.wait.identity1 = be64toh(bcri_load(&slot->prev));
        row.wait.owner_host = row.wait.identity0 >> 48;
        row.wait.owner = row.wait.identity0 >> 32 & 0xffffu;
        row.wait.cell = bcri_load(&slot->sub);
        if (row.wait.slept != 0)
            look_at_time(cce->row, want, (int)(uint32_t)bcri_load(&slot->key));
    } else {
        row.wait.owner_host = look->host;
        if (state == BCRI_SLOT_PUTWAIT)
            row.wait.want = (want & BCRI_REQUEST_WRITE) != 0 ? BCRI_ORDER_WRITE : BCRI_ORDER_PUT;
        if (!look_name_cell(look, bcri_load(&slot->cell) & BCRI_REF_MASK, &row.wait.owner, &row.wait.cell))
            return;
    }
    look_say(look, &row);
}

static void look_at_id(struct look *look, const struct cce *cce, const struct bcri_slot_shm *slot,
                       bcri_ref ref)
{
    const uint64_t word = bcri_load_acquire(&slot->word);
    const enum bcri_slot_state state = bcri_slot_state(word);
    const bcri_ref region = bcri_slot_hold_of(word);
    uint64_t bytes = 0;
    if (state == BCRI_SLOT_FREE)
        return;
    if (region != BCRI_REF_NONE)
        bytes = look_at_region(look, region, cce->index, false);
    if (state == BCRI_SLOT_TICKET || state == BCRI_SLOT_LISTED || state == BCRI_SLOT_PUTWAIT ||
        state == BCRI_SLOT_ORDERED)
        look_at_request(look, cce, slot, ref, state, bytes);
}

void look_at_ids(struct look *look, struct look_cce *of, const struct bcri_record_shm *record)
{
    const uint32_t index = (uint32_t)of->index;
    const struct cce cce = {index, bcri_load(&record->sleep.waits_for) & BCRI_REF_MASK, of};
    const uint32_t seg = bcri_load(&look->memory.host->record_seg[index / BCRI_RECORDS_PER_SEG]);
    bcri_ref ref = bcri_ref_make(seg, (uint64_t)(index % BCRI_RECORDS_PER_SEG) * BCRI_RECORD_BYTES +
                                          offsetof(struct bcri_record_shm, slots));
    uint64_t count = BCRI_FIRST_SLOTS;
    for (unsigned chunk = 0; ref != BCRI_REF_NONE; chunk++) {
        const struct bcri_slot_shm *slots = look_at(&look->memory, ref, count * sizeof *slots);
        if (slots == NULL)
            return;
        for (uint64_t i = 0; i < count && look_step(look); i++)
            look_at_id(look, &cce, &slots[i], ref + i * sizeof *slots / BCRI_REF_UNIT);
        if (chunk >= sizeof record->slot_chunk / sizeof record->slot_chunk[0])
            return;
        ref = bcri_load_acquire(&record->slot_chunk[chunk]);
        count = UINT64_C(256) << chunk;
    }
}

/* A record of the trace, if it was not overwritten while it was read. */
static bool read_trace(const struct bcri_record_shm *record, uint32_t at, struct bcri_trace_shm *out)
{
    const struct bcri_trace_shm *one = &record->trace[at];
    const struct bcri_trace_shm *before = &record->trace[(at + BCRI_TRACE_RECORDS - 1) % BCRI_TRACE_RECORDS];
    const uint64_t head = bcri_load_acquire(&one->head);
    *out = *one;
    atomic_thread_fence(memory_order_acquire);
    return head != 0 && bcri_load(&one->head) == head &&
           (uint32_t)bcri_load(&before->head) != (uint32_t)head + BCRI_TRACE_RECORDS - 1;
}

struct seen {
    struct look_row rows[BCRI_TRACE_RECORDS];
    unsigned count;
};

/* Adds an operation at that cell to the rows of that kind; their fields lie alike. */
static void add_operation(struct seen *seen, enum look_kind kind, uint32_t index,
                          const struct bcri_trace_shm *one)
{
    const uint64_t peer = bcri_load(&one->head) >> 48;
    unsigned i = 0;
    while (i < seen->count && (seen->rows[i].kind != kind || seen->rows[i].told.peer != peer ||
                               seen->rows[i].told.cell != one->cell))
        i++;
    if (i == seen->count)
        seen->rows[seen->count++] =
            (struct look_row){.kind = kind, .told = {.index = index, .peer = peer, .cell = one->cell}};
    seen->rows[i].told.puts++;
    if (one->time_ns > seen->rows[i].told.last_ns)
        seen->rows[i].told.last_ns = one->time_ns;
}
static_assert(sizeof(struct look_got) == sizeof(struct look_told) &&
                  offsetof(struct look_got, last_ns) == offsetof(struct look_told, last_ns),
              "rows of gets and puts have the same fields");

static void read_all(struct seen *seen, const struct bcri_record_shm *record, uint32_t index,
                     struct look_cce *cce)
{
    uint64_t oldest_ns = UINT64_MAX;
    uint32_t records = 0;
    seen->count = 0;
    for (uint32_t at = 0; at < BCRI_TRACE_RECORDS; at++) {
        struct bcri_trace_shm one;
        if (!read_trace(record, at, &one))
            continue;
        const uint64_t head = bcri_load(&one.head);
        const unsigned op = head >> 32 & 0xffu, result = head >> 40 & 0xffu;
        records++;
        oldest_ns = one.time_ns < oldest_ns ? one.time_ns : oldest_ns;
        if (op >= BCRI_TRACE_PUT && op <= BCRI_TRACE_READ && result == 0) {
            cce->moves++;
            cce->moved += one.bytes;
        }
        if ((op == BCRI_TRACE_PUT || op == BCRI_TRACE_WRITE) && result == 0)
            add_operation(seen, LOOK_KIND_TOLD, index, &one);
        else if ((op == BCRI_TRACE_GET || op == BCRI_TRACE_READ || op == BCRI_TRACE_LOCK) && result == 0)
            add_operation(seen, LOOK_KIND_GOT, index, &one);
    }
    /* A record or two may be missed, as they are written. */
    cce->traced_ns = records + 4 >= BCRI_TRACE_RECORDS ? oldest_ns : 0;
}

void look_at_trace(struct look *look, const struct bcri_record_shm *record, struct look_cce *cce)
{
    static struct seen seen;
    read_all(&seen, record, (uint32_t)cce->index, cce);
    for (unsigned i = 0; i < seen.count; i++)
        look_say(look, &seen.rows[i]);
}

void look_at_ended(struct look *look, uint32_t index, const struct bcri_record_shm *record)
{
    static struct seen seen;
    struct look_cce none = {0};
    read_all(&seen, record, index, &none);
    for (unsigned i = 0; i < seen.count; i++) {
        if (seen.rows[i].kind != LOOK_KIND_TOLD)
            continue;
        const struct look_told *told = &seen.rows[i].told;
        struct look_row row = {.kind = LOOK_KIND_LEFT,
                               .left = {.index = index,
                                        .ordinal = record->id.ordinal,
                                        .pid = bcri_load(&record->id.pid),
                                        .exit = bcri_load(&record->id.exit_status),
                                        .peer = told->peer,
                                        .cell = told->cell,
                                        .last_ns = told->last_ns}};
        look_say(look, &row);
    }
}
