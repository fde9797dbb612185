/* SPDX-License-Identifier: MIT */
/* Asking all hosts of a program for their snapshots, or for something else, at the same time. */
#ifndef ENL_LOOK_GATHER_H
#define ENL_LOOK_GATHER_H

#include <stdbool.h>

#include "inspect/look/view.h"

/* What each host's helper is to tell. */
struct look_wish {
    uint32_t kind;    /* enum bcri_relay_kind */
    const char *text; /* for it */
    /* Takes what one has written, which is not empty. NULL, or what is wrong with it. */
    const char *(*add)(void *data, const uint8_t *bytes, size_t length);
    void *data;
};
/* What is wrong with hosts that tell nothing is written to `complaints`, a line each. False: there are such. */
bool look_collect(const char *name, const struct look_wish *wish, FILE *complaints);

/* Adds the snapshots of program `name`, with the names of its CCEs if `names`. What is wrong with hosts that give none is written to
 * `complaints`, a line each. False: there is no snapshot at all, and why was written. */
bool look_gather(const char *name, bool names, FILE *complaints, struct look_view *view_out);

#endif
