/* SPDX-License-Identifier: MIT */
/* nx.h -- NX, the message passing of Intel's iPSC/2, iPSC/860 and Paragon, on Earl: what a node program calls.
 *
 * docs/nx.md has what each routine is here and what differs. A program runs by enl -n N: its processes are nodes 0 to N - 1, and
 * have process type 0 unless their first call is setptype.
 *
 * Messages. One of `type` has `count` bytes at `buf`. Types are 0 to 0x7fffffff; those from 0x40000000 on, force types, are types
 * like others. Messages of a node to another that a receive could take come in the order in which they were sent.
 * Selectors. typesel: a type; -1, any; or bit 31 and bits 0 to 30, one for each type that is wanted. nodesel, ptypesel: a number,
 * or -1, any.
 * Nodes. node: 0 to numnodes() - 1, the caller's too; or -1, all but the caller. ptype: the process type there.
 *
 * Errors. Each routine NAME has a form _NAME, which returns -1 with one of the codes below in errno where NAME says a sentence on
 * stderr and ends the program with status 1; else _NAME returns what NAME does, or 0. clock, number and info routines never fail.
 * A message to a process that has ended vanishes.
 *
 * Widths. An argument or result is a 32-bit number in a long, as these machines had it: where a long has 64 bits, the low 32 are
 * read, sign and all. So calls are right without these declarations, too, but for dclock. What hrecvx and hsendx give to their
 * handler is a whole long. Arrays of long are arrays of long.
 *
 * All routines are for one thread. A program may have functions of its own under these names, if it does not include this header.
 *
 * Source: "Paragon System C Calls Reference Manual", "iPSC/2 and iPSC/860 Programmer's Reference Manual" (Intel). */
#ifndef NX_H
#define NX_H

/* NOLINTBEGIN(bugprone-reserved-identifier): NX has these names */

#ifdef __cplusplus
extern "C" {
#endif

/* Codes in errno, with the numbers that they had. */
enum {
    EQDRVERR = 150,  /* what is below NX has failed */
    EQPBUF = 151,    /* a pointer is null */
    EQBLEN = 152,    /* a buffer is too small for what all nodes give */
    EQLEN = 153,     /* a length is below 0, or not the same on all nodes */
    EQMSGLONG = 155, /* the message is longer than the buffer: what fits was stored, the rest is lost */
    EQPID = 156,     /* no process has that type */
    EQNODE = 157,    /* there is no such node */
    EQTYPE = 158,    /* that is no type, or selects none */
    EQMID = 159,     /* that message ID is none, or was given back */
    EQHND = 160,     /* there is no handler */
    EQPARAM = 165,   /* an argument is out of range */
    EQMEM = 171,     /* no memory */
    EQSET = 175,     /* the process type is set already */
    EQCUBE = 176,    /* there is no such cube, or there is one already (cube.h) */
    EQFILE = 177     /* a program cannot be started (cube.h) */
};

enum {
    HWHZ = 10000000 /* ticks of hwclock in a second */
};

typedef struct s_size {
    long slow, shigh; /* the low and the high 32 bits */
} esize_t;

/* What hrecv, hsend and hsendrecv call: handler(type, count, node, ptype). In C before C23, one with int parameters fits, too. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
typedef void nx_handler(long type, long count, long node, long ptype);
typedef long nx_operation(void *x, void *work);
#else
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
typedef void nx_handler();
typedef long nx_operation();
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif
typedef void nx_xhandler(long hparam);

/* ------------------------------------------------------------------------------- messages --- */

/* csend returns when `buf` is the caller's again; it waits while there is no room for the message. isend returns a message ID;
 * `buf` must stay as it is until that is done. */
void csend(long type, const void *buf, long count, long node, long ptype);
long isend(long type, const void *buf, long count, long node, long ptype);
long _csend(long type, const void *buf, long count, long node, long ptype);
long _isend(long type, const void *buf, long count, long node, long ptype);

/* Receive into `count` bytes at `buf`: crecv waits for the message, irecv returns a message ID. The forms with x also choose by
 * node and process type, and store type, length, node and process type of the message in info[0] to info[3]; if info is msginfo,
 * the info routines tell of it. EQMSGLONG of irecv is told when the ID is done. */
void crecv(long typesel, void *buf, long count);
long irecv(long typesel, void *buf, long count);
void crecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info);
long irecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info);
long _crecv(long typesel, void *buf, long count);
long _irecv(long typesel, void *buf, long count);
long _crecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info);
long _irecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info);

/* Send, and receive the answer: csendrecv waits, and returns the answer's length; the ID of isendrecv is done when both are. */
long csendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
               long rcount);
long isendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
               long rcount);
long _csendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
                long rcount);
long _isendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
                long rcount);

/* Have a handler called once, when the message has come, or when the buffer of a send is the caller's again. It interrupts a process
 * that computes, by SIGIO; not while masktrap(1) holds or another handler runs. It may call all routines of this header but those
 * for which all nodes must call, and malloc and printf only if what it interrupts does not. It gets type, length, node and type of
 * process of the message; after hsend, what hsend was given. The forms with x give it `hparam`. Within it the info routines tell
 * of its message. A message that is too long ends the program. */
void hrecv(long typesel, void *buf, long count, nx_handler *handler);
void hrecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, nx_xhandler *xhandler,
            long hparam);
void hsend(long type, const void *buf, long count, long node, long ptype, nx_handler *handler);
void hsendx(long type, const void *buf, long count, long node, long ptype, nx_xhandler *xhandler,
            long hparam);
void hsendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
               long rcount, nx_handler *handler);
long _hrecv(long typesel, void *buf, long count, nx_handler *handler);
long _hrecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, nx_xhandler *xhandler,
             long hparam);
long _hsend(long type, const void *buf, long count, long node, long ptype, nx_handler *handler);
long _hsendx(long type, const void *buf, long count, long node, long ptype, nx_xhandler *xhandler,
             long hparam);
long _hsendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
                long rcount, nx_handler *handler);

/* masktrap(1) keeps handlers from running; masktrap(0) lets them, and runs those that are due. Returns what was before. */
long masktrap(long state);
long _masktrap(long state);

/* Look for a message and leave it where it is: cprobe waits for one, iprobe returns 1 if there is one, else 0. The info routines,
 * or info[], tell of it. */
void cprobe(long typesel);
long iprobe(long typesel);
void cprobex(long typesel, long nodesel, long ptypesel, long *info);
long iprobex(long typesel, long nodesel, long ptypesel, long *info);
long _cprobe(long typesel);
long _iprobe(long typesel);
long _cprobex(long typesel, long nodesel, long ptypesel, long *info);
long _iprobex(long typesel, long nodesel, long ptypesel, long *info);

/* Drop the messages of these types that have come for the process `node`, `ptype` and were not received. -1: any. Only the caller's
 * own are within reach; of another process nothing is dropped. */
void flushmsg(long typesel, long node, long ptype);
long _flushmsg(long typesel, long node, long ptype);

/* Of the message that was received last (crecv, csendrecv, msgdone and msgwait of a receive, those with x if their info is msginfo) or
 * was found by a probe. */
long infocount(void);
long infonode(void);
long infoptype(void);
long infopid(void);
long infotype(void);
extern long msginfo[8];

/* Message IDs, of which any number may be open. msgdone returns 1 if it is done, else 0; msgwait waits. An ID that is done is given
 * back by that. msgcancel gives a receive up, whose message may have come meanwhile, and waits for a send; then the buffer is the
 * caller's. msgignore gives the ID back at once; the operation goes on. msgmerge returns an ID that stands for both, which is done
 * when both are; either may be -1, none. */
long msgdone(long mid);
void msgwait(long mid);
void msgcancel(long mid);
void msgignore(long mid);
long msgmerge(long mid1, long mid2);
long _msgdone(long mid);
long _msgwait(long mid);
long _msgcancel(long mid);
long _msgignore(long mid);
long _msgmerge(long mid1, long mid2);

/* --------------------------------------------------------------------- all nodes together --- */

/* gsync waits until all nodes have called it. gcol puts xlen bytes of each node, which may differ, one behind the other into y, in the
 * order of nodes; *ncnt is their sum. For gcolx all nodes give all lengths. gopf combines xlen bytes of all nodes:
 * function(x, work) combines what is at work into what is at x. gsendx sends to n nodes, to processes of the caller's type. */
void gsync(void);
void gcol(const void *x, long xlen, void *y, long ylen, long *ncnt);
void gcolx(const void *x, const long *xlens, void *y);
void gopf(void *x, long xlen, void *work, nx_operation *function);
void gsendx(long type, const void *x, long xlen, const long *nodes, long n);
long _gsync(void);
long _gcol(const void *x, long xlen, void *y, long ylen, long *ncnt);
long _gcolx(const void *x, const long *xlens, void *y);
long _gopf(void *x, long xlen, void *work, nx_operation *function);
long _gsendx(long type, const void *x, long xlen, const long *nodes, long n);

/* Combine n elements of all nodes in place, each with its like: g, then d, i or s for double, long or float; then sum, prod, high or low.
 * gi: the bits; gl: truth, 0 or 1. All nodes get the result, which is the same in each run. work is not used. */
void gdsum(double *x, long n, double *work);
void gdprod(double *x, long n, double *work);
void gdhigh(double *x, long n, double *work);
void gdlow(double *x, long n, double *work);
void gisum(long *x, long n, long *work);
void giprod(long *x, long n, long *work);
void gihigh(long *x, long n, long *work);
void gilow(long *x, long n, long *work);
void gssum(float *x, long n, float *work);
void gsprod(float *x, long n, float *work);
void gshigh(float *x, long n, float *work);
void gslow(float *x, long n, float *work);
void giand(long *x, long n, long *work);
void gior(long *x, long n, long *work);
void gixor(long *x, long n, long *work);
void gland(long *x, long n, long *work);
void glor(long *x, long n, long *work);
void glxor(long *x, long n, long *work);
long _gdsum(double *x, long n, double *work);
long _gdprod(double *x, long n, double *work);
long _gdhigh(double *x, long n, double *work);
long _gdlow(double *x, long n, double *work);
long _gisum(long *x, long n, long *work);
long _giprod(long *x, long n, long *work);
long _gihigh(long *x, long n, long *work);
long _gilow(long *x, long n, long *work);
long _gssum(float *x, long n, float *work);
long _gsprod(float *x, long n, float *work);
long _gshigh(float *x, long n, float *work);
long _gslow(float *x, long n, float *work);
long _giand(long *x, long n, long *work);
long _gior(long *x, long n, long *work);
long _gixor(long *x, long n, long *work);
long _gland(long *x, long n, long *work);
long _glor(long *x, long n, long *work);
long _glxor(long *x, long n, long *work);

/* ---------------------------------------------------------------------------------- others --- */

/* The caller's node; how many there are; the exponent of the largest power of 2 that is no larger; the host's number, which is
 * numnodes(); the caller's process type. setptype sets that: as the first call of a process, once. */
long mynode(void);
long numnodes(void);
long nodedim(void);
long myhost(void);
long myptype(void);
long mypid(void);
void setptype(long ptype);
long _setptype(long ptype);

/* Kills the process of that process type on a node, or with -1 those on all nodes; killcube also all types, with -1. The caller is left alone. Only in a
 * cube that a host program or the command load has loaded: the nodes of enl -n end together (EQCUBE). */
void killproc(long node, long ptype);
void killcube(long node, long ptype);
long _killproc(long node, long ptype);
long _killcube(long node, long ptype);

/* The binary-reflected Gray code of a number, and its inverse. */
long gray(long number);
long ginv(long code);

/* Milliseconds and seconds since the process began, and ticks of HWHZ. */
unsigned long mclock(void);
double dclock(void);
void hwclock(esize_t *hwtime);

/* flick lets others run, and takes in what has come. led(1) turns the node's green lamp on: a line on stderr, if EARL_VERBOSE is set. */
void flick(void);
void led(long state);

/* Says on stderr what the code in errno means, behind `string` and a colon. */
void nx_perror(const char *string);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(bugprone-reserved-identifier) */

#endif
