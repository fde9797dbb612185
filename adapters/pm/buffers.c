/* SPDX-License-Identifier: MIT */
/* buffers.c -- the regions that messages are sent in, which are kept and used again.
 *
 * Each destination has PM_SLOTS slots. A message takes one; the slot is free again when nobody else holds its region
 * (bcr_rgshared), which means that the receiver has released it, or that it has come to another host. So a receiver's cell,
 * with PM_SLOTS for each sender, has room for all that they send, and pmSend never waits. Slots are used by turns, since a
 * receiver releases in the order of arrival. A multicast's region is in a slot of each receiver.
 *
 * Memory is grown as it is needed, up to PM_MEMORY MiB; above that the buffer that has not been used for the longest time
 * gives its memory back. */
#include <stdlib.h>

#include "pm_private.h"

enum { MEMORY_MIB = 32, MEMORY_MIB_MOST = 65536, AREA_LEAST = 1 << 20, AREA_MOST = 1 << 30 };
static size_t limit, grown;
static struct pm_buffer ends = {.before = &ends,
                                .behind = &ends}; /* behind it: the one that was not used for longest */

void pm_buffers_begin(void)
{
    const char *text = getenv("PM_MEMORY");
    char *end = NULL;
    long mib = text != NULL ? strtol(text, &end, 10) : MEMORY_MIB;
    if (text != NULL && (end == text || *end != '\0' || mib < 1 || mib > MEMORY_MIB_MOST)) {
        pm_say(1, "PM_MEMORY is a number of MiB from 1 to %d, not \"%s\": %d", MEMORY_MIB_MOST, text,
               MEMORY_MIB);
        mib = MEMORY_MIB;
    }
    limit = (size_t)mib << 20;
}

/* ---- memory ---- */

static void unlink_buffer(struct pm_buffer *buffer)
{
    buffer->before->behind = buffer->behind;
    buffer->behind->before = buffer->before;
}

static void append_buffer(struct pm_buffer *buffer)
{
    buffer->before = ends.before;
    buffer->behind = &ends;
    ends.before->behind = buffer;
    ends.before = buffer;
}

static bool is_free(const struct pm_buffer *buffer)
{
    return buffer->rgid == NULL || (!buffer->is_taken && bcr_rgshared(buffer->rgid) == 0);
}

static void drop_region(struct pm_buffer *buffer)
{
    if (buffer->rgid == NULL)
        return;
    (void)bcr_rgfree(buffer->rgid);
    buffer->rgid = NULL;
    unlink_buffer(buffer);
}

static bool free_oldest(void)
{
    for (struct pm_buffer *buffer = ends.behind; buffer != &ends; buffer = buffer->behind) {
        if (!is_free(buffer))
            continue;
        drop_region(buffer);
        return true;
    }
    return false;
}

/* One more area for regions: as large as all before, so that there are few. */
static bool grow(size_t length)
{
    size_t bytes = grown > AREA_LEAST ? grown : AREA_LEAST;
    if (bytes < length)
        bytes = length;
    if (bytes > limit - grown)
        bytes = limit - grown;
    if (bytes > AREA_MOST)
        bytes = AREA_MOST;
    if (bytes < length || bcr_cagrow(0, 0, 0, 0, 0, (int)(bytes / 1024) + 64, (int)bytes) < 0)
        return false;
    grown += bytes;
    return true;
}

bcr_region pm_region(size_t length)
{
    bcr_region rgid = bcr_rgalloc((int)length, 0);
    while (rgid == NULL && bcr_errno == bcrE_NBYTES && (grow(length) || free_oldest()))
        rgid = bcr_rgalloc((int)length, 0);
    return rgid;
}

/* ---- slots ---- */

static void clear_slot(struct pm_buffer **slot)
{
    struct pm_buffer *buffer = *slot;
    *slot = NULL;
    if (buffer == NULL || --buffer->slots > 0)
        return;
    drop_region(buffer);
    free(buffer);
}

/* The next slot that is free. Those behind one with a message to this node alone are not looked at: they were sent later. */
static struct pm_buffer **free_slot(struct pm_dest *dest)
{
    for (unsigned i = 0; i < PM_SLOTS; i++) {
        struct pm_buffer **slot = &dest->slots[(dest->next + i) % PM_SLOTS];
        if (*slot == NULL || is_free(*slot)) {
            dest->next = (dest->next + i) % PM_SLOTS;
            return slot;
        }
        if ((*slot)->slots == 1)
            return NULL;
    }
    return NULL;
}

/* Makes the region at least that long, where it lies. */
static bool fits(struct pm_buffer *buffer, size_t length)
{
    if (buffer->rgid == NULL || buffer->capacity < length)
        return false;
    if (buffer->length >= length)
        return true;
    if (bcr_rgrealloc(buffer->rgid, (int)length) != 0)
        return false;
    buffer->length = length;
    return true;
}

static struct pm_buffer *new_buffer(size_t length, int slots)
{
    struct pm_buffer *buffer = malloc(sizeof *buffer);
    bcr_region rgid = buffer != NULL ? pm_region(length) : NULL;
    if (rgid == NULL)
        return free(buffer), NULL;
    *buffer = (struct pm_buffer){.rgid = rgid, .length = length, .capacity = length, .slots = slots};
    append_buffer(buffer);
    return buffer;
}

struct pm_buffer *pm_buffer_take(struct pm_dest *const *dests, int count, size_t length)
{
    struct pm_buffer *buffer = NULL;
    for (int i = 0; i < count; i++) {
        struct pm_buffer **slot = free_slot(dests[i]);
        if (slot == NULL)
            return NULL;
        if (i == 0)
            buffer = *slot;
        if (*slot != buffer)
            buffer = NULL;
    }
    if (buffer == NULL || buffer->slots != count || !fits(buffer, length)) {
        for (int i = 0; i < count; i++)
            clear_slot(&dests[i]->slots[dests[i]->next]);
        buffer = new_buffer(length, count);
        if (buffer == NULL)
            return NULL;
        for (int i = 0; i < count; i++)
            dests[i]->slots[dests[i]->next] = buffer;
    }
    buffer->is_taken = true;
    for (int i = 0; i < count; i++)
        dests[i]->next = (dests[i]->next + 1) % PM_SLOTS;
    return buffer;
}

void pm_buffer_give(struct pm_buffer *buffer)
{
    buffer->is_taken = false;
    if (buffer->behind == &ends)
        return;
    unlink_buffer(buffer);
    append_buffer(buffer);
}
