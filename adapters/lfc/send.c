/* SPDX-License-Identifier: MIT */
/* send.c -- packets that go: each is a region that a launch gives away.
 *
 * Where a receiver on this host has no room, the sender takes what has come for itself while it waits, so two that send to each
 * other go on. On other hosts packets wait at the receiver, up to WINDOW of them, before the sender waits. */
#include <stdlib.h>

#include "lfc_private.h"

enum { WINDOW = 256, PATIENCE_MSEC = 1 };
static unsigned under_way; /* to other hosts, since all had arrived */

/* Short packets go in regions of their own size, and the packet of lfc_send_alloc is used again: so both sides touch memory
 * that they touched just before. */
enum { SHORT = 256, SPARES = 4 };
static bcr_region spares[SPARES];
static int spare_count;

void lfc_group_fill(struct lfc_group *group, const unsigned *members, unsigned count)
{
    *group =
        (struct lfc_group){calloc(2ul * count + 1, sizeof(int)), calloc(2ul * count + 1, sizeof(int)), 0, 0};
    if (group->near == NULL || group->far == NULL)
        lfc_fail("lfc_group_create", "no memory");
    for (unsigned i = 0; i < count; i++) {
        const unsigned member = members[i];
        if (member == lfc_self.rank)
            continue;
        int *pair = lfc_self.is_near[member] ? group->near + 2 * group->near_count++
                                             : group->far + 2 * group->far_count++;
        pair[0] = lfc_self.members[member];
        pair[1] = CELL_PACKETS;
    }
}

/* A region for a packet. NULL: there is no room in the account now. */
static bcr_region try_to_allocate(int msec)
{
    bcr_region rgid =
        msec == 0 ? bcr_rgalloc(PACKET + TRAILER, 0) : bcr_rgalloc_within(PACKET + TRAILER, 0, msec);
    if (rgid == NULL && bcr_errno != bcrE_NBYTES)
        lfc_fail_bcr("lfc_send_alloc");
    return rgid;
}

void *lfc_send_alloc(int upcalls_allowed)
{
    lfc_enter("lfc_send_alloc");
    bcr_region rgid = spare_count > 0 ? spares[--spare_count] : try_to_allocate(0);
    while (rgid == NULL) {
        lfc_progress(upcalls_allowed != 0);
        rgid = try_to_allocate(PATIENCE_MSEC);
    }
    void *data = *rgid;
    lfc_packets_add(data, rgid, true);
    lfc_leave(upcalls_allowed != 0);
    return data;
}

/* Makes a packet ready to go. */
static bcr_region dress(const char *routine, void *packet, unsigned size, unsigned flags)
{
    bcr_region rgid = lfc_packets_take(packet, true);
    if (rgid == NULL)
        lfc_fail(routine, "%p is no packet of lfc_send_alloc, or was launched before", packet);
    if (size > PACKET)
        lfc_fail(routine, "%u bytes are more than a packet has (lfc_packet_size: %d)", size, PACKET);
    bcr_region own = size <= SHORT && spare_count < SPARES ? bcr_rgalloc((int)size + TRAILER, 0) : NULL;
    if (own != NULL) {
        memcpy(*own, packet, size);
        spares[spare_count++] = rgid;
        rgid = own;
    }
    unsigned char *trailer = (unsigned char *)*rgid + size;
    for (int i = 0; i < 4; i++)
        trailer[i] = (unsigned char)(lfc_self.rank >> (8 * i));
    memset(trailer + 4, 0, TRAILER - 4);
    trailer[4] = (unsigned char)flags;
    if (own == NULL && size < PACKET && bcr_rgrealloc(rgid, (int)size + TRAILER) != 0)
        lfc_fail_bcr(routine);
    return rgid;
}

/* To one on this host, perhaps this process. */
static void put_near(const char *routine, bcr_region rgid, bcr_cce_id cce, int nofree, bool upcalls_allowed)
{
    int msec = 0;
    while (bcr_put_within(1, rgid, cce, CELL_PACKETS, nofree, msec) != 0) {
        if (bcr_errno != bcrE_FULL)
            lfc_fail_bcr(routine);
        lfc_self.counts[COUNT_RETRIES]++;
        lfc_progress(upcalls_allowed);
        msec = cce == lfc_self.own ? 0 : PATIENCE_MSEC;
    }
}

static void wait_for_window(const char *routine, unsigned more, bool upcalls_allowed)
{
    under_way += more;
    if (under_way < WINDOW)
        return;
    for (int done; (done = bcr_putdone(0)) != 1;) {
        if (done < 0)
            lfc_fail_bcr(routine);
        lfc_progress(upcalls_allowed);
        if (bcr_putdone(PATIENCE_MSEC) == 1)
            break;
    }
    under_way = 0;
}

void lfc_ucast_launch(unsigned dest, void *packet, unsigned size, int upcalls_allowed)
{
    lfc_enter("lfc_ucast_launch");
    if (dest >= lfc_self.count)
        lfc_fail("lfc_ucast_launch", "there is no process %u: they are 0 to %u", dest, lfc_self.count - 1);
    bcr_region rgid = dress("lfc_ucast_launch", packet, size, 0);
    lfc_self.counts[COUNT_UCAST_SENT]++;
    if (lfc_self.is_near[dest]) {
        put_near("lfc_ucast_launch", rgid, lfc_self.members[dest], bcr_FREE, upcalls_allowed != 0);
    } else {
        if (bcr_enq(rgid, lfc_self.members[dest], CELL_PACKETS, bcr_FREE) != 0)
            lfc_fail_bcr("lfc_ucast_launch");
        wait_for_window("lfc_ucast_launch", 1, upcalls_allowed != 0);
    }
    lfc_leave(upcalls_allowed != 0);
}

/* Takes the error regions of the multicast at hand, and writes down whose cell had no room. Returns how many. */
static int take_full(const char *routine, bcr_cce_id *full)
{
    int count = 0;
    for (bcr_region error; (error = bcr_deq(bcr_cce, 0, 0)) != NULL;) {
        int told[4];
        const bool is_mine = bcr_copyfm(bcrT_1ERROR, 1, error, 0, told, sizeof told) >= 0 &&
                             told[1] == bcr_op_putm && told[3] == CELL_PACKETS;
        bcr_rgfree(error);
        if (is_mine && told[0] != bcrE_FULL)
            lfc_fail(routine, "%s", bcr_strerror(told[0]));
        if (is_mine)
            full[count++] = told[2];
    }
    return count;
}

/* Cells that had no room, as error regions tell, get the packet one by one. All are taken before the first wait: an upcall that
 * is made meanwhile may multicast, too, and would take those that are left for its own. */
static void put_again(const char *routine, bcr_region rgid, int receivers, bool upcalls_allowed)
{
    const size_t bytes = (size_t)receivers * sizeof(bcr_cce_id);
    bcr_cce_id *full = lfc_pages(bytes);
    if (full == NULL)
        lfc_fail(routine, "no memory");
    const int count = take_full(routine, full);
    for (int i = 0; i < count; i++)
        put_near(routine, rgid, full[i], bcr_NOFREE, upcalls_allowed);
    lfc_pages_free(full, bytes);
}

static void launch(const char *routine, const struct lfc_group *group, void *packet, unsigned size,
                   bool upcalls_allowed)
{
    int putwait;
    bcr_region rgid = dress(routine, packet, size, LFC_UPCALL_MCAST);
    if (group->near_count != 0) {
        if (bcr_getputwait(&putwait) != 0 || bcr_putwait(0) != 0)
            lfc_fail_bcr(routine);
        const int sent = bcr_enqm(rgid, group->near_count, group->near, bcr_NOFREE), code = bcr_errno;
        if (bcr_putwait(putwait) != 0)
            lfc_fail_bcr(routine);
        bcr_errno = code;
        if (sent != 0 && code != bcrE_FULL)
            lfc_fail_bcr(routine);
        if (sent != 0)
            put_again(routine, rgid, group->near_count, upcalls_allowed);
    }
    if (group->far_count != 0 && bcr_enqm(rgid, group->far_count, group->far, bcr_NOFREE) != 0)
        lfc_fail_bcr(routine);
    if (bcr_rgfree(rgid) != 0)
        lfc_fail_bcr(routine);
    wait_for_window(routine, (unsigned)group->far_count, upcalls_allowed);
}

void lfc_mcast_launch(int gid, void *packet, unsigned size, int upcalls_allowed)
{
    lfc_enter("lfc_mcast_launch");
    if (gid < 0 || gid >= lfc_self.group_count)
        lfc_fail("lfc_mcast_launch", "there is no group %d: lfc_group_create has made %d", gid,
                 lfc_self.group_count);
    lfc_self.counts[COUNT_MCAST_SENT]++;
    launch("lfc_mcast_launch", &lfc_self.groups[gid], packet, size, upcalls_allowed != 0);
    lfc_leave(upcalls_allowed != 0);
}

void lfc_bcast_launch(void *packet, unsigned size, int upcalls_allowed)
{
    lfc_enter("lfc_bcast_launch");
    lfc_self.counts[COUNT_BCAST_SENT]++;
    launch("lfc_bcast_launch", &lfc_self.all, packet, size, upcalls_allowed != 0);
    lfc_leave(upcalls_allowed != 0);
}

void lfc_send_end(void)
{
    while (spare_count > 0)
        bcr_rgfree(spares[--spare_count]);
    wait_for_window("lfc_exit", WINDOW, false);
}
