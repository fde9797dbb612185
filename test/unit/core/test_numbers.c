/* SPDX-License-Identifier: MIT */
/* Numbers of segments and rooms for cells are given out again: bcri/host.h. */
#include <dirent.h>
#include <fcntl.h>
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
    CHECK_INT(bcri_host_init("numbers", bcri_core_layout(), &host), 0);
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
    first[5] = 2; /* somebody was about to */
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

static bcri_ref room(uint32_t owner, uint64_t bytes, uint64_t shape)
{
    bcri_ref ref = BCRI_REF_NONE;
    CHECK_INT(bcri_host_room_take(host, owner, bytes, shape, false, &ref), 0);
    return ref;
}

TEST(rooms_of_many_share_a_segment_and_are_given_out_again_by_shape)
{
    begin();
    uint32_t segments = bcri_host_segment_count(host);
    bcri_ref one = room(1, 4096, 7), two = room(2, 8192, 8), three = room(1, 4096, 7);
    CHECK(one != three && bcri_ref_seg(one) == bcri_ref_seg(two));
    CHECK(!bcri_host_has_rooms(host, 3));
    bcri_host_rooms_discard(host, 1);
    CHECK(room(2, 4096, 7) != one);
    CHECK(bcri_host_has_rooms(host, 1));
    bcri_host_rooms_reuse(host, 1);
    CHECK(!bcri_host_has_rooms(host, 1));
    CHECK(room(3, 4096, 9) != one); /* of its size, and not of its shape */
    bcri_ref again = room(3, 4096, 7), other = room(3, 4096, 7);
    CHECK((again == one && other == three) || (again == three && other == one));
    for (uint32_t i = 0; i < 3 * BCRI_SEG_MAX; i++) {
        (void)room(4, 4096, 10 + i % 16);
        bcri_host_rooms_discard(host, 4);
        bcri_host_rooms_reuse(host, 4);
    }
    CHECK_UINT(bcri_host_segment_count(host), segments + 1);
    bcri_host_fini(host);
}

TEST(a_room_reads_as_zero_in_its_next_use)
{
    begin();
    struct bcri_ctx *enl = bcri_host_ctx(host);
    bcri_ref ref;
    (void)room(1, 4096, 1);
    CHECK_INT(bcri_host_room_take(host, 1, 8192, 7, true, &ref), 0);
    unsigned char *at = bcri_at(enl, ref);
    CHECK(at != NULL);
    memset(at, 1, 8192);
    bcri_host_rooms_discard(host, 1);
    CHECK_INT(at[0] | at[4096], 0);
    at[4097] = 5;
    bcri_host_rooms_reuse(host, 1);
    CHECK_UINT(room(2, 8192, 7), ref);
    CHECK_INT(at[4097], 0);
    bcri_host_fini(host);
}

TEST(a_room_that_is_too_large_for_a_shared_segment_has_one_of_its_own)
{
    begin();
    bcri_ref small = room(1, 4096, 1), large = room(1, 16 << 20, 2), behind = room(1, 4096, 1);
    CHECK(bcri_ref_seg(large) != bcri_ref_seg(small));
    CHECK_UINT(bcri_ref_seg(behind), bcri_ref_seg(small));
    bcri_ref none;
    CHECK_INT(bcri_host_room_take(host, 1, 100, 1, false, &none), bcrE_ARG);
    CHECK_INT(bcri_host_room_take(host, 1, 1 << 20, 1, true, &none), bcrE_ARG);
    CHECK_INT(bcri_host_room_take(host, BCRI_CCE_MAX, 4096, 1, false, &none), bcrE_ARG);
    CHECK_INT(bcri_host_room_take(host, 1, UINT64_C(1) << 40, 3, false, &none), bcrE_NOMEM);
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
