/* SPDX-License-Identifier: MIT */
/* The layout signature: that each part of it counts, and that a host segment with another one is
 * refused. What becomes of it when a header changes is tested by layout_changes.sh. */
#include "bcri/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/ctx.h"
#include "bcri/host.h"
#include "check.h"

enum { PARTS = 4 };

static uint32_t fold(const struct bcri_layout_part *parts)
{
    return bcri_layout_fold(7, parts, PARTS);
}

TEST(each_name_and_each_value_counts)
{
    const struct bcri_layout_part parts[PARTS] = {
        {"struct a", 64}, {"a.b", 8}, {"a.c", 8}, {"D", UINT64_MAX}};
    for (int i = 0; i < PARTS; i++) {
        struct bcri_layout_part other[PARTS] = {parts[0], parts[1], parts[2], parts[3]};
        CHECK_UINT(fold(other), fold(parts));
        other[i].value ^= UINT64_C(1) << 63;
        CHECK(fold(other) != fold(parts));
        other[i].value = parts[i].value ^ 1;
        CHECK(fold(other) != fold(parts));
        other[i] = (struct bcri_layout_part){"a.x", parts[i].value};
        CHECK(fold(other) != fold(parts));
    }
    const struct bcri_layout_part swapped[PARTS] = {parts[0], parts[2], parts[1], parts[3]};
    CHECK(fold(swapped) != fold(parts));
    CHECK(bcri_layout_fold(8, parts, PARTS) != fold(parts));
    CHECK(bcri_layout_fold(7, parts, PARTS - 1) != fold(parts));
}

static int none(void *up, uint32_t seg)
{
    (void)up, (void)seg;
    return -bcrE_NOMEM;
}

static const struct bcri_upcalls upcalls = {.segment_fd = none};

static int init_with(struct bcri_host *host, uint32_t layout)
{
    struct bcri_ctx ctx;
    int error = bcri_ctx_init(&ctx, bcri_host_segment_fd(host, BCRI_HOST_SEG), 0, layout, &upcalls, NULL);
    if (error != 0)
        CHECK_PTR(ctx.map, NULL); /* nothing is left mapped */
    return error;
}

TEST(a_host_segment_of_another_layout_is_refused)
{
    struct bcri_host *host;
    CHECK_INT(bcri_host_init("layout", 0, bcri_core_layout(), &host), 0);
    for (unsigned bit = 0; bit < 32; bit++)
        CHECK_INT(init_with(host, bcri_core_layout() ^ (1u << bit)), bcrE_ARG);
    CHECK_INT(init_with(host, bcri_core_layout()),
              bcrE_NOMEM); /* the layout will do; this test has no segments to give */
    bcri_host_fini(host);
}

TEST(what_is_no_host_segment_is_refused)
{
    struct bcri_host *host;
    CHECK_INT(bcri_host_init("layout", 0, bcri_core_layout(), &host), 0);
    struct bcri_host_shm *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, bcri_host_segment_fd(host, BCRI_HOST_SEG), 0);
    CHECK(shared != MAP_FAILED);
    shared->magic++;
    CHECK_INT(init_with(host, bcri_core_layout()), bcrE_ARG);
    shared->magic--;
    shared->layout++;
    CHECK_INT(init_with(host, bcri_core_layout()), bcrE_ARG);
    bcri_host_fini(host);

    struct bcri_ctx ctx;
    int fd = memfd_create("layout", MFD_CLOEXEC);
    CHECK_INT(bcri_ctx_init(&ctx, fd, 0, bcri_core_layout(), &upcalls, NULL), bcrE_ARG);
    CHECK_INT(ftruncate(fd, sizeof(struct bcri_host_shm)), 0); /* of the right length, all zero */
    CHECK_INT(bcri_ctx_init(&ctx, fd, 0, bcri_core_layout(), &upcalls, NULL), bcrE_ARG);
    CHECK_INT(bcri_ctx_init(&ctx, -1, 0, bcri_core_layout(), &upcalls, NULL), bcrE_ARG);
    close(fd);
}
