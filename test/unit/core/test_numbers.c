/* SPDX-License-Identifier: MIT */
/* Numbers of segments and pages of cells are given out again: bcri/host.h. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/ctx.h"
#include "bcri/layout.h"
#include "bcri/segment.h"
#include "check.h"

enum { BYTES = 1 << 16, OWNER = 1 };

static struct bcri_host *host;

static void begin(void)
{
    CHECK_INT(bcri_host_init("numbers", 0, bcri_core_layout(), &host), 0);
}

static uint32_t make(uint64_t bytes, enum bcri_seg_kind kind)
{
    uint32_t seg = 0;
    if (bcri_host_segment_again(host, bytes, kind, OWNER, &seg))
        return seg;
    int fd = bcri_segment_create(bytes);
    CHECK(fd >= 0);
    CHECK_INT(bcri_host_segment_add(host, fd, bytes, kind, OWNER, &seg), 0);
    return seg;
}

/* A process that shortens the file of a segment makes each reader of it die of SIGBUS. */
TEST(a_file_that_may_shrink_or_has_another_size_is_no_segment)
{
    uint32_t seg = 0;
    begin();
    int fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0);
    CHECK_INT(ftruncate(fd, BYTES), 0);
    CHECK_INT(bcri_host_segment_add(host, fd, BYTES, BCRI_SEG_HEAP, OWNER, &seg), bcrE_ARG);
    CHECK_INT(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
    CHECK_INT(bcri_host_segment_add(host, fd, BYTES, BCRI_SEG_HEAP, OWNER, &seg), bcrE_ARG);
    CHECK_INT(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    CHECK_INT(bcri_host_segment_add(host, fd, BYTES / 2, BCRI_SEG_HEAP, OWNER, &seg), bcrE_ARG);
    CHECK_INT(bcri_host_segment_add(host, fd, BYTES, BCRI_SEG_HEAP, OWNER, &seg), 0);
    bcri_host_fini(host);
}

static void end(uint32_t seg)
{
    bcri_host_segment_drop(host, seg, true);
    bcri_host_segment_reuse(host, seg);
}

static unsigned open_files(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static unsigned char *map(uint32_t seg)
{
    unsigned char *base =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, bcri_host_segment_fd(host, seg), 0);
    CHECK(base != MAP_FAILED);
    return base;
}

TEST(more_segments_than_there_are_numbers_come_and_go)
{
    begin();
    for (uint32_t i = 0; i < BCRI_SEG_MAX + 1000; i++)
        end(make(BYTES, BCRI_SEG_HEAP));
    CHECK_UINT(bcri_host_segment_count(host), 3); /* the host's, the records', and one */
    CHECK_UINT(bcri_load(&bcri_host_shared(host)->idle_segments), 1);
    bcri_host_fini(host);
}

TEST(a_number_that_comes_again_has_its_file_which_reads_as_zero)
{
    begin();
    uint32_t seg = make(BYTES, BCRI_SEG_HEAP), other = make(BYTES, BCRI_SEG_HEAP);
    unsigned char *first = map(seg);
    memset(first, 1, BYTES);
    bcri_host_segment_drop(host, seg, true);
    CHECK_INT(first[5], 0);
    first[5] = 2; /* as a late store by a CCE that still has it mapped */
    bcri_host_segment_reuse(host, seg);
    CHECK_UINT(make(BYTES, BCRI_SEG_HEAP), seg);
    CHECK_INT(first[5], 0);
    first[6] = 3;
    unsigned char *second = map(seg);
    CHECK_INT(second[6], 3);
    CHECK_UINT(bcri_load(&bcri_host_shared(host)->segments[seg].state), BCRI_SEG_LIVE);
    CHECK(make(BYTES, BCRI_SEG_HEAP) != other);
    munmap(first, BYTES);
    munmap(second, BYTES);
    bcri_host_fini(host);
}

TEST(several_of_one_kind_and_size_all_come_again)
{
    enum { COUNT = 5 };
    uint32_t seg[COUNT], got;
    begin();
    for (int i = 0; i < COUNT; i++)
        seg[i] = make(BYTES, BCRI_SEG_HEAP);
    for (int i = 0; i < COUNT; i++)
        end(seg[i]);
    CHECK_UINT(bcri_load(&bcri_host_shared(host)->idle_segments), COUNT);
    for (int i = 0; i < COUNT; i++) {
        CHECK(bcri_host_segment_again(host, BYTES, BCRI_SEG_HEAP, OWNER, &got));
        int k = 0;
        while (k < COUNT && seg[k] != got)
            k++;
        CHECK(k < COUNT);
        seg[k] = 0; /* each once */
    }
    CHECK(!bcri_host_segment_again(host, BYTES, BCRI_SEG_HEAP, OWNER, &got));
    bcri_host_fini(host);
}

TEST(a_number_comes_again_for_its_own_kind_and_size_only)
{
    begin();
    uint32_t seg = make(BYTES, BCRI_SEG_HEAP), got;
    end(seg);
    CHECK(!bcri_host_segment_again(host, BYTES, BCRI_SEG_SLOTS, OWNER, &got));
    CHECK(!bcri_host_segment_again(host, 2 * BYTES, BCRI_SEG_HEAP, OWNER, &got));
    CHECK(make(BYTES, BCRI_SEG_SLOTS) != seg);
    CHECK_UINT(make(BYTES, BCRI_SEG_HEAP), seg);
    CHECK(!bcri_host_segment_again(host, BYTES, BCRI_SEG_HEAP, OWNER, &got));
    bcri_host_fini(host);
}

TEST(a_number_is_not_given_out_between_drop_and_reuse_and_nobody_gets_its_file)
{
    begin();
    uint32_t seg = make(BYTES, BCRI_SEG_HEAP), got;
    bcri_host_segment_drop(host, seg, true);
    CHECK(!bcri_host_segment_again(host, BYTES, BCRI_SEG_HEAP, OWNER, &got));
    CHECK_INT(bcri_host_segment_fd(host, seg), -1);
    CHECK_INT(bcri_host_segment_dup(host, seg), -1);
    bcri_host_segment_reuse(host, seg);
    CHECK_INT(bcri_host_segment_dup(host, seg), -1); /* it is idle */
    bcri_host_segment_drop(host, seg, true);         /* nor does it go twice */
    bcri_host_segment_reuse(host, seg);
    CHECK_UINT(make(BYTES, BCRI_SEG_HEAP), seg);
    CHECK(make(BYTES, BCRI_SEG_HEAP) != seg);
    bcri_host_fini(host);
}

TEST(files_that_are_kept_leave_half_of_the_descriptors_to_others)
{
    enum { FILES = 64, SEGMENTS = 200 };
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    begin();
    unsigned before = open_files();
    static uint32_t segs[SEGMENTS];
    for (int i = 0; i < SEGMENTS; i++)
        segs[i] = make(BYTES, BCRI_SEG_HEAP);
    limit.rlim_cur = FILES;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < SEGMENTS; i++)
        bcri_host_segment_drop(host, segs[i], true);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &(struct rlimit){limit.rlim_max, limit.rlim_max}), 0);
    CHECK(open_files() <= before + FILES / 2);
    for (int i = 0; i < SEGMENTS; i++)
        bcri_host_segment_reuse(host, segs[i]);
    uint32_t got, again = 0;
    while (bcri_host_segment_again(host, BYTES, BCRI_SEG_HEAP, OWNER, &got))
        again++;
    CHECK(again > 0 && again <= FILES / 2);
    bcri_host_fini(host);
}

TEST(what_cannot_be_given_out_again_keeps_no_descriptor)
{
    begin();
    unsigned before = open_files();
    uint32_t seg = make(BYTES, BCRI_SEG_HEAP), got;
    bcri_host_segment_drop(host, seg, false);
    CHECK_UINT(open_files(), before);
    bcri_host_segment_reuse(host, seg);
    CHECK(!bcri_host_segment_again(host, BYTES, BCRI_SEG_HEAP, OWNER, &got));
    CHECK(make(BYTES, BCRI_SEG_HEAP) != seg);
    bcri_host_fini(host);
}

static struct bcri_pages take(uint32_t owner, uint32_t headers, uint32_t rings)
{
    struct bcri_pages got;
    CHECK_INT(bcri_host_pages_take(host, owner, (const uint32_t[]){headers, rings}, &got), 0);
    return got;
}

static bcri_ref take_rings(uint32_t owner, uint32_t pages)
{
    return take(owner, 0, pages).ref[BCRI_PAGE_RINGS];
}

static void rings_back(uint32_t owner, bcri_ref ref)
{
    bcri_host_pages_back(host, owner, (const bcri_ref[]){BCRI_REF_NONE, ref});
}

static void all_back(uint32_t owner)
{
    bcri_host_pages_discard(host, owner);
    bcri_host_pages_reuse(host, owner);
}

TEST(pages_of_many_share_a_segment_and_any_of_a_sort_serves_anybody_again)
{
    begin();
    const uint32_t segments = bcri_host_segment_count(host);
    struct bcri_pages one = take(1, 1, 3), two = take(2, 2, 1);
    CHECK_UINT(bcri_ref_seg(one.ref[BCRI_PAGE_HEADERS]), bcri_ref_seg(two.ref[BCRI_PAGE_HEADERS]));
    CHECK_UINT(bcri_ref_seg(one.ref[BCRI_PAGE_RINGS]), bcri_ref_seg(two.ref[BCRI_PAGE_RINGS]));
    CHECK(bcri_ref_seg(one.ref[BCRI_PAGE_HEADERS]) != bcri_ref_seg(one.ref[BCRI_PAGE_RINGS]));
    CHECK_INT(one.fd[BCRI_PAGE_RINGS], bcri_host_segment_fd(host, bcri_ref_seg(one.ref[BCRI_PAGE_RINGS])));
    CHECK(!bcri_host_has_pages(host, 3));
    bcri_host_pages_discard(host, 1);
    CHECK(take(3, 1, 3).ref[BCRI_PAGE_RINGS] != one.ref[BCRI_PAGE_RINGS]);
    CHECK(bcri_host_has_pages(host, 1));
    bcri_host_pages_reuse(host, 1);
    CHECK(!bcri_host_has_pages(host, 1));
    struct bcri_pages again = take(4, 1, 1); /* not as many as before */
    CHECK_UINT(again.ref[BCRI_PAGE_HEADERS], one.ref[BCRI_PAGE_HEADERS]);
    CHECK_UINT(again.ref[BCRI_PAGE_RINGS], one.ref[BCRI_PAGE_RINGS]);
    for (uint32_t i = 0; i < 3 * BCRI_SEG_MAX; i++) {
        (void)take(5, 1 + i % 16, 1 + i % 100);
        all_back(5);
    }
    CHECK_UINT(bcri_host_segment_count(host), segments + 2);
    bcri_host_fini(host);
}

TEST(pages_that_come_back_side_by_side_are_one_run_again)
{
    enum { RUNS = 1024 }; /* a segment full */
    begin();
    static bcri_ref run[RUNS];
    for (int i = 0; i < RUNS; i++)
        run[i] = take_rings(1, 1);
    const uint32_t segments = bcri_host_segment_count(host), seg = bcri_ref_seg(run[0]);
    for (int i = RUNS - 2; i > 0; i -= 2)
        rings_back(1, run[i]);
    CHECK(bcri_ref_seg(take_rings(1, 2)) != seg);
    CHECK_UINT(bcri_host_segment_count(host), segments + 1);
    for (int i = 1; i < RUNS; i += 2)
        rings_back(1, run[i]);
    CHECK_UINT(take_rings(2, RUNS - 1), run[1]);
    rings_back(1, run[0]);
    CHECK_UINT(take_rings(2, 1), run[0]);
    CHECK_UINT(bcri_host_segment_count(host), segments + 1);
    bcri_host_fini(host);
}

TEST(pages_come_back_from_their_owner_only_and_once)
{
    begin();
    bcri_ref one = take_rings(1, 4), two = take_rings(2, 1);
    rings_back(2, one);
    rings_back(1, one + 2 * BCRI_PAGE_BYTES / BCRI_REF_UNIT); /* where none begins */
    rings_back(1, bcri_ref_make(bcri_ref_seg(one), UINT64_C(1) << 30));
    rings_back(1, bcri_ref_make(bcri_ref_seg(one) + 7, 0));
    CHECK(take_rings(3, 1) != one && take_rings(3, 1) > two);
    rings_back(1, one);
    CHECK(!bcri_host_has_pages(host, 1));
    CHECK_UINT(take_rings(4, 1), one);
    rings_back(1, one);
    CHECK_UINT(take_rings(4, 3), one + BCRI_PAGE_BYTES / BCRI_REF_UNIT);
    bcri_host_fini(host);
}

/* A model that shares nothing with the allocator: which pages of which segment are whose. */
TEST(no_page_is_two_CCEs_at_a_time)
{
    enum { OWNERS = 8, RUNS = 256 };
    static struct held {
        bcri_ref ref;
        uint32_t owner, pages;
    } held[RUNS];
    static uint8_t whose[64][4096];
    uint64_t random = test_seed();
    begin();
    for (int i = 0; i < 100000; i++) {
        struct held *run = &held[test_rand_below(&random, RUNS)];
        const bool taken = run->pages != 0;
        if (!taken) {
            run->owner = 1 + (uint32_t)test_rand_below(&random, OWNERS);
            run->pages = 1 + (uint32_t)test_rand_below(&random, i % 50 == 0 ? 3000 : 40);
            run->ref = take_rings(run->owner, run->pages);
        }
        for (uint32_t k = 0; k < run->pages; k++) {
            const uint64_t page = bcri_ref_offset(run->ref) / BCRI_PAGE_BYTES + k;
            CHECK(bcri_ref_seg(run->ref) < 64 && page < 4096);
            uint8_t *owner = &whose[bcri_ref_seg(run->ref)][page];
            CHECK_UINT(*owner, taken ? run->owner : 0);
            *owner = taken ? 0 : (uint8_t)run->owner;
        }
        if (taken) {
            rings_back(run->owner, run->ref);
            run->pages = 0;
        }
    }
    printf("  %u numbers\n", bcri_host_segment_count(host));
    bcri_host_fini(host);
}

TEST(a_page_reads_as_zero_in_its_next_use)
{
    begin();
    struct bcri_ctx *enl = bcri_host_ctx(host);
    bcri_ref ref = take_rings(1, 2);
    unsigned char *at = bcri_at(enl, ref);
    CHECK(at != NULL);
    memset(at, 1, 8192);
    bcri_host_pages_discard(host, 1);
    CHECK_INT(at[0] | at[4096], 0);
    at[4097] = 5; /* as a late store by a CCE that still has it mapped */
    bcri_host_pages_reuse(host, 1);
    CHECK_UINT(take_rings(2, 2), ref);
    CHECK_INT(at[4097], 0);
    at[4098] = 6;
    rings_back(2, ref);
    CHECK_INT(at[4098], 0);
    bcri_host_fini(host);
}

TEST(a_run_that_is_too_long_for_a_shared_segment_has_one_of_its_own_which_the_next_such_gets)
{
    begin();
    bcri_ref small = take_rings(1, 1), large = take_rings(1, 3000), behind = take_rings(1, 1);
    CHECK(bcri_ref_seg(large) != bcri_ref_seg(small));
    CHECK_UINT(bcri_ref_seg(behind), bcri_ref_seg(small));
    rings_back(1, large);
    CHECK_UINT(take_rings(2, 4000), large);
    struct bcri_pages none;
    CHECK_INT(bcri_host_pages_take(host, BCRI_CCE_MAX, (const uint32_t[]){1, 1}, &none), bcrE_ARG);
    CHECK_INT(bcri_host_pages_take(host, 3, (const uint32_t[]){1, UINT32_MAX}, &none), bcrE_NOMEM);
    CHECK(!bcri_host_has_pages(host, 3));
    bcri_host_fini(host);
}

TEST(there_are_few_sizes)
{
    unsigned sorts = 0;
    uint64_t before = 0;
    for (uint64_t size = 1; size <= 1 << 20; size++) {
        uint64_t sort = bcri_size_sort(size, 3);
        CHECK(sort >= size && sort - size <= size / 8 && sort >= before);
        CHECK_UINT(bcri_size_sort(sort, 3), sort);
        sorts += sort != before;
        before = sort;
    }
    CHECK(sorts <= 8 * 20 + 8);
}
