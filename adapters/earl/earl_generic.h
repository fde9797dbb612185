/* SPDX-License-Identifier: MIT */
/* earl_generic.h -- Earl's own routines, by the names and parameters that they had: the union of what the iPSC/2 and PVM 2.4 have.
 *
 * Each does one thing that programs of several systems need; what was left to the target there is fixed here. Between Generic_FirstCall
 * and Generic_LastCall a process is one of three kinds:
 *
 * - With a component, a name that it gives to Generic_FirstCall, it is an instance of that: 0 and up, the lowest that is free. EXEC
 *   (earl_exec.h) knows who is what, starts processes, and keeps barriers and signals. A program starts as one process, or several.
 * - Without a component, in a team (enl -n), it is a node, 0 to Generic_cubesize() - 1. There is no EXEC, and what needs one is EARL_E_STATE.
 * - Where there is EXEC and no component, after Generic_LEXEC, a process may have a cube: Generic_allocproc makes one, of which it is the
 *   host; Generic_load loads programs on its nodes, which are nodes 0 to size - 1 from the start, and have the process ID that they were loaded
 *   with. The host is node `size`. A node calls Generic_FirstCall without a component.
 *
 * Who is meant. Sends and ends have both (component, instance) and (node, pid): a component that is not NULL or "" says that the first
 * counts, else the second. instance -1: all of the component but the caller; node -1: all nodes but the caller. pid -1 is any. A node is one of the
 * current cube (pid: the process ID there), a rank of the team, or, where there is EXEC and no cube, a number of earl.h (pid: 0). Sends to a
 * node of a cube on which nothing is loaded wait until something is. What EXEC has said of an instance is kept until that process has ended: a
 * message to one that has only called Generic_LastCall is lost.
 *
 * A program that calls earl.h, too, leaves the contexts from 0x3ffffffd on to these routines.
 *
 * Types of messages are 0 to 0x7fffffff. A receive or probe has a selector: a type; -1, any; or a negative number whose bits 0 to 30 are
 * one for each type that is wanted. Between two processes, of the messages that a receive could take it takes the one sent first.
 *
 * Bytes and built messages. A message is `bytes` bytes at `buf`, which go as they are; or, if buf is NULL and bytes 0, what Generic_build...
 * has put into the send buffer, which is translated for machines of another kind, and stays. A receive with buf NULL and bytes 0 keeps the
 * message for Generic_xtract..., until the next such receive.
 *
 * Errors. Results below 0 are of enum earl_error. Routines without a result say a sentence on stderr and end the program with status 1.
 * All: EARL_E_STATE, Generic_FirstCall was not called; EARL_E_MEMORY; EARL_E_SYSTEM; with EXEC also EARL_E_ENDED: it has ended. All routines
 * are for one thread. Pointers to which something is stored may be NULL, but for buf of xtract. `const` stands where there was none then.
 *
 * Source: "Earl: A Tool for Portable Distributed Debugging" (I. Lough, 1993), appendix. */
#ifndef EARL_GENERIC_H
#define EARL_GENERIC_H

#include "earl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EARL_COMPONENT = 240 }; /* bytes of a component's name, with the zero, and room for it */

/* ----------------------------------- I: process startup, initialization and termination --- */

/* Generic_LEXEC -- have an EXEC for this program, if it has none; a process that is in no program begins one of its own.
 * file is that of EXEC; NULL or "": the one that was installed, or that the variable EARL_EXEC names. It runs where the
 * first process does: arch, node and pid have no effect. Generic_FirstCall with a component does the same.
 * Returns: 0. Errors: EARL_E_STATE: this process is in a team, and has begun without a component; EARL_E_SYSTEM: EXEC could
 *     not be started. Blocks: until EXEC has given this process a number. */
EARL_API int Generic_LEXEC(const char *file, const char *arch, long node, long pid);

/* Generic_FirstCall -- become one of the program. component NULL or "": without one.
 * *numproc, *me and *host get what Generic_cubesize, Generic_mynode and Generic_myhost say. A process that Generic_load has started is
 * an instance of its file's name from the start, which it gets by that name.
 * Returns: the instance; without a component Generic_mypid. Errors: EARL_E_ARG: the name is too long; EARL_E_BUSY: the process has a
 *     component already; EARL_E_STATE: it has begun in a team without one.
 * Blocks: without EXEC, until all members of the team have called it; with EXEC, until that has answered. */
EARL_API int Generic_FirstCall(const char *component, long *numproc, long *me, long *host);

/* Generic_LastCall -- leave: the instance becomes free, what was built and what is kept for xtract is dropped. release not 0: a cube
 * of which the caller is the host is given back, as by Generic_relcube.
 * It is the last call, or Generic_FirstCall follows. What was sent arrives; what has come and was not received is there still.
 * Blocks: until EXEC has answered. */
EARL_API void Generic_LastCall(int release);

/* Generic_load, Generic_loadm -- start a program as the next instance of its file's name, without folders; loadm on that machine, a name
 * of earl_exec_host.
 * It is looked for in the program's PATH, or from its directory, on the host that EXEC chooses by turns: which finds there the one for
 * that machine, so arch has no effect. node and pid are -1. Messages to it wait until it has begun.
 * With a pid of 0 or more Generic_load loads it on that node of the current cube, or, with node -1, on each, with that process ID; EARL_E_BUSY: a
 * process of that ID runs there; EARL_E_NONE: there is no cube; the others as below.
 * Returns: its instance; the process ID. Errors: EARL_E_ARG; EARL_E_FILE, EARL_E_HOST; EARL_E_NONE: it has ended before it was asked for;
 *     EARL_E_STATE: there is no EXEC. Blocks: until it runs. */
EARL_API int Generic_load(const char *file, const char *arch, long node, long pid);
EARL_API int Generic_loadm(const char *file, const char *machine, long node, long pid);

/* Generic_allocproc -- allocate a cube of *numproc nodes under a name, of up to 63 bytes: it is the current one, and the caller its host,
 * with that process ID. type and srmname have no effect: any number of nodes is there, on all hosts. keep 0: the cube is given back, and
 * what the caller has loaded is killed, when the caller ends; else it stays. *numproc, *me and *host get Generic_cubesize, Generic_mynode and
 * Generic_myhost.
 * Returns: pid. Errors: EARL_E_ARG; EARL_E_BUSY: there is a cube of that name; EARL_E_STATE: there is no EXEC.
 * Generic_attachprocs -- make a cube of that name the current one. The caller becomes its host, unless it was loaded on it.
 * Generic_relcube -- kill what is loaded on a cube, and give it back. NULL or "": the current one.
 * Generic_setpid -- set the process ID that the caller has as the host of cubes that it attaches to later. */
EARL_API int Generic_allocproc(long *numproc, const char *name, const char *type, const char *srmname,
                               long keep, long *me, long *host, long pid);
EARL_API void Generic_attachprocs(const char *cname);
EARL_API void Generic_relcube(const char *cname);
EARL_API void Generic_setpid(long pid);

/* Generic_termproc, Generic_termgroup -- kill processes (SIGKILL); the second waits until they have ended, and drops what the caller has of
 * their messages and has not received.
 * Returns: how many. Errors: EARL_E_ARG; EARL_E_NONE, EARL_E_PROCESS: there is none; EARL_E_ENDED: the only one has ended;
 *     EARL_E_STATE: there is no EXEC. */
EARL_API int Generic_termgroup(const char *component, long instance, long node, long pid);
EARL_API int Generic_termproc(const char *component, long instance, long node, long pid);

/* --------------------------------------------------------- II: inter-process communication --- */

/* Generic_Breceive, Generic_Breceivem -- receive a message of a type, or of one of `num` selectors.
 * Returns: its type. Errors: EARL_E_ARG; EARL_E_CUT: what fits was stored, and the message is over; EARL_E_ENDED: its sender has ended in
 *     the middle of it. Blocks: until there is one. */
EARL_API long Generic_Breceive(char *buf, long bytes, long msgtype);
EARL_API long Generic_Breceivem(char *buf, long bytes, const long *msgtype, int num);

/* Generic_NBreceive -- begin to receive bytes; buf belongs to the receive until Generic_msgdone or Generic_msgwait say that it is done.
 * Returns: an ID, more than 0. Errors: EARL_E_ARG */
EARL_API long Generic_NBreceive(char *buf, long bytes, long msgtype);

/* Generic_BBsend, Generic_NBNBsend, Generic_Sync_send -- send a message: buf is the caller's again on return; or when an ID is done;
 * or the message has been got hold of by a receive on return, too. To several it is sent at once, and those that have ended are passed
 * over. Generic_Sync_send takes bytes only.
 * Returns: 0; Generic_NBNBsend an ID, more than 0, or 0 if it is done already: what was built, and a message to several, is copied.
 * Errors: EARL_E_ARG; EARL_E_NONE: no such instance, or no such component; EARL_E_PROCESS: no such node; EARL_E_ENDED: the receiver has;
 *     EARL_E_STATE: a component, without EXEC.
 * Blocks: while the receiver's inbox is full and EARL_MEMORY is in use; not for the receiver in Generic_NBNBsend. */
EARL_API long Generic_BBsend(const char *buf, const char *component, long bytes, long mtype, long inst,
                             long pid, long node);
EARL_API long Generic_NBNBsend(const char *buf, const char *component, long bytes, long mtype, long inst,
                               long pid, long node);
EARL_API long Generic_Sync_send(const char *buf, const char *component, long bytes, long mtype, long inst,
                                long pid, long node);

/* Generic_clearbuf -- empty the send buffer. */
EARL_API void Generic_clearbuf(void);

/* Generic_build... -- add `num` values at ptr to the send buffer: bytes, numbers, complex numbers (pairs), or strings, each behind the
 * zero of the one before. A string goes as its length and bytes, the zero included.
 * Returns: 0. Errors: EARL_E_ARG */
EARL_API int Generic_buildbytes(const char *ptr, int num);
EARL_API int Generic_buildshort(const short *ptr, int num);
EARL_API int Generic_buildint(const int *ptr, int num);
EARL_API int Generic_buildlong(const long *ptr, int num);
EARL_API int Generic_buildfloat(const float *ptr, int num);
EARL_API int Generic_builddfloat(const double *ptr, int num);
EARL_API int Generic_buildcplx(const float *ptr, int num);
EARL_API int Generic_builddcplx(const double *ptr, int num);
EARL_API int Generic_buildstring(const char *ptr, int num);

/* Generic_xtract... -- take the next `num` values out of the message that was received, in the order in which they were built. There must be
 * room for strings, whose lengths the sender knows.
 * Returns: 0. Errors: EARL_E_ARG; EARL_E_NONE: no message is kept; EARL_E_END: it has not so many, none was taken; but of a string
 *     the length may have been; EARL_E_RANGE: a long does not fit a long here. */
EARL_API int Generic_xtractbytes(char *ptr, int num);
EARL_API int Generic_xtractshort(short *ptr, int num);
EARL_API int Generic_xtractint(int *ptr, int num);
EARL_API int Generic_xtractlong(long *ptr, int num);
EARL_API int Generic_xtractfloat(float *ptr, int num);
EARL_API int Generic_xtractdfloat(double *ptr, int num);
EARL_API int Generic_xtractcplx(float *ptr, int num);
EARL_API int Generic_xtractdcplx(double *ptr, int num);
EARL_API int Generic_xtractstring(char *ptr, int num);

/* ---------------------------------------------- III: pending or received message inquiries --- */

/* Generic_Bprobe, Generic_probe, Generic_probem -- look for a message and leave it where it is; the first waits for one.
 * Returns: its type. Errors: EARL_E_ARG; EARL_E_NONE: there is none. Blocks: Generic_Bprobe until there is one. */
EARL_API long Generic_Bprobe(long msgtype);
EARL_API long Generic_probe(long msgtype);
EARL_API long Generic_probem(int num, const long *msgtype);

/* Generic_getpnd_Length -- wait for a message, and tell its length in bytes. Returns: it. Errors: EARL_E_ARG */
EARL_API long Generic_getpnd_Length(long msgtype);

/* Generic_getmcount, Generic_getmtype, Generic_getmsource, Generic_getmpid -- length, type, node and process ID of the message that was
 * received or found last, by whatever routine. Errors: EARL_E_NONE: there was none. */
EARL_API long Generic_getmcount(void);
EARL_API long Generic_getmpid(void);
EARL_API long Generic_getmsource(void);
EARL_API long Generic_getmtype(void);

/* Generic_recvinfo -- all that at once, and the sender's component ("": none) and instance (-1). component has room for EARL_COMPONENT bytes.
 * A length that no int can have is told as the largest. Returns: 0. Errors: EARL_E_NONE */
EARL_API int Generic_recvinfo(int *bytes, int *msgtype, char *component, int *pid, int *instance);

/* Generic_msgdone -- look whether an operation is done: its ID is over then. Returns: 1 or 0.
 * Errors: EARL_E_REQUEST: it is none; EARL_E_CUT, EARL_E_ENDED: it is done and over, as Generic_Breceive or Generic_BBsend would end.
 * Generic_msgwait -- wait until it is.
 * Generic_msgcancel -- give up a receive, whose message may have come; wait for a send. The ID is over, and buf is the caller's. */
EARL_API long Generic_msgdone(long id);
EARL_API void Generic_msgwait(long id);
EARL_API void Generic_msgcancel(long id);

/* ----------------------------------------------------- IV: process / environment inquiries --- */

/* What is known of a cube. */
#ifndef EARL_CUBETABLE /* cube.h of NX has the same */
#define EARL_CUBETABLE
struct cubetable {
    char name[64];
    long numnodes;
    long host, hostpid; /* the host process's number of earl.h, and process ID */
    long keep;
};
#endif

/* Generic_cubeinfo -- tell which cubes there are, in the order of their names; up to `numslots` come to ct. global has no effect: all of the
 * program are told. Returns: how many. Errors: EARL_E_ARG; EARL_E_STATE: there is no EXEC. */
EARL_API long Generic_cubeinfo(struct cubetable *ct, long numslots, long global);

/* Generic_cubesize -- how many processes the team has; or the caller's component at this moment; or nodes its cube; else 1. */
EARL_API long Generic_cubesize(void);

/* Generic_groupstatus -- whether that instance is there; -1: any of the component, the caller included.
 * Returns: 1 or 0. Errors: EARL_E_ARG; EARL_E_STATE: there is no EXEC. */
EARL_API int Generic_groupstatus(const char *component, int instance);

/* Generic_mynode, Generic_mypid -- the caller's node and process ID.
 * Generic_myhost -- the host process's node: Generic_cubesize(), which in a team no process has; with EXEC and no cube the process that has
 * started this one, -1: none has.
 * Generic_nodedim -- the exponent of the largest power of 2 that is not more than Generic_cubesize(). */
EARL_API long Generic_myhost(void);
EARL_API long Generic_mynode(void);
EARL_API long Generic_mypid(void);
EARL_API long Generic_nodedim(void);

/* Generic_numnodes -- how many nodes there are, which it returns, too: in a team its processes; with EXEC the hosts.
 * *nformats is 1 on one host; on several it is 2, as they may differ. Whatever it is, what was built is right. */
EARL_API long Generic_numnodes(int *nnodes, int *nformats);

/* Generic_who -- the caller's component ("": none), process ID, Generic_cubesize, instance (-1: none) and Generic_myhost.
 * Returns: 0. Errors: EARL_E_NONE: it has no component, where there is EXEC; all is stored all the same. */
EARL_API long Generic_who(char *component, int *pid, int *numproc, int *instance, int *host);

/* -------------------------------------------------------------- V: process synchronization --- */

/* Generic_barrsync -- wait until `num` processes have called it with that name; one that ends while it waits is not counted.
 * In a team num is the number of all, whatever the name.
 * Returns: 0. Errors: EARL_E_ARG; EARL_E_BUSY: those that wait have given another number. */
EARL_API int Generic_barrsync(const char *barrname, int num);

/* Generic_wait_one_cmplt, Generic_wait_all_cmplt -- wait until a process of the current cube has ended that was loaded on `node` with `pid` (-1: any),
 * and of which no such routine has told before; or until all have. *cnode and *cpid tell which, *ccode its exit status, or less
 * than 0: the signal, negative; -1 also if its host was lost. They fail if there is no cube, or no such process is left. */
EARL_API void Generic_wait_one_cmplt(long node, long pid, long *cnode, long *cpid, long *ccode);
EARL_API void Generic_wait_all_cmplt(long node, long pid);

/* Generic_readysig -- send the signal `event`: from then on, as long as the program runs, it has occurred.
 * Generic_waitsignal -- wait until it has. Both need EXEC; a name has 1 to EARL_COMPONENT - 7 bytes. */
EARL_API void Generic_readysig(const char *event);
EARL_API void Generic_waitsignal(const char *event);

/* ---------------------------------------------------------------------- VI: miscellaneous --- */

/* Generic_clock -- milliseconds since Generic_FirstCall, or since its own first call if that came before. */
EARL_API double Generic_clock(void);

/* Generic_CTOH..., Generic_HTOC... -- turn n floats (f), longs (l), shorts (s) or doubles (d) of this machine at sv from the byte order of the
 * cube to that of the host, and back, in place. The cube has the host's own, unless the variable EARL_CUBE_ORDER is "big" or "little":
 * what is built and taken out needs none of this. */
EARL_API void Generic_CTOHf(unsigned long *sv, short n);
EARL_API void Generic_CTOHl(unsigned long *sv, short n);
EARL_API void Generic_CTOHs(unsigned long *sv, short n);
EARL_API void Generic_CTOHd(unsigned long *sv, short n);
EARL_API void Generic_HTOCf(unsigned long *sv, short n);
EARL_API void Generic_HTOCl(unsigned long *sv, short n);
EARL_API void Generic_HTOCs(unsigned long *sv, short n);
EARL_API void Generic_HTOCd(unsigned long *sv, short n);

/* Generic_flick -- let others run, and take in what has come. */
EARL_API void Generic_flick(void);

/* Generic_flushmsg -- drop the messages that have come for the process `node`, `pid` (-1: any) and were not received. Only the caller's own
 * are within reach; of another process nothing is dropped. */
EARL_API void Generic_flushmsg(long typesel, long node, long pid);

/* Generic_gray, Generic_ginv -- the binary-reflected Gray code of the low 32 bits of a number, and its inverse. */
EARL_API long Generic_ginv(long num);
EARL_API long Generic_gray(long num);

/* Generic_led -- a lamp: a line on stderr, if the variable EARL_VERBOSE is set. */
EARL_API void Generic_led(long lstate);

/* Generic_masktrap -- keep routines of earl_then from being called (not 0), or let them (0). Returns: what was before, 1 or 0. */
EARL_API long Generic_masktrap(long mask);

/* Generic_newserver, Generic_setsyslog, Generic_killsyslog -- a file server for a cube; a program that shows what nodes print on stdfd, and
 * its end. Processes reach files, and enl shows what they print, so nothing has to be started: they do nothing. */
EARL_API void Generic_newserver(const char *cubename);
EARL_API void Generic_setsyslog(long stdfd);
EARL_API void Generic_killsyslog(void);

#ifdef __cplusplus
}
#endif

#endif
