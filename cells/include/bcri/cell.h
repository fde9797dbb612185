/* SPDX-License-Identifier: MIT */
/* Cells and areas in shared memory, and the protocol by which regions move through them.
 *
 * A cell is a header of four cache lines and a ring of entries (a power of two of them) that lies
 * elsewhere:
 *
 *   line H   head lock · lock owner · state · head ticket · up to four waiters by ticket
 *   line C   cold: list of waiting requests · regions before the ring (`first`, `front`) and
 *            behind it (`back`); it keeps H and T from being one pair of lines (docs/adr/0024)
 *   line T   tail lock · sleeps · state · tail ticket · limit · credits · watermark · requests
 *   line I   the area's reference; never changes while the cell is open, so that the line can stay
 *            in every cache
 *   ring     entries of 8 bytes:  63..56 lap tag · 55..48 putter's CPU · 47..0 region reference
 *
 * A CCE may still come to a cell that it resolved before the cell was freed: it locks what lies
 * there and compares the generation. Therefore all headers have one size and lie at the same places
 * in each page that holds any (below), and no generation is used twice at one header. A CCE touches
 * rings and nodes only under a lock of their cell, after that comparison, so their memory may serve
 * any other ring or node at once. A getter that waits by ticket reads its entry without a lock;
 * when its own slot contradicts the entry, it believes the slot.
 *
 * Tickets. Every put that goes through the ring has a ticket t = tail++, every take one t = head++;
 * entry t % N carries the region of ticket t once its lap tag is that of t. If head > tail, the
 * tickets between them wait. The queue is `first`, `front`, ring [head, tail), `back`, in that
 * order.
 *
 * Fast and slow. A cell whose H.state and T.state equal its generation with no flag set is fast:
 *   put         under T: entry[tail] = region, tail++                         (needs tail < limit)
 *   take        under H: if entry[head] is full: head++, and the region is the taker's; else the
 *               taker may wait: waiter[t % 4] = its ID slot, head++, and it polls the entry without
 *               any lock
 *   read        under H: if entry[head] is full: one more holder
 *   write       under T, when the queue is empty (head >= tail): like put
 * Everything else sets flags in both lines, under both locks: reads that wait, more than four
 * waiting takes, a queue longer than the ring, replacing, cancelling, handing back, a dead owner
 * of the write lock. The flags send all operations through both locks, H first, and through
 * transactions (tx.h). They are cleared once nothing of that is left.
 *
 * The CCE that holds T may write a ring entry, and only entry tail % N while tail < limit, where
 *   limit = min(head, oldest uncollected ticket) + N, and <= head + credits unless tickets wait.
 * A taker that finds its entry full reads it under H before it moves head. A taker that waited
 * clears waiter[t % 4] after it has read its entry, and `limit` does not pass that entry before.
 * `limit` is a cached bound: head, collected tickets and credits only grow while it is trusted; a
 * CCE that lowers one of them holds both locks and sets limit = tail.
 *
 * A waiter that is about to sleep sets T.sleeps and writes a sleep flag (SLEEP | the index of its
 * record) into its entry, both under T; the putter that finds the flag rings the waiter. Without
 * `sleeps` a putter does not read the entry first: reading would fetch the line shared, and the
 * store that follows would have to fetch it again from the waiters that poll it.
 *
 * A waiter by ticket that sees its entry full looks at its own slot next. If another CCE has moved
 * the request to the list meanwhile (under both locks, before that put), the entry is not for it.
 *
 * Deaths. Each operation below names its journal phases; operation_repair.c holds the other half. In
 * short, the points of no return are: the store of the entry (put), the stores of head and slot
 * word together (take), redo_state = committed (slow). Model: test/spin/ticket.pml. */
#ifndef BCRI_CELL_H
#define BCRI_CELL_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/ref.h"
#include "bcri/slot.h"

#define BCRI_TICKETS 4u

/* flags in H.state and T.state (low 32 bits; the generation is in the high 32) */
#define BCRI_CELL_SLOW      1u   /* both locks, transactions */
#define BCRI_CELL_OWNERDEAD 2u   /* the write lock's owner has died; nobody has put since */
#define BCRI_CELL_ARMED     8u   /* a descriptor waits for the next region (fd.c) */
#define BCRI_CELL_CLOSED    4u   /* cafree, or the owner has ended */
#define BCRI_CELL_HIGH      16u  /* watermark > 0: additions may request the owner's handler */
#define BCRI_CELL_LOW       32u  /* watermark <= 0: gets may request it */
#define BCRI_CELL_CORRUPT   64u  /* CLOSED by the daemon, for good (validate.h) */
#define BCRI_CELL_WAKES     128u /* additions make the owner's descriptor readable (wakeon.c) */

struct bcri_head_shm {
    _Atomic uint32_t lock;
    _Atomic uint32_t taker; /* lock owner: tag of the last CCE that took a write lock here */
    _Atomic uint64_t state;
    _Atomic uint64_t head;
    _Atomic uint64_t waiter[BCRI_TICKETS]; /* 63..48 ticket's low bits, 47..0 ID slot; 0: none */
    _Atomic uint64_t taker_epoch;          /* `taker` is valid until the epoch is past this */
};
struct bcri_tail_shm {
    _Atomic uint32_t lock;
    _Atomic uint32_t sleeps; /* 1: an entry may carry a sleep flag; under T */
    _Atomic uint64_t state;
    _Atomic uint64_t tail;
    _Atomic uint64_t limit;
    _Atomic uint64_t credits;   /* how many queued regions this cell may hold of its area's bound */
    _Atomic uint32_t watermark; /* the watermark, if the state says HIGH or LOW */
    uint32_t pad0;
    _Atomic uint64_t requests; /* requests of the handler, ever: watermark.h */
    uint64_t pad1;
};
struct bcri_cold_shm {
    _Atomic uint64_t list_first; /* waiting requests, oldest first: ID slots */
    _Atomic uint64_t list_last;
    _Atomic uint64_t first; /* region at the very front */
    _Atomic uint64_t front; /* chain of nodes: regions that were given back */
    _Atomic uint64_t back_first;
    _Atomic uint64_t back_last;
    _Atomic uint32_t extra;  /* regions in first, front, back */
    _Atomic uint32_t takes;  /* waiting requests in the list that take */
    _Atomic uint32_t sub;    /* orders the answers of one tail */
    _Atomic uint32_t direct; /* puts that did not move the tail, less tail moves without a put */
};
struct bcri_fixed_shm {
    _Atomic uint64_t area; /* read while its memory may go: one atomic word, also on 32 bits */
    uint64_t pad[7];
};
struct bcri_cell_shm {
    struct bcri_head_shm h;
    struct bcri_cold_shm c;
    struct bcri_tail_shm t;
    struct bcri_fixed_shm i;
};
static_assert(sizeof(struct bcri_head_shm) == 64, "docs/layout/cell.md");
static_assert(sizeof(struct bcri_tail_shm) == 64, "docs/layout/cell.md");
static_assert(sizeof(struct bcri_cold_shm) == 64, "docs/layout/cell.md");
static_assert(sizeof(struct bcri_fixed_shm) == 64, "docs/layout/cell.md");
static_assert(sizeof(struct bcri_cell_shm) == 256, "docs/layout/cell.md");
static_assert(offsetof(struct bcri_cell_shm, c) == 64, "docs/layout/cell.md");
static_assert(offsetof(struct bcri_cell_shm, t) == 128, "docs/layout/cell.md");
static_assert(offsetof(struct bcri_cell_shm, i) == 192, "docs/layout/cell.md");
static_assert(offsetof(struct bcri_cell_shm, t) - offsetof(struct bcri_cell_shm, h) >= BCRI_LINE_PAIR,
              "takers' and putters' lines are never one pair, wherever the header begins");

/* A page of headers, the same for all of them: one slot for an area's header, then slots for
 * cells'. An area's header lies in the first of the pages that it has. */
#define BCRI_HEADER_BYTES   256u
#define BCRI_CELLS_PER_PAGE (BCRI_PAGE_BYTES / BCRI_HEADER_BYTES - 1u)

#define BCRI_RING_MIN 8u
#define BCRI_RING_MAX 4096u

/* Entries. Lap tags run 0x80..0xff, so that neither an untouched entry (0) nor a sleep flag is ever
 * taken for a full one. */
#define BCRI_ENTRY_SLEEP UINT64_C(0x01)
static inline uint64_t bcri_lap(uint64_t ticket, uint32_t ring_log2)
{
    return 0x80u | ((ticket >> ring_log2) & 0x7fu);
}
static inline uint64_t bcri_entry(uint64_t lap, uint32_t cpu, bcri_ref ref)
{
    return lap << 56 | (uint64_t)(uint8_t)cpu << 48 | ref;
}
static inline uint64_t bcri_entry_lap(uint64_t entry)
{
    return entry >> 56;
}
/* Whether `entry` carries the region of `ticket`. Bytes are compared, which takes one instruction
 * less than numbers. */
static inline bool bcri_entry_is(uint64_t entry, uint64_t ticket, uint32_t ring_log2)
{
    return (uint8_t)(entry >> 56) == (uint8_t)(0x80u | ticket >> ring_log2);
}

/* A node carries one region behind or before the ring. Free nodes are linked at area.node_free. */
struct bcri_node_shm {
    _Atomic uint64_t next;
    _Atomic uint64_t region;
    uint64_t pad[2];
};
static_assert(sizeof(struct bcri_node_shm) == BCRI_REF_UNIT, "docs/layout/cell.md");

/* How many puts there have been, modulo 2^32. Under the head lock `direct` does not change; a fast
 * put that runs at this moment may or may not be counted. */
static inline uint32_t bcri_epoch(const struct bcri_cell_shm *cell)
{
    return (uint32_t)bcri_load(&cell->t.tail) + bcri_load(&cell->c.direct);
}
/* The epoch in which a write lock takes ticket `ticket` under the head lock. The put of that ticket
 * counts, also when its putter has stored the entry but not yet moved the tail. */
static inline uint32_t bcri_epoch_taking(const struct bcri_cell_shm *cell, uint64_t ticket)
{
    uint64_t tail = bcri_load(&cell->t.tail);
    return (uint32_t)(tail > ticket ? tail : ticket + 1) + bcri_load(&cell->c.direct);
}
static inline bool bcri_epoch_past(uint32_t epoch, uint64_t mark)
{
    return (int32_t)(epoch - (uint32_t)mark) > 0;
}

/* What one bcr_cagrow made. The owner writes line 0 before it links the area into its list; only
 * `next` and `gen` change after that. */
struct bcri_area_shm {
    _Atomic uint64_t next; /* the owner's next area; the owner writes it while its version is odd */
    uint64_t cells;        /* the first cell; bcri_area_cell finds the others */
    uint64_t rings;        /* the first cell's ring; those of the others follow */
    uint32_t base;         /* number of the first cell */
    uint32_t kinds[4];     /* how many private, in, out, in/out */
    uint32_t nrgns;
    uint32_t ring_log2;
    _Atomic uint32_t gen; /* generation; 0: no area here. Stored last, and zeroed first */
    uint32_t owner;       /* index of its record */
    uint32_t heap;        /* handle of heap.h, or UINT32_MAX */
    /* line 1 */
    _Atomic uint32_t lock;      /* for put_first, put_last; taken before any cell's locks */
    _Atomic uint32_t leaf;      /* for pool, node_free; taken last */
    _Atomic uint32_t waitputs;  /* puts that wait for room here */
    _Atomic uint32_t pool;      /* credits that no cell has */
    _Atomic uint64_t put_first; /* waiting puts, oldest first: ID slots of the putters */
    _Atomic uint64_t put_last;
    _Atomic uint64_t node_free;
    uint64_t nodes;              /* node_count of them behind the rings */
    _Atomic uint32_t node_fresh; /* how many of the nodes have ever been used */
    uint32_t node_count;
    _Atomic uint32_t gather_from; /* which cell had an unused credit last; a hint */
    uint32_t nbytes;              /* what its heap area may hold; like line 0 */
};
static_assert(sizeof(struct bcri_area_shm) == 128, "docs/layout/area.md");
static_assert(offsetof(struct bcri_area_shm, lock) == 64, "docs/layout/area.md");

enum bcri_cell_kind { BCRI_CELL_PRIVATE, BCRI_CELL_IN, BCRI_CELL_OUT, BCRI_CELL_INOUT };

static inline uint32_t bcri_area_cells(const struct bcri_area_shm *area)
{
    return area->kinds[0] + area->kinds[1] + area->kinds[2] + area->kinds[3];
}
static inline bcri_ref bcri_area_cell(const struct bcri_area_shm *area, uint32_t i)
{
    return area->cells + (uint64_t)(i / BCRI_CELLS_PER_PAGE) * (BCRI_PAGE_BYTES / BCRI_REF_UNIT) +
           (uint64_t)(i % BCRI_CELLS_PER_PAGE) * (BCRI_HEADER_BYTES / BCRI_REF_UNIT);
}
/* The ring of the area's cell `i`. */
static inline bcri_ref bcri_area_ring(const struct bcri_area_shm *area, uint32_t i)
{
    return area->rings + ((uint64_t)i << area->ring_log2) * sizeof(uint64_t) / BCRI_REF_UNIT;
}
/* A generation that was never used before (docs/layout/area.md, "Generations"). */
static inline uint32_t bcri_next_gen(struct bcri_ctx *ctx)
{
    uint32_t gen;
    do
        gen = atomic_fetch_add_explicit(&ctx->host->area_gen, 1, memory_order_relaxed) + 1;
    while (gen == 0);
    return gen;
}

#endif
