/* SPDX-License-Identifier: MIT */
/* See owner.h. */
#include "owner.h"

#include "bcri/heap.h"
#include "bcri/region.h"
#include "check.h"

struct group *group;
struct bcri_ctx *owner;
uint32_t area;

void open_group(uint64_t nbytes)
{
    group = group_open();
    owner = group_join(group);
    CHECK_INT(bcri_heap_add(owner, nbytes, 0, &area), 0);
}

void close_group(void)
{
    bcri_heap_collect(owner);
    CHECK(bcri_heap_valid(owner));
    CHECK_UINT(bcri_heap_charged(owner), 0);
    CHECK_INT(bcri_heap_remove(owner, area), 0);
    group_leave(group, owner);
    group_close(group);
}

bcri_ref new_region(struct bcri_ctx *ctx, uint32_t length, uint32_t count)
{
    bcri_ref ref;
    struct bcri_region_shm *region;
    CHECK_INT(bcri_heap_alloc(ctx, length, 1, &ref, &region), 0);
    bcri_store_release(&region->count, BCRI_COUNT_WORD(count, 0));
    return ref;
}

void drop(struct bcri_ctx *ctx, bcri_ref ref)
{
    bcri_region_drop(ctx, ref);
    bcri_count_committed(ctx);
}
