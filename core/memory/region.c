/* SPDX-License-Identifier: MIT */
/* Counting the holders of a region: the protocol of region.h, and its repair.
 *
 * Invariant: from bcri_region_hold or bcri_region_drop until bcri_count_committed the journal says
 * exactly whether the change is done, whatever others do to the word meanwhile. */
#include "bcri/region.h"

#include "bcr/error.h"
#include "bcri/clock.h"
#include "bcri/ctx.h"
#include "bcri/heap.h"
#include "bcri/lock.h"
#include "bcri/slot.h"

static uint32_t holder_of_count(const void *region)
{
    return BCRI_COUNT_OWNER(bcri_load(&((const struct bcri_region_shm *)region)->count));
}

static int look_at_count(void *arg)
{
    struct bcri_holder_wait *const wait = arg;
    struct bcri_region_shm *const region = wait->what;
    uint64_t word = bcri_load(&region->count);
    if (bcri_holder_is_none(wait, BCRI_COUNT_OWNER(word)) &&
        atomic_compare_exchange_strong_explicit(&region->count, &word, BCRI_COUNT_WORD(word, wait->ctx->tag),
                                                memory_order_acquire, memory_order_relaxed)) {
        wait->found = BCRI_COUNT(word);
        return BCRI_HOLDER_GONE;
    }
    return bcri_holder_seen(wait);
}

/* The slow path of lock_word: another CCE has the word locked, or has changed it. */
static __attribute__((noinline)) bool lock_word_slow(struct bcri_ctx *ctx, struct bcri_region_shm *region,
                                                     uint32_t *count_out)
{
    struct bcri_holder_wait wait = {
        .ctx = ctx, .what = region, .holder = holder_of_count, .deadline_ns = BCRI_DEADLINE_NEVER};
    if (!bcri_wait_for_holder(&wait, look_at_count))
        return false;
    *count_out = wait.found;
    return true;
}

/* Locks the word: {c, 0} -> {c, me}. The acquire pairs with the release in unlock_word, so a CCE
 * that gets the word sees all that earlier lock owners did. False: the daemon is parked. */
BCRI_INLINE bool lock_word(struct bcri_ctx *ctx, struct bcri_region_shm *region, uint32_t *count_out)
{
    uint64_t word = bcri_load(&region->count);
    if (bcri_unlikely(BCRI_COUNT_OWNER(word) != 0) ||
        bcri_unlikely(!atomic_compare_exchange_strong_explicit(&region->count, &word,
                                                               BCRI_COUNT_WORD(word, ctx->tag),
                                                               memory_order_acquire, memory_order_relaxed)))
        return lock_word_slow(ctx, region, count_out);
    *count_out = BCRI_COUNT(word);
    return true;
}

static void unlock_word(struct bcri_ctx *ctx, struct bcri_region_shm *region, uint32_t count)
{
    bcri_store_release(&region->count, BCRI_COUNT_WORD(count, 0));
    bcri_step();
    bcri_look_for_sleepers(ctx);
}

static void journal_open(struct bcri_journal_shm *journal, bcri_ref ref, const struct bcri_region_shm *region,
                         enum bcri_cw_state state)
{
    bcri_store(&journal->cw_ref, ref);
    bcri_store(&journal->cw_incarnation, bcri_load(&region->incarnation));
    bcri_step();
    bcri_store(&journal->cw_state, state);
    bcri_step();
}

static void journal_state(struct bcri_journal_shm *journal, enum bcri_cw_state state)
{
    bcri_store(&journal->cw_state, state);
    bcri_step();
}

/* The caller has read {1, 0}: it is the only holder, and stays the only one until the enclosing
 * operation gives the region to others.
 * Model: count.pml */
static void change_alone(struct bcri_journal_shm *journal, bcri_ref ref, struct bcri_region_shm *region,
                         uint32_t count)
{
    bcri_store(&journal->cw_new, count);
    journal_open(journal, ref, region, BCRI_CW_SOLE);
    bcri_store_release(&region->count, BCRI_COUNT_WORD(count, 0));
    bcri_step();
}

/* Model: count.pml */
static void change_locked(struct bcri_ctx *ctx, struct bcri_region_shm *region, uint32_t count)
{
    bcri_store(&ctx->journal->cw_new, count);
    bcri_step();
    journal_state(ctx->journal, BCRI_CW_COMMIT);
    unlock_word(ctx, region, count);
}

/* Model: count.pml */
int bcri_region_hold(struct bcri_ctx *ctx, bcri_ref ref, uint32_t more)
{
    struct bcri_region_shm *region = bcri_at(ctx, ref);
    if (bcri_likely(bcri_load_acquire(&region->count) == BCRI_COUNT_ONE && more != UINT32_MAX)) {
        change_alone(ctx->journal, ref, region, 1 + more);
        journal_state(ctx->journal, BCRI_CW_COMMIT);
        return 0;
    }
    journal_open(ctx->journal, ref, region, BCRI_CW_TRY);
    uint32_t count = 0;
    if (bcri_unlikely(!lock_word(ctx, region, &count))) {
        bcri_count_committed(ctx);
        return bcrE_TIMEOUT;
    }
    if (more > UINT32_MAX - count) {
        unlock_word(ctx, region, count);
        bcri_count_committed(ctx);
        return bcrE_NOMEM;
    }
    change_locked(ctx, region, count + more);
    return 0;
}

/* For the daemon: a CCE that may be stopped has the count word locked. So the hold passes to one of
 * the daemon's own IDs.
 *
 * If the word is corrupt and names a CCE that lives and has not locked it, nobody can tell. Then the
 * region stays held until that CCE ends; and since each try asks for a ring at that CCE's next
 * release, each release costs the CCE a ring, and the daemon a try. */
static __attribute__((noinline)) void keep_hold(struct bcri_ctx *ctx, bcri_ref ref)
{
    bcri_count_committed(ctx);
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (slot == NULL)
        return; /* no memory for an ID: the region stays held */
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, BCRI_SLOT_TO_DROP, ref));
    ctx->daemon.kept_drops++;
}

/* Drops one hold. False: the daemon could not lock the count word, and nothing has happened. */
BCRI_INLINE bool drop(struct bcri_ctx *ctx, bcri_ref ref)
{
    struct bcri_journal_shm *journal = ctx->journal;
    struct bcri_region_shm *region = bcri_at(ctx, ref);
    if (bcri_unlikely(region == NULL))
        return true; /* memory that cannot be mapped stays held: a leak is better than a guess */
    /* Read before the count falls to 0: from then on the owner may use the header again. */
    bool own = region->home == ctx->index;
    if (bcri_likely(bcri_load_acquire(&region->count) == BCRI_COUNT_ONE)) {
        change_alone(journal, ref, region, 0);
    } else {
        journal_open(journal, ref, region, BCRI_CW_TRY);
        uint32_t count;
        if (!lock_word(ctx, region, &count))
            return false;
        change_locked(ctx, region, --count);
        if (count != 0)
            return true;
    }
    journal_state(journal, BCRI_CW_LAST);
    if (own)
        bcri_heap_free(ctx, ref, region);
    else
        bcri_heap_freed(ctx, ref);
    return true;
}

/* Model: count.pml */
void bcri_region_drop(struct bcri_ctx *ctx, bcri_ref ref)
{
    const uint32_t parked = ctx->daemon.parked;
    if (bcri_likely(drop(ctx, ref)))
        return;
    keep_hold(ctx, ref);
    ctx->daemon.parked = parked; /* the piece of work at hand is not parked by this */
}

void bcri_drops_again(struct bcri_ctx *ctx)
{
    for (size_t i = 0; ctx->daemon.kept_drops != 0 && i < ctx->slots.chunks; i++)
        for (size_t k = 0; k < ctx->slots.count[i]; k++) {
            struct bcri_slot_shm *slot = &((struct bcri_slot_shm *)ctx->slots.base[i])[k];
            if ((bcri_slot_flags(bcri_load(&slot->word)) & BCRI_SLOT_TO_DROP) == 0 ||
                !drop(ctx, bcri_slot_region(bcri_load(&slot->word))))
                continue;
            bcri_store(&slot->word, 0);
            bcri_slot_give(ctx, slot);
            bcri_count_committed(ctx);
            ctx->daemon.kept_drops--;
        }
    bcri_count_committed(ctx);
}

bool bcri_count_try(struct bcri_ctx *ctx, bcri_ref ref, uint32_t *count_out)
{
    struct bcri_region_shm *region = bcri_at(ctx, ref);
    *count_out = 0; /* for the daemon there is no such region, and the store goes nowhere, too */
    if (region == NULL)
        return ctx->daemon.parks;
    journal_open(ctx->journal, ref, region, BCRI_CW_TRY);
    if (lock_word(ctx, region, count_out))
        return true;
    bcri_count_committed(ctx);
    return false;
}

uint32_t bcri_count_lock(struct bcri_ctx *ctx, bcri_ref ref)
{
    uint32_t count;
    (void)bcri_count_try(ctx, ref, &count);
    return count;
}

void bcri_count_unlock(struct bcri_ctx *ctx, bcri_ref ref, uint32_t count)
{
    struct bcri_region_shm *region = bcri_at(ctx, ref);
    if (region != NULL)
        unlock_word(ctx, region, count);
    bcri_count_committed(ctx);
}

void bcri_count_committed(struct bcri_ctx *ctx)
{
    bcri_step();
    bcri_store_release(&ctx->journal->cw_state, BCRI_CW_IDLE);
    bcri_step();
}

/* `word` is the count word of the region that the dead CCE was changing. Only the dead CCE itself
 * would have allocated its own blocks again. The owner of another block may have allocated it
 * again, for another region: then `word` is 0, and the change is done.
 * Model: count.pml */
enum bcri_cw_state bcri_count_repair(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_record_shm *record = bcri_record(enl, index);
    if (record == NULL)
        return BCRI_CW_IDLE;
    struct bcri_journal_shm *journal = &record->journal;
    enum bcri_cw_state state = (enum bcri_cw_state)bcri_load_acquire(&journal->cw_state);
    if (state == BCRI_CW_IDLE)
        return state;
    uint32_t count = bcri_load(&journal->cw_new);
    bcri_ref ref = bcri_load(&journal->cw_ref);
    uint64_t word = bcri_heap_count_word(enl, ref, bcri_load(&journal->cw_incarnation));
    struct bcri_region_shm *region = word != 0 ? bcri_at(enl, ref) : NULL;
    bool carries = BCRI_COUNT_OWNER(word) == BCRI_TAG(index);
    switch (state) {
    case BCRI_CW_TRY:
        if (carries)
            bcri_store_release(&region->count, BCRI_COUNT_WORD(word, 0));
        state = BCRI_CW_IDLE;
        break;
    case BCRI_CW_COMMIT:
        if (carries)
            bcri_store_release(&region->count, BCRI_COUNT_WORD(count, 0));
        break;
    case BCRI_CW_SOLE:
        if (word == BCRI_COUNT_ONE)
            bcri_store_release(&region->count, BCRI_COUNT_WORD(count, 0));
        state = BCRI_CW_COMMIT;
        break;
    case BCRI_CW_IDLE:
    case BCRI_CW_LAST: break;
    }
    if (state == BCRI_CW_COMMIT && count == 0)
        state = BCRI_CW_LAST;
    bcri_store(&journal->cw_state, state);
    /* A corrupt journal may name a block beyond the end of its segment: that has no mark. */
    if (state == BCRI_CW_LAST && bcri_at(enl, ref) != NULL)
        bcri_heap_freed(enl, ref);
    return state;
}
