/* SPDX-License-Identifier: MIT */
/* cells/include/bcri/handler_request.h: two that each put once into a marked cell, of whom one may die at any step; the owner, which takes
 * what it is told and sleeps in between; the daemon, which repairs.
 *
 * A put goes the way of put_and_request (put_attempt.c), store by store, or that of bcri_queue_append: a transaction, one step here, that
 * is done again by repair if it was committed; then it tells. With GETS the makers get instead (get_and_request, get_attempt.c) and
 * find nothing: they have requested as soon as the journal says so. Each maker has a cell of its own; with ONE_CELL both have one.
 * Checked: whatever dies when, the owner learns of each request of what was done, of nothing else, and is not left asleep. It
 * never thinks that there are more than there are.
 *
 * With WAKES, in place of the second maker, a thread of the owner calls bcr_wake for cell 0, which has a handler, without any lock: it counts, sets the bit,
 * then LOOK, and rings. The owner learns of that, too.
 *
 * Memory: `news`, `bits` and `asleep` are changed and read by sequentially consistent operations; a count is stored before
 * them under its cell's lock and read after them. So one memory for all is enough. The bell's own stores are in bell.pml.
 *
 * Rules that can be broken: TELL_FIRST (the owner is told, then the request is counted), LOOK_FIRST (LOOK, then the bit),
 * SLEEP_BLINDLY (the owner looks for news, then says that it is asleep), ASLEEP_FIRST (a notifier looks whether it is asleep, then tells),
 * REPAIR_BLINDLY (repair counts without a look at the count), NO_TELL_IN_REPAIR, NO_RING_IN_REPAIR; with WAKES also WAKE_COUNTED_LATE,
 * WAKE_LOOK_FIRST and WAKE_NO_RING.
 *
 * Code: cells/put_attempt.c, cells/get_attempt.c, cells/include/bcri/handler_request.h
 * Code: cells/handler_request.c, cells/recovery/operation_repair.c, cells/wake.c, cells/wakeon.c */
#define NOBODY 0
#define DAEMON 3
#define VICTIM 0
#ifdef ONE_CELL
#define CELL(r) 0
#else
#define CELL(r) (r)
#endif

bool in_cell[2]; /* by maker */
byte count[2], seen[2]; /* by cell */
byte wakes, wakes_seen; /* of cell 0 */
bool waker_ended;

byte lock_of[2]; /* tag of the holder */
byte news_cell, news_count; /* cell + 1; 0: none */
bool look;
bool mark[2]; /* `bits` */
bool asleep, in_futex;
byte bell;

/* journals */
bool open[2], committed[2];
byte phase[2], old[2];

bool killed, dead, over;
byte ended;

inline lock(c, tag) { d_step { lock_of[c] == NOBODY -> lock_of[c] = tag } }
inline unlock(c) { lock_of[c] = NOBODY }
inline ring_bell() { d_step { bell = (bell + 1) % 8; in_futex = false } }

#define FREE(c)   (was_cell == 0 || was_cell == (c) + 1)
#define NO_CHANGE (news_cell == was_cell && news_count == was_count && look == was_look)

/* Compare and exchange; what was found otherwise is what is compared next. */
inline exchange(c)
{
    d_step {
        if
        :: NO_CHANGE ->
            if
            :: FREE(c) -> news_cell = (c) + 1; news_count = count[c]
            :: else
            fi;
            look = look || set;
            done = true
        :: else ->
            was_cell = news_cell;
            was_count = news_count;
            was_look = look
        fi
    }
}

/* tell(): the first try takes for granted that there is no news. */
inline tell(c)
{
    d_step { was_cell = 0; was_count = 0; was_look = false; set = false; done = false };
    do
    :: done -> break
    :: !done && !FREE(c) && !set ->
#ifdef LOOK_FIRST
        set = true;
        exchange(c);
        mark[c] = true
#else
        mark[c] = true;
        set = true
#endif
    :: !done && (FREE(c) || set) -> exchange(c)
    od;
    skip;
    d_step { was_cell = 0; was_count = 0; was_look = false; set = false; done = false }
}

inline make_put(r, c)
{
    d_step { phase[r] = 0; open[r] = true };
    lock(c, r + 1);
    if
    :: true ->
        old[r] = count[c];
#ifdef GETS
        d_step { phase[r] = 1; in_cell[r] = true };
#else
        phase[r] = 1;
        in_cell[r] = true;
#endif
#ifdef TELL_FIRST
        tell(c);
        count[c] = old[r] + 1;
#else
        count[c] = old[r] + 1;
#endif
    :: true ->
        committed[r] = true;
        d_step { in_cell[r] = true; count[c]++; phase[r] = 2; committed[r] = false }
    fi;
#ifdef ASLEEP_FIRST
    rings = asleep;
    tell(c);
#else
#ifndef TELL_FIRST
    tell(c);
#endif
    rings = asleep;
#endif
    if
    :: rings -> asleep = false
    :: else
    fi;
    if
    :: rings && phase[r] == 2 -> ring_bell(); rings = false /* bcri_requests_told */
    :: else
    fi;
    unlock(c);
    if
    :: rings -> ring_bell()
    :: else
    fi;
    d_step { rings = false; open[r] = false; old[r] = 0; phase[r] = 0 }
}

proctype maker(byte r)
{
    byte n, was_cell, was_count;
    bool was_look, set, done, rings;
    {
        do
        :: n < 1 -> make_put(r, CELL(r)); n++
        :: else -> break
        od;
        ended++
    } unless { d_step { r == VICTIM && killed && ended < 2 && !over && n < 1 -> dead = true } }
}

/* finish_request, leave_cell, bcri_request_finish, bcri_requests_tell_again */
proctype daemon()
{
    byte was_cell, was_count;
    bool was_look, set, done;
end:
    dead;
    if
    :: open[VICTIM] ->
        if
        :: committed[VICTIM] ->
            d_step {
                in_cell[VICTIM] = true;
                count[CELL(VICTIM)]++;
                phase[VICTIM] = 2;
                committed[VICTIM] = false
            }
        :: else
        fi;
        if
        :: lock_of[CELL(VICTIM)] == VICTIM + 1 ->
            if
#ifdef REPAIR_BLINDLY
            :: phase[VICTIM] == 1 && in_cell[VICTIM] -> count[CELL(VICTIM)]++
#else
            :: phase[VICTIM] == 1 && in_cell[VICTIM] && count[CELL(VICTIM)] == old[VICTIM] ->
                count[CELL(VICTIM)] = old[VICTIM] + 1
#endif
            :: else
            fi;
#ifndef NO_TELL_IN_REPAIR
            tell(CELL(VICTIM));
#endif
#ifndef NO_RING_IN_REPAIR
            ring_bell();
#endif
            unlock(CELL(VICTIM))
        :: else ->
#ifndef NO_RING_IN_REPAIR
            if
            :: phase[VICTIM] == 1 -> ring_bell()
            :: else
            fi
#else
            skip
#endif
        fi
    :: else
    fi;
    ended++
}

/* bcr_wake */
proctype waker()
{
#ifndef WAKE_COUNTED_LATE
    wakes++;
#endif
#ifdef WAKE_LOOK_FIRST
    look = true;
    mark[0] = true;
#else
    mark[0] = true;
    look = true;
#endif
#ifdef WAKE_COUNTED_LATE
    wakes++;
#endif
#ifndef WAKE_NO_RING
    ring_bell();
#endif
    waker_ended = true
}

#define LEARNT(c) (seen[c] == count[c])

inline learn(c, n)
{
    d_step {
        assert(n <= count[c]);
        if
        :: n > seen[c] -> seen[c] = n
        :: else
        fi
    }
}

inline take_bit(c)
{
    d_step { found = mark[c]; mark[c] = false };
    if
    :: found ->
        n = count[c];
        learn(c, n);
#ifdef WAKES
        if
        :: c == 0 -> wakes_seen = wakes
        :: else
        fi
#endif
    :: else
    fi;
    d_step { found = false; n = 0 }
}

inline take()
{
    d_step {
        from = news_cell;
        n = news_count;
        looks = look;
        news_cell = 0;
        news_count = 0;
        look = false
    };
    if
    :: from != 0 -> learn(from - 1, n)
    :: else
    fi;
    d_step { from = 0; n = 0 };
    if
    :: looks -> take_bit(0); take_bit(1)
    :: else
    fi;
    looks = false
}

#define NEWS (news_cell != 0 || look)

inline sleep()
{
    if
    :: d_step { bell == rung -> in_futex = true }; !in_futex
    :: bell != rung
    fi
}

proctype owner()
{
    byte from, n, rung;
    bool looks, found;
    do
    :: NEWS -> take()
    :: !NEWS && over -> break
    :: !NEWS && !over ->
        rung = bell;
#ifdef SLEEP_BLINDLY
        if
        :: NEWS
        :: else -> asleep = true; sleep()
        fi;
#else
        asleep = true;
        if
        :: NEWS || over
        :: else -> sleep()
        fi;
#endif
        rung = 0
    od;
    assert(LEARNT(0) && LEARNT(1))
}

init
{
    atomic {
        run maker(0);
        run owner();
        run daemon();
#ifdef WAKES
        run waker();
        ended = 1
#else
        run maker(1);
        waker_ended = true
#endif
    };
    if
    :: killed = true
    :: skip
    fi;
    ended == 2 && waker_ended;
    /* Only then: so that a wake-up that is lost leaves the owner asleep. */
    seen[0] + seen[1] == in_cell[0] + in_cell[1] && wakes_seen == wakes;
    assert(LEARNT(0) && LEARNT(1));
    assert(lock_of[0] == NOBODY && lock_of[1] == NOBODY);
    over = true;
    ring_bell()
}
