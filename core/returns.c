/* SPDX-License-Identifier: MIT */
/* The freer's side of returns.h: sending, growing the chain, and the repair of a send. returns_collect.c is the owner's.
 *
 * Why nothing is lost when the home ends: the freer stores the count 0, then looks at the home's state; enl stores
 * DYING, calls membarrier(), then walks the heap. Either the freer sees DYING and counts `frees` up, or the walk
 * sees the count. (Without membarrier, ctx->full_fence makes the freer fence.) */
#include "bcri/returns.h"

#include <stdlib.h>
#include <string.h>

#include "bcri/bell.h"
#include "bcri/region.h"
#include "bcri/segment.h"
#include "returns_private.h"

#define CELL_PAGE_BYTES  4096u
#define SEG_FIRST_BYTES  (UINT64_C(64) << 10)
#define SEG_MOST_BYTES   (UINT64_C(16) << 20)
#define EXTEND_MIN_BYTES (UINT64_C(8) << 10)
#define EXTEND_MAX_BYTES (UINT64_C(256) << 10)

struct bcri_returns *bcri_returns_get(struct bcri_ctx *ctx)
{
    if (ctx->returns == NULL)
        ctx->returns = calloc(1, sizeof *ctx->returns);
    return ctx->returns;
}

/* Carves the next cell. Its pages are reserved before; NULL if memory is refused. */
static struct bcri_return_cell_shm *carve_cell(struct bcri_ctx *ctx, bcri_ref *ref_out)
{
    struct bcri_returns *returns = ctx->returns;
    if (returns->seg_used + BCRI_RETURN_CELL_BYTES > returns->seg_bytes) {
        uint64_t bytes = returns->seg_bytes == 0 ? SEG_FIRST_BYTES : returns->seg_bytes * 4;
        uint64_t reserve = bytes < EXTEND_MAX_BYTES ? EXTEND_MIN_BYTES : EXTEND_MAX_BYTES;
        uint32_t seg;
        if (bytes > SEG_MOST_BYTES)
            bytes = SEG_MOST_BYTES;
        if (bcri_segment_new(ctx, BCRI_SEG_RETURNS, bytes, reserve, &seg) != 0)
            return NULL;
        returns->seg = seg;
        returns->seg_bytes = bytes;
        returns->seg_reserved = reserve;
        returns->seg_used = 0;
    } else if (returns->seg_used + BCRI_RETURN_CELL_BYTES > returns->seg_reserved) {
        uint64_t more = returns->seg_reserved < EXTEND_MAX_BYTES ? returns->seg_reserved : EXTEND_MAX_BYTES;
        if (more > returns->seg_bytes - returns->seg_reserved)
            more = returns->seg_bytes - returns->seg_reserved;
        if (bcri_segment_extend(ctx, returns->seg, returns->seg_reserved, more) != 0)
            return NULL;
        returns->seg_reserved += more;
    }
    *ref_out = bcri_ref_make(returns->seg, returns->seg_used);
    struct bcri_return_cell_shm *cell = bcri_at(ctx, *ref_out);
    if (cell != NULL)
        returns->seg_used += BCRI_RETURN_CELL_BYTES;
    return cell;
}

static struct bcri_return_block *carve_block(struct bcri_ctx *ctx)
{
    struct bcri_return_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return NULL;
    block->cell = carve_cell(ctx, &block->ref);
    if (block->cell == NULL) {
        free(block);
        return NULL;
    }
    bcri_store_release(&block->cell->kind, BCRI_RETURN_BLOCK_CELL);
    return block;
}

/* A block in a new lap. Those at the old end of the way that are read come back first; of all that are spare the one
 * used last is taken, so that after a flood only a few circulate. */
static struct bcri_return_block *take_block(struct bcri_ctx *ctx, struct bcri_way *way)
{
    struct bcri_returns *returns = ctx->returns;
    while (way->oldest != way->newest &&
           bcri_load_acquire(&way->oldest->cell->consumed) == way->oldest->lap) {
        struct bcri_return_block *read = way->oldest;
        way->oldest = read->next;
        read->next = returns->spare;
        returns->spare = read;
    }
    struct bcri_return_block *block = returns->spare;
    if (block != NULL)
        returns->spare = block->next;
    else if ((block = carve_block(ctx)) == NULL)
        return NULL;
    block->next = NULL;
    block->lap = block->lap == 0xffffu ? 1 : block->lap + 1;
    bcri_store(&block->cell->lap, block->lap);
    return block;
}

static void fill_block(struct bcri_way *way, struct bcri_return_block *block)
{
    way->newest = block;
    way->entry = &block->cell->entry[0];
    way->link = &block->cell->entry[BCRI_RETURN_ENTRIES];
    way->where = (block->ref << 5) + offsetof(struct bcri_return_cell_shm, entry);
    way->lap = (uint64_t)block->lap << BCRI_REF_BITS;
}

/* Room to note every head as a spare one, so that no way is closed without. */
static bool room_for_head(struct bcri_returns *returns)
{
    if (returns->head_count < returns->head_room)
        return true;
    uint32_t room = returns->head_room != 0 ? returns->head_room * 2 : 16;
    struct bcri_return_head *heads = realloc(returns->spare_heads, room * sizeof *heads);
    if (heads == NULL)
        return false;
    returns->spare_heads = heads;
    returns->head_room = room;
    return true;
}

/* The place for a new queue head: one whose home has ended, since nobody reads that any more, or the next. Until its push is
 * prepared it is no queue. */
static bool take_head(struct bcri_ctx *ctx, struct bcri_return_head *head_out)
{
    struct bcri_returns *returns = ctx->returns;
    if (returns->spare_head_count != 0) {
        *head_out = returns->spare_heads[--returns->spare_head_count];
        bcri_store(&head_out->queue->state, BCRI_RETURN_NEW);
        bcri_step();
        return true;
    }
    if (!room_for_head(returns))
        return false;
    if (returns->queue_cell == NULL || returns->queues_used == BCRI_RETURN_QUEUES) {
        bcri_ref ref;
        struct bcri_return_cell_shm *cell = carve_cell(ctx, &ref);
        if (cell == NULL)
            return false;
        bcri_store_release(&cell->kind, BCRI_RETURN_QUEUE_CELL);
        returns->queue_cell = cell;
        returns->queue_cell_ref = ref;
        returns->queues_used = 0;
    }
    uint32_t i = returns->queues_used++;
    returns->head_count++;
    head_out->queue = &returns->queue_cell->queue[i];
    head_out->ref = returns->queue_cell_ref + (offsetof(struct bcri_return_cell_shm, queue) +
                                               i * sizeof(struct bcri_return_queue_shm)) /
                                                  BCRI_REF_UNIT;
    return true;
}

/* Makes the way to `home` known to it. A death before the push leaves a queue without content; one after it, a queue
 * like any other. */
static void push_queue(struct bcri_record_shm *home, struct bcri_return_queue_shm *queue, bcri_ref ref)
{
    bcri_store_release(&queue->state, BCRI_RETURN_LISTED);
    uint64_t newest = bcri_load(&home->returns);
    do
        bcri_store(&queue->next, newest);
    while (!atomic_compare_exchange_weak_explicit(&home->returns, &newest, ref, memory_order_release,
                                                  memory_order_relaxed));
}

static bool room_for_way(struct bcri_returns *returns, uint32_t home)
{
    if (home < returns->way_count)
        return true;
    uint32_t count = returns->way_count != 0 ? returns->way_count : 16;
    while (count <= home)
        count *= 2;
    struct bcri_way **ways = realloc(returns->way, count * sizeof(struct bcri_way *));
    if (ways == NULL)
        return false;
    memset(ways + returns->way_count, 0, (count - returns->way_count) * sizeof(struct bcri_way *));
    returns->way = ways;
    returns->way_count = count;
    return true;
}

static struct bcri_way *open_way(struct bcri_ctx *ctx, uint32_t home, struct bcri_record_shm *record)
{
    struct bcri_way *way = calloc(1, sizeof *way);
    if (way == NULL)
        return NULL;
    struct bcri_return_block *block = take_block(ctx, way);
    if (block == NULL || !take_head(ctx, &way->head))
        goto give_block;
    struct bcri_return_queue_shm *queue = way->head.queue;
    way->oldest = block;
    way->home = &record->id;
    way->home_id = bcri_identity_part(&record->id);
    way->home_index = home;
    fill_block(way, block);
    bcri_store(&queue->first, block->ref);
    queue->freer = ctx->index;
    queue->freer_id = bcri_identity_part(&ctx->record->id);
    queue->owner = home;
    queue->owner_id = way->home_id;
    push_queue(record, queue, way->head.ref);
    ctx->returns->way[home] = way;
    return way;

give_block:
    if (block != NULL) {
        block->next = ctx->returns->spare;
        ctx->returns->spare = block;
    }
    free(way);
    return NULL;
}

/* The home of this way has ended: its blocks and its head serve other ways. Blocks not read to the end have words of two
 * laps; the next lap differs from both. */
static void close_way(struct bcri_returns *returns, uint32_t home)
{
    struct bcri_way *way = returns->way[home];
    returns->spare_heads[returns->spare_head_count++] = way->head;
    returns->way[home] = NULL;
    for (struct bcri_return_block *block = way->oldest; block != NULL;) {
        struct bcri_return_block *next = block->next;
        block->next = returns->spare;
        returns->spare = block;
        block = next;
    }
    free(way);
}

static bool ended(const struct bcri_identity_shm *id)
{
    uint32_t state = bcri_load_acquire(&id->state);
    return state == BCRI_CCE_DYING || state == BCRI_CCE_DEAD || state == BCRI_CCE_FREE;
}

static void count_orphan(struct bcri_ctx *ctx, bcri_ref ref)
{
    bcri_segment_freed(ctx, bcri_ref_seg(ref));
}

/* No memory for a way: leave the block where it is and say so. The mark goes before the request to look for it. */
static void leave_stray(struct bcri_ctx *ctx, struct bcri_record_shm *home, bcri_ref ref)
{
    struct bcri_region_shm *region = bcri_at(ctx, ref);
    bcri_store_release(&region->count, BCRI_COUNT_WORD(0, ctx->tag | BCRI_COUNT_STRAY));
    bcri_step();
    bcri_store_release(&home->bell.rescan, 1);
}

static struct bcri_way *find_way(struct bcri_ctx *ctx, uint32_t home, struct bcri_record_shm *record)
{
    struct bcri_returns *returns = bcri_returns_get(ctx);
    if (returns == NULL || !room_for_way(returns, home))
        return NULL;
    struct bcri_way *way = returns->way[home];
    if (way != NULL && way->home_id != bcri_identity_part(&record->id)) {
        close_way(returns, home); /* the record serves another CCE by now */
        way = NULL;
    }
    if (way == NULL)
        return open_way(ctx, home, record);
    if (way->entry == way->link) {
        struct bcri_return_block *block = take_block(ctx, way);
        if (block == NULL)
            return NULL;
        way->newest->next = block;
        bcri_store_release(way->link, way->lap | block->ref);
        fill_block(way, block);
    }
    return way;
}

static void send_slow(struct bcri_ctx *ctx, uint32_t home, bcri_ref ref);

static inline void send_on(struct bcri_ctx *ctx, struct bcri_way *way, bcri_ref ref)
{
    uint64_t value = way->lap | ref;
    bcri_store(&ctx->journal->ret_value, value);
    bcri_step();
    bcri_store(&ctx->journal->ret_entry, way->where);
    bcri_step();
    /* Release: the owner may write the header as soon as it reads this. */
    bcri_store_release(way->entry, value);
    bcri_step();
    way->entry++;
    way->where += sizeof(uint64_t);
}

static inline void fence_if_must(const struct bcri_ctx *ctx)
{
    if (bcri_unlikely(ctx->full_fence))
        atomic_thread_fence(memory_order_seq_cst);
    bcri_step();
}

void bcri_returns_send(struct bcri_ctx *ctx, uint32_t home, bcri_ref ref)
{
    fence_if_must(ctx);
    struct bcri_way *way = bcri_way_at_hand(ctx->returns, home);
    if (bcri_likely(way != NULL && bcri_way_leads_home(way)))
        send_on(ctx, way, ref);
    else
        send_slow(ctx, home, ref);
}

/* On as bcri_region_drop goes on from its last step. Whatever stands in ret_entry, the journal says at each store here that the
 * block is still to be sent. */
static void send_orphan(struct bcri_ctx *ctx, uint32_t home, bcri_ref ref)
{
    struct bcri_journal_shm *j = ctx->journal;
    bcri_store(&j->ret_entry, BCRI_RETURN_UNSENT);
    bcri_store(&j->cw_ref, ref);
    bcri_store(&j->cw_new, 0);
    bcri_step();
    bcri_store(&j->cw_state, BCRI_CW_LAST);
    bcri_step();
    bcri_store(&j->op, BCRI_OP_FREE);
    bcri_step();
    send_slow(ctx, home, ref);
}

int bcri_returns_free_orphan(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref ref, uint32_t home)
{
    send_orphan(ctx, home, ref);
    bcri_step();
    bcri_store(&slot->word, 0);
    bcri_step();
    bcri_count_settled(ctx);
    bcri_store(&ctx->journal->op, BCRI_OP_NONE);
    bcri_step();
    bcri_slot_give(ctx, slot);
    return 0;
}

static void send_slow(struct bcri_ctx *ctx, uint32_t home, bcri_ref ref)
{
    struct bcri_record_shm *record = bcri_record(ctx, home);
    if (record == NULL || ended(&record->id)) {
        struct bcri_returns *returns = ctx->returns;
        if (returns != NULL && home < returns->way_count && returns->way[home] != NULL)
            close_way(returns, home);
        count_orphan(ctx, ref);
        return;
    }
    struct bcri_way *way = find_way(ctx, home, record);
    if (way != NULL)
        send_on(ctx, way, ref);
    else
        leave_stray(ctx, record, ref);
}

static _Atomic uint64_t *place_at(struct bcri_ctx *ctx, uint64_t where)
{
    unsigned char *unit = bcri_at(ctx, where >> 5);
    return unit != NULL ? (_Atomic uint64_t *)(void *)(unit + (where & 31u)) : NULL;
}

/* Sends block `ref`, whose count is 0, in place of CCE `index`, which has died over it. */
static void finish_send(struct bcri_ctx *enl, struct bcri_journal_shm *journal, uint32_t index, bcri_ref ref)
{
    uint64_t where = bcri_load(&journal->ret_entry);
    /* From the table: the header may have been given back to the system since. */
    uint32_t home = enl->host->segments[bcri_ref_seg(ref)].owner;
    struct bcri_record_shm *owner = bcri_record(enl, home);
    if (home == index || owner == NULL || ended(&owner->id)) {
        count_orphan(enl, ref);
    } else if (where != BCRI_RETURN_UNSENT) {
        _Atomic uint64_t *entry = place_at(enl, where);
        if (entry != NULL)
            bcri_store_release(entry, bcri_load(&journal->ret_value));
    } else {
        struct bcri_region_shm *region = bcri_at(enl, ref);
        uint32_t mark = BCRI_TAG(index) | BCRI_COUNT_STRAY;
        if (region != NULL && BCRI_COUNT_OWNER(bcri_load(&region->count)) == mark)
            bcri_store_release(&owner->bell.rescan, 1);
        else
            bcri_returns_send(enl, home, ref);
    }
    bcri_store(&journal->ret_entry, BCRI_RETURN_DONE);
}

void bcri_returns_repair(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_record_shm *record = bcri_record(enl, index);
    if (record == NULL)
        return;
    struct bcri_journal_shm *journal = &record->journal;
    if (bcri_load_acquire(&journal->cw_state) == BCRI_CW_LAST &&
        bcri_load(&journal->ret_entry) != BCRI_RETURN_DONE)
        finish_send(enl, journal, index, bcri_load(&journal->cw_ref));
}

void bcri_returns_repair_alone(struct bcri_ctx *enl, uint32_t index, bcri_ref ref)
{
    struct bcri_journal_shm *journal = &bcri_record(enl, index)->journal;
    uint64_t where = bcri_load(&journal->ret_entry);
    if (where == BCRI_RETURN_DONE)
        return; /* bcri_count_repair has seen to it */
    if (where != BCRI_RETURN_UNSENT) {
        /* The dead one writes no further lap: what stands there tells whether it was sent, and once it was, the count
         * is no longer ours. */
        _Atomic uint64_t *entry = place_at(enl, where);
        if (entry == NULL || bcri_load(entry) == bcri_load(&journal->ret_value))
            return;
    }
    struct bcri_region_shm *region = bcri_at(enl, ref);
    if (region != NULL)
        bcri_store(&region->count, 0);
    finish_send(enl, journal, index, ref);
}

/* Else one that neither runs out of blocks nor enlists would keep the queues of all who have ever freed one of its. */
static void tell_owner(struct bcri_record_shm *owner)
{
    if (atomic_exchange_explicit(&owner->bell.freers_ended, 1, memory_order_seq_cst) == 0)
        bcri_bell_ring(owner);
}

static uint32_t undrained(struct bcri_ctx *enl, const struct bcri_return_cell_shm *cell)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < BCRI_RETURN_QUEUES; i++) {
        const struct bcri_return_queue_shm *queue = &cell->queue[i];
        if (bcri_load_acquire(&queue->state) != BCRI_RETURN_LISTED)
            continue;
        struct bcri_record_shm *owner = bcri_record(enl, queue->owner);
        if (owner == NULL || ended(&owner->id) || bcri_identity_part(&owner->id) != queue->owner_id)
            continue;
        count++;
        tell_owner(owner);
    }
    return count;
}

uint32_t bcri_returns_undrained(struct bcri_ctx *enl, uint32_t seg)
{
    const struct bcri_return_cell_shm *cell = bcri_segment_map(enl, seg);
    uint64_t cells = enl->map[seg].units * BCRI_REF_UNIT / BCRI_RETURN_CELL_BYTES;
    uint32_t count = 0;
    for (uint64_t i = 0; cell != NULL && i < cells; i++) {
        uint32_t kind = bcri_load_acquire(&cell[i].kind);
        if (kind == BCRI_RETURN_UNUSED)
            break;
        if (kind == BCRI_RETURN_QUEUE_CELL)
            count += undrained(enl, &cell[i]);
    }
    return count;
}

static void free_blocks(struct bcri_return_block *block)
{
    while (block != NULL) {
        struct bcri_return_block *next = block->next;
        free(block);
        block = next;
    }
}

void bcri_returns_fini(struct bcri_ctx *ctx)
{
    struct bcri_returns *returns = ctx->returns;
    if (returns == NULL)
        return;
    for (uint32_t i = 0; i < returns->way_count; i++)
        if (returns->way[i] != NULL) {
            free_blocks(returns->way[i]->oldest);
            free(returns->way[i]);
        }
    free_blocks(returns->spare);
    free(returns->way);
    free(returns->spare_heads);
    free(returns->incoming);
    free(returns);
    ctx->returns = NULL;
}
