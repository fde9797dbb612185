/* SPDX-License-Identifier: MIT */
/* How CCEs end, and what follows from it. */
#ifndef ENL_DEATH_H
#define ENL_DEATH_H

/* The process that called bcr_init has ended, says its pidfd; `data` is the CCE. */
void enl_death_of_pid(void *data);

#endif
