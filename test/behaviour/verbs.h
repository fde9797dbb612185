/* SPDX-License-Identifier: MIT */
/* What any CCE of a behaviour can be told to do, as a line of a verb and numbers. */
#ifndef BCR_TEST_BEHAVE_VERBS_H
#define BCR_TEST_BEHAVE_VERBS_H

#include <bcr.h>

enum { MEETING_CELL = 1000000 }; /* where a CCE that was enlisted is told of others */

/* Does it, at cells of CCE `owner` as this process names it. Returns the verb's result; -1 with
 * bcr_errno. */
int verb_do(const char *line, bcr_cce_id *owner);

#endif
