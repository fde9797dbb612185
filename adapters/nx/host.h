/* SPDX-License-Identifier: MIT */
/* What the files of the host's library and its commands have for each other, beside nx_private.h. */
#ifndef NX_HOST_H
#define NX_HOST_H

#include <cube.h>

#include "nx_private.h"

/* The name of the program that the command getcube begins: NX_PROGRAM, or "nx". */
const char *nxi_program(void);

/* Of two that would begin that program at once one waits, and enters; and while the program ends, the next one waits. The lock is on the
 * home directory: so no file is left behind. Returns a descriptor, which holds the lock until it is closed, or -1 with errno. */
int nxi_lock_program(void);
/* Enters that program, or begins one. Returns 0 or -code. */
long nxi_world(void);
/* nxi_result, and what earl_exec.h and earl_cube.h have beside. */
long nxi_host_result(int result);
/* How many nodes a type of a cube says; 0: it is none. */
int nxi_size_of(const char *type);
bool nxi_has_cube(const char *name);
long nxi_getcube(const char *name, const char *type, const char *srmname, long keep);

#endif
