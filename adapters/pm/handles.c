/* SPDX-License-Identifier: MIT */
/* handles.c -- locked memory: pmMLock, pmMUnlock, and the table that processes of the same host read.
 *
 * A handle is made of a number k: its upper half is k, its lower half k with the bytes turned round. So its eight bytes are
 * the same read either way, and a program may send them raw to a machine of another byte order. An offset that is added goes
 * into the lower half and on into the upper one; the next values of k are left free for that, so that a handle with any
 * offset of its memory is found, and found in one entry only. The values of k begin elsewhere in each process, so that a
 * handle that is used with a wrong node is, mostly, none there.
 *
 * Pages are not pinned: what copies is the kernel, for which any memory will do. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pm_private.h"

static struct pm_entry *entries; /* by base */
static int *nests; /* how often each is locked; 0: it is to leave the table when that is published next */
static uint32_t count, room, next_k;
static uint64_t start;

/* ---- the table ---- */

uint64_t pm_entry_find(const struct pm_entry *table, uint32_t table_count, pmAddrHandle handle, size_t length)
{
    uint32_t low = 0, high = table_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (table[middle].base <= handle)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct pm_entry *entry = &table[low - 1];
    const uint64_t offset = handle - entry->base;
    return offset <= entry->length && length <= entry->length - offset ? entry->address + offset : 0;
}

uint64_t pm_address_of(pmAddrHandle handle, size_t length)
{
    return pm_entry_find(entries, count, handle, length);
}

static void forget_unlocked(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nests[i] == 0)
            continue;
        entries[kept] = entries[i];
        nests[kept++] = nests[i];
    }
    count = kept;
}

int pm_table_publish(void)
{
    bcr_region rgid = pm_region(sizeof(struct pm_table) + count * sizeof(struct pm_entry));
    if (rgid == NULL)
        return bcr_errno;
    if (start == 0)
        start = pm_process_start(getpid());
    struct pm_table *table = *rgid;
    *table = (struct pm_table){.pid = getpid(), .start = start, .is_helped = pm_self.is_helped, .count = 0};
    for (uint32_t i = 0; i < count; i++)
        if (nests[i] != 0)
            table->entries[table->count++] = entries[i];
    if (bcr_write(rgid, bcr_cce, PM_CELL_TABLE, bcr_FREE) != 0) {
        const int error = bcr_errno;
        (void)bcr_rgfree(rgid);
        return error;
    }
    forget_unlocked();
    return 0;
}

/* ---- handles ---- */

static uint64_t base_of(uint32_t k)
{
    return (uint64_t)k << 32 | __builtin_bswap32(k);
}

/* How many values of k memory takes. */
static uint64_t values_of(uint64_t length)
{
    return (length + UINT32_MAX) / ((uint64_t)UINT32_MAX + 1) + 1;
}

/* The next k with so many free values; 0: none. */
static uint32_t free_k(uint64_t values)
{
    uint64_t k = next_k;
    for (uint32_t tries = 0; tries <= 2 * (count + 1); tries++) {
        if (k == 0 || k + values > UINT32_MAX)
            k = 1;
        uint32_t i = 0;
        while (i < count && ((entries[i].base >> 32) >= k + values ||
                             (entries[i].base >> 32) + values_of(entries[i].length) <= k))
            i++;
        if (i == count)
            return (uint32_t)k;
        k = (entries[i].base >> 32) + values_of(entries[i].length);
    }
    return 0;
}

static bool make_room(void)
{
    if (count < room)
        return true;
    const uint32_t more = room == 0 ? 16 : 2 * room;
    struct pm_entry *list = realloc(entries, more * sizeof *list);
    if (list == NULL)
        return false;
    entries = list;
    int *numbers = realloc(nests, more * sizeof *numbers);
    if (numbers == NULL)
        return false;
    nests = numbers;
    room = more;
    return true;
}

static int find_memory(uint64_t address, uint64_t length)
{
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].address == address && entries[i].length == length)
            return (int)i;
    return -1;
}

static int add_memory(uint64_t address, uint64_t length, pmAddrHandle *handle_out)
{
    if (next_k == 0)
        next_k = ((uint32_t)pm_self.self << 16) + 1;
    const uint32_t k = make_room() && values_of(length) < UINT32_MAX ? free_k(values_of(length)) : 0;
    if (k == 0)
        return ENOSPC;
    uint32_t at = count;
    for (; at > 0 && entries[at - 1].base > base_of(k); at--) {
        entries[at] = entries[at - 1];
        nests[at] = nests[at - 1];
    }
    entries[at] = (struct pm_entry){base_of(k), address, length};
    nests[at] = 1;
    count++;
    if (pm_table_publish() != 0) {
        nests[at] = 0; /* nobody has seen it */
        forget_unlocked();
        return ENOSPC;
    }
    next_k = (uint32_t)(k + values_of(length));
    *handle_out = base_of(k);
    return PM_SUCCESS;
}

/* ---- the routines ---- */

static bool is_memory(pmContext *pmc, int node, uint64_t address, uint64_t length)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (address == 0 || length == 0 || address % page != 0 || length % page != 0 ||
        address + length < address)
        return false;
    pm_lock();
    const bool is_node = node == PM_NODE_ANY || pm_dest_of(pmc, node) != NULL;
    pm_unlock();
    return is_node;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the manual's arguments */
int pmMLock(pmContext *pmc, int rmt_node, caddr_t addr, size_t len, pmAddrHandle *hndlp)
{
    const uint64_t address = (uintptr_t)addr;
    if (pmc == NULL || hndlp == NULL || !is_memory(pmc, rmt_node, address, len))
        return pm_return("pmMLock", EINVAL);
    const int error = pm_serve_begin();
    if (error != 0) {
        pm_say(1, "pmMLock: other processes cannot be served: %s", pmErrorString(error));
        return pm_return("pmMLock", ENOSPC);
    }
    pm_lock();
    const int i = find_memory(address, len);
    int code = i >= 0 && nests[i] == INT32_MAX ? ENOSPC : PM_SUCCESS;
    if (i < 0) {
        code = add_memory(address, len, hndlp);
    } else if (code == PM_SUCCESS) {
        nests[i]++;
        *hndlp = entries[i].base;
    }
    pm_unlock();
    return pm_return("pmMLock", code);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the manual's arguments */
int pmMUnlock(pmContext *pmc, int rmt_node, caddr_t addr, size_t len)
{
    const uint64_t address = (uintptr_t)addr;
    if (pmc == NULL || !is_memory(pmc, rmt_node, address, len))
        return pm_return("pmMUnlock", EINVAL);
    pm_lock();
    const int i = find_memory(address, len);
    const int code = i >= 0 && nests[i] > 0 ? PM_SUCCESS : ENOENT;
    /* Without memory for a new table the old one stays, and the next one is without the entry. */
    if (code == PM_SUCCESS && --nests[i] == 0)
        (void)pm_table_publish();
    pm_unlock();
    return pm_return("pmMUnlock", code);
}
