/* SPDX-License-Identifier: MIT */
/* What the files of the engine share: the link and its parts.
 *
 *   link.c        making, ending, the owner's calls
 *   receive.c     a packet that came: opening, frames
 *   fill.c        the next packet to send
 *   sent.c        packets in flight: acknowledged, lost; what they carried
 *   recovery.c    when to take a packet for lost, when to probe (RFC 9002)
 *   congestion.c  how much may be in flight
 *   mtu.c         how large packets may be (RFC 8899)
 *   streams.c     finding streams; which have something to send
 *   out_fill.c    what of a stream goes into a packet
 *   out_stream.c  messages that are sent
 *   in_stream.c   messages that arrive; in_pieces.c what came too early, in_told.c what their sender is told
 *
 * What depends on what is in that order; each file calls those below it. */
#ifndef BCRI_LINK_PRIVATE_H
#define BCRI_LINK_PRIVATE_H

#include "bcri/link.h"
#include "ranges.h"
#include "wire.h"

/* For how many messages a stream has room at first. */
#define BCRI_FIRST_MESSAGES 4u

#define BCRI_NS_PER_US UINT64_C(1000)
#define BCRI_NS_PER_MS UINT64_C(1000000)

/* RFC 9002, section 6. */
#define BCRI_REORDER_PACKETS 3u
#define BCRI_GRANULARITY_NS  BCRI_NS_PER_MS
#define BCRI_FIRST_RTT_NS    (100 * BCRI_NS_PER_MS) /* hosts of a program are not a world apart */
/* A longer round trip is a clock that jumped or a process that stood still. */
#define BCRI_RTT_MAX_NS (10000 * BCRI_NS_PER_MS)
/* While nothing is answered, an answer is asked for at least so often. */
#define BCRI_PROBE_MAX_NS (60000 * BCRI_NS_PER_MS)
/* A packet of that size is not lost for its size: an answer is asked for in it, with an acknowledgement. */
#define BCRI_LINK_PACKET_TINY 80u
/* Packets that are sent when no answer came in time, the first of them tiny. */
#define BCRI_PROBES 3u
/* How long an acknowledgement may wait for company. */
#define BCRI_ACK_DELAY_NS BCRI_NS_PER_MS
/* After so long without messages, what they took is given back. */
#define BCRI_SLACK_NS (1000 * BCRI_NS_PER_MS)

struct bcri_stream_key {
    uint32_t source, target;
    struct bcri_stream_key *next; /* in its bucket */
};

struct bcri_stream_table {
    struct bcri_stream_key **bucket;
    uint32_t buckets, count;
};

/* A place in a ring of those that take turns; the ring is a pointer to the one whose turn it is. */
struct bcri_turn {
    struct bcri_turn *before, *after; /* NULL: in no ring */
};

/* ------------------------------------------------------------------------------------ sending */

struct bcri_out_message {
    uint64_t start; /* offset in the stream: the head, then the body */
    const uint8_t *body;
    void *cookie;
    uint32_t body_bytes;
    uint8_t head_bytes;
    bool refused;
    bool skip_due; /* the receiver is to be told that the rest of the refused body will not come */
    uint8_t head[BCRI_LINK_HEADER_MAX + 2 + 8]; /* behind the two lengths */
};

struct bcri_out_stream {
    struct bcri_stream_key key;       /* first: found by it */
    struct bcri_turn turn;            /* among those with something to send */
    struct bcri_out_message *message; /* a ring: the messages that are not completed */
    uint32_t messages, first, capacity;
    uint32_t sending; /* of the messages, the one that `next` is in; `messages`: they are sent */
    uint32_t chunks;  /* in packets that are not completed */
    uint32_t skips_due;
    uint32_t skip_from;      /* of the messages, none before this one has a skip due */
    uint64_t next, end;      /* the first byte that was never sent; behind the last that is queued */
    uint64_t taken, limit;   /* as the receiver said: all before has arrived; may be sent up to */
    struct bcri_ranges lost; /* to be sent again */
    bool ended;              /* found by nobody; stays until no packet in flight carries of it */
    bool end_due;            /* the receiver is to be told that it has ended */
};

/* ---------------------------------------------------------------------------------- receiving */

struct bcri_in_message {
    uint64_t start, body, end; /* offsets in the stream */
    uint8_t *memory;
    void *cookie;
    uint32_t before, after; /* in the list of those that are refused and not skipped */
    bool refused, skipped, changes_hands;
};

/* Bytes that came before their message could begin. */
struct bcri_piece {
    struct bcri_piece *next;
    uint64_t offset;
    uint32_t bytes, capacity;
    uint8_t data[];
};

struct bcri_in_stream {
    struct bcri_stream_key key;      /* first: found by it */
    struct bcri_turn owes;           /* among those that owe a TAKEN frame */
    struct bcri_turn unsure;         /* among those of which a message has changed hands, and no TAKEN frame
                                        that says so was acknowledged */
    uint64_t handed;                 /* the end of the last such message */
    uint64_t told_in;                /* the last packet that had a TAKEN frame of it */
    struct bcri_in_message *message; /* a ring: begun, not arrived; `first` counts on */
    uint32_t messages, first, capacity;
    uint32_t refused, first_refused, last_refused; /* not skipped: how many, and the list's ends */
    uint32_t chunks;                               /* in packets that are not completed */
    uint32_t pieces;                               /* how many lie in `piece` */
    uint64_t taken;            /* all messages before have arrived, or been refused and skipped */
    uint64_t begun;            /* all messages before have begun: bytes from here on are pieces */
    uint64_t limit;            /* the last that the sender was told */
    struct bcri_ranges placed; /* bytes from `taken` to `begun` that are where they belong */
    struct bcri_piece *piece;  /* by offset */
    bool paused;
    bool gone;  /* it has ended, or never began; stays until the sender knows */
    bool ended; /* found by nobody; stays until no packet in flight carries of it */
};

/* ------------------------------------------------------------------------- packets under way */

enum bcri_chunk_kind { BCRI_CHUNK_BYTES, BCRI_CHUNK_SKIP, BCRI_CHUNK_END, BCRI_CHUNK_TAKEN, BCRI_CHUNK_HOST };

/* What a packet carried that must be sent again if it is lost. */
struct bcri_chunk {
    void *stream; /* out for BYTES, SKIP and END, in for TAKEN (and GONE), NULL for HOST */
    uint64_t offset;
    uint32_t bytes;
    uint8_t kind;
};

enum bcri_sent_state { BCRI_SENT_COMPLETED, BCRI_SENT_IN_FLIGHT };

struct bcri_sent {
    uint64_t time;
    uint64_t acked_below; /* what its ACK frame told: numbers below are known there once it arrives */
    uint32_t chunk;       /* in the ring of chunks: the first, and how many */
    uint32_t chunks;
    uint32_t bytes;
    uint8_t state;
    bool wants_ack, is_probe, is_try; /* is_probe: of the packet size; is_try: with that, of another way */
};

struct bcri_sent_ring {
    struct bcri_sent *sent; /* [number & mask] for numbers in [oldest, next) */
    struct bcri_chunk *chunk;
    uint64_t oldest, next;
    uint32_t mask, chunk_mask;
    uint32_t chunk_first, chunk_next; /* both count on; their difference is what is held */
    uint32_t chunk_end;               /* where the room of the packet that is being made ends */
    uint64_t eliciting;               /* in flight: packets that want an acknowledgement */
    uint64_t bytes;                   /* in flight */
};

struct bcri_recovery {
    uint64_t srtt, rttvar, min_rtt;
    uint64_t last_eliciting; /* when the last packet that wants an acknowledgement was sent */
    uint64_t loss_time;      /* when the next packet is taken for lost; NEVER */
    uint64_t largest_acked;  /* UINT64_MAX: none */
    uint32_t probe_count;    /* without an answer since */
    uint32_t probes_due;     /* packets to send whatever is in flight */
};

struct bcri_congestion {
    uint64_t window, threshold, recovery_start;
    bool limited; /* the window, not the owner, is what held the last packet back */
};

struct bcri_mtu {
    uint32_t bytes;      /* in use; works, as far as is known */
    uint32_t high;       /* the largest that is worth a try */
    uint32_t fails;      /* does not work; above `high`: that has not been tried */
    uint32_t probe;      /* the size of the probe in flight; 0 */
    uint32_t tries;      /* of this size, all lost */
    uint32_t rounds;     /* round trips in a row in which packets were lost */
    uint32_t least_lost; /* the size of the smallest of them; nothing as large was acknowledged since */
    uint64_t round_from; /* losses of packets sent since then are of the next round */
    uint64_t again;      /* when to search again */
    bool confirmed;      /* an acknowledgement has come: the path exists */
    bool is_low;         /* the search is over, and has found less than the base */
    bool is_narrow;      /* the path does not carry the minimum */
    bool try_passed;     /* the last try was acknowledged */
};

struct bcri_link {
    const struct bcri_link_events *events;
    void *owner;
    struct bcri_sealing *sealing;
    uint32_t host, peer;
    struct bcri_link_carrier carrier;
    uint64_t now; /* the latest time that a caller told */

    /* Numbers that came. Those below `floor` are taken for repeated. */
    struct bcri_ranges numbers;
    uint64_t floor;
    uint64_t largest_at; /* when the largest came */
    uint64_t newest;     /* behind the largest that ever opened, kept or not */
    uint64_t ack_at;     /* when an acknowledgement is due; NEVER */
    uint32_t unacked;    /* packets since the last one that want one */
    uint32_t pressing;   /* of them, those of which every second one is acknowledged at once */

    uint64_t heard_at, keepalive_ns, keepalive_at;
    uint64_t retry_at; /* memory was missing; NEVER */

    struct bcri_sent_ring sent;
    struct bcri_recovery recovery;
    struct bcri_congestion congestion;
    struct bcri_mtu mtu;

    /* What the other side can receive, once it has said so. */
    uint32_t peer_room, peer_packet_max, own_packet_max;
    uint64_t host_number; /* of the packet that said so */

    /* Keys. */
    uint64_t packets_per_key;
    uint64_t key_first;     /* the first number sealed with the present key */
    uint64_t key_forget_at; /* when the peer's last key is wiped; NEVER */

    struct bcri_stream_table out, in;
    struct bcri_turn *turn;   /* streams with something to send */
    struct bcri_turn *owed;   /* streams that owe a TAKEN or GONE frame; it goes with the next packet */
    struct bcri_turn *unsure; /* streams whose TAKEN frame goes with each packet that has bytes of others */
    uint32_t gone;            /* streams of which the sender is to learn that they have ended */
    uint64_t incomplete;      /* messages */
    uint64_t forged_max, forged_before; /* forged packets of these keys at most; those of the keys before */
    size_t memory;                      /* bytes of pieces, rings and streams */
    uint64_t kept;                      /* of them, of pieces */
    uint64_t in_use;   /* of them, of streams from the peer, with the ranges of what has come of them */
    uint64_t slack_at; /* when to give back what is not needed, if the owner calls then; NEVER */
    struct bcri_link_counts counts;

    /* Small things, here so that no room is lost between the others. */
    uint16_t lane;
    bool ending; /* bcri_link_free is at work */
    bool ping_due;
    bool host_due;
    bool key_confirmed; /* a packet of the present key was acknowledged */
    bool owed_now;      /* a TAKEN frame is owed that is not to wait for company */
    bool pieces_wait;   /* for memory, in some stream */
};

/* sent.c */
/* Makes room for one more packet with up to `chunks` chunks. */
bool bcri_sent_reserve(struct bcri_link *link, uint32_t chunks);
/* How many chunks the packet that is being made may still carry. */
uint32_t bcri_sent_room(const struct bcri_link *link);
/* Adds a chunk to the packet that is being made. There must be room. */
void bcri_sent_add(struct bcri_link *link, const struct bcri_chunk *chunk);
/* The packet is made. */
void bcri_sent_commit(struct bcri_link *link, const struct bcri_sent *sent);
static inline struct bcri_sent *bcri_sent_at(struct bcri_link *link, uint64_t number)
{
    return &link->sent.sent[number & link->sent.mask];
}
/* The peer has got numbers [from, to). */
void bcri_sent_acked(struct bcri_link *link, uint64_t from, uint64_t to);
/* Packet `number` is taken for lost: what it carried is sent again. */
void bcri_sent_lost(struct bcri_link *link, uint64_t number);
/* What the oldest packet in flight carried is sent again though it is not taken for lost. */
void bcri_sent_again(struct bcri_link *link);
/* Drops those records that are completed from the front. */
void bcri_sent_trim(struct bcri_link *link);
/* Without packets in flight nothing is needed. */
void bcri_sent_give_back(struct bcri_link *link);
void bcri_sent_free(struct bcri_link *link);

/* recovery.c */
void bcri_recovery_init(struct bcri_link *link);
void bcri_recovery_sample(struct bcri_link *link, uint64_t rtt, uint64_t delay);
/* Takes for lost what later acknowledgements or time say is lost. */
void bcri_recovery_detect(struct bcri_link *link);
uint64_t bcri_recovery_probe_ns(const struct bcri_link *link);
uint64_t bcri_recovery_deadline(const struct bcri_link *link);
/* The deadline may have come. */
void bcri_recovery_timeout(struct bcri_link *link);

/* congestion.c */
void bcri_congestion_init(struct bcri_link *link);
void bcri_congestion_acked(struct bcri_link *link, const struct bcri_sent *sent);
void bcri_congestion_lost(struct bcri_link *link, uint64_t sent_at);
/* Nothing passed for so long that what is known of the path is worth nothing. */
void bcri_congestion_collapse(struct bcri_link *link);
/* Bytes that may be in flight. */
uint64_t bcri_congestion_window(const struct bcri_link *link);

/* mtu.c */
void bcri_mtu_init(struct bcri_link *link);
/* The limits of the path may have changed; `again`: nothing is known of it. */
void bcri_mtu_limits(struct bcri_link *link, bool again);
/* The size of a probe to send now, or 0. */
uint32_t bcri_mtu_probe(struct bcri_link *link);
void bcri_mtu_acked(struct bcri_link *link, const struct bcri_sent *sent);
/* Not when nothing is heard at all, which says nothing about sizes. */
void bcri_mtu_lost(struct bcri_link *link, const struct bcri_sent *sent);

/* streams.c */
void *bcri_stream_find(const struct bcri_stream_table *table, uint32_t source, uint32_t target);
/* Returns false if there is no memory. */
bool bcri_stream_insert(struct bcri_stream_table *table, struct bcri_stream_key *key);
void bcri_stream_remove(struct bcri_stream_table *table, struct bcri_stream_key *key);
/* Goes to the end of the ring, unless it is in it. */
void bcri_turn_take(struct bcri_turn **ring, struct bcri_turn *turn);
void bcri_turn_leave(struct bcri_turn **ring, struct bcri_turn *turn);
#define BCRI_STREAM_OF(type, member, turn) ((type *)(void *)((char *)(turn)-offsetof(type, member)))

/* out_stream.c */
int bcri_out_queue(struct bcri_link *link, uint32_t source, uint32_t target, const void *header,
                   uint32_t header_bytes, const void *body, uint32_t body_bytes, void *cookie);
/* Writes as much of the stream as fits before `end`; returns where to go on, `at` if nothing fits. */
uint8_t *bcri_out_fill(struct bcri_link *link, struct bcri_out_stream *stream, uint8_t *at,
                       const uint8_t *end);
void bcri_out_chunk_completed(struct bcri_link *link, struct bcri_out_stream *stream);
void bcri_out_chunk_lost(struct bcri_link *link, struct bcri_out_stream *stream,
                         const struct bcri_chunk *chunk);
/* A TAKEN frame came. Returns false if it is nonsense. */
bool bcri_out_taken(struct bcri_link *link, struct bcri_out_stream *stream, uint64_t taken, uint64_t limit,
                    struct bcri_reader *refused, uint64_t refused_count);
/* The stream ends; `tell`: its receiver is to learn of it. */
void bcri_out_end(struct bcri_link *link, struct bcri_out_stream *stream, bool tell);
/* The receiver of a stream that has ended is not to learn of it any more. */
void bcri_out_forget(struct bcri_link *link, struct bcri_out_stream *stream);
/* Memory that the stream does not need now. */
void bcri_out_give_back(struct bcri_link *link, struct bcri_out_stream *stream);

/* in_stream.c */
enum bcri_in_result { BCRI_IN_OK, BCRI_IN_NO_ROOM, BCRI_IN_NONSENSE };
enum bcri_in_result bcri_in_bytes(struct bcri_link *link, uint32_t source, uint32_t target, uint64_t offset,
                                  const uint8_t *data, uint32_t bytes);
enum bcri_in_result bcri_in_skip(struct bcri_link *link, uint32_t source, uint32_t target, uint64_t from,
                                 uint64_t to);
void bcri_in_resume(struct bcri_link *link, struct bcri_in_stream *stream);
/* There may be memory now for what had none. */
void bcri_in_retry(struct bcri_link *link);
/* Writes the TAKEN frame of the stream; `at` if it does not fit. */
uint8_t *bcri_in_fill(struct bcri_link *link, struct bcri_in_stream *stream, uint8_t *at, const uint8_t *end);
/* Writes those of all streams whose sender may not know yet that something has changed hands, unless they have one
 * in this packet. Returns where to go on; NULL: they do not all fit. */
uint8_t *bcri_in_fill_unsure(struct bcri_link *link, uint8_t *at, const uint8_t *end);
/* A TAKEN frame that told so far was acknowledged. */
void bcri_in_known(struct bcri_link *link, struct bcri_in_stream *stream, uint64_t taken);
void bcri_in_chunk_completed(struct bcri_link *link, struct bcri_in_stream *stream);
void bcri_in_chunk_lost(struct bcri_link *link, struct bcri_in_stream *stream);
/* The stream ends; `tell`: its sender is to learn of it. */
void bcri_in_end(struct bcri_link *link, struct bcri_in_stream *stream, bool tell);
/* Memory that the stream does not need now. */
void bcri_in_give_back(struct bcri_link *link, struct bcri_in_stream *stream);

/* receive.c: bcri_link_receive; fill.c: bcri_link_fill, bcri_link_deadline */
static inline void bcri_link_tell_time(struct bcri_link *link, uint64_t now)
{
    if (now > link->now)
        link->now = now;
}
/* There was no memory, and nothing else may wake the owner. */
static inline void bcri_link_retry_soon(struct bcri_link *link)
{
    /* All streams are looked at then. */
    link->retry_at = link->now + (1 + link->in.count / 1024) * BCRI_NS_PER_MS;
}

#endif
