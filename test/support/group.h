/* SPDX-License-Identifier: MIT */
/* A group of CCEs without a daemon process: for tests that want to see all sides at once.
 *
 * The test's process holds the registry that enl would hold (bcri_host_*), and its members are
 * threads of it, or forked processes that join and ask as CCEs do (bcri/client.h), served by a
 * thread here. Everything else, shared memory, locks, waiting, repair, is the product's. */
#ifndef BCR_TEST_GROUP_H
#define BCR_TEST_GROUP_H

#include <bcr/types.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/ctx.h"

struct group;

struct group *group_open(void);
/* The same for host `number` of the program. */
struct group *group_open_host(uint32_t number);
/* Ends the server thread, unmaps everything. Forked members must have been waited for. */
void group_close(struct group *group);

/* From now on the group has an agent, member `index`, as far as its members see. `outbox` is called,
 * on the member's thread, when one has made its outbox, which lies at `at`. */
void group_has_agent(struct group *group, uint32_t index,
                     void (*outbox)(void *context, uint32_t member, bcri_ref at), void *context);

struct bcri_host *group_host(struct group *group);

/* enl's context: for repair and audit. One thread at a time. */
struct bcri_ctx *group_enl(struct group *group);

/* enl repairs what a CCE has left that was called dying, and waits as long as it is parked. */
void group_repair(struct group *group, uint32_t index);
/* The same of two, of which either may be parked on the other one. */
void group_repair_both(struct group *group, uint32_t one, uint32_t other);

/* A new member in this process: a context that a thread makes its own by bcri_self_set(). */
struct bcri_ctx *group_join(struct group *group);
/* The member is done (its thread does not use it any more); as if its process had ended: repaired,
 * then freed. */
void group_leave(struct group *group, struct bcri_ctx *ctx);
/* Checks that no ID of the member is lost: each is either in use, or among the free ones, once. The
 * free ones are private to its process, so no audit sees them. group_leave does this, too, for a
 * member that is in no call. */
void group_check_ids(const struct bcri_ctx *ctx);

/* A new member in a forked process, which runs `body` with a context that is already the process's
 * own, and exits with what it returns. `*index_out` is its record. */
pid_t group_fork(struct group *group, int (*body)(struct bcri_ctx *ctx, void *arg), void *arg,
                 uint32_t *index_out);
/* Waits for the process, marks it dead, repairs. Returns its wait status. */
int group_bury(struct group *group, pid_t pid, uint32_t index);

/* The slot that an ID of member `ctx` is, in whatever state, and the region that it names: fail the
 * test if it is none of its IDs. */
struct bcri_slot_shm *group_slot(struct bcri_ctx *ctx, bcr_region rgid);
bcri_ref group_region(struct bcri_ctx *ctx, bcr_region rgid);

/* How member `ctx` names the CCE of `index`: fails the test if it cannot. */
bcr_cce_id group_name(struct bcri_ctx *ctx, uint32_t index);

#endif
