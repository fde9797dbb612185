/* SPDX-License-Identifier: MIT */
/* A scene of two ends of one link: prepared, changed by the test, started, run, finished. */
#ifndef BCR_TEST_LINK_SCENE_H
#define BCR_TEST_LINK_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "network.h"
#include "traffic.h"

extern struct sim_network *network;
extern struct traffic one, two;
extern struct bcri_link_config config;

/* Two ends a millisecond apart, nothing else wrong. */
void prepare(void);
void start(void);
void finish(void);
/* Learns sizes, and that the peer is there. */
void warm_up(void);
/* Fails if not all messages are completed in that time. */
void run_until_completed(uint64_t within_ns);

/* For sim_run: until all messages are completed; until the time is over. */
bool completed(void *traffic);
bool never(void *context);

const struct bcri_link_counts *counts_of(const struct traffic *traffic);

#endif
