/* SPDX-License-Identifier: MIT */
/* packets.c -- which region the data are of that a user has a pointer to: packets of lfc_send_alloc, and those that an upcall
 * has kept. A table with open addresses, at most half full, in pages of its own, since upcalls run in signal handlers. */
#include "lfc_private.h"

struct packet {
    void *data; /* NULL: free */
    bcr_region rgid;
    bool is_send;
};

static struct packet *table;
static size_t room, used; /* room: a power of two */

/* Of lfc_send_alloc, and not in the table: what is launched next, mostly, so it needs no search.
 * Its data are NULL if there is none. */
static struct packet next;

static size_t place_of(const void *data)
{
    return (size_t)(((uintptr_t)data >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);
}

static void insert(struct packet packet)
{
    size_t at = place_of(packet.data);
    while (table[at].data != NULL)
        at = (at + 1) & (room - 1);
    table[at] = packet;
}

static void grow(void)
{
    struct packet *old = table;
    const size_t before = room;
    room = before == 0 ? 256 : 2 * before;
    table = lfc_pages(room * sizeof *table);
    if (table == NULL)
        lfc_fail("lfc_upcall", "no memory for one more packet that is kept");
    for (size_t i = 0; i < before; i++)
        if (old[i].data != NULL)
            insert(old[i]);
    lfc_pages_free(old, before * sizeof *old);
}

void lfc_packets_add(void *data, bcr_region rgid, bool is_send)
{
    if (is_send && next.data == NULL) {
        next = (struct packet){data, rgid, is_send};
        return;
    }
    if (2 * (used + 1) > room)
        grow();
    insert((struct packet){data, rgid, is_send});
    used++;
}

/* Those behind a place that becomes free, up to the next free one, may have to move there. */
static void close_gap(size_t gap)
{
    for (size_t at = (gap + 1) & (room - 1); table[at].data != NULL; at = (at + 1) & (room - 1)) {
        const size_t home = place_of(table[at].data);
        if (((at - home) & (room - 1)) < ((at - gap) & (room - 1)))
            continue;
        table[gap] = table[at];
        gap = at;
    }
    table[gap].data = NULL;
}

size_t lfc_packets_left(void)
{
    return used + (next.data != NULL);
}

bcr_region lfc_packets_take(void *data, bool is_send)
{
    if (data == NULL)
        return NULL;
    if (is_send && data == next.data) {
        next.data = NULL;
        return next.rgid;
    }
    if (used == 0)
        return NULL;
    for (size_t at = place_of(data); table[at].data != NULL; at = (at + 1) & (room - 1)) {
        if (table[at].data != data)
            continue;
        bcr_region rgid = table[at].is_send == is_send ? table[at].rgid : NULL;
        if (rgid != NULL) {
            close_gap(at);
            used--;
        }
        return rgid;
    }
    return NULL;
}
