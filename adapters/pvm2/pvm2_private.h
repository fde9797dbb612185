/* SPDX-License-Identifier: MIT */
/* What the files of PVM 2.4 have for each other. No file calls a routine of pvm.h: a program may have its own of that name, which is why
 * they are weak. */
#ifndef PVM2_PRIVATE_H
#define PVM2_PRIVATE_H

#include <earl_generic.h>

#include "pvm.h"

#define PVM2_WEAK __attribute__((weak))

/* A result of Earl's: 0 or more as it is, else the code of pvm.h. */
int pvm2_result(long result);
/* PvmOk, or PvmSysErr: the process has not enrolled. */
int pvm2_need(void);
/* The same, and what is wrong with a name. */
int pvm2_need_name(const char *name);
/* Earl's names may be longer: what goes to programs is cut. */
void pvm2_tell_name(char *component, const char *name);

#endif
