/* SPDX-License-Identifier: MIT */
/* A repair that waits goes aside: enl/helper.c, enl/worker.c, bcri_repair_put_aside of cells/repair.c, bcri_holder_is_nobody of
 * core/lock.c. Two threads of the daemon act, one at a time, with one tag and one journal. B has died, then C. B's repair takes
 * lock 0, and then lock 1, which A holds, who is stopped. C's repair takes lock 2, and with RELATED lock 0 before. A goes on some
 * time, with LATE when C is closed.
 *
 * Checked: all that died is closed, and C without A, if nothing of it is related to what waits; one at a time has a lock;
 * who comes back finds the journal as he left it; nothing is given back while somebody is aside; no wake-up is lost (else: "invalid
 * end state").
 *
 * Rules that can be broken: NO_ASIDE (one repair after the other), OWN_IS_NOBODY (a lock with the daemon's own tag is taken for damaged),
 * NOT_TAKEN_ALONG (the journal stays as others left it), LOOK_AT_ONCE (who ends a repair gives back what there is), NOT_ACTING (who
 * comes back does not wait until nobody else acts).
 *
 * Code: enl/helper.c take_next, enl_helper_aside, enl_helper_back, work_on
 * Code: enl/worker.c wait_aside, perform, holder_died
 * Code: cells/repair.c bcri_repair_put_aside, bcri_repair_take_up, bcri_journal_repair_surely
 * Code: core/lock.c bcri_holder_is_nobody, go_aside, come_back */
#define A 1
#define ENL 2 /* tags */
#define B 1
#define C 2   /* the dead; in the queue in this order */
#define NOBODY 0

byte L[3], inside[3];
byte event[3];            /* event[t]: what is counted up by t's releases */
bool acting, closed[3];
byte journal, asides, next = B;

inline release(l, t)
{
    d_step { inside[l]--; L[l] = 0; event[t]++ } /* lock.pml has this in steps */
}

/* bcri_lock_slow by the thread that acts */
inline lock_it(l)
{
    do
    :: d_step { L[l] == 0 -> L[l] = ENL; inside[l]++ }; assert(inside[l] == 1); break
#ifdef OWN_IS_NOBODY
    :: d_step { L[l] == ENL -> inside[l]++ }; assert(inside[l] == 1); break
#endif
    :: d_step { L[l] != 0 -> holder_ = L[l]; seen_ = event[holder_] };
        /* wait_aside */
        kept_ = journal;
#ifndef NO_ASIDE
        d_step { asides++; acting = false };
        event[holder_] != seen_;
#ifndef NOT_ACTING
        d_step { !acting -> acting = true; asides-- };
#else
        d_step { acting = true; asides-- };
#endif
#else
        event[holder_] != seen_;
#endif
#ifndef NOT_TAKEN_ALONG
        journal = kept_;
#endif
        kept_ = 0
    od
}

proctype thread()
{
    byte work, holder_, seen_, kept_;
    do
    :: d_step { !acting && next <= C -> acting = true; work = next; next++ };
        journal = work;
        if
        :: work == B ->
            lock_it(0);
            assert(journal == work && acting);
            lock_it(1);
            assert(journal == work && acting);
            release(1, ENL);
            release(0, ENL)
        :: work == C ->
#ifdef RELATED
            lock_it(0);
            assert(journal == work && acting);
#endif
            lock_it(2);
            assert(journal == work && acting);
            release(2, ENL);
#ifdef RELATED
            release(0, ENL)
#endif
        fi;
        journal = NOBODY;
        closed[work] = true;
        /* the estate */
        if
#ifndef LOOK_AT_ONCE
        :: asides == 0 -> assert(asides == 0)
        :: else
#else
        :: assert(asides == 0)
#endif
        fi;
        acting = false
    :: skip;
end:    !acting && next <= C
    od
}

proctype stopped()
{
#ifdef LATE
    closed[C];
#endif
    release(1, A)
}

init
{
    atomic {
        L[1] = A;
        inside[1] = 1;
        run thread();
        run thread();
        run stopped()
    };
    closed[B] && closed[C];
    assert(L[0] == 0 && L[1] == 0 && L[2] == 0)
}
