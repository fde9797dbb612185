/* SPDX-License-Identifier: MIT */
/* Debuggers: what their arguments look like.
 *
 *   gdb    gdb -q -x SCRIPT --args PROGRAM ARGUMENTS   the person types `run`
 *   lldb   enl --held N lldb ... PROGRAM ARGUMENTS     lldb closes the descriptors of what it runs, and a CCE needs
 *                                                      its socket: so the process is there already, and lldb attaches
 *                                                      (held.c)
 *   other  DEBUGGER PROGRAM, or DEBUGGER --args PROGRAM ARGUMENTS
 *
 * The last component of its path tells which one it is: gdb-multiarch is gdb, lldb-14 lldb. */
#ifndef ENL_DEBUGGER_H
#define ENL_DEBUGGER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum enl_debugger_kind { ENL_GDB, ENL_LLDB, ENL_OTHER_DEBUGGER };

/* Also gdbserver, which has no words of its own. */
struct enl_debugger {
    enum enl_debugger_kind kind;
    char path[PATH_MAX];
    char own[PATH_MAX];    /* of this enl, to hold what lldb attaches to */
    char script[PATH_MAX]; /* for gdb: the commands `bcr cells` and so on; "" if it is not there */
    int count;             /* words of the command, its name included */
    char **words;          /* one block */
};

/* `command` is in words (bcri/words.h). Returns 0, or -1 with a sentence: there is no such program. */
int enl_debugger_find(struct enl_debugger *debugger, const char *command, char *error, size_t error_size);
void enl_debugger_free(struct enl_debugger *debugger);

/* The words by which a debugger starts a program, runs a script in it (`batch` not NULL; gdb and lldb only), or
 * attaches to process `pid`. One block, which the caller frees, with views of the arguments in it; NULL: no memory. */
char **enl_debugger_starts(const struct enl_debugger *debugger, const char *batch, const char *path,
                           char *const *argv);
/* `program` is the file that gdb is to read; NULL: it finds that by itself. */
char **enl_debugger_attaches(const struct enl_debugger *debugger, const char *batch, const char *pid,
                             const char *program);
/* A path of the program's file that holds whatever becomes of the one by which it was started. Returns whether that
 * one has been removed, or holds another file now. */
enum { ENL_PROGRAM_LINK_MAX = 48 };
bool enl_debugger_program(pid_t pid, char program[ENL_PROGRAM_LINK_MAX]);

/* NULL if processes here may be traced by their parents; else a sentence. */
const char *enl_debugger_forbidden(void);
/* NULL if that process may be traced; else a sentence. */
const char *enl_debugger_refused(pid_t pid);

#endif
