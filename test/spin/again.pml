/* SPDX-License-Identifier: MIT */
/* When a number is given out again: cells/recovery/reclaim.c, core/memory/heap_freed.c. The owner of a heap has ended. FREERS hold a block each of it, free
 * that, and count it in the entry of its number, whose use that must still be; some die on the way and are repaired.
 *
 * Opening the journal is a plain store: it may be seen after what follows, until everybody has passed the fence. (That closing
 * comes after what is before it is the order of stores in a program that the daemon sees to by looking with acquire.)
 *
 * Checked: nobody counts in the next use of the number; the number is given out again in the end (else: "invalid end state").
 *
 * Rules that can be broken: NO_GRACE (given out as soon as nothing is held), NO_FENCE (journals are looked at without), LOOK_FIRST
 * (they are looked at before it is known that nothing is held), DEAD_ARE_OUTSIDE (a CCE that has died is not waited for).
 *
 * Code: cells/recovery/reclaim.c, core/memory/segment.c, core/memory/heap_freed.c */
#ifndef FREERS
#define FREERS 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

bool held[FREERS] = true;
bool open_[FREERS], unseen[FREERS], inside[FREERS], dead[FREERS], counted[FREERS];
byte deaths = DEATHS;
bool again;

inline count(p)
{
    assert(!again); /* another one's number by now */
    counted[p] = true
}

proctype freer(byte p)
{
    /* The journal is open, for all that this one knows. */
    atomic { open_[p] = true; unseen[p] = true }
    if
    :: held[p] = false
    :: atomic { deaths > 0 -> deaths--; dead[p] = true; goto gone }
    fi;
    if
    :: count(p)
    :: atomic { deaths > 0 -> deaths--; dead[p] = true; goto gone }
    fi;
    if
    :: atomic { open_[p] = false; unseen[p] = false }
    :: atomic { deaths > 0 -> deaths--; dead[p] = true }
    fi;
gone:
    skip
}

/* Memory shows it some time. */
active proctype memory()
{
    byte i;
    do
    :: i < FREERS ->
        if
        :: unseen[i] = false
        :: true
        fi;
        i++
    :: else -> break
    od
}

#define SEEN_OPEN(p) (open_[p] && !unseen[p])

/* The kernel has told of the death, and everything that it stored is seen. Done again from the start if need be: it counts once more. */
inline repair(p)
{
    unseen[p] = false;
    if
    :: open_[p] && !held[p] -> count(p)
    :: else
    fi;
    held[p] = false; /* what its IDs hold is dropped */
    open_[p] = false;
    dead[p] = false
}

inline look_inside()
{
#ifndef NO_FENCE
    atomic { i = 0; do :: i < FREERS -> unseen[i] = false; i++ :: else -> break od; i = 0 };
#endif
    i = 0;
    do
    :: i < FREERS ->
#ifdef DEAD_ARE_OUTSIDE
        inside[i] = SEEN_OPEN(i) && !dead[i];
#else
        inside[i] = SEEN_OPEN(i);
#endif
        i++
    :: else -> break
    od
}

active proctype daemon()
{
    byte i;
    atomic { i = 0; do :: i < FREERS -> run freer(i); i++ :: else -> break od }
#ifdef LOOK_FIRST
    look_inside();
#endif
    /* Until nothing is held; deaths are repaired whenever it comes to them. */
    do
    :: atomic { i = 0; do :: i < FREERS && !held[i] -> i++ :: else -> break od };
        if
        :: i == FREERS -> break
        :: else
        fi;
        if
        :: i < FREERS && dead[i] -> repair(i)
        :: i < FREERS && (!held[i] || dead[i]) -> skip
        fi
    od;
#ifndef NO_GRACE
#ifndef LOOK_FIRST
    look_inside();
#endif
    i = 0;
    do
    :: i < FREERS && inside[i] ->
        if
        :: dead[i] -> repair(i); i++
        :: !SEEN_OPEN(i) -> i++
        fi
    :: i < FREERS && !inside[i] -> i++
    :: else -> break
    od;
#endif
    again = true;
    /* Who died outside, as far as was seen, is repaired some time. */
    i = 0;
    do
    :: i < FREERS ->
        if
        :: dead[i] -> repair(i)
        :: true
        fi;
        i++
    :: else -> break
    od
}
