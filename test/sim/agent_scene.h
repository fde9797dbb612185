/* SPDX-License-Identifier: MIT */
/* A scene of two hosts with agents (agents.h): a requester on one, the owner of two cells on the other. Turned by hand, in
 * virtual time: no call may wait. agent_turned.h has it turned by a thread.
 *
 * It comes last of what a test includes: headers of cells have parameters with the names of its variables. */
#ifndef BCR_TEST_AGENT_SCENE_H
#define BCR_TEST_AGENT_SCENE_H

#include "agents.h"

extern struct world world;
/* `third` is another CCE of the requester's host. */
extern struct bcri_ctx *requester, *owner, *third;
extern bcr_cce_id there; /* the owner, as the requester calls it */
extern int cell;         /* the owner's first one of two, which share an area */

/* The test's thread is that CCE from now on. */
void as(struct bcri_ctx *ctx);

/* The owner's area takes `nrgns` regions. The test's thread is the requester then. */
void open_scene(uint64_t delay_ns, int nrgns);
void begin_by_hand(void);
void end_by_hand(void);

/* The requester has ended: a new one, which has the number of that. */
void succeed(uint32_t number_of_first);

#endif
