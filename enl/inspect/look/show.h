/* SPDX-License-Identifier: MIT */
/* What enl ps, cells, waits, regions and stats print of a program. */
#ifndef ENL_LOOK_SHOW_H
#define ENL_LOOK_SHOW_H

#include <stdio.h>

#include "inspect/look/view.h"

void look_show_ps(FILE *out, const struct look_view *view, const struct look_view *before);
void look_show_cells(FILE *out, const struct look_view *view, const struct look_view *before);
void look_show_waits(FILE *out, const struct look_view *view, const struct look_view *before);
void look_show_regions(FILE *out, const struct look_view *view, const struct look_view *before);
/* Per second, between `before` and `view`. */
void look_show_stats(FILE *out, const struct look_view *view, const struct look_view *before);

#endif
