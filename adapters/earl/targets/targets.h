/* SPDX-License-Identifier: MIT */
/* The targets that there are. */
#ifndef EARL_TARGETS_H
#define EARL_TARGETS_H

#include "target.h"

extern const struct earl_target earl_target_bcr; /* bcr.c; a process has one */
/* Ends the program. */
_Noreturn void earl_target_bcr_finish(int status);

#endif
