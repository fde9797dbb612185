/* SPDX-License-Identifier: MIT */
/* How a CCE wakes its agent, cells/order.c (store_entry): not again while the agent has not taken the entry for which the CCE
 * woke it. The CCE stores entries and computes; the agent takes all that it finds, and sleeps in epoll (bell.pml).
 *
 * Memory: the agent's `sleeping = 0` and `taken` go through store buffers, in any order; storing `sleeping = 1` and counting the bell
 * up empty them.
 *
 * Checked: in the end the agent has taken all entries.
 *
 * Rules that can be broken: TAKEN_FIRST (the CCE reads `taken` before it counts the bell up), PUBLISHED_LATE (the agent sleeps before it
 * tells what it has taken), NO_COMPARE (the agent sleeps without comparing the bell).
 *
 * Code: cells/order.c, core/sync/bell.c, enl/links/agent/ask.c */
#define ENTRIES 4

byte bell, stored, taken;
bool sleeping, readable;
byte agent_taken;                  /* the agent's own count */
bool pending_awake, pending_taken; /* in its buffer */

active proctype buffer()
{
end:
    do
    :: d_step { pending_awake -> pending_awake = false; sleeping = false }
    :: d_step { pending_taken -> pending_taken = false; taken = agent_taken }
    od
}

active proctype cce()
{
    byte woken_for, saw_taken;
    bool saw_sleeping;
    do
    :: stored < ENTRIES ->
        stored++;
#ifdef TAKEN_FIRST
        saw_taken = taken;
#endif
        bell++;
        saw_sleeping = sleeping;
#ifndef TAKEN_FIRST
        saw_taken = taken;
#endif
        if
        :: saw_sleeping && saw_taken >= woken_for -> woken_for = stored; readable = true
        :: else
        fi
    :: else -> break
    od
}

active proctype agent()
{
    byte seen;
    do
    :: seen = bell;
        do
        :: agent_taken < stored -> agent_taken++
        :: else -> break
        od;
        skip;
#ifndef PUBLISHED_LATE
        pending_taken = true;
#endif
        d_step {
            if
            :: pending_taken -> pending_taken = false; taken = agent_taken
            :: else
            fi;
            pending_awake = false;
            sleeping = true
        };
        if
#ifdef NO_COMPARE
        :: true ->
#else
        :: bell == seen ->
#endif
end_asleep:
            readable;
            readable = false
        :: else
        fi;
#ifdef PUBLISHED_LATE
        pending_taken = true;
#endif
        pending_awake = true
    od
}

active proctype over()
{
    timeout;
    assert(agent_taken == ENTRIES)
}
