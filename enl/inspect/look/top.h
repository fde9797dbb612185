/* SPDX-License-Identifier: MIT */
/* enl top: all of a program on one screen, which is drawn again each second. */
#ifndef ENL_LOOK_TOP_H
#define ENL_LOOK_TOP_H

#include <stdio.h>

#include "inspect/look/view.h"

enum { LOOK_TOP_COLUMNS = 60, LOOK_TOP_ROWS = 10 }; /* that it needs */

enum look_top_order {
    LOOK_TOP_BY_CCE,
    LOOK_TOP_BY_RATE,
    LOOK_TOP_BY_HEAP,
    LOOK_TOP_BY_WAIT,
    LOOK_TOP_ORDERS
};

struct look_top {
    const char *program;
    unsigned columns, rows;
    enum look_top_order order;
    size_t first;          /* CCE of that order that is shown first */
    const char *complaint; /* NULL: none; its first line is shown */
};

/* Writes the screen's lines; `before` NULL: there are no rates yet. Moves `first` if there are not so many CCEs. Returns how many
 * rows of CCEs there are. */
unsigned look_top_show(FILE *out, struct look_top *top, const struct look_view *view,
                       const struct look_view *before);

/* `name` may be NULL: the only program. Returns the exit status. */
int enl_command_top(const char *name);

#endif
