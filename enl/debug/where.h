/* SPDX-License-Identifier: MIT */
/* Where a session shows its debuggers: enl -D. */
#ifndef ENL_WHERE_H
#define ENL_WHERE_H

#include <stddef.h>

enum enl_where { ENL_WHERE_NONE, ENL_WHERE_BATCH, ENL_WHERE_TMUX, ENL_WHERE_DISPLAY, ENL_WHERE_SERVER };

/* Reads `text`: batch:FILE, tmux, server, or an X display such as :0 or host:0. `*value_out` is the file or display, a
 * part of `text`. Returns 0, or -1 with a sentence. */
int enl_where_parse(const char *text, enum enl_where *where_out, const char **value_out, char *error,
                    size_t error_size);

#endif
