/* SPDX-License-Identifier: MIT */
/* What the files of the daemon's part of a session share (session.h). */
#ifndef ENL_SESSION_PART_H
#define ENL_SESSION_PART_H

#include <limits.h>

#include "base/spawn.h"
#include "debug/debugger.h"
#include "debug/session.h"
#include "host/cce.h"

struct enl_session {
    enum enl_where where;
    const char *value;            /* the X display, or the script */
    struct enl_debugger debugger; /* words NULL: none was asked for */
    struct enl_pane *panes;
    struct enl_watch *windows; /* the socket of enl --windows; NULL: there is none, or it is to end */
    pid_t windows_pid;         /* 0: none */
    uv_timer_t closing;        /* from when it is to end */
    char server[PATH_MAX];     /* gdbserver's file */
    char missing[1024];        /* on a child's host: why no CCE can start under a debugger; "": nothing */
    char line[256];            /* of enl --windows, its beginning */
    size_t length;
};

/* prepare.c: the file of a tool, which may be named by its path. NULL, or why there is none. */
const char *enl_session_tool(const struct enl_program *program, const char *name, char path[PATH_MAX],
                             char *reason, size_t size);

/* ptys.c */
struct enl_pane *enl_pane_new(struct enl_program *program, uint32_t index, uint32_t ordinal, int fd);
void enl_pane_free(struct enl_pane *pane);
/* Of the debugger that has started that CCE of another host, or of this one (0); NULL: there is none. */
struct enl_pane *enl_pane_of(const struct enl_program *program, uint32_t host, uint32_t index);
/* The files of a debugger: the pty three times, or a socket for gdbserver. Returns the daemon's end or -errno. */
int enl_pane_files(struct enl_spawn *spawn, bool serves);

/* opener.c: the process that opens windows. */
int enl_opener_start(struct enl_program *program, char *error, size_t error_size);
void enl_opener_tell(struct enl_program *program, const struct enl_pane *pane, const char *object);
/* It has ended. */
void enl_opener_reaped(struct enl_program *program, int wait_status);
/* Makes it end. Returns whether it has. */
bool enl_opener_over(struct enl_program *program);

#endif
