/* SPDX-License-Identifier: MIT */
/* earl_exec.h -- processes that come and go: EXEC, which starts them, and keeps groups, barriers and boxes by name.
 *
 * Where processes join, leave, and start others, none can know all: EXEC does. It is a process itself, number 0, of which a program
 * (what one enl runs) has one at most: the first that begins by earl_exec_begin starts it, and it ends after the last, unless it is held. Numbers are 1
 * and up in the order in which processes came to be known, are never given twice, and mean the same everywhere. EXEC is asked once about a
 * number that a process has not dealt with yet; messages go from process to process.
 *
 * All of earl.h holds; earl_processes is 0, and a group of NULL is refused. A process that fails ends alone, whatever its status,
 * once it has begun. The routines below must not be called by routines of earl_then. Their errors, beside their own:
 * EARL_E_STATE: this process has not begun by earl_exec_begin; EARL_E_MEMORY; EARL_E_SYSTEM; EARL_E_ENDED: EXEC has ended.
 * Each blocks until EXEC has answered.
 *
 * Source: the EXEC of "Earl: A Tool for Portable Distributed Debugging" (I. Lough, 1993), 3.1.2.1. */
#ifndef EARL_EXEC_H
#define EARL_EXEC_H

#include "earl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* earl_exec_begin -- earl_begin where processes come and go.
 * A process that is in no program begins one of its own; in a team of enl -n its member 0 must call it, too, as that one starts EXEC.
 * earl_begin does the same in a process that EXEC has started.
 * Returns, Errors: as earl_begin.
 * Blocks: until EXEC has given it a number. */
EARL_API int earl_exec_begin(const char *name);

/* earl_exec_enter -- the same, in a program that runs on this machine (bcr_enter), if this process is in none.
 * program is its name, as enl ps shows it.
 * Returns, Errors: as earl_begin; EARL_E_NONE: there is no such program, and the process is as before. */
EARL_API int earl_exec_enter(const char *program, const char *name);

/* earl_exec_parent -- which process has started this one. Returns: its number; EARL_ANY: none has. Errors: EARL_E_STATE */
EARL_API int earl_exec_parent(void);

/* earl_exec_team -- where this process stands in the team that enl -n has started. Its rank comes to *rank.
 * Returns: how many members the team has; 0: there is none, and *rank is 0. Errors: EARL_E_STATE, EARL_E_ARG */
EARL_API int earl_exec_team(int *rank);

/* ------------------------------------------------------------------------------ processes --- */

/* Where what a process prints may go. */
struct earl_exec_sink {
    int process; /* 0: where what the program prints goes */
    unsigned context;
    int tag;
};

/* What a message of process 0 says that comes to a sink. Its buffer has three ints, the process that prints, a value of these, and a
 * length; and so many bytes, as they were printed: a line, or a part of one. */
enum earl_printed {
    EARL_PRINTED_BEGIN, /* the process was started */
    EARL_PRINTED_OUT,   /* it has printed this on stdout, */
    EARL_PRINTED_ERROR, /* on stderr */
    EARL_PRINTED_END    /* all is told: it has ended, and so have all that it has passed its streams on to */
};

/* What is to be started. Fields that are not set are 0 or NULL. file is looked up as bcr_start does: in the program's PATH, or
 * from its directory. arguments are those behind argv[0], environment has strings "NAME=value"; NULL ends each. */
struct earl_exec_start {
    const char *file;
    const char *const *arguments, *const *environment;
    const char *directory;
    int count;
    const char *host;  /* a host's name; NULL: EXEC's choice, by turns */
    const char *group; /* NULL, or a group that they join, in order, before anybody can ask who is in it */
    int is_tied;       /* they are killed (SIGKILL) when the caller has ended */
    struct earl_exec_sink
        output; /* for stdout and stderr. What the sink does not take is kept in EXEC's memory (EARL_MEMORY), and dropped beyond */
};

/* earl_exec_start -- start processes.
 * processes has room for start->count numbers, and gets those of the processes that were started, -code for others, in which code
 * is the reason. A process may be sent to at once; its messages wait for it.
 * Returns: how many were started, 0 or more. Errors: EARL_E_ARG */
EARL_API int earl_exec_start(const struct earl_exec_start *start, int *processes);

/* earl_exec_signal -- send a signal, as kill(2); 0 only looks. Errors: EARL_E_ARG, EARL_E_PROCESS, EARL_E_ENDED (that process) */
EARL_API int earl_exec_signal(int process, int signal);

/* earl_exec_hold -- have EXEC, and so the program, stay when no process is left, for others that enter; or not (holds 0).
 * The last call counts, whoever made it. Returns: 0 */
EARL_API int earl_exec_hold(int holds);

/* How a process has ended. */
enum earl_how { EARL_HOW_UNKNOWN, EARL_HOW_EXITED, EARL_HOW_KILLED, EARL_HOW_LOST, EARL_HOW_NEVER };

struct earl_exec_process {
    int process, parent; /* parent is EARL_ANY if EXEC has not started it */
    int host;            /* k of earl_exec_host */
    int has_ended;
    int how, status; /* of enum earl_how; an exit status, or a signal */
    char file[64];   /* as it was started; "" if EXEC has not; the end of a longer one */
};

/* earl_exec_process -- tell about a process, also one that has ended. Errors: EARL_E_ARG, EARL_E_PROCESS */
EARL_API int earl_exec_process(int process, struct earl_exec_process *told);

/* earl_exec_list -- tell about all processes that have not ended, EXEC left out, in the order of their numbers.
 * Returns: how many there are; of them up to `room` come to list, which may be NULL if that is 0. Errors: EARL_E_ARG */
EARL_API int earl_exec_list(struct earl_exec_process *list, int room);

/* earl_exec_await -- wait until one of several processes has ended, and tell which and how.
 * Returns: 0. Errors: EARL_E_ARG, EARL_E_PROCESS
 * Blocks: until one has ended. What comes meanwhile is taken in. */
EARL_API int earl_exec_await(int count, const int *processes, struct earl_exec_process *told);

/* ---------------------------------------------------------------------------------- hosts --- */

/* Hosts are numbered from 0: first those that the program was given, in their order, then others as they come, or as a process comes up
 * on one that the program was not given. One that has gone keeps its number; if it is added again it gets another. */

/* earl_exec_host -- the name of the k-th host, also of one that has gone.
 * Returns: the length of the name, of which up to room - 1 bytes and a zero come to name; 0: there is no such host.
 * Errors: EARL_E_ARG */
EARL_API int earl_exec_host(int k, char *name, int room);

struct earl_exec_machine {
    int host;     /* k */
    int is_there; /* 0: it was taken away or lost, with all that ran there */
    int is_up;    /* 0: nothing has been started there yet, or it has gone */
    int layout; /* how data lie there (bcr_archtype): equal for machines that need no translation; 0: not known */
    char name[256];
    char machine[16]; /* as uname -m, i386 for 32-bit x86; "": not known yet */
};

/* earl_exec_machine -- tell about the k-th host. Returns: 0. Errors: EARL_E_ARG; EARL_E_NONE: there is no such host */
EARL_API int earl_exec_machine(int k, struct earl_exec_machine *told);

/* earl_exec_hostadd -- add a host to those that processes may be started on.
 * host is a line as in a hosts file (enl(1)), of one machine. The host is up when this returns.
 * Returns: its number, 0 or more. Errors: EARL_E_ARG: no such line; stderr says why; EARL_E_BUSY: the program has that host;
 *     EARL_E_HOST: it cannot be reached, or was taken away meanwhile.
 * Blocks: until it is up, or is known not to come up; what is sent to the caller waits. */
EARL_API int earl_exec_hostadd(const char *host);

/* earl_exec_hostdel -- take away the host of that name; its processes are killed.
 * Returns: 0. Errors: EARL_E_ARG: also for the host of the program's root; EARL_E_HOST: there is none of that name.
 * Blocks: until nothing runs there any more; what is sent to the caller waits. */
EARL_API int earl_exec_hostdel(const char *name);

/* earl_exec_hostwatch -- be told of each host that comes or goes from now on, however it goes; of none any more.
 * What is told is a message of process 0 with that context and tag; its buffer has two ints: the host, and 1 if it has come, 0 if
 * it has gone. A process has one such watch: each call takes the place of the one before. tag EARL_ANY ends it. While there is one, EXEC has a
 * process of its own on each host, which earl_exec_list does not tell of. Where there is no earl-exec, as there may be on a machine of another
 * architecture, the loss of a host is told when a process is lost there.
 * Returns: 0. Errors: EARL_E_ARG */
EARL_API int earl_exec_hostwatch(unsigned context, int tag);

/* ------------------------------------------------------------------------ groups, barriers --- */

/* earl_exec_join, earl_exec_leave -- join a group of that name, at the lowest place that is free; leave it.
 * A name has 1 to 255 bytes. A process that ends leaves all. A group exists while it has members.
 * Returns: earl_exec_join the place, 0 and up. Errors: EARL_E_ARG; EARL_E_BUSY: it is a member already; EARL_E_NONE: it is none. */
EARL_API int earl_exec_join(const char *group);
EARL_API int earl_exec_leave(const char *group);

/* earl_exec_members -- tell who is in a group: processes[place] for each place up to the highest, EARL_ANY at a free one.
 * Returns: the highest place and 1, of which up to `room` come; 0: there is no such group. Errors: EARL_E_ARG */
EARL_API int earl_exec_members(const char *group, int *processes, int room);

/* earl_exec_barrier -- wait until `count` processes have called it with that name, which need be in no group.
 * Returns: 0. Errors: EARL_E_ARG; EARL_E_BUSY: those that wait have given another count.
 * Blocks: until so many have called; one that ends while it waits is not counted any more. */
EARL_API int earl_exec_barrier(const char *name, int count);

/* ---------------------------------------------------------------------------------- boxes --- */

/* A box keeps buffers of items under a name, with an index each. */
enum earl_box {
    EARL_BOX_SEVERAL = 1, /* earl_exec_post: others may be there under that name */
    EARL_BOX_ANYONE = 2,  /* others may replace or drop it */
    EARL_BOX_STAYS = 4,   /* it outlives who has posted it */
    EARL_BOX_REPLACE = 8, /* earl_exec_post: what has the index already goes */
    EARL_BOX_WAIT = 16,   /* earl_exec_fetch: wait for one */
    EARL_BOX_TAKE = 32,   /* earl_exec_fetch: and drop it */
    EARL_BOX_EXACT = 64,  /* earl_exec_fetch: that index, not the next one that there is */
    EARL_BOX_LEAVE =
        128 /* earl_exec_post: it is the owner's of what it replaces, or else of the first one under that name */
};

/* earl_exec_post -- keep a buffer's items under a name. index -1: the lowest that is free. The buffer stays the caller's.
 * Returns: its index. Errors: EARL_E_ARG; EARL_E_BUSY: the name, or the index, is taken, and neither flag nor owner allow it. */
EARL_API int earl_exec_post(const char *name, int index, int flags, earl_buffer *buffer);

/* earl_exec_fetch -- get a buffer with the items that are kept under a name, at `index` or the next one behind it.
 * Returns: its index; *buffer is the caller's. Errors: EARL_E_ARG; EARL_E_NONE: there is none; EARL_E_BUSY: with EARL_BOX_TAKE, it
 *     is another's who does not allow it.
 * Blocks: with EARL_BOX_WAIT, until there is one. */
EARL_API int earl_exec_fetch(const char *name, int index, int flags, earl_buffer **buffer);

/* earl_exec_drop -- drop what is kept under a name and index. Errors: EARL_E_ARG, EARL_E_NONE, EARL_E_BUSY (it is another's) */
EARL_API int earl_exec_drop(const char *name, int index);

struct earl_exec_boxed {
    int index, owner, flags;
    char name[256];
};

/* earl_exec_boxes -- tell what is kept, in the order of names and indices; name NULL: under all names.
 * Returns: how many there are; of them up to `room` come to list. Errors: EARL_E_ARG */
EARL_API int earl_exec_boxes(const char *name, struct earl_exec_boxed *list, int room);

#ifdef __cplusplus
}
#endif

#endif
