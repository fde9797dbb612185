/* SPDX-License-Identifier: MIT */
/* core/sync/lock.c: a lock word released by a plain store, sleepers on the holder's event word, membarrier as the fence,
 * death of a holder or a sleeper at any step, repair by the daemon, which itself sleeps on nobody: it is parked, and rung.
 *
 * Memory: each process has a store buffer (x86's kind: first in, first out, read by its owner). Only the release (lock = 0) goes
 * through it. Everything else that is stored here is a locked instruction and empties the buffer first. MEMBARRIER
 * empties all. A killed process's stores become visible before anybody learns of its death.
 *
 * Checked: never two inside; a repair happens once; everybody who waits comes to its end (else: "invalid end state").
 *
 * Rules that can be broken: NO_MEMBARRIER (the waiter does not fence the holder), NO_SECOND_LOOK, NO_EVENT (the futex
 * does not compare), NO_REPAIR_EVENT (the repair wakes nobody), NO_RING (a release does not ring the daemon), NO_WORK_RING (who queues
 * a repair does not), NOT_BEGUN_AGAIN (what is parked is not begun again when something else was done).
 *
 * Code: core/sync/lock.c, core/include/bcri/lock.h, cells/recovery/dying.c
 * Code: enl/host/worker.c */

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
byte sleepers[PROCS];       /* 1: a process sleeps, 2: the daemon is parked */
byte event[PROCS];
bool rung;                 /* the daemon's bell, since the worker looked */
byte asleep_on[PROCS] = NOBODY;
byte inside;               /* ghost: who is inside, dead or alive */
byte repairs, deaths;
byte victim = NOBODY;

inline drain(p)
{
    d_step {
        if
        :: pending_lock[p] -> pending_lock[p] = false; lock = 0
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
    :: d_step { pending_lock[1] -> pending_lock[1] = false; lock = 0 }
#if CCES > 2
    :: d_step { pending_lock[2] -> pending_lock[2] = false; lock = 0 }
#endif
    :: d_step { pending_lock[ENL] -> pending_lock[ENL] = false; lock = 0 }
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
    :: sleepers[p] != 0 ->
        d_step { drain(p); was = sleepers[p]; sleepers[p] = 0 };
        if
        :: was & 1 -> event[p]++; wake_all(p)
        :: else
        fi;
        if
#ifndef NO_RING
        :: was & 2 -> rung = true
#endif
        :: else
        fi;
        was = 0
    :: else
    fi
}

/* bcri_lock, bcri_lock_slow, bcri_sleep_on_holder; spinning is the loop itself. One that has a deadline (bcri_lock_slow_until) wakes
 * by itself, or gives up: the flag stays set then, as after its death, which is in the model. */
inline lock_it(p)
{
    do
    :: d_step { lock == 0 && !pending_lock[p] -> lock = TAG(p); assert(inside == 0); inside = TAG(p) }; break
    :: d_step { pending_lock[p] -> drain(p) } /* the CAS empties its own buffer */
    :: d_step { lock != 0 && !pending_lock[p] -> holder = lock - 1 };
        seen = event[holder];
        sleepers[holder] = sleepers[holder] | 1;
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
        fi;
        holder = 0; seen = 0
    od
}

/* The daemon, look_again_or_park: res: it has the lock */
inline lock_or_park()
{
    do
    :: d_step { lock == 0 -> lock = TAG(ENL); assert(inside == 0); inside = TAG(ENL) }; res = true; break
    :: d_step { lock != 0 -> holder = lock - 1 };
        sleepers[holder] = sleepers[holder] | 2;
        membarrier();
        if
#ifdef NO_SECOND_LOOK
        :: true -> res = false; break
#else
        :: lock == TAG(holder) -> res = false; break
        :: else
#endif
        fi
    od;
    holder = 0
}

/* dying.c and journal_repair.c: the lock word carries the dead one's tag: free it; count its event up; wake. Closed afterwards. */
inline repair(d)
{
    if
    :: d_step { lock == TAG(d) -> lock = 0; inside = 0; repairs++ }
    :: else
    fi;
    repaired = true;
#ifndef NO_REPAIR_EVENT
    event[d]++;
    wake_all(d)
#endif
}

proctype cce(byte p)
{
    byte round, holder, seen, w, was;
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

/* The daemon's loop: learns of the death, wakes those who sleep on the dead one (bcri_cce_dying), queues its repair. */
proctype daemon()
{
    byte w;
end:
    deaths == 1;
    event[victim]++;
    wake_all(victim);
    deaths = 2;
#ifndef NO_WORK_RING
    rung = true
#endif
}

/* The daemon's worker: takes the lock for something of its own (another dead one's requests), before or after it repairs. */
proctype worker()
{
    byte holder, w, was;
    bool repaired, did, res, any;
#ifdef IDLE_WORKER
    did = true;
#endif
end:
    do
    :: !did || (deaths == 2 && !repaired) ->
        rung = false;
        any = false;
        if
        :: !did ->
            lock_or_park();
            if
            :: res -> unlock(ENL); drain(ENL); did = true; any = true
            :: else
            fi
        :: else
        fi;
        if
        :: deaths == 2 && !repaired -> repair(victim); any = true
        :: else
        fi;
        if
#ifdef NOT_BEGUN_AGAIN
        :: !did -> rung
#else
        :: !any && !did -> rung /* rest() */
#endif
        :: else
        fi
    :: did && deaths == 2 && repaired ->
        assert(repairs <= 1);
        assert(lock != TAG(victim));
        deaths = 3
    od
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
