/* SPDX-License-Identifier: MIT */
/* pvm.h -- PVM 2.4, on Earl: processes that are instances of components, and exchange messages that they build.
 *
 * docs/pvm2.md tells how a program is brought over; README.md beside this file has what each routine is. A process becomes an
 * instance of a component by enroll, its first call: 0 and up, the lowest that is free. No daemon has to run: the first process of a program is
 * a virtual machine's first, whose hosts are those that enl has (bcrrc(5)).
 *
 * Names of components, barriers and events have 1 to 32 bytes. Types of messages are 0 and up; in a receive or probe -1 is any. Results
 * below 0 are of the codes below; all routines but enroll give PvmSysErr if the process has not enrolled. All are for one thread. A program may have functions
 * of its own under these names, if it does not include this header.
 *
 * Source: "A Users' Guide to PVM: Parallel Virtual Machine" (ORNL/TM-11826, 1991). */
#ifndef BCR_PVM2_H
#define BCR_PVM2_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PvmOk = 0,
    PvmSysErr = -1,   /* the process has not enrolled, or the system has failed */
    PvmBadParam = -2, /* an argument is out of range */
    PvmMismatch = -3, /* those that wait at the barrier have given another number */
    PvmTooLong = -4,  /* a name has more than 32 bytes */
    PvmNoData = -5,   /* the message has not so many values */
    PvmNoHost = -6,   /* there is no such host */
    PvmNoFile = -7,   /* there is no such program, or it cannot be executed */
    PvmNoComp = -8,   /* there is no such component or instance */
    PvmNoMsg = -9,    /* there is no such message */
    PvmNoMem = -10,   /* no memory */
    PvmAlready = -11  /* the process has enrolled already */
};
#define PvmSyserr             PvmSysErr
#define PvmMaxUserProcNameLen 32

/* enroll -- become an instance of a component. One that initiate has started enrolls by the name of its file.
 * Returns: the instance. Errors: PvmBadParam, PvmTooLong, PvmAlready, PvmSysErr, PvmNoMem
 * leave -- end that; the process may go on, and enroll again. Returns: 0. */
int enroll(const char *component_name);
int leave(void);

/* initiate, initiatem -- start a program; initiatem on that machine. initiateM is initiatem. It is the next instance of the component that is called as its
 * file without folders, and may be sent to at once. It is looked for in PATH, or from its directory, on its host, so arch (NULL: any)
 * has no effect.
 * Returns: its instance. Errors: PvmBadParam, PvmTooLong, PvmNoFile, PvmNoHost; PvmNoComp: it has ended already. */
int initiate(const char *object_file, const char *arch);
int initiatem(const char *object_file, const char *machine);
int initiateM(const char *object_file, const char *machine);

/* terminate -- kill an instance; -1: all of the component but the caller. Returns: 0. Errors: PvmBadParam, PvmTooLong, PvmNoComp */
int terminate(const char *component, int instance);

/* status -- whether an instance is there; -1: any of the component. Returns: 1 or 0. Errors: PvmBadParam, PvmTooLong */
int status(const char *component, int instance);

/* whoami -- the caller's component, for which there is room for 33 bytes, and instance. Returns: 0.
 * pstatus -- how many hosts there are, and how many formats of data: 1, or, on several hosts, 2, as they may differ. Returns: 0.
 * Either pointer may be NULL. */
int whoami(char *component, int *instance);
int pstatus(int *ncpu, int *nformats);

/* initsend -- empty the send buffer. put... -- add num values to it, or a string. snd -- send it to an instance, -1: to all of the component but the
 * caller; it stays, and may be sent again. Values are translated for machines of another kind.
 * Returns: 0. Errors: PvmBadParam, PvmNoMem; snd: PvmTooLong, PvmNoComp
 * Blocks: snd while the receiver's inbox is full and EARL_MEMORY is in use. */
int initsend(void);
int putnshort(const short *ptr, int num);
int putnint(const int *ptr, int num);
int putnlong(const long *ptr, int num);
int putnfloat(const float *ptr, int num);
int putndfloat(const double *ptr, int num);
int putncplx(const float *ptr, int num);
int putndcplx(const double *ptr, int num);
int putbytes(const char *ptr, int num);
int putstring(const char *ptr);
int snd(const char *component, int instance, int msgtype);
int vsnd(const char *component, int instance, int msgtype);

/* rcv, rcvmulti -- receive a message of a type, or of one of num types. vsnd, vrcv and vrcvmulti are snd, rcv and rcvmulti.
 * Returns: its type. Errors: PvmBadParam. Blocks: until there is one.
 * get... -- take values out of it, in the order in which they were put.
 * Returns: 0. Errors: PvmBadParam; PvmNoData; PvmNoMsg: none was received; PvmBadParam also for a long that does not fit here. */
int rcv(int msgtype);
int rcvmulti(int num, const int *msgtypes);
int vrcv(int msgtype);
int vrcvmulti(int num, const int *msgtypes);
int getnshort(short *ptr, int num);
int getnint(int *ptr, int num);
int getnlong(long *ptr, int num);
int getnfloat(float *ptr, int num);
int getndfloat(double *ptr, int num);
int getncplx(float *ptr, int num);
int getndcplx(double *ptr, int num);
int getbytes(char *ptr, int num);
int getstring(char *ptr);

/* probe, probemulti -- look for a message and leave it where it is. Returns: its type. Errors: PvmBadParam; PvmNoMsg
 * rcvinfo -- of the message that was received or found last: its length, type, and the sender's component, for which there is room for
 * 33 bytes, and instance. Pointers may be NULL. Returns: 0. Errors: PvmNoMsg */
int probe(int msgtype);
int probemulti(int num, const int *msgtypes);
int rcvinfo(int *bytes, int *msgtype, char *component, int *instance);

/* barrier -- wait until num processes have called it by that name. Errors: PvmBadParam, PvmTooLong, PvmMismatch
 * ready -- an event has occurred, from then on. waituntil -- wait until it has. Errors: PvmBadParam, PvmTooLong
 * Returns: 0. */
int barrier(const char *barrier_name, int num);
int ready(const char *event_name);
int waituntil(const char *event_name);

#ifdef __cplusplus
}
#endif

#endif
