/* SPDX-License-Identifier: MIT */
/* core/lock.c: a lock word released by a plain store, sleepers on the holder's event word, membarrier as the fence,
 * death of a holder or a sleeper at any step, repair by the daemon.
 *
 * Memory: each process has a store buffer (x86's kind: first in, first out, read by its owner). Only plain stores go
 * through it: the release (lock = 0), and the clearing of the holder's own flag. Everything else that is stored here is
 * a locked instruction and empties the buffer first. MEMBARRIER empties all. A killed process's stores become visible
 * before anybody learns of its death.
 *
 * Checked: never two inside; a repair happens once; everybody who waits comes to its end (else: "invalid end state").
 *
 * Rules that can be broken: NO_MEMBARRIER (the waiter does not fence the holder), NO_SECOND_LOOK, NO_EVENT (the futex
 * does not compare), NO_DYING_EVENT (bcri_cce_dying wakes nobody), NO_REPAIR_EVENT (the repair wakes nobody).
 *
 * Code: core/lock.c bcri_unlock_wake, sleep_on_holder, sleep_until_event, wait_on, go_aside
 * Code: core/lock.c come_back, bcri_lock_slow, bcri_lock_slow_until
 * Code: core/include/bcri/lock.h bcri_unlock, bcri_look_for_sleepers
 * Code: cells/repair.c bcri_cce_dying, bcri_repair_wake, bcri_cce_wake_sleepers */

#ifndef CCES
#define CCES 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define ENL CCES /* the daemon's repairing thread takes the lock too */
#define PROCS (CCES + 1)
#define TAG(p) ((p) + 1)
#define NOBODY 255

byte lock;                 /* 0 or a tag */
bool pending_lock[PROCS];  /* lock = 0 is in the buffer */
bool pending_flag[PROCS];  /* lock_sleepers = 0 is in the buffer, behind it */
bool sleepers[PROCS];
byte event[PROCS];
byte asleep_on[PROCS] = NOBODY;
bool dying[PROCS];
byte inside;               /* ghost: who is inside, dead or alive */
byte repairs, deaths;
byte victim = NOBODY;

inline drain(p)
{
    d_step {
        if
        :: pending_lock[p] -> pending_lock[p] = false; lock = 0
        :: else
        fi;
        if
        :: pending_flag[p] -> pending_flag[p] = false; sleepers[p] = false
        :: else
        fi
    }
}

/* Stores leave the buffers in order, whenever they like. */
active proctype buffers()
{
    byte b;
end:
    do
    :: d_step { pending_lock[0] -> pending_lock[0] = false; lock = 0 }
    :: d_step { !pending_lock[0] && pending_flag[0] -> pending_flag[0] = false; sleepers[0] = false }
    :: d_step { pending_lock[1] -> pending_lock[1] = false; lock = 0 }
    :: d_step { !pending_lock[1] && pending_flag[1] -> pending_flag[1] = false; sleepers[1] = false }
#if CCES > 2
    :: d_step { pending_lock[2] -> pending_lock[2] = false; lock = 0 }
    :: d_step { !pending_lock[2] && pending_flag[2] -> pending_flag[2] = false; sleepers[2] = false }
#endif
    :: d_step { pending_lock[ENL] -> pending_lock[ENL] = false; lock = 0 }
    :: d_step { !pending_lock[ENL] && pending_flag[ENL] -> pending_flag[ENL] = false; sleepers[ENL] = false }
    od
}

inline wake_all(h)
{
    d_step {
        w = 0;
        do
        :: w < PROCS ->
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

inline membarrier()
{
#ifndef NO_MEMBARRIER
    d_step {
        w = 0;
        do
        :: w < PROCS ->
            if
            :: pending_lock[w] -> pending_lock[w] = false; lock = 0
            :: else
            fi;
            if
            :: pending_flag[w] -> pending_flag[w] = false; sleepers[w] = false
            :: else
            fi;
            w++
        :: else -> break
        od;
        w = 0
    }
#else
    skip
#endif
}

/* bcri_unlock, bcri_unlock_wake */
inline unlock(p)
{
    d_step { assert(inside == TAG(p)); inside = 0; pending_lock[p] = true };
    if
    :: d_step { sleepers[p] && !pending_flag[p] -> pending_flag[p] = true };
        d_step { drain(p); event[p]++ };
        wake_all(p)
    :: else
    fi
}

/* bcri_lock, bcri_lock_slow, sleep_on_holder; spinning is the loop itself. One that has a deadline (bcri_lock_slow_until) wakes
 * by itself, or gives up: the flag stays set then, as after its death, which is in the model. */
inline lock_it(p)
{
    do
    :: d_step { lock == 0 && !pending_lock[p] -> lock = TAG(p); assert(inside == 0); inside = TAG(p) }; break
    :: d_step { pending_lock[p] -> drain(p) } /* the CAS empties its own buffer */
    :: d_step { lock != 0 && !pending_lock[p] -> holder = lock - 1 };
        seen = event[holder];
        if
        :: p == ENL && dying[holder] -> repair(holder) /* ctx->holder_died */
        :: else ->
            sleepers[holder] = true; /* an exchange */
            membarrier();
            if
#ifdef NO_SECOND_LOOK
            :: true ->
#else
            :: lock == TAG(holder) ->
#endif
                if
#ifndef NO_EVENT
                :: d_step { event[holder] == seen -> asleep_on[p] = holder }; asleep_on[p] == NOBODY
                :: event[holder] != seen
#else
                :: asleep_on[p] = holder; asleep_on[p] == NOBODY
#endif
                fi
            :: else
            fi
        fi;
        holder = 0; seen = 0
    od
}

/* repair.c: the lock word carries the dead one's tag: free it; count its event up; wake. Closed afterwards. */
inline repair(d)
{
    if
    :: repaired -> skip
    :: else ->
        if
        :: d_step { lock == TAG(d) -> lock = 0; inside = 0; repairs++ }
        :: else
        fi;
        repaired = true;
#ifndef NO_REPAIR_EVENT
        event[d]++;
        wake_all(d)
#endif
    fi
}

proctype cce(byte p)
{
    byte round, holder, seen, w;
    bool repaired; /* the daemon's */
    {
        do
        :: round < ROUNDS ->
            lock_it(p);
            skip; /* inside */
            unlock(p);
            round++
        :: else -> break
        od
    } unless {
        d_step { victim == p -> drain(p); asleep_on[p] = NOBODY; deaths = 1 }
    }
}

/* The daemon's loop: learns of the death, marks it, wakes those who sleep on the dead one (bcri_cce_dying). */
proctype daemon()
{
    byte w;
end:
    deaths == 1;
    dying[victim] = true;
#ifndef NO_DYING_EVENT
    event[victim]++;
    wake_all(victim);
#endif
    deaths = 2
}

/* The daemon's worker: takes the lock for something of its own (another dead one's requests), then repairs. */
proctype worker()
{
    byte holder, seen, w;
    bool repaired;
#ifndef IDLE_WORKER
    lock_it(ENL);
    unlock(ENL);
#endif
end:
    deaths == 2;
    repair(victim);
    assert(repairs <= 1);
    assert(lock != TAG(victim));
    deaths = 3
}

proctype killer()
{
    if
    :: victim = 0
    :: skip
    fi
}

init
{
    atomic {
        byte i;
        for (i : 0 .. PROCS - 1) { asleep_on[i] = NOBODY };
        i = 0;
        for (i : 0 .. CCES - 1) { run cce(i) };
        run daemon();
        run worker();
        run killer()
    }
}
