/* SPDX-License-Identifier: MIT */
/* debug_private.h -- what the files of enl/debug have of each other. */
#ifndef ENL_DEBUG_PRIVATE_H
#define ENL_DEBUG_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug/debug.h"

struct enl_self;

/* serving.c -- enl -D server: each CCE starts under gdbserver, which waits until enl gdb-pipe brings a debugger. */

/* Writes the command file, which is for programs whose `root` waits. Returns 0, or -1 with a sentence. */
int enl_serving_start(struct enl_self *self, bool root, char *error, size_t error_size);
/* --vscode: writes launch.json for the program whose file is `root_path`. Returns the same. */
int enl_serving_vscode(struct enl_self *self, const char *root_path, char *error, size_t error_size);
/* Tells a person how to reach the CCE. */
void enl_serving_tell(struct enl_self *self, uint32_t ordinal, const char *object);
/* Takes the command file away. */
void enl_serving_end(struct enl_self *self);

/* session_part -- What the files of the daemon's part of a session share (session.c). */

/* prepare.c: the file of a tool, which may be named by its path. NULL, or why there is none. */
const char *enl_session_tool(const struct enl_session *session, const char *name, char path[PATH_MAX],
                             char *reason, size_t size);

/* attach.c: debuggers that the daemon holds. */
struct enl_pane *enl_pane_new(struct enl_session *session, uint32_t index, uint32_t ordinal, int fd);
void enl_pane_free(struct enl_pane *pane);
/* Of the debugger that has started that CCE of another host, or of this one (0); NULL: there is none. */
struct enl_pane *enl_pane_of(const struct enl_session *session, uint32_t host, uint32_t index);
/* The files of a debugger: the pty three times, or a socket for gdbserver. Returns the daemon's end or -errno. */
int enl_pane_files(struct enl_spawn *spawn, bool serves);
/* The process to which a debugger can attach: a CCE's from bcr_init on, that of a job's member which is no CCE from its
 * gate on; 0 if there is none now. */
pid_t enl_attachable(const struct enl_cce *cce);

/* opener.c: the process that opens windows. */
int enl_opener_start(struct enl_session *session, char *error, size_t error_size);
void enl_opener_tell(struct enl_session *session, const struct enl_pane *pane, const char *object);
/* It has ended. */
void enl_opener_reaped(struct enl_session *session, int wait_status);
/* Makes it end. Returns whether it has. */
bool enl_opener_over(struct enl_session *session);

/* inspection.c: whether that process showed one; the last one has the program end. */
bool enl_inspection_reaped(struct enl_session *session, pid_t pid);
void enl_inspections_free(struct enl_session *session);

#endif
