/* SPDX-License-Identifier: MIT */
/* See progress.h. */
#include "base/progress.h"

#include <stdio.h>

size_t enl_progress_line(char out[ENL_PROGRESS_BYTES], size_t *shown_io, unsigned done, unsigned all)
{
    size_t used = 0;
    if (*shown_io != 0)
        used = (size_t)snprintf(out, ENL_PROGRESS_BYTES, "\r%*s\r", (int)*shown_io, "");
    *shown_io = 0;
    if (all != 0) {
        const int length = snprintf(out + used, ENL_PROGRESS_BYTES - used, "%u of %u hosts\r", done, all);
        *shown_io = (size_t)length - 1;
        used += (size_t)length;
    }
    return used;
}
