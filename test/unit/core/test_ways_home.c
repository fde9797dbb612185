/* SPDX-License-Identifier: MIT */
/* Blocks that others free come home, each once, whatever happens to the freer, the owner or the memory in between. */
#include "bcri/returns.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/heap.h"
#include "bcri/layout.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "check.h"
#include "owner.h"

static uint32_t segments_of(enum bcri_seg_kind kind)
{
    uint32_t found = 0;
    uint32_t count = bcri_load_acquire(&owner->host->segment_count);
    for (uint32_t seg = 0; seg < count; seg++)
        found += owner->host->segments[seg].kind == (uint32_t)kind;
    return found;
}

TEST(a_block_freed_by_another_serves_again_when_the_account_is_full)
{
    open_group(64);
    struct bcri_ctx *freer = group_join(group);
    bcri_ref ref = new_region(owner, 8, 1);
    struct bcri_region_shm *region;
    bcri_ref refused;
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_INT(bcri_heap_alloc(owner, 8, 1, &refused, &region), bcrE_NOMEM);
        drop(freer, ref);
        ref = new_region(owner, 8, 1);
    }
    drop(owner, ref);
    group_leave(group, freer);
    close_group();
}

TEST(what_came_home_counts_when_an_area_is_removed)
{
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    static const uint32_t lengths[] = {0, 32, 33, 64, 5000, 65536, 65537, 300000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        bcri_ref ref = new_region(owner, lengths[i], 1);
        CHECK_INT(bcri_heap_remove(owner, area), bcrE_BUSY);
        drop(freer, ref);
        CHECK_INT(bcri_heap_remove(owner, area), 0);
        CHECK_INT(bcri_heap_add(owner, 1 << 20, &area), 0);
    }
    group_leave(group, freer);
    close_group();
}

TEST(whoever_waits_takes_a_few_blocks_home_at_a_time)
{
    enum { MANY = 500 };
    bcri_ref refs[MANY];
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    bcri_heap_collect_waiting(owner);
    drop(freer, new_region(owner, 8, 1));
    bcri_heap_collect_waiting(owner); /* a way that is not known yet is not gone */
    CHECK_UINT(bcri_heap_charged(owner), 1);
    bcri_heap_collect(owner);
    for (unsigned i = 0; i < MANY; i++)
        refs[i] = new_region(owner, 8, 1);
    for (unsigned i = 0; i < MANY; i++)
        drop(freer, refs[i]);
    for (uint64_t left = MANY; left > 0;) {
        bcri_heap_collect_waiting(owner);
        uint64_t now = bcri_heap_charged(owner);
        CHECK(now < left && left - now <= BCRI_RETURN_GLANCE);
        left = now;
    }
    bcri_heap_collect_waiting(owner);
    CHECK(bcri_heap_valid(owner));
    group_leave(group, freer);
    close_group();
}

TEST(a_large_block_that_comes_and_goes_is_joined_by_a_second_one_and_no_third)
{
    static const uint32_t lengths[] = {65536, 65537, 300000};
    open_group(4 << 20);
    struct bcri_ctx *freer = group_join(group);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        bcri_ref seen[8];
        unsigned seen_count = 0;
        for (unsigned round = 0; round < 1000; round++) {
            bcri_ref ref = new_region(owner, lengths[i], 1);
            unsigned k = 0;
            while (k < seen_count && seen[k] != ref)
                k++;
            if (k == seen_count && seen_count < 8)
                seen[seen_count++] = ref;
            if (round % 3 == 0)
                bcri_heap_collect_waiting(owner);
            drop(freer, ref);
        }
        bcri_heap_collect(owner);
        CHECK_UINT(seen_count, 2);
    }
    group_leave(group, freer);
    close_group();
}

TEST(a_flood_grows_the_queue_and_afterwards_its_blocks_circulate)
{
    enum { MANY = 50000 };
    bcri_ref *refs = calloc(MANY, sizeof *refs);
    CHECK(refs != NULL);
    open_group(MANY * 64);
    struct bcri_ctx *freer = group_join(group);
    uint32_t made = 0;
    for (unsigned round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < MANY; i++)
            refs[i] = new_region(owner, 8, 1);
        for (uint32_t i = 0; i < MANY; i++)
            drop(freer, refs[i]);
        bcri_heap_collect(owner);
        CHECK_UINT(bcri_heap_charged(owner), 0);
        if (round == 1)
            made = segments_of(BCRI_SEG_RETURNS);
    }
    CHECK_UINT(segments_of(BCRI_SEG_RETURNS), made);
    free(refs);
    group_leave(group, freer);
    close_group();
}

/* A bounded ring of references from the test's one thread to others: the tests' way to hand regions over. */
enum { RING = 1024 };
struct ring {
    _Atomic uint64_t slot[RING]; /* 0: empty */
};

static void ring_put(struct ring *ring, uint64_t i, bcri_ref ref)
{
    while (bcri_load_acquire(&ring->slot[i % RING]) != 0)
        sched_yield();
    bcri_store_release(&ring->slot[i % RING], ref);
}
static bcri_ref ring_get(struct ring *ring, uint64_t i)
{
    bcri_ref ref;
    while ((ref = bcri_load_acquire(&ring->slot[i % RING])) == 0)
        sched_yield();
    bcri_store_release(&ring->slot[i % RING], 0);
    return ref;
}

struct stream {
    struct ring ring;
    uint64_t count;
    struct bcri_ctx *ctx; /* of a thread */
};

static int free_stream(struct bcri_ctx *ctx, void *arg)
{
    struct stream *stream = arg;
    for (uint64_t i = 0; i < stream->count; i++) {
        bcri_ref ref = ring_get(&stream->ring, i);
        const struct bcri_region_shm *region = bcri_at(ctx, ref);
        const unsigned char *data = ctx->map[bcri_ref_seg(ref)].base + (uint64_t)region->data_16 * 16;
        for (uint32_t k = 0; k < region->length; k++)
            if (data[k] != (unsigned char)i)
                return 1;
        drop(ctx, ref);
    }
    return 0;
}

static void *free_stream_in_thread(void *arg)
{
    struct stream *stream = arg;
    return free_stream(stream->ctx, stream) == 0 ? arg : NULL;
}

/* The owner feeds `freers` streams from an account that is small enough to need what comes home. */
static void feed(struct stream *streams, unsigned freers, uint64_t count)
{
    uint64_t state = test_seed();
    for (uint64_t i = 0; i < count; i++)
        for (unsigned k = 0; k < freers; k++) {
            uint32_t length =
                (uint32_t)test_rand_below(&state, test_rand_below(&state, 20) == 0 ? 3000 : 100);
            bcri_ref ref;
            struct bcri_region_shm *region;
            while (bcri_heap_alloc(owner, length, 1, &ref, &region) != 0)
                sched_yield();
            memset(owner->map[bcri_ref_seg(ref)].base + (uint64_t)region->data_16 * 16, (int)i, length);
            bcri_store_release(&region->count, BCRI_COUNT_ONE);
            ring_put(&streams[k].ring, i, ref);
        }
}

TEST_TIMEOUT(threads_free_what_the_owner_streams_to_them, 120)
{
    enum { FREERS = 3 };
    static struct stream streams[FREERS];
    pthread_t thread[FREERS];
    open_group(100000);
    for (unsigned k = 0; k < FREERS; k++) {
        streams[k].count = test_scale(30000, 500000);
        streams[k].ctx = group_join(group);
        CHECK_INT(pthread_create(&thread[k], NULL, free_stream_in_thread, &streams[k]), 0);
    }
    feed(streams, FREERS, streams[0].count);
    for (unsigned k = 0; k < FREERS; k++) {
        void *ok = NULL;
        CHECK_INT(pthread_join(thread[k], &ok), 0);
        CHECK_PTR(ok, &streams[k]);
        group_leave(group, streams[k].ctx);
    }
    close_group();
}

TEST_TIMEOUT(processes_free_what_the_owner_streams_to_them, 120)
{
    enum { FREERS = 3 };
    struct stream *streams =
        mmap(NULL, FREERS * sizeof *streams, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(streams != MAP_FAILED);
    pid_t pid[FREERS];
    uint32_t index[FREERS];
    open_group(100000);
    for (unsigned k = 0; k < FREERS; k++)
        streams[k].count = test_scale(30000, 500000);
    for (unsigned k = 0; k < FREERS; k++)
        pid[k] = group_fork(group, free_stream, &streams[k], &index[k]);
    feed(streams, FREERS, streams[0].count);
    for (unsigned k = 0; k < FREERS; k++)
        CHECK_INT(group_bury(group, pid[k], index[k]), 0);
    close_group();
}

/* Queues of a freer that somebody still has to read. */
static uint32_t undrained(uint32_t freer)
{
    struct bcri_ctx *enl = group_enl(group);
    uint32_t count = 0;
    for (uint32_t seg = 0; seg < bcri_load(&enl->host->segment_count); seg++)
        if (enl->host->segments[seg].kind == BCRI_SEG_RETURNS && enl->host->segments[seg].owner == freer)
            count += bcri_returns_undrained(enl, seg);
    return count;
}

TEST(a_dead_freers_queue_is_read_to_the_end_and_then_given_up)
{
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    uint32_t index = freer->index;
    for (unsigned i = 0; i < 500; i++)
        drop(freer, new_region(owner, 8, 1));
    CHECK(undrained(index) != 0);
    group_leave(group, freer);
    CHECK(undrained(index) != 0);
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 0);
    bcri_heap_collect(owner);
    CHECK(undrained(index) == 0);
    close_group();
}

TEST(a_dead_freers_queue_to_an_ended_owner_holds_nothing_back)
{
    open_group(1 << 20);
    struct bcri_ctx *other = group_join(group);
    struct bcri_ctx *freer = group_join(group);
    uint32_t index = freer->index;
    uint32_t there;
    CHECK_INT(bcri_heap_add(other, 4096, &there), 0);
    drop(freer, new_region(other, 8, 1));
    group_leave(group, freer);
    CHECK(undrained(index) != 0);
    group_leave(group, other);
    CHECK(undrained(index) == 0);
    close_group();
}

TEST(blocks_of_an_ended_owner_are_counted_where_enl_looks)
{
    open_group(1 << 20);
    struct bcri_ctx *other = group_join(group);
    uint32_t there;
    CHECK_INT(bcri_heap_add(other, 4096, &there), 0);
    bcri_ref early = new_region(other, 8, 1);
    bcri_ref ref[3];
    for (unsigned i = 0; i < 3; i++)
        ref[i] = new_region(other, 8, 1);
    uint32_t seg = bcri_ref_seg(ref[0]);
    drop(owner, early);
    CHECK_UINT(bcri_load(&owner->host->segments[seg].frees), 0);
    CHECK_UINT(bcri_heap_held(group_enl(group), seg), 3);
    group_leave(group, other);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_UINT(bcri_heap_held(group_enl(group), seg), 3 - i);
        drop(owner, ref[i]);
        CHECK_UINT(bcri_load(&owner->host->segments[seg].frees), i + 1);
    }
    CHECK_UINT(bcri_heap_held(group_enl(group), seg), 0);
    close_group();
}

static int own_segment_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_add(up, fd, size_bytes, kind, 1, seg_out);
}
static int own_segment_fd(void *up, uint32_t seg)
{
    return dup(bcri_host_segment_fd(up, seg));
}

TEST(a_record_used_again_gets_a_way_of_its_own)
{
    static const struct bcri_upcalls upcalls = {.segment_add = own_segment_add, .segment_fd = own_segment_fd};
    struct bcri_host *host;
    CHECK_INT(bcri_host_init("returns", bcri_core_layout(), &host), 0);
    struct bcri_ctx *freer = bcri_host_ctx(host);
    for (unsigned use = 0; use < 3; use++) {
        struct bcri_ctx home;
        uint32_t index, there;
        CHECK_INT(bcri_host_cce_add(host, 0, &index), 0);
        CHECK_UINT(index, 1); /* the same record each time, for another CCE */
        CHECK_INT(bcri_ctx_init(&home, bcri_host_segment_fd(host, BCRI_HOST_SEG), index, bcri_core_layout(),
                                &upcalls, host),
                  0);
        bcri_store_release(&home.record->id.state, BCRI_CCE_ALIVE);
        CHECK_INT(bcri_heap_add(&home, 4096, &there), 0);
        drop(freer, new_region(&home, 8, 1));
        bcri_heap_collect(&home);
        CHECK_UINT(bcri_heap_charged(&home), 0);
        CHECK_INT(bcri_heap_remove(&home, there), 0);
        bcri_heap_fini(&home);
        bcri_returns_fini(&home);
        bcri_ctx_fini(&home);
        bcri_store_release(&bcri_host_record(host, index)->id.state, BCRI_CCE_DEAD);
        bcri_host_cce_release(host, index);
    }
    bcri_returns_fini(freer);
    bcri_host_fini(host);
}

/* A machine that has no memory left for queues. */
static int refuse_segment(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    (void)up, (void)fd, (void)size_bytes, (void)kind, (void)seg_out;
    return bcrE_NOMEM;
}

TEST(a_block_that_finds_no_way_home_is_found_where_it_lies)
{
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    const struct bcri_upcalls *upcalls = freer->upcalls;
    struct bcri_upcalls refusing = {.segment_add = refuse_segment, .segment_fd = upcalls->segment_fd};
    bcri_ref ref[3];
    for (unsigned i = 0; i < 3; i++)
        ref[i] = new_region(owner, i == 2 ? 100000 : 8, 1);
    freer->upcalls = &refusing;
    drop(freer, ref[0]);
    drop(freer, ref[2]);
    bcri_region_drop(freer, ref[1]);
    const struct bcri_region_shm *region = bcri_at(owner, ref[1]);
    CHECK_UINT(BCRI_COUNT(bcri_load(&region->count)), 0);
    CHECK_UINT(BCRI_COUNT_OWNER(bcri_load(&region->count)), freer->tag | BCRI_COUNT_STRAY);

    /* The last is not taken while the freer's journal names it. */
    uint64_t before = bcri_heap_charged(owner);
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 1);
    CHECK(before > 1);
    CHECK_UINT(bcri_load(&owner->bell->rescan), 1);
    bcri_count_settled(freer);
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 0);
    CHECK_UINT(bcri_load(&owner->bell->rescan), 0);
    CHECK(bcri_heap_valid(owner));

    freer->upcalls = upcalls;
    drop(freer, new_region(owner, 8, 1)); /* memory is there again: the usual way */
    CHECK_UINT(bcri_load(&owner->bell->rescan), 0);
    group_leave(group, freer);
    close_group();
}

TEST(a_freer_that_dies_with_a_marked_block_has_freed_it_once)
{
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    uint32_t index = freer->index;
    struct bcri_upcalls refusing = {.segment_add = refuse_segment, .segment_fd = freer->upcalls->segment_fd};
    freer->upcalls = &refusing;
    bcri_region_drop(freer, new_region(owner, 8, 1));
    bcri_cce_dying(group_host(group), index);
    CHECK_INT(bcri_count_repair(group_enl(group), index), BCRI_CW_LAST);
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 1); /* the journal is open: not yet */
    bcri_store(&freer->journal->cw_state, BCRI_CW_IDLE);
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 0);
    group_leave(group, freer);
    close_group();
}

TEST(a_send_is_finished_by_storing_the_same_value_again)
{
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    uint32_t index = freer->index;
    bcri_region_drop(freer, new_region(owner, 8, 1)); /* sent; the journal still open */
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 0);
    bcri_ref again = new_region(owner, 8, 1); /* the block is in use again when enl repairs */
    bcri_cce_dying(group_host(group), index);
    CHECK_INT(bcri_count_repair(group_enl(group), index), BCRI_CW_LAST);
    bcri_returns_repair(group_enl(group), index);
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 1);
    const struct bcri_region_shm *region = bcri_at(owner, again);
    CHECK_UINT(bcri_load(&region->count), 1);
    drop(owner, again);
    bcri_store(&freer->journal->cw_state, BCRI_CW_IDLE);
    group_leave(group, freer);
    close_group();
}

TEST(references_that_name_no_live_block_are_refused)
{
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    bcri_ref ref = new_region(owner, 8, 1);
    uint32_t seg = bcri_ref_seg(ref);
    const bcri_ref wrong[] = {ref + 1, bcri_ref_make(seg, 0), bcri_ref_make(seg, UINT64_C(1) << 36),
                              bcri_ref_make(65535, 64), ref + 2};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        bcri_returns_send(freer, owner->index, wrong[i]);
    drop(freer, ref);
    bcri_heap_collect(owner);
    CHECK_UINT(bcri_heap_charged(owner), 0);
    CHECK(!bcri_heap_valid(owner)); /* it has noticed */
    CHECK_INT(bcri_heap_remove(owner, area), 0);
    group_leave(group, freer);
    group_leave(group, owner);
    group_close(group);
}
