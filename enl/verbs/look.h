/* SPDX-License-Identifier: MIT */
/* enl ps, cells, regions, waits, stats and why of one program. */
#ifndef ENL_LOOK_COMMAND_H
#define ENL_LOOK_COMMAND_H

#include "verbs/options.h"

/* `name` may be NULL: the only program. Returns the exit status. */
int enl_command_look(const struct enl_options *options, const char *name);

#endif
