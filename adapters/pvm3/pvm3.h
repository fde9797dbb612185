/* SPDX-License-Identifier: MIT */
/* pvm3.h -- PVM 3.4, the Parallel Virtual Machine, on Earl: what a task calls.
 *
 * docs/pvm.md has what each routine is here and what differs. A program that is
 * started from the shell enters the user's virtual machine, if there is one that stays
 * (bcr-pvm(1)); else it is the first task of a new virtual machine. Or it is by enl
 * -n N one of N tasks that have been started together, and know each other by
 * pvm_siblings. Tasks spawn others. The virtual machine ends with its last
 * task.
 *
 * Tasks. A tid is more than 0, and the same in all tasks. In place of a tid or
 * tag a receive takes -1: any. Tags are 0 or more. Buffers. A message buffer
 * has an ID, more than 0. What is packed goes into the active send buffer, what
 * is unpacked comes out of the active receive buffer. Each receive makes a new
 * active receive buffer, and frees the former one. Messages of a task to
 * another come in the order in which they were sent. One to a task that has
 * ended vanishes.
 *
 * Errors. A result below 0 is a code below. It is said on stderr, unless
 * pvm_setopt(PvmAutoErr, 0) was called, and kept in pvm_errno. Each routine may
 * fail with PvmSysErr, if there is no way into the virtual machine, or it has
 * failed; and with PvmNoMem.
 *
 * All routines are for one thread. Source: the manual pages of PVM 3.4. */
#ifndef PVM3_H
#define PVM3_H

#include <stdio.h>
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PVM_VER           "3.4.6"
#define PVM_MAJOR_VERSION 3
#define PVM_MINOR_VERSION 4
#define PVM_PATCH_VERSION 6

/* ------------------------------------------------------------------------------
 * constants --- */

/* Encodings. */
#define PvmDataDefault 0 /* translated for machines of another kind */
#define PvmDataRaw     1 /* bytes as they are */
#define PvmDataInPlace 2 /* as raw, copied at the send: items stay until then */
#define PvmDataFoo     PvmDataDefault

/* Flags of pvm_spawn. */
#define PvmTaskDefault   0
#define PvmTaskHost      1  /* `where` is a host's name; ".": this one */
#define PvmTaskArch      2  /* `where` is an architecture */
#define PvmTaskDebug     4  /* under PVM_ROOT/lib/debugger */
#define PvmTaskTrace     8  /* changes nothing */
#define PvmMppFront      16 /* changes nothing */
#define PvmHostCompl     32 /* on all other hosts */
#define PvmNoSpawnParent 64 /* tasks are not told of their parent */

/* What pvm_notify tells of. */
#define PvmTaskExit     1
#define PvmHostDelete   2
#define PvmHostAdd      3
#define PvmRouteAdd     4
#define PvmRouteDelete  5
#define PvmNotifyCancel 256 /* added: tell now, and then no more */

/* Options of pvm_setopt and pvm_getopt. */
#define PvmRoute             1 /* there is one route: it changes nothing */
#define PvmDontRoute         1
#define PvmAllowDirect       2
#define PvmRouteDirect       3
#define PvmDebugMask         2 /* changes nothing */
#define PvmAutoErr           3 /* errors are: 0 not said; 1 said; 2 said, and end the task; 3 abort it */
#define PvmOutputTid         4 /* a task that has called pvm_catchout and gets what spawned tasks print; 0: none */
#define PvmOutputCode        5 /* changes nothing */
#define PvmTraceTid          6
#define PvmTraceCode         7
#define PvmTraceBuffer       8
#define PvmTraceOptions      9
#define PvmTraceFull         1
#define PvmTraceTime         2
#define PvmTraceCount        3
#define PvmFragSize          10 /* changes nothing */
#define PvmResvTids          11 /* changes nothing */
#define PvmSelfOutputTid     12 /* it stays as it was at the start */
#define PvmSelfOutputCode    13
#define PvmSelfTraceTid      14
#define PvmSelfTraceCode     15
#define PvmSelfTraceBuffer   16
#define PvmSelfTraceOptions  17
#define PvmShowTids          18 /* whether pvm_catchout shows them */
#define PvmPollType          19 /* changes nothing */
#define PvmPollConstant      1
#define PvmPollSleep         2
#define PvmPollTime          20 /* changes nothing */
#define PvmOutputContext     21
#define PvmTraceContext      22
#define PvmSelfOutputContext 23
#define PvmSelfTraceContext  24
#define PvmNoReset           25 /* 1: the console's reset spares this task */

#define PvmBaseContext 0

/* Flags of mailboxes. */
#define PvmMboxDefault          0
#define PvmMboxPersistent       1 /* pvm_putinfo: it outlives its owner */
#define PvmMboxMultiInstance    2 /* pvm_putinfo: others may be there under that name */
#define PvmMboxOverWritable     4 /* pvm_putinfo: others may replace and delete it */
#define PvmMboxFirstAvail       8 /* pvm_recvinfo: that index, or the next one that there is */
#define PvmMboxReadAndDelete    16
#define PvmMboxWaitForInfo      32
#define PvmMboxMaxFlag          512
#define PvmMboxDirectIndexShift 10
#define PvmMboxMaxDirectIndex   ((unsigned)1 << (31 - PvmMboxDirectIndexShift))
/* pvm_putinfo: at that index, in place of what is there. */
#define PvmMboxDirectIndex(index) ((index) << PvmMboxDirectIndexShift)
#define PvmMboxDirectIndexOf(flags) \
    (((flags) & ((PvmMboxMaxDirectIndex - 1) << PvmMboxDirectIndexShift)) >> PvmMboxDirectIndexShift)

/* Errors. */
#define PvmOk           0
#define PvmBadParam     -2  /* an argument is out of range */
#define PvmMismatch     -3  /* arguments do not go together */
#define PvmOverflow     -4  /* a value does not fit its type on this machine */
#define PvmNoData       -5  /* the message has not so many items */
#define PvmNoHost       -6  /* no host of that name or tid */
#define PvmNoFile       -7  /* no such program */
#define PvmDenied       -8  /* that is not allowed */
#define PvmNoMem        -10 /* no memory */
#define PvmBadMsg       -12 /* a message that is none of PVM's */
#define PvmSysErr       -14 /* no way into the virtual machine, or it has failed */
#define PvmNoBuf        -15 /* there is no active buffer */
#define PvmNoSuchBuf    -16 /* no buffer has that ID */
#define PvmNullGroup    -17 /* a group without a name */
#define PvmDupGroup     -18 /* the task is in the group already */
#define PvmNoGroup      -19 /* no group of that name */
#define PvmNotInGroup   -20 /* the task is not in the group */
#define PvmNoInst       -21 /* the group has no such instance */
#define PvmHostFail     -22 /* the host has failed */
#define PvmNoParent     -23 /* the task was not spawned */
#define PvmNotImpl      -24 /* there is no such thing here */
#define PvmDSysErr      -25 /* a daemon has failed */
#define PvmBadVersion   -26 /* versions differ */
#define PvmOutOfRes     -27 /* there are no more */
#define PvmDupHost      -28 /* the host is there already */
#define PvmCantStart    -29 /* a daemon does not start */
#define PvmAlready      -30 /* that has been done already */
#define PvmNoTask       -31 /* no such task */
#define PvmNotFound     -32 /* there is none of that name */
#define PvmExists       -33 /* there is one already */
#define PvmHostrNMstr   -34 /* not on the first host */
#define PvmParentNotSet -35 /* the parent did not want to be known */
#define PvmIPLoopback   -36 /* the host's address is the loopback */
#define PvmNoEntry      PvmNotFound
#define PvmDupEntry     PvmDenied

/* Types of items, for pvm_psend, pvm_precv, and groups. */
#define PVM_STR    0
#define PVM_BYTE   1
#define PVM_SHORT  2
#define PVM_INT    3
#define PVM_FLOAT  4
#define PVM_CPLX   5
#define PVM_DOUBLE 6
#define PVM_DCPLX  7
#define PVM_LONG   8
#define PVM_USHORT 9
#define PVM_UINT   10
#define PVM_ULONG  11

struct pvmhostinfo {
    int hi_tid;    /* of its daemon: it names the host */
    char *hi_name; /* of the host */
    char *hi_arch; /* its architecture, in PVM's words */
    int hi_speed;  /* 1000 */
    int hi_dsig;   /* equal where data are laid out equally */
};

struct pvmtaskinfo {
    int ti_tid;
    int ti_ptid;    /* its parent's; 0: it has none */
    int ti_host;    /* its host: hi_tid */
    int ti_flag;    /* 4: it runs */
    char *ti_a_out; /* the name of its program */
    int ti_pid;     /* 0: it has not begun */
};

struct pvmminfo {
    int len; /* bytes of the message */
    int ctx; /* context */
    int tag;
    int wid; /* a number of the program's, which stays with the buffer and is not
              sent */
    int enc; /* 0x10000000: translated for machines of another kind; else as
              hi_dsig, raw */
    int crc; /* 0: there is none */
    int src; /* tid of the sender */
    int dst; /* tid of the receiver */
};

struct pvmmboxinfo {
    char *mi_name;   /* of the mailbox */
    int mi_nentries; /* how many entries it has */
    int *mi_indices; /* of each: its index, */
    int *mi_owners;  /* the tid that has put it, 0: that task has ended, */
    int *mi_flags;   /* and its flags */
};

/* The code of the last error. As ever, a program may also declare char
 * *pvm_errlist[], with the sentence of each code at -code, and int pvm_nerr,
 * how many there are. */
extern int pvm_errno;

/* ----------------------------------------------------------------------------------
 * tasks --- */

/* pvm_mytid -- become a task, as any routine does, and tell one's tid. */
int pvm_mytid(void);

/* pvm_exit -- leave the virtual machine, after what was sent has gone out. After pvm_catchout it waits until the tasks that print here have
 * ended. The process goes on, but is no task any more: other routines fail with PvmSysErr
 * then. */
int pvm_exit(void);

/* pvm_parent -- the tid of the task that has spawned this one. Errors:
 * PvmNoParent; PvmParentNotSet: PvmNoSpawnParent */
int pvm_parent(void);

/* pvm_siblings -- the tasks that were started together with this one, by one
 * pvm_spawn or by enl -n, itself among them. Returns: how many there are, their
 * tids at *tids, which is the library's; NULL: not wanted. Blocks: until all
 * that enl -n has started are tasks. */
int pvm_siblings(int **tids);

/* pvm_tasks -- what is known of tasks: where is 0, all of them; a tid, that
 * one; hi_tid of a host, those there. Stores how many at *ntask and an array,
 * the library's until the next call, at *taskp; either may be NULL. Of a task that has ended, or never
 * was, there are 0. Errors: PvmBadParam: below 0; PvmNoHost */
int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **taskp);

/* pvm_config -- what is known of hosts. Stores how many hosts, how many
 * architectures, and an array, the library's until the next call; each may be
 * NULL. */
int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hostp);

/* pvm_spawn -- start ntask tasks, which run `task`: a path, or a name that is
 * looked for in $HOME/pvm3/bin/ARCH, $PVM_ROOT/bin/ARCH, and PATH. argv has the
 * arguments behind the name, and ends with NULL; NULL: none. Hosts are taken by
 * turns, unless flag says where; behind a ':' in `where` follows the directory.
 * Tasks begin in the caller's context, with the variables that PVM_EXPORT
 * names. tids has room for ntask tids, and gets those of tasks that were
 * started, and behind them codes of the others; NULL: not wanted. Returns: how
 * many were started. Errors: PvmBadParam; PvmNoHost. Codes of tasks: PvmNoHost,
 * PvmNoFile, PvmOutOfRes */
int pvm_spawn(const char *task, char **argv, int flag, const char *where, int ntask, int *tids);

/* pvm_kill -- send SIGTERM to another task. pvm_sendsig -- send a signal to a
 * task. Errors: PvmBadParam: no task's tid, no signal, of pvm_kill the
 * caller's; PvmNoTask: it has ended */
int pvm_kill(int tid);
int pvm_sendsig(int tid, int signum);

/* pvm_pstat -- whether a task runs. Returns: PvmOk. Errors: PvmNoTask: it has ended, or never was; PvmBadParam: no tid pvm_mstat -- whether a host is in the
 * virtual machine. Returns: PvmOk. Errors: PvmNoHost */
int pvm_pstat(int tid);
int pvm_mstat(const char *host);

/* pvm_notify -- be sent messages with that tag, in the current context. Their sender is the caller.
 *   PvmTaskExit: one for each of cnt tasks, when it ends; it has its tid as an int.
 *   PvmHostDelete: one for each of cnt hosts, given by their hi_tid or by a task there, when it is taken away or lost; it
 *     has its hi_tid as an int. Of a task or host that has gone the message comes at once.
 *   PvmHostAdd: one for each of the next cnt hosts that are added, -1: of all, 0: of none any more; it has two ints,
 *     1 and the hi_tid. tids is not used. Each call takes the place of the one before.
 *   With PvmNotifyCancel added: what was asked for by the same arguments is sent now (of PvmHostAdd with one int, 0), and then no more.
 * Errors: PvmBadParam: no event, tag, count, task or host; PvmNotImpl: of routes */
int pvm_notify(int what, int msgtag, int cnt, const int *tids);

/* pvm_halt -- end the virtual machine: send SIGTERM to all tasks, the caller last, and SIGKILL to those that have not ended within three
 * seconds. If the caller ignores SIGTERM, it leaves as pvm_exit does. */
int pvm_halt(void);

/* pvm_start_pvmd -- begin a virtual machine that stays without tasks, until pvm_halt, and enter it. Tasks of this user that are started from
 * the shell on its hosts enter it, too, as long as it is there (bcr-pvm(1)). What stands in argv and begins with no '-' is a file that
 * names hosts, one a line, which are added; block changes nothing, as they are there when this returns.
 * Errors: PvmDupHost: the process is in a virtual machine, or enters one that is there; PvmCantStart, as stderr says; PvmNoFile; those of
 * pvm_addhosts */
int pvm_start_pvmd(int argc, char **argv, int block);

/* pvm_addhosts -- add hosts to the virtual machine, one after the other. Each is a line as in a hosts file of enl(1), a name and what may
 * stand behind it; of PVM's options lo=, ip= and ep= are taken, and dx=, so=, wd=, sp=, bx= and id= passed over. infos gets for each its
 * hi_tid or a code; NULL: not wanted. Returns: how many were added. Errors: PvmBadParam: none. Codes: PvmBadParam:
 * no such line; PvmDupHost; PvmNoHost: there is no machine of that name; PvmCantStart; PvmOutOfRes
 * Blocks: until they are up, or are known not to come up.
 * pvm_delhosts -- take hosts away, by their names, and kill the tasks there. Returns: how many were taken away; infos has a code for
 * each, PvmOk; PvmNoHost; PvmBadParam: the first host, on which the virtual machine was begun. */
int pvm_addhosts(char **hosts, int nhost, int *infos);
int pvm_delhosts(char **hosts, int nhost, int *infos);

/* pvm_tidtohost -- the host of a task, as its hi_tid. Errors: PvmBadParam: not
 * a task's tid */
int pvm_tidtohost(int tid);

/* pvm_archcode -- the hi_dsig of hosts of an architecture. Errors: PvmBadParam:
 * no name; PvmNotFound: no host has it */
int pvm_archcode(const char *arch);

/* pvm_hostsync -- the clock of a host, and this host's minus that one's. clk or
 * delta may be NULL. Errors: PvmNoHost; PvmNotImpl: of another host than the
 * task's */
int pvm_hostsync(int host, struct timeval *clk, struct timeval *delta);

/* pvm_export, pvm_unexport -- add the name of a variable to, or take it out of,
 * PVM_EXPORT: the names, with colons between them, of those that spawned tasks
 * are to have. Errors: PvmBadParam: no name */
int pvm_export(const char *name);
int pvm_unexport(const char *name);

/* --------------------------------------------------------------------------------
 * buffers --- */

/* pvm_initsend -- free the active send buffer, and make a new one active.
 * pvm_mkbuf -- make one that is not active. Returns: its ID. Errors:
 * PvmBadParam: no encoding */
int pvm_initsend(int encoding);
int pvm_mkbuf(int encoding);

/* pvm_freebuf -- free a buffer; if it is active, there is no active one then.
 * Errors: PvmBadParam: not more than 0; PvmNoSuchBuf; PvmDenied: from within a
 * routine of pvm_recvf, one that it chooses from */
int pvm_freebuf(int bufid);

/* pvm_setsbuf, pvm_setrbuf -- make a buffer the active one to pack into, or to
 * unpack from; 0: none. The former one stays. What was received can be sent on, and packed further; what was packed can be unpacked, unless it is in place.
 * Returns: the ID of the one that was active, 0: none. Errors: PvmBadParam,
 * PvmNoSuchBuf */
int pvm_setsbuf(int bufid);
int pvm_setrbuf(int bufid);
/* pvm_getsbuf, pvm_getrbuf -- the ID of the active one; 0: there is none. */
int pvm_getsbuf(void);
int pvm_getrbuf(void);

/* pvm_bufinfo -- length in bytes, tag and sender's tid of the message in a
 * buffer; each may be NULL. pvm_getminfo, pvm_setminfo -- read what is known of
 * it; set its ctx, tag, wid, src and dst. Errors: PvmBadParam: not more than 0,
 * or no mi; PvmNoSuchBuf */
int pvm_bufinfo(int bufid, int *bytes, int *msgtag, int *tid);
int pvm_getminfo(int bufid, struct pvmminfo *mi);
int pvm_setminfo(int bufid, struct pvmminfo *mi);

/* --------------------------------------------------------------------------------
 * packing --- */

/* Pack nitem items, each `stride` items behind the one before, into the active
 * send buffer; a complex number is two. pvm_pkstr packs a string with its end.
 * Errors: PvmNoBuf; PvmMismatch: a message from a machine of another kind; PvmBadParam:
 * nitem below 0, or no items; PvmNotImpl: a string, or a message, in place */
int pvm_pkbyte(const char *xp, int nitem, int stride);
int pvm_pkcplx(const float *xp, int nitem, int stride);
int pvm_pkdcplx(const double *zp, int nitem, int stride);
int pvm_pkdouble(const double *dp, int nitem, int stride);
int pvm_pkfloat(const float *fp, int nitem, int stride);
int pvm_pkint(const int *np, int nitem, int stride);
int pvm_pklong(const long *np, int nitem, int stride);
int pvm_pkshort(const short *np, int nitem, int stride);
int pvm_pkuint(const unsigned *np, int nitem, int stride);
int pvm_pkulong(const unsigned long *np, int nitem, int stride);
int pvm_pkushort(const unsigned short *np, int nitem, int stride);
int pvm_pkstr(const char *sp);

/* Unpack the next items of the active receive buffer, of the type that they
 * were packed as, to places `stride` items apart. Errors: PvmNoBuf; PvmNoData:
 * so many are not left, none was unpacked; PvmOverflow: a long does not fit a
 * long here, those before it were unpacked; PvmBadParam; PvmBadMsg of
 * pvm_upkstr: no string is next */
int pvm_upkbyte(char *xp, int nitem, int stride);
int pvm_upkcplx(float *xp, int nitem, int stride);
int pvm_upkdcplx(double *zp, int nitem, int stride);
int pvm_upkdouble(double *dp, int nitem, int stride);
int pvm_upkfloat(float *fp, int nitem, int stride);
int pvm_upkint(int *np, int nitem, int stride);
int pvm_upklong(long *np, int nitem, int stride);
int pvm_upkshort(short *np, int nitem, int stride);
int pvm_upkuint(unsigned *np, int nitem, int stride);
int pvm_upkulong(unsigned long *np, int nitem, int stride);
int pvm_upkushort(unsigned short *np, int nitem, int stride);
int pvm_upkstr(char *sp);

/* pvm_packf, pvm_unpackf -- pack or unpack what a format says, one after the
 * other, up to the first error.
 *   %+ (first, of pvm_packf): pvm_initsend, with the next argument as encoding.
 *   %COUNT.STRIDE MODIFIERS TYPE: both are numbers or *, the next argument, and
 * may be left out: 1. TYPE is c bytes, d int, f float, x complex, s a string;
 * modifiers are h short, l long or double, u unsigned. The argument is the
 * address of the items; of pvm_packf, if count and stride are left out, c, d
 * and f are given by value. Other characters are passed over. Errors:
 * PvmBadParam: no such format; those of packing and unpacking */
int pvm_packf(const char *fmt, ...);
int pvm_unpackf(const char *fmt, ...);

/* pvm_pkmesg -- pack the message in another buffer as one item, with what
 * pvm_getminfo tells of it. pvm_pkmesgbody -- pack its items behind those of
 * the active send buffer. The other buffer, and where unpacking is in it, stay
 * as they are. Errors: PvmBadParam: not more than 0, or the active send buffer;
 * PvmNoSuchBuf; PvmNoBuf; PvmMismatch of pvm_pkmesgbody: one is raw, or from a
 * machine of another kind; PvmNotImpl: into a buffer in place */
int pvm_pkmesg(int bufid);
int pvm_pkmesgbody(int bufid);
/* pvm_upkmesg -- unpack such an item as a buffer of its own. Returns: its ID.
 * Errors: PvmNoBuf, PvmNoData, PvmBadMsg */
int pvm_upkmesg(void);

/* -------------------------------------------------------------------------------
 * messages --- */

/* pvm_send -- send the active send buffer to a task, itself too. pvm_mcast --
 * to ntask tasks, but not to the caller. The buffer may be packed and sent
 * further. Errors: PvmBadParam: no task's tid, or a tag below 0; PvmNoBuf
 * Blocks: while the receiver's inbox is full, or too much waits to be received
 * (EARL_MEMORY). */
int pvm_send(int tid, int msgtag);
int pvm_mcast(const int *tids, int ntask, int msgtag);

/* pvm_psend -- send len items at buf; no buffer of PVM is used. Errors:
 * PvmBadParam, also for a datatype that is none */
int pvm_psend(int tid, int msgtag, const void *buf, int len, int datatype);

/* pvm_recv -- wait for a message of that tid and tag, and make it the active
 * receive buffer. pvm_nrecv -- if there is one. pvm_trecv -- wait for it as
 * long as *tmout says; NULL: without limit. Returns: the buffer's ID; 0: there
 * is none. Errors: PvmBadParam: not a task's tid, or a tag below -1; the error
 * of a routine of pvm_recvf */
int pvm_recv(int tid, int msgtag);
int pvm_nrecv(int tid, int msgtag);
int pvm_trecv(int tid, int msgtag, const struct timeval *tmout);

/* pvm_precv -- wait for a message, and copy up to len items of it to buf; no
 * buffer of PVM changes. Stores sender, tag, and how many bytes the message has; each may be NULL. Returns: PvmOk. Errors: as pvm_psend */
int pvm_precv(int tid, int msgtag, void *buf, int len, int datatype, int *atid, int *atag, int *alen);

/* pvm_probe -- look for a message, and leave it there.
 * Returns: an ID for pvm_bufinfo and pvm_getminfo, until the next message is
 * received; 0: there is none. Errors: as pvm_recv */
int pvm_probe(int tid, int msgtag);

/* pvm_recvf -- have receives and probes choose by a routine: it is given the ID
 * of each message of the current context in the order of their arrival, and the
 * tid and tag that are wanted. It returns 0: not this one; 1: this one; more:
 * this one, if none has more; below 0: that is the receive's error. It may
 * unpack nothing. NULL: choose as without. Returns: what was set before; NULL:
 * nothing */
int (*pvm_recvf(int (*chooser)(int bufid, int tid, int tag)))(int bufid, int tid, int tag);

/* ------------------------------------------------------------------- contexts
 * and handlers --- */

/* pvm_newcontext -- a context that no task has. pvm_freecontext -- give it
 * back. Errors: PvmOutOfRes: a task has 4095 at most; PvmNotFound: not one of this task's pvm_setcontext -- send and receive in that context from now on;
 * all tasks begin in 0. Returns: the former one. Errors: PvmBadParam
 * pvm_getcontext -- the current one. */
int pvm_newcontext(void);
int pvm_freecontext(int ctx);
int pvm_setcontext(int ctx);
int pvm_getcontext(void);

/* pvm_addmhf -- have a routine called for each message of that src, tag and
 * context, -1: any, in place of receiving it: within routines that send or
 * receive. While it runs, the message is the active receive buffer, there is no
 * active send buffer, and no handler is called; then both are as they were. It
 * may pack, unpack and send. Context -1: any that this task has had. Returns: a
 * number, 0 or more. Errors: PvmExists: there is one for the same; PvmBadParam:
 * no routine, or no tid, tag or context pvm_delmhf -- take it away. Errors:
 * PvmBadParam: below 0; PvmNotFound */
int pvm_addmhf(int src, int tag, int ctx, int (*func)(int mid));
int pvm_delmhf(int mhid);

/* ------------------------------------------------------------------------------
 * mailboxes --- */

/* pvm_putinfo -- keep the message in a buffer under a name. It goes when its owner ends or deletes it. An entry is replaced by its
 * owner, and by all if it is PvmMboxOverWritable.
 * Returns: its index. Errors: PvmBadParam: no name, of 1 to 250 bytes; PvmNoSuchBuf; PvmDenied: the name or index is another's */
int pvm_putinfo(const char *name, int bufid, int flags);

/* pvm_recvinfo -- receive what is kept under a name and index, as the active
 * receive buffer. Returns: its ID. Errors: PvmBadParam; PvmNotFound; PvmDenied:
 * PvmMboxReadAndDelete of an entry that its owner alone may delete Blocks: with
 * PvmMboxWaitForInfo, until there is one. */
int pvm_recvinfo(const char *name, int index, int flags);

/* pvm_delinfo -- delete what is kept under a name and index. Errors:
 * PvmBadParam, PvmNotFound, PvmDenied */
int pvm_delinfo(const char *name, int index, int flags);

/* pvm_getmboxinfo -- tell of mailboxes whose names match an extended regular
 * expression, "*": all. Stores how many, and an array, the library's until the
 * next call; either may be NULL. Errors: PvmBadParam */
int pvm_getmboxinfo(const char *pattern, int *nclasses, struct pvmmboxinfo **classes);

/* PVM 3.3's: keep an int under a name and index, -1: the first that is free;
 * look it up, -1: the first that there is; delete it. It outlives its owner,
 * and all may delete it. Returns: the index. Errors: PvmBadParam; PvmDupEntry;
 * PvmNoEntry */
int pvm_insert(const char *name, int index, int data);
int pvm_lookup(const char *name, int index, int *data);
int pvm_delete(const char *name, int index);

/* ---------------------------------------------------------------------------------
 * groups --- */

/* pvm_joingroup -- become a member of a group, with the lowest instance number
 * that is free. pvm_lvgroup -- leave it. A task that ends leaves all. Errors of
 * all routines: PvmNullGroup: no name Returns: the instance number; PvmOk.
 * Errors: PvmDupGroup; PvmNoGroup, PvmNotInGroup */
int pvm_joingroup(const char *group);
int pvm_lvgroup(const char *group);

/* pvm_gettid -- the tid of a member. pvm_getinst -- the instance number of a
 * task. pvm_gsize -- how many members there are. Errors: PvmNoGroup; PvmNoInst;
 * PvmNotInGroup; PvmBadParam */
int pvm_gettid(const char *group, int inum);
int pvm_getinst(const char *group, int tid);
int pvm_gsize(const char *group);

/* pvm_barrier -- wait until `count` members have called it, -1: all that there
 * are now. Errors: PvmBadParam; PvmNoGroup, PvmNotInGroup; PvmMismatch: others
 * wait for another count */
int pvm_barrier(const char *group, int count);

/* pvm_bcast -- send the active send buffer to all members but the caller, which
 * need not be one. Errors: PvmBadParam: a tag below 0; PvmNoBuf; PvmNoGroup */
int pvm_bcast(const char *group, int msgtag);

/* Called by all members with the same arguments; rootginst is an instance
 * number, and message is in no context of the program's. pvm_reduce --
 * func(&datatype, x, y, &num, &info) combines num items at y into those at x:
 * first the root's own, then those of the others in the order of their numbers.
 * The root's data become the result, those of the others stay. pvm_gather --
 * the root gets `count` items of each member, those of number i from item i *
 * count of result on. pvm_scatter -- each gets `count` items of the root, from
 * item i * count of data on. Errors: PvmBadParam: no datatype, count or tag, or
 * what func says; PvmNoGroup; PvmNotInGroup; PvmNoInst: there is no such root;
 *     PvmMismatch: another has given another count */
int pvm_reduce(void (*func)(int *datatype, void *x, void *y, int *num, int *info), void *data, int count,
               int datatype, int msgtag, const char *group, int rootginst);
int pvm_gather(void *result, const void *data, int count, int datatype, int msgtag, const char *group,
               int rootginst);
int pvm_scatter(void *result, const void *data, int count, int datatype, int msgtag, const char *group,
                int rootginst);

/* For pvm_reduce: the larger, the smaller (of complex numbers by their absolute
 * values), the sum, the product. Sums and products are not of PVM_BYTE; none is
 * of PVM_STR. */
void PvmMax(int *datatype, void *x, void *y, int *num, int *info);
void PvmMin(int *datatype, void *x, void *y, int *num, int *info);
void PvmSum(int *datatype, void *x, void *y, int *num, int *info);
void PvmProduct(int *datatype, void *x, void *y, int *num, int *info);

/* pvm_freezegroup -- have all members keep who is in the group, once it has
 * `size` members, -1: those that it has now, and all have called this. What is
 * asked of the group is answered from that then, until the caller leaves it.
 * Errors: PvmBadParam; PvmNoGroup; PvmNotInGroup; PvmDupGroup: it has been done
 */
int pvm_freezegroup(const char *group, int size);

/* ---------------------------------------------------------------------------------
 * others --- */

/* pvm_setopt -- set an option. pvm_getopt -- the value of one.
 * Returns: its (former) value. Errors: PvmBadParam: no option, or no value of
 * it; PvmNotImpl: a destination of traces, another one of the task's own output */
int pvm_setopt(int what, int val);
int pvm_getopt(int what);

/* pvm_catchout -- have what tasks print that this task spawns from now on, and what those spawn, on stdout and stderr, come here, and print
 * it to ff: within routines that receive or send, and in pvm_exit. Lines of task 40002 are, unless PvmShowTids is 0:
 *   [t40002] BEGIN
 *   [t40002] a line
 *   [t40002] EOF
 * Lines of a task go to the ff that was given when it was
 * spawned. NULL: tasks that are spawned from now on print where this task's output goes, and pvm_exit does not wait for others. What
 * is not printed for long is kept by EXEC, up to EARL_MEMORY. Returns: PvmOk */
int pvm_catchout(FILE *ff);

/* pvm_perror -- say a string and the sentence of the last error on stderr.
 * pvm_strerror -- that sentence. */
int pvm_perror(const char *msg);
char *pvm_strerror(void);
/* pvm_version -- PVM_VER. */
char *pvm_version(void);

/* pvm_getfds -- a descriptor that becomes readable when a message comes, once
 * pvm_nrecv or pvm_probe has found none. Stores the address of an array of it,
 * the library's, at *fds. Returns: how many, 1. Errors: PvmBadParam */
int pvm_getfds(int **fds);

/* pvm_tickle -- ask the daemon for diagnostics: it has none. Stores 0 at
 * *nresp. Errors: PvmBadParam: narg is not 1 to 10 */
int pvm_tickle(int narg, const int *argp, int *nresp, int *resp);

/* Become a starter of daemons or tasks, a scheduler, a collector of traces:
 * Errors: PvmNotImpl, always. */
int pvm_reg_hoster(void);
int pvm_reg_tasker(void);
int pvm_reg_rm(struct pvmhostinfo **hip);
int pvm_reg_tracer(int tid, int code, int ctx, int outtid, const char *tmask, int tbuf, int topt);

#ifdef PVM33COMPAT
int pvm_getmwid(int bufid);
int pvm_setmwid(int bufid, int wid);
#endif

#ifdef __cplusplus
}
#endif

#endif
