/* SPDX-License-Identifier: MIT */
/* cells/put_waiters.c: puts that wait for room in an area of two cells, gets that wait at them, credits that move between the
 * cells through the pool. What happens under a cell's two locks is one step here; the area's lock is a lock. A fast put holds
 * its cell's tail lock T over several steps, in which it may take credits from the pool, under the leaf lock
 * (bcri_fresh_limit).
 *
 * Three putters (to cells 0, 1, 1) and three getters (at 0, 1, 1), all willing to wait for ever. Nobody may be left waiting
 * when all are at rest, whatever NRGNS is: with as many gets as puts at each cell everything comes to an end.
 *
 * ORDER 1: nobody takes from cell 0 before both gets of cell 1 are served (a put that cannot be served stands first in the
 * list). ORDER 2: nobody takes from cell 1 before a put there has returned (with NRGNS 1: with a credit that cell 0 had).
 *
 * Rules that can be broken: NO_HAND_OVER (a put that joins the list tries only the oldest), NO_CHECK_INSIDE (a get does not
 * look for waiting puts again once it has the cell), NO_GATHER (spare credits of other cells are not looked for), POOL_WITHOUT_LEAF
 * (fresh credits come without the leaf lock), NO_LEAF_IN_GATHER (who looks for spare credits does not wait for those that are
 * on their way out of the pool).
 *
 * Code: cells/put_waiters.c, cells/put_service.c, cells/wait_lists.c, cells/credits.c
 * Code: cells/put_attempt.c, cells/get_slow.c */
#ifndef NRGNS
#define NRGNS 1
#endif
#ifndef ORDER
#define ORDER 0
#endif

byte area_lock, waitputs, leaf, pool = NRGNS;
bool T[2]; /* held by a fast put; who has both locks of a cell needs it too, for its one step */
byte queued[2], credits[2], waiting[2]; /* regions, and gets in the list, of each cell */
byte put_at[3], n_puts;                 /* the area's list: putter + 1, oldest first */
byte put_cell[3];
bool put_done[3];
byte got;
bool put_returned; /* one at cell 1 */

#define POOL_FREE (pool == 0 || !leaf) /* that there is nothing in it is seen without the leaf lock */
#define ROOM(c) (queued[c] < credits[c] || pool > 0)

/* Within one step: a region into cell c, handed on if a get waits there. */
inline deliver(c)
{
    if
    :: waiting[c] > 0 -> waiting[c]--; got++
    :: else ->
        if
        :: queued[c] >= credits[c] -> pool--; credits[c]++
        :: else
        fi;
        queued[c]++
    fi
}

inline put_unlist(i)
{
    k_ = i;
    do
    :: k_ + 1 < n_puts -> put_at[k_] = put_at[k_ + 1]; k_++
    :: else -> break
    od;
    n_puts--;
    put_at[n_puts] = 0;
    waitputs--;
    k_ = 0
}

/* serve() of the i-th waiting put. res_: done */
inline serve(i, hand_over)
{
    c_ = put_cell[put_at[i] - 1];
    d_step {
        !T[c_] && POOL_FREE ->
        if
        :: waiting[c_] > 0 || (!(hand_over) && ROOM(c_)) ->
            deliver(c_);
            put_done[put_at[i] - 1] = true;
            put_unlist(i);
            res_ = true
        :: else -> res_ = false
        fi;
        c_ = 0
    }
}

/* spare_credit(): one unused credit of cell c into the pool */
inline spare(c)
{
    if
    :: credits[c] == 0 -> res_ = false /* without a lock */
    :: d_step { credits[c] != 0 && !T[c] && !leaf ->
            if
            :: credits[c] > queued[c] -> credits[c]--; pool++; res_ = true
            :: else -> res_ = false
            fi
        }
    fi
}

inline serve_all(c, everywhere)
{
    do
    :: n_puts > 0 ->
        serve(0, false);
        if
        :: res_
        :: else ->
#ifndef NO_LEAF_IN_GATHER
            if
            :: everywhere -> !leaf /* what was on its way out of the pool is where it goes */
            :: else
            fi;
#endif
            spare(c);
#ifndef NO_GATHER
            if
            :: !res_ && everywhere -> spare(1 - c)
            :: else
            fi;
#endif
            if
            :: res_
            :: else -> break
            fi
        fi
    :: else -> break
    od;
    res_ = false
}

proctype putter(byte me, cell)
{
    byte k_, c_;
    bool res_;
    put_cell[me] = cell;
    /* put_attempt.c: the limit says what room the cell's own credits leave; nobody waits in the list of a fast cell */
    atomic { !T[cell] -> T[cell] = true };
    if
    :: waiting[cell] == 0 ->
        if
        :: queued[cell] >= credits[cell] && pool > 0 -> /* bcri_credits_from_pool */
#ifndef POOL_WITHOUT_LEAF
            atomic { leaf == 0 -> leaf = 1 };
#endif
            k_ = pool;
            if
            :: k_ > 0 && waitputs == 0 -> pool = k_ - 1; credits[cell]++ /* none that was gathered for one that waits */
            :: else
            fi;
            d_step { leaf = 0; k_ = 0 }
        :: else
        fi;
        if
        :: waitputs == 0 && queued[cell] < credits[cell] -> d_step { queued[cell]++; res_ = true }
        :: else
        fi
    :: else
    fi;
    T[cell] = false;
    /* put_slow: a hand-over, or room that nobody waits for */
    if
    :: res_
    :: d_step { !res_ && !T[cell] && POOL_FREE && waiting[cell] > 0 || !res_ && !T[cell] && POOL_FREE && waitputs == 0 && ROOM(cell) -> deliver(cell) }
    :: d_step { !res_ && !T[cell] && POOL_FREE && !(waiting[cell] > 0 || (waitputs == 0 && ROOM(cell))) -> skip };
        atomic { area_lock == 0 -> area_lock = 1 };
        d_step { put_at[n_puts] = me + 1; n_puts++; waitputs++ };
#ifndef NO_HAND_OVER
        serve(n_puts - 1, true);
#endif
        serve_all(cell, true);
        area_lock = 0;
        put_done[me]
    fi;
    if
    :: cell == 1 -> put_returned = true
    :: else
    fi
}

proctype getter(byte cell)
{
    byte k_, c_, i_;
    bool res_, area;
#if ORDER == 1
    cell == 1 || got == 2;
#elif ORDER == 2
    cell == 0 || put_returned;
#endif
    do
    :: area = waitputs != 0;
        if
        :: area -> atomic { area_lock == 0 -> area_lock = 1 }
        :: else
        fi;
        atomic { /* under both locks of the cell */
            !T[cell] ->
            if
#ifndef NO_CHECK_INSIDE
            :: !area && waitputs != 0 -> goto again
#endif
            :: else
            fi;
            do
            :: area && queued[cell] == 0 && i_ < n_puts && put_cell[put_at[i_] - 1] != cell -> i_++
            :: else -> break
            od;
            if
            :: queued[cell] > 0 -> queued[cell]--; got++; res_ = true
            :: queued[cell] == 0 && area && i_ < n_puts -> /* a put that waits for this very cell */
                put_done[put_at[i_] - 1] = true;
                put_unlist(i_);
                got++;
                res_ = true
            :: queued[cell] == 0 && !(area && i_ < n_puts) -> waiting[cell]++
            fi;
            i_ = 0
        };
        break;
again:  skip
    od;
    if
    :: area && res_ -> serve_all(cell, false); area_lock = 0
    :: area && !res_ -> area_lock = 0
    :: else
    fi
}

init
{
    atomic {
        run putter(0, 0); run putter(1, 1); run putter(2, 1);
        run getter(0); run getter(1); run getter(1)
    };
    _nr_pr == 1;
    assert(got == 3 && n_puts == 0 && waitputs == 0 && area_lock == 0);
    assert(queued[0] == 0 && queued[1] == 0 && waiting[0] == 0 && waiting[1] == 0);
    assert(credits[0] + credits[1] + pool == NRGNS)
}
