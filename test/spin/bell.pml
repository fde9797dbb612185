/* SPDX-License-Identifier: MIT */
/* core/bell.h, cells/wait.c (sleep_until_rung) and the rings of cells/: a sleeper that waits for several words, ringers
 * that may die between the store that makes a word true and the ring, the daemon that rings for them.
 *
 * Memory: `sleeping = 0` and the ringers' words go through store buffers; counting the bell up, setting `sleeping` and
 * the fence empty the buffer of who does it.
 *
 * A ringer here is put_service.c's serve(): it ends a waiting put, then (leaving the cell) a waiting get of another CCE, and
 * one word of its journal names whom to ring. Checked: both sleepers come to their end, whatever dies when.
 *
 * Rules that can be broken: NO_SECOND_LOOK (the sleeper does not look again), SEEN_LATE (reads the bell after the look),
 * NO_RING_IN_REPAIR, ONE_RING_WORD (the second ring's journal word overwrites the first's before that was rung).
 *
 * With EPOLL, sleeper 1 sleeps in epoll: it compares the bell itself, which stands for the second look too, and waits
 * for a descriptor that a ringer makes readable when it has found `sleeping`. Further rules: NO_COMPARE (it sleeps without comparing), RINGER_CLEARS (the
 * ringer clears `sleeping` before it writes, so that others need not, and dies between), NOT_EMPTIED (the sleeper leaves
 * the descriptor readable, and never sleeps again).
 *
 * Code: cells/wait.c, cells/wait_event.c, core/sync/bell.c, cells/put_service.c, cells/get_service.c */
#define SLEEPERS 2
#define NOBODY 255

byte bell[SLEEPERS];
bool sleeping[SLEEPERS], in_futex[SLEEPERS];
bool readable;     /* sleeper 1's descriptor */
byte needless = 0; /* its sleeps that ended with nothing new */
#ifdef EPOLL
#define IN_EPOLL(s) (s == 1)
#else
#define IN_EPOLL(s) false
#endif
bool pending_awake[SLEEPERS]; /* sleeping = 0 is in the sleeper's buffer */
bool word[4];                 /* what is waited for: sleeper 0: words 0, 2; sleeper 1: words 1, 3 */
bool pending_word[4];         /* in the buffer of the ringer that stores it */
byte ring_journal[2] = 0;     /* per ringer: sleeper + 1 */
bool killed, dead, over;

active proctype buffers()
{
end:
    do
    :: d_step { pending_awake[0] -> pending_awake[0] = false; sleeping[0] = false }
    :: d_step { pending_awake[1] -> pending_awake[1] = false; sleeping[1] = false }
    :: d_step { pending_word[0] -> pending_word[0] = false; word[0] = true }
    :: d_step { pending_word[1] -> pending_word[1] = false; word[1] = true }
    :: d_step { pending_word[2] -> pending_word[2] = false; word[2] = true }
    :: d_step { pending_word[3] -> pending_word[3] = false; word[3] = true }
    od
}

inline drain_ringer(r)
{
    if
    :: pending_word[2 * r] -> pending_word[2 * r] = false; word[2 * r] = true
    :: else
    fi;
    if
    :: pending_word[2 * r + 1] -> pending_word[2 * r + 1] = false; word[2 * r + 1] = true
    :: else
    fi
}

/* bcri_bell_ring by ringer r (the daemon's buffer is empty: r only says whose stores go out) */
inline ring(r, s)
{
    d_step { drain_ringer(r); bell[s]++ };
    if
    :: sleeping[s] ->
        if
        :: IN_EPOLL(s) ->
#ifdef RINGER_CLEARS
            sleeping[s] = false;
#endif
            readable = true
        :: d_step { in_futex[s] -> in_futex[s] = false }
        :: else
        fi
    :: else
    fi
}

proctype sleeper(byte me)
{
    byte seen;
    bool ready;
    do
    :: word[me] && word[me + 2] -> break
    :: else ->
#ifndef SEEN_LATE
        seen = bell[me];
#endif
        if
        :: IN_EPOLL(me) -> ready = word[me] && word[me + 2] /* comparing the bell stands for the second look */
        :: else
        fi;
        d_step { pending_awake[me] = false; sleeping[me] = true };
#ifndef NO_SECOND_LOOK
        if
        :: !IN_EPOLL(me) -> ready = word[me] && word[me + 2]
        :: else
        fi;
#endif
#ifdef SEEN_LATE
        seen = bell[me];
#endif
        if
        :: ready
        :: else ->
            if
            :: d_step { !IN_EPOLL(me) && bell[me] == seen -> in_futex[me] = true }; !in_futex[me]
#ifdef NO_COMPARE
            :: IN_EPOLL(me) -> readable
#else
            :: IN_EPOLL(me) && bell[me] == seen ->
                readable;
                if
                :: bell[me] == seen -> needless++; assert(needless < 8)
                :: else
                fi
#endif
            :: bell[me] != seen
            fi
        fi;
        d_step { pending_awake[me] = true; ready = false; seen = 0 };
#ifndef NOT_EMPTIED
        if
        :: IN_EPOLL(me) -> readable = false
        :: else
        fi
#endif
    od
}

/* Ringer 0 makes words 0 (sleeper 0) and 1 (sleeper 1) true, ringer 1 words 2 and 3. */
inline serve(r)
{
    ring_journal[r] = 1;
    pending_word[2 * r] = true; /* the put is done */
#ifndef ONE_RING_WORD
    ring(r, 0);
    ring_journal[r] = 0;
#endif
    ring_journal[r] = 2;
    pending_word[2 * r + 1] = true; /* a get is served */
    ring(r, 1);
    ring_journal[r] = 0;
#ifdef ONE_RING_WORD
    ring(r, 0)
#endif
}

proctype ringer(byte r)
{
    { serve(r) } unless { d_step { r == 0 && killed -> drain_ringer(0); dead = true } }
}

/* What the dead one had not made true, enl or another does later. */
proctype daemon()
{
end:
    dead;
#ifndef NO_RING_IN_REPAIR
    if
    :: ring_journal[0] != 0 -> ring(0, ring_journal[0] - 1)
    :: else
    fi;
#endif
    if
    :: !word[0] -> word[0] = true; ring(0, 0)
    :: else
    fi;
    if
    :: !word[1] -> word[1] = true; ring(0, 1)
    :: else
    fi
}

init
{
    atomic { run sleeper(0); run sleeper(1); run ringer(0); run ringer(1); run daemon() };
    if
    :: killed = true
    :: skip
    fi
}
