/* SPDX-License-Identifier: MIT */
/* machine.h -- what the console needs of the library beyond pvm3.h. */
#ifndef PVM_MACHINE_H
#define PVM_MACHINE_H

#include <stdbool.h>

/* ../hold.c: adds the hosts that a file names: PvmOk, PvmNoFile, or the first error. */
int pvmi_add_hosts_of(const char *path);
/* ../halt.c: ends all other tasks, by SIGTERM, and by SIGKILL those that take too long; `spares`: but for those that have set PvmNoReset.
 * PvmOk, or an error. */
int pvmi_end_others(bool spares);

#endif
