/* SPDX-License-Identifier: MIT */
/* core/region.c: the count word of one region, its journal (cw_*), the count as part of a transaction (cells/tx.h), the way
 * home of a freed block (core/returns.c), one death at any step, and the repair of all that.
 *
 * The region is in a cell or not, and in up to two ID slots of each process. Under the cell's head lock H it is read (one
 * more holder), taken, or put with nofree; without a lock it is dropped. Its only holder is read and dropped without a count
 * journal (get_head.h, bcri_returns_free_alone). The block is a third process's, the home's: once it has come there it is
 * handed out anew; HOME_ENDS: or that process ends, before or meanwhile. Waiting for a holder of the word is lock.pml's.
 *
 * Checked: when all have ended or are repaired the count is the number of holders, and the block has gone home once if that
 * is 0, else not; nothing touches the count of a block that is the home's again; of a home that has ended the walk over its
 * heap sees the count 0, or `frees` has counted up.
 *
 * Rules that can be broken: SETTLED_TOO_SOON (the count's journal is closed before the slot says so), COUNT_BEFORE_REDO
 * (repair sees to the count word before the redo log), PLAIN_REDO (the log's count is stored whoever has the word),
 * SOLE_WHEN_SHARED (the plain store also for 2), READ_ALONE_WHEN_SHARED (a read without count journal also for 2),
 * READ_NOT_STORED (repair makes the ID LIVE and leaves the count as it finds it), SEND_SENT_AGAIN (repair stores count 0
 * also once the entry was sent), SEND_NOT_STORED (repair sends without storing count 0), COUNT_AFTER_SEND (the entry is
 * stored before the count is 0), LOOK_BEFORE_COUNT (the home's state is looked at before the count is 0).
 *
 * Code: core/include/bcri/region.h bcri_cw_state
 * Code: core/region.c change_alone, change_locked, bcri_region_hold, bcri_region_drop
 * Code: core/region.c bcri_count_repair
 * Code: cells/get_head.h read_alone
 * Code: cells/repair.c finish_read
 * Code: core/include/bcri/returns_fast.h bcri_returns_free_alone
 * Code: core/returns.c bcri_returns_free_orphan, send_orphan, finish_send, bcri_returns_repair
 * Code: core/returns.c bcri_returns_repair_alone, send_on
 * Code: cells/tx.c apply_one, bcri_tx_repair */
#define PROCS 2
#define VICTIM 0
#define TAG(p) ((p) + 1)
#ifdef HOME_ENDS
#define STEPS(p) (p == VICTIM -> 2 : 1) /* operations, one after the other */
#else
#define STEPS(p) (p == VICTIM -> 3 : 2)
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
#define OP_SEND 7
#ifdef READ_ALONE_WHEN_SHARED
#define MAY_READ_ALONE (owner == 0 && count <= 2)
#else
#define MAY_READ_ALONE (owner == 0 && count == 1)
#endif

byte count = 1, owner;        /* the two halves of one word */
bool in_cell = true;
byte H;
bool slot[PROCS * 2];
byte home;                    /* how often the block came home */
bool reused;                  /* the home has handed it out anew: a hold of its own */
bool ending, ended, seen;     /* the home: state DYING; its heap is walked: and the block's count was 0 */
byte orphans;                 /* `frees` of the segment */

/* journals */
byte op[PROCS], at[PROCS], cw_state[PROCS], cw_new[PROCS], redo[PROCS]; /* redo: 1 committed */
byte redo_count[PROCS];
bool held[PROCS], place[PROCS], came[PROCS]; /* place: ret_entry names one; came: what was stored there, for good */
bool killed, dead, over;
bool came_of_enl; /* the entry of a queue of its own */
byte finished;

#define HOLDERS (slot[0] + slot[1] + slot[2] + slot[3] + in_cell + reused)

inline lock_word(p) { d_step { owner == 0 -> owner = TAG(p); c_ = count } }

inline change(p, more)
{
    /* bcri_region_hold or bcri_region_drop */
    if
    :: more == -1 -> place[p] = false /* UNSENT */
    :: else
    fi;
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
        :: else -> cw_state[p] = LAST; send(p)
        fi
    :: !(owner == 0 && count == 1) ->
        cw_state[p] = TRY;
        lock_word(p);
        cw_new[p] = c_ + more;
        cw_state[p] = COMMIT;
        d_step { assert(owner == TAG(p)); count = cw_new[p]; owner = 0 };
        if
        :: cw_new[p] == 0 -> cw_state[p] = LAST; send(p)
        :: else
        fi
    fi
}

/* bcri_returns_send: the home's state, then the place into the journal, then the reference there */
inline send(p)
{
    if
    :: ending -> d_step { orphans++; place[p] = false }
    :: !ending ->
        place[p] = true;
        d_step { assert(count == 0); came[p] = true }
    fi
}

#define settled(p) cw_state[p] = IDLE

/* bcri_returns_free_alone of the only holder's ID k: the slot and ret_* are written before op. */
inline free_alone(p)
{
    d_step { place[p] = true; at[p] = k; op[p] = OP_SEND };
#ifdef LOOK_BEFORE_COUNT
    c_ = ending;
#endif
#ifdef COUNT_AFTER_SEND
    came[p] = true;
    count = 0;
#else
    count = 0;
    if
#ifdef LOOK_BEFORE_COUNT
    :: !c_ -> came[p] = true
    :: c_ ->
#else
    :: !ending -> came[p] = true
    :: ending ->
#endif
        place[p] = false;
        cw_new[p] = 0;
        cw_state[p] = LAST;
        op[p] = OP_DROP;
        send(p)
    fi;
#endif
    slot[k] = false;
    settled(p);
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
                :: in_cell && MAY_READ_ALONE -> /* read_alone of get_head.h */
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
                :: owner == 0 && count == 1 -> free_alone(p)
                :: true -> /* it is not alone, or the way is not at hand */
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

/* bcri_count_repair */
inline count_repair()
{
    if
    :: cw_state[VICTIM] == TRY ->
        d_step {
            if
            :: owner == TAG(VICTIM) -> owner = 0
            :: else
            fi
        };
        cw_state[VICTIM] = IDLE
    :: cw_state[VICTIM] == COMMIT ->
        d_step {
            if
            :: owner == TAG(VICTIM) -> count = cw_new[VICTIM]; owner = 0
            :: else
            fi
        };
        cw_state[VICTIM] = (cw_new[VICTIM] == 0 -> LAST : COMMIT)
    :: cw_state[VICTIM] == SOLE ->
        d_step { count = cw_new[VICTIM]; owner = 0 };
        cw_state[VICTIM] = (cw_new[VICTIM] == 0 -> LAST : COMMIT)
    :: else
    fi;
    if
    :: cw_state[VICTIM] == LAST -> finish_send(); sent = true /* ret_entry DONE */
    :: else
    fi
}

/* finish_send of core/returns.c: an entry that is stored again has the same value at the same place. */
inline finish_send()
{
    if
    :: ending -> orphans++
    :: !ending && place[VICTIM] -> came[VICTIM] = true
    :: !ending && !place[VICTIM] -> assert(count == 0); came_of_enl = true
    fi
}

/* bcri_returns_repair_alone */
inline repair_alone()
{
    if
    :: sent
    :: !sent ->
        if
#ifndef SEND_SENT_AGAIN
        :: place[VICTIM] && came[VICTIM]
#endif
        :: else ->
#ifndef SEND_NOT_STORED
            count = 0;
#endif
            finish_send()
        fi
    fi
}

inline reuse() { home++; assert(home == 1 && count == 0 && owner == 0); count = 1; reused = true }

inline drop_one()
{
    d_step {
        owner == 0 -> assert(count > 0);
        count--;
        if
        :: count == 0 && !ending -> came_of_enl = true
        :: count == 0 && ending -> orphans++
        :: else
        fi
    }
}

/* The owner of the block: takes it once per entry, and hands it out anew. It ends when it likes. */
proctype owner_of_block()
{
    bool read[3];
end:
    do
    :: !ending && came[0] && !read[0] -> d_step { read[0] = true; reuse() }
    :: !ending && came[1] && !read[1] -> d_step { read[1] = true; reuse() }
    :: !ending && came_of_enl && !read[2] -> d_step { read[2] = true; reuse() }
#ifdef HOME_ENDS
    :: !ending -> ending = true
    :: ending && !ended -> d_step { seen = count == 0; ended = true }
#endif
    od
}

proctype enl()
{
    bool counted, sent;
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
            :: op[VICTIM] == OP_SEND && slot[at[VICTIM]] -> repair_alone(); slot[at[VICTIM]] = false
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
    reused || count != 0;
#endif
    assert(owner == 0 && H == 0);
    assert(count == HOLDERS)
}
