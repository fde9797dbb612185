/* SPDX-License-Identifier: MIT */
/* What the other CCEs print, on its way to the root's stdout and stderr (--output).
 *
 * A terminal or pipe may take its time, and the daemon must not wait for it: lines go into a bounded buffer that a
 * thread writes out. When it is full the daemon stops reading what CCEs print, until there is room: so a CCE that
 * prints faster than somebody reads is slowed down, as it would be without BCR. */
#ifndef ENL_SINK_H
#define ENL_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"

#define ENL_SINK_FULL_BYTES (256u << 10)

/* `room` is called on the loop when there is room again after enl_sink_full() was true. NULL: no thread, no memory. */
struct enl_sink *enl_sink_start(struct enl_program *program, void (*room)(struct enl_program *program));
/* Adds bytes for descriptor 1 or 2; in order per descriptor and between them. */
void enl_sink_write(struct enl_sink *sink, int fd, const char *bytes, size_t length);
bool enl_sink_full(struct enl_sink *sink);
/* Writes out what is left, and ends the thread. */
void enl_sink_stop(struct enl_sink *sink);

#endif
