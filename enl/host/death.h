/* SPDX-License-Identifier: MIT */
/* How CCEs end, and what follows from it. */
#ifndef ENL_DEATH_H
#define ENL_DEATH_H

/* A CCE's pidfd tells that the process has ended which called bcr_init; `data` is the CCE. */
void enl_death_of_pid(void *data);

#endif
