/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock.h"

#include <string.h>

#include "bcri/atomics.h"

/* The order of the loads counts. `rests` names the sleep and the bell that the CCE has read; `bell`,
 * read later, is still that: nobody had rung; `sleeping` and `sleeps`, read last, are still of that
 * sleep: so the CCE was in it when `bell` was read, and the deadline is that sleep's. */
struct enl_rest enl_rest_of(const struct bcri_record_shm *record)
{
    struct enl_rest rest = {0};
    const uint64_t rests = bcri_load_acquire(&record->bell.rests);
    const uint64_t deadline_ns = bcri_load(&record->sleep.deadline_ns);
    const uint64_t waits_for = bcri_load(&record->sleep.waits_for);
    rest.since = bcri_load(&record->sleep.since_ns);
    rest.may_lock = waits_for >> BCRI_REF_BITS == 1 && bcri_load(&record->id.uses_locks) != 0;
    memcpy(&rest.who, record->id.identity + BCRI_IDENTITY_BYTES - sizeof rest.who, sizeof rest.who);
    atomic_thread_fence(memory_order_acquire);
    const uint32_t bell = bcri_load_acquire(&record->bell.bell);
    const uint32_t sleeping = bcri_load_acquire(&record->bell.sleeping);
    const uint32_t state = bcri_load_acquire(&record->id.state);
    rest.sleeps = bcri_load_acquire(&record->sleep.sleeps);
    rest.rests = state == BCRI_CCE_ALIVE && sleeping == BCRI_SLEEPS_ON_FUTEX && deadline_ns == UINT64_MAX &&
                 rests == ((uint64_t)rest.sleeps << 32 | bell);
    rest.may_lock = rest.may_lock && rest.rests;
    return rest;
}
