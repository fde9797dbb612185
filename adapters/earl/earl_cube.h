/* SPDX-License-Identifier: MIT */
/* earl_cube.h -- cubes: a number of nodes under a name, on which programs are loaded.
 *
 * A process that is loaded has a node, 0 to size - 1, and a process ID on it, of which a node may have several. Another process may
 * make or attach to a cube, and is its host then: node `size`, whatever process ID is asked for. Each process has one cube that is its current
 * one: which it was loaded into, or has made or attached to last. In a team of enl -n the team is a cube, with process ID 0 and no
 * host; there only earl_cube_own, earl_cube_process and earl_cube_place are of use, the others are refused (EARL_E_STATE).
 *
 * It stands on earl_exec.h, whose introduction holds here, too: what routines must not call these, and which errors all have. EARL_E_NONE:
 * there is no such cube; where none is named: this process has none.
 *
 * Source: the allocation and loading of Intel's iPSC/2 that Earl has ("Earl: A Tool for Portable Distributed Debugging", appendix, I). */
#ifndef EARL_CUBE_H
#define EARL_CUBE_H

#include "earl_exec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EARL_CUBE_NAME = 64 }; /* bytes of a name, with the zero */

struct earl_cube {
    char name[EARL_CUBE_NAME];
    int size;
    int host; /* the process that has made it, or a host that has attached to it since */
    int host_pid;
    int is_kept;
};

/* earl_cube_make -- allocate a cube, which becomes the current one.
 * keep 0: it is given back when this process ends, and what this process has loaded is killed then (SIGKILL); else it stays until earl_cube_drop.
 * Returns: 0. Errors: EARL_E_ARG: size is less than 1, or name empty or too long; EARL_E_BUSY: there is a cube of that name. */
EARL_API int earl_cube_make(const char *name, int size, int keep);

/* earl_cube_attach -- make a cube the current one; a process that was not loaded into it is its host from then on. One that is not kept
 * is still given back when the process that made it ends, not when this one does.
 * Processes that were loaded before, and have dealt with the former host, go on with that one.
 * Returns: its size. Errors: EARL_E_ARG, EARL_E_NONE */
EARL_API int earl_cube_attach(const char *name);

/* earl_cube_drop -- kill all that is loaded into a cube, and give it back. name NULL: the current one.
 * Returns: 0. Errors: EARL_E_NONE */
EARL_API int earl_cube_drop(const char *name);

/* earl_cube_list -- tell which cubes there are, in the order of their names.
 * Returns: how many; of them up to `room` come to list. Errors: EARL_E_ARG */
EARL_API int earl_cube_list(struct earl_cube *list, int room);

/* earl_cube_own -- tell the current cube, and this process's place there. cube, node and pid may be NULL.
 * Returns: 0. Errors: EARL_E_NONE */
EARL_API int earl_cube_own(struct earl_cube *cube, int *node, int *pid);

/* earl_cube_pid -- set the process ID that this process has as a host: of cubes that it makes or attaches to later. Errors: EARL_E_ARG */
EARL_API int earl_cube_pid(int pid);

/* earl_cube_load -- load a program on a node of the current cube, or, with node EARL_ANY, on all, with that process ID.
 * file and arguments are as in earl_exec_start.
 * Returns: how many processes were started, which is on how many nodes. Errors: EARL_E_ARG; EARL_E_NONE; EARL_E_BUSY: a process of that ID runs on such
 *     a node; EARL_E_FILE, EARL_E_HOST: none could be started. */
EARL_API int earl_cube_load(const char *file, const char *const *arguments, int node, int pid);

/* earl_cube_process -- the number of a process of the current cube, the one that was loaded there last; pid EARL_ANY: any process ID.
 * wait 1: something will be loaded there; 0: it may have been; -1: EXEC is not asked, so routines of earl_then may call it. What was
 * loaded together with a process that is known is known.
 * Returns: it. Errors: EARL_E_ARG; EARL_E_PROCESS: nothing was loaded there.
 * Blocks: with wait 1, until something is loaded there. */
EARL_API int earl_cube_process(int node, int pid, int wait);

/* earl_cube_place -- the node and process ID of a process of the current cube. ask 0: as earl_cube_process with wait -1.
 * Errors: EARL_E_PROCESS: it is not in that cube, or that is not known */
EARL_API int earl_cube_place(int process, int ask, int *node, int *pid);

/* earl_cube_pids -- look which process IDs were loaded into the current cube until now.
 * Returns: how many different ones; *pid, unless NULL, is one of them if there is any. */
EARL_API int earl_cube_pids(int *pid);

/* earl_cube_kill -- kill (SIGKILL) processes of the current cube; EARL_ANY: of all nodes, of all process IDs.
 * Returns: how many. Errors: EARL_E_ARG, EARL_E_NONE */
EARL_API int earl_cube_kill(int node, int pid);

/* earl_cube_await -- wait until a process of the current cube has ended of which this routine has not told here before.
 * node and pid, or EARL_ANY, say which; those of the process come to *node and *pid, *told says how it has ended.
 * Returns: 0. Errors: EARL_E_ARG; EARL_E_PROCESS: no such process is left to wait for. Blocks: until one has ended. */
EARL_API int earl_cube_await(int *node, int *pid, struct earl_exec_process *told);

#ifdef __cplusplus
}
#endif

#endif
