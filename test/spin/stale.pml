/* SPDX-License-Identifier: MIT */
/* Cells' memory in its next use: cells/area.c, cells/lookup.c, core/memory/host_pages.c. A cell has a header, and a ring elsewhere, of which one
 * entry stands here. PUTTER and WAITER have looked it up; the owner gives it back meanwhile, and header and ring serve two others,
 * each something else. WAITER waits by ticket: it reads the entry without a lock, and marks it as that of a sleeper under one.
 *
 * Checked: nobody stores into a ring that is not the cell's any more; WAITER takes what was put for it or learns that the cell has
 * gone; a late process releases no lock but its own; one gets on to the end (else: "invalid end state").
 *
 * Rules that can be broken: NO_COMPARE (a put does not look at the generation under the lock), COMPARE_FIRST (it does before it has
 * the lock), SAME_GEN (the next cell has the same generation), PLAIN_UNLOCK (who comes late lets go by a plain store), ENTRY_ALONE (the
 * waiter believes the entry), SLOT_FIRST (it looks at its slot, then at the entry), MARK_BLINDLY (it marks the entry without a look
 * at its slot under the lock), UNCOLLECTED (a served ticket does not keep the cell), NO_LISTING (who closes leaves a ticket as it is),
 * BACK_FIRST (the memory goes back before the cell is closed).
 *
 * Code: cells/area.c, cells/waiters.c, cells/both_locks.c, core/memory/host_pages.c */
mtype = { TICKET, LISTED, FAILED, LIVE };
#define NOBODY 0
#define PUTTER 1
#define WAITER 2
#define OWNER  3
#define OTHER  4

#define EMPTY  0
#define OURS   1 /* the region that was put for the ticket */
#define SLEEP  2
#define THEIRS 3 /* another putter's entry, of the same lap */

/* the header */
byte lock_ = NOBODY, gen = 1;
bool closed, waits = true; /* the ticket is in waiter[] */
/* the ring */
byte entry = EMPTY, ring_of = 1;
/* the waiter's ID */
mtype slot = TICKET;
bool put_done;

inline take(who)
{
    atomic { lock_ == NOBODY -> lock_ = who }
}

inline let_go_late(who)
{
#ifdef PLAIN_UNLOCK
    lock_ = NOBODY
#else
    atomic { if :: lock_ == who -> lock_ = NOBODY :: else fi }
#endif
}

active proctype putter()
{
    bool open = true;
#ifdef COMPARE_FIRST
    open = gen == 1 && !closed;
#endif
    take(PUTTER);
#ifndef NO_COMPARE
#ifndef COMPARE_FIRST
    open = gen == 1 && !closed;
#endif
#endif
    if
    :: open ->
        assert(ring_of == 1);
        entry = OURS;
        put_done = true;
        lock_ = NOBODY
    :: else -> let_go_late(PUTTER)
    fi
}

/* To sleep; the ringer is not in this model, the sleeper looks again at once. */
inline mark()
{
    take(WAITER);
    if
#ifdef MARK_BLINDLY
    :: entry != OURS ->
#else
    :: entry != OURS && slot == TICKET ->
#endif
        assert(ring_of == 1);
        entry = SLEEP
    :: else
    fi;
    let_go_late(WAITER)
}

active proctype waiter()
{
    byte seen;
    mtype is;
    bool marked;
    do
    ::
#ifdef SLOT_FIRST
        is = slot;
        seen = entry;
#else
        seen = entry;
        is = slot;
#endif
        if
#ifdef ENTRY_ALONE
        :: seen == OURS || seen == THEIRS ->
#else
        :: (seen == OURS || seen == THEIRS) && is == TICKET ->
#endif
            assert(seen == OURS && gen == 1);
            slot = LIVE;
            waits = false;
            break
        :: is == FAILED -> break
        :: else ->
            if
            :: !marked -> marked = true; mark()
            :: true
            fi
        fi
    od
}

/* The owner, and then who has the memory. */
active proctype owner()
{
#ifdef BACK_FIRST
    ring_of = 2;
#endif
close:
    take(OWNER);
#ifndef NO_LISTING
    if
    :: atomic { waits && !put_done -> waits = false; slot = LISTED }
    :: else
    fi;
#endif
#ifndef UNCOLLECTED
#ifndef NO_LISTING
    if
    :: waits -> lock_ = NOBODY; goto close /* BUSY */
    :: else
    fi;
#endif
#endif
    closed = true;
    lock_ = NOBODY;
    take(OWNER);
    if
    :: slot == LISTED -> slot = FAILED
    :: else
    fi;
    lock_ = NOBODY;
    gen = 0;
    /* The daemon empties the pages. */
    atomic { lock_ = NOBODY; closed = false }
    atomic { entry = EMPTY; ring_of = NOBODY }
    /* Two others have them: one the ring, one the header. */
    ring_of = 2;
    entry = THEIRS;
#ifdef SAME_GEN
    gen = 1;
#else
    gen = 2;
#endif
    take(OTHER);
    skip;
    assert(lock_ == OTHER);
    lock_ = NOBODY
}
