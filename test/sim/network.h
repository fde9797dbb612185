/* SPDX-License-Identifier: MIT */
/* A network that is only pretended: the carrier of links in simulations.
 *
 * Any number of links, each with two ends, share a virtual clock. What each direction does to packets
 * is drawn from the seed alone, so the same seed gives the same run, packet for packet, however many
 * ends there are. A network may also have ends whose clocks stand still or run ahead. */
#ifndef BCR_TEST_NETWORK_H
#define BCR_TEST_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/link.h"

#define SIM_US UINT64_C(1000)
#define SIM_MS UINT64_C(1000000)
#define SIM_S  UINT64_C(1000000000)

/* What happens to packets in one direction. Chances are out of 1000. */
struct sim_path {
    unsigned lost, doubled, altered, held; /* held: comes up to 8 delays later */
    uint64_t delay_ns, jitter_ns;
    uint64_t bytes_per_s, queue_bytes; /* 0: any rate; what waits beyond queue_bytes is dropped */
    uint32_t packet_max;               /* larger ones are dropped; 0: none */
    bool cut;
};

struct sim_network;

/* One end of a link. The test sets path and may set asleep_until at any time. */
struct sim_end {
    struct bcri_link *link;
    struct sim_path path; /* from here to the other end */
    struct sim_end *other;
    uint64_t asleep_until;     /* its process stands still; packets wait for it */
    uint64_t clock_ahead;      /* of the network's; may change at any time */
    uint64_t clock_stopped_at; /* what its clock shows while it stands still; 0: it goes */
    void *owner;
    /* private to network.c */
    uint64_t path_free_at;
    uint64_t due; /* when it wants to be called, in the network's time */
    size_t where; /* in the heap of ends */
    struct sim_network *network;
};

/* Called by sim_run after each event; returns true to end the run. */
typedef bool sim_done_fn(void *context);
/* Sees each packet as it is sent, before the path does anything to it. */
typedef void sim_tap_fn(void *context, struct sim_end *from, const uint8_t *packet, size_t bytes);
/* Called at a time that the test wished for. */
typedef void sim_alarm_fn(void *context, uint64_t argument);

struct sim_network *sim_new(uint64_t seed);
void sim_free(struct sim_network *network);
uint64_t sim_now(const struct sim_network *network);
/* It is that time by now, if it is not later already; what should have happened before happens then. */
void sim_pass(struct sim_network *network, uint64_t now);
/* What the end's own clock shows. */
uint64_t sim_clock(const struct sim_end *end);
/* A number that tells runs apart: of all packets that have arrived, when, where and what. */
uint64_t sim_digest(const struct sim_network *network);
/* How many packets have arrived. */
uint64_t sim_packets(const struct sim_network *network);
uint64_t sim_random(struct sim_network *network, uint64_t bound);
/* The ends and their links are the caller's. */
void sim_join(struct sim_network *network, struct sim_end *one, struct sim_end *two);
void sim_tap(struct sim_network *network, sim_tap_fn *tap, void *context);
void sim_alarm(struct sim_network *network, uint64_t at, sim_alarm_fn *alarm, void *context,
               uint64_t argument);
/* Lets a packet arrive at `end` as if it had come from the network. */
void sim_inject(struct sim_end *end, const uint8_t *packet, size_t bytes);
/* Takes what the end has to send. To be called after the test itself called its link. */
void sim_flush(struct sim_end *end);
/* Runs until `done`, or until nothing is left that could happen, or the virtual time `until`. Returns
 * whether it was `done`. */
bool sim_run(struct sim_network *network, uint64_t until, sim_done_fn *done, void *context);

#endif
