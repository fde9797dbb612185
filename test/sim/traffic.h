/* SPDX-License-Identifier: MIT */
/* Messages over a link whose two ends a test plays, checked message by message.
 *
 * Each end sends numbered messages in a few streams. The receiver checks that they begin and arrive
 * in order and unaltered, and takes, refuses or pauses as the test says; the sender checks that each is
 * completed once, in order, as the receiver decided, and before anything begins that was sent when it had arrived. */
#ifndef BCR_TEST_TRAFFIC_H
#define BCR_TEST_TRAFFIC_H

#include "network.h"

enum { TRAFFIC_STREAMS = 8 };

struct traffic_stream {
    uint32_t sent, begun, arrived, completed; /* sent and completed: by this end; the others: from its peer */
    uint8_t *verdict;                         /* of each message from the peer: an enum bcri_link_verdict */
    uint32_t verdicts;
    bool paused;
    bool closed; /* not accepted from the peer */
};

struct traffic {
    struct sim_end end;
    uint32_t host; /* its number; 0: one that is always the same */
    struct traffic_stream stream[TRAFFIC_STREAMS];
    struct traffic *peer;
    unsigned refuse, pause; /* chances out of 1000 */
    uint64_t pause_ns;
    uint32_t held;     /* 1 + a stream from the peer that pauses until traffic_release; 0: none */
    bool lost_is_fine; /* the link is to end */
    bool trusting;     /* the peer may say anything: messages are taken and not looked at */
    uint64_t bytes_arrived, messages_arrived, messages_completed, messages_lost, messages_dropped;
};

/* Makes two ends with a link between them, joined in `network`. Both have the paths and chances that
 * stand in them already. */
void traffic_start(struct sim_network *network, struct traffic *one, struct traffic *two,
                   const struct bcri_link_config *config);
/* The same, and the second allows packets of `packet_max` bytes. */
void traffic_start_with(struct sim_network *network, struct traffic *one, struct traffic *two,
                        const struct bcri_link_config *config, uint32_t packet_max);
void traffic_end(struct traffic *one, struct traffic *two);
/* One end's link is freed; the other does not know. What it had sent is told as lost. */
void traffic_crash(struct traffic *traffic);
/* Both ends have no link (any more), and are introduced anew. */
void traffic_introduce(struct traffic *one, struct traffic *two, const struct bcri_link_config *config);
/* Sends a message of `body_bytes`. Returns false if there was no memory, which only happens if the
 * test has wished for it. */
bool traffic_send(struct traffic *from, uint32_t stream, uint32_t body_bytes);
/* The same, but for the stream that `two` holds. */
bool traffic_is_completed_but_held(const struct traffic *two);
void traffic_release(struct traffic *traffic);
/* Checks that the link keeps within every limit that it has a name for. */
void traffic_check_limits(const struct bcri_link *link);
/* Whether all that both have sent is completed. */
bool traffic_is_completed(const struct traffic *one);
/* A secret like those that introductions make. */
void traffic_secret(struct bcri_seal_secret *secret_out, enum bcri_cipher cipher);

#endif
