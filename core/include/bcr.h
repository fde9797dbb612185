/* SPDX-License-Identifier: MIT */
/*
 * bcr.h -- Cooperative Data Sharing for C: the whole public interface, and its manual.
 *
 * A program is a team of CCEs (processes).  Each CCE owns numbered cells; a cell is a queue of regions; a
 * region is a block of data that is shared and counted, and copied only when somebody must write to it.
 * put, get and zap move regions through cells, the caller's own or another CCE's.
 *
 * Each routine has one block below, from which its manual page is made.  Its labels, always in this order:
 *     Shape    what the arguments mean and which values are legal
 *     Owns     who holds the region before and after
 *     Returns  the value on success, the value on failure, and every error
 *     Blocks   what the call waits for
 *     Order    what is promised about it and other calls
 *     Crash    what is left if this process, or the other one, dies at any instruction of it
 *     Source   where the rule comes from
 * A routine borrows a region (until it returns), takes it (on success; the ID is dead afterwards), gives it
 * (the caller must free it or hand it on), or shares it (both hold it; nobody writes without bcr_rgmod).
 *
 * True of every routine and not repeated below, unless a block says otherwise:
 *   - A routine that fails returns its failure value, sets bcr_errno and changes nothing.  A routine that
 *     succeeds leaves bcr_errno alone.
 *   - bcrE_NOINIT before bcr_init; bcrE_FORK in the child of a fork; bcrE_INTERNAL if the cell was closed
 *     since its memory is corrupt, by a wild write of some CCE's.
 *   - A CCE that itself meets corrupt shared memory says on stderr what and where, and ends by SIGABRT.
 *   - Wrong arguments fail with a code; they never crash, hang or corrupt.  A region ID that was freed is
 *     refused until the library gives the same ID out again.
 *   - msec counts milliseconds from the call and never ends early.  A negative value waits for ever.
 *   - A CCE that is stopped (SIGSTOP, a debugger) in the midst of a call on a cell keeps what it has locked;
 *     enl says so on stderr when others have waited for a second.  A get or lock that cannot have the first
 *     lock that it needs in its time then fails with bcrE_TIMEOUT, a put that has a time (bcr_putwait) with
 *     bcrE_FULL; nothing has changed.  A call that has come beyond that, as a get that waits already and a
 *     put that waits for room have, may overrun msec until the stopped one is continued; nothing is lost.
 *     bcr_PENDING, bcr_zap and the routines about areas, marks and descriptors of cells have no time and
 *     wait.
 *   - Any thread of the process may call, but never two at once.  Never call from a signal handler.  Signals
 *     that arrive during a call do not end it.
 *   - Routines that put, get, zap, wait, count (bcr_celllen) or enlist, and those made of them, may run handlers
 *     (bcr_handler) before they do anything and while they wait, and fail with bcrE_LONGJMP if one was left
 *     by longjmp.
 *   - All descriptors of the library are close-on-exec.
 *
 * Source: BCR guide, "BCR Application Interface".
 */
#ifndef BCR_H
#define BCR_H

#include <bcr/desc.h>
#include <bcr/error.h>
#include <bcr/types.h>

#define BCR_VERSION_MAJOR 0
#define BCR_VERSION_MINOR 1
#define BCR_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* msec: wait for ever; return at once with a region ID that bcr_rgwait completes (gets and locks only). */
#define bcr_BLOCK   (-1)
#define bcr_PENDING (-2)

/* nofree: the routine takes the region, or shares it. */
#define bcr_FREE   0
#define bcr_NOFREE 1

/* Flags of bcr_init. */
#define bcr_inorder  0x01 /* regions that one CCE puts into one cell arrive in that order */
#define bcr_user_ca  0x02 /* *rgid is the address of the region's data in this process */
#define bcr_errors   0x04 /* failures that a call could not return come to cell 0 as error regions */
#define bcr_reliable 0x08 /* what was put arrives, once */
#define bcr_timeout  0x10 /* gets accept positive values of msec */
#define bcr_handlers 0x20 /* routines that run when a cell fills or falls short: bcr_handler */
#define bcr_gc       0x40 /* bcr_rgalloc collects what others freed before it says that there is no room */
#define bcr_implemented \
    (bcr_inorder | bcr_user_ca | bcr_errors | bcr_reliable | bcr_timeout | bcr_handlers | bcr_gc)

/* The operation that an error region tells of: the second item of bcrT_1ERROR. */
#define bcr_op_enlist 1
#define bcr_op_put    2
#define bcr_op_putm   3

/*
 * The calling thread's CCE, set by bcr_init; 0 before that.
 *   bcr_cce       this CCE's own ID.  IDs start at 1, are small, and are never used again in a process.
 *   bcr_enlistor  the ID of the CCE that enlisted this one; -1 in the root, which nobody enlisted.
 *   bcr_cceord    this CCE's ordinal, counted from the cceord1 of its bcr_enlist; 0 in the root.
 *   bcr_archtype  how this CCE represents data; compare with what bcr_rglen and bcr_arch say.
 *   bcr_errno     the code of the last routine that failed in this thread; bcrE_OK before any has.
 * All are int lvalues, each thread's own in the case of bcr_errno.  Assigning to the others only misleads the
 * program itself.
 */
#define bcr_cce      (*bcr_cce_location())
#define bcr_enlistor (*bcr_enlistor_location())
#define bcr_cceord   (*bcr_cceord_location())
#define bcr_archtype (*bcr_archtype_location())
#define bcr_errno    (*bcr_errno_location())

BCR_API bcr_cce_id *bcr_cce_location(void);
BCR_API bcr_cce_id *bcr_enlistor_location(void);
BCR_API int *bcr_cceord_location(void);
BCR_API int *bcr_archtype_location(void);
BCR_API int *bcr_errno_location(void);

/* ------------------------------------------------------------------------------- CCEs and comm area --- */

/* bcr_init -- make this process a CCE of a program.
 * Shape   : flags is the features that the program counts on, ored together: bcr_inorder, bcr_user_ca,
 *           bcr_errors, bcr_reliable, bcr_timeout, bcr_handlers, bcr_gc; not negative.  Features work
 *           whether asked for or not, except bcr_errors, which turns error regions on.
 *
 *           ccename is best the program's file name: bcr_enlist finds a process that waits under enl
 *           --join by it.  NULL or "": the last component of the file name that the process runs.
 *
 *           Call it before any other routine that needs a CCE, once in a process.  It sets bcr_cce,
 *           bcr_enlistor, bcr_cceord and bcr_archtype.  The region given to bcr_enlist, if any, is in
 *           cell 0 when it returns.
 *
 *           A process started by enl or bcr_enlist joins that program; one started by enl --join waits to
 *           be taken by the program named there.  Any other, also one that a CCE starts by itself,
 *           becomes the root of a program of its own: the process forks, the original turns into enl
 *           (found by enlistpath of bcrrc(5), else under the library's own install prefix, else on PATH)
 *           and the child, with a new process ID, goes on as the root.
 *
 *           Descriptors that the program has not opened belong to the library and must stay open: a CCE
 *           that closes them (a loop over all numbers, closefrom) or executes another program has given
 *           up its connection to enl.  It is killed within a second, which is an abnormal end.
 * Returns : The flags asked for that are not available, so 0 if all are: bits not listed above.  -1 with
 *           bcr_errno set on failure.  Does not return where no enl can be started, or what was found is
 *           none: a message says where it was looked for, and the process exits with status 127.  (A
 *           script that enlistpath names may end with a status of its own.)
 *           bcrE_ARG     flags is negative.
 *           bcrE_BUSY    this process is a CCE already, or another process has joined with the same
 *                        inherited socket.
 *           bcrE_ENLIST  the program ended before it took this process; or the process, started from a
 *                        shell, has more than one thread and so cannot fork: start it as "enl program";
 *                        or enl is of another user (not root), as may happen to a set-user-ID program:
 *                        start that directly.
 *           bcrE_NOMEM   no memory or descriptors for the CCE's part of the shared memory.
 * Blocks  : until the process is enlisted.
 * Crash   : from its return on, the end of this process is noticed whatever its cause.  Exit status 0:
 *           its cells vanish, regions held by others live on.  Any other end is abnormal and ends the
 *           whole program, unless it runs with "onfail isolate".  If enl dies, its CCEs are killed.
 * Source  : BCR guide, CCE Control & Comm Area Mgmt; the negative result and the fork are this project's.
 */
BCR_API int bcr_init(int flags, const char *ccename);

/* bcr_enlist -- start new CCEs, or take in processes that wait to join.
 * Shape   : mach is the machine; NULL, "", "localhost", this one's name, and its IP addresses are this one.
 *
 *           prcssr >= 0 starts one CCE pinned to that core; prcssr < 0 starts |prcssr| CCEs, each pinned
 *           to the next of the cores that the program may use, in turn.  A CCE with threads of its own
 *           gives itself more cores by sched_setaffinity(2).  Their ordinals (bcr_cceord) are cceord1,
 *           cceord1 + 1 and so on; cceord1 is not negative.
 *
 *           obj is the program, looked up from the root's working directory, then on PATH.  A process
 *           that waits under enl --join for this program goes first if its ccename equals obj or the last
 *           component of obj; it keeps its own directory, environment and standard files, and with
 *           prcssr < 0 its cores.
 *
 *           A started CCE has obj as argv[0], no other arguments, and the environment, umask and soft
 *           limits of the program's start (without the variables that BCR passes on): what a CCE sets by
 *           setenv is its own.  It has the root's working directory, or the home directory where that
 *           does not exist.  Its stdin is /dev/null; its stdout and stderr go
 *           to the log, to the root if enl was given --output, and in part to the root's stderr if it
 *           ends abnormally.
 *
 *           rgid is NULL, or a region of at most 64 bytes that will be in cell 0 of each new CCE.
 *
 *           The caller does not learn the new CCEs' IDs: they have its ID in bcr_enlistor and tell it
 *           theirs.
 * Owns    : nofree 0: takes rgid.  bcr_NOFREE: shares it; call bcr_rgmod before writing to it again.  On
 *           failure the caller keeps its hold either way.
 * Returns : 0; -1 with bcr_errno set if no CCE at all could be started.  What goes wrong later, or with
 *           some of several, is a line in the log and on the root's stderr that names host, program and
 *           reason, and, under bcr_errors, an error region in cell 0: operation bcr_op_enlist, the
 *           ordinal in place of the cell.
 *           bcrE_ARG      obj is NULL or empty, cceord1 is negative or the ordinals overflow, or rgid is
 *                         longer than 64 bytes.
 *           bcrE_RGID     rgid is not NULL and not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 *           bcrE_ENLIST   unknown machine or core, no such program, not executable, of another
 *                         architecture, more than 65,000 CCEs, no memory, or this program has closed the
 *                         library's connection to enl; the reason is in the log and on the root's stderr.
 * Blocks  : until enl has answered; not until the new CCEs call bcr_init. May run handlers.
 * Order   : which of several CCEs comes up first is open.
 * Crash   : a caller that dies inside has started all of them or none.
 * Source  : BCR guide, CCE Control & Comm Area Mgmt.
 */
BCR_API int bcr_enlist(const char *mach, int prcssr, int cceord1, const char *obj, bcr_region rgid,
                       int nofree);

/* bcr_cagrow -- add an area: comm cells, room for regions in them, and memory for the comm heap.
 * Shape   : No argument is negative.  The new cells are numbered upwards from the value returned, first
 *           nprivqs private ones, then ninqs in cells, noutqs out cells and nioqs in/out cells.  All are
 *           the caller's to use in any way; other CCEs may not touch private cells, may add to in cells
 *           (put) but not take from them, may take from out cells (get, zap) but not add to them, and may
 *           do both with in/out cells.
 *
 *           qbase is the number wished for the first cell; if that range is not free, the lowest free one
 *           is taken.  Cell 0 belongs to every CCE from birth, so the search starts at 1.  An area
 *           without cells takes up one number.
 *
 *           nrgns bounds the regions that these cells hold together, not the gets and puts that wait there.
 *           Regions that a get is waiting for never enter a cell; so with nrgns 0 a put succeeds by
 *           meeting a waiting get only.
 *
 *           nbytes is an account of what this CCE allocates: each region counts from its allocation (or
 *           copy by bcr_rgmod) until nobody holds it, with max(length, 1) bytes rounded up to 64.  With
 *           mixed sizes the heap may be too fragmented earlier; twice the bytes needed at one time is a
 *           safe size.
 *
 *           All memory is reserved now: no write to it can fail later.
 * Returns : the number of the first cell, at least 1; -1 with bcr_errno set.
 *           bcrE_ARG    an argument is negative, or the cells' numbers would pass INT_MAX.
 *           bcrE_NOMEM  the host, or the control group that the program runs in, does not have that much
 *                       memory to give, or the process's file size limit (ulimit -f) is lower.
 * Blocks  : while enl makes the memory; never for another CCE.
 * Order   : grow before you tell anybody your ID: others can use the cells once they know it.
 * Crash   : the area is there wholly or not at all.
 * Source  : BCR guide, CCE Control & Comm Area Mgmt, Starting Up The Program (called magrow there);
 *           kinds, bounds and account are this project's.
 */
BCR_API int bcr_cagrow(int qbase, int nprivqs, int ninqs, int noutqs, int nioqs, int nrgns, int nbytes);

/* bcr_cafree -- give back the area whose first cell is qbase.
 * Shape   : qbase is what bcr_cagrow returned, also for an area without cells.  The numbers become free
 *           for later areas; the memory goes back to the system at once; descriptors of bcr_fd for its
 *           cells are closed.  Gets and puts that wait at its cells end with bcrE_NOCELL.
 * Returns : 0; -1 with bcr_errno set.
 *           bcrE_NOCELL  no area begins at qbase.
 *           bcrE_BUSY    a region in that memory is held, or lies in a cell, anywhere; or a cell of the
 *                        area is not empty.
 *           bcrE_INTERNAL  a cell of the area was closed since its memory is corrupt; the area stays.
 * Blocks  : no.
 * Crash   : the area is there wholly or not at all.
 * Source  : BCR guide, CCE Control & Comm Area Mgmt.
 */
BCR_API int bcr_cafree(int qbase);

/* bcr_arch -- tell how a CCE represents data.
 * Shape   : cceid is any CCE ID, bcr_cce included.  The result can be compared with bcr_archtype and
 *           given to bcr_rgalloc.  It stays known when that CCE has ended.
 * Returns : the archtype, positive; -1 with bcr_errno set.
 *           bcrE_NOCCE  no CCE is known here by that ID.
 * Blocks  : no.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : BCR guide, CCE Control & Comm Area Mgmt (called archtype in its table).
 */
BCR_API int bcr_arch(bcr_cce_id cceid);

/* ------------------------------------------------------------------------------------------ regions --- */

/* bcr_rgalloc -- allocate a region in the comm heap.
 * Shape   : len is the length in bytes, 0 or more.  archtype says how the data will be represented; 0
 *           means as this CCE does (bcr_archtype).  The ID points at the data's address in this process:
 *           **(T **)rgid is the first T.  That address is never NULL, aligned to 16 bytes, from 64 bytes
 *           of length on to 64.  The content is not initialised.  Where room is short, what other CCEs
 *           freed is collected and empty pages are put together first.
 * Owns    : gives a region that nobody else holds.
 * Returns : the region ID; NULL with bcr_errno set.
 *           bcrE_ARG    len is negative.
 *           bcrE_ARCH   archtype is neither 0 nor well-formed.
 *           bcrE_NOMEM  this would go beyond the nbytes of this CCE's areas, or no piece of that length
 *                       is left.
 * Blocks  : no.
 * Crash   : a region whose ID the caller never saw is freed with all that it held.
 * Source  : BCR guide, Region Operations; alignment and length 0 are this project's.
 */
BCR_API BCR_MUST_USE bcr_region bcr_rgalloc(int len, int archtype);

/* bcr_rgmod -- make a region safe to write to.
 * Shape   : call it before writing to a region that came from a get, or that was put somewhere since it
 *           was allocated or last modified.  If others hold the region too, the caller gets a private
 *           copy and *rgid changes; otherwise nothing happens.  Only this routine and those that imply it
 *           (bcr_copyto, bcr_acqwl) change *rgid.  Writing to a shared region without it is an error of
 *           the program that every holder will see.
 * Owns    : the caller holds the region, or its copy, as before.
 * Returns : 0; -1 with bcr_errno set, the region then being as readable as before.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 *           bcrE_NOMEM    no room for the copy; see bcr_rgalloc.
 * Blocks  : no.
 * Crash   : no reader ever sees the copy, so none sees half of one; it is freed with the CCE.
 * Source  : BCR guide, Region Operations.
 */
BCR_API int bcr_rgmod(bcr_region rgid);

/* bcr_rgfree -- let go of a region.
 * Shape   : rgid is any region ID held here.  A pending one is accepted: if the cell had not served the
 *           get, it is withdrawn and takes nothing; if it had, the region is freed like any other.
 * Owns    : takes the region; the memory becomes free when no CCE and no cell holds it.
 * Returns : 0; -1 with bcr_errno set.
 *           bcrE_RGID  rgid is not the ID of a region held here; freed twice, perhaps.
 * Blocks  : no.
 * Crash   : the hold is let go of once, here or by enl.
 * Source  : BCR guide, Region Operations.
 */
BCR_API int bcr_rgfree(bcr_region rgid);

/* bcr_rgrealloc -- change the length of a region where it lies.
 * Shape   : newlen is 0 or more.  The data up to the smaller length stays as it is, and so does *rgid;
 *           nothing is ever copied.
 * Owns    : borrows rgid.
 * Returns : 0; -1 with bcr_errno set, the length then being the old one.
 *           bcrE_ARG      newlen is negative.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 *           bcrE_BUSY     others hold the region too; call bcr_rgmod first.
 *           bcrE_NOMEM    no room for more where it lies, or beyond the nbytes of its area.
 * Blocks  : no.
 * Crash   : the region has the old length or the new one.
 * Source  : BCR guide, Region Operations.
 */
BCR_API int bcr_rgrealloc(bcr_region rgid, int newlen);

/* bcr_rglen -- tell the length and the representation of a region.
 * Shape   : archtype is NULL, or where to store the region's archtype; it is written on success only.
 * Owns    : borrows rgid.
 * Returns : the length in bytes, 0 or more; -1 with bcr_errno set.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 * Blocks  : no.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : BCR guide, Region Operations.
 */
BCR_API int bcr_rglen(bcr_region rgid, int *archtype);

/* bcr_rgwait -- wait until a pending get has its region.
 * Shape   : rgid came from a get (or lock) with bcr_PENDING; an ordinary region is ready at once.  msec 0
 *           only looks.  failfree nonzero: when the time is up the get is withdrawn and the ID freed.  The
 *           cell decides which came first, the region or the end of the time, so this may take a little
 *           longer than msec and return 1 after all.
 * Owns    : 1: gives the region.  0: with failfree the ID is dead and nothing was or will be taken from
 *           the cell; without it the get goes on.  -1: the ID is dead, unless it was none.
 * Returns : 1 if the region can be used; 0 if the time is up, bcr_errno unchanged; -1 with bcr_errno set
 *           if the get failed, the ID then being free.
 *           bcrE_RGID       rgid is not the ID of a region held here, or a handler has freed it meanwhile.
 *           bcrE_NOCELL     the cell was freed while the get waited.
 *           bcrE_DEAD       the CCE with the cell ended while the get waited.
 *           bcrE_OWNERDEAD  a CCE ended that had taken the cell's write lock and not put anything there
 *                           since.
 *           bcrE_NOMEM      no memory to look at the region, or, after bcr_acqwl, for its private copy;
 *                           the region is at the head of the cell again.
 * Blocks  : up to msec milliseconds; for ever if negative. May run handlers.
 * Order   : the get took its place among the waiting ones when it was called, not now.
 * Crash   : a region handed to this CCE that bcr_rgwait has not returned goes to the next waiting get,
 *           else back to the head of the cell.
 * Source  : BCR guide, Region Operations.
 */
BCR_API int bcr_rgwait(bcr_region rgid, int msec, int failfree);

/* bcr_rgwaitm -- wait until one of several pending gets has its region.
 * Shape   : rgids is an array of nids region IDs, nids at least 1.  NULL entries, which a get that
 *           failed has returned, are skipped.  A get that has failed later counts as ready; bcr_rgwait on
 *           it then tells why and frees the ID.  Ordinary regions are ready at once.  msec 0 only looks.
 *           failfree nonzero: when the time is up, all of the gets are withdrawn and their IDs freed.
 * Owns    : borrows the IDs.  0 with failfree: all of them are dead and nothing was or will be taken from
 *           any cell.
 * Returns : the lowest index that is ready, counted from 1; 0 if the time is up, bcr_errno unchanged; -1
 *           with bcr_errno set, nothing being withdrawn or freed.
 *           bcrE_ARG   nids is less than 1, or rgids is NULL, or all of its entries are.
 *           bcrE_RGID  one of them is not the ID of a region held here.
 * Blocks  : up to msec milliseconds; for ever if negative. May run handlers.
 * Order   : index says nothing about which region came first.
 * Crash   : as bcr_rgwait, for each.
 * Source  : BCR guide, Region Operations.
 */
BCR_API int bcr_rgwaitm(int nids, bcr_region *rgids, int msec, int failfree);

/* ------------------------------------------------------------------------------------ communication --- */

/* bcr_put -- add a region to the end of a cell.
 * Shape   : qlike nonzero appends.  qlike 0 replaces what the cell holds, in one step: nobody sees the
 *           cell empty.  cce is a CCE ID, bcr_cce for an own cell; cell is a number that bcr_cagrow
 *           returned there or one above it.
 *
 *           The region may have any length, 0 included.
 *
 *           A get that waits at the cell is handed the region directly: the waiting reads ahead of the
 *           first waiting take share it, then that take has it, and those behind it wait on.  If only reads
 *           wait, all of them share it and it stays in the cell.  From then on no count includes it, and no
 *           replacement or zap removes it.
 *
 *           Nothing is ever dropped to make room; an append to cells that hold their nrgns waits.  A
 *           replacement needs no room if its cell holds a region.
 * Owns    : nofree 0: takes rgid.  bcr_NOFREE: shares it; call bcr_rgmod before writing to it again.  On
 *           failure the caller keeps its hold either way.
 * Returns : 0, the region then being in the cell; -1 with bcr_errno set.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 *           bcrE_NOCCE    no CCE is known here by that ID.
 *           bcrE_DEAD     that CCE has ended, or did while the put waited.
 *           bcrE_NOCELL   it has no such cell, or freed it while the put waited.
 *           bcrE_ACCESS   a private or out cell of another CCE, or any cell 0.
 *           bcrE_FULL     own cells are full; or another's were for as long as bcr_putwait allows.
 *           bcrE_NOMEM    no memory to reach that CCE's cells, or to wait there.
 * Blocks  : while the cells of the area, another CCE's, are full: for ever, or as bcr_putwait says.
 *           Never for own cells: nobody else would make room. May run handlers.
 * Order   : what one CCE puts into one cell arrives in that order.  Waiting puts are served in order of
 *           arrival: room made in an area goes to the put that has waited longest there, and is not free
 *           for others in between, though the cell is empty for that moment.
 * Crash   : a caller that dies inside has put it wholly or not at all.
 * Source  : BCR guide, Comm Cell Manipulation; waiting, replacing in one step and order are this
 *           project's.
 */
BCR_API int bcr_put(int qlike, bcr_region rgid, bcr_cce_id cce, int cell, int nofree);

/* bcr_get -- obtain the first region of a cell.
 * Shape   : qlike nonzero removes it from the cell (a take), 0 leaves it there (a read).  cce and cell as
 *           in bcr_put.
 *
 *           msec is how long to wait for an empty cell: 0 not at all, positive that many milliseconds,
 *           negative for ever.
 *
 *           bcr_PENDING returns at once with an ID that no other routine than bcr_rgwait, bcr_rgwaitm and
 *           bcr_rgfree accepts until bcr_rgwait has returned 1; the region moves meanwhile.
 *
 *           A take at an empty cell where a put waits gets that put's region.
 *
 *           The region came from a cell, so others may hold it: call bcr_rgmod before writing to it.
 * Owns    : gives the region: the caller's share of it after a read, and all of the cell's after a take.
 * Returns : the region ID; NULL with bcr_errno set.  With bcr_PENDING what is known at once fails at
 *           once; the rest fails in bcr_rgwait.
 *           bcrE_TIMEOUT    no region came in time.
 *           bcrE_NOCCE      no CCE is known here by that ID.
 *           bcrE_DEAD       that CCE has ended, or did while the get waited.
 *           bcrE_NOCELL     it has no such cell, or freed it while the get waited.
 *           bcrE_ACCESS     a private or in cell of another CCE.
 *           bcrE_OWNERDEAD  a CCE ended that had taken the cell's write lock and not put anything there
 *                           since; so it stays until somebody puts there.
 *           bcrE_NOMEM      no memory for another region ID, or to look at the region; it is in the cell
 *                           as before.
 *           bcrE_RGID       a handler that ran meanwhile freed an ID that it did not hold, and this get
 *                           waited with that.
 * Blocks  : until a region is there, up to msec. May run handlers.
 * Order   : waiting gets are served in order of arrival, reads without consuming.  A get comes after this
 *           CCE's earlier puts to the same CCE.
 * Crash   : a region handed to a caller that dies before it has it goes to the next waiting get, else
 *           back to the head of the cell, several in their old order, even if the cells are full.
 * Source  : BCR guide, Comm Cell Manipulation.
 */
BCR_API BCR_MUST_USE bcr_region bcr_get(int qlike, bcr_cce_id cce, int cell, int msec);

/* bcr_zap -- remove all regions from a cell.
 * Shape   : cce and cell as in bcr_put.  Regions on their way to a get that waited are not in the cell
 *           any more.  Waiting puts then have room.  Gets that wait go on waiting.
 * Returns : 0, also if the cell was empty; -1 with bcr_errno set.
 *           bcrE_NOCCE   no CCE is known here by that ID.
 *           bcrE_DEAD    that CCE has ended.
 *           bcrE_NOCELL  it has no such cell.
 *           bcrE_ACCESS  a private or in cell of another CCE.
 *           bcrE_NOMEM   no memory to reach that CCE's cells.
 * Blocks  : no; may run handlers.
 * Order   : comes after this CCE's earlier puts to the same CCE.
 * Crash   : the cell is emptied wholly or not at all.
 * Source  : BCR guide, Comm Cell Manipulation.
 */
BCR_API int bcr_zap(bcr_cce_id cce, int cell);

/* bcr_putm -- add one region to several cells.
 * Shape   : cells is an array of ncells pairs (CCE ID, cell number), ncells 0 or more; otherwise as
 *           bcr_put, for each pair.  A cell named twice gets it twice.  All cells with room are served at
 *           once, then the others are waited for, up to bcr_putwait; those still full fail, own full
 *           cells at once.
 * Owns    : nofree 0: takes rgid.  bcr_NOFREE: shares it.  This holds as soon as the arguments are
 *           accepted, whatever single cells answer; a call refused with bcrE_ARG, bcrE_RGID or
 *           bcrE_PENDING leaves the caller its hold.
 * Returns : 0 if all cells took it; -1 with bcr_errno set: bcrE_ARG, bcrE_RGID or bcrE_PENDING, nothing
 *           having happened; or the first failure among the cells, all the others being served.  Under
 *           bcr_errors each cell that failed gives an error region in cell 0: operation bcr_op_putm, the
 *           CCE and the cell.
 *           bcrE_ARG      ncells is negative, or cells is NULL while ncells is not 0.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 *           bcrE_NOCCE    no CCE is known here by an ID of the list.
 *           bcrE_DEAD     a CCE of the list has ended.
 *           bcrE_NOCELL   a CCE of the list has no such cell.
 *           bcrE_ACCESS   a private or out cell of another CCE, or any cell 0.
 *           bcrE_FULL     own cells are full; or another's were for as long as bcr_putwait allows.
 *           bcrE_NOMEM    no memory to reach a CCE's cells, or to wait there.
 * Blocks  : while other CCEs' cells are full: for ever, or as bcr_putwait says. May run handlers.
 * Order   : for each cell as bcr_put.  Between the cells none: some have it while others wait.
 * Crash   : each single cell has it wholly or not at all; a caller that dies inside may have served only
 *           some.
 * Source  : BCR guide, Comm Cell Manipulation; what happens to part of a list is this project's.
 */
BCR_API int bcr_putm(int qlike, bcr_region rgid, int ncells, const int *cells, int nofree);

/* bcr_write -- replace what a cell holds by one region.
 * Shape   : bcr_put with qlike 0.
 * Owns    : as bcr_put.
 * Returns : as bcr_put.
 * Blocks  : as bcr_put.
 * Crash   : as bcr_put.
 * Source  : BCR guide, Communication Macros.
 */
BCR_API int bcr_write(bcr_region rgid, bcr_cce_id cce, int cell, int nofree);
#define bcr_write(rgid, cce, cell, nofree) bcr_put(0, rgid, cce, cell, nofree)

/* bcr_enq -- append a region to a cell.
 * Shape   : bcr_put with qlike 1.
 * Owns    : as bcr_put.
 * Returns : as bcr_put.
 * Blocks  : as bcr_put.
 * Crash   : as bcr_put.
 * Source  : BCR guide, Communication Macros.
 */
BCR_API int bcr_enq(bcr_region rgid, bcr_cce_id cce, int cell, int nofree);
#define bcr_enq(rgid, cce, cell, nofree) bcr_put(1, rgid, cce, cell, nofree)

/* bcr_writem -- replace what several cells hold by one region.
 * Shape   : bcr_putm with qlike 0.
 * Owns    : as bcr_putm.
 * Returns : as bcr_putm.
 * Blocks  : as bcr_putm.
 * Crash   : as bcr_putm.
 * Source  : BCR guide, Communication Macros.
 */
BCR_API int bcr_writem(bcr_region rgid, int ncells, const int *cells, int nofree);
#define bcr_writem(rgid, ncells, cells, nofree) bcr_putm(0, rgid, ncells, cells, nofree)

/* bcr_enqm -- append a region to several cells.
 * Shape   : bcr_putm with qlike 1.
 * Owns    : as bcr_putm.
 * Returns : as bcr_putm.
 * Blocks  : as bcr_putm.
 * Crash   : as bcr_putm.
 * Source  : BCR guide, Communication Macros.
 */
BCR_API int bcr_enqm(bcr_region rgid, int ncells, const int *cells, int nofree);
#define bcr_enqm(rgid, ncells, cells, nofree) bcr_putm(1, rgid, ncells, cells, nofree)

/* bcr_read -- share the first region of a cell, leaving it there.
 * Shape   : bcr_get with qlike 0.
 * Owns    : as bcr_get.
 * Returns : as bcr_get.
 * Blocks  : as bcr_get.
 * Crash   : as bcr_get.
 * Source  : BCR guide, Communication Macros.
 */
BCR_API BCR_MUST_USE bcr_region bcr_read(bcr_cce_id cce, int cell, int msec);
#define bcr_read(cce, cell, msec) bcr_get(0, cce, cell, msec)

/* bcr_deq -- take the first region out of a cell.
 * Shape   : bcr_get with qlike 1.
 * Owns    : as bcr_get.
 * Returns : as bcr_get.
 * Blocks  : as bcr_get.
 * Crash   : as bcr_get.
 * Source  : BCR guide, Communication Macros.
 */
BCR_API BCR_MUST_USE bcr_region bcr_deq(bcr_cce_id cce, int cell, int msec);
#define bcr_deq(cce, cell, msec) bcr_get(1, cce, cell, msec)

/* ------------------------------------------------------------------------------------ shared memory --- */
/*
 * A cell with one region in it is a lock, and the region is what the lock protects.  The cell is one of the
 * caller's own or another CCE's in/out cell.  Give lock cells an area whose nrgns is their number: then the
 * room of a region that is locked away stays free for its return.
 */

/* bcr_acqrl -- acquire a read lock: share the region that a cell protects.
 * Shape   : bcr_get with qlike 0; msec as there, bcr_PENDING included.  Others can acquire the read lock
 *           too, and a write lock as well: this reader keeps the region as it was.
 * Owns    : gives the caller's share; release it with bcr_rlsrl.
 * Returns : the region ID; NULL with bcr_errno set, the codes being those of bcr_get; bcrE_ACCESS also for
 *           an out cell of another CCE and for cell 0.
 * Blocks  : until nobody has the write lock, up to msec. May run handlers.
 * Order   : as bcr_get.
 * Crash   : as bcr_get.
 * Source  : BCR guide, Shared Memory Operations; msec is milliseconds here as everywhere.
 */
BCR_API BCR_MUST_USE bcr_region bcr_acqrl(bcr_cce_id cce, int cell, int msec);

/* bcr_rlsrl -- release a read lock.
 * Shape   : bcr_rgfree.
 * Owns    : takes rgid.
 * Returns : 0; -1 with bcr_errno set, the codes being those of bcr_rgfree.
 * Blocks  : no.
 * Crash   : as bcr_rgfree.
 * Source  : BCR guide, Shared Memory Operations.
 */
BCR_API int bcr_rlsrl(bcr_region rgid);

/* bcr_acqwl -- acquire a write lock: take the region that a cell protects, ready to be written to.
 * Shape   : bcr_get with qlike 1 and bcr_rgmod in one; msec as there.  With bcr_PENDING the bcr_rgmod
 *           happens in bcr_rgwait.  Until the region is put back nobody else acquires the lock, for
 *           reading or writing.  The cell remembers its taker until the next put there, by whomever.
 * Owns    : gives the region, which no other CCE holds; release it with bcr_rlswl or bcr_wl2rl.
 * Returns : the region ID; NULL with bcr_errno set.
 *           bcrE_TIMEOUT    the lock did not become free in time.
 *           bcrE_NOCCE      no CCE is known here by that ID.
 *           bcrE_DEAD       that CCE has ended, or did while the call waited.
 *           bcrE_NOCELL     it has no such cell, or freed it while the call waited.
 *           bcrE_ACCESS     a cell of another CCE that is not in/out, or any cell 0.
 *           bcrE_OWNERDEAD  the holder of the lock ended without a put there, and its region with it:
 *                           somebody must put one that says what holds now.
 *           bcrE_NOMEM      no room for a private copy; the region is at the head of the cell again
 *                           before anyone else is served.
 * Blocks  : until the lock is free, up to msec. May run handlers.
 * Order   : waiting gets and locks are served in order of arrival.
 * Crash   : if the holder ends in whatever way, its exit included, before a put at the cell, gets and
 *           locks there fail with bcrE_OWNERDEAD until somebody puts.
 * Source  : BCR guide, Shared Memory Operations; what becomes of a dead holder's lock is this project's.
 */
BCR_API BCR_MUST_USE bcr_region bcr_acqwl(bcr_cce_id cce, int cell, int msec);

/* bcr_rlswl -- release a write lock: put the region back.
 * Shape   : bcr_put with qlike 0 and nofree 0.  The cell need not be the one that the region came from,
 *           but should be empty, as a write lock leaves it.
 * Owns    : takes rgid; on failure the caller keeps it, and the lock.
 * Returns : 0; -1 with bcr_errno set, the codes being those of bcr_put.
 * Blocks  : as bcr_put: while other regions have filled the area that the region came from.
 * Order   : as bcr_put.
 * Crash   : the lock is released with the new content, or held by a dead CCE (see bcr_acqwl).
 * Source  : BCR guide, Shared Memory Operations.
 */
BCR_API int bcr_rlswl(bcr_region rgid, bcr_cce_id cce, int cell);

/* bcr_wl2rl -- turn a write lock into a read lock.
 * Shape   : bcr_put with qlike 0 and bcr_NOFREE: puts the region back and goes on reading it; no writer
 *           comes between.
 * Owns    : shares rgid, which is now a read lock: release it with bcr_rlsrl, do not write to it.  On
 *           failure the write lock stays.
 * Returns : 0; -1 with bcr_errno set, the codes being those of bcr_put.
 * Blocks  : as bcr_rlswl.
 * Order   : as bcr_put.
 * Crash   : as bcr_rlswl.
 * Source  : BCR guide, Shared Memory Operations; the guide's listing gives it a void ** result but
 *           describes an int.
 */
BCR_API int bcr_wl2rl(bcr_region rgid, bcr_cce_id cce, int cell);

/* ------------------------------------------------------------------------------------------ copying --- */
/*
 * A copy descriptor is an array of triples (adjust, type, repl); see <bcr/types.h>, and <bcr/desc.h> for a
 * way to have them made from C structs.  The buffer side follows the C layout of the calling CCE, the region
 * side that of the region's archtype: each item is aligned, on its side, as that side aligns its type, counted
 * from the start of the buffer or region.
 *
 * Between different archtypes, bytes are reversed and numbers change their size.  Integers keep their value and
 * sign; a bcrT_CHAR is signed whatever this machine's char is.  Floats keep their value where they get wider and
 * are rounded to the nearest where they get narrower.  A number that does not fit on the other side (an integer
 * outside its range, a finite float that would become infinite) stops the copy with bcrE_RANGE; what came before
 * it has been copied, and nothing after it is written.
 *
 * What was found out about a descriptor is kept with the CCE, so that using it again is fast.  Descriptors are
 * known by their content: programs may change them, or free and reuse their memory, between calls.
 *
 * If the buffer overlaps the region, or two regions are one, the copy is made as if its source had been set aside
 * first.  If the descriptor itself lies where a copy would write, the call fails with bcrE_ARG.
 */

/* bcr_copyfm -- copy data out of a region.
 * Shape   : copies from byte offset of region rgid into the buflen bytes at buffer, as copydesc says,
 *           repl times over (0 or more).  A bcrT_CCE becomes a CCE ID of this process: the same one for
 *           the same CCE every time; an ID that only fails with bcrE_NOCCE if the CCE is unknown; -1 if
 *           it was -1.
 * Owns    : borrows rgid.
 * Returns : n >= 2: done, n - 2 bytes of the region after the last item read are left.
 *           1: the region ended before the descriptor did.
 *           n <= -3: the buffer was full before the descriptor ended, -n - 2 bytes of the region are
 *           left.
 *           0 and -2 are failures and set bcr_errno; bcrE_RANGE and bcrE_NOMEM can come after part of the
 *           data has been copied.
 *           bcrE_ARCH     (returns 0) there is no translation from the region's archtype.
 *           bcrE_ARG      copydesc is NULL, repl or buflen is negative, buffer is NULL though buflen is
 *                         not 0, offset is outside the region, or copydesc lies in the buffer.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 *           bcrE_DESC     the descriptor is malformed, as <bcr/types.h> says; nothing was copied, unless
 *                         it was an adjust that led out of bounds on the way.
 *           bcrE_RANGE    a number does not fit into this CCE's type; nothing from it on was copied.
 *           bcrE_NOMEM    no memory for what is kept of the descriptor, or for one more CCE ID.
 * Blocks  : no.
 * Crash   : nothing shared is changed.
 * Source  : BCR guide, Copying/Translation Operations.
 */
BCR_API int bcr_copyfm(const int *copydesc, int repl, bcr_region rgid, int offset, void *buffer, int buflen);

/* bcr_copyto -- copy data into a region.
 * Shape   : copies from the buflen bytes at buffer to byte offset of region rgid, as copydesc says, repl
 *           times over (0 or more).  It implies bcr_rgmod, so *rgid may change.  A bcrT_CCE is a CCE ID
 *           of this process, or -1.
 * Owns    : borrows rgid; afterwards nobody else holds it.
 * Returns : n >= 2: done, n - 2 bytes of the buffer after the last item read are left.
 *           1: the buffer ended before the descriptor did.
 *           n <= -3: the region was full before the descriptor ended, -n - 2 bytes of the buffer are
 *           left.
 *           0 and -2 are failures and set bcr_errno; bcrE_NOCCE and bcrE_RANGE leave what was copied before
 *           them.
 *           bcrE_ARCH     (returns 0) there is no translation to the region's archtype.
 *           bcrE_ARG      copydesc is NULL, repl or buflen is negative, buffer is NULL though buflen is
 *                         not 0, offset is outside the region, or copydesc lies in the region.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 *           bcrE_DESC     the descriptor is malformed, as <bcr/types.h> says; nothing was copied, unless
 *                         it was an adjust that led out of bounds on the way.
 *           bcrE_RANGE    a number does not fit into the region's type; nothing from it on was copied.
 *           bcrE_NOCCE    a bcrT_CCE holds an int that is no CCE ID here; nothing from it on was copied.
 *           bcrE_NOMEM    no room for a private copy of the region, or no memory for what is kept of the
 *                         descriptor.
 * Blocks  : no.
 * Crash   : nobody else sees the region before it is put.
 * Source  : BCR guide, Copying/Translation Operations.
 */
BCR_API int bcr_copyto(const int *copydesc, int repl, bcr_region rgid, int offset, const void *buffer,
                       int buflen);

/* bcr_copytofm -- copy data from one region to another.
 * Shape   : copies from byte off_fm of region rgid_fm to byte off_to of region rgid_to, as copydesc says, repl
 *           times over (0 or more), each region in its own archtype.  It implies bcr_rgmod of rgid_to, so
 *           *rgid_to may change; the two may be the same region.  No side is the program's own memory: adjusts
 *           move nothing, and a bcrT_CCE is copied as it stands in a region.  So a descriptor that wrote a
 *           region with bcr_copyto copies it on with bcr_copytofm.
 * Owns    : borrows both; afterwards nobody else holds rgid_to.
 * Returns : n >= 2: done, n - 2 bytes of rgid_fm after the last item read are left.
 *           1: rgid_fm ended before the descriptor did.
 *           n <= -3: rgid_to was full before the descriptor ended, -n - 2 bytes of rgid_fm are left.
 *           0 and -2 are failures and set bcr_errno; bcrE_RANGE leaves what was copied before it.
 *           bcrE_ARCH     (returns 0) there is no translation between the archtypes.
 *           bcrE_ARG      copydesc is NULL, repl is negative, or an offset is outside its region.
 *           bcrE_RGID     rgid_to or rgid_fm is not the ID of a region held here.
 *           bcrE_PENDING  one of them is pending.
 *           bcrE_DESC     the descriptor is malformed, as <bcr/types.h> says; nothing was copied.
 *           bcrE_RANGE    a number does not fit into the type of rgid_to; nothing from it on was copied.
 *           bcrE_NOMEM    no room for a private copy of rgid_to, or no memory for what is kept of the
 *                         descriptor.
 * Blocks  : no.
 * Crash   : nobody else sees rgid_to before it is put.
 * Source  : BCR guide, The CDS Approach, names the routine; its arguments, and that adjusts move nothing, are
 *           this project's.
 */
BCR_API int bcr_copytofm(const int *copydesc, int repl, bcr_region rgid_to, int off_to, bcr_region rgid_fm,
                         int off_fm);

/* bcr_copytosz -- tell how much of a region a bcr_copyto would use.
 * Shape   : as bcr_copyto into a region of this archtype (0: this CCE's own) that never gets full, from byte
 *           offset on; but nothing is copied.  Only buflen matters of the buffer, which may be NULL.
 * Returns : n >= 2: the descriptor would be done, n - 2 bytes of the region would be used, offset included.
 *           n <= -2: the buffer would end before the descriptor, with -n - 2 bytes of the region used.
 *           0 and -1 are failures and set bcr_errno.
 *           bcrE_ARCH   (returns 0) there is no translation to such an archtype.
 *           bcrE_ARG    copydesc is NULL, repl, offset or buflen is negative, or it would be more than a
 *                       region can hold.
 *           bcrE_DESC   the descriptor is malformed, or an adjust would lead out of bounds.
 *           bcrE_NOMEM  no memory for what is kept of the descriptor.
 * Blocks  : no.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : BCR guide, Copying/Translation Operations; alignment counts from the buffer's start, so that its
 *           address has no effect.
 */
BCR_API int bcr_copytosz(const int *copydesc, int repl, int archtype, int offset, const void *buffer,
                         int buflen);

/* -------------------------------------------------------------------------------- message passing --- */

/* bcr_send -- copy data into a new region and put that into a cell.
 * Shape   : bcr_copytosz, bcr_rgalloc, bcr_copyto and bcr_put in one: the len bytes at buffer, as buftype says,
 *           repl times over, in a region of just the size that they take, of this archtype (0: this CCE's own);
 *           cce, cell and qlike are those of bcr_put.  If the buffer ends before the descriptor, what it holds
 *           is sent.
 * Owns    : nothing; on failure the region is freed.
 * Returns : n >= 1 as bcr_copyto: n - 2 bytes of the buffer are left, or 1: the buffer ended before the
 *           descriptor did.  -1: no region could be allocated; -2: any other failure; both set bcr_errno.
 *           bcrE_ARG     buftype is NULL, repl or len is negative, buffer is NULL though len is not 0, or
 *                        the data take more bytes than a region can have.
 *           bcrE_ARCH    there is no translation to such an archtype.
 *           bcrE_DESC    the descriptor is malformed, or an adjust led out of bounds.
 *           bcrE_RANGE   a number does not fit into the type of that archtype.
 *           bcrE_NOCCE   a bcrT_CCE holds an int that is no CCE ID here; or cce is none.
 *           bcrE_NOMEM   (returns -1) no room in the comm heap; (returns -2) no memory.
 *           bcrE_DEAD    that CCE has ended, or did while the call waited.
 *           bcrE_NOCELL  it has no such cell.
 *           bcrE_ACCESS  a private or out cell of another CCE, or any cell 0.
 *           bcrE_FULL    no room in the cells came in time (bcr_putwait), or the cell is full and the
 *                        caller's own.
 * Blocks  : as bcr_put.
 * Order   : as bcr_put.
 * Crash   : the region is put wholly or not at all; what a dead caller held is freed.
 * Source  : BCR guide, Message Passing.
 */
BCR_API int bcr_send(const void *buffer, int len, const int *buftype, int repl, bcr_cce_id cce, int cell,
                     int qlike, int archtype);

/* bcr_sendm -- copy data into a new region and put that into several cells.
 * Shape   : bcr_send with bcr_putm for bcr_put; ncells and cells, a list of (CCE, cell) pairs, are as there.
 * Owns    : nothing; the region is freed, except where it was put.
 * Returns : n >= 1 as bcr_send.  -1: no region could be allocated.  -2: any other failure; some cells may have
 *           the region then, as with bcr_putm.  Both set bcr_errno, the codes being those of bcr_send and
 *           bcr_putm.
 * Blocks  : as bcr_putm.
 * Order   : as bcr_putm.
 * Crash   : as bcr_putm.
 * Source  : BCR guide, Message Passing.
 */
BCR_API int bcr_sendm(const void *buffer, int len, const int *buftype, int repl, int ncells, const int *cells,
                      int qlike, int archtype);

/* bcr_recv -- get a region from a cell and copy its data out.
 * Shape   : bcr_get, bcr_copyfm and bcr_rgfree in one: cce, cell, qlike and msec are those of bcr_get, but msec
 *           is not bcr_PENDING; buftype, repl and the len bytes at buffer those of bcr_copyfm.  Arguments and
 *           descriptor are checked first: if they are refused, no region is taken.
 * Owns    : nothing; with qlike not 0 the region is taken out of the cell and freed, also if it could not be
 *           copied.
 * Returns : -1 with bcr_errno set if no region came, else what bcr_copyfm returns, with its codes.
 *           bcrE_ARG  (returns -1) msec is bcr_PENDING; the codes of bcr_get and bcr_copyfm besides.
 * Blocks  : as bcr_get.
 * Order   : as bcr_get.
 * Crash   : as bcr_get; a region that a dead caller held is freed.
 * Source  : BCR guide, Message Passing.
 */
BCR_API int bcr_recv(void *buffer, int len, const int *buftype, int repl, bcr_cce_id cce, int cell, int qlike,
                     int msec);

/* ---------------------------------------------------------------------------------------- handlers --- */
/*
 * A handler is a routine of the program that BCR calls when somebody's put fills a cell, or somebody's get finds it short.
 * Each call of it is an invocation, with a stack of its own, so it may wait in any BCR routine like the main program, which is an
 * invocation too. One at a time executes, in whatever thread calls BCR.
 *
 * An invocation has two priorities, from 0 on: activep while it executes or could, blockp while a routine makes it wait. The
 * main program begins with 0 and 0. A request starts its handler inside a call of this CCE: in one that waits, or in bcr_allow,
 * if activep is at least the priority that then holds; at the beginning of any other, if it is higher than the caller's, or,
 * in the main program, as high. Among those that could run the highest priority goes first, then the one that came first.
 * bcr_errno is each invocation's own.
 *
 * Stacks have the size that handlerstack of bcrrc(5) says. An invocation that uses more ends the process with a message that
 * names the cell. A handler may call exit. It must not be left by longjmp: then all routines that may run handlers fail with
 * bcrE_LONGJMP.
 */

/* bcr_handler -- have a routine called when a cell fills or falls short.
 * Shape   : cell is a cell of this CCE, 0 included. handler is called with the cell's number; NULL removes the
 *           cell's handler, and the other arguments say nothing then.
 *
 *           watermark > 0 requests the handler after each put (also a replacement) that leaves at least that
 *           many regions in the cell. 0: at each get, read or lock, taking or not, that finds it empty, whether
 *           it waits or not. < 0: at each get that takes and finds at most |watermark|, before it removes one.
 *           A get that waits requests once. It does not matter who puts or gets. Regions that the cell holds
 *           already request nothing.
 *
 *           Each request is one call of the handler; none is lost, no two are made one. activep and blockp are
 *           the priorities of these invocations, as bcr_priority tells them.
 *
 *           Where the cell has a handler, it is replaced: requests that have not begun are the new one's. If it
 *           is removed, they are dropped. Invocations that have begun are not touched. bcr_cafree removes the
 *           handlers of its cells.
 * Returns : 0; -1 with bcr_errno set.
 *           bcrE_ARG      activep or blockp is negative.
 *           bcrE_NOCELL   this CCE has no such cell.
 *           bcrE_NOMEM    no memory.
 *           bcrE_LONGJMP  a handler was left by longjmp.
 * Blocks  : no; may run handlers.
 * Order   : requests of one cell start in the order of the puts or gets that made them.
 * Crash   : an operation whose caller dies in it has requested once if it is done, else not at all. With this
 *           CCE all handlers go.
 * Source  : BCR guide, Handlers; replacing, removal and what counts for a mark are this project's.
 */
BCR_API int bcr_handler(int cell, void (*handler)(int), int watermark, int activep, int blockp);

/* bcr_priority -- set the priorities of the calling invocation.
 * Shape   : activep holds while it executes, or could and another one does: requests of lower priority do not
 *           start inside its calls. blockp holds while a routine makes it wait: what runs then has at least that
 *           priority. So raising activep shuts handlers out. The main program is an invocation like others.
 * Returns : 0; -1 with bcr_errno set.
 *           bcrE_ARG      activep or blockp is negative.
 *           bcrE_NOMEM    no memory.
 *           bcrE_LONGJMP  a handler was left by longjmp.
 * Blocks  : no; may run handlers, those that the new priority lets in included.
 * Order   : holds from the return of the call on, until the invocation ends or calls again.
 * Crash   : nothing shared is changed.
 * Source  : BCR guide, Handlers.
 */
BCR_API int bcr_priority(int activep, int blockp);

/* bcr_allow -- run the handlers that were requested.
 * Shape   : priority is the lowest that may run; negative: the caller's own activep. The caller has this
 *           priority meanwhile. Returns when nothing is left that could run: no request, and no stopped
 *           invocation, of that priority or a higher one. Invocations that still wait do not hold it up, but for
 *           those with a higher blockp.
 * Returns : 0, also if there was nothing to run; -1 with bcr_errno set.
 *           bcrE_NOMEM    no memory.
 *           bcrE_LONGJMP  a handler was left by longjmp.
 * Blocks  : while others run.
 * Order   : priority, then arrival. Of several invocations in bcr_allow with one priority, the one that called
 *           last returns first.
 * Crash   : nothing shared is changed.
 * Source  : BCR guide, Handlers.
 */
BCR_API int bcr_allow(int priority);

/* bcr_block -- go on in handlers only.
 * Shape   : bcr_allow(0) for ever: for a main program that has started everything, and a CCE that lives in its
 *           handlers from then on, until one of them calls exit. Without a handler it waits for ever.
 * Returns : not at all; -1 with bcr_errno set if it fails.
 *           bcrE_NOMEM    no memory.
 *           bcrE_LONGJMP  a handler was left by longjmp.
 * Blocks  : for ever.
 * Order   : as bcr_allow.
 * Crash   : nothing shared is changed.
 * Source  : BCR guide, Handlers.
 */
BCR_API int bcr_block(void);

/* ---------------------------------------------------------------------------- additions to the guide --- */

/* bcr_strerror -- say what an error code means and what to do about it.
 * Shape   : any int: a value of bcr_errno, or one that bcr_rgerror or an error region gave.  Works before
 *           bcr_init, in the child of a fork, from any thread, and leaves bcr_errno alone.
 * Returns : one sentence, static, never NULL; it says so if code is none of <bcr/error.h>.  There is no
 *           failure.
 * Blocks  : no.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : this project.
 */
BCR_API const char *bcr_strerror(int code);

/* bcr_descshow -- write a copy descriptor readably.
 * Shape   : what copydesc says, triple by triple, with where its items lie in this CCE's memory and in a region of
 *           this archtype (0: this CCE's own) when it is copied into one once, from the start of both.  At most
 *           size bytes go to text, the last of them a zero; text may be NULL if size is 0.  Works before bcr_init.
 *           For reading, not for programs: the form may change.
 * Returns : the length of the whole text without the zero, whether it had room or not; -1 with bcr_errno set.
 *           bcrE_ARG    copydesc is NULL, size is negative, or text is NULL though size is not 0.
 *           bcrE_ARCH   there is no translation to such an archtype.
 *           bcrE_DESC   the descriptor is malformed.
 *           bcrE_NOMEM  no memory.
 * Blocks  : no.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : this project.
 */
BCR_API int bcr_descshow(const int *copydesc, int archtype, char *text, int size);

/* bcr_rgerror -- tell an error region from an ordinary one.
 * Shape   : Error regions come to cell 0 under the flag bcr_errors of bcr_init, when something fails that
 *           the call which asked for it could not know or could not return: starts of CCEs
 *           (bcr_op_enlist), cells of a bcr_putm (bcr_op_putm).  Copy their data with bcr_copyfm and
 *           bcrT_1ERROR: code, operation, CCE, cell or ordinal.  Data cannot forge one.  Beyond 4,096
 *           that nobody has taken they are only counted and logged.
 * Owns    : borrows rgid.
 * Returns : the error code, positive, if rgid is an error region; 0 if it is an ordinary one; -1 with
 *           bcr_errno set.
 *           bcrE_RGID     rgid is not the ID of a region held here.
 *           bcrE_PENDING  rgid is pending.
 * Blocks  : no.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : this project.
 */
BCR_API int bcr_rgerror(bcr_region rgid);

/* bcr_putwait -- set how long this CCE's puts wait for room in other CCEs' cells.
 * Shape   : msec holds for bcr_put, bcr_putm and what is made of them, from now on.  0: fail at once with
 *           bcrE_FULL. Negative: for ever, which is what a CCE starts with (bcr_BLOCK).
 * Returns : 0; -1 with bcr_errno set.
 *           bcrE_ARG  msec is bcr_PENDING.
 * Blocks  : no.
 * Crash   : nothing shared is changed.
 * Source  : this project.
 */
BCR_API int bcr_putwait(int msec);

/* bcr_putdone -- wait until all earlier puts of this CCE have reached their cells.
 * Shape   : msec as everywhere; 0 only looks.  Within one host a put is in its cell when it returns, so
 *           there is nothing to wait for.
 * Returns : 1 if all have; 0 if the time is up, bcr_errno unchanged; -1 with bcr_errno set.
 *           bcrE_ARG  msec is bcr_PENDING.
 * Blocks  : up to msec milliseconds; for ever if negative. May run handlers.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : this project.
 */
BCR_API int bcr_putdone(int msec);

/* bcr_celllen -- count the regions in a cell.
 * Shape   : cce and cell as in bcr_put.  A snapshot: true at some instant of the call.  Regions handed to
 *           a get that waited, and those of waiting puts, are not counted.
 * Returns : the number, 0 or more; -1 with bcr_errno set.
 *           bcrE_NOCCE   no CCE is known here by that ID.
 *           bcrE_DEAD    that CCE has ended.
 *           bcrE_NOCELL  it has no such cell.
 *           bcrE_ACCESS  a private cell of another CCE.
 *           bcrE_NOMEM   no memory to reach that CCE's cells.
 * Blocks  : no; may run handlers.
 * Crash   : nothing is changed, so nothing is left.
 * Source  : this project.
 */
BCR_API int bcr_celllen(bcr_cce_id cce, int cell);

/* bcr_fd -- get a descriptor for poll(2) that tells when an own cell has regions.
 * Shape   : cell is a cell of this CCE, 0 included.  Each cell has one descriptor, the library's: neither
 *           read nor close it; bcr_cafree closes it.  Each call drains the descriptor and arms it again:
 *           at once readable if the cell holds a region, else readable after the next put.  So: call
 *           bcr_fd, poll, then get with msec 0 until NULL, and call bcr_fd again.
 * Returns : the descriptor, 0 or more; -1 with bcr_errno set.
 *           bcrE_NOCELL  no such cell.
 *           bcrE_NOMEM   no descriptor is left.
 * Blocks  : while enl makes the descriptor, at the first call for a cell.
 * Order   : a put that returned before the call makes the descriptor readable at once.
 * Crash   : the descriptor goes with the process.
 * Source  : this project.
 */
BCR_API int bcr_fd(int cell);

#ifdef __cplusplus
}
#endif

#endif
