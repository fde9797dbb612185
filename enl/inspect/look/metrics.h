/* SPDX-License-Identifier: MIT */
/* enl --metrics: what a program does, for Prometheus and for curl.
 *
 *   enl --metrics WHERE PROGRAM   the daemon makes the socket and starts a process of its own, which answers until
 *                                 the daemon has ended. It is no child of the daemon's, and shares nothing with it.
 *   enl metrics WHERE [NAME]      the same for a program that runs, in the foreground
 *
 * WHERE is the path of a Unix socket, which its user alone may use, or localhost:PORT. There, GET /metrics
 * is answered by HTTP/1.0, one request after the other: each makes one look (gather.h), as any other command does, so
 * what it costs is paid by who asks.
 *
 * Trust. On a port any user of the machine may ask. A request has 8 KiB and a second, its answer ten; nothing of it
 * is used but its first line, which must be one of two. */
#ifndef ENL_LOOK_METRICS_H
#define ENL_LOOK_METRICS_H

#include <stdio.h>

#include "inspect/look/view.h"

/* All of a view in Prometheus's text format, version 0.0.4. `before` is that of the last answer; NULL: this is the first. */
void look_metrics(FILE *out, const struct look_view *view, const struct look_view *before);

/* enl metrics, whose words `argv` has. Returns the exit status. */
int enl_command_metrics(char **argv);
/* For this process, the daemon of program `name`, before it makes a thread. Returns 0, or an exit status when a sentence has told
 * what is wrong with `where`. */
int enl_metrics_start(const char *where, const char *name);

#endif
