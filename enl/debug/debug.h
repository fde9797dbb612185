/* SPDX-License-Identifier: MIT */
/* debug.h -- the interface of enl/debug: debugger sessions, and the commands that reach into them. */
#ifndef ENL_DEBUG_H
#define ENL_DEBUG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

#include "base/debug_wish.h"
#include "base/spawn.h"
#include "host/host.h"

struct bcri_control;
struct enl_cce;
struct enl_conn;
struct enl_session;
struct enl_program;
struct look_cce;

/* debugger.c -- Debuggers: what their arguments look like.
 *
 *   gdb    gdb -q -x SCRIPT --args PROGRAM ARGUMENTS   the person types `run`
 *   lldb   enl --held N lldb ... PROGRAM ARGUMENTS     lldb closes the descriptors of what it runs, and a CCE needs
 *                                                      its socket: so the process is there already, and lldb attaches
 *                                                      (held.c)
 *   other  DEBUGGER PROGRAM, or DEBUGGER --args PROGRAM ARGUMENTS
 *
 * The last component of its path tells which one it is: gdb-multiarch is gdb, lldb-14 lldb. */

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
char **enl_debugger_attaches(const struct enl_debugger *debugger, const char *pid, const char *program);
/* The words by which gdbserver starts a program, and speaks by its stdin and stdout. */
#define ENL_GDBSERVER "gdbserver"
char **enl_debugger_serves(const char *path, char *const *argv);
/* A path of the program's file that holds whatever becomes of the one by which it was started. Returns whether that
 * one has been removed, or holds another file now. */
enum { ENL_PROGRAM_LINK_MAX = 48 };
bool enl_debugger_program(pid_t pid, char program[ENL_PROGRAM_LINK_MAX]);

/* NULL if processes here may be traced by their parents; else a sentence. */
const char *enl_debugger_forbidden(void);
/* NULL if that process may be traced; else a sentence. */
const char *enl_debugger_refused(pid_t pid);

/* held.c -- enl --held DEBUGGER ... -p PROGRAM ARGUMENTS: a program that waits until a debugger has attached to
 * it. */

/* Makes the process that becomes PROGRAM, and becomes DEBUGGER ... -p PID. Returns the exit status of a failure. */
int enl_held(char **argv);

/* serving.c -- This enl as a word of commands that are shown or written into files: "enl" if PATH leads to it, else
 * its path. */

enum { ENL_OWN_MAX = 4 * PATH_MAX }; /* room for a word, with all in it escaped twice */

/* The word for a shell; without `bare` its path. In `out` it stands with `before` in front of each of `special`: a
 * backslash, or ENL_OWN_APOSTROPHE within apostrophes of a shell. What has no room is cut off. */
#define ENL_OWN_APOSTROPHE "'\\'"
void enl_own_word(char *out, size_t size, bool bare, const char *special, const char *before);

/* pane.c -- A terminal's side of a debugger that the daemon holds, and the commands that need one. Each returns
 * the exit status. */

/* enl --pane NAME HOST INDEX ORDINAL TITLE: shows the debugger of a CCE in this terminal until one of both ends. */
int enl_pane(char **argv);
/* enl gdb-pipe NAME CCE: carries the gdb protocol between stdin, stdout and the CCE's gdbserver. */
int enl_gdb_pipe(char **argv);
/* A new debugger at CCE `word`, in this terminal. */
int enl_attach_here(const char *name, const char *word, const char *debugger);

/* pipe.c -- Bytes between this process's 0 and 1 and a debugger, until one of both ends. */

/* To a debugger on another host the size of its terminal goes along with what is typed: 0xff 1 and two 16-bit numbers,
 * rows and columns, most significant byte first. A byte 0xff that was typed is sent twice. */
enum enl_pipe_marks {
    ENL_PIPE_PLAIN,
    ENL_PIPE_MARKS, /* they are put in: `fd` leads to a proxied stream's helper */
    ENL_PIPE_MARKED /* they are taken out of what comes from 0: this is the helper, and `fd` the pty */
};

/* `daemon` is the connection by which `fd` came: its end is the end. A debugger at a terminal (`terminal`) is told of
 * the end of 0 as by a person, unless 0 is the terminal, which has hung up then; and of changes of its size. */
void enl_pipe(int fd, int daemon, bool terminal, enum enl_pipe_marks marks);

/* reach.c -- How a command gets at a debugger that a daemon holds: by its descriptor if the CCE is on the root's host, else by a
 * proxied stream whose helper has that descriptor (proxy.c).
 *
 *      debugger ---- pty ---- helper (enl --debug-host) ====tree==== pane ---- terminal
 *                     |          |
 *                     daemon of that host
 *
 * The helper's first byte is + when it has the descriptor; else - and a sentence. Then it carries what comes, with the
 * sizes of the terminal among what is typed (pipe.c). Its end hangs up the debugger, as a pane's does. */

/* A CCE as a person names it: 3, pid:4711, or one of these with @ and the number of its host. */
struct enl_named {
    uint32_t number, host;
    bool by_pid, has_host;
};
/* False: a sentence was said. */
bool enl_named_read(const char *word, struct enl_named *out);
/* Whether that is this one, of a look. */
bool enl_named_is(const struct enl_named *named, const struct look_cce *cce);

struct enl_reached {
    int fd, daemon;
    enum enl_pipe_marks marks;
};

/* A new debugger at that CCE of program `name` (NULL: of the only one), or gdbserver if `debugger` is "". Returns the
 * exit status: 0, or after a sentence. */
int enl_reach_attach(const char *name, const char *word, const char *debugger, struct enl_reached *out);
/* The debugger that has started the CCE of that index. */
int enl_reach_pane(const char *name, uint32_t host, uint32_t index, const char *what,
                   struct enl_reached *out);

/* enl --debug-host NUMBER WHAT: the helper. WHAT is pane, cce:DEBUGGER or pid:DEBUGGER, to which NUMBER belongs.
 * Returns the exit status. */
int enl_debug_host(char **argv);

/* where.c -- Where a session shows its debuggers: enl -D. */

enum enl_where { ENL_WHERE_NONE, ENL_WHERE_BATCH, ENL_WHERE_TMUX, ENL_WHERE_DISPLAY, ENL_WHERE_SERVER };

/* Reads `text`: batch:FILE, tmux, server, or an X display such as :0 or host:0. `*value_out` is the file or display, a
 * part of `text`. Returns 0, or -1 with a sentence. */
int enl_where_parse(const char *text, enum enl_where *where_out, const char **value_out, char *error,
                    size_t error_size);

/* session.c -- A session: CCEs under debuggers (enl -d, -D, enl attach).
 *
 * The daemon starts each debugger, since a debugger may trace its descendants and, of CCEs, what lets the daemon
 * trace it. A person sees it through a pane:
 *
 *   debugger ---- pty ---- pane (enl --pane) ---- terminal: a window, a pane of tmux, or the person's own
 *
 * The daemon holds the pty and gives a pane a descriptor of it. Windows are the work of one more process,
 * enl --windows (windows.c), so that nothing that a display or terminal does holds up the daemon.
 *
 *   what ends                 what follows
 *   the debugger              its pane reads the end of the pty, and the window closes
 *   a window, thus its pane   an attached debugger is hung up (SIGHUP); one that has started its CCE is killed with it
 *   enl --windows             its X windows close; a session of tmux stays until the program's end
 *   the daemon                debuggers and CCEs are killed by the kernel, panes read the end of the pty
 *
 * A CCE of another host has its debugger there, held by that host's daemon, which tells the root's of it (debugged);
 * windows and panes are on the root's host, and reach it by a proxied stream (reach.c). The options of the session go to each
 * daemon with the settings of the program (conductor/setup.c). */

/* A debugger that runs or is about to. */
struct enl_pane {
    LIST_ENTRY(enl_pane) entry;
    struct enl_session *session;
    uint32_t host;  /* at the root: of the other host that has it, whose daemon holds it; 0: it is here */
    uint32_t index; /* of its CCE */
    uint32_t ordinal;
    pid_t pid;               /* 0: not started yet, or ended */
    int fd;                  /* the pty, or the other end of gdbserver's stdin and stdout; -1: none */
    bool attached;           /* the CCE ran before; else the debugger has started it */
    bool found_stopped;      /* and a person had stopped it */
    bool serves;             /* gdbserver */
    bool seen;               /* it had a viewer */
    char notice[192];        /* what the first one is told; "": nothing */
    struct enl_conn *viewer; /* that has the descriptor */
};

struct enl_session {
    struct enl_self *self;
    struct enl_here *here;
    const struct enl_debug_wish *wish;

    enum enl_where where;
    const char *value;            /* the X display, or the script */
    struct enl_debugger debugger; /* words NULL: none was asked for */
    LIST_HEAD(, enl_pane) panes;
    struct enl_watch *windows; /* the socket of enl --windows; NULL: there is none, or it is to end */
    pid_t windows_pid;         /* 0: none */
    uv_timer_t closing;        /* from when it is to end */
    char server[PATH_MAX];     /* gdbserver's file */
    LIST_HEAD(, enl_inspection) inspections;     /* that are open, at the root */
    void (*freeze)(struct enl_program *program); /* stops all CCEs but those that ask */
    char missing[1024]; /* on a child's host: why no CCE can start under a debugger; "": nothing */
};

/* Before all else. */
void enl_session_init(struct enl_session *session, struct enl_self *self, struct enl_here *here,
                      const struct enl_debug_wish *wish, void (*freeze)(struct enl_program *program));
/* Looks at the options and what they need. Returns 0, or -1 with a sentence. */
int enl_session_prepare(struct enl_session *session, char *error, size_t error_size);
/* What other hosts are told of a session: where it is ("": there is none), and its debugger. */
void enl_session_options(const struct enl_session *session, char where[PATH_MAX + 16],
                         const char **debugger_out);
/* When there is a loop: starts enl --windows if it will be needed, or writes the files of -D server, which name the
 * root's program. Returns 0 or -1 with a sentence. */
int enl_session_start(struct enl_session *session, const char *root_path, char *error, size_t error_size);

/* Whether CCE `ordinal` starts under a debugger. */
bool enl_session_wants(const struct enl_session *session, uint32_t ordinal);

/* Changes how a CCE is started: words and standard files. Returns 0, or a bcrE_ code with a sentence.
 * `words_out` is to be freed after the start. */
int enl_session_wrap(struct enl_session *session, struct enl_cce *cce, struct enl_spawn *spawn,
                     char ***words_out, char *error, size_t error_size);
/* The debugger runs: shows it. Or it could not be started (pid <= 0). */
void enl_session_started(struct enl_session *session, struct enl_cce *cce, pid_t pid);

/* Requests of clients. Each returns NULL, or why the connection must end. */
const char *enl_session_pane(struct enl_session *session, struct enl_conn *conn,
                             const struct bcri_control *message);
const char *enl_session_attach(struct enl_session *session, struct enl_conn *conn,
                               const struct bcri_control *message);
/* A pane's connection has ended. */
void enl_session_unseen(struct enl_conn *conn);

/* Child `pid` has ended. True: it belonged to the session alone. */
bool enl_session_reaped(struct enl_session *session, pid_t pid, int wait_status);
/* A debugger has started a CCE on another host. */
void enl_session_far_started(struct enl_session *session, uint32_t host, const struct bcri_control *message);
/* It is looked at. */
void enl_session_far_seen(struct enl_session *session, uint32_t host, uint32_t index);
/* Debuggers that are attached keep the program, as those do which have started a CCE. */
bool enl_session_busy(const struct enl_session *session);
/* The program is killed. */
void enl_session_kill(struct enl_session *session);
/* The person insists on the end: enl --windows gets no more time for its own. */
void enl_session_cut(struct enl_session *session);
/* All CCEs have ended: ends what is left of the session. False: windows are still being closed, and
 * self->ops->something_ended is called when that is done. */
bool enl_session_over(struct enl_session *session);
void enl_session_free(struct enl_session *session);

/* inspection.c -- bcr_debug: a CCE asks for a debugger. */

/* On the CCE's host. */
void enl_inspection_ask(struct enl_session *session, struct enl_cce *cce, const struct bcri_control *message);
/* At the root, of a CCE of that host: `message` names it by ordinal and pid. */
void enl_inspection_open(struct enl_session *session, uint32_t host, const struct bcri_control *message);

/* windows.c -- Windows and panes of tmux, each with an enl in it that shows a debugger. This is a process of its
 * own: it may wait for tmux and X, while the daemon does not. */

/* enl --windows NAME WHERE XTERM TERMINAL: opens one for each message "HOST INDEX ORDINAL OBJECT" in stdin, a socket of the
 * daemon's that keeps messages apart, and closes all at its end. WHERE is tmux or an X display. Unless TERMINAL is "" the session of tmux is
 * shown in that terminal; "held" and "free" tell the daemon, which prints nothing there meanwhile. "failed HOST INDEX" tells of a
 * window that has ended or did not open. */
int enl_windows(char **argv);

/* Opens one for each CCE of `words`, with `debugger` attached, and waits until they have been closed. `display` NULL:
 * tmux. */
int enl_windows_attach(const char *display, const char *name, const char *debugger, char *const *words);

/* Ends the tmux of program `name` if it is still there, as after the end of a killed enl --windows. */
void enl_windows_forget(const char *name);
/* The same of the tmux that process `pid`, an enl_windows_attach, has opened for it. */
void enl_windows_forget_attached(const char *name, pid_t pid);

#endif
