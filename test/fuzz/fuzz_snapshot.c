/* SPDX-License-Identifier: MIT */
/* Snapshots of a program, which come from another process and perhaps from another machine. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/look/look.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct bcri_cursor cursor = {bytes, length};
    struct look_row row;
    while (look_read(&cursor, &row) == 1)
        if (row.kind == LOOK_KIND_HOST && memchr(row.host.program, 0, LOOK_TEXT_MAX) == NULL)
            abort();
    return 0;
}
