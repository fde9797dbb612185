/* SPDX-License-Identifier: MIT */
/* A session: CCEs under debuggers (enl -d, -D, enl attach).
 *
 * The daemon starts each debugger, since a debugger may trace its descendants and, of CCEs, what lets the daemon
 * trace it. A person sees it through a pane:
 *
 *   debugger ---- pty ---- pane (enl --pane) ---- terminal: a window, a pane of tmux, or the person's own
 *
 * The daemon holds the pty and gives a pane a descriptor of it. Windows are the work of one more process,
 * enl --windows (windows.h), so that nothing that a display or terminal does holds up the daemon.
 *
 *   what ends                 what follows
 *   the debugger              its pane reads the end of the pty, and the window closes
 *   a window, thus its pane   an attached debugger is hung up (SIGHUP); one that has started its CCE is killed with it
 *   enl --windows             its X windows close; a session of tmux stays until the program's end
 *   the daemon                debuggers and CCEs are killed by the kernel, panes read the end of the pty
 *
 * A CCE of another host has its debugger there, held by that host's daemon, which tells the root's of it (debugged);
 * windows and panes are on the root's host, and reach it by a relay (reach.h). The options of the session go to each
 * daemon with the settings of the program (tree/setup.c). What a session asks of the rest of the daemon it asks by
 * struct enl_session_ops. */
#ifndef ENL_SESSION_H
#define ENL_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <uv.h>

#include "base/debug_wish.h"
#include "base/spawn.h"
#include "debug/debugger.h"
#include "debug/where.h"
#include "host/host.h"

struct enl_cce;
struct enl_conn;
struct enl_session;
struct bcri_control;

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

struct enl_session_ops {
    /* Tells the daemon that has started this one. False: none has, or it is gone. */
    bool (*send_up)(void *owner, const struct bcri_control *message);
    void (*abort)(void *owner, int status);
    void (*something_ended)(void *owner);
};

struct enl_session {
    struct enl_self *self;
    struct enl_here *here;
    const struct enl_debug_wish *wish;
    const struct enl_session_ops *ops;
    void *owner; /* theirs */

    enum enl_where where;
    const char *value;            /* the X display, or the script */
    struct enl_debugger debugger; /* words NULL: none was asked for */
    LIST_HEAD(, enl_pane) panes;
    struct enl_watch *windows; /* the socket of enl --windows; NULL: there is none, or it is to end */
    pid_t windows_pid;         /* 0: none */
    uv_timer_t closing;        /* from when it is to end */
    char server[PATH_MAX];     /* gdbserver's file */
    char missing[1024];        /* on a child's host: why no CCE can start under a debugger; "": nothing */
    char line[256];            /* of enl --windows, its beginning */
    size_t length;
};

/* Before all else. */
void enl_session_init(struct enl_session *session, struct enl_self *self, struct enl_here *here,
                      const struct enl_debug_wish *wish, const struct enl_session_ops *ops, void *owner);
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
int enl_session_dress(struct enl_session *session, struct enl_cce *cce, struct enl_spawn *spawn,
                      char ***words_out, char *error, size_t error_size);
/* The debugger runs: shows it. Or it could not be started (pid <= 0). */
void enl_session_started(struct enl_session *session, struct enl_cce *cce, pid_t pid);

/* Requests of visitors. Each returns NULL, or why the connection must end. */
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
 * ops->something_ended is called when that is done. */
bool enl_session_over(struct enl_session *session);
void enl_session_free(struct enl_session *session);

#endif
