/* SPDX-License-Identifier: MIT */
/* core/memory/region.c: the count word of one region, its journal (cw_*), the count as part of a transaction (core/include/bcri/tx.h), the freed
 * block (core/memory/heap_freed.c), one death at any step, and the repair of all that.
 *
 * The region is in a cell or not, and in up to two ID slots of each process. Under the cell's head lock H it is read (one
 * more holder), taken, or put with nofree; without a lock it is dropped. Its only holder is read and dropped without a count
 * journal (get_fast.h, bcri_drop_last). The block is a third process's, the owner's, which goes by the mark of its page: it
 * clears that, looks at the count, and gives the block a new incarnation before it hands it out anew; or its page serves as
 * data, which looks like the header that was there (AS_DATA); or that process ends, before or meanwhile (HOME_ENDS). Marks
 * are also set for other blocks of the page. Waiting for a holder of the word is lock.pml's.
 *
 * Checked: when all have ended or are repaired the count is the number of holders, and the block is its owner's again,
 * once, if that is 0, else not; nothing touches what is its owner's again; of an owner that has ended the walk over its heap
 * sees the count 0, or `frees` has counted up.
 *
 * Rules that can be broken: SETTLED_TOO_SOON (the count's journal is closed before the slot says so), COUNT_BEFORE_REDO
 * (repair sees to the count word before the redo log), PLAIN_REDO (the log's count is stored whichever CCE has the word),
 * SOLE_WHEN_SHARED (the plain store also for 2), READ_ALONE_WHEN_SHARED (a read without count journal also for 2),
 * READ_NOT_STORED (repair makes the ID LIVE and leaves the count as it finds it), MARK_BEFORE_COUNT (the page is marked
 * before the count is 0), MARK_CLEARED_LATE (the owner looks at the count, then clears the mark), NOT_MARKED_AGAIN (repair
 * does not mark), NOT_FREED (repair leaves a count of 1 that the dead one was to make 0), NO_INCARNATION (repair goes by the
 * count alone), ZERO_AGAIN (repair stores 0 whatever the count says, if the incarnation is the same), NO_SPAN, NO_SECOND_LOOK
 * (repair does not look at the table of spans, or not once more behind), LOOK_BEFORE_COUNT (whether the owner has ended is
 * looked at before the count is 0).
 *
 * Code: core/include/bcri/region.h, core/memory/region.c, core/memory/heap_freed.c
 * Code: core/include/bcri/heap.h, core/memory/heap_walk.c, core/memory/heap_span.c
 * Code: cells/get_steps.h, cells/include/bcri/drop.h, cells/recovery/operation_repair.c
 * Code: core/sync/tx.c */
#define PROCS 2
#define VICTIM 0
#define TAG(p) ((p) + 1)
#if defined(HOME_ENDS) || defined(AS_DATA) || defined(REDUCED)
#define STEPS(p) (p == VICTIM -> 2 : 1) /* operations, one after the other */
#else
#define STEPS(p) 2
#endif

#define IDLE 0
#define TRY 1
#define COMMIT 2
#define SOLE 3
#define LAST 4

#define OP_NONE 0
#define OP_READ 1 /* one more holder, then the slot */
#define OP_DROP 2
#define OP_PUT 3  /* nofree: the cell's hold, then the cell */
#define OP_TAKE 4
#define OP_TX 5
#define OP_READ_ALONE 6
#define OP_FREE_LAST 7
#ifdef READ_ALONE_WHEN_SHARED
#define MAY_READ_ALONE (owner == 0 && count <= 2)
#else
#define MAY_READ_ALONE (owner == 0 && count == 1)
#endif

byte count = 1, owner;        /* the two halves of one word */
bool in_cell = true;
byte H;
bool slot[PROCS * 2];
byte home;                    /* how often its owner took the block back */
bool reused;                  /* the owner has handed it out anew: a hold of its own */
bool as_data;                 /* or its page serves as data */
byte incarnation, span;
bool mark;
bool noise = true;            /* others mark the page, once */
bool ending, ended, seen;     /* the owner: said to have ended; its heap is walked: and the block's count was 0 */
byte orphans;                 /* `frees` of the segment */

/* journals */
byte op[PROCS], at[PROCS], cw_state[PROCS], cw_new[PROCS], redo[PROCS]; /* redo: 1 committed */
byte redo_count[PROCS];
byte noted[PROCS]; /* cw_incarnation, or, of FREE_LAST, the phase */
bool held[PROCS];
bool killed, dead, over;
byte finished;

#define HOLDERS (slot[0] + slot[1] + slot[2] + slot[3] + in_cell + reused)

inline lock_word(p) { d_step { owner == 0 -> owner = TAG(p); c_ = count } }

inline change(p, more)
{
    /* bcri_region_hold or bcri_region_drop */
    noted[p] = incarnation;
    if
#ifdef SOLE_WHEN_SHARED
    :: d_step { owner == 0 && count <= 2 && (count == 1 || more == 1) -> cw_new[p] = count + more };
#else
    :: d_step { owner == 0 && count == 1 -> cw_new[p] = 1 + more };
#endif
        cw_state[p] = SOLE;
        d_step { count = cw_new[p]; owner = 0 };
        if
        :: more == 1 -> cw_state[p] = COMMIT
        :: else -> cw_state[p] = LAST; freed(p)
        fi
    :: !(owner == 0 && count == 1) ->
        cw_state[p] = TRY;
        lock_word(p);
        cw_new[p] = c_ + more;
        cw_state[p] = COMMIT;
        d_step { assert(owner == TAG(p)); count = cw_new[p]; owner = 0 };
        if
        :: cw_new[p] == 0 -> cw_state[p] = LAST; freed(p)
        :: else
        fi
    fi
}

/* bcri_heap_freed: whether its owner has ended, then the mark, or `frees` */
inline freed(p)
{
    if
    :: ending -> orphans++
    :: !ending -> mark = true
    fi
}

#define settled(p) cw_state[p] = IDLE

/* bcri_drop_last of the only holder's ID k: the slot is written before op, the incarnation with it. */
inline drop_last(p)
{
    d_step { noted[p] = incarnation; at[p] = k; op[p] = OP_FREE_LAST };
#ifdef LOOK_BEFORE_COUNT
    c_ = ending;
    count = 0;
    if
    :: c_ -> orphans++
    :: !c_ -> mark = true
    fi;
#else
#ifdef MARK_BEFORE_COUNT
    freed(p);
    count = 0;
#else
    count = 0;
    freed(p);
#endif
#endif
    slot[k] = false;
    op[p] = OP_NONE
}

inline lock(p) { atomic { H == 0 -> H = TAG(p) } }

proctype cce(byte p)
{
    byte n, c_, k;
    {
        do
        :: n < STEPS(p) ->
            n++;
            k = p * 2 + (slot[p * 2] -> 1 : 0);
            if
            :: !slot[k] -> /* a read that finds it */
                d_step { at[p] = k; op[p] = OP_READ };
                lock(p);
                if
                :: in_cell && MAY_READ_ALONE -> /* read_alone of get_steps.h */
                    op[p] = OP_READ_ALONE; /* the flag SOLE, with phase 1 */
                    count = 2;
                    slot[k] = true
                :: in_cell && !MAY_READ_ALONE -> /* bcri_read_entry; it may have become the only holder by now */
                    change(p, 1);
#ifdef SETTLED_TOO_SOON
                    settled(p);
#endif
                    slot[k] = true;
                    settled(p)
                :: else
                fi;
                H = 0;
                op[p] = OP_NONE
            :: !slot[k] -> /* the same by a transaction: a waiting read is served */
                d_step { at[p] = k; op[p] = OP_TX };
                lock(p);
                if
                :: in_cell ->
                    cw_state[p] = TRY;
                    lock_word(p);
                    redo_count[p] = c_ + 1;
                    redo[p] = 1;
                    d_step {
                        if
                        :: owner == TAG(p) -> count = redo_count[p]; owner = 0
                        :: else
                        fi
                    };
                    slot[k] = true;
                    redo[p] = 0;
                    settled(p)
                :: else
                fi;
                H = 0;
                op[p] = OP_NONE
            :: !slot[k] -> /* a take: the cell's hold becomes ours, in one step (death.pml has more) */
                op[p] = OP_TAKE;
                lock(p);
                d_step {
                    if
                    :: in_cell -> in_cell = false; slot[k] = true
                    :: else
                    fi
                };
                H = 0;
                op[p] = OP_NONE
            :: slot[p * 2] || slot[p * 2 + 1] -> /* rgfree */
                k = (slot[p * 2] -> p * 2 : p * 2 + 1);
                if
                :: owner == 0 && count == 1 -> drop_last(p)
                :: true -> /* it is not alone */
                    d_step { at[p] = k; op[p] = OP_DROP };
                    change(p, -1);
#ifdef SETTLED_TOO_SOON
                    settled(p);
#endif
                    slot[k] = false;
                    settled(p);
                    op[p] = OP_NONE
                fi
            :: slot[p * 2] || slot[p * 2 + 1] -> /* put, nofree */
                d_step { held[p] = false; op[p] = OP_PUT };
                lock(p);
                if
                :: !in_cell ->
                    change(p, 1);
                    held[p] = true;
                    settled(p);
                    d_step { in_cell = true; held[p] = false; op[p] = OP_TAKE } /* the entry store: done */
                :: else
                fi;
                H = 0;
                op[p] = OP_NONE
            fi
        :: else -> break
        od
    } unless { p == VICTIM && killed -> dead = true };
    if
    :: p == VICTIM && !dead -> over = true
    :: p == VICTIM && dead
    :: p != VICTIM
    fi;
    finished++
}

inline redo_repair()
{
    if
    :: redo[VICTIM] == 1 ->
        d_step {
            if
#ifdef PLAIN_REDO
            :: true -> count = redo_count[VICTIM]; owner = 0
#else
            :: owner == TAG(VICTIM) -> count = redo_count[VICTIM]; owner = 0
#endif
            :: else
            fi
        };
        slot[at[VICTIM]] = true;
        redo[VICTIM] = 0
    :: else
    fi
}

/* bcri_heap_count_word: w_ and o_, 0: it is no block of this incarnation any more */
inline count_word()
{
    x_ = span;
    d_step { w_ = count; o_ = owner };
#ifndef NO_INCARNATION
    if
    :: incarnation != noted[VICTIM] -> w_ = 0; o_ = 0
    :: else
    fi;
#endif
    if
#ifdef NO_SPAN
    :: false
#elif defined(NO_SECOND_LOOK)
    :: x_ != 0 -> w_ = 0; o_ = 0
#else
    :: x_ != 0 || span != x_ -> w_ = 0; o_ = 0
#endif
    :: else
    fi
}

/* bcri_count_repair. What carries our tag, or is 1 and of this incarnation, stays until the store. */
inline count_repair()
{
    count_word();
    if
    :: cw_state[VICTIM] == TRY ->
        if
        :: o_ == TAG(VICTIM) -> d_step { assert(owner == TAG(VICTIM)); owner = 0 }
        :: else
        fi;
        cw_state[VICTIM] = IDLE
    :: cw_state[VICTIM] == COMMIT ->
        if
        :: o_ == TAG(VICTIM) -> d_step { assert(owner == TAG(VICTIM)); count = cw_new[VICTIM]; owner = 0 }
        :: else
        fi;
        cw_state[VICTIM] = (cw_new[VICTIM] == 0 -> LAST : COMMIT)
    :: cw_state[VICTIM] == SOLE ->
        if
        :: w_ == 1 && o_ == 0 -> d_step { count = cw_new[VICTIM]; owner = 0 }
        :: else
        fi;
        cw_state[VICTIM] = (cw_new[VICTIM] == 0 -> LAST : COMMIT)
    :: else
    fi;
    if
    :: cw_state[VICTIM] == LAST -> repair_freed()
    :: else
    fi
}

inline repair_freed()
{
#ifdef NOT_MARKED_AGAIN
    skip
#else
    freed(VICTIM)
#endif
}

/* finish_free_last of cells/recovery/operation_repair.c */
inline repair_last()
{
    count_word();
    if
#ifdef ZERO_AGAIN
    :: x_ == 0 && incarnation == noted[VICTIM] -> count = 0
#endif
#ifndef NOT_FREED
    :: w_ == 1 && o_ == 0 -> count = 0
#endif
    :: else
    fi;
    repair_freed()
}

inline drop_one()
{
    d_step {
        owner == 0 -> assert(count > 0);
        count--;
        if
        :: count == 0 && !ending -> mark = true
        :: count == 0 && ending -> orphans++
        :: else
        fi
    }
}

/* take_free of core/memory/heap_freed.c, at a page whose mark was set: it knows that the block is out. */
inline look()
{
    if
    :: home == 0 && count == 0 && owner == 0 ->
#ifdef AS_DATA
        /* retire, in core/memory/heap_span.c; then the program writes what it likes */
        span = 1;
        d_step { count = 1; as_data = true; home = 1 }
#else
        incarnation = 1;
        d_step { assert(count == 0 && owner == 0); count = 1; reused = true; home = 1 }
#endif
    :: else
    fi
}

/* The owner of the block ends when it likes. */
proctype owner_of_block()
{
end:
    do
    :: !ending && noise -> d_step { noise = false; mark = true }
    :: !ending && mark ->
#ifdef MARK_CLEARED_LATE
        look();
        mark = false
#else
        mark = false; /* an exchange */
        look()
#endif
#ifdef HOME_ENDS
    :: !ending -> ending = true
    :: ending && !ended -> d_step { seen = count == 0; ended = true }
#endif
    od
}

proctype enl()
{
    bool counted;
    byte w_, o_, x_;
    if
    :: dead ->
        if
        :: op[VICTIM] != OP_NONE ->
#ifdef COUNT_BEFORE_REDO
            count_repair();
            redo_repair();
#else
            redo_repair();
            count_repair();
#endif
            counted = cw_state[VICTIM] == COMMIT || cw_state[VICTIM] == LAST;
            if
            :: op[VICTIM] == OP_READ && counted -> slot[at[VICTIM]] = true
            :: op[VICTIM] == OP_READ_ALONE && !slot[at[VICTIM]] && H == TAG(VICTIM) ->
#ifndef READ_NOT_STORED
                count = 2;
#endif
                slot[at[VICTIM]] = true
            :: op[VICTIM] == OP_FREE_LAST && slot[at[VICTIM]] -> repair_last(); slot[at[VICTIM]] = false
            :: op[VICTIM] == OP_DROP && counted -> slot[at[VICTIM]] = false
            :: op[VICTIM] == OP_PUT && (held[VICTIM] || counted) -> drop_one()
            :: else
            fi;
            d_step {
                if
                :: H == TAG(VICTIM) -> H = 0
                :: else
                fi;
                cw_state[VICTIM] = IDLE;
                op[VICTIM] = OP_NONE
            }
        :: else
        fi;
        if
        :: slot[0] -> drop_one(); slot[0] = false
        :: else
        fi;
        if
        :: slot[1] -> drop_one(); slot[1] = false
        :: else
        fi;
        over = true
    :: over
    fi
}

init
{
    atomic { run cce(0); run cce(1); run owner_of_block(); run enl() };
    if
    :: killed = true
    :: skip
    fi;
    over && finished == 2; /* all have ended */
#ifdef HOME_ENDS
    ended;
    assert(seen || count != 0 || orphans > 0);
#else
    home == 1 || count != 0;
    !mark;
#endif
    assert(owner == 0 && H == 0);
#ifdef AS_DATA
    if
    :: as_data -> assert(count == 1 && slot[0] + slot[1] + slot[2] + slot[3] + in_cell == 0)
    :: else -> assert(count == HOLDERS)
    fi
#else
    assert(count == HOLDERS)
#endif
}
