/* SPDX-License-Identifier: MIT */
/* Tickets: fast puts under T and fast takes under H, waiting without a lock, SLEEP marks, the cached limit, conversion to
 * the list, regions outside the ring, cancellation, hand-back. Nobody dies here: death.pml. The code: cell.inc.
 *
 * Checked: each region put comes to one taker, once, or is in the queue at the end; a taker gets what one putter put in
 * that order (unless a taker gave one back); no store into the ring hits an entry that a process still has to read; a
 * taker that has cancelled is given nothing; each taker that can be served is served and awake (else: "invalid end state").
 *
 * Configurations: PUTS_0, PUTS_1, GETS_0 (wait for ever), GETS_1, TIMEOUTS (the second taker may give up at any moment),
 * GIVE_BACK (it hands its first region back), WRITER (the second putter writes: its fast puts must find an empty queue, which
 * is looked at under T alone), CREDITS.
 * Rules that can be broken: WRITE_LOOKS_FIRST (before it has T), NO_WAITERS_IN_LIMIT,
 * NO_WAITER_IN_LIMIT (of a writer), STATE_BEFORE_ENTRY, NO_CONVERSION, NO_MARK (sleeps without one), NO_SLEEPS (nothing says that
 * there is one), MARKS_FORGOTTEN (by the first put, though another taker sleeps).
 *
 * Code: cells/put.c, cells/put_attempt.c, cells/put_steps.h, cells/get_attempt.c
 * Code: cells/waiters.c */
#ifndef RING
#define RING 2
#endif
#ifndef CREDITS
#define CREDITS 8
#endif
#ifndef PUTS_0
#define PUTS_0 2
#endif
#ifndef PUTS_1
#define PUTS_1 1
#endif
#ifndef GETS_0
#define GETS_0 2
#endif
#ifndef GETS_1
#define GETS_1 1
#endif
#define PROCS 4 /* 0, 1: takers; 2, 3: putters */
#define REGIONS (PUTS_0 + PUTS_1)
#define J(statement)
#define HOLD(p, r, keep)
#define UNHOLD(p, r, keep)

#ifndef SLEEPS
#define SLEEPS(p) ((p) == 0) /* the other one spins */
#endif

#ifdef WRITER
#define WRITES(p) ((p) == 3) /* where the queue is not empty it puts */
#else
#define WRITES(p) false
#endif

#include "cell.inc"

byte finished;

inline check_order(r, newest_0, newest_1)
{
#ifndef GIVE_BACK
    d_step {
        if
        :: r <= PUTS_0 -> assert(r > newest_0); newest_0 = r
        :: else -> assert(r > newest_1); newest_1 = r
        fi
    }
#else
    skip
#endif
}

proctype putter(byte me, from, to)
{
    LOCALS;
    byte r = from;
    do
    :: r <= to ->
        put_fast(me, r, false, WRITES(me));
        if
        :: res_ != DONE -> put_slow(me, r, false)
        :: else
        fi;
        if
        :: res_ == DONE -> r++
        :: else -> /* no room: as if it spun for it */
            (QLEN < credits || head > tail || n_list > 0)
        fi
    :: else -> break
    od;
    finished++
}

/* Waits for its request: a sleeper looks once, marks, looks again, and sleeps; a spinner spins. */
inline wait_for_it(p, may_give_up)
{
    do
    :: collect(p);
        if
        :: ok_ -> break
        :: else
        fi;
        if
        :: SLEEPS(p) ->
            bell[p] = false;
#ifndef NO_MARK
            mark(p);
#else
            ok_ = false;
#endif
            if
            :: ok_
            :: else ->
                if
                :: bell[p]
                :: may_give_up -> goto give_up
                fi
            fi
        :: !SLEEPS(p) ->
            if
            :: (s_state[p] != TICKET && s_state[p] != LISTED) ||
                (s_state[p] == TICKET && e_lap[s_key[p] % RING] == LAP(s_key[p]))
            :: may_give_up -> goto give_up
            fi
        fi
    od;
    ok_ = false
}

proctype taker(byte me, gets)
{
    LOCALS;
    byte n, newest_0, newest_1;
    bool gave_back, may;
#ifdef TIMEOUTS
    may = me == 1;
#endif
    do
    :: n < gets ->
        get_fast(me, true);
        if
        :: res_ == GO_SLOW -> get_slow(me, true)
        :: else
        fi;
        if
        :: res_ == WAITS -> wait_for_it(me, may)
        :: else
        fi;
got:
        assert(s_state[me] == LIVE);
        check_order(s_reg[me], newest_0, newest_1);
        n++;
#ifdef GIVE_BACK
        if
        :: me == 1 && !gave_back -> gave_back = true; n--; give_back(me)
        :: else -> d_step { s_state[me] = FREE; s_reg[me] = 0; s_key[me] = 0 }
        fi
#else
        d_step { s_state[me] = FREE; s_reg[me] = 0; s_key[me] = 0 }
#endif
        goto next;
give_up:
        cancel(me);
        if
        :: ok_ -> n++
        :: else -> /* it was served after all */
            collect(me);
            assert(ok_);
            goto got
        fi;
next:
        ok_ = false
    :: else -> break
    od;
    finished++
}

init
{
    LOCALS;
    byte i, r;
    atomic {
        run taker(0, GETS_0);
        run taker(1, GETS_1);
        run putter(2, 1, PUTS_0);
        run putter(3, PUTS_0 + 1, PUTS_0 + PUTS_1)
    };
    finished == 4;
    d_step {
        assert(H == 0 && T == 0 && n_list == 0 && head <= tail);
        for (i : 0 .. 1) { assert(s_state[i] == FREE); assert(w_slot[i] == 0) };
        do
        :: QLEN > 0 -> q_first(); unqueue(); taken[r_]++
        :: else -> break
        od;
        for (r : 1 .. REGIONS) { assert(taken[r] == 1) }
    }
}
