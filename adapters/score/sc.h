/* SPDX-License-Identifier: MIT */
/* sc.h -- the system calls of SCore-D, which enl answers here. They return 0 or an errno value. Any thread may call them,
 * after score_initialize. A program without a team is alone: it is all that they concern. docs/score.md. */
#ifndef SC_H
#define SC_H

#ifdef __cplusplus
extern "C" {
#endif

/* sc_barrier -- wait until all nodes have called it.
 * Errors: EINVAL  before score_initialize.
 *         EPIPE   a node has ended without calling it. (The manual has no number for that.) */
int sc_barrier(void);

/* sc_exit -- end all nodes; `status`, of which the lowest 8 bits count, becomes enl's exit status. Does not return.
 * sc_terminate -- the same with status 1. */
int sc_exit(int status);
int sc_terminate(void);

/* sc_flush -- wait until all that any node has printed before is out where enl prints.
 * Errors: EINVAL  before score_initialize.
 *         EPIPE   the program is ending. */
int sc_flush(void);

/* sc_getpid -- tell a number that is the same for all nodes, and another for other programs. Returns 0.
 * Errors: EINVAL  scpid is NULL. */
int sc_getpid(int *scpid);

/* sc_inspectme -- have gdb opened on this process, all other nodes stopped, until the last such debugger leaves; then the program
 * ends, with status 134. display: an X display, in whose windows gdb is shown; NULL: the one of the variable DISPLAY. Where there
 * is none, gdb carries out the file score.gdb of the directory in which the program was started, if it can be read on this
 * host, else it shows the stacks. Without the option debug (SCORE_OPTIONS) the program ends at once; with debug=N, when N debuggers are
 * open already (debug: 4; at most 10). May be called in signal handlers, whatever they have interrupted, and never returns.
 * signal has no effect. Source: bcr_debug. */
int sc_inspectme(char *display, int signal);

/* sc_set_monitor -- keep a value for a load monitor: 0 the first, else the second. Nothing shows them yet. */
void sc_set_monitor(int which, unsigned char value);

/* sc_signal_bcast -- send a signal to all nodes, the caller too.
 * Errors: EINVAL  there is no such signal, or it is SIGSTOP, SIGCONT or SIGKILL. */
int sc_signal_bcast(int signal);

/* sc_sleep -- hold up the caller for so many seconds. EINVAL: sec is negative. */
int sc_sleep(int sec);
/* sc_yield -- let other processes run. Always 0. */
int sc_yield(void);

/* sc_create_temporary_file, sc_open_temporary_file, sc_unlink_temporary_file -- files in a directory of the program on this
 * host, which all nodes here share, and which is gone with the program. `filename` has no slash. The first makes the file
 * anew, for reading and writing, as does the second if it is there. *fd is the caller's.
 * Errors: EINVAL  filename is empty, "." or "..", or has a slash; or what open and unlink say. */
int sc_create_temporary_file(char *filename, int *fd);
int sc_open_temporary_file(char *filename, int *fd);
int sc_unlink_temporary_file(char *filename);

/* sc_checkpoint -- ENOSYS: there are no checkpoints. The other two count how deep the program is in what it cannot have
 * interrupted by one. */
int sc_checkpoint(void);
void score_ckpt_enter_uncheckpointable(void);
void score_ckpt_leave_uncheckpointable(void);

#ifdef __cplusplus
}
#endif

#endif
