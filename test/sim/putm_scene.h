/* SPDX-License-Identifier: MIT */
/* A scene of two hosts with agents (agents.h): a requester on one, two owners of cells on the other, to which it puts a region
 * with one bcr_putm. In virtual time, until a test has a thread turn it.
 *
 * It comes last of what a test includes: headers of cells have parameters with the names of its variables. */
#ifndef BCR_TEST_PUTM_SCENE_H
#define BCR_TEST_PUTM_SCENE_H

#include "agents.h"

/* Of the pool; of a region that is sent once for many cells; regions of an owner's area; between the hosts. */
enum { POOL_BYTES = 1 << 20, LARGE = 100000, ROOM = 10, DELAY_NS = 50 * SIM_US };

extern struct world world;
extern struct bcri_ctx *requester, *owner[2];
extern bcr_cce_id there[2]; /* the owners, as the requester calls them */
extern int cell;            /* each owner's first one of two, which share an area */

/* The test's thread is that CCE from now on. */
void as(struct bcri_ctx *ctx);

/* The requester has an area of `area` bytes, and gets error regions. */
void begin_with(uint64_t seed, uint64_t pool, int area);
void begin(void);
/* Nothing is left in either agent. */
void end(void);

/* Neither agent keeps anything of a bcr_putm. */
void keeps_nothing(void);

/* Both owners' first cells, then both second ones: every put but the first names what went with that. */
void putm(bcr_region rgid, int nofree);
/* A put of the call `op`, with the time `msec`; `shares`: further ones will name the region. Returns the ID that is answered,
 * if it has a time. */
struct bcri_slot_shm *order(int op, bcr_region rgid, int to, int at, int msec, bool shares);
/* One put of a bcr_putm whose next ones are ordered later. */
void order_one(bcr_region rgid, int to, int at);

/* The next region in that cell has so many bytes, each of them `value`. */
void owner_has(int which, int at, int length, int value);
/* Those in the cells of a putm have. */
void all_have(int length, int value);
/* How many error regions the requester has got; all have that code. */
int told(int code);
/* By the requester's host. */
uint64_t bytes_sent(void);
bool all_done(void);

#endif
