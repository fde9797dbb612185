/* SPDX-License-Identifier: MIT */
/* The list of queues that lead home, when queues come to lie where others were: core/returns.c, returns_collect.c, cells/estate.c.
 * Two places for queues, each used USES times, by one freer after the other: it makes its queue, pushes it, sends one block, and ends.
 * The owner meets queues, reads them, and closes those whose freers have ended; then the daemon gives the place to the next.
 *
 * Checked: every block that was sent comes home, once (else: "invalid end state", or an assertion); what is read is a queue.
 *
 * Rules that can be broken: REMEMBER_NEWEST (the owner leaves the list, and remembers to where it has met it), REUSE_UNREAD (a place is
 * given out before its queue was closed).
 *
 * Code: core/returns.c take_head, push_queue
 * Code: core/returns_collect.c meet_taken, meet_queues, close_dead */
#define PLACES 2
#ifndef USES
#define USES 2
#endif
#define NONE 0 /* place p is named p + 1 */

mtype = { NEW, LISTED, DRAINED };

mtype state[PLACES] = NEW;
byte next[PLACES], block[PLACES]; /* 0: none yet; else which use of the place has sent it */
bool ended[PLACES];
byte use[PLACES];
byte list;
byte home; /* blocks that have come */

proctype freer(byte p)
{
    byte newest;
    state[p] = LISTED;
    newest = list;
    do
    :: next[p] = newest;
        if
        :: atomic { list == newest -> list = p + 1; break }
        :: atomic { list != newest -> newest = list }
        fi
    od;
    block[p] = use[p];
    ended[p] = true
}

/* The daemon: the place is empty, and is given to the next freer. */
proctype giver(byte p)
{
    do
    :: use[p] < USES ->
        atomic { use[p]++; state[p] = NEW; next[p] = NONE; block[p] = 0; ended[p] = false; run freer(p) };
    end: /* of the last one: the owner has what it wants */
#ifdef REUSE_UNREAD
        ended[p]
#else
        ended[p] && state[p] == DRAINED
#endif
    :: else -> break
    od
}

active proctype owner()
{
    bool incoming[PLACES], read[PLACES];
    byte ref, newest, i;
    atomic { run giver(0); run giver(1) }
    do
    :: home == PLACES * USES -> break
    /* It meets what is new. */
    :: home < PLACES * USES ->
        atomic {
#ifdef REMEMBER_NEWEST
            ref = list;
            do
            :: ref != NONE && ref != newest ->
                assert(!incoming[ref - 1]);
                incoming[ref - 1] = true;
                read[ref - 1] = false;
                ref = next[ref - 1]
            :: else -> break
            od;
            newest = list
#else
            ref = list;
            list = NONE
#endif
        }
#ifndef REMEMBER_NEWEST
        do
        :: ref != NONE ->
            assert(!incoming[ref - 1] && state[ref - 1] == LISTED);
            incoming[ref - 1] = true;
            read[ref - 1] = false;
            ref = next[ref - 1]
        :: else -> break
        od;
#endif
        i = 0;
        do
        :: i < PLACES ->
            if
            :: incoming[i] && !read[i] && block[i] != 0 ->
                assert(block[i] == use[i]);
                read[i] = true;
                home++
            /* Nothing more was there a moment ago, and its freer has ended. */
            :: incoming[i] && read[i] && ended[i] -> incoming[i] = false; state[i] = DRAINED
            :: else
            fi;
            i++
        :: else -> break
        od;
        /* It looks again when there is something. */
        (home == PLACES * USES || list != newest || (incoming[0] && (!read[0] -> block[0] != 0 : ended[0])) ||
            (incoming[1] && (!read[1] -> block[1] != 0 : ended[1])))
    od
}
