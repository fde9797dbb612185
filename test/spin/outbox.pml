/* SPDX-License-Identifier: MIT */
/* A CCE's outbox and its agent: cells/order.c, enl/links/agent/ask.c. The CCE orders two puts with one ID, the second when the ID has
 * come back, and waits for the answer of the second; and then a get, which it may cancel. It may die after each of its stores. The ring has two entries, so that they
 * are used again; lap tags are counted on, since two laps of the code's tags are never confused in so few.
 *
 * Checked: each region is in one place all the time, the CCE's, the agent's, or dropped; what is in the ring is carried out; an ID
 * that is answered is not touched any more; no ID is ordered when the dead CCE's are walked that the agent still knows; the CCE
 * waits for nothing that does not come (else: "invalid end state"); when it has the answer of the second put, nobody but the CCE,
 * which has another ID for it, holds the region here.
 *
 * Rules that can be broken: NO_LAP (an entry does not say of which lap it is), ENTRY_FIRST (the entry before the ID's word), FREE_LATE
 * (the agent counts the entry as taken before the ID is free), NO_DRAIN (the agent forgets without a look into the ring), WALK_FIRST
 * (the IDs are walked before the agent has forgotten), TOUCH_LATE (the agent answers a get that it has answered), HELD_ANSWER (the put is
 * answered before the agent has let go of the region), PUT_KEEPS_ID (the agent forgets the CCE, and answers the put later).
 *
 * Code: cells/include/bcri/outbox.h, cells/order.c, enl/links/agent/ask.c, enl/links/agent/answer.c */
#define N 2
#define PUTS 2
#define WAITED_FOR 1 /* the put whose answer its CCE waits for */
mtype = { FREE, LIVE, ORDERED, ANSWERED, FAILED };
mtype = { OURS, AGENTS, DROPPED };
mtype = { NONE, PUT, GET, CANCEL };

/* the ring */
byte lap[N];
mtype what[N] = NONE;
byte taken;

/* the IDs: of the puts, and of the get */
mtype put_id = FREE, get_id = FREE;
byte put_region;
bool put_has; /* the ID names the region, which the agent has not taken */
bool get_has; /* the region of the answer is the get's ID's */

mtype place[PUTS] = OURS;
bool entered[PUTS];
bool dead, forget, forgotten;

#define DIES if :: true -> dead = true; goto end :: true fi

inline store_entry(number, kind)
{
    d_step {
        what[number % N] = kind;
#ifdef NO_LAP
        lap[number % N] = 1;
#else
        lap[number % N] = number / N + 1;
#endif
        if :: kind == PUT -> entered[put_region] = true :: else fi
    }
}

active proctype cce()
{
    byte stored;
    do
    :: stored < PUTS ->
        put_region = stored;
        atomic { put_id = LIVE; put_has = true };
        DIES;
#ifdef ENTRY_FIRST
        store_entry(stored, PUT);
        DIES;
        put_id = ORDERED;
#else
        put_id = ORDERED;
        DIES;
        store_entry(stored, PUT);
#endif
        DIES;
        stored++;
        if
        :: put_region != WAITED_FOR ->
            taken >= stored; /* the ID is used again */
            assert(put_id == FREE)
        :: else ->
            put_id == ANSWERED;
            assert(place[WAITED_FOR] == DROPPED);
            DIES;
            put_id = FREE
        fi
    :: else -> break
    od;
    get_id = ORDERED;
    DIES;
    store_entry(stored, GET);
    stored++;
    DIES;
    if
    :: true ->
        taken >= stored - 1; /* room in the ring */
        store_entry(stored, CANCEL);
        DIES
    :: true
    fi;
    get_id != ORDERED;
    DIES;
    if
    :: get_id == ANSWERED -> assert(get_has)
    :: else -> assert(!get_has)
    fi;
    get_id = LIVE;
    DIES;
    get_id = FREE;
    get_has = false;
    DIES;
    dead = true;
end:
    skip
}

/* Whether there is an entry for the agent. */
#ifdef NO_LAP
#define NEWS (lap[taken % N] != 0)
#else
#define NEWS (lap[taken % N] == taken / N + 1)
#endif

inline take_one()
{
    if
    :: what[taken % N] == PUT && put_id == ORDERED ->
        atomic {
            assert(place[put_region] == OURS);
            place[put_region] = AGENTS
        }
        if
        :: put_region == WAITED_FOR -> put_has = false; knows_put = true; taken++
        :: else ->
#ifdef FREE_LATE
            taken++;
            atomic { put_id = FREE; put_has = false }
#else
            atomic { put_id = FREE; put_has = false };
            taken++
#endif
        fi
    :: what[taken % N] == GET -> knows_get = true; taken++
    :: what[taken % N] == CANCEL ->
        if
        :: knows_get -> knows_get = false; get_id = FAILED
        :: else
        fi;
        taken++
    :: else -> taken++ /* no order: the CCE has not written it */
    fi
}

/* What came of it: it is in its cell, or not; the agent lets go of the region either way. */
inline answer_put()
{
    knows_put = false;
#ifdef HELD_ANSWER
    put_id = ANSWERED;
    place[WAITED_FOR] = DROPPED
#else
    place[WAITED_FOR] = DROPPED;
    atomic {
        assert(put_id == ORDERED && !put_has);
        put_id = ANSWERED
    }
#endif
}

active proctype agent()
{
    bool knows_get = false, knows_put = false;
    do
    :: NEWS && !forgotten -> take_one()
    :: knows_put -> answer_put()
    :: knows_get -> /* the answer comes */
        atomic {
            assert(get_id == ORDERED);
            get_has = true;
            get_id = ANSWERED
        }
#ifndef TOUCH_LATE
        knows_get = false
#endif
    :: forget && !forgotten ->
#ifndef NO_DRAIN
        do
        :: NEWS -> take_one()
        :: else -> break
        od;
#endif
        if
        :: knows_get -> knows_get = false; get_id = FREE
        :: else
        fi;
#ifdef PUT_KEEPS_ID
        forgotten = true;
        if
        :: knows_put -> answer_put()
        :: else
        fi;
#else
        if
        :: knows_put -> knows_put = false; put_id = FREE; place[WAITED_FOR] = DROPPED
        :: else
        fi;
        forgotten = true;
#endif
        break
    od
}

inline walk()
{
    if
    :: put_has ->
        atomic {
            assert(place[put_region] == OURS);
            place[put_region] = DROPPED;
            put_has = false
        }
    :: else
    fi;
    put_id = FREE;
    get_id = FREE;
    get_has = false
}

active proctype daemon()
{
    byte i;
    dead;
#ifdef WALK_FIRST
    walk();
#endif
    forget = true;
    forgotten;
#ifndef WALK_FIRST
    walk();
#endif
    do
    :: i < PUTS ->
        assert(!entered[i] || place[i] == AGENTS || (i == WAITED_FOR && place[i] == DROPPED));
        i++
    :: else -> break
    od
}
