/* SPDX-License-Identifier: MIT */
/* memory.c -- memory for packets, of the target on BCR's cells: an account of regions that grows by doubling.
 *
 * What is sent and not received may fill it. So that a message that is being received goes on all the same, its parts find room:
 * while the account can grow, it grows for them once nothing has become free for a while; when it can't, a region is kept that only
 * parts get. It is free again when the receiver has copied the part, and is had back before anything else is given out. */
#include <stdint.h>

#include <bcr.h>

#include "memory.h"

/* ACCOUNT_BESIDE is there beside EARL_MEMORY, so that the parts of messages that are being received find room whatever waits
 * elsewhere. The pages of an account are had at once, and many a process needs few, so it begins with ACCOUNT_FIRST, and doubles
 * whenever that is not enough. */
enum {
    ACCOUNT_FIRST = 256 << 10,
    ACCOUNT_BESIDE = 1 << 20,
    ACCOUNT_REGIONS = 64,
    HEAP_BYTES = 4096, /* what the heap keeps for itself of a growth */
    PART_MSEC = 100
};

static struct {
    size_t account, most;
    bool is_at_most;   /* the account can't grow any more for a part */
    bcr_region kept;   /* memory for a part then; NULL: it is in use, or could not be had yet */
    int parts_waiting; /* parts that wait for such memory */
} memory;

size_t earl_memory_begin(size_t most)
{
    memory.account = ACCOUNT_FIRST;
    memory.most = most + ACCOUNT_BESIDE;
    return memory.account;
}

void earl_memory_end(void)
{
    if (memory.kept != NULL)
        (void)bcr_rgfree(memory.kept);
    memory.kept = NULL;
}

/* Doubles the account, as far as EARL_MEMORY and what is beside it go, for one packet of that length. */
static bool grow(size_t length)
{
    const size_t left = memory.most - memory.account, twice = memory.account < left ? memory.account : left;
    const size_t wanted = length + HEAP_BYTES;
    const size_t more = twice > wanted ? twice : wanted;
    if (memory.is_at_most || more > left || more > INT32_MAX)
        return false;
    if (bcr_cagrow(0, 0, 0, 0, 0, ACCOUNT_REGIONS, (int)more) < 0) {
        memory.is_at_most = true;
        return false;
    }
    memory.account += more;
    memory.is_at_most = left - more < EARL_PART_MOST + HEAP_BYTES;
    return true;
}

/* Beyond what there may be, for a packet that must go: by too little for parts, which would take it, too. */
static bool grow_beyond(size_t length)
{
    return bcr_cagrow(0, 0, 0, 0, 0, ACCOUNT_REGIONS, (int)(length + HEAP_BYTES)) >= 0;
}

/* Whether memory for a part is kept, where that has to be seen to. It is kept as a region, since room that is free now may be cut
 * up by what is allocated next. Parts that wait for room come first. */
static bool keeps_part(void)
{
    if (memory.is_at_most && memory.kept == NULL && memory.parts_waiting == 0)
        memory.kept = bcr_rgalloc(EARL_PART_MOST, 0);
    return !memory.is_at_most || memory.kept != NULL;
}

/* Memory of EARL_PART_MOST bytes as one of so many, or of none. */
static bcr_region shortened(bcr_region region, int length)
{
    if (region == NULL || bcr_rgrealloc(region, length) == 0)
        return region;
    (void)bcr_rgfree(region);
    return NULL;
}

/* It waits for as much as is kept: of the heap's sizes a smaller one may need more pages than that. */
static earl_packet wait_for_part(int length)
{
    bcr_region region = NULL;
    if (!memory.is_at_most) {
        region = bcr_rgalloc_within(length, 0, memory.account < ACCOUNT_BESIDE ? 0 : PART_MSEC);
        if (region != NULL || bcr_errno != bcrE_NBYTES)
            return region;
        (void)grow((size_t)length);
    }
    region = bcr_rgalloc(length, 0);
    if (region != NULL || bcr_errno != bcrE_NBYTES)
        return region;
    if (memory.kept != NULL) {
        region = memory.kept;
        memory.kept = NULL;
    } else {
        memory.parts_waiting++;
        region = bcr_rgalloc_within(EARL_PART_MOST, 0, bcr_BLOCK);
        memory.parts_waiting--;
    }
    return shortened(region, length);
}

/* Waits for memory that leaves some for a part. While none is kept, it waits for room for both, lest it take what comes back of that;
 * and parts that wait have the room first (in a signal handler they do not run, so it asks them once). */
static earl_packet wait_for_other(int length)
{
    bool has_asked = false;
    for (;;) {
        const bool is_kept = memory.kept != NULL;
        bcr_region region = bcr_rgalloc_within(is_kept ? length : length + EARL_PART_MOST, 0, bcr_BLOCK);
        if (region == NULL || (is_kept && memory.kept != NULL))
            return region;
        (void)bcr_rgfree(region);
        if (memory.parts_waiting != 0 && !has_asked) {
            has_asked = true;
            (void)bcr_allow(0);
            continue;
        }
        region = keeps_part() || memory.parts_waiting != 0 ? bcr_rgalloc(length, 0) : NULL;
        if (region != NULL)
            return region;
    }
}

earl_packet earl_memory_take(size_t length, enum earl_patience patience)
{
    if (length > INT32_MAX - EARL_PART_MOST)
        return NULL;
    if (patience >= EARL_WAIT)
        return patience == EARL_PART ? wait_for_part((int)length) : wait_for_other((int)length);
    if (!keeps_part() && patience != EARL_MUST)
        return NULL;
    const bool grows = patience != EARL_NOW || memory.account < ACCOUNT_BESIDE;
    bcr_region region = bcr_rgalloc((int)length, 0);
    if (region == NULL && grows && bcr_errno == bcrE_NBYTES &&
        (grow(length) || (patience == EARL_MUST && grow_beyond(length))))
        region = bcr_rgalloc((int)length, 0);
    if (region == NULL || patience == EARL_MUST || keeps_part()) /* it may have grown for the last time */
        return region;
    (void)bcr_rgfree(region);
    return NULL;
}
