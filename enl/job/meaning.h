/* SPDX-License-Identifier: MIT */
/* What signals and ends mean for a program, as tables. */
#ifndef ENL_MEANING_H
#define ENL_MEANING_H

#include <stdbool.h>

#include "host/host.h"

enum enl_meaning {
    ENL_MEANS_END,   /* passed on to all; what has not ended within killafter is killed */
    ENL_MEANS_STOP,  /* all are stopped, then the daemon */
    ENL_MEANS_GO_ON, /* all go on */
    ENL_MEANS_REAP,  /* a child of the daemon's has ended */
};
enum enl_meaning enl_meaning_of_signal(int signal);

/* What a CCE's end means under onfail, an enum bcri_onfail. */
struct enl_outcome enl_meaning_of_end(int onfail, bool is_root, bool is_normal);
/* The end of a sentence about a CCE or a host that is lost: whether that ends the program, and which onfail says so. */
const char *enl_meaning_says(int onfail, bool ends);

#endif
