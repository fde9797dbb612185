/* SPDX-License-Identifier: MIT */
/* Asking all hosts of a program for their snapshots, at the same time. */
#ifndef ENL_LOOK_GATHER_H
#define ENL_LOOK_GATHER_H

#include <stdbool.h>

#include "view.h"

/* Adds the snapshots of program `name`, with the names of its CCEs if `names`. Hosts that give none are complained about on stderr. False:
 * there is no snapshot at all, and why was said. */
bool look_gather(const char *name, bool names, struct look_view *view_out);

#endif
