/* SPDX-License-Identifier: MIT */
/* What goes to the root's stdout or stderr: enl's own messages, and what the other CCEs print
 * (mux.c).
 *
 * The reader of a terminal or pipe may be slow, or never read (Ctrl-S, a pager), and the daemon's
 * loop must not wait for it. So a thread writes, and what it has not written yet is bounded in two
 * ways:
 *
 *   what a CCE prints  is never dropped. While the writer is full the daemon does not read what
 *                      CCEs print, so a CCE that prints faster than the reader reads is slowed
 *                      down, as it would be without BCR. What cannot be written (a full disk, a
 *                      reader that has gone) is logged.
 *   enl's own message  is dropped while the writer is full, and counted; the log has it if it can. The count
 *                      is told as soon as there is room. It goes out at once, and begins a line: if a
 *                      CCE's is unfinished, with a newline. */
#ifndef ENL_WRITER_H
#define ENL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENL_WRITER_FULL_BYTES (256u << 10)

struct enl_program;
struct enl_self;
struct enl_writer;

/* Called on the loop. */
struct enl_writer_hooks {
    void (*changed)(
        struct enl_program *program); /* there is room again, or all is written, or all that was marked */
    /* What a CCE has printed could not be written. */
    void (*unwritten)(struct enl_program *program, uint32_t ordinal, const char *bytes, size_t length,
                      int error);
};

/* Starts a writer for descriptor `fd`; it calls self->report.hooks. NULL: no thread, no memory. */
struct enl_writer *enl_writer_start(struct enl_self *self, int fd);
/* Adds what a CCE has printed. False: no memory. */
bool enl_writer_printed(struct enl_writer *writer, uint32_t ordinal, const char *bytes, size_t length);
/* Adds a message of enl's own, which ends in a newline. */
void enl_writer_text(struct enl_writer *writer, const char *bytes, size_t length);
/* While `hold` is true what is added is kept and not written. */
void enl_writer_hold(struct enl_writer *writer, bool hold);
bool enl_writer_full(const struct enl_writer *writer);
/* How many bytes are not written yet; *printed_io grows by those of them that CCEs have printed. */
size_t enl_writer_left(const struct enl_writer *writer, size_t *printed_io);
/* Marks what is not written yet; whether none of that is left. */
void enl_writer_mark(struct enl_writer *writer);
bool enl_writer_has_written(const struct enl_writer *writer);
/* Ends the thread and drops what is left. True: the writer is gone. False: the thread is stuck in
 * its write, and the writer stays. */
bool enl_writer_stop(struct enl_writer *writer);

#endif
