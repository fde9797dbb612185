/* SPDX-License-Identifier: MIT */
/* Asking all hosts of a program for their snapshots, at the same time. */
#ifndef ENL_LOOK_GATHER_H
#define ENL_LOOK_GATHER_H

#include <stdbool.h>

#include "view.h"

/* Adds the snapshots of program `name`, with the names of its CCEs if `names`. What is wrong with hosts that give none is written to
 * `complaints`, a line each. False: there is no snapshot at all, and why was written. */
bool look_gather(const char *name, bool names, FILE *complaints, struct look_view *view_out);

#endif
