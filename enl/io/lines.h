/* SPDX-License-Identifier: MIT */
/* Where the lines of CCEs go at the program's root: to its stdout and stderr (--output, --label),
 * and into files (--output-dir). With --label or --output-dir the root's own lines come here too. */
#ifndef ENL_LINES_H
#define ENL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program.h"

/* Whether the lines of other CCEs go anywhere but into the log; whether those of the root do. */
bool enl_lines_wanted(const struct enl_program *program);
bool enl_lines_of_root_wanted(const struct enl_program *program);

/* Makes the directory of --output-dir, if one is wanted, and removes what an earlier program has
 * left there. Returns 0, or -1 with a sentence. */
int enl_lines_open(struct enl_program *program, char *error, size_t error_size);

/* Whether a line for stdout (fd 1) or stderr (fd 2) should wait. */
bool enl_lines_full(const struct enl_program *program, int fd);
/* Takes a line that CCE `ordinal` has printed to `fd`, without its newline. */
void enl_lines_take(struct enl_program *program, int fd, uint32_t ordinal, bool root, const char *text,
                    size_t length);

#endif
