/* SPDX-License-Identifier: MIT */
/* A terminal's side of a debugger that the daemon holds, and the commands that need one. Each returns the exit
 * status. */
#ifndef ENL_PANE_H
#define ENL_PANE_H

/* enl --pane NAME HOST INDEX ORDINAL TITLE: shows the debugger of a CCE in this terminal until one of both ends. */
int enl_pane(char **argv);
/* enl gdb-pipe NAME CCE: carries the gdb protocol between stdin, stdout and the CCE's gdbserver. */
int enl_gdb_pipe(char **argv);
/* A new debugger at CCE `word`, in this terminal. */
int enl_attach_here(const char *name, const char *word, const char *debugger);

#endif
