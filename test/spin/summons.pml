/* SPDX-License-Identifier: MIT */
/* cells/include/bcri/summons.h: two that put into a marked cell, of whom one may die at any step; the owner, which takes what
 * it is summoned to and sleeps in between; the daemon, which repairs.
 *
 * A put with room in the owner's ring goes the way of put_and_summon (put.c), store by store; without, that of
 * bcri_queue_append: a transaction, one step here, that is done again by repair if it was committed. The cell is as long as
 * all puts; what it holds is in_cell. Checked: whatever dies when, each put that is in the cell has one summons and each
 * that is not has none; the owner takes all, each maker's in the order in which it made them; it is not left asleep.
 *
 * With GETS the makers get instead (get_and_summon, get.c) and find nothing: they have summoned as soon as the journal says so.
 *
 * With OWN_PUT the owner puts, too. Its own put, into another of its cells, summons it without the queue if that is not locked, and then empty
 * (bcri_summons_own). Checked: before that summons it has taken those of all puts of which it could know.
 *
 * Memory: all but the owner's look at its next entry is under locks, and that entry is stored last and by one; the bell's own
 * stores are in bell.pml. So one memory for all is enough.
 *
 * Rules that can be broken: SUMMON_FIRST (the summons before the cell's entry), REPAIR_BLINDLY (repair does not look how many
 * were written), NO_RING_IN_REPAIR, OWN_BLINDLY (the owner does not look whether the
 * queue is locked), OWN_LOOKS_FIRST (whether it is empty, then whether it is locked), LOOK_BEFORE_LOCK (the owner looks whether it is summoned, then takes the lock and goes to
 * sleep), NO_PLACE_FOR_CHAIN (all places of the ring are filled, so that the entry that leads to the chain falls on one
 * that was not read).
 *
 * Code: cells/put_attempt.c put_and_summon, put_under_tail
 * Code: cells/get_attempt.c get_and_summon
 * Code: cells/include/bcri/summons.h bcri_summons_write, bcri_summons_own
 * Code: cells/summons.c bcri_summons_try, bcri_summons_leave, bcri_summons_begin, bcri_tx_summon
 * Code: cells/summons.c bcri_summons_end, bcri_summons_let_go, bcri_summons_mark, take_chain
 * Code: cells/summons.c bcri_summons_take, bcri_summons_finish, bcri_summons_repair */
#ifdef GETS_REPAIR_BLINDLY
#define GETS
#define REPAIR_BLINDLY
#endif
#ifdef GETS_NO_RING_IN_REPAIR
#define GETS
#define NO_RING_IN_REPAIR
#endif
#ifdef OWN_PUT
#define PUTS 1 /* of each */
#else
#define PUTS 2
#endif
#ifndef RING
#define RING 2 /* one of them for the entry that leads to the chain */
#endif
#define NOBODY  0
#define OWNER   3
#define DAEMON  4
#define VICTIM  0
#ifdef GETS
#define BEFORE_UNLOCK 1 /* from this phase on it rings before it lets go of the cell */
#else
#define BEFORE_UNLOCK 2
#endif
#define CHAINED 100 /* the entry that leads to the chain */
#define OWN     (2 * PUTS) /* the owner's put */
#ifdef NO_PLACE_FOR_CHAIN
#define LIMIT RING
#else
#define LIMIT (RING - 1)
#endif

/* A put is its maker * PUTS + number. */
bool in_cell[2 * PUTS];
bool known[2 * PUTS]; /* those in the cell before the owner began to put */
bool put_own;
byte took[2 * PUTS + 1];
byte next_of[2]; /* which of each maker's the owner must take next, at the least */

byte t_lock, q_lock; /* tag of the holder */
byte ring[RING]; /* 128: the lap bit */
byte written, taken, chain_used, chain[2 * PUTS + 1], own_used, own[2 * PUTS + 1];
bool asleep, in_futex;
byte bell;

/* journals */
bool open[2], rings[2], summons[2], committed[2], named[2];
byte phase[2], put[2], noted[2];

bool killed, dead, repaired, over;
byte ended;

inline lock(l, tag) { d_step { l == NOBODY -> l = tag } }
inline unlock(l) { l = NOBODY }
inline ring_bell() { d_step { bell++; in_futex = false } }

#define TAKEN(i) (in_cell[i] == (took[i] == 1))

/* What the owner sees without a lock. */
#define LAP(t)  (((t) / RING + 1) % 2)
#define FULL(t) (ring[(t) % RING] / 128 == LAP(t))
#define ID(t)   (ring[(t) % RING] % 128)

inline write_ring(id)
{
    ring[written % RING] = id + 128 * LAP(written);
    written++
}

/* The slow way's stores, applied at once; applying again changes nothing. */
inline apply(r)
{
    d_step {
        in_cell[put[r]] = true;
        if
        :: chain_used == 0 -> ring[written % RING] = CHAINED + 128 * LAP(written); written++
        :: else
        fi;
        chain[chain_used] = put[r];
        chain_used++;
        phase[r] = 2;
        committed[r] = false
    }
}

inline make_put(r, id)
{
    d_step { put[r] = id; phase[r] = 0; rings[r] = false; summons[r] = false; open[r] = true };
    lock(t_lock, r + 1);
    named[r] = true;
    lock(q_lock, r + 1);
    if
    :: chain_used == 0 && written - taken < LIMIT ->
        noted[r] = written;
        d_step { rings[r] = asleep; summons[r] = true };
#ifdef GETS
        d_step { phase[r] = 1; in_cell[id] = true };
        write_ring(id);
#else
        phase[r] = 1;
#ifdef SUMMON_FIRST
        write_ring(id);
        in_cell[id] = true;
#else
        in_cell[id] = true;
        write_ring(id);
#endif
#endif
    :: else ->
        rings[r] = asleep;
        committed[r] = true;
        apply(r)
    fi;
    if
    :: rings[r] -> asleep = false
    :: else
    fi;
    unlock(q_lock);
    if
    :: rings[r] && phase[r] >= BEFORE_UNLOCK -> ring_bell()
    :: else
    fi;
    named[r] = false;
    unlock(t_lock);
    if
    :: rings[r] && phase[r] < BEFORE_UNLOCK -> ring_bell()
    :: else
    fi;
    open[r] = false
}

proctype maker(byte r)
{
    byte n;
    {
        do
        :: n < PUTS -> make_put(r, r * PUTS + n); n++
        :: else -> break
        od;
        ended++
    } unless { d_step { r == VICTIM && killed && ended < 2 && !over && n < PUTS -> dead = true } }
}

/* finish_put, bcri_summons_finish, bcri_summons_repair */
proctype daemon()
{
end:
    dead;
    if
    :: open[VICTIM] ->
        if
        :: committed[VICTIM] -> apply(VICTIM)
        :: else
        fi;
        if
        :: phase[VICTIM] == 1 && t_lock == VICTIM + 1 && !in_cell[put[VICTIM]] -> skip /* never was */
        :: phase[VICTIM] == 1 && (t_lock != VICTIM + 1 || in_cell[put[VICTIM]]) ->
            if
#ifdef REPAIR_BLINDLY
            :: q_lock == VICTIM + 1 -> write_ring(put[VICTIM])
            :: else
#else
            :: q_lock == VICTIM + 1 && written == noted[VICTIM] ->
                write_ring(put[VICTIM])
            :: else
#endif
            fi;
#ifndef NO_RING_IN_REPAIR
            if
            :: rings[VICTIM] && BEFORE_UNLOCK == 2 -> ring_bell() /* its journal says it */
            :: else
            fi
#endif
        :: else
        fi;
        if
        :: named[VICTIM] ->
            if
            :: q_lock == VICTIM + 1 -> unlock(q_lock)
            :: else
            fi;
#ifndef NO_RING_IN_REPAIR
            ring_bell()
#endif
        :: else
        fi;
        if
        :: t_lock == VICTIM + 1 -> unlock(t_lock)
        :: else
        fi
    :: else
    fi;
    d_step { repaired = true; ended++ }
}

inline take(id)
{
    d_step {
        assert(id <= OWN && took[id] == 0);
        if
        :: id == OWN ->
            assert((!known[0] || took[0]) && (!known[1] || took[1]))
        :: else ->
            assert(id % PUTS >= next_of[id / PUTS]);
            next_of[id / PUTS] = id % PUTS + 1
        fi;
        took[id] = 1
    }
}

inline own_put()
{
    d_step {
        put_own = true;
        known[0] = in_cell[0];
        known[1] = in_cell[1]
    };
#ifdef OWN_BLINDLY
    unlocked = true;
    none = !FULL(taken);
#else
#ifdef OWN_LOOKS_FIRST
    none = !FULL(taken);
    unlocked = q_lock == NOBODY;
#else
    unlocked = q_lock == NOBODY;
    none = !FULL(taken);
#endif
#endif
    if
    :: unlocked && none -> take(OWN)
    :: else ->
        lock(q_lock, OWNER);
        if
        :: chain_used == 0 && written - taken < LIMIT -> write_ring(OWN)
        :: else ->
            d_step {
                if
                :: chain_used == 0 -> ring[written % RING] = CHAINED + 128 * LAP(written); written++
                :: else
                fi;
                chain[chain_used] = OWN;
                chain_used++
            }
        fi;
        unlock(q_lock)
    fi;
    d_step { unlocked = false; none = false }
}

proctype owner()
{
    byte seen, i, id;
    bool unlocked, none;
    do
#ifdef OWN_PUT
    :: !put_own && !over -> own_put()
#endif
    :: FULL(taken) && ID(taken) != CHAINED ->
        id = ID(taken);
        take(id);
        id = 0;
        taken++
    :: FULL(taken) && ID(taken) == CHAINED ->
        lock(q_lock, OWNER);
        d_step {
            taken++;
            own_used = chain_used;
            i = 0;
            do
            :: i < own_used -> own[i] = chain[i]; i++
            :: else -> break
            od;
            chain_used = 0;
            i = 0
        };
        unlock(q_lock);
        do
        :: i < own_used -> take(own[i]); i++
        :: else -> break
        od;
        i = 0;
        d_step { own_used = 0; id = 0 }
    :: !FULL(taken) && over -> break
    :: !FULL(taken) && !over ->
        seen = bell;
#ifdef LOOK_BEFORE_LOCK
        if
        :: FULL(taken) -> skip
        :: else ->
            lock(q_lock, OWNER);
            asleep = true;
            unlock(q_lock);
            seen = bell;
            if
            :: d_step { !over -> in_futex = true }; !in_futex
            :: over
            fi
        fi;
#else
        lock(q_lock, OWNER);
        asleep = !FULL(taken);
        unlock(q_lock);
        if
        :: FULL(taken) || over
        :: else ->
            if
            :: d_step { bell == seen -> in_futex = true }; !in_futex
            :: bell != seen
            fi
        fi;
#endif
        seen = 0
    od;
    i = 0;
    do
    :: i < 2 * PUTS -> assert(TAKEN(i)); i++
    :: else -> break
    od;
    assert(took[OWN] == put_own);
    assert(q_lock == NOBODY && t_lock == NOBODY && chain_used == 0)
}

init
{
    atomic { run maker(0); run maker(1); run owner(); run daemon() };
    if
    :: killed = true
    :: skip
    fi;
    ended == 2;
    /* Only then: so that a wake-up that is lost leaves the owner asleep. */
    TAKEN(0) && TAKEN(1) && TAKEN(2 * PUTS - 2) && TAKEN(2 * PUTS - 1);
    over = true;
    ring_bell()
}
