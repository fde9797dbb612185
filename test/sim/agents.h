/* SPDX-License-Identifier: MIT */
/* Two hosts in one process: a group of CCEs and an agent on each, and a pretended network between the
 * agents. The CCEs are contexts; the test's thread is one of them at a time, or they have threads.
 *
 * Either the test turns the world by hand, with virtual time, so that a seed gives the same run each
 * time; or a thread turns it, in real time, and CCEs may wait. */
#ifndef BCR_TEST_AGENTS_H
#define BCR_TEST_AGENTS_H

#include <pthread.h>

#include <bcr.h>

#include "bcri/agent.h"
#include "bcri/seal.h"
#include "group.h"
#include "network.h"

#ifndef WORLD_CCES /* of each host */
#define WORLD_CCES 2
#endif
enum { WORLD_HOSTS = 2 };

struct world_host {
    struct group *group;
    struct bcri_ctx *agent_ctx;
    struct bcri_agent *agent;
    struct sim_end end;
    struct bcri_ctx *cce[WORLD_CCES];
    struct world *world;
    unsigned forgotten, notes, ends; /* ends: notices of the other host */
    struct bcri_notice heard;        /* the last */
    char note[320];                  /* the last */
    unsigned wants_unknown;          /* the host it wants a link to, which is none of these; 0 */
    bool wants_link, gone;
};

struct world {
    struct sim_network *network;
    struct world_host host[WORLD_HOSTS];
    uint64_t alarm_at;
    uint64_t started_ns; /* of the clock, if a thread turns it */
    pthread_t thread;
    pthread_mutex_t mutex; /* of the agents */
    atomic_bool over;
};

/* Two hosts with WORLD_CCES CCEs each, whose agents have pools of `pool_bytes`. Links come when they
 * are wanted. */
void world_open(struct world *world, uint64_t seed, uint64_t pool_bytes);
/* All CCEs leave; both hosts must be left with no region. */
void world_close(struct world *world);
/* Both agents do what they can at this moment. */
void world_turn(struct world *world);
/* Virtual time: until nothing is under way, or `until`. Returns whether nothing is. */
bool world_settle(struct world *world, uint64_t until);
/* Real time, turned by a thread from now on. */
void world_start(struct world *world);
/* The thread ends; then virtual time goes on. */
void world_stop(struct world *world);

/* How `from` calls `to`, wherever it is. */
bcr_cce_id world_name(struct bcri_ctx *from, struct bcri_ctx *to);
/* CCE `nth` of host `at` ends, as if killed between two calls. */
void world_kill(struct world *world, unsigned at, unsigned nth);
/* Its two steps: its agent hears of it; when that has forgotten it, the walk over its IDs. */
void world_die(struct world *world, unsigned at, unsigned nth);
void world_walk(struct world *world, unsigned at, unsigned nth);
/* The two hosts lose each other. */
void world_cut(struct world *world);
/* Both sides' structures agree. Returns how many regions there are. */
uint64_t world_audit(struct world *world);

#endif
