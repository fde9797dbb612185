/* SPDX-License-Identifier: MIT */
/* The scene of agent_scene.h, turned by a thread, in real time: calls may wait. The requester gets error regions. */
#ifndef BCR_TEST_AGENT_TURNED_H
#define BCR_TEST_AGENT_TURNED_H

#include "agent_scene.h"

extern bcr_cce_id owner_of_third; /* the owner, as `third` calls it */

void begin_with(uint64_t delay_ns, int nrgns);
void begin(void);
void end(void);

/* The number that the owner takes out of its cell. */
int take_at_owner(int at);

#endif
