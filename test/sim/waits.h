/* SPDX-License-Identifier: MIT */
/* CCEs that wait in virtual time: where the library would sleep, the world is turned, and its clock
 * is the network's.
 *
 * The linker sends the library's futex_wait and clock here (--wrap), so a call that waits is a
 * plain call of the test's thread, no thread hands over to another, and a seed gives the same run,
 * time-outs included. */
#ifndef BCR_TEST_WAITS_H
#define BCR_TEST_WAITS_H

#include "agents.h"

/* CCEs wait in this world from now on. A test fails if one waits for what cannot come. */
void waits_in(struct world *world);

#endif
