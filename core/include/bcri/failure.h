/* SPDX-License-Identifier: MIT */
/* Which system call has failed last in this thread, and why. Below, a failure is one code (bcrE_NOMEM, mostly),
 * whatever the system said; the sentence that a person gets of it shall not guess. */
#ifndef BCRI_FAILURE_H
#define BCRI_FAILURE_H

#include <stddef.h>

/* Notes a call that has just failed, with errno, which it leaves alone. `call` is a constant. */
void bcri_failure_note(const char *call);
/* To be called before what may fail, so that nothing older is told of it. */
void bcri_failure_forget(void);
/* "memfd_create: Operation not permitted"; without a noted call `otherwise`. Returns `out`. */
enum { BCRI_FAILURE_TEXT_MAX = 128 };
const char *bcri_failure_text(const char *otherwise, char out[BCRI_FAILURE_TEXT_MAX]);
/* The noted errno; 0: none. */
int bcri_failure_errno(void);

/* What helps where fork, vfork or clone has given `error`, as the end of a sentence; "": nothing that can be told from it. */
const char *bcri_fork_remedy(int error);

#endif
