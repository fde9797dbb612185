/* SPDX-License-Identifier: MIT */
/* Puts that wait for room, behind one that is stopped: cells/serve.c, putwait.c, called.c, DECIDE of tx.c. One cell of one
 * area, with room for one region, which is there; takers make room, putters wait for it. The area's lock is a lock, and the
 * cell's two are one here. A fast take does not look for puts that wait; it looks, after its release, whether it was told.
 *
 * Whoever finds a lock held by STOPS may take that one for stopped, at any moment: then nobody waits for it. Who serves calls at
 * the cell, who gives up leaves his put and calls at the area. STOPS goes on some time.
 *
 * Checked: a put that was told to be done is done, once, and no other; each put that was left is ended; who waits without a
 * time is served (else: "invalid end state"); no lock stays held.
 *
 * Configurations: STOPS, TAKERS, GETS (of each), SLOW, ALL_TIMED (else the second putter is).
 *
 * That a release and the look after it do not pass each other is lock.pml's: here each step is seen by all at once.
 *
 * Rules that can be broken: NO_DECISION (who serves does not see that the put has been left), NO_AREA_CALL (who leaves tells
 * nobody), NO_LOOK_AFTER (who lets go of the area's lock does not look), CALL_LATE (who calls at the area has found the lock held
 * before, not after), NOT_TOLD (who holds the cell's lock is not told), NOT_FOUND_AGAIN (who calls at the cell does
 * not see whether the same one holds it still), NO_LOOKING_THROUGH (who answers at the cell does not look at the puts). */
#ifndef STOPS
#define STOPS 2
#endif
#ifndef SLOW
#define SLOW 1 /* the takers whose numbers are bits of this take the slow way */
#endif
#ifndef TAKERS
#define TAKERS 1
#endif
#ifndef GETS
#define GETS (2 / TAKERS)
#endif
#ifdef ALL_TIMED
#define TIMED(p) true
#else
#define TIMED(p) ((p) == 1)
#endif
#define PROCS (2 + TAKERS) /* 0, 1: putters; 2, 3: takers */
#define TAG(p) ((p) + 1)
#define STOPPED(l) ((l) == TAG(STOPS))

mtype = { FREE, PUTWAIT, PUTDONE, PUTLEFT };

byte A, C;                  /* locks */
bool a_called, c_called, told[PROCS];
byte queued = 1, taken;
mtype word[2] = FREE;
bool listed[2], hold[2];
byte order[2] = 9, n_puts;  /* the list; n_puts is waitputs */
byte told_done, finished;

#define LOCALS bool ok_, answered, held_; byte who_, i_, todo_; mtype decided_

/* Takes `lock` for p, or finds its holder stopped: ok_ */
inline lock_or_not(p, lock)
{
    if
    :: atomic { lock == 0 -> lock = TAG(p); ok_ = true }
    :: p != STOPS && STOPPED(lock) -> ok_ = false
    fi
}

/* call() of called.c: held_, whether somebody will look */
inline cell_call(p)
{
    c_called = true;
    do
    :: who_ = C;
#ifndef NOT_TOLD
        if
        :: who_ != 0 -> told[who_ - 1] = true
        :: else
        fi;
#endif
#ifndef NOT_FOUND_AGAIN
        if
        :: C == who_ -> break
        :: else
        fi
#else
        break
#endif
    od;
    held_ = who_ != 0;
    who_ = 0
}

inline answer()
{
    c_called = false;
#ifndef NO_LOOKING_THROUGH
    answered = answered || n_puts > 0
#endif
}

/* bcri_cell_enter_or_call */
inline enter_or_call(p)
{
    do
    :: lock_or_not(p, C);
        if
        :: ok_ ->
            if
            :: c_called -> answer()
            :: else
            fi;
            break
        :: else ->
            cell_call(p);
            if
            :: held_ -> break
            :: else
            fi
        fi
    od
}

/* bcri_cell_visit but for its end */
inline visit(p)
{
    do
    :: told[p] = false;
        if
        :: !c_called -> break
        :: else
        fi;
        enter_or_call(p);
        if
        :: ok_ -> C = 0
        :: else -> break
        fi
    od
}

inline unlist(k)
{
    d_step {
        if
        :: order[0] == k -> order[0] = order[1]
        :: else
        fi;
        order[1] = 9;
        listed[k] = false;
        n_puts--
    }
}

inline end_left(k)
{
    unlist(k);
    d_step { assert(hold[k]); hold[k] = false; word[k] = FREE }
}

/* serve_all of the area, whose lock p holds, and look_through before it, which has nothing else to do with one cell */
inline serve_all(p)
{
    do
    :: n_puts == 0 -> break
    :: n_puts > 1 && word[order[1]] == PUTLEFT -> i_ = order[1]; end_left(i_)
    :: n_puts > 0 && word[order[0]] == PUTLEFT -> i_ = order[0]; end_left(i_)
    :: else ->
        i_ = order[0];
        enter_or_call(p);
        if
        :: !ok_ -> break /* whoever has the cell next comes here */
        :: else
        fi;
        if
        :: queued == 0 ->
            /* committed; now the first store of the transaction decides */
            skip;
            d_step {
                decided_ = word[i_];
#ifdef NO_DECISION
                decided_ = PUTWAIT;
#endif
                if
                :: decided_ == PUTWAIT -> word[i_] = PUTDONE
                :: else
                fi
            };
            if
            :: decided_ == PUTWAIT ->
                unlist(i_);
                d_step { queued = 1; hold[i_] = false; decided_ = FREE }
            :: else
            fi;
            ok_ = false
        :: else
        fi;
        C = 0;
        visit(p);
        if
        :: queued != 0 -> break
        :: else
        fi
    od;
    i_ = 0;
    ok_ = false;
    decided_ = FREE;
    /* bcri_area_visit from within: the lock is its own */
    if
    :: answered -> a_called = true; answered = false
    :: else
    fi
}

/* From SERVE, with the area's lock: serves, lets go, looks. From LOOK: bcri_area_visit. */
#define SERVE 1
#define LOOK 2
inline serve_and_look(p, from)
{
    todo_ = from;
    do
    :: todo_ == SERVE ->
        serve_all(p);
        A = 0;
        todo_ = LOOK;
#ifdef NO_LOOK_AFTER
        answered = false;
        break
#endif
    :: todo_ == LOOK ->
        if
        :: !(a_called || answered) -> break
        :: else
        fi;
        answered = false;
#ifndef CALL_LATE
        a_called = true;
#endif
        lock_or_not(p, A);
        if
        :: ok_ -> a_called = false; todo_ = SERVE
        :: !ok_ -> a_called = true; break
        fi
    od;
    todo_ = 0;
    ok_ = false
}

proctype putter(byte p)
{
    LOCALS;
    bool timed = TIMED(p), done;
    byte from;
    do /* bcri_putwait_begin */
    :: lock_or_not(p, A);
        if
        :: ok_ -> break
        :: !ok_ && timed -> goto over
        :: !ok_ && !timed /* it waits on */
        fi
    od;
    skip;
    d_step {
        word[p] = PUTWAIT;
        hold[p] = true;
        order[n_puts] = p;
        listed[p] = true;
        n_puts++
    };
    serve_and_look(p, SERVE);
    if
    :: word[p] != PUTWAIT
    :: timed && word[p] == PUTWAIT
    fi;
    do /* bcri_putwait_end */
    :: lock_or_not(p, A);
        if
        :: ok_ || timed -> break
        :: !ok_ && word[p] == PUTDONE -> break
        :: else
        fi
    od;
    if
    :: ok_ && word[p] == PUTWAIT ->
        unlist(p);
        skip;
        d_step { word[p] = FREE; hold[p] = false; from = SERVE }
    :: ok_ && word[p] == PUTDONE -> word[p] = FREE; done = true; from = SERVE
    :: !ok_ -> /* leave() */
        skip;
        d_step {
            if
            :: word[p] == PUTWAIT -> word[p] = PUTLEFT; from = LOOK
            :: else -> done = true /* it has its answer; the slot is kept */
            fi
        };
#ifdef NO_AREA_CALL
        from = 0
#else
#ifndef CALL_LATE
        if
        :: from == LOOK -> a_called = true
        :: else
        fi
#else
        answered = true /* so that it looks */
#endif
#endif
    fi;
    if
    :: from != 0 -> serve_and_look(p, from)
    :: else
    fi;
over:
    if
    :: done -> told_done++
    :: else
    fi;
    finished++
}

proctype taker(byte p)
{
    LOCALS;
    bool area, slow;
    byte got, from;
    do
    :: got == GETS -> break
    :: got < GETS ->
        queued > 0;
        slow = (SLOW >> (p - 2)) & 1;
        if
        :: !slow -> /* get_fast */
            atomic { C == 0 -> C = TAG(p) };
            if
            :: c_called || n_puts > 0 -> slow = true
            :: else ->
                if
                :: queued > 0 -> d_step { queued--; taken++; got++ }
                :: else
                fi
            fi;
            C = 0;
            if
            :: told[p] && !slow -> visit(p); from = LOOK
            :: else
            fi
        :: else
        fi;
        if
        :: slow -> /* bcri_get_slow */
            area = n_puts > 0;
            from = LOOK;
            if
            :: area -> atomic { A == 0 -> A = TAG(p) }; from = SERVE
            :: else
            fi;
            do
            :: lock_or_not(p, C);
                if
                :: ok_ -> break
                :: else
                fi
            od;
            if
            :: c_called -> answer()
            :: else
            fi;
            if
            :: (area || n_puts == 0) && queued > 0 -> d_step { queued--; taken++; got++ }
            :: else
            fi;
            C = 0;
            visit(p)
        :: else
        fi;
        if
        :: from != 0 -> serve_and_look(p, from)
        :: else
        fi;
        from = 0;
        area = false
    od;
    finished++
}

init
{
    atomic { run putter(0); run putter(1); run taker(2);
#if TAKERS == 2
        run taker(3)
#endif
    };
    finished == PROCS;
    assert(A == 0 && C == 0 && n_puts == 0);
    assert(!hold[0] && !hold[1] && word[0] != PUTLEFT && word[1] != PUTLEFT);
    assert(queued + taken == 1 + told_done)
}
