/* SPDX-License-Identifier: MIT */
/* The region of a bcr_putm goes to each host once: enl/links/agent/share.c, payload.c, serve.c. A CCE puts two regions, each to both of
 * two owners of another host, and a region of its own behind the first put of each. Its agent sends each shared region as DATA, in
 * a stream for that, and the puts as SAME, in the streams of their owners; FORGET when it has closed the share and the link has
 * done with all its orders. The owners' agent has a pool with room for one region. The CCE may die after each order, the second
 * owner at any time, and some memory is refused: for a share (its puts go by themselves), for FORGET, for a payload, with and
 * without a record of that.
 *
 * Checked: when nothing moves any more no stream stands still, all puts are done or told, no payload is kept, and the pool is empty;
 * a payload is not freed under a put that has begun, and no put names one that is forgotten.
 *
 * Rules that can be broken: NO_ASIDE (a payload that waits for further puts stays in the full pool), FORGET_EARLY (FORGET does not
 * wait for the orders), FORGET_ONCE (nor is it tried again without memory), NO_CLOSE (the end of the CCE leaves its share open),
 * NO_UNKNOWN (that a payload was refused without a record is not counted), FREE_WITH_USERS (FORGET frees what a put has begun to
 * use), KEPT_BY_DEAD (a put to a dead owner does not let go of its payload).
 *
 * Code: enl/links/agent/share.c, enl/links/agent/payload.c, enl/links/agent/orders_in.c */
#define PUTMS 2
#define POOL 1
#ifndef REFUSALS
#define REFUSALS 2
#endif
mtype = { SAME, PUT };
mtype = { NONE, COMING, HERE, ASIDE, REFUSED };

/* the link: a stream for DATA, one to each owner, and one of answers; and what it has done with */
chan data = [PUTMS] of { byte };
chan stream[2] = [4] of { mtype, byte };
chan forget = [PUTMS] of { byte };
chan done_with = [8] of { byte };

/* at the asker: shares */
bool shared[PUTMS], open[PUTMS], told[PUTMS];
byte orders[PUTMS], put_count, refusals;

/* at the owners' host */
mtype payload[PUTMS] = NONE;
bool over[PUTMS], forgotten[PUTMS];
byte users[PUTMS], holders[PUTMS], unknown, pool, ended;
mtype busy[2];
byte uses[2];
bool owner_dead; /* the second one */
chan cell[2] = [4] of { mtype, byte };

#define MEMORY_IS_REFUSED (refusals < REFUSALS) -> refusals++
#define DIES if :: true -> goto dies :: true fi

inline order(to, n)
{
    atomic {
        put_count++;
        if
        :: shared[n] -> orders[n]++; stream[to]!SAME(n)
        :: else -> stream[to]!PUT(n)
        fi
    }
}

active proctype asker()
{
    byte n = 0;
    do
    :: n < PUTMS ->
        if
        :: atomic { true -> shared[n] = true; open[n] = true; orders[n] = 1; data!n }
        :: atomic { MEMORY_IS_REFUSED }
        fi;
        order(0, n);
        DIES;
        atomic { put_count++; stream[1]!PUT(n) }
        DIES;
        order(1, n);
        DIES;
        open[n] = false;
        n++
    :: else -> goto lives
    od;
dies:
#ifndef NO_CLOSE
    if
    :: n < PUTMS -> open[n] = false
    :: else
    fi;
#endif
lives:
    skip
}

#ifdef FORGET_EARLY
#define IS_OVER(n) (shared[n] && !open[n] && !told[n])
#else
#define IS_OVER(n) (shared[n] && !open[n] && !told[n] && orders[n] == 0)
#endif
inline tell(n)
{
    if
    :: told[n] = true; forget!n
    :: MEMORY_IS_REFUSED;
#ifdef FORGET_ONCE
        told[n] = true
#endif
    fi
}

active proctype askers_agent()
{
    byte n;
end:
    do
    :: done_with?n -> orders[n]--
    :: atomic { IS_OVER(0) -> tell(0) }
    :: atomic { IS_OVER(1) -> tell(1) }
    od
}

#define IN_POOL(n) (payload[n] == COMING || payload[n] == HERE)

inline leave_pool(n)
{
    if
    :: holders[n] == 0 -> pool--
    :: else
    fi
}

inline free_if_over(n)
{
    if
#ifdef FREE_WITH_USERS
    :: over[n] ->
#else
    :: over[n] && users[n] == 0 ->
#endif
        if
        :: IN_POOL(n) -> leave_pool(n)
        :: else
        fi;
        payload[n] = NONE;
        forgotten[n] = true
    :: else
    fi
}

/* Those that only wait for further puts leave the pool. */
#define CAN_LEAVE(n) (payload[n] == HERE && users[n] == 0 && holders[n] == 0)
inline make_room()
{
#ifndef NO_ASIDE
    if
    :: CAN_LEAVE(0) -> payload[0] = ASIDE; pool--
    :: else
    fi;
    if
    :: CAN_LEAVE(1) -> payload[1] = ASIDE; pool--
    :: else
    fi
#else
    skip
#endif
}
#ifndef NO_ASIDE
#define ROOM (pool < POOL || CAN_LEAVE(0) || CAN_LEAVE(1))
#else
#define ROOM (pool < POOL)
#endif
inline find_room()
{
    if
    :: pool >= POOL -> make_room()
    :: else
    fi;
    pool++
}

inline begin_data(n)
{
    if
    :: find_room(); payload[n] = COMING; users[n]++
    :: MEMORY_IS_REFUSED; payload[n] = REFUSED; done_with!n
    :: MEMORY_IS_REFUSED;
#ifndef NO_UNKNOWN
        unknown++;
#endif
        done_with!n
    fi
}

#define SAME_CAN_BEGIN(n) \
    (payload[n] == COMING || payload[n] == HERE || payload[n] == REFUSED || (payload[n] == NONE && unknown != 0) || \
     (payload[n] == ASIDE && ROOM))

inline begin_same(i, n)
{
    assert(!forgotten[n]);
    done_with!n;
    if
    :: payload[n] == NONE || payload[n] == REFUSED -> ended++
    :: else ->
        if
        :: payload[n] == ASIDE -> find_room(); payload[n] = HERE
        :: else
        fi;
        users[n]++;
        busy[i] = SAME;
        uses[i] = n
    fi
}

/* A put that has come whole. */
inline perform(i)
{
    n = uses[i];
    if
    :: busy[i] == PUT ->
        if
        :: i == 1 && owner_dead -> pool--
        :: else -> cell[i]!PUT(n)
        fi
    :: else ->
        assert(payload[n] == HERE);
        if
        :: i == 1 && owner_dead
        :: else -> holders[n]++; cell[i]!SAME(n)
        fi;
#ifdef KEPT_BY_DEAD
        if
        :: i == 1 && owner_dead
        :: else -> users[n]--
        fi;
#else
        users[n]--;
#endif
        free_if_over(n)
    fi;
    busy[i] = 0;
    ended++
}

inline let_go(kind, n)
{
    if
    :: kind == PUT -> pool--
    :: else ->
        holders[n]--;
        if
        :: IN_POOL(n)
        :: else -> leave_pool(n)
        fi
    fi
}

#define BEGINS(i) \
    :: atomic { busy[i] == 0 && stream[i]?[SAME(0)] && SAME_CAN_BEGIN(0) -> stream[i]?SAME(n); begin_same(i, n) } \
    :: atomic { busy[i] == 0 && stream[i]?[SAME(1)] && SAME_CAN_BEGIN(1) -> stream[i]?SAME(n); begin_same(i, n) } \
    :: atomic { busy[i] == 0 && stream[i]?[PUT, n] && ROOM -> stream[i]?PUT(n); find_room(); busy[i] = PUT; uses[i] = n } \
    :: atomic { busy[i] == PUT || (busy[i] == SAME && payload[uses[i]] != COMING) -> perform(i) }

active proctype owners_agent()
{
    byte n;
end:
    do
    :: atomic { nempty(data) && ROOM -> data?n; begin_data(n) }
    :: atomic { payload[0] == COMING -> payload[0] = HERE; users[0]--; done_with!0 }
    :: atomic { payload[1] == COMING -> payload[1] = HERE; users[1]--; done_with!1 }
    BEGINS(0)
    BEGINS(1)
    :: atomic {
        forget?n ->
        if
        :: payload[n] == NONE ->
            if
            :: unknown != 0 -> unknown--
            :: else
            fi;
            forgotten[n] = true
        :: else -> over[n] = true; free_if_over(n)
        fi
    }
    od
}

/* The owners take what is there, in any order in time. */
active proctype owners()
{
    mtype kind;
    byte n;
end:
    do
    :: atomic { cell[0]?kind, n -> let_go(kind, n) }
    :: atomic { cell[1]?kind, n -> let_go(kind, n) } /* or the repair does, of one that has died */
    od
}

active proctype death()
{
    if
    :: owner_dead = true
    :: true
    fi
}

active proctype at_the_end()
{
    timeout;
    assert(empty(data) && empty(stream[0]) && empty(stream[1]) && empty(forget));
    assert(ended == put_count);
    assert(payload[0] == NONE && payload[1] == NONE);
    assert(pool == 0 && unknown == 0)
}
