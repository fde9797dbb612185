/* SPDX-License-Identifier: MIT */
/* Blocks that others free serve again, each once, whatever happens to the freer, the owner or the
 * memory in between. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/heap.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "check.h"
#include "owner.h"

TEST(a_block_freed_by_another_gives_the_account_its_length_back)
{
    static const uint32_t lengths[] = {0, 1, 8, 63, 65, 65536, 65537, 300001};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const uint32_t charge = lengths[k] != 0 ? lengths[k] : 1;
        open_group(charge + 1);
        struct bcri_ctx *freer = group_join(group);
        bcri_ref ref = new_region(owner, lengths[k], 1), one = new_region(owner, 0, 1);
        struct bcri_region_shm *region;
        bcri_ref refused;
        for (unsigned i = 0; i < 200; i++) {
            CHECK_UINT(bcri_heap_charged(owner), charge + 1);
            CHECK_INT(bcri_heap_alloc(owner, lengths[k], 1, &refused, &region), bcrE_NBYTES);
            CHECK_INT(bcri_heap_alloc(owner, 0, 1, &refused, &region), bcrE_NBYTES);
            drop(freer, ref);
            ref = new_region(owner, lengths[k], 1);
        }
        drop(owner, ref);
        drop(freer, one);
        bcri_heap_collect(owner);
        CHECK_UINT(bcri_heap_charged(owner), 0);
        group_leave(group, freer);
        close_group();
    }
}

TEST(what_others_have_freed_counts_when_an_area_is_removed)
{
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    static const uint32_t lengths[] = {0, 32, 33, 64, 5000, 65536, 65537, 300000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        bcri_ref ref = new_region(owner, lengths[i], 1);
        CHECK_INT(bcri_heap_remove(owner, area), bcrE_BUSY);
        drop(freer, ref);
        CHECK_INT(bcri_heap_remove(owner, area), 0);
        CHECK_INT(bcri_heap_add(owner, 1 << 20, 0, &area), 0);
    }
    group_leave(group, freer);
    close_group();
}

static uint32_t rings(void)
{
    return bcri_load(&owner->bell->bell);
}

TEST(a_free_rings_an_owner_that_waits_for_room_and_no_other)
{
    static const uint32_t lengths[] = {8, 1024, 65536, 300000};
    open_group(2 << 20);
    struct bcri_ctx *freer = group_join(group);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        bcri_ref ref[4];
        for (unsigned k = 0; k < 4; k++)
            ref[k] = new_region(owner, lengths[i], k == 1 ? 2 : 1);
        const uint32_t before = rings();
        drop(freer, ref[0]);
        CHECK_UINT(rings(), before);
        (void)bcri_heap_room_wait(owner);
        CHECK_UINT(bcri_heap_charged(owner), 3 * lengths[i]); /* what was free before is there at once */
        CHECK(bcri_heap_valid(owner));
        drop(freer, ref[1]);
        CHECK_UINT(rings(), before); /* another CCE holds it yet */
        drop(freer, ref[1]);
        CHECK_UINT(rings(), before + 1);
        bcri_heap_look_waiting(owner); /* takes nothing that no waiting call would be tried for */
        CHECK_UINT(bcri_heap_charged(owner), 3 * lengths[i]);
        (void)bcri_heap_room_wait(owner);
        bcri_heap_room_over(owner);
        drop(freer, ref[2]);
        CHECK_UINT(rings(), before + 2); /* one of two still waits */
        bcri_heap_room_over(owner);
        drop(freer, ref[3]);
        CHECK_UINT(rings(), before + 2);
    }
    group_leave(group, freer);
    close_group();
}

TEST(memory_that_is_added_during_a_wait_rings_too)
{
    open_group(4096);
    struct bcri_ctx *freer = group_join(group);
    uint32_t more;
    (void)bcri_heap_room_wait(owner);
    CHECK_INT(bcri_heap_add(owner, UINT64_C(1) << 26, 0, &more), 0); /* a segment of its own */
    bcri_ref ref = new_region(owner, 1 << 24, 1);
    const uint32_t before = rings();
    drop(freer, ref);
    CHECK_UINT(rings(), before + 1);
    bcri_heap_room_over(owner);
    group_leave(group, freer);
    close_group();
}

TEST(one_block_among_many_is_found_by_its_mark)
{
    enum { MANY = 5000, LENGTH = 64 };
    static bcri_ref refs[MANY];
    uint64_t state = test_seed();
    open_group(MANY * LENGTH);
    struct bcri_ctx *freer = group_join(group);
    for (unsigned i = 0; i < MANY; i++)
        refs[i] = new_region(owner, LENGTH, 1);
    for (unsigned round = 0; round < 1000; round++) {
        uint64_t i = test_rand_below(&state, MANY);
        drop(freer, refs[i]);
        refs[i] = new_region(owner, LENGTH, 1);
    }
    for (unsigned i = 0; i < MANY; i++)
        drop(freer, refs[i]);
    CHECK(bcri_heap_valid(owner));
    group_leave(group, freer);
    close_group();
}

TEST(a_CCE_that_waits_takes_what_the_next_allocation_wants)
{
    enum { PAGE = 64, LENGTH = 8 };
    bcri_ref refs[2 * PAGE];
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    bcri_heap_look_waiting(owner);
    for (unsigned i = 0; i < 2 * PAGE; i++)
        refs[i] = new_region(owner, LENGTH, 1);
    bcri_heap_look_waiting(owner);
    CHECK_UINT(bcri_heap_charged(owner), 2 * PAGE * LENGTH);
    for (unsigned i = 0; i < PAGE; i++)
        drop(freer, refs[i]);
    bcri_heap_look_waiting(owner); /* this page's turn comes after the other's: that one is put back */
    bcri_heap_look_waiting(owner);
    uint64_t left = bcri_heap_charged(owner);
    CHECK(left < 2 * PAGE * LENGTH && left >= PAGE * LENGTH);
    bcri_heap_look_waiting(owner); /* there is one at hand now */
    CHECK_UINT(bcri_heap_charged(owner), left);
    for (unsigned i = PAGE; i < 2 * PAGE; i++)
        drop(freer, refs[i]);
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
                bcri_heap_look_waiting(owner);
            drop(freer, ref);
        }
        bcri_heap_collect(owner);
        CHECK_UINT(seen_count, 2);
    }
    group_leave(group, freer);
    close_group();
}

/* A bounded ring of references from the test's one thread to others: the tests' way to hand regions
 * over. */
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

/* The owner feeds `freers` streams from an account that is small enough to need what they free. */
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

TEST(blocks_of_an_ended_owner_are_counted_where_enl_looks)
{
    open_group(1 << 20);
    struct bcri_ctx *other = group_join(group);
    uint32_t there;
    CHECK_INT(bcri_heap_add(other, 4096, 0, &there), 0);
    bcri_ref early = new_region(other, 8, 1);
    bcri_ref ref[3];
    for (unsigned i = 0; i < 3; i++)
        ref[i] = new_region(other, 8, 1);
    uint32_t seg = bcri_ref_seg(ref[0]);
    drop(owner, early);
    CHECK_UINT(bcri_load(&owner->host->segments[seg].frees), 0);
    CHECK_UINT(bcri_heap_held(group_enl(group), seg), 3);
    group_leave(group, other);
    bcri_heap_end(group_enl(group), seg);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_UINT(bcri_heap_held(group_enl(group), seg), 3 - i);
        drop(owner, ref[i]);
        CHECK_UINT(bcri_load(&owner->host->segments[seg].frees), i + 1);
    }
    CHECK_UINT(bcri_heap_held(group_enl(group), seg), 0);
    close_group();
}

/* A CCE that has dropped its hold on `ref`, as far as its journal says so, and is dead. */
static uint32_t die_over(struct bcri_ctx *freer, enum bcri_cw_state state, bcri_ref ref, uint32_t incarnation)
{
    bcri_store(&freer->journal->cw_ref, ref);
    bcri_store(&freer->journal->cw_new, 0);
    bcri_store(&freer->journal->cw_incarnation, incarnation);
    bcri_store(&freer->journal->cw_state, state);
    bcri_cce_dying(group_host(group), freer->index);
    return freer->index;
}

static struct bcri_region_shm *at(bcri_ref ref)
{
    return bcri_at(owner, ref);
}

static const enum bcri_cw_state dropped[] = {BCRI_CW_COMMIT, BCRI_CW_SOLE, BCRI_CW_LAST};
enum { DROPPED = sizeof dropped / sizeof dropped[0] };

TEST(a_block_that_serves_again_is_not_touched_by_the_repair_of_its_last_holder)
{
    open_group(8); /* room for this one alone */
    for (unsigned i = 0; i < DROPPED; i++) {
        struct bcri_ctx *freer = group_join(group);
        bcri_ref ref = new_region(owner, 8, 1);
        const uint32_t incarnation = bcri_load(&at(ref)->incarnation);
        drop(freer, ref);
        CHECK_UINT(new_region(owner, 8, 1), ref);
        CHECK(bcri_load(&at(ref)->incarnation) != incarnation);
        uint32_t index = die_over(freer, dropped[i], ref, incarnation);
        CHECK_INT(bcri_count_repair(group_enl(group), index), BCRI_CW_LAST);
        bcri_heap_collect(owner);
        CHECK_UINT(bcri_load(&at(ref)->count), 1);
        CHECK_UINT(bcri_heap_charged(owner), 8);
        drop(owner, ref);
        bcri_store(&freer->journal->cw_state, BCRI_CW_IDLE);
        group_leave(group, freer);
    }
    close_group();
}

/* Gives the page of `ref`, a small block that is free, to a page run, all of whose words could be
 * that block's header. */
static bcri_ref serve_as_data(bcri_ref ref, const struct bcri_region_shm *header)
{
    bcri_heap_collect(owner); /* gives empty spans back */
    bcri_ref run = new_region(owner, 200000, 1);
    unsigned char *data = owner->map[bcri_ref_seg(run)].base + (uint64_t)at(run)->data_16 * 16;
    CHECK((unsigned char *)at(ref) >= data && (unsigned char *)at(ref) < data + 200000);
    for (uint32_t i = 0; i + BCRI_REGION_HEADER <= 200000; i += BCRI_REGION_HEADER)
        memcpy(data + i, (const void *)header, BCRI_REGION_HEADER);
    return run;
}

TEST(an_owner_that_waits_for_room_is_rung_for_a_freer_that_died_first)
{
    open_group(8);
    for (unsigned i = 0; i < DROPPED; i++) {
        struct bcri_ctx *freer = group_join(group);
        bcri_ref ref = new_region(owner, 8, 1);
        (void)bcri_heap_room_wait(owner);
        const uint32_t before = rings();
        bcri_store(&at(ref)->count, 0);
        uint32_t index = die_over(freer, dropped[i], ref, bcri_load(&at(ref)->incarnation));
        CHECK_INT(bcri_count_repair(group_enl(group), index), BCRI_CW_LAST);
        CHECK_UINT(rings(), before + 1);
        bcri_heap_collect(owner);
        bcri_heap_room_over(owner);
        CHECK_UINT(bcri_heap_charged(owner), 0);
        bcri_store(&freer->journal->cw_state, BCRI_CW_IDLE);
        group_leave(group, freer);
    }
    close_group();
}

TEST(what_looks_like_the_header_of_a_freed_block_is_not_believed)
{
    open_group(1 << 20);
    for (unsigned i = 0; i < DROPPED; i++) {
        struct bcri_ctx *freer = group_join(group);
        bcri_ref before = new_region(owner, 65536, 1), ref = new_region(owner, 8, 1);
        struct bcri_region_shm header;
        memcpy((void *)&header, (const void *)at(ref), sizeof header);
        if (dropped[i] == BCRI_CW_COMMIT)
            bcri_store(&header.count, BCRI_COUNT_WORD(1, freer->tag));
        drop(freer, ref);
        drop(freer, before);
        bcri_ref run = serve_as_data(ref, &header);
        uint32_t index = die_over(freer, dropped[i], ref, bcri_load(&header.incarnation));
        CHECK_INT(bcri_count_repair(group_enl(group), index), BCRI_CW_LAST);
        CHECK_INT(memcmp((const void *)at(ref), (const void *)&header, sizeof header), 0);
        bcri_heap_collect(owner); /* the mark is late: nothing happens */
        CHECK(bcri_heap_valid(owner));
        CHECK(bcri_load(&at(run)->count) == 1);
        drop(owner, run);
        bcri_store(&freer->journal->cw_state, BCRI_CW_IDLE);
        group_leave(group, freer);
    }
    close_group();
}

TEST(a_mark_may_be_set_at_any_time)
{
    static const uint32_t lengths[] = {0, 64, 1024, 16384, 65536, 300000};
    open_group(1 << 20);
    struct bcri_ctx *freer = group_join(group);
    uint64_t state = test_seed();
    bcri_ref refs[32] = {0};
    for (unsigned round = 0; round < test_scale(20000, 200000); round++) {
        uint64_t i = test_rand_below(&state, 32);
        bcri_ref ref;
        struct bcri_region_shm *region;
        if (refs[i] != 0)
            drop(test_rand_below(&state, 2) != 0 ? freer : owner, refs[i]);
        refs[i] = 0;
        if (bcri_heap_alloc(owner, lengths[test_rand_below(&state, 6)], 1, &ref, &region) == 0) {
            bcri_store_release(&region->count, BCRI_COUNT_ONE);
            refs[i] = ref;
            bcri_heap_freed(freer, bcri_ref_make(bcri_ref_seg(ref), test_rand_below(&state, 1 << 20)));
        }
        if (round % 64 == 0)
            CHECK(bcri_heap_valid(owner));
    }
    for (unsigned i = 0; i < 32; i++)
        if (refs[i] != 0)
            drop(freer, refs[i]);
    group_leave(group, freer);
    close_group();
}
