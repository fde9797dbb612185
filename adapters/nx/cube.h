/* SPDX-License-Identifier: MIT */
/* cube.h -- the name that nx.h had on the iPSC/2 and iPSC/860; and what a host program calls beside it.
 *
 * A host program (pkg-config bcr-nxhost) gets a cube, loads its nodes, and sends and receives by the routines of nx.h, to and from nodes
 * 0 to numnodes() - 1. It is node myhost() for them, whatever process type they name. It is in the program that the command
 * getcube has begun, if that runs; else in one of its own. One that sends or receives without a cube gets one, of as many nodes with that
 * program as the variable NX_LOAD says: "8 ./node argument".
 *
 * Errors are as nx.h has them: each NAME has a form _NAME. */
#ifndef CUBE_H
#define CUBE_H

#include <nx.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): NX has these names */

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates a cube: `name`, "" is "defaultname"; `type` a number of nodes, as "6", or a dimension, as "d3", with letters and numbers
 * behind it that say what kind of nodes were wanted ("d3m4rx") and do not matter; "": as many nodes as this machine has
 * processors. srmname is not used. With keep it lasts longer than this program, until relcube; else what was loaded into it ends when this
 * program does. EQCUBE: there is one of that name; EQPARAM: no such type. */
void getcube(const char *name, const char *type, const char *srmname, long keep);
/* Has the program use a cube that there is, as its host. EQCUBE: there is none. */
void attachcube(const char *name);
/* Kills all that was loaded, and gives the cube back; "": the one that the program uses. EQCUBE: there is none. */
void relcube(const char *name);
long _getcube(const char *name, const char *type, const char *srmname, long keep);
long _attachcube(const char *name);
long _relcube(const char *name);

/* What there is of a cube. */
#ifndef EARL_CUBETABLE /* earl_generic.h has the same */
#define EARL_CUBETABLE
struct cubetable {
    char name[64];
    long numnodes;
    long host, hostpid; /* its host: a number of EXEC's, and the process ID */
    long keep;
};
#endif
/* Tells of `slots` cubes at ct at most, in the order of names; of all, or if global is 0 of the one that the program uses. Returns how many there are. */
long cubeinfo(struct cubetable *ct, long slots, long global);
long _cubeinfo(struct cubetable *ct, long slots, long global);

/* Sets the process ID of the host, 0 otherwise: what infopid says of its messages. */
void setpid(long pid);
long _setpid(long pid);

/* Loads a program on a node, or with -1 on all, as process `pid`: looked up by PATH, or from the directory of the program. EQFILE: it cannot be
 * started; EQPID: such a process runs. */
void load(const char *filename, long node, long pid);
long _load(const char *filename, long node, long pid);

/* Waits until a process has ended that was not told of before, of that node and process ID, -1 for any; and tells which, and its
 * exit status, or less than 0: -SIGNAL. EQPID: there is none to wait for. waitall waits for all of them. */
void waitone(long node, long pid, long *cnode, long *cpid, long *ccode);
void waitall(long node, long pid);
long _waitone(long node, long pid, long *cnode, long *cpid, long *ccode);
long _waitall(long node, long pid);

/* The iPSC's file server and log of a cube: nodes have the files of their machines, and what they print comes to the program's terminal,
 * so there is nothing to start or end. They check that there is such a cube, or a file that is open. */
void newserver(const char *name);
void setsyslog(long stdfd);
void killsyslog(void);
long _newserver(const char *name);
long _setsyslog(long stdfd);
long _killsyslog(void);

/* Turn n numbers from the cube's byte order to the host's, and back, in place. The cube has the host's own, unless the variable
 * NX_CUBE_ORDER is "big" or "little". */
void ctohd(double *values, long n);
void ctohf(float *values, long n);
void ctohl(long *values, long n);
void ctohs(short *values, long n);
void htocd(double *values, long n);
void htocf(float *values, long n);
void htocl(long *values, long n);
void htocs(short *values, long n);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(bugprone-reserved-identifier) */

#endif
