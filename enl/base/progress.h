/* SPDX-License-Identifier: MIT */
/* The line "12 of 64 hosts", by which a terminal shows how far something is that takes longer than a moment. */
#ifndef ENL_PROGRESS_H
#define ENL_PROGRESS_H

#include <stddef.h>

enum { ENL_PROGRESS_QUIET_MSEC = 1000, ENL_PROGRESS_BYTES = 160 };

/* What a terminal gets so that this line is there in place of the *shown_io characters of the last one; `all` 0:
 * none is. The cursor stays in front of it, so that other output of the terminal's begins there. Returns the length. */
size_t enl_progress_line(char out[ENL_PROGRESS_BYTES], size_t *shown_io, unsigned done, unsigned all);

#endif
