/* SPDX-License-Identifier: MIT */
/* core/include/bcri/wakes.h and wakefd.h: a CCE that sleeps in a poll of its own descriptor, and what bcr_wake counts.
 *
 * The states of the sleeper are those of `sleeping`: AWAKE, FUTEX (in a get that waits) and POLL: the descriptor is armed, and
 * the CCE computes, waits in a get, or sleeps in poll. Arming (ARM) empties the descriptor, says POLL, and looks. A ringer leaves
 * POLL as it is. A get between ARM and the poll says FUTEX, then AWAKE, and makes the descriptor readable itself.
 *
 * A cell's wakes are closed, open without a handler, or open with one; the bits and the count change in one step. bcr_wake counts,
 * then `called`, then it requests the handler if there was one, and rings. The owner takes what the count is ahead of `taken`.
 *
 * Here a thread of the owner calls bcr_wake, another CCE puts (it may be killed at any step, and the daemon rings for it), and a third
 * requests a handler by the flag `asleep`; the owner arms and polls, with and without a get in between. With GETS two threads of
 * the owner call bcr_wake; the owner changes the cell up to CHANGES times meanwhile (a handler comes or goes, the cell is closed or
 * opened), and sleeps in gets, which nothing but a ring ends. Checked: each wake of an open cell ends one get, or requests the
 * handler once, or goes with handler or cell; what a closed cell had is none of the next cell's; `over` comes to equal `called`;
 * the owner sees put and request: nobody is left asleep. REDUCED: without that third CCE.
 *
 * Memory: all words but the put's are changed and read by sequentially consistent operations; the put is stored before the bell is
 * counted up. So one memory for all is enough; bell.pml has the store buffers.
 *
 * Rules that can be broken: LOOK_FIRST (the owner looks, then arms), EMPTIED_LAST (says POLL, looks, then empties the descriptor), NOT_PASSED_ON
 * (a get between arming and poll leaves the descriptor as it is), RINGER_CLEARS (a ringer says AWAKE, then makes the
 * descriptor readable), COUNT_FIRST (a new handler takes the count, then sets its bit), OPENED_AT_ZERO (a cell begins with all wakes
 * that its number ever had), RING_FIRST (bcr_wake rings, then counts `called`).
 *
 * Code: core/sync/wakes.c, core/sync/wakefd.c, core/sync/bell.c, cells/wake.c, cells/wait.c, handlers/wakefd.c */
#define AWAKE 0
#define FUTEX 1
#define POLL 2
#ifdef GETS
#define CHANGES 3
#else
#define CHANGES 0
#endif

/* the cell's word, what the owner has taken of its count, and the sums over all cells */
bool has_cell = true, has_handler;
byte count, taken, called, over;
bool mark; /* the cell's bit among the requests, with LOOK */

byte sleeping;
bool rung; /* the bell is not as the owner has read it */
bool readable, in_futex, asleep;
bool put, request; /* what the other two do */

byte succeeded, accounted; /* wakes: that found a cell; that are over */
bool put_seen, request_seen;
bool killed, dead, over_all;
byte ended;

inline ring(how)
{
    d_step { rung = true; how = sleeping };
    if
    :: how == POLL ->
#ifdef RINGER_CLEARS
        sleeping = AWAKE;
#endif
        d_step { readable = true; how = AWAKE }
    :: d_step { how == FUTEX -> in_futex = false; how = AWAKE }
    :: how == AWAKE
    fi
}

proctype waker()
{
    byte how;
    bool was_cell, was_handler;
    d_step {
        was_cell = has_cell;
        was_handler = has_handler;
        count++;
        if
        :: was_cell -> succeeded++
        :: else
        fi
    };
    if
    :: was_cell ->
#ifdef RING_FIRST
        ring(how);
#endif
        called++;
        if
        :: was_handler -> mark = true
        :: else
        fi;
#ifndef RING_FIRST
        ring(how)
#endif
    :: else
    fi;
    ended++
}

proctype putter()
{
    byte how;
    {
        put = true;
        ring(how);
        ended++
    } unless { d_step { killed && !over_all -> dead = true } }
}

/* What a dead putter had not put, another puts later. */
proctype daemon()
{
    byte how;
end:
    dead;
    ring(how);
    if
    :: !put -> put = true; ring(how)
    :: else
    fi;
    ended++
}

proctype requester()
{
    byte how;
    bool rings;
    request = true;
    d_step { rings = asleep; asleep = false };
    if
    :: rings -> ring(how)
    :: else
    fi;
    ended++
}

/* take_up_to(): each of these wakes is over. */
inline take()
{
    accounted = accounted + (count - taken);
    over = over + (count - taken);
    taken = count
}

inline change()
{
    if
    :: has_cell && !has_handler -> /* bcri_wake_handled */
#ifdef COUNT_FIRST
        d_step { take() };
        has_handler = true
#else
        d_step { take(); has_handler = true }
#endif
    :: has_cell && has_handler -> d_step { take(); has_handler = false } /* bcri_wake_unhandled */
    :: has_cell -> d_step { take(); has_cell = false; has_handler = false } /* bcri_wakes_close */
    :: !has_cell -> /* bcri_wakes_open */
#ifdef OPENED_AT_ZERO
        has_cell = true
#else
        d_step { has_cell = true; taken = count }
#endif
    fi
}

/* What a get looks at while it waits: requests of handlers and wakes. */
inline look_in_get()
{
    if
    :: d_step { request && !request_seen -> request_seen = true; found = true }
    :: else
    fi;
    if
    :: d_step { mark -> mark = false; found = true };
        d_step {
            if
            :: has_handler -> take()
            :: else
            fi
        }
    :: !mark
    fi;
    if
    :: called != over ->
        if
        :: d_step {
            has_cell && !has_handler && count != taken -> taken++; over++; accounted++; found = true
        }
        :: !(has_cell && !has_handler && count != taken)
        fi
    :: called == over
    fi;
    assert(accounted <= succeeded)
}

inline look()
{
    look_in_get();
    if
    :: d_step { put && !put_seen -> put_seen = true; found = true }
    :: else
    fi
}

inline get_that_waits()
{
    d_step { rung = false; before = sleeping };
    d_step { asleep = true; sleeping = FUTEX };
    look_in_get();
    if
    :: found
    :: !found && rung
    :: d_step { !found && !rung -> in_futex = true };
        if
        :: !in_futex || over_all
#ifndef GETS
        :: in_futex = false /* its time is up */
#endif
        fi
    fi;
    sleeping = AWAKE;
    if
#ifndef NOT_PASSED_ON
    :: before == POLL -> readable = true
#endif
    :: else
    fi;
    d_step { before = AWAKE; found = false }
}

inline poll()
{
#ifdef LOOK_FIRST
    look();
#endif
#ifndef EMPTIED_LAST
    readable = false;
#endif
    d_step { asleep = true; sleeping = POLL };
#ifndef LOOK_FIRST
    look();
#endif
#ifdef EMPTIED_LAST
    readable = false;
#endif
    if
    :: found
    :: !found ->
        if
        :: get_that_waits()
        :: skip
        fi;
        readable || over_all
    fi;
    found = false
}

proctype owner()
{
    byte before, changes;
    bool found;
    do
    :: over_all -> break
    :: !over_all && changes < CHANGES -> change(); changes++
#ifdef GETS
    :: !over_all -> get_that_waits()
#else
    :: !over_all -> poll()
#endif
    od
}

init
{
    atomic {
        run owner();
        run waker();
#ifdef GETS
        run waker();
        ended = 1;
        put_seen = true;
        request_seen = true
#else
#ifdef REDUCED
        ended = 1;
        request_seen = true;
#else
        run requester();
#endif
        run putter();
        run daemon()
#endif
    };
#ifndef GETS
    if
    :: ended < 3 -> killed = true
    :: skip
    fi;
#endif
    ended == 3;
    /* Only then: so that a ring that is lost leaves the owner asleep. */
    put_seen && request_seen && accounted == succeeded;
    assert(over == called);
    over_all = true
}
