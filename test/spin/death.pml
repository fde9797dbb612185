/* SPDX-License-Identifier: MIT */
/* One process is killed at any step of put, take, wait, collect, cancel, give back, read, free or zap; the daemon repairs
 * from the journal as cells/recovery/journal_repair.c and cells/recovery/cleanup.c do, while a putter and a taker go on. The operations: cell.inc,
 * with what the victim writes into its journal; a transaction (its journal phase with it) is one step.
 *
 * Checked: afterwards each region's count is the number of its holders (ID slots, queue), the locks are free, nobody is
 * handed anything twice, no store hits an entry that is still needed, and the living taker is never left asleep with
 * something to take.
 *
 * The daemon may be parked PARKS times where it would take a lock beside those of the victim, and then begins again: here that is
 * before it lets go of the cell, what the operation needs being done.
 *
 * OP picks what the victim does (see victim()); PRE regions are in the cell before; CREDITS.
 * Rules that can be broken: TAKE_SET_BACK (an unfinished take lowers head again), PHASE_CLASH (a slow take that is done
 * leaves the phase of a wait by ticket), DETACHED_TWICE (the cursor of a zap moves again after a drop that is done),
 * NO_GIVE_BACK (a region handed over but not collected is dropped with its waiter), NO_REPAIR_RING,
 * DROPPED_AS_NOT_HELD (a hold that was taken back looks like one not yet made), PHASE_1_IS_DONE (repair takes a fast put for
 * done whose entry it has not looked for), SOLE_NOT_STORED (a read of the only holder is made LIVE with the count as it is),
 * NO_COLLECT_REPAIR (the waiter's entry stays), DROP_UNCOUNTED (the walk over the IDs drops a region of count 0),
 * COUNT_BEFORE_ID, FREE_ID_FIRST (rgalloc and rgfree of own blocks in the other order), NOT_MARKED_DONE (what was begun again does the
 * operation again).
 *
 * Code: core/include/bcri/record.h, cells/put.c, cells/put_attempt.c, cells/put_steps.h
 * Code: cells/region.c, cells/get.c, cells/get_attempt.c, cells/get_slow.c, cells/get_steps.h
 * Code: cells/include/bcri/drop.h, cells/drop.c, cells/detached.c
 * Code: cells/recovery/journal_repair.c, cells/recovery/operation_repair.c, cells/recovery/cleanup.c */
#define RING 2
#ifndef CREDITS
#define CREDITS 4
#endif
#ifndef PRE
#define PRE 1
#endif
#ifndef QPUTS
#define QPUTS 2
#endif
#ifndef PARKS
#define PARKS 1
#endif
#ifndef GETS
#define GETS 1
#endif
#define PROCS 4
#define VICTIM 0
#define PUTTER 1
#define TAKER 2
#define ENL 3
#define OWN 5 /* the region that the victim begins with */
#define REGIONS 5

#define OP_NONE 0
#define OP_PUT 1
#define OP_TAKE 2
#define OP_READ 3
#define OP_COLLECT 4
#define OP_FREE 5
#define OP_ZAP 6
#define OP_FREE_LAST 7
#define OP_SLOW 8

#define HELD 1
#define DROPPING 2
#ifdef DROPPED_AS_NOT_HELD
#define DROPPED 0
#else
#define DROPPED 3
#endif

#define J(statement) if :: p == VICTIM -> statement :: else fi;
#define OPEN(op, region, slot) d_step { j_op = op; j_region = region; j_slot = slot; j_phase = 0; j_held = 0 }
#define CLOSE() j_op = OP_NONE

#define HOLD(p, r, keep) \
    if \
    :: keep -> \
        d_step { count[r]++; J(j_counted = true) skip }; \
        d_step { J(j_held = HELD) skip }; \
        d_step { J(j_counted = false) skip } \
    :: else \
    fi;
#define UNHOLD(p, r, keep) \
    if \
    :: keep -> \
        d_step { J(j_held = DROPPING) skip }; \
        d_step { count[r]--; J(j_counted = true) skip }; \
        d_step { J(j_held = DROPPED) skip }; \
        d_step { J(j_counted = false) skip } \
    :: else \
    fi;

/* The victim's journal. j_counted: its open count change is done (cw_state COMMIT or LAST). */
byte j_op, j_region, j_phase, j_ticket, j_old_reg, j_held, j_ring;
bool j_slot, j_counted, j_detached;
bool j_gives, j_rings, j_sole; /* flags beside the phase, stored with it */
byte detached[4], n_detached, j_cursor, j_was;
byte count[6];

#include "cell.inc"

bool killed, dead, gone, putter_done, taker_done;

inline slot_free(p) { d_step { s_state[p] = FREE; s_reg[p] = 0; s_key[p] = 0 } }

/* bcri_slot_drop */
inline slot_drop(p)
{
    if
    :: count[s_reg[p]] == 1 && s_reg[p] == OWN -> /* drop.h: a block of its own heap, no journal */
#ifdef FREE_ID_FIRST
        t_ = s_reg[p];
        slot_free(p);
        d_step { count[t_] = 0; t_ = 0 }
#else
        count[s_reg[p]] = 0;
        slot_free(p)
#endif
    :: count[s_reg[p]] == 1 && s_reg[p] != OWN -> /* bcri_drop_last: count.pml has it whole */
        d_step { J(j_op = OP_FREE_LAST) skip };
        count[s_reg[p]] = 0;
        slot_free(p);
        d_step { J(j_op = OP_NONE) skip }
    :: else ->
        d_step { J(j_op = OP_FREE; j_region = s_reg[p]; j_slot = true; j_phase = 0; j_held = 0) skip };
        d_step { count[s_reg[p]]--; J(j_counted = true) skip };
        slot_free(p);
        d_step { J(j_counted = false) skip };
        d_step { J(j_op = OP_NONE) skip }
    fi
}

inline put(p, r, keep)
{
    d_step { J(j_op = OP_PUT; j_region = r; j_slot = !keep; j_phase = 0; j_held = 0; j_gives = !keep; j_rings = false) skip };
    put_fast(p, r, keep, false);
    if
    :: res_ == DONE && !keep -> slot_free(p)
    :: else
    fi;
    d_step { J(j_op = OP_NONE) skip };
    if
    :: res_ != DONE ->
        d_step { J(j_op = OP_PUT; j_region = r; j_slot = !keep; j_phase = 0; j_held = 0; j_gives = false; j_rings = false) skip };
        put_slow(p, r, keep);
        if
        :: res_ == DONE && !keep -> slot_free(p)
        :: else
        fi;
        d_step { J(j_op = OP_NONE) skip }
    :: else
    fi
}

inline get(p, wait)
{
    d_step { J(j_op = OP_TAKE; j_region = 0; j_slot = true; j_phase = 0) skip };
    get_fast(p, wait);
    d_step { J(j_op = OP_NONE) skip };
    if
    :: res_ == GO_SLOW ->
        d_step { J(j_op = OP_TAKE; j_region = 0; j_slot = true; j_phase = 0) skip };
        get_slow(p, wait);
        d_step { J(j_op = OP_NONE) skip }
    :: else
    fi
}

/* A read that finds a region, in the fast cell. */
inline read(p)
{
    OPEN(OP_READ, 0, true);
    lock(H, p);
    if
    :: !slow && e_lap[head % RING] == LAP(head) ->
        r_ = e_reg[head % RING];
        if
        :: count[r_] == 1 -> /* read_alone */
            d_step { j_region = r_; j_phase = 1; j_sole = true };
            count[r_] = 2;
            d_step { s_reg[p] = r_; s_state[p] = LIVE; r_ = 0 }
        :: else ->
            d_step { j_region = r_; j_phase = 1; j_sole = false };
            d_step { count[r_]++; j_counted = true };
            d_step { s_reg[p] = r_; s_state[p] = LIVE; r_ = 0 };
            j_counted = false
        fi
    :: else
    fi;
    unlock(H, p);
    CLOSE()
}

inline detached_drop()
{
    do
    :: j_cursor < n_detached ->
        j_was = j_cursor;
        d_step { count[detached[j_cursor]]--; j_counted = true };
        j_cursor++;
        j_counted = false
    :: else -> break
    od;
    j_detached = false
}

inline zap(p)
{
    OPEN(OP_ZAP, 0, false);
    cell_enter(p);
    if
    :: QLEN > 0 ->
        d_step {
            n_detached = 0;
            j_cursor = 0;
            do
            :: QLEN > 0 -> q_first(); unqueue(); detached[n_detached] = r_; n_detached++
            :: else -> break
            od;
            r_ = 0;
            from_ = 0;
            limit = tail;
            j_detached = true;
            j_phase = 2
        };
        detached_drop()
    :: else
    fi;
    cell_leave(p);
    CLOSE()
}

inline wait_then_free(p, once)
{
    do
    :: collect(p);
        if
        :: ok_ -> break
        :: else
        fi;
        bell[p] = false;
        mark(p);
        if
        :: ok_
        :: else ->
            if
            :: bell[p]
            :: true -> /* time is up */
                cancel(p);
                if
                :: ok_ -> break
                :: else
                fi
            fi
        fi
    od
}

/* What is done to the end by a process that is not killed. */
proctype victim()
{
    LOCALS;
    {
#if OP == 0 /* put, the ID going with it */
        put(VICTIM, OWN, false);
        if
        :: res_ != DONE -> slot_drop(VICTIM)
        :: else
        fi
#elif OP == 1 /* put with nofree */
        put(VICTIM, OWN, true);
        slot_drop(VICTIM)
#elif OP == 2 /* a get that waits, or not, or gives up */
        get(VICTIM, true);
        if
        :: res_ == WAITS -> wait_then_free(VICTIM, false)
        :: else
        fi;
        if
        :: s_state[VICTIM] == LIVE -> slot_drop(VICTIM)
        :: else
        fi
#elif OP == 3 /* a get, and giving back */
        get(VICTIM, false);
        if
        :: s_state[VICTIM] == LIVE -> give_back(VICTIM)
        :: else
        fi
#elif OP == 4
        read(VICTIM);
        if
        :: s_state[VICTIM] == LIVE -> slot_drop(VICTIM)
        :: else
        fi
#elif OP == 7 /* rgalloc, rgfree */
#ifdef COUNT_BEFORE_ID
        count[OWN] = 1;
        d_step { s_reg[VICTIM] = OWN; s_state[VICTIM] = LIVE };
#else
        d_step { s_reg[VICTIM] = OWN; s_state[VICTIM] = LIVE };
        count[OWN] = 1;
#endif
        slot_drop(VICTIM)
#elif OP == 5
        zap(VICTIM)
#elif OP == 6 /* two takes: the second journal has the first one's ticket */
        get(VICTIM, false);
        if
        :: s_state[VICTIM] == LIVE -> give_back(VICTIM); get(VICTIM, false)
        :: else
        fi;
        if
        :: s_state[VICTIM] == LIVE -> slot_drop(VICTIM)
        :: else
        fi
#endif
    } unless { killed -> dead = true };
    if
    :: dead
    :: else -> gone = true
    fi
}

proctype putter()
{
    LOCALS;
    byte r = 3;
    do
    :: r < 3 + QPUTS ->
        d_step { s_state[PUTTER] = LIVE; s_reg[PUTTER] = r; count[r] = 1 };
        put(PUTTER, r, false);
        if
        :: res_ != DONE -> slot_drop(PUTTER) /* it is full */
        :: else
        fi;
        r++
    :: else -> break
    od;
    putter_done = true
}

#define OVER (gone && putter_done)

/* Gives up only when nobody is left who could put: then nothing may be there for it. */
proctype taker()
{
    LOCALS;
    byte n;
    do
    :: n < GETS ->
        get(TAKER, true);
        if
        :: res_ == WAITS ->
            do
            :: collect(TAKER);
                if
                :: ok_ -> break
                :: else
                fi;
                bell[TAKER] = false;
                mark(TAKER);
                if
                :: ok_
                :: else ->
                    if
                    :: bell[TAKER]
                    :: d_step { OVER && !bell[TAKER] ->
                            assert(s_state[TAKER] != SERVED);
                            assert(!(s_state[TAKER] == TICKET && e_lap[s_key[TAKER] % RING] == LAP(s_key[TAKER])));
                            assert(QLEN == 0)
                        };
                        cancel(TAKER);
                        assert(ok_);
                        goto done
                    fi
                fi
            od
        :: else
        fi;
        assert(s_state[TAKER] == LIVE);
        slot_drop(TAKER);
        n++
    :: else -> break
    od;
done:
    taker_done = true
}

inline take_over()
{
    atomic { T == TAG(VICTIM) || T == 0 -> T = TAG(VICTIM) } /* in its name */
}

inline finish_put()
{
    d_step { /* put_is_done; phase 2 is a slow put's */
        done = j_phase != 0;
        if
#ifdef PHASE_1_IS_DONE
        :: false ->
#else
        :: j_phase == 1 && T == TAG(VICTIM) ->
#endif
            done = e_lap[j_ticket % RING] == LAP(j_ticket) && e_reg[j_ticket % RING] == j_region;
            if
            :: done -> tail = j_ticket + 1
            :: else
            fi
        :: else
        fi
    };
    if
#ifndef NO_REPAIR_RING
    :: done && j_rings -> bell[j_old_reg] = true
#endif
    :: else
    fi;
    d_step {
        if
        :: done && j_slot -> s_state[VICTIM] = FREE; s_reg[VICTIM] = 0
        :: !done && !j_gives && (j_held == HELD || (j_held == DROPPING && !counted) || (j_held == 0 && counted)) -> count[j_region]--
        :: else
        fi
    }
}

inline finish_take()
{
    if
    :: H != TAG(VICTIM)
    :: H == TAG(VICTIM) && j_phase == 1 && !(s_state[VICTIM] == LIVE && s_reg[VICTIM] == j_region) && head == j_ticket + 1 ->
#ifdef TAKE_SET_BACK
        d_step { head = j_ticket; needed[head % RING] = true }
#else
        take_over();
        d_step { tickets_to_list(); prepend(j_region) }
#endif
    :: H == TAG(VICTIM) && j_phase == 4 ->
        take_over();
        d_step {
            if
            :: head == j_ticket + 1 -> head = j_ticket
            :: else
            fi;
            if
            :: w_slot[j_ticket % TICKETS] == VICTIM + 1 -> w_slot[j_ticket % TICKETS] = 0; w_ticket[j_ticket % TICKETS] = 0
            :: else
            fi;
            limit = tail;
            s_state[VICTIM] = FREE;
            s_reg[VICTIM] = 0
        }
    :: else
    fi
}

inline leave_cell()
{
    if
    :: H == TAG(VICTIM) && T == TAG(VICTIM) ->
        if
        :: j_detached ->
            if
#ifdef DETACHED_TWICE
            :: counted -> j_cursor++
#else
            :: counted && j_cursor == j_was -> j_cursor++
#endif
            :: else
            fi;
            detached_drop()
        :: else
        fi;
        service(ENL);
        unlock(T, VICTIM);
        unlock(H, VICTIM)
    :: else ->
        if
        :: d_step { T == TAG(VICTIM) -> T = 0 }
        :: else
        fi;
        if
        :: d_step { H == TAG(VICTIM) -> H = 0 }
        :: else
        fi
    fi
}

inline journal_repair()
{
    counted = j_counted;
    if
    :: j_op == OP_PUT -> finish_put()
    :: j_op == OP_TAKE -> finish_take()
    :: d_step { j_op == OP_READ && (counted || (j_sole && H == TAG(VICTIM))) && j_phase == 1 && s_state[VICTIM] == FREE ->
#ifndef SOLE_NOT_STORED
            count[j_region] = (j_sole -> 2 : count[j_region]);
#endif
            s_state[VICTIM] = LIVE;
            s_reg[VICTIM] = j_region }
#ifndef NO_COLLECT_REPAIR
    :: d_step { j_op == OP_COLLECT && j_phase == 1 && j_slot && s_state[VICTIM] == LIVE &&
            w_slot[s_key[VICTIM] % TICKETS] == VICTIM + 1 -> /* the slot's own `key` */
            w_slot[s_key[VICTIM] % TICKETS] = 0; w_ticket[s_key[VICTIM] % TICKETS] = 0 }
#endif
    :: d_step { j_op == OP_FREE_LAST && s_state[VICTIM] == LIVE ->
            count[s_reg[VICTIM]] = 0;
            s_state[VICTIM] = FREE;
            s_reg[VICTIM] = 0 }
    :: d_step { j_op == OP_FREE && counted -> s_state[VICTIM] = FREE; s_reg[VICTIM] = 0 }
    :: else
    fi;
    /* Only rgalloc and rgfree without a journal leave an ID whose region counts nobody. */
    assert(s_state[VICTIM] != LIVE || count[s_reg[VICTIM]] > 0);
#ifndef NOT_MARKED_DONE
    j_op = OP_SLOW;
#endif
    if
    :: parks < PARKS -> parks++ /* parked */
    :: true ->
        leave_cell();
        if
        :: j_ring != 0 -> bell[j_ring - 1] = true
        :: else
        fi;
        j_op = OP_NONE
    fi
}

/* cleanup.c: the ID's request is cancelled, what it holds is dropped. What it was handed is named by it until it is given back. */
inline end_id()
{
    if
    :: s_state[VICTIM] == TICKET || s_state[VICTIM] == LISTED ->
        cell_enter(ENL);
        d_step {
            if
            :: s_state[VICTIM] == LISTED -> unlist(VICTIM); s_state[VICTIM] = FREE
            :: else
            fi
        };
        cell_leave(ENL)
    :: else
    fi;
    if
    :: s_state[VICTIM] == TICKET || s_state[VICTIM] == SERVED ->
#ifndef NO_GIVE_BACK
        cell_enter(ENL);
#endif
        d_step {
            if
            :: s_state[VICTIM] == SERVED -> r_ = s_given[VICTIM]; s_given[VICTIM] = 0
            :: s_state[VICTIM] == TICKET ->
                r_ = e_reg[s_key[VICTIM] % RING];
                assert(e_lap[s_key[VICTIM] % RING] == LAP(s_key[VICTIM]));
                needed[s_key[VICTIM] % RING] = false;
                w_slot[s_key[VICTIM] % TICKETS] = 0;
                w_ticket[s_key[VICTIM] % TICKETS] = 0
            fi;
#ifndef NO_GIVE_BACK
            prepend(r_);
#endif
            r_ = 0;
            s_state[VICTIM] = FREE
        };
#ifndef NO_GIVE_BACK
        cell_leave(ENL)
#endif
    :: else
    fi;
    d_step {
        if
#ifdef DROP_UNCOUNTED
        :: s_state[VICTIM] == LIVE -> count[s_reg[VICTIM]]--
#else
        :: s_state[VICTIM] == LIVE && count[s_reg[VICTIM]] != 0 -> count[s_reg[VICTIM]]--
#endif
        :: else
        fi;
        s_state[VICTIM] = FREE;
        s_reg[VICTIM] = 0
    }
}

proctype enl()
{
    LOCALS;
    bool counted, done;
    byte parks;
    if
    :: dead ->
        do
        :: j_op != OP_NONE -> journal_repair()
        :: else -> break
        od;
        end_id();
        gone = true
    :: gone
    fi
}

init
{
    LOCALS;
    byte i, r, held;
    d_step {
        r = 1;
        do
        :: r <= PRE -> count[r] = 1; store_ring(r); r++
        :: else -> break
        od;
#ifdef SHARED
        count[1] = 2; /* another CCE holds it too */
#endif
#if OP < 2
        s_state[VICTIM] = LIVE;
        s_reg[VICTIM] = OWN;
        count[OWN] = 1
#endif
    };
    atomic { run victim(); run putter(); run taker(); run enl() };
    if
    :: killed = true
    :: skip
    fi;
    OVER && taker_done;
    d_step {
        assert(H == 0 && T == 0 && n_list == 0 && head <= tail && w_slot[0] == 0 && w_slot[1] == 0);
        for (i : 0 .. PROCS - 1) { assert(s_state[i] == FREE) };
        do
        :: QLEN > 0 -> q_first(); unqueue(); count[r_]--
        :: else -> break
        od;
#ifdef SHARED
        count[1]--;
#endif
        for (r : 1 .. REGIONS) { assert(count[r] == 0) }
    }
}
