/* SPDX-License-Identifier: MIT */
/* What goes to the root's stdout or stderr: what enl has to say, and what the other CCEs print
 * (--output).
 *
 * A terminal or pipe may take its time, or for ever (Ctrl-S, a pager), and the daemon's loop must
 * wait for neither. So a thread writes, and what it has not written yet is bounded in two ways:
 *
 *   a line of a CCE    is never dropped; while the writer is full the daemon does not read what CCEs print, so that one
 *                      that prints faster than somebody reads is slowed down, as it would be without BCR
 *   enl's own message  is dropped while the writer is full, and counted; the log has it. The count is told as soon as
 *                      there is room */
#ifndef ENL_WRITER_H
#define ENL_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"

#define ENL_WRITER_FULL_BYTES (256u << 10)

/* For descriptor `fd`. `changed` is called on the loop when there is room again, and when all is
 * written. NULL: no thread, no memory. */
struct enl_writer *enl_writer_start(struct enl_program *program, int fd,
                                    void (*changed)(struct enl_program *program));
/* Adds a line that must not be lost. */
void enl_writer_line(struct enl_writer *writer, const char *bytes, size_t length);
/* Adds a message of enl's own, a newline at its end. */
void enl_writer_text(struct enl_writer *writer, const char *bytes, size_t length);
bool enl_writer_full(const struct enl_writer *writer);
/* How much is not written yet; `lines_out`, unless NULL: of that, lines that must not be lost. */
size_t enl_writer_left(const struct enl_writer *writer, size_t *lines_out);
/* Ends the thread and drops what is left. True: the writer is gone; false: the thread is stuck in
 * its write, and stays. */
bool enl_writer_stop(struct enl_writer *writer);

#endif
