/* SPDX-License-Identifier: MIT */
/* receive.c -- packets that come: out of the cell into a queue, and from there to upcalls.
 *
 * Whoever waits takes packets out of the cell, so that senders have room, also where no upcall may be made. The queue keeps
 * their order. Upcalls may nest: one that sends may make others. */
#include <sched.h>

#include "lfc_private.h"

/* Packets that wait for their upcall: a ring in pages of its own, a power of two long. */
static bcr_region *queue;
static size_t room, first, waiting;

/* The packets whose upcalls run, the innermost first: each may be freed within. */
struct upcall {
    void *data;
    bcr_region rgid;
    bool freed;
    struct upcall *outer;
};
static struct upcall *running;

static void grow(void)
{
    bcr_region *old = queue;
    const size_t before = room;
    room = before == 0 ? 512 : 2 * before;
    queue = lfc_pages(room * sizeof(bcr_region));
    if (queue == NULL)
        lfc_fail("lfc_poll", "no memory for one more packet that waits");
    for (size_t i = 0; i < waiting; i++)
        queue[i] = old[(first + i) & (before - 1)];
    first = 0;
    lfc_pages_free(old, before * sizeof(bcr_region));
}

static void append(bcr_region rgid)
{
    if (waiting == room)
        grow();
    queue[(first + waiting++) & (room - 1)] = rgid;
}

bool lfc_has_waiting(void)
{
    return waiting != 0;
}

static bcr_region next_of_cell(void)
{
    bcr_region rgid = bcr_deq(lfc_self.own, CELL_PACKETS, 0);
    if (rgid != NULL)
        lfc_self.is_armed = false;
    else if (bcr_errno != bcrE_TIMEOUT)
        lfc_fail_bcr("lfc_poll");
    return rgid;
}

static void make_upcall(bcr_region rgid)
{
    unsigned char *data = *rgid;
    const int length = bcr_rglen(rgid, NULL), size = length - TRAILER;
    if (size < 0 || size > PACKET)
        lfc_fail("lfc_upcall", "what came is no packet: another part of the program uses cell %d",
                 CELL_PACKETS);
    const unsigned char *trailer = data + size;
    const unsigned src =
        trailer[0] | (unsigned)trailer[1] << 8 | (unsigned)trailer[2] << 16 | (unsigned)trailer[3] << 24;
    const bool is_mcast = (trailer[4] & LFC_UPCALL_MCAST) != 0;
    if (src >= lfc_self.count)
        lfc_fail("lfc_upcall", "a packet came from process %u, and there are %u", src, lfc_self.count);
    lfc_self.counts[is_mcast ? COUNT_MCAST_RECEIVED : COUNT_UCAST_RECEIVED]++;
    lfc_self.counts[lfc_self.by_interrupt ? COUNT_BY_INTERRUPT : COUNT_BY_POLL]++;
    adapter_interrupt_served(&lfc_self.interrupt);
    struct upcall upcall = {data, rgid, false, running};
    running = &upcall;
    const sig_atomic_t inside = lfc_self.inside;
    lfc_self.disabled++;
    lfc_self.inside = 0; /* the upcall may call */
    const int is_kept =
        lfc_upcall(src, data, (unsigned)size, is_mcast ? LFC_UPCALL_MCAST : (lfc_upcall_flags_t)0);
    lfc_self.inside = inside;
    lfc_self.disabled--;
    running = upcall.outer;
    if (running == NULL)
        lfc_interrupts_follow();
    if (upcall.freed)
        return;
    if (is_kept != 0)
        lfc_packets_add(data, rgid, false);
    else if (bcr_rgfree(rgid) != 0)
        lfc_fail_bcr("lfc_poll");
}

int lfc_upcalls_running(void)
{
    int count = 0;
    for (const struct upcall *upcall = running; upcall != NULL; upcall = upcall->outer)
        count++;
    return count;
}

static bcr_region next_of_queue(void)
{
    bcr_region rgid = queue[first];
    first = (first + 1) & (room - 1);
    waiting--;
    return rgid;
}

/* An upcall of an interrupt may have disabled interrupts: then no further upcalls are made for it. */
static bool may_go_on(void)
{
    return !lfc_self.by_interrupt || lfc_self.disabled == 0 || running != NULL;
}

static void empty_queue(void)
{
    while (waiting != 0 && may_go_on())
        make_upcall(next_of_queue());
}

/* A step takes no more packets than the cell holds, lest it never end. Most packets never see the queue: only where no upcall
 * may be made, or one that is running takes what comes after its own. */
bool lfc_progress(bool upcalls_allowed)
{
    bcr_region rgid;
    unsigned taken = 0;
    bool has_found = upcalls_allowed && waiting != 0;
    /* Before the look: what comes behind it is to be told of. Without upcalls what is found stays, so that is not served. */
    if (lfc_self.has_helper && upcalls_allowed)
        adapter_interrupt_served(&lfc_self.interrupt);
    lfc_counters_serve();
    if (upcalls_allowed)
        empty_queue();
    for (; taken < lfc_self.options.ring_frames && may_go_on() && (rgid = next_of_cell()) != NULL; taken++) {
        if (!upcalls_allowed) {
            append(rgid);
            continue;
        }
        make_upcall(rgid);
        empty_queue();
    }
    if (lfc_self.has_helper)
        lfc_arm();
    return has_found || taken != 0;
}

/* Programs poll in loops. With more processes than cores, others run sooner if one that has found nothing for some
 * 50 us lets them. */
enum { EMPTY_MOST = 1000 };
static unsigned empty;

static void note_empty_poll(void)
{
    lfc_self.counts[COUNT_EMPTY_POLLS]++;
    if (++empty < EMPTY_MOST)
        return;
    empty = 0;
    sched_yield();
}

void lfc_poll(void)
{
    if (lfc_self.inside != 0) {
        /* A handler of the program's own has interrupted a routine, which makes the upcalls then. */
        lfc_self.pending = 1;
        return;
    }
    lfc_enter("lfc_poll");
    if (lfc_progress(true))
        empty = 0;
    else
        note_empty_poll();
    lfc_leave(true);
}

void lfc_packet_free(void *packet)
{
    lfc_enter("lfc_packet_free");
    struct upcall *upcall = running;
    while (upcall != NULL && upcall->data != packet)
        upcall = upcall->outer;
    bcr_region rgid = upcall == NULL ? lfc_packets_take(packet, false) : !upcall->freed ? upcall->rgid : NULL;
    if (rgid == NULL)
        lfc_fail("lfc_packet_free", "%p is no packet that an upcall has got and kept, or was freed before",
                 packet);
    if (upcall != NULL)
        upcall->freed = true;
    if (bcr_rgfree(rgid) != 0)
        lfc_fail_bcr("lfc_packet_free");
    lfc_leave(true);
}

void lfc_receive_end(void)
{
    while (lfc_progress(false))
        ;
    while (waiting != 0)
        bcr_rgfree(next_of_queue());
}
