/* SPDX-License-Identifier: MIT */
/* A second death during a repair. core/lock.c (sleep_on_holder, repaired_one), cells/repair.c (bcri_cce_dying,
 * bcri_journal_repair): the daemon's worker repairs C, which is dead already, and needs lock 0 for that. B, alive, holds
 * lock 0 and waits for lock 1, which A holds. A dies, or B, or both, at any step: then the worker must repair that one's
 * journal on the spot, or wait for ever for somebody who waits for the dead.
 *
 * A's repair needs a lock that C holds, as a dead taker's repair needs the tail lock of a dead putter: met from within C's
 * repair, which waits further out, it takes the lock over (waits_for_us). C's own repair does not begin again from there.
 *
 * Waiting is sleeping on the holder's event word. That no wake-up is lost between a plain-store release and a sleeper is
 * lock.pml's; here each release counts the event up.
 *
 * Checked: everybody who lives comes to his end, each dead one's journal is repaired, once, no lock stays held.
 *
 * Rules that can be broken: NO_WAITS_ON (bcri_cce_dying does not wake whoever sleeps where the repair waits), LOOK_FIRST
 * (the worker looks for the dying before it says on whom it waits), NO_NESTED (the worker repairs nobody while it waits),
 * REPAIR_TWICE (a journal that was repaired from within a wait is repaired again by the worker's queue),
 * WAIT_FOR_OUTER (a nested repair waits for the lock of one whose repair waits for it).
 *
 * Code: core/lock.c sleep_on_holder, sleep_until_event, wait_on, go_aside, come_back
 * Code: core/lock.c repaired_one
 * Code: cells/repair.c bcri_cce_dying, bcri_repair_wake, repair_open, bcri_journal_repair
 * Code: cells/repair.c waits_for_us, take_over */
#define A 0
#define B 1
#define ENL 2
#define TAG(p) ((p) + 1)
#define NOBODY 255

byte L[2];                /* lock words: 0 or a tag */
byte event[3], asleep_on[3] = NOBODY;
byte waits_on;            /* host->enl_waits_on */
bool by_c = true;         /* a lock that C held when it died */
bool opened[2], dying[2], noticed[2];
byte repairs[2];
bool doomed[2];           /* the killer's choice */


inline wake(h)
{
    d_step {
        event[h]++;
        w = 0;
        do
        :: w < 3 ->
            if
            :: asleep_on[w] == h -> asleep_on[w] = NOBODY
            :: else
            fi;
            w++
        :: else -> break
        od;
        w = 0
    }
}

/* bcri_journal_repair: the locks that carry the dead one's tag, the journal closed, the sleepers woken. */
inline repair(d)
{
#ifndef REPAIR_TWICE
    if
    :: opened[d] ->
#else
    if
    :: true ->
#endif
        if
        :: d == A ->
#ifdef WAIT_FOR_OUTER
            !by_c
#else
            by_c = false /* take_over: as it would be once C's repair went on */
#endif
        :: d == B
        fi;
        d_step {
            repairs[d]++;
            assert(repairs[d] == 1);
            if
            :: L[0] == TAG(d) -> L[0] = 0
            :: else
            fi;
            if
            :: L[1] == TAG(d) -> L[1] = 0
            :: else
            fi
        };
        wake(d);
        opened[d] = false
    :: else
    fi
}

inline look_for_the_dying()
{
    nested = NOBODY;
#ifndef NO_NESTED
    if
    :: dying[A] && opened[A] -> nested = A
    :: dying[B] && opened[B] -> nested = B
    :: else
    fi
#endif
}

inline sleep_on(p, l)
{
    if
    :: L[l] == TAG(holder) ->
        if
        :: d_step { event[holder] == seen -> asleep_on[p] = holder }; asleep_on[p] == NOBODY
        :: event[holder] != seen
        fi
    :: else
    fi
}

inline lock_it(p, l)
{
    do
    :: d_step { L[l] == 0 -> L[l] = TAG(p) }; break
    :: d_step { L[l] != 0 -> holder = L[l] - 1 }; seen = event[holder]; sleep_on(p, l)
    od
}

proctype cce(byte p)
{
    byte holder, seen, w;
    {
        opened[p] = true;
        if
        :: p == B -> lock_it(p, 0)
        :: p == A
        fi;
        lock_it(p, 1);
        L[1] = 0;
        wake(p);
        if
        :: p == B -> L[0] = 0; wake(p)
        :: p == A
        fi;
        opened[p] = false;
end:
        false
    } unless {
        d_step { doomed[p] && repairs[p] == 0 && !dying[p] -> asleep_on[p] = NOBODY };
        noticed[p] = true
    }
}

/* The daemon's loop: bcri_cce_dying, and the death goes into the worker's queue. */
proctype daemon(byte p)
{
    byte w, on;
end:
    noticed[p];
    dying[p] = true;
    wake(p);
#ifndef NO_WAITS_ON
    on = waits_on;
    if
    :: on != 0 -> wake(on - 1)
    :: else
    fi
#endif
}

proctype worker()
{
    byte holder, seen, w, nested;
    do /* C's repair needs lock 0 */
    :: d_step { L[0] == 0 -> L[0] = TAG(ENL) }; break
    :: d_step { L[0] != 0 -> holder = L[0] - 1 };
        seen = event[holder];
#ifdef LOOK_FIRST
        look_for_the_dying();
        waits_on = TAG(holder);
#else
        waits_on = TAG(holder);
        look_for_the_dying();
#endif
        if
        :: nested != NOBODY -> repair(nested)
        :: else -> sleep_on(ENL, 0)
        fi;
        waits_on = 0
    od;
    by_c = false;
    L[0] = 0;
    wake(ENL);
    do /* its queue */
    :: dying[A] && noticed[A] -> repair(A); d_step { noticed[A] = false; assert(L[0] != TAG(A) && L[1] != TAG(A)) }
    :: dying[B] && noticed[B] -> repair(B); d_step { noticed[B] = false; assert(L[0] != TAG(B) && L[1] != TAG(B)) }
    :: skip;
end:
        (dying[A] && noticed[A]) || (dying[B] && noticed[B])
    od
}

proctype killer()
{
    if
    :: doomed[A] = true
    :: doomed[B] = true
    :: doomed[A] = true; doomed[B] = true
    :: skip
    fi
}

init
{
    atomic {
        asleep_on[A] = NOBODY;
        asleep_on[B] = NOBODY;
        asleep_on[ENL] = NOBODY;
        run cce(A);
        run cce(B);
        run daemon(A);
        run daemon(B);
        run worker();
        run killer()
    }
}
