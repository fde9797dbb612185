/* SPDX-License-Identifier: MIT */
/* Where what CCEs print goes at the program's root: to its stdout and stderr (output, --label), and
 * into files (--output-dir). With --label or --output-dir the root's own comes here, too. In a daemon
 * that another has started it goes up. What goes nowhere else is logged (output.c). */
#ifndef ENL_LINES_H
#define ENL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/mux.h"
#include "program.h"

/* Whether what other CCEs print goes anywhere but into the log; whether what the root prints comes here. */
bool enl_lines_wanted(const struct enl_program *program);
bool enl_lines_of_root_wanted(const struct enl_program *program);

/* Makes the directory of --output-dir, if one is wanted, and removes what an earlier program has
 * left there. Returns 0, or -1 with a sentence. */
int enl_lines_open(struct enl_program *program, char *error, size_t error_size);

/* Makes the streams, whose writers are there. Returns 0 or -errno. */
int enl_lines_start(struct enl_program *program);
/* There is room again. */
void enl_lines_resume(struct enl_program *program);
/* All sources of the streams have ended. */
void enl_lines_stop(struct enl_program *program);

/* Where a source of text for stdout (fd 1) or stderr (fd 2) belongs; NULL: it is not shown. */
struct enl_mux *enl_lines_mux(const struct enl_program *program, int fd, bool root);
/* Takes what a CCE has printed. `source` is NULL if it is not shown. */
void enl_lines_take(struct enl_program *program, struct enl_source *source, const struct enl_printed *text);

/* For struct enl_writer_hooks: what a CCE has printed is not shown, and logged. `program` is the program. */
void enl_lines_unwritten(void *program, uint32_t ordinal, const char *bytes, size_t length, int error);

/* Logs, line by line, what a CCE has printed and nobody could be shown. */
void enl_lines_log(struct enl_program *program, uint32_t ordinal, const char *bytes, size_t length);

#endif
