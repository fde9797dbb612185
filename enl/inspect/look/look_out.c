/* SPDX-License-Identifier: MIT */
/* Where the parts of a look write their rows, within bounds. */
#include "inspect/look/look_private.h"

void look_say(struct look *look, struct look_row *row)
{
    if (look->rows >= LOOK_ROWS_MAX && row->kind != LOOK_KIND_END) {
        look->cut = true;
        return;
    }
    row->host.host = look->host; /* the first field of each kind */
    look->rows++;
    look->gone = look->gone || !look_write(stdout, row);
}

bool look_step(struct look *look)
{
    if (++look->steps > LOOK_STEPS_MAX)
        look->cut = true;
    return !look->cut && !look->gone;
}
