/* SPDX-License-Identifier: MIT */
/* One end of a link over UDP, driven by the process that measures it, which spins. */
#ifndef BENCH_LINK_END_H
#define BENCH_LINK_END_H

#include <netinet/in.h>

#include "bcri/udp.h"
#include "pair.h"

enum { LINK_BODIES = 16, LINK_BODY_BYTES = 1 << 20, LINK_BULK_OUTSTANDING = 8 };

struct link_end {
    struct bcri_udp *udp;   /* NULL: packets are handed over within the process */
    struct bcri_link *link; /* NULL until link_end_begin */
    enum bcri_cipher cipher;
    struct sockaddr_in peer;
    unsigned bodies; /* that are sent in turn, at most LINK_BODIES; 0: one, which stays in the cache */
    uint64_t now;    /* when packets were last asked for */
    uint64_t sent, begun, arrived, completed;
    uint8_t *memory; /* where bodies go, in turn */
};

/* Where the two sides tell each other, apart from the link, how far they are. Each writes its own; what a
 * turn zeroes has no part in it. */
struct link_meet_shm {
    alignas(BENCH_LINE) _Atomic uint64_t warm[2];
    alignas(BENCH_LINE) _Atomic uint64_t idle[2];
};

/* Makes the link, in the process that will use it: none inherits keys. */
void link_end_begin(struct link_end *end, int side);
/* The same, and finds out how large packets may be before anything is measured. */
void link_end_warm_up(struct link_end *end, int side, struct link_meet_shm *meet);

/* Takes what has come. Returns whether there may be something to send: packets came, or time passed. */
bool link_end_take(struct link_end *end);
/* Sends what may be sent. */
void link_end_give(struct link_end *end);
void link_end_send(struct link_end *end, uint32_t body_bytes);
/* Until nothing is under way on either side. */
void link_end_finish(struct link_end *end, int side, struct link_meet_shm *meet);
/* Messages from side 0 to side 1, of which so many are outstanding; begun before and finished after. What side 0
 * did in that time is the turn's. */
void link_end_stream(struct link_end *end, int side, struct link_meet_shm *meet, struct bench_turn *turn,
                     long outstanding);

#endif
