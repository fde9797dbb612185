/* SPDX-License-Identifier: MIT */
/* bcr/program.h -- the program as a whole: its CCEs' starts and ends, and what CCEs are told of them.
 *
 * It stands beside <bcr.h>, which it includes: that has the routines that move data, this those that
 * say who is in the program and what becomes of it. What the top of <bcr.h> says of blocks, codes
 * and routines is true here too. */
#ifndef BCR_PROGRAM_H
#define BCR_PROGRAM_H

#include <stddef.h>

#include <bcr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In flags of a bcr_startspec. */
enum bcr_startflag {
    bcr_start_team = 1 /* the CCEs form a team */
};

/* What a region is: the result of bcr_rgkind. */
enum bcr_kind {
    bcr_DATA = 0,  /* what a CCE has allocated, or the birth region of bcr_enlist */
    bcr_ERROR = 1, /* an error region: bcr_rgerror */
    bcr_END = 2,   /* a CCE has ended: bcr_watch */
    bcr_LINE = 3   /* a CCE has printed a line: lines of bcr_start */
};

/* How a CCE has ended: the third item of an end region. */
enum bcr_how {
    bcr_UNKNOWN = 0,  /* it ended before anybody asked, and nobody knows how any more; or it left no status */
    bcr_EXITED = 1,   /* by exit or by returning from main, with a status */
    bcr_KILLED = 2,   /* by a signal */
    bcr_HOSTLOST = 3, /* its host is lost to the program, or was taken away */
    bcr_NEVERUP = 4   /* it was started, and did not become a CCE */
};

/* Which CCEs, in place of a CCE ID. */
enum bcr_group {
    bcr_ALL = -2,    /* all of the program */
    bcr_TEAM = -3,   /* those of this CCE's team */
    bcr_STARTED = -4 /* those that this CCE starts: bcr_watch */
};

/* So many bytes of a note are kept: bcr_note. */
enum { bcr_NOTE_MAX = 104 };

/* What a CCE says of itself: bcr_idle. */
enum bcr_idleness {
    bcr_IDLE_WAITING = 1, /* it only looks for regions */
    bcr_IDLE_SERVER = 2   /* it serves the others */
};

/* bcr_rgkind -- tell what a region is: data of a CCE, or news from BCR itself.
 * The kind stands beside the data, in the region's header, and goes with the region to other cells
 * and hosts. No CCE can make a region of another kind than bcr_DATA; bcr_rgmod and the copy routines
 * leave the kind as it is.
 * Returns: a value of enum bcr_kind, 0 or more.
 * Errors: bcrE_RGID, bcrE_PENDING */
BCR_API int bcr_rgkind(bcr_region rgid);

/* bcr_enter -- make this process a CCE of a program that runs, though no CCE has asked for it.
 * It is called in place of bcr_init, whose flags and ccename it has. program is the name of a program
 * of the same user that has a daemon on this machine, as enl ps shows it: NAME, or NAME:K for one of
 * several daemons there. The process may have several threads, keeps its parent, its standard files
 * and the cores it may use, and is not started again. bcr_init does the same if the variable BCR_ENTER
 * has the name and the process was not started as a CCE: enl --enter sets it. Programs that run with
 * more rights than their starter (set-user-ID) ignore the variable; bcr_init and bcr_enter unset it.
 *
 * The new CCE is like any other, with these differences. It has no enlistor: bcr_enlistor is -1, as in
 * the root. bcr_cceord is the lowest number from 1 up that no CCE of this host has then; it may be that
 * of a CCE elsewhere, or that a later bcr_start gives. It always has bcr_isolate: that it fails harms
 * no other. No CCE hears of it until it puts something: it finds others by names (bcr_find), and tells
 * them its ID; they can watch it. The program does not end before all that have entered have ended;
 * one that is ended (bcr_end, enl kill, a failure under onfail abort) ends them by SIGKILL, as all.
 * Returns: as bcr_init.
 * Errors: bcrE_ARG     flags are negative, or program is NULL or cannot be a program's name.
 *         bcrE_BUSY    This process is a CCE already, or was started to be one: call bcr_init.
 *         bcrE_NOPROG  No program of that name and user has a daemon on this machine: it has ended, or
 *             has not begun, or runs elsewhere. Entering starts none. Nothing is said on stderr.
 *         bcrE_ENLIST  The program does not take it, and stderr says why: it has not begun or is ending,
 *             is stopped, or is of another build or architecture.
 *         bcrE_NOMEM   This process or enl has no memory or descriptors left, or the program no numbers.
 *             After a failure the process is as before, and may call bcr_enter or bcr_init again.
 * Blocks: until enl has answered.
 * Crash: as bcr_init. */
BCR_API int bcr_enter(const char *program, int flags, const char *ccename);

/* bcr_start -- start new CCEs with arguments, environment and directory, and learn their IDs.
 * It does what bcr_enlist does, which is its short form, and more. machine, program, region and nofree
 * of spec are mach, obj, rgid and nofree there. size is the size of the struct, by which a later
 * version with more fields is told from this one; fields that this library does not know must be 0.
 * core is the core of all of the CCEs, or -1: each is pinned to the next one in turn; a program that
 * does not set it has 0, the first core. count is how many CCEs are to be started, at least 1; their
 * ordinals count from ordinal on, which is not negative, to at most INT_MAX.
 *
 * arguments are the strings behind argv[0], which is program; environment are strings "NAME=value",
 * added to the environment that a CCE gets anyway, in the places of variables of these names. NULL
 * ends each of the two; NULL instead of them: none. In directory, unless it is NULL or "", the CCEs
 * start; a relative one counts from the root's working directory, from which program is looked up all
 * the same. Each host gets all this once, however many CCEs start there. A process that waits under
 * enl --join has its own: none is taken if one of the three is given.
 *
 * flags is 0, or bcr_start_team: the CCEs form a team, whose ranks count from 0 on. next is NULL, or with
 * bcr_start_team the spec of further CCEs of that team, whose flags are 0, and whose ranks come next;
 * so a team has several programs, machines or ordinals, and count is the sum of all below. Members
 * that could not be started have ranks all the same, and bcr_teamcce says that they are not there.
 * bcr_start does not wait until they have called bcr_init. A program that does not set the two has 0.
 *
 * lines is 0, or a cell of the caller, of kind in or in/out: what the CCEs print comes there then, and
 * does not go to the root's terminal, files or log, but for the last lines of a CCE that fails, which
 * stand in what enl says of its end. It comes in regions of kind bcr_LINE: three INTs,
 * which bcr_copyfm reads by bcrT_1LINE, and behind them, from byte 12 on, bytes as they were printed. The
 * INTs are the ordinal of the CCE; the stream, 1 for stdout, 2 for stderr; and 1 if the line goes on in
 * the next region of that stream, else 0. A region has one line with its newline, or a part of one: of a
 * line of more than 65,524 bytes, or of one whose end is yet to be printed: what is there comes at once. One
 * without bytes says that no process has the stream open any more. The regions of a stream come in order;
 * an end region of the CCE (bcr_watch) may come before its last lines.
 *
 * They count among the nrgns of the cell and are charged to nobody: this host's memory has them, or the
 * receive pool those from other hosts. While the cell is full, the streams are not read, which holds up a
 * CCE that prints more, and no other. If the caller ends, or frees the cell, what has not come there,
 * and all that is printed later, goes where other CCEs' lines go; so it does once the program is ended by
 * a signal, a failure or bcr_end, or the host of the CCE that prints is taken away (bcr_hostdel). No byte
 * is lost or comes twice, but for what was on its way when the caller's host was lost, or did not answer
 * for hosttimeout (bcrrc(5)) while the other was taken away. No process that waits under enl --join is
 * taken: its files are its own.
 *
 * ids is NULL, or has room for count IDs: there come those of the CCEs that were started, those with
 * lower ordinals first; -1 if no memory was left for one. They are good at once, before the CCE calls
 * bcr_init: but it has no cells until it makes some (bcrE_NOCELL), and may not come up at all
 * (bcrE_DEAD).
 * Owns: as bcr_enlist.
 * Returns: how many CCEs could be started, at least 1. Failures are told as by bcr_enlist.
 * Errors: as bcr_enlist.
 *         bcrE_ARG     spec is NULL, or a field is not as above: a size that is none, or with fields set
 *                      that this library does not know; a variable without a name; a string of 128
 *                      KiB or more; or all strings, with 8 bytes more for each, are over 6 MiB, or
 *                      more than the machine takes (ulimit -s there).
 *         bcrE_NOMEM   The machine or process has no memory, descriptor or process left for the call; or
 *                      the starts that a host has under way, or passes on, have over 64 MiB of
 *                      arguments and environments together.
 *         bcrE_NOPROG  No such program, not executable, or of another architecture; or directory is none
 *                      on that machine, or may not be entered.
 *         bcrE_NOCELL  lines is no cell of the caller.
 *         bcrE_ACCESS  lines is a cell into which others may not put.
 * Blocks, Order: as bcr_enlist. */
struct bcr_startspec {
    size_t size;
    const char *machine;
    int core;
    int count;
    int ordinal;
    const char *program;
    const char *const *arguments;
    const char *const *environment;
    const char *directory;
    bcr_region region;
    int nofree;
    const struct bcr_startspec *next;
    int flags;
    int lines;
};
BCR_API int bcr_start(const struct bcr_startspec *spec, bcr_cce_id *ids);

/* bcr_hostadd -- add a machine to those that the program may use, and have a daemon run there.
 * host is a line as in a hosts file (enl(1)): the machine's name, and behind it what the file may say of
 * one: addr, login, enl, slots, abi, path, local. It is of one machine: no range that stands for several
 * names. The machine becomes the last of those that bcr_host tells; in a program without a list the
 * root's machine stays the first. From then on it is like one of the file's: bcr_start takes its name on
 * every host, and it stays in the list when it is lost. Any CCE may add one, wherever it runs.
 *
 * A daemon is started there at once, as by the first start of a CCE. If that fails the list is as before,
 * and a line with the reason is in the log and on the root's stderr. While it is being started bcr_host
 * tells the machine already, and starts there wait for it.
 * Returns: 0: the daemon is up, and starts there need not wait.
 * Errors: bcrE_ARG     host is NULL, over 1023 bytes long, or no line that stands for one machine; stderr
 *                      says what is wrong.
 *         bcrE_BUSY    The program has a host of that name, or is adding one; or it is a machine that the
 *                      program has under another name, the root's for example (give it another enl of its
 *                      own by "local").
 *         bcrE_NOHOST  No daemon can be started there, or none was up within connecttimeout (bcrrc(5));
 *                      or another CCE has taken the host away meanwhile.
 *         bcrE_NOMEM   The root's daemon has no memory, or the list has 150,000 hosts.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: until enl runs there, or it is known that it does not. May run handlers.
 * Crash: of the caller: the host is added all the same, or not at all. */
BCR_API int bcr_hostadd(const char *host);

/* bcr_hostdel -- take a machine away from those that the program may use, and end what runs there.
 * host is a name that bcr_host tells, of any machine but the root's. It is out of the list at once, and
 * starts there fail (bcrE_NOHOST); the numbers of those behind it are one less. All CCEs there are killed,
 * whatever they do, and its daemon ends when what they have printed is out; of what was to come into a
 * cell of a CCE on another host (lines of bcr_start) the beginning may come there, and all behind it goes
 * where other CCEs' lines go. To all others that is as if the host were lost (bcrE_DEAD), but it is no
 * failure: onfail does not count, and nothing is said of it on stderr. Watches tell of each CCE there
 * (bcr_watch), as killed by SIGKILL or by the loss of its host. Daemons that were started from there go
 * on. The name may be added again.
 *
 * Of several names of one machine only that one goes, unless its daemon was started by that name. Any CCE
 * may take away any machine; one that takes away its own is killed with it.
 * Returns: 0: its daemon has ended, or is given up: one that has not ended killafter, hosttimeout and two
 *     seconds after it was told to (bcrrc(5)), as when its endscript hangs. Some watches may tell later.
 * Errors: bcrE_ARG     host is NULL, "", over 1023 bytes long, or the root's machine.
 *         bcrE_NOHOST  The program has no machine of that name, or another CCE is taking it away.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: until the daemon there has ended. May run handlers.
 * Crash: of the caller: the host is taken away all the same, or not at all. */
BCR_API int bcr_hostdel(const char *host);

/* bcr_hostinfo -- tell what is known of a machine that bcr_start may start CCEs on.
 * k counts as in bcr_host. size is the size of the struct, which the caller sets; the routine fills in
 * the rest. number is that of the daemon's host in the program, as bcr_teamhost tells it, 0 for the
 * root's, or -1 if no daemon is up there: none has been started yet, or it is starting, or was lost. A
 * machine that was lost has another number when a daemon is started there again; machines with several
 * names have one. slots is how many CCEs it is meant for. archtype is how CCEs there represent data, 0 if
 * number is -1. name is the machine's name, and arch what enl calls its architecture, as uname -m (i386
 * for 32-bit x86); "" if it was never up, and the list does not say it.
 * Returns: 1; 0: there is no such machine.
 * Errors: bcrE_ARG     k is negative, entry is NULL, or its size is none that this library knows.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: until enl has answered.
 * Order: who asks for each k while the list changes may miss a machine, or be told of one twice. */
struct bcr_hostentry {
    size_t size;
    int number;
    int slots;
    int archtype;
    char name[256];
    char arch[16];
};
BCR_API int bcr_hostinfo(int k, struct bcr_hostentry *entry);

/* bcr_hostof -- tell on which host a CCE is.
 * cce is the ID of any CCE, the caller's too, and also of one that has ended.
 * Returns: the number of its host in the program, 0 or more, as bcr_hostinfo and bcr_teamhost tell it: 0
 *     for the root's, and equal for CCEs that share memory.
 * Errors: bcrE_NOCCE
 * Blocks: no. Runs no handlers. */
BCR_API int bcr_hostof(bcr_cce_id cce);

/* bcr_teamrank, bcr_teamsize, bcr_teamcce, bcr_teamhost -- tell who is in this CCE's team.
 * A team is the CCEs that enl -n, or one bcr_start with bcr_start_team, has started: size members with
 * the ranks 0 to size - 1. Who is in it does not change, whoever ends. A CCE is in one team or in
 * none, and a program may have several. bcr_init of a member returns when each member has called it,
 * or has ended with status 0 before, or could not be started; if one ends otherwise before, that is an
 * abnormal end (onfail). So who comes out of bcr_init can put to all others as soon as they have
 * grown their cells, for which bcr_teamsync waits.
 *
 * rank is that of any member, the caller too.
 * Returns: bcr_teamrank the caller's rank; bcr_teamsize how many members the team has, 0 if the caller
 *     is in none; bcr_teamcce the ID of the member with that rank, also of one that has ended;
 *     bcr_teamhost a number for its host, 0 or more, equal for members that share memory.
 * Errors: bcrE_ARG     There is no such rank.
 *         bcrE_NOTEAM  This CCE is in no team. Not of bcr_teamsize.
 *         bcrE_DEAD    bcr_teamcce and bcr_teamhost: no CCE was started for that rank.
 *         bcrE_NOMEM   bcr_teamcce: no memory for one more ID. */
BCR_API int bcr_teamrank(void);
BCR_API int bcr_teamsize(void);
BCR_API bcr_cce_id bcr_teamcce(int rank);
BCR_API int bcr_teamhost(int rank);

/* bcr_teamsync -- wait until all members of the team have called it.
 * It is a barrier: what a member did before its call, such as growing a cell, is done for all whose
 * call has returned 0. The members' n-th calls belong together. It moves no data, and puts that are
 * under way may come later (bcr_putdone). With bcr_PENDING this member has called it, and does not wait:
 * the next call of bcr_teamsync goes on with that one. The descriptor of bcr_wakefd tells when all have.
 * Returns: 0 once all have arrived. A member that ends after it has arrived makes no difference; all
 *     that wait for the same call then get 0, or all get bcrE_DEAD.
 * Errors: bcrE_DEAD    A member has ended, or was never started, that has not arrived. All later calls
 *             fail so, too.
 *         bcrE_TIMEOUT  Not all have arrived in the time given: this call did not count, and the next one
 *             takes its place. If the last members arrive just then, it returns 0. With bcr_PENDING, or
 *             after it: not all have arrived, and the call counts and goes on.
 *         bcrE_BUSY    A handler of this CCE calls it while the CCE waits in it already.
 *         bcrE_NOTEAM  This CCE is in no team.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: up to msec. May run handlers.
 * Crash: for the others as an end of the caller, before or after it has arrived. */
BCR_API int bcr_teamsync(int msec);

/* bcr_watch, bcr_unwatch -- be told when a CCE has ended, however it ends; give that up.
 * cce is the ID of any other CCE, here or on another host. cell is a number in the caller's own areas.
 * When that CCE has ended, a region of kind bcr_END comes into the cell, once for each pair of CCE and
 * cell, however often that was watched before; at once if the CCE has ended already, or is one that the
 * program has never had. It is read by bcr_copyfm with bcrT_1END. A get that waits there gets it, a
 * handler is requested, and the lock of a holder that has ended is over, as by a put. bcr_unwatch
 * without a watch is no error; an end region that is in the cell already, or that enl is about to put
 * there, comes all the same. A watch ends with the region, with bcr_cafree of the cell, and with the
 * caller. Nothing of the CCE that is watched changes, and it does not learn of it.
 *
 * bcr_STARTED in place of a CCE: the end of each CCE that the caller starts from then on, by bcr_start or
 * bcr_enlist, comes into the cell, once, whether or not the caller has ever heard of it: also of those that
 * never came up, and of all that were started on a host that is lost. Its ordinal is told in each case.
 * Starts that fail (bcr_start, bcr_errors) are none. If a host is lost while bcr_start waits for it, that
 * fails, and some that were started there may be told of all the same. A CCE that is also watched by itself
 * into that cell is told of once. The end may come before bcr_start has returned. This watch does not end
 * with a region.
 * Errors: bcrE_NOCCE, bcrE_NOMEM, bcrE_NOCELL, bcrE_RESERVED
 *         bcrE_ARG     cce is the caller itself.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: until enl has answered, here; never for the other CCE or its host.
 * Order: the region comes after all that the CCE has put into cells of the caller, save puts that
 *     waited for room, and save what was on its way when its host was lost. It needs no room: it
 *     comes also when the cells hold their nrgns, and counts there until it is taken.
 * Crash: a CCE killed at any instruction is told of like one that exits. Only if the watcher's host has
 *     no memory left is the region lost, which the log says. */
BCR_API int bcr_watch(bcr_cce_id cce, int cell);
BCR_API int bcr_unwatch(bcr_cce_id cce, int cell);

/* bcr_signal -- send a signal to a CCE, or to all CCEs.
 * which is a CCE, the caller included; bcr_ALL, all CCEs of the program, or bcr_TEAM, all members of
 * the caller's team, the caller too. signal is
 * the number of a signal, with which kill(2) would do the same here; 0 sends nothing, and tells
 * whether which could be sent one. The CCE itself gets it, whatever it runs under: no wrapper, no
 * debugger, no other process of its group. One that ends by it has ended abnormally (bcr_init).
 * What the caller has put before need not have arrived when the signal does, nor the other way.
 * Returns: 0 when enl has sent it on the CCE's host. For bcr_ALL and bcr_TEAM, when it has sent it to
 *     those of the caller's host and the root's, and passed it on to the other hosts. A CCE that blocks or
 *     ignores it, or is stopped, makes no difference. One that has not called bcr_init yet is left out
 *     of bcr_ALL; by its ID the process gets it that was started for it.
 * Errors: bcrE_NOCCE, bcrE_DEAD
 *         bcrE_ARG     signal is none that programs use, or the CCE is another user's by now.
 *         bcrE_NOTEAM  which is bcr_TEAM: this CCE is in no team.
 *         bcrE_NOMEM   A daemon has no memory to pass it on.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: until enl has answered, on another host that host's. May run handlers.
 * Crash: for a caller that dies inside enl sends it, if to all then to all, or not at all. */
BCR_API int bcr_signal(bcr_cce_id which, int signal);

/* bcr_end -- end the whole program, or the caller's team, this CCE too.
 * status is 0 to 255. With bcr_ALL as which, it becomes enl's exit status. All CCEs are killed at once on all
 * hosts, whatever they do: those that compute, are stopped or wait in bcr_init, too. No handler for
 * atexit runs, and nothing is said of their ends, whatever onfail is. What they have printed until
 * then is shown, from their pipes; of what stdio still buffers, the caller's stdout and stderr alone.
 * Regions lie where they were put, and vanish with the program. Scripts run, and nothing is left.
 * Of several that call, the first that reaches the root's host decides; so does an abnormal end that
 * ended the program before. After a signal to enl that ends the program it sets the status.
 *
 * With bcr_TEAM all members of the caller's team end so, and no other CCE: as if each had exited with
 * that status, as watches tell, but each end is a normal one. What a member has put before arrives,
 * as when it exits. Of the team that enl has started (enl -n) the status becomes enl's exit status, also when its
 * member 0 has ended before; of another team enl gets the status only if the root is a member that has not ended.
 * Returns: only on failure.
 * Errors: bcrE_ARG     status is out of range, or which neither bcr_ALL nor bcr_TEAM.
 *         bcrE_NOTEAM  which is bcr_TEAM: this CCE is in no team.
 *         bcrE_ENLIST  The program closed the connection to enl.
 * Blocks: until this process is killed. May run handlers, before it asks for the end.
 * Crash: a caller that dies inside has ended the program so, or not at all. */
BCR_API int bcr_end(int status, int which);

/* bcr_publish, bcr_find -- give a cell a name that all CCEs of the program can look up; look one up.
 * name is 1 to 255 bytes of UTF-8 without control characters (C0, DEL, C1). cell is a number in the caller's own
 * areas, or 0: the name is taken back, if the caller has given it. A cell may have several names, and
 * a name may move to another cell of the same CCE. When the CCE ends, its names are free; bcr_cafree
 * leaves them. cce and cell of bcr_find are NULL, or where the CCE's ID and the cell's number go; they
 * stay as they are if it fails. The names of two programs have nothing in common.
 * Errors: bcrE_ARG, bcrE_NOMEM
 *         bcrE_BUSY    Another CCE has given that name.
 *         bcrE_NOCELL  The caller has no such cell.
 *         bcrE_TIMEOUT  No cell had that name in the time given; 0 only looks.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: bcr_publish until enl has answered; bcr_find up to msec. bcr_find may run handlers.
 * Order: who finds a name finds what was published last, and may find its CCE ended all the same.
 * Crash: as bcr_get. */
BCR_API int bcr_publish(const char *name, int cell);
BCR_API int bcr_find(const char *name, bcr_cce_id *cce, int *cell, int msec);

/* bcr_threadcores -- let the calling thread run on all cores that the program may use here.
 * A CCE that its enlistor or enl has pinned to a core starts threads that are pinned to it, too, and run by
 * turns with the one that calls BCR. Each thread that shall not calls this, once. The cores are those
 * that enl was allowed to use when it started (taskset), and never others. In a CCE that nobody has
 * pinned, or that was allowed other cores before bcr_init (taskset in front of it), they are those of
 * the thread that has called bcr_init, as they were then. Memory and further threads are left alone.
 * It may be called while other threads are in calls of BCR, and by the thread that makes them.
 * Returns: 0.
 * Errors: bcrE_NOCORE  The system has taken all of these cores from this process: the thread keeps
 *             those that it has. */
BCR_API int bcr_threadcores(void);

/* bcr_sigenter, bcr_sigleave -- let a signal handler call BCR.
 * A signal handler may call bcr_sigenter at any time. If that returns 0, it may call other routines
 * until it calls bcr_sigleave, before it returns. The signal may have interrupted malloc: no routine
 * of BCR needs that. bcr_errno and errno are for the program what they were, whatever the calls
 * between did. If it fails, bcr_errno is changed, which the interrupted program may be about to
 * read: a handler that may be refused keeps bcr_errno before, and assigns it again.
 *
 * No handler of a cell runs in between; what requests one meanwhile is not lost. The routines for
 * handlers (bcr_handler, bcr_handler_arg, bcr_priority, bcr_getpriority, bcr_allow, bcr_block) fail
 * with bcrE_INSIDE. bcr_end leaves aside what stdio buffers. A call that waits holds up the program,
 * perhaps for ever, if that is to put or release what it waits for: give gets the time 0 and use
 * bcr_put_within. The calls need up to 64 KiB of the stack that the signal handler runs on
 * (sigaltstack).
 *
 * That two threads never call at once is true of the signal handler, too: other threads may not call
 * before bcr_sigleave. So a CCE with several threads blocks the signal in all of them but the one that
 * calls at that time, also in those that never call BCR (pthread_sigmask).
 * Returns: 0.
 * Errors: bcrE_INSIDE  A thread of this CCE is in BCR, also if a handler of a cell is running there;
 *             or another signal handler has entered. Nothing may be called: note what is to be done
 *             for the program to do it, or let a later signal do it.
 *         bcrE_ARG     bcr_sigleave: no signal handler has entered. */
BCR_API int bcr_sigenter(void);
BCR_API int bcr_sigleave(void);

/* bcr_wake -- from any thread or signal handler, request a cell's handler, or end a get.
 * cell is a number in the caller's own areas, or 0. This is the one routine that may be called at any
 * time: while other threads are in calls of BCR, and in a signal handler that has interrupted one. It
 * needs no bcr_sigenter, and little stack.
 *
 * If the cell has a handler, this requests it, whatever its watermark, as a put does that meets one:
 * each call is one run, and the cell has no region for it. Otherwise it ends one wait at the cell: a
 * get or lock that waits there, or the next one that would wait, fails with bcrE_WOKEN; so does a
 * bcr_rgwait or bcr_rgwaitm that waits for such a get, which goes on all the same unless failfree is
 * set. A get that finds a region, or that does not wait, has that result, and the wake stays for the
 * next one. No wake is lost, and no two are made one. A handler that is installed later gets the wakes
 * that are left; bcr_cafree drops them, and so does removing the handler.
 * Returns: 0, with bcr_errno and errno as they were. If it fails, bcr_errno is changed, which a signal
 *     handler restores.
 * Errors: bcrE_NOCELL
 * Blocks: no. It runs no handler; a CCE that sleeps in a call is woken, and runs it.
 * Order: what the caller has stored before, the getter that is woken, or the handler, sees.
 * Crash: the wakes of a CCE end with it. */
BCR_API int bcr_wake(int cell);

/* bcr_wakefd, bcr_wakeon -- one descriptor that tells of all that concerns this CCE; of which cells' puts.
 * The descriptor is for poll(2), epoll and libraries on them; it is the same at each call, and the
 * program does not read or close it. Each call of bcr_wakefd takes away what has made it readable,
 * and arms it: it becomes readable when something changes that came after the call began. Look at
 * everything after the call, and poll then: empty the cells, wait with 0 for pending gets, let
 * handlers run by bcr_allow. These are changes:
 *   a put of any kind into a cell for which bcr_wakeon(cell, 1) was said, the caller's own included
 *   a request of a handler, and the end of what an invocation waits for
 *   a pending get that has its region, or has failed
 *   the end of a CCE, when its region comes (bcr_watch)
 *   the end of what bcr_teamsync or bcr_outdone waits for with bcr_PENDING
 *   the deadline of an invocation that waits
 *   bcr_wake
 * One change is enough for one arming: further ones make no difference until the next call. A change
 * that the program saw when it looked leaves the descriptor readable all the same, and so does a call
 * that sleeps between the two; now and then it is readable though nothing has changed.
 *
 * cell of bcr_wakeon is a number in the caller's own areas, or 0; on 0 undoes it, as does bcr_cafree.
 * Puts and gets there take both locks of the cell, some 100 ns more. In a CCE that has the
 * descriptor, gets that wait do so too.
 * Returns: bcr_wakefd the descriptor, bcr_wakeon 0.
 * Errors: bcrE_NOCELL
 *         bcrE_NOMEM   No descriptor or memory is left here or in enl.
 * Blocks: the first bcr_wakefd until enl has answered; else no.
 * Crash: a putter that dies inside has put and told, or neither. */
BCR_API int bcr_wakefd(void);
BCR_API int bcr_wakeon(int cell, int on);

/* bcr_outdone -- wait until all that CCEs have printed until now is out.
 * It returns when everything that any CCE of the program, on whatever host, has written to its stdout
 * and stderr before the call has been written to those of the root, or into the files of
 * --output-dir; in a program that runs without showing it, when it is in the log. What stdio buffers in a CCE has not been
 * written: that calls fflush before. What goes into a cell (lines of bcr_start) is left aside, and so
 * is what a host has printed that is lost. Any number of CCEs may call at once. With bcr_PENDING it does
 * not wait: the next call of bcr_outdone goes on with this one, for what had been printed before this one.
 * Returns: 0.
 * Errors: bcrE_TIMEOUT  Not all is out in the time given; it goes on coming out. With
 *             bcr_PENDING, or after it, the call goes on, too.
 *         bcrE_NOMEM   The root's daemon has no memory for the call.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: up to msec, or with bcr_BLOCK for as long as nobody reads the root's stdout. May run handlers.
 * Crash: for the others none: nobody waits for the caller. */
BCR_API int bcr_outdone(int msec);

/* bcr_tempdir -- name a directory of the program on this host, for files that are gone with it.
 * It is empty at first, in the directory that tempdir in bcrrc names, and nobody but this user may
 * enter it (mode 0700). All CCEs of a host have the same one, those of each other host another; the first call
 * there makes it. Its path is absolute, and comes with the zero byte into the length bytes at path;
 * PATH_MAX bytes suffice. It vanishes with all that is in it when the program has ended on that host,
 * before enl exits there; soon after that, if enl is killed. The program does not remove it itself.
 * Returns: 0. If it fails, path is left alone.
 * Errors: bcrE_ARG     path is NULL, or length is too small.
 *         bcrE_NODIR   tempdir on this host is no directory, or may not be written; its log says why.
 *         bcrE_NOMEM   No space is left there, or no process or descriptor for what removes it.
 *         bcrE_ENLIST  The program is ending, or closed the connection to enl.
 * Blocks: until enl has answered.
 * Crash: the directory stays until the program ends. */
BCR_API int bcr_tempdir(char *path, size_t length);

/* bcr_idle -- say that this CCE only looks for regions from now on, or is a server: for the search for deadlocks.
 * The daemons find out when no CCE of a program can go on (ondeadlock in bcrrc), but a CCE that looks
 * again and again, with the time 0 or another, seems to compute. With bcr_IDLE_WAITING it says that it
 * only looks: until it has found something, none of its threads, handlers and signal handlers does
 * anything that others could notice, such as putting, whatever they find in memory, or when some time is
 * over. It looks into its own cells, into which others put, and for the regions of its pending gets;
 * not into cells of other CCEs.
 *
 * This ends by itself with the first region that the CCE gets, when one of its handlers begins, and
 * with anything else that it does with regions; so it calls bcr_idle anew when it has nothing to do
 * again. bcr_idle(0) ends it, too. A call that changes nothing costs some nanoseconds, and counts as a
 * look. The CCE is counted among those that wait if, when a daemon asks, it looks by bcr_get, bcr_rgwait,
 * bcr_rgwaitm or bcr_idle, and there is nothing in its cells of kind in and in/out, in cell 0, and in its
 * requests. While it sleeps in another call, as poll(2), nobody can tell.
 *
 * With bcr_IDLE_SERVER it says that it serves the others: when nobody asks it for anything, it waits, and that
 * is no fault. So it is no part of a deadlock: one is reported if all CCEs wait, and one of them at least is
 * no server; a program in which only servers wait is left alone. A server that does anything else keeps
 * deadlocks from being found, as every CCE does. It stays a server until it calls bcr_idle(0); if it looks
 * again and again, it calls bcr_idle(bcr_IDLE_WAITING), too, after that.
 *
 * If a CCE of the program has asked for bcr_passsignals, SIGHUP is what follows from a deadlock unless
 * ondeadlock says otherwise.
 * Returns: 0.
 * Errors: bcrE_ARG     how is none of bcr_IDLE_WAITING, bcr_IDLE_SERVER and 0.
 * Blocks: no. May run handlers.
 * Crash: what the CCE has said ends with it. */
BCR_API int bcr_idle(int how);

/* bcr_note -- tell what this CCE waits for, in the words of the interface that the program is written for.
 * An interface whose calls wait by bcr_get and the like, as one for message passing, says by this what they
 * wait for, before they wait, and takes it back behind that. What shows waits shows the note, and goes on at the
 * CCE that it names: enl why, enl top, the reports of deadlocks and crashes, bcr waits in gdb.
 *
 *     bcr_note("crecv type 5 from node 2", node_2);
 *     region = bcr_deq(bcr_cce, INBOX, bcr_BLOCK);
 *     bcr_note(NULL, -1);
 *
 * text is UTF-8; of a longer one the first bcr_NOTE_MAX bytes are kept, less if they would end within a
 * character. NULL and "" take the note back. cce is the CCE without which the wait cannot end, whatever all
 * others do; -1 if there is none, or it is not known. So CCEs whose notes name each other in a circle
 * are told as a suspected deadlock while others run.
 *
 * A CCE has one note. A handler that waits, too, sets its own in place of the one that it has interrupted,
 * which the interface sets again when the handler is done. Setting one costs some thirty nanoseconds, taking it
 * back less: some stores, and no system call.
 * Returns: 0.
 * Errors: bcrE_NOCCE   cce is neither -1 nor the ID of a CCE; that of one that has ended may be given.
 * Blocks: no. Runs no handlers.
 * Crash: the note stays until the CCE's end has been told, in whose report it stands; one that was being
 *     set is gone. */
BCR_API int bcr_note(const char *text, bcr_cce_id cce);

/* bcr_debug -- have a debugger opened at this CCE, and the program end with it.
 * A last resort of handlers of SIGSEGV and the like: a person looks at what has gone wrong, as by
 * enl attach, while the rest of the program stands still. where is where the debugger is shown:
 *   an X display as :0, or tmux  in a window or pane there (xtermpath in bcrrc); the debugger is that of
 *                                enl -d, or gdb
 *   batch                        nowhere: gdb writes a backtrace to enl's stderr, and ends
 *   batch:FILE                   gdb runs FILE so, which lies on this host; a relative path is this
 *                                CCE's. If it cannot be read, a sentence says so, and it is batch
 *   NULL                         what enl -D says; else DISPLAY of enl, tmux if it is installed, or batch
 * What is none of these is batch, after a sentence; so is what is longer than 1023 bytes.
 *
 * All other CCEs are stopped (SIGSTOP), on all hosts, and no more are started. Further CCEs may have
 * called before they were stopped: each gets a debugger, unless most are open. When the last one is
 * left, or could not be opened, the program ends as by bcr_end, with status 134. A CCE that calls while
 * most are open ends the program at once; so does every call with most 0 or less. So do signals to enl
 * that end programs. A CCE that runs under a debugger already (enl -d, enl attach) is stopped for that
 * one, and nothing else happens.
 *
 * It may be called at any time, by any thread, and in a signal handler that has interrupted anything,
 * malloc and BCR too; it needs no bcr_sigenter, and 3 KiB of stack. The other threads of this CCE run on
 * until the debugger stops them.
 * Returns: never, so there is no failure. The calling thread waits with all signals blocked. In a
 *     process that has no enl, as before bcr_init and after fork, a sentence on stderr says so, and
 *     SIGABRT ends it.
 * Blocks: until this process ends. Runs no handlers.
 * Crash: a CCE that is killed while it waits has ended abnormally, as any other. */
BCR_API void bcr_debug(const char *where, int most);

#ifdef __cplusplus
}
#endif

#endif
