/* SPDX-License-Identifier: MIT */
/* bcr.h -- Cooperative Data Sharing for C: the public interface and its manual. Begin with bcr(7).
 *
 * Each manual page is made from the block above its routines: arguments, legal values, then labels:
 *     Owns     who holds the region before and after. A routine borrows it (until it returns; so
 *              without the label), takes it (on success; the ID is dead then), gives it (the caller
 *              must free it or hand it on), or shares it (both hold it; bcr_rgmod before writing).
 *     Returns  the value on success. Without it: 0, or the region ID. Failures return -1, or NULL
 *              for a region, if nothing else is said.
 *     Errors   the codes: first those with the meaning listed below, then those with their own
 *     Blocks   what the call waits for, and whether it may run handlers. Without it: neither.
 *     Order    what is promised about it and other calls
 *     Crash    what is left if this process, or another, dies at any instruction of it. Without it:
 *              what is shared is changed wholly or not at all, and what a dead CCE held is freed.
 *
 * True of every routine, unless its block says otherwise:
 *   - A routine that fails sets bcr_errno and changes nothing; one that succeeds leaves it alone.
 *   - All fail with bcrE_NOINIT before bcr_init, bcrE_FORK in a CCE's fork, bcrE_INTERNAL if enl
 *     has closed the cell as corrupt, and, if they may run handlers, bcrE_LONGJMP once one was left
 *     by longjmp. A CCE that meets corrupt shared memory says so on stderr and ends by SIGABRT.
 *   - Wrong arguments fail with a code; they never crash, hang or corrupt. A freed region ID is
 *     refused until the library gives the same ID out again.
 *   - msec counts milliseconds from the call and never ends early. Negative values wait for ever.
 *   - A CCE that is stopped (SIGSTOP, a debugger) in a call keeps its locks; enl names it when
 *     others have waited for a second. A get with a time that cannot have its first lock in that
 *     time fails with bcrE_TIMEOUT, a put (bcr_putwait) with bcrE_FULL. Calls without a time, and
 *     those that have come further, wait until it goes on; nothing is lost.
 *   - Any thread may call, but never two at once, and a signal handler where bcr_sigenter lets it.
 *     Signals end no call.
 *   - Routines that may run handlers (bcr_handler) run them first, and while they wait.
 *   - All descriptors of the library are close-on-exec.
 *
 * Codes that blocks only name:
 *     bcrE_ARG        An argument, perhaps a NULL, is not what the description allows.
 *     bcrE_RGID       An ID is of no region held here: it was freed or put, perhaps by a handler.
 *     bcrE_PENDING    An ID is of a get that found nothing at once; bcr_rgwait must return 1 first.
 *     bcrE_NOCCE      No CCE is known in this process by an ID that was given or is to be copied.
 *     bcrE_DEAD       The CCE has ended, or its host is lost, perhaps while the call waited.
 *     bcrE_NOCELL     The CCE has no such cell, or freed it while the call waited.
 *     bcrE_ACCESS     The kind of the cell does not let this CCE do that; bcr_cagrow has the kinds.
 *     bcrE_RESERVED   Cell 0 takes nothing from programs, and gives to its own CCE only.
 *     bcrE_FULL       Own cells are full, or another CCE's were for as long as bcr_putwait allows.
 *     bcrE_OWNERDEAD  The holder of the cell's write lock has ended in any way, also by exit, its
 *                     region with it; it stays so until a CCE puts there.
 *     bcrE_NOMEM      The machine or process has no memory, descriptor or process left for the
 *                     call.
 *     bcrE_NBYTES     This CCE's comm heap has no room: its nbytes are used up, or in pieces, or
 *                     its regions are far more and smaller than its nrgns (bcr_cagrow).
 *     bcrE_DESC       A copy descriptor is malformed, or adjusts out of bounds; <bcr/types.h>.
 *     bcrE_ARCH       There is no translation to or from such an archtype, or no such archtype.
 *     bcrE_RANGE      A number does not fit where it is copied to; nothing from it on is copied. */
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

/* Constants are enumerators: debuggers, and tools that make bindings for other languages, find them in
 * enums. The preprocessor does not: #if takes each of them for 0, and only BCR_VERSION_ names are for it. */
enum bcr_msec {
    bcr_BLOCK = -1,  /* wait for ever */
    bcr_PENDING = -2 /* of gets and locks: give an ID now, which bcr_rgwait completes */
};

enum bcr_nofree {
    bcr_FREE = 0,  /* the routine takes the region */
    bcr_NOFREE = 1 /* the routine shares the region */
};

/* Flags of bcr_init. The last three are no part of bcr_implemented: they change nothing unless a CCE
 * asks for them. */
enum bcr_flag {
    bcr_inorder = 0x01,  /* regions that one CCE puts into one cell arrive in that order */
    bcr_user_ca = 0x02,  /* *rgid is the address of the region's data in this process */
    bcr_errors = 0x04,   /* failures that no call could return come to cell 0 as error regions */
    bcr_reliable = 0x08, /* what was put arrives, once */
    bcr_timeout = 0x10,  /* gets accept positive values of msec */
    bcr_handlers = 0x20, /* routines that run when a cell fills or falls short: bcr_handler */
    bcr_gc = 0x40,       /* bcr_rgalloc collects what others freed before it fails */
    bcr_implemented =
        bcr_inorder | bcr_user_ca | bcr_errors | bcr_reliable | bcr_timeout | bcr_handlers | bcr_gc,

    bcr_anystatus = 0x100,  /* each exit of this CCE is a normal end, whatever its status */
    bcr_isolate = 0x200,    /* its abnormal end harms no other CCE, whatever onfail says */
    bcr_passsignals = 0x400 /* signals that reach enl go to all CCEs, and the program goes on */
};

/* The operation that an error region tells of: the second item of bcrT_1ERROR. */
enum bcr_op {
    bcr_op_enlist = 1, /* the start of a CCE */
    bcr_op_put = 2,    /* a put to another host */
    bcr_op_putm = 3    /* a put into one of the cells of bcr_putm */
};

/* bcr_cce, bcr_enlistor, bcr_cceord, bcr_archtype, bcr_errno -- who this CCE is, and what failed.
 * Int lvalues, 0 until bcr_init sets them. bcr_cce is this CCE's ID. IDs begin at 1 and are never
 * used again in a process; two may know one CCE by different IDs. bcr_enlistor is the CCE that
 * enlisted this one, -1 in the root, in each member of enl -n and after bcr_enter. bcr_cceord is the
 * ordinal that bcr_enlist gave it, in members of enl -n the rank, 0 in the root; bcr_enter says what it
 * is there. bcr_archtype is how it represents data. bcr_errno is the code of the last failure in this
 * thread, or in this invocation of a handler. Assigning to the others misleads only this process.
 * Returns: each function, the address of its lvalue; there is no failure. */
BCR_API bcr_cce_id *bcr_cce_location(void);
BCR_API bcr_cce_id *bcr_enlistor_location(void);
BCR_API int *bcr_cceord_location(void);
BCR_API int *bcr_archtype_location(void);
BCR_API int *bcr_errno_location(void);
#define bcr_cce      (*bcr_cce_location())
#define bcr_enlistor (*bcr_enlistor_location())
#define bcr_cceord   (*bcr_cceord_location())
#define bcr_archtype (*bcr_archtype_location())
#define bcr_errno    (*bcr_errno_location())

/* ----------------------------------------------------------------------- CCEs and comm area --- */
/* bcr_init -- make this process a CCE of a program.
 * flags is the features that the program counts on, ored together; not negative. All work whether
 * asked for or not, but for bcr_errors, which turns error regions on. By ccename bcr_enlist finds a
 * process that waits under enl --join; NULL or "": the last component of the process's file name.
 * When it returns, a region given to bcr_enlist is in cell 0.
 *
 * Three flags change something only if they are asked for. With bcr_anystatus each exit of this CCE
 * is a normal end, whatever its status. With bcr_isolate its abnormal end, or the loss of its host,
 * harms no other CCE, whatever onfail says. Once any CCE has asked for bcr_passsignals, SIGHUP, SIGINT, SIGABRT, SIGUSR1, SIGUSR2, SIGURG and SIGWINCH that
 * reach the root's enl go to all CCEs, once each, and the program goes on; enl(1) has the rest.
 *
 * A process that enl or bcr_enlist started joins that program. If the variable BCR_ENTER names a
 * running program it enters that: bcr_enter has what that means, and further errors. If BCR_AWAIT,
 * BCR_TEAM and BCR_RANK say that it is a member other than 0 of a team without a launcher, it waits
 * for member 0's program, as enl(1) explains under Teams without a launcher. Any other, also if a CCE
 * started it, becomes the root of its own: it forks and turns into enl, and the child goes on as the
 * root, with a new process ID, and with the interval timers of the process. What else belongs to a
 * process (record locks of fcntl, SIGIO, POSIX timers, children) stays behind, and is to be set up
 * later.
 * enl(1) says how enl is found, and that it kills a CCE that executes another program or closes
 * descriptors not its own.
 *
 * It may be called by a plugin, which may hold libbcr.a. From then on the library stays in memory
 * until the process ends, also if the plugin is unloaded (dlclose); the plugin's handlers do not.
 * Returns: the flags asked for that are not available, 0 if all are. It does not return where no
 *     enl is found: a message says where it looked, and the process exits with status 127; nor if a
 *     setting is bad, which bcrrc(5) explains: status 2.
 * Errors: bcrE_NOMEM
 *         bcrE_ARG     flags are negative, or variables of a team without a launcher make no sense.
 *         bcrE_BUSY    This process is a CCE; another has joined by the same inherited socket, or is the
 *                      member with the same BCR_AWAIT and BCR_RANK, or waits to be.
 *         bcrE_TIMEOUT  No program has come for that member in the time of awaittimeout.
 *         bcrE_ENLIST  The program ended before it took this process; the process has several
 *                      threads and cannot fork (start it as "enl program"); or its enl is of
 *                      another user, not root (start a set-user-ID program directly).
 * Blocks: until the process is enlisted; in a team, until all have called it (bcr_teamrank).
 * Crash: enl notices how CCEs end; bcr(7) says what follows. If enl dies, so do they. */
BCR_API int bcr_init(int flags, const char *ccename);

/* bcr_enlist -- start new CCEs, or take in processes that wait to join.
 * mach is the machine: a name that bcr_host tells; NULL, "", "localhost", this one's name and its
 * IP addresses are this one. prcssr >= 0 starts one CCE pinned to that core, counted from 0 among
 * those that the program may use; prcssr < 0 starts |prcssr| CCEs, each pinned to the next of them.
 * Their ordinals (bcr_cceord) count from cceord1, which is not negative, to at most INT_MAX.
 *
 * obj, not NULL or "", is the program, looked up from the root's working directory, then on PATH. A
 * process that waits under enl --join goes first if its ccename equals obj or the last component of
 * obj. A started CCE has obj as argv[0] and no other arguments; enl(1) tells its directory,
 * environment, limits and standard files. rgid is NULL, or a region of at most 64 bytes for cell 0
 * of each new CCE. The caller does not learn their IDs: they know it as bcr_enlistor and tell it.
 * bcr_start, in <bcr/program.h>, gives arguments to CCEs, and tells their IDs.
 * Owns: nofree 0: takes rgid. bcr_NOFREE: shares it. On failure the caller keeps it either way.
 * Returns: 0 if at least one CCE could be started. Each failure is a line with its reason in the
 *     log and on the root's stderr; one that comes later, or to some of several, is under
 *     bcr_errors also an error region in cell 0: operation bcr_op_enlist, the ordinal for the cell.
 * Errors: bcrE_ARG, bcrE_RGID, bcrE_PENDING, bcrE_NOMEM
 *         bcrE_NOHOST  mach is no machine that the program can use, or enl cannot be started there.
 *         bcrE_HOSTLOST  That machine was lost to the program meanwhile. Call again, and a daemon is
 *             started there anew.
 *         bcrE_NOCORE  prcssr is no core that the program may use.
 *         bcrE_NOPROG  No such program, not executable, or of another architecture.
 *         bcrE_ENLIST  Over 65,000 CCEs; or the program is ending, or closed the connection to enl.
 * Blocks: until enl has answered, which on a machine that was not used yet takes until enl runs
 *     there, but not until the new CCEs call bcr_init. May run handlers.
 * Order: which of several CCEs comes up first is open. */
BCR_API int bcr_enlist(const char *mach, int prcssr, int cceord1, const char *obj, bcr_region rgid,
                       int nofree);

/* bcr_host -- tell the name of a machine that bcr_enlist may start CCEs on.
 * k counts from 0, in the order of the list that the program was given: a hosts file, or enl's
 * options --host and --local; enl(1) has their form. Without a list there is one name, that of the
 * root's machine. name has room for length bytes, the NUL included; 256 always suffice. length 0:
 * only the result is wanted, and name may be NULL.
 * Returns: how many CCEs it is meant for: slots in the hosts file, 1 unless said; without a list as
 *     many as there are processors that the program may use. 0: no such one.
 * Errors: bcrE_ARG     k or length is negative, name is NULL or too short; name holds "" then.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: until enl has answered. */
BCR_API int bcr_host(int k, char *name, int length);

/* bcr_cagrow -- add an area: cells, room for regions in them, and memory for the comm heap.
 * No argument is negative. The cells are numbered upwards from the value returned: nprivqs private
 * ones, ninqs in cells, noutqs out cells, nioqs in/out cells. The caller may use them in any way;
 * other CCEs can put into in cells, get from and zap out cells, do both and lock with in/out cells,
 * with private ones nothing. qbase is the number wished for the first; if that range is not free,
 * the lowest free one is taken. An area without cells takes one number, if qbase is 0 the highest
 * free one. Each CCE has cell 0 from birth: only its owner takes from it, no CCE puts there.
 *
 * nrgns bounds the regions that these cells hold together. Gets and puts that wait there do not
 * count, nor do regions on their way to a waiting get; so with nrgns 0 a put succeeds that meets
 * one. nbytes is an account of what this CCE allocates, copies by bcr_rgmod included: a region
 * counts max(length, 1) bytes until nobody holds it. The memory behind it is larger by what nrgns
 * regions and 64 KiB of small ones need beyond their length; an area without cells has nrgns for
 * that alone. Far more and smaller regions, or very mixed lengths, may use up the memory before the
 * account: twice the bytes needed avoids it. All memory is reserved now: no write fails later.
 * Returns: the number of the first cell, at least 1.
 * Errors: bcrE_ARG    An argument is negative, or the cells are INT_MAX or more together.
 *         bcrE_NOMEM  The host or the control group has not so much memory to give, the limit of
 *                     file sizes (ulimit -f) is lower, or no such range of numbers is free.
 *                     What else the system said, as in a sandbox, is in enl's log.
 * Blocks: while enl makes the memory; never for another CCE.
 * Order: grow before you tell others your ID: they can use the cells once they know it. */
BCR_API int bcr_cagrow(int qbase, int nprivqs, int ninqs, int noutqs, int nioqs, int nrgns, int nbytes);

/* bcr_cafree -- give back the area that begins at qbase.
 * qbase is what bcr_cagrow returned. The numbers are free then, the memory goes back to the system,
 * the cells' handlers and descriptors (bcr_fd) go, and what waits there ends with bcrE_NOCELL.
 * Errors: bcrE_NOCELL    No area begins at qbase.
 *         bcrE_BUSY      A cell of the area is not empty, or a get is yet to collect what it got
 *                        there; or a region in that memory is held, or lies in a cell, anywhere.
 *         bcrE_INTERNAL  A cell of the area was closed because it is corrupt; the area stays. */
BCR_API int bcr_cafree(int qbase);

/* bcr_arch -- tell how a CCE represents data, also one that has ended.
 * cceid is any CCE ID, bcr_cce included.
 * Returns: its archtype, positive, for comparing with bcr_archtype, or for bcr_rgalloc.
 * Errors: bcrE_NOCCE
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: of a CCE of another host, the first time: until the root's daemon has answered. */
BCR_API int bcr_arch(bcr_cce_id cceid);

/* ---------------------------------------------------------------------------------- regions --- */
/* bcr_rgalloc -- allocate a region in the comm heap.
 * len is the length in bytes, 0 or more; archtype says how the data will be represented, 0: as in
 * this CCE. The ID points at the address of the data, so **(T **)rgid is the first T. The address
 * is never NULL and a multiple of 16, from 64 bytes of length on of 64. The data is uninitialised.
 * Owns: gives a region that nobody else holds.
 * Errors: bcrE_ARG, bcrE_ARCH, bcrE_NBYTES, bcrE_NOMEM */
BCR_API BCR_MUST_USE bcr_region bcr_rgalloc(int len, int archtype);

/* bcr_rgalloc_within -- allocate a region, and wait for room if there is none.
 * It is bcr_rgalloc, except that it waits up to msec until this CCE's comm heap has room: until other CCEs
 * free regions of this one or take them out of cells and free them, those on their way to other hosts
 * have arrived, CCEs that hold some end, or handlers of this CCE free some. msec is not bcr_PENDING; 0
 * does not wait. A region for which no area of this CCE is large enough fails at once.
 * Owns: as bcr_rgalloc.
 * Errors: bcrE_ARG, bcrE_ARCH, bcrE_NOMEM
 *         bcrE_NBYTES  There was no room in the time given, or never can be.
 * Blocks: up to msec. May run handlers. What this CCE itself holds, or its cells, makes no room while it
 *     waits: if nobody else holds any either, the wait lasts until msec is over. Without a limit it is
 *     part of a deadlock when all CCEs wait so, which enl reports as for gets.
 * Order: the room goes to whichever call finds it first; a small region may overtake a large one that
 *     waits.
 * Crash: as bcr_rgalloc; a CCE that dies while it frees a region still ends the wait. */
BCR_API BCR_MUST_USE bcr_region bcr_rgalloc_within(int len, int archtype, int msec);

/* bcr_rgmod -- make a region safe to write to.
 * Call it before writing to a region that came from a get, or was put since it was allocated or
 * last modified. If others hold it too, the caller gets a private copy, and *rgid changes; only
 * bcr_copyto, bcr_copytofm and bcr_acqwl, which imply this, change it too. What is written to a
 * shared region without it, every holder sees.
 * Owns: the caller holds the region, or its copy, as before.
 * Errors: bcrE_RGID, bcrE_PENDING, bcrE_NBYTES */
BCR_API int bcr_rgmod(bcr_region rgid);

/* bcr_rgfree, bcr_rlsrl -- let go of a region, or of a read lock; both do the same.
 * rgid is any region ID held here. A pending get is cancelled and takes nothing; if its cell had
 * served it before, the region is freed.
 * Owns: takes the region. Its memory is free when no CCE and no cell holds it.
 * Errors: bcrE_RGID
 * Blocks: for a pending get at a cell of another host, until that has decided; else no.
 * Crash: as bcr_get. */
BCR_API int bcr_rgfree(bcr_region rgid);
BCR_API int bcr_rlsrl(bcr_region rgid);

/* bcr_rgrealloc -- change the length of a region where it lies.
 * newlen is 0 or more. *rgid, and the data up to the smaller length, stay as they are.
 * Errors: bcrE_ARG, bcrE_RGID, bcrE_PENDING
 *         bcrE_BUSY    Others hold the region too; call bcr_rgmod first.
 *         bcrE_NBYTES  There is no room where it lies, or the nbytes of its area are used up. */
BCR_API int bcr_rgrealloc(bcr_region rgid, int newlen);

/* bcr_rglen, bcr_rgerror -- tell a region's length and representation, or whether it is an error.
 * archtype is NULL, or where a success stores the region's archtype. Under bcr_errors an error
 * region comes to cell 0 for what a call could not return: a start of bcr_enlist, a cell of
 * bcr_putm, a put to another host that waits for ever (bcr_put). bcr_copyfm reads it by bcrT_1ERROR:
 * code, operation, CCE, cell or ordinal. Data cannot forge one. Beyond 4,096 that nobody has taken they are only counted and logged.
 * Returns: bcr_rglen the length in bytes; bcr_rgerror 0, or the positive code of an error region.
 * Errors: bcrE_RGID, bcrE_PENDING */
BCR_API int bcr_rglen(bcr_region rgid, int *archtype);
BCR_API int bcr_rgerror(bcr_region rgid);

/* bcr_rgshared -- tell whether anything but this ID holds a region.
 * A region is shared while another CCE, a cell, or another ID of this CCE holds it: bcr_rgmod would
 * copy it, bcr_rgrealloc refuse it. So a sender that keeps a region (bcr_NOFREE) sees that all
 * receivers have freed it. What this CCE does not share stays its own until it shares it.
 * Returns: 1 if it is shared, else 0. A 1 may be out of date when it is read.
 * Errors: bcrE_RGID, bcrE_PENDING */
BCR_API int bcr_rgshared(bcr_region rgid);

/* bcr_heapleft -- tell how many bytes of regions this CCE may still allocate.
 * It is what the nbytes of all its areas are together, less what its live regions are charged there
 * (bcr_cagrow); regions that other CCEs have freed are collected first. Several areas, and pieces of
 * one, may be too small for a single region of that length.
 * Returns: the number of bytes, 0 or more; there is no failure of its own. */
BCR_API long long bcr_heapleft(void);

/* bcr_rgwait, bcr_rgwaitm -- wait until a pending get, or one of several, has its region.
 * rgid came from a get or lock with bcr_PENDING; an ordinary region is ready at once. rgids is an
 * array of nids such IDs, nids at least 1; NULL entries, which failed gets have returned, are
 * skipped, but not all may be. A get that has failed since is ready, and bcr_rgwait on it tells
 * why. msec 0 only looks. failfree nonzero: when the time is up, the gets are cancelled and their
 * IDs freed. The cell decides which came first, so this may last a little longer and succeed.
 * Owns: 1 of bcr_rgwait: gives the region. 0 with failfree: the IDs are dead, and nothing was or
 *     will be taken; so after bcrE_WOKEN with it. -1 of bcr_rgwait: the ID is dead, unless it was
 *     none. Else the gets go on.
 * Returns: 0 if the time is up, with bcr_errno unchanged; else 1, or of bcr_rgwaitm the lowest
 *     index that is ready, counted from 1. bcr_rgwaitm leaves it to bcr_rgwait to tell how a get
 *     has failed: of the errors below it has bcrE_ARG, bcrE_RGID, bcrE_NOMEM and
 *     bcrE_WOKEN.
 * Errors: bcrE_ARG, bcrE_RGID, bcrE_NOCELL, bcrE_DEAD, bcrE_OWNERDEAD
 *         bcrE_NOMEM      There is no memory to look at the region, which is at the head of the
 *                         cell again; or, of bcr_rgwaitm, for the list.
 *         bcrE_NBYTES     After bcr_acqwl, for the private copy; the region is there again too.
 *         bcrE_WOKEN      bcr_wake ended the wait; the gets are as if the time had been up.
 * Blocks: up to msec. May run handlers.
 * Order: a get has its place among waiting ones since it was called, at another host since it came
 *     there. The index tells no order.
 * Crash: as bcr_get. */
BCR_API int bcr_rgwait(bcr_region rgid, int msec, int failfree);
BCR_API int bcr_rgwaitm(int nids, bcr_region *rgids, int msec, int failfree);

/* ---------------------------------------------------------------------------- communication --- */
/* bcr_put, bcr_write, bcr_enq, bcr_rlswl, bcr_wl2rl -- add a region to a cell, or release a lock.
 * rgid is a region of any length, 0 included. qlike nonzero appends; 0 replaces what the cell
 * holds, in one step: nobody sees it empty. cce is a CCE ID, bcr_cce for an own cell; cell is a
 * number in its areas. bcr_rlswl and bcr_wl2rl are bcr_write with bcr_FREE and bcr_NOFREE: they put
 * back what bcr_acqwl gave; after bcr_wl2rl the caller reads on, with no writer between. The cell
 * may be another than the region came from, but should be empty, as a write lock leaves it.
 *
 * A get that waits at the cell is handed the region directly: the waiting reads ahead of the first
 * waiting take share it, that take has it, and those behind it wait on. If only reads wait, all
 * share it and it stays in the cell. A region that was handed over is in no count any more, and no
 * replacement or zap removes it. Nothing is ever dropped to make room: an append to cells that hold
 * their nrgns waits. A replacement needs no room if its cell holds a region.
 * Owns: nofree 0, bcr_rlswl: takes rgid. bcr_NOFREE, bcr_wl2rl: shares it; call bcr_rgmod before
 *     writing to it again. On failure the caller keeps its hold, and the lock.
 * Returns: 0. The region is in the cell then, except at another host under bcr_putwait(bcr_BLOCK): there
 *     the put is ordered then, 1,024 of them at a time, and carried out even if the caller dies.
 *     If it fails after that (bcrE_NOCELL, bcrE_ACCESS, bcrE_DEAD, bcrE_NOMEM), it is lost; that is
 *     logged, under bcr_errors comes as an error region (operation bcr_op_put, the CCE and the
 *     cell), and is told by the next put into that cell, which fails with the same code, once; that
 *     the CCE has ended, by all later puts to it.
 * Errors: bcrE_RGID, bcrE_PENDING, bcrE_NOCCE, bcrE_DEAD, bcrE_NOCELL, bcrE_ACCESS, bcrE_RESERVED,
 *     bcrE_NOMEM, bcrE_FULL
 * Blocks: while the cells of another CCE's area, or what may be ordered, are full: for ever, or as
 *     bcr_putwait says, and then, at another host, until that has answered. Never for own cells:
 *     only the caller makes room there. May run handlers.
 * Order: what one CCE puts into one cell arrives in that order. Waiting puts are served in order of
 *     arrival: room made in an area goes to the one that waits longest there, not to a later
 *     call. */
BCR_API int bcr_put(int qlike, bcr_region rgid, bcr_cce_id cce, int cell, int nofree);
BCR_API int bcr_write(bcr_region rgid, bcr_cce_id cce, int cell, int nofree);
BCR_API int bcr_enq(bcr_region rgid, bcr_cce_id cce, int cell, int nofree);
BCR_API int bcr_rlswl(bcr_region rgid, bcr_cce_id cce, int cell);
BCR_API int bcr_wl2rl(bcr_region rgid, bcr_cce_id cce, int cell);
#define bcr_write(rgid, cce, cell, nofree) bcr_put(0, rgid, cce, cell, nofree)
#define bcr_enq(rgid, cce, cell, nofree)   bcr_put(1, rgid, cce, cell, nofree)

/* bcr_put_within -- add a region to a cell, with a time of its own.
 * It is bcr_put, except that it waits up to msec, whatever bcr_putwait has said; msec is not
 * bcr_PENDING. 0 fails at once with bcrE_FULL if there is no room; bcr_BLOCK waits for ever, and at
 * another host returns when the put is ordered.
 * Owns: as bcr_put.
 * Returns: as bcr_put; at another host, with any msec but bcr_BLOCK, what came of the put.
 * Errors: bcrE_ARG, as bcr_put.
 * Blocks: as bcr_put, up to msec. May run handlers; their own puts wait as bcr_putwait says.
 * Order: as bcr_put. */
BCR_API int bcr_put_within(int qlike, bcr_region rgid, bcr_cce_id cce, int cell, int nofree, int msec);

/* bcr_get, bcr_deq, bcr_read -- obtain the first region of a cell.
 * qlike nonzero takes the region out of the cell; 0 reads it, and it stays there. cce and cell are
 * as in bcr_put. msec is how long to wait at an empty cell, 0: not at all. bcr_PENDING returns at
 * once: an ID that is ordinary if the region was there, else pending, which only bcr_rgwait,
 * bcr_rgwaitm and bcr_rgfree accept until bcr_rgwait has returned 1. A take at an empty cell where
 * a put waits gets that put's region. Others may hold what came from a cell: bcr_rgmod.
 * Owns: gives the region: a read the caller's share of it, a take all that the cell had.
 * Returns: the region ID. With bcr_PENDING some failures come only in bcr_rgwait.
 * Errors: bcrE_NOCCE, bcrE_DEAD, bcrE_NOCELL, bcrE_ACCESS, bcrE_RESERVED, bcrE_OWNERDEAD
 *         bcrE_RGID     A handler that ran meanwhile freed the ID of this get.
 *         bcrE_TIMEOUT  No region came in time, or the lock did not become free.
 *         bcrE_NOMEM    No memory for another ID, or to look at the region, which stays there.
 *         bcrE_NBYTES   bcr_acqwl has no room for its private copy; the region stays first there.
 *         bcrE_WOKEN    bcr_wake ended the wait.
 * Blocks: until a region is there, up to msec. May run handlers.
 * Order: waiting gets and locks are served in order of arrival, reads without consuming. A get
 *     comes after this CCE's earlier puts to the same CCE.
 * Crash: a region handed to a getter that dies before it has it goes to the next waiting get, or
 *     back to the head of the cell, several in their old order, even if the cells are full. */
BCR_API BCR_MUST_USE bcr_region bcr_get(int qlike, bcr_cce_id cce, int cell, int msec);
BCR_API BCR_MUST_USE bcr_region bcr_deq(bcr_cce_id cce, int cell, int msec);
BCR_API BCR_MUST_USE bcr_region bcr_read(bcr_cce_id cce, int cell, int msec);
#define bcr_deq(cce, cell, msec)  bcr_get(1, cce, cell, msec)
#define bcr_read(cce, cell, msec) bcr_get(0, cce, cell, msec)

/* bcr_acqrl, bcr_acqwl -- acquire a read lock or a write lock.
 * A cell with one region in it is a lock, and the region is what the lock protects. The cell is the
 * caller's own, not cell 0, or an in/out cell. Give lock cells an area whose nrgns is their number:
 * then the room of a region that is locked away stays free for its return. bcr_acqrl reads as
 * bcr_read does: others can acquire the lock too, also for writing, and this reader keeps the
 * region as it was. bcr_acqwl is bcr_deq with bcr_rgmod (with bcr_PENDING that is in bcr_rgwait):
 * nobody else acquires the lock until a CCE has put a region there.
 * Owns: gives the region. bcr_rlsrl releases a read lock; bcr_rlswl or bcr_wl2rl releases a write
 *     lock, whose region no other CCE holds.
 * Errors: as bcr_get.
 * Blocks: until nobody has the write lock, up to msec. May run handlers.
 * Order, Crash: as bcr_get. */
BCR_API BCR_MUST_USE bcr_region bcr_acqrl(bcr_cce_id cce, int cell, int msec);
BCR_API BCR_MUST_USE bcr_region bcr_acqwl(bcr_cce_id cce, int cell, int msec);

/* bcr_putm, bcr_writem, bcr_enqm -- add one region to several cells.
 * cells is an array of ncells >= 0 pairs (CCE ID, cell number); each is a bcr_put. A cell named
 * twice gets it twice. Cells of one host, also of another one, may share the region, as after a
 * bcr_put with bcr_NOFREE: who takes it from one calls bcr_rgmod before writing there. Cells with
 * room are served at once; others are waited for, not own ones.
 * Owns: as bcr_put, whatever single cells answer. A call that bcrE_ARG, bcrE_RGID or bcrE_PENDING
 *     refuses leaves the caller its hold.
 * Returns: 0 if all cells took it; for cells of another host under bcr_putwait(bcr_BLOCK) as bcr_put.
 *     After those three codes nothing has happened; any other is that of the first cell that is known
 *     to have failed, and all others are served. Under bcr_errors each failed cell, also of another
 *     host, gives an error region in cell 0: operation bcr_op_putm, the CCE and the cell.
 * Errors: bcrE_ARG, as bcr_put.
 * Blocks: as bcr_put. May run handlers.
 * Order: for each cell as bcr_put. Between the cells none: some have it while others wait.
 * Crash: each cell has it wholly or not at all; a caller that dies inside may have served some. */
BCR_API int bcr_putm(int qlike, bcr_region rgid, int ncells, const int *cells, int nofree);
BCR_API int bcr_writem(bcr_region rgid, int ncells, const int *cells, int nofree);
BCR_API int bcr_enqm(bcr_region rgid, int ncells, const int *cells, int nofree);
#define bcr_writem(rgid, ncells, cells, nofree) bcr_putm(0, rgid, ncells, cells, nofree)
#define bcr_enqm(rgid, ncells, cells, nofree)   bcr_putm(1, rgid, ncells, cells, nofree)

/* bcr_zap, bcr_celllen -- remove, or count, all regions in a cell.
 * cce and cell are as in bcr_put; bcr_zap needs a cell to get from, bcr_celllen one not private to
 * another CCE. Regions of waiting puts are not in the cell yet, those handed to a get no more.
 * bcr_zap makes room for puts; gets wait on.
 * Returns: bcr_zap 0, also for an empty cell; bcr_celllen the number at some instant of the call.
 * Errors: bcrE_NOCCE, bcrE_DEAD, bcrE_NOCELL, bcrE_ACCESS, bcrE_RESERVED, bcrE_NOMEM
 * Blocks: no, but for the answer of another host. May run handlers.
 * Order: bcr_zap comes after this CCE's earlier puts to the same CCE. */
BCR_API int bcr_zap(bcr_cce_id cce, int cell);
BCR_API int bcr_celllen(bcr_cce_id cce, int cell);

/* bcr_putwait, bcr_getputwait -- set, or tell, how long this CCE's puts wait for room.
 * msec holds for bcr_put, bcr_putm and what is made of them, from now on; it is not bcr_PENDING. 0:
 * fail at once with bcrE_FULL. A CCE starts with bcr_BLOCK. Under that a put to another host
 * returns when it is ordered; what becomes of it is told later, as bcr_put says. Any other msec is
 * waited at the cell, from the put's arrival there, as that of a get is (0: bcrE_FULL if there is
 * no room when it arrives; memory for what arrives, recvpool in bcrrc, is room too), after earlier
 * puts of this CCE to the same CCE, also those that wait for such memory. The call returns what
 * came of it, a round trip later: put, or not and the caller has the region. bcr_getputwait stores
 * at its msec, not NULL, what was set last, so that a library can restore it.
 * Errors: bcrE_ARG */
BCR_API int bcr_putwait(int msec);
BCR_API int bcr_getputwait(int *msec);

/* bcr_putdone -- wait until all earlier puts of this CCE have reached their cells.
 * msec is not bcr_PENDING; 0 only looks. Within a host, and with a bcr_putwait other than bcr_BLOCK, puts
 * are there when they return. A put that has failed at another host counts as done.
 * Returns: 1 if all have; 0 if the time is up, with bcr_errno unchanged.
 * Errors: bcrE_ARG, bcrE_NOMEM
 * Blocks: up to msec. May run handlers. */
BCR_API int bcr_putdone(int msec);

/* bcr_fd -- get a descriptor for poll(2) that tells when an own cell has regions.
 * cell is a cell of this CCE, 0 included. It has one descriptor, the library's, to be neither read
 * nor closed; bcr_cafree closes it. Each call arms it anew: readable at once if the cell holds a
 * region, else after the next put. So call bcr_fd, poll, get with msec 0 until NULL, and call
 * bcr_fd again. It tells of nothing else: not of a region that is handed to a waiting get, of room
 * for a put, of the end of a CCE, of handler requests.
 * Returns: the descriptor, 0 or more.
 * Errors: bcrE_NOCELL, bcrE_NOMEM
 * Blocks: until enl has answered, at the first call for a cell.
 * Order: a put that returned before the call makes the descriptor readable at once. */
BCR_API int bcr_fd(int cell);

/* ----------------------------------------------------------- copying and message passing --- */
/* bcr_copyfm, bcr_copyto, bcr_copytofm -- copy data out of a region, into one, or between two.
 * copydesc (<bcr/types.h>) says what is copied, repl times over (0 or more): by bcr_copyfm from
 * byte offset of rgid into the buflen bytes at buffer, by bcr_copyto the other way, by bcr_copytofm
 * from byte off_fm of rgid_fm to byte off_to of rgid_to, each in its own archtype. An offset lies
 * in its region; buffer may be NULL if buflen is 0; copydesc must not lie where the copy writes. If
 * source and destination overlap, the copy is made as if its source had been set aside first. What
 * is written to is made the caller's by bcr_rgmod, so *rgid or *rgid_to may change.
 * Owns: borrows the regions; afterwards nobody else holds the one that was written to.
 * Returns: n >= 2: done, n - 2 bytes of the source are left after the last item read.
 *     1: the source ended before the descriptor did, whether the destination was full or not.
 *     n <= -3: the destination was full before that, and -n - 2 bytes of the source are left.
 *     0: bcrE_ARCH. -2: the other failures. What was copied before bcrE_RANGE, bcrE_NOCCE,
 *     bcrE_NOMEM, or bcrE_DESC for an adjust that led out of bounds, stays.
 * Errors: bcrE_ARG, bcrE_RGID, bcrE_PENDING, bcrE_DESC, bcrE_ARCH, bcrE_RANGE, bcrE_NOCCE,
 *     bcrE_NBYTES, bcrE_NOMEM */
BCR_API int bcr_copyfm(const int *copydesc, int repl, bcr_region rgid, int offset, void *buffer, int buflen);
BCR_API int bcr_copyto(const int *copydesc, int repl, bcr_region rgid, int offset, const void *buffer,
                       int buflen);
BCR_API int bcr_copytofm(const int *copydesc, int repl, bcr_region rgid_to, int off_to, bcr_region rgid_fm,
                         int off_fm);

/* bcr_copytosz -- tell how much of a region a bcr_copyto would use.
 * As bcr_copyto from byte offset on into a region of this archtype (0: this CCE's own) that never
 * gets full, but nothing is copied, and buffer may be NULL. offset, repl and buflen are 0 or more,
 * and the region is not longer than one can be.
 * Returns: n >= 2: the descriptor would be done, with n - 2 bytes used, offset included.
 *     n <= -2: the buffer would end before the descriptor, with -n - 2 bytes used.
 *     0: bcrE_ARCH. -1: the other failures.
 * Errors: bcrE_ARG, bcrE_DESC, bcrE_ARCH, bcrE_NOMEM */
BCR_API int bcr_copytosz(const int *copydesc, int repl, int archtype, int offset, const void *buffer,
                         int buflen);

/* bcr_send, bcr_sendm -- copy data into a new region and put that into a cell, or several.
 * bcr_copytosz, bcr_rgalloc, bcr_copyto and bcr_put (bcr_sendm: bcr_putm) in one: the len bytes at
 * buffer, as buftype says, repl times over, in a region of just the size that they take, of this
 * archtype (0: this CCE's own). If the buffer ends before the descriptor, what it holds is sent.
 * Owns: nothing; on failure the region is freed, except where bcr_sendm has put it.
 * Returns: n >= 1 as bcr_copyto. -1: no region could be allocated. -2: any other failure.
 * Errors: bcrE_ARG, bcrE_DESC, bcrE_ARCH, bcrE_RANGE, bcrE_NOCCE, bcrE_DEAD, bcrE_NOCELL,
 *     bcrE_ACCESS, bcrE_RESERVED, bcrE_NOMEM, bcrE_NBYTES, bcrE_FULL
 * Blocks, Order: as bcr_put.
 * Crash: as bcr_put or bcr_putm; what a dead caller held is freed. */
BCR_API int bcr_send(const void *buffer, int len, const int *buftype, int repl, bcr_cce_id cce, int cell,
                     int qlike, int archtype);
BCR_API int bcr_sendm(const void *buffer, int len, const int *buftype, int repl, int ncells, const int *cells,
                      int qlike, int archtype);

/* bcr_recv -- get a region from a cell and copy its data out.
 * bcr_get, bcr_copyfm and bcr_rgfree in one; msec is not bcr_PENDING. Arguments and descriptor are
 * checked first: if they are refused, no region is taken.
 * Owns: nothing; what was taken (qlike not 0) is freed, also if it could not be copied.
 * Returns: -1 if no region came, or msec is bcr_PENDING; else what bcr_copyfm returns.
 * Errors: bcrE_ARG, bcrE_DESC, bcrE_ARCH, bcrE_RANGE, as bcr_get.
 * Blocks, Order: as bcr_get.
 * Crash: as bcr_get; a region that a dead caller held is freed. */
BCR_API int bcr_recv(void *buffer, int len, const int *buftype, int repl, bcr_cce_id cce, int cell, int qlike,
                     int msec);

/* --------------------------------------------------------------------------------- handlers --- */
/* bcr_handler, bcr_handler_arg -- have a routine called when a cell fills or falls short.
 * cell is a cell of this CCE, 0 included. handler is called with its number, by bcr_handler_arg
 * also with argument, which the library never looks at; NULL removes the cell's handler, whatever
 * the other arguments. A cell has one handler, by whichever routine. watermark > 0 requests it
 * after each put that leaves at least so many regions in the cell; 0 at each get or lock that finds
 * the cell empty; < 0 at each get that takes and finds at most |watermark|, before it removes one.
 * It does not matter who puts or gets. A get that waits requests once; regions that the cell holds
 * already request nothing. Each request is one call; none is lost, and no two are made one. A new
 * handler of the cell gets the requests of the old one that have not begun; bcr_cafree, or NULL,
 * drops them. Invocations that have begun go on.
 *
 * A call of a handler is an invocation, which has a stack of its own and may wait in any routine.
 * activep is its priority while it executes or could, blockp while a routine makes it wait; neither
 * is negative. bcr(7) tells when requests start. A handler may exit; longjmp must not leave it.
 * Errors: bcrE_ARG, bcrE_NOCELL, bcrE_NOMEM
 * Blocks: no; may run handlers.
 * Order: requests of one cell start in the order of the puts or gets that made them.
 * Crash: a caller that dies in a put or get has requested once if that is done, else not at all. */
BCR_API int bcr_handler(int cell, void (*handler)(int), int watermark, int activep, int blockp);
BCR_API int bcr_handler_arg(int cell, void (*handler)(int, void *), void *argument, int watermark,
                            int activep, int blockp);

/* bcr_priority -- set the priorities of the calling invocation.
 * activep and blockp are as in bcr_handler; the main program begins with 0 and 0. A higher activep
 * shuts handlers out, a higher blockp does while the invocation waits.
 * Returns: 0, after the handlers have run that the new priority lets in.
 * Errors: bcrE_ARG, bcrE_NOMEM
 * Blocks: no; may run handlers.
 * Order: it holds from the return on, until the invocation ends or calls again. */
BCR_API int bcr_priority(int activep, int blockp);

/* bcr_getpriority -- tell the priorities of the calling invocation.
 * activep and blockp are NULL, or where a success stores what bcr_priority or bcr_handler has set.
 * Errors: bcrE_NOMEM */
BCR_API int bcr_getpriority(int *activep, int *blockp);

/* bcr_allow, bcr_block -- run handlers that were requested; go on in handlers only.
 * priority is the lowest that may run, and the caller's meanwhile; negative: its activep. bcr_allow
 * returns when no request is left of that priority, and no invocation that could go on; one that
 * waits holds it up only by a higher blockp. bcr_block is bcr_allow(0) until a handler calls exit.
 * Returns: bcr_allow 0, also if there was nothing to run; bcr_block not at all.
 * Errors: bcrE_NOMEM
 * Blocks: while others run. May run handlers.
 * Order: of several in bcr_allow with one priority, the one that called last returns first. */
BCR_API int bcr_allow(int priority);
BCR_API int bcr_block(void);

/* bcr_strerror -- say what an error code means and what to do about it.
 * code is any int, bcr_errno or another. It works before bcr_init and in the child of a fork.
 * Returns: one static sentence, also about what is no code, never NULL; there is no failure. */
BCR_API const char *bcr_strerror(int code);

/* bcr_descshow -- write a copy descriptor readably.
 * What copydesc says, triple by triple, with where its items lie in this CCE's memory and in a
 * region of this archtype (0: this CCE's own). At most size bytes go to text, the last a zero; text
 * may be NULL if size is 0. It works before bcr_init. The form of the text may change.
 * Returns: the length of the whole text without the zero, whether it had room or not.
 * Errors: bcrE_ARG, bcrE_ARCH, bcrE_DESC, bcrE_NOMEM */
BCR_API int bcr_descshow(const int *copydesc, int archtype, char *text, int size);

#ifdef __cplusplus
}
#endif

#endif
