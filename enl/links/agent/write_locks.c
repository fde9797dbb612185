/* SPDX-License-Identifier: MIT */
/* write_locks.c -- which CCE elsewhere has taken which write lock here. For the cell it is the agent that has:
 * so the agent remembers the CCE, by the cell and the region's epoch, and when that CCE has ended, tells
 * the cell. The agent is not told that a lock was released, by a put or by a later lock of the same CCE: records that
 * have become void are dropped when there are many, and a cell that is told of one does nothing. */
#include "bcri/act.h"

#include "links/agent/serve.h"

enum { SWEEP_FROM = 16 }; /* locks of a CCE at the CCEs of this host */

struct write_lock *bcri_lock_new(struct stream_in *stream)
{
    struct write_lock *lock = bcri_peer_alloc(stream->peer, sizeof *lock);
    if (lock != NULL)
        *lock = (struct write_lock){.peer = stream->peer};
    return lock;
}

void bcri_lock_free(struct write_lock *lock)
{
    if (lock->stream != NULL)
        lock->stream->lock_count--;
    list_remove(&lock->of_stream);
    lock->peer->bytes -= sizeof *lock;
    record_free(lock);
}

/* Drops the records of locks that the CCE has no longer. So there are at most twice as many as it has. */
static void sweep_locks(struct stream_in *stream)
{
    struct write_lock *lock;
    EACH_OF (lock, &stream->locks, struct write_lock, of_stream)
        if (!bcri_act_has_lock(stream->peer->agent->ctx, lock->cell, lock->gen_epoch))
            bcri_lock_free(lock);
    stream->lock_sweep = 2 * stream->lock_count + SWEEP_FROM;
}

void bcri_lock_taken(struct served *served)
{
    struct stream_in *stream = served->stream;
    struct bcri_agent *agent = stream->peer->agent;
    struct write_lock *lock = served->lock;
    served->lock = NULL;
    lock->cell = bcri_load(&served->slot->cell);
    lock->gen_epoch = bcri_load(&served->slot->prev);
    if (served->ended) {
        list_append(&agent->dead_locks, &lock->of_stream);
        return;
    }
    lock->stream = stream;
    list_append(&stream->locks, &lock->of_stream);
    if (++stream->lock_count > SWEEP_FROM && stream->lock_count >= stream->lock_sweep)
        sweep_locks(stream);
}

void bcri_locks_end(struct stream_in *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct write_lock *lock;
    while ((lock = TAKE_FIRST(&stream->locks, struct write_lock, of_stream)) != NULL) {
        lock->stream = NULL;
        list_append(&agent->dead_locks, &lock->of_stream);
    }
    stream->lock_count = 0;
}

void bcri_locks_run(struct bcri_agent *agent)
{
    struct write_lock *lock;
    while ((lock = TAKE_FIRST(&agent->dead_locks, struct write_lock, of_stream)) != NULL) {
        if (bcri_act_owner_died(agent->ctx, lock->cell, lock->gen_epoch).outcome == BCRI_ACT_PARKED) {
            list_append(&agent->parked_locks, &lock->of_stream);
            bcri_agent_parks(agent);
            continue;
        }
        bcri_lock_free(lock);
    }
}
