/* SPDX-License-Identifier: MIT */
/* bcr_rgalloc, rgmod, rgfree, rgrealloc, rglen, rgerror, rgkind, rgshared, heapleft: regions that this CCE holds. bcr.h is
 * their manual.
 *
 * rgalloc and rgfree of own blocks need no journal (drop.h). */
#include <bcr.h>
#include <bcr/program.h>

#include "bcr/error.h"
#include "bcri/archtype.h"
#include "bcri/drop.h"
#include "bcri/heap.h"
#include "bcri/heap_fast.h"
#include "bcri/ids.h"
#include "bcri/new_region.h"
#include "bcri/one_thread.h"
#include "bcri/own.h"
#include "bcri/region.h"
#include "bcri/self.h"
#include "bcri/slot.h"
#include "bcri/trace.h"
#include "bcri/wait.h"
#include "bcri/waiters.h"

/* The ID names the region before the region counts the ID: see drop.h.
 * Model: death.pml */
static inline bcr_region name_new(struct bcri_slot_shm *slot, bcri_ref ref, struct bcri_region_shm *region,
                                  uintptr_t data)
{
    bcri_slot_name(slot, ref, data);
    bcri_store_release(&region->count, BCRI_COUNT_ONE); /* after the incarnation */
    bcri_step();
    return bcri_id_of(slot);
}

int bcri_region_new(struct bcri_ctx *ctx, uint32_t length, int archtype, bcr_region *rgid_out)
{
    if (archtype != 0 && !bcri_archtype_valid(archtype))
        return bcrE_ARCH;
    bcri_ref ref;
    struct bcri_region_shm *region;
    const int error =
        bcri_heap_alloc(ctx, length, archtype != 0 ? (uint32_t)archtype : ctx->archtype, &ref, &region);
    if (error != 0)
        return error;
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (slot == NULL) {
        bcri_heap_free(ctx, ref, region);
        return bcrE_NOMEM;
    }
    bcri_counted(ctx, BCRI_COUNT_ALLOC);
    *rgid_out = name_new(slot, ref, region, bcri_header_data(ctx, ref, region));
    return 0;
}

/* All cases but that of a free block at hand and a length and archtype that need no check. */
static __attribute__((noinline)) bcr_region alloc_slow(int len, int archtype)
{
    BCRI_CALL_INSIDE;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (bcri_unlikely(ctx == NULL))
        return NULL;
    bcr_region rgid = NULL;
    const int error = len < 0 ? bcrE_ARG : bcri_region_new(ctx, (uint32_t)len, archtype, &rgid);
    if (error != 0)
        bcri_set_errno(error);
    return rgid;
}

/* If all is at hand, bcr_rgalloc and bcr_rgfree call nothing, as a put does: see put.c. */
bcr_region bcr_rgalloc(int len, int archtype)
{
    BCRI_CALL_FAST;
    struct bcri_ctx *const ctx = bcri_self_thread;
    if (bcri_unlikely(ctx == NULL))
        return alloc_slow(len, archtype);
    bcri_call_enters(ctx);
    bcri_ref ref;
    struct bcri_region_shm *region;
    uintptr_t data;
    /* A negative length is more than any block has. */
    if (bcri_unlikely(archtype != 0 || *ctx->slot_top == NULL ||
                      !bcri_heap_alloc_fast(ctx, (uint32_t)len, &ref, &region, &data)))
        return alloc_slow(len, archtype);
    /* The compiler loads nothing of the following before this; there are just enough registers. */
    bcri_step();
    region->archtype = ctx->archtype;
    struct bcri_slot_shm *const slot = *ctx->slot_top--; /* as bcri_slot_take */
    bcri_counted(ctx, BCRI_COUNT_ALLOC);
    bcr_region rgid = name_new(slot, ref, region, data);
    bcri_call_leaves(ctx);
    return rgid;
}

int bcr_rgmod(bcr_region rgid)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_slot_shm *slot;
    int error = bcri_id_live(ctx, rgid, &slot);
    if (error == 0)
        error = bcri_region_own(ctx, slot);
    return error == 0 ? 0 : bcri_fail(error);
}

/* Frees an ID that is pending or failed; `error` is what bcri_id_live has said. A pending request
 * is cancelled; if its cell has served it before, its region is freed like any other. */
static __attribute__((noinline)) int free_unusual(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, int error)
{
    if (error != bcrE_PENDING)
        return bcri_fail(error);
    struct bcri_answer answer;
    do {
        if (bcri_request_cancel(ctx, slot)) {
            bcri_request_gone(ctx);
            return 0;
        }
        bcri_wait_complete(ctx, slot);
        answer = bcri_request_complete(ctx, slot);
    } while (!answer.came);
    if (answer.error != 0)
        return 0;
    bcri_slot_drop(ctx, slot);
    bcri_counted(ctx, BCRI_COUNT_FREE);
    return 0;
}

static __attribute__((noinline)) int free_slow(bcr_region rgid)
{
    BCRI_CALL_INSIDE;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (bcri_unlikely(ctx == NULL))
        return -1;
    struct bcri_id id = {.slot = NULL};
    int error = bcri_id_look(ctx, rgid, &id);
    if (bcri_unlikely(error != 0))
        return free_unusual(ctx, id.slot, error);
    bcri_counted(ctx, BCRI_COUNT_FREE);
    if (!bcri_drop_alone(ctx, id.slot, id.word))
        bcri_drop_shared(ctx, id.slot, id.ref, bcri_slot_region(id.word));
    return 0;
}

/* Of a block of the own heap, when the ID is free already. */
static __attribute__((noinline)) int free_own(struct bcri_ctx *ctx, bcri_ref ref)
{
    BCRI_CALL_LEAVES(ctx);
    return bcri_heap_free_fast(ctx, ref);
}

/* Of a block of another CCE's heap. */
static __attribute__((noinline)) int free_others(struct bcri_ctx *ctx, struct bcri_slot_shm *slot,
                                                 bcri_ref slot_ref, bcri_ref ref,
                                                 struct bcri_region_shm *region)
{
    BCRI_CALL_LEAVES(ctx);
    return bcri_drop_last(ctx, slot, slot_ref, ref, region);
}

/* Model: death.pml */
int bcr_rgfree(bcr_region rgid)
{
    BCRI_CALL_FAST;
    struct bcri_ctx *const ctx = bcri_self_thread;
    struct bcri_id id;
    bcri_ref ref;
    if (bcri_unlikely(ctx == NULL))
        return free_slow(rgid);
    bcri_call_enters(ctx);
    if (bcri_unlikely(!bcri_id_fast(ctx, rgid, &id, &ref)))
        return free_slow(rgid);
    struct bcri_region_shm *const region = bcri_at_held(ctx, ref);
    if (bcri_load_acquire(&region->count) != BCRI_COUNT_ONE) { /* as when a read lock ends */
        bcri_counted(ctx, BCRI_COUNT_FREE);
        return bcri_drop_shared_at_end(ctx, id.slot, id.ref, ref);
    }
    bcri_counted(ctx, BCRI_COUNT_FREE);
    if (region->home != ctx->index)
        return free_others(ctx, id.slot, id.ref, ref, region);
    bcri_drop_own(ctx, id.slot, region);
    if (bcri_unlikely(!bcri_heap_free_quietly(ctx, ref)))
        return free_own(ctx, ref);
    bcri_call_leaves(ctx);
    return 0;
}

int bcr_rgrealloc(bcr_region rgid, int newlen)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_slot_shm *slot;
    int error = bcri_id_live(ctx, rgid, &slot);
    if (error == 0 && newlen < 0)
        error = bcrE_ARG;
    if (error == 0) {
        bcri_ref ref = bcri_slot_region(bcri_load(&slot->word));
        struct bcri_region_shm *region = bcri_at(ctx, ref);
        error = bcri_load_acquire(&region->count) == BCRI_COUNT_ONE
                    ? bcri_heap_resize(ctx, ref, region, (uint32_t)newlen)
                    : bcrE_BUSY;
    }
    return error == 0 ? 0 : bcri_fail(error);
}

/* The region that an ID names, or NULL with bcr_errno set. */
static const struct bcri_region_shm *region_of(bcr_region rgid)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return NULL;
    struct bcri_slot_shm *slot;
    int error = bcri_id_live(ctx, rgid, &slot);
    if (error != 0) {
        bcri_set_errno(error);
        return NULL;
    }
    return bcri_at(ctx, bcri_slot_region(bcri_load(&slot->word)));
}

int bcr_rglen(bcr_region rgid, int *archtype)
{
    BCRI_CALL;
    const struct bcri_region_shm *region = region_of(rgid);
    if (region == NULL)
        return -1;
    if (archtype != NULL)
        *archtype = (int)region->archtype;
    return (int)region->length;
}

int bcr_rgerror(bcr_region rgid)
{
    BCRI_CALL;
    const struct bcri_region_shm *region = region_of(rgid);
    return region == NULL ? -1 : region->kind <= BCRI_KIND_ERROR_MAX ? (int)region->kind : 0;
}

int bcr_rgkind(bcr_region rgid)
{
    BCRI_CALL;
    const struct bcri_region_shm *region = region_of(rgid);
    if (region == NULL)
        return -1;
    return region->kind == 0                     ? bcr_DATA
           : region->kind <= BCRI_KIND_ERROR_MAX ? bcr_ERROR
           : region->kind == BCRI_KIND_LINE      ? bcr_LINE
                                                 : bcr_END;
}

int bcr_rgshared(bcr_region rgid)
{
    BCRI_CALL;
    const struct bcri_region_shm *region = region_of(rgid);
    return region != NULL ? bcri_load_acquire(&region->count) != BCRI_COUNT_ONE : -1;
}

long long bcr_heapleft(void)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    return ctx != NULL ? (long long)bcri_heap_left(ctx) : -1;
}

int bcr_rlsrl(bcr_region rgid)
{
    BCRI_CALL_CHECKED(true);
    return bcr_rgfree(rgid); /* which says that it is inside */
}
