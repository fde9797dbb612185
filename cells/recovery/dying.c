/* SPDX-License-Identifier: MIT */
/* The first that is done for a dead CCE, by the daemon's loop and without a lock: repair.h. From then on nobody finds its
 * cells, and those that wait for one of its locks see what they wait for. */
#include "bcri/repair.h"

#include "bcri/bell.h"
#include "bcri/host.h"

/* Model: lock.pml */
void bcri_cce_wake_sleepers(struct bcri_record_shm *record)
{
    atomic_fetch_add_explicit(&record->bell.lock_event, 1, memory_order_seq_cst);
    bcri_futex_wake(&record->bell.lock_event, INT32_MAX);
}

/* Model: lock.pml */
void bcri_cce_dying(struct bcri_host *host, uint32_t index)
{
    struct bcri_record_shm *record = bcri_host_record(host, index);
    atomic_fetch_add_explicit(&record->id.version, 2, memory_order_seq_cst);
    atomic_store_explicit(&record->id.state, BCRI_CCE_DYING, memory_order_seq_cst);
    bcri_store(&record->bell.waits_on, 0);
    bcri_cce_wake_sleepers(record);
}
