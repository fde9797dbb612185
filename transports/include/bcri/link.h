/* SPDX-License-Identifier: MIT */
/* A link: what carries messages between two hosts.
 *
 * The engine does no I/O and reads no clock. Its owner gives it packets that came and the time, and
 * takes from it packets to send and the time at which it wants to be called again. So the same code
 * runs over UDP, over the tree of daemons, and in a simulator. transports/README.md shows an owner.
 *
 * A message belongs to a stream, which is a pair of ends (a CCE here, a CCE there), and has a header
 * of at most BCRI_LINK_HEADER_MAX bytes and a body of any length. Streams keep order, each for
 * itself. A body is sent from the sender's memory and received into memory that the receiver's
 * owner names when it has seen the header and the length. A stream begins with its first message and
 * ends when either side says that its end is no more; the other side is told.
 *
 * Promises, while packets pass now and then: each message of a stream that has not ended arrives
 * once, in order; its sender then learns that it arrived (or was refused), and not before; a stream
 * whose receiver pauses it holds up no other; memory is bounded by the limits named below, besides
 * the records of the streams and messages that the owner itself sends.
 *
 * Time is in nanoseconds of one clock that does not go backwards; where it does, the engine takes
 * the later time that it knows. A link belongs to one thread. docs/protocol.md has the packets,
 * docs/states/link.md the states.
 *
 * Source: RFC 9000 and RFC 9002 (QUIC) for what is sent and recovered, RFC 8899 for packet sizes. */
#ifndef BCRI_LINK_H
#define BCRI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/seal.h"

#define BCRI_LINK_HEADER_MAX  64u                   /* bytes of a message's header */
#define BCRI_LINK_BODY_MAX    UINT32_C(0x7fffffff)  /* bytes of a message's body */
#define BCRI_LINK_BUFFER_MAX  (1024u << 10)         /* bytes buffered for a stream whose order is disturbed */
#define BCRI_LINK_PIECES_MAX  1024u                 /* pieces of a stream that arrived out of order */
#define BCRI_LINK_BEGUN_MAX   16384u                /* messages of a stream that have begun and not arrived */
#define BCRI_LINK_KEPT_MAX    (UINT64_C(64) << 20)  /* bytes of pieces, of all streams from the peer */
#define BCRI_LINK_IN_MAX      (UINT64_C(128) << 20) /* bytes of what else is remembered of those streams */
#define BCRI_LINK_GONE_MAX    256u         /* ends that are no more, of which the peer is still to learn */
#define BCRI_LINK_NUMBERS_MAX 64u          /* ranges of packet numbers that an acknowledgement names */
#define BCRI_LINK_FRAMES_MAX  128u         /* frames of a packet; one with more is malformed */
#define BCRI_LINK_SENT_MAX    (64u << 10)  /* packets remembered behind the oldest in flight */
#define BCRI_LINK_CHUNKS_MAX  (128u << 10) /* pieces of streams that those carried */
#define BCRI_LINK_PACKET_BASE 1200u        /* bytes of the first packets, which nearly every path carries */
#define BCRI_LINK_PACKET_MIN  256u         /* bytes of a packet that a path must carry */
#define BCRI_LINK_PACKET_MAX  65507u
#define BCRI_LINK_PACKET_COST 512u /* what a packet takes of a socket's memory besides its bytes */
#define BCRI_LINK_NEVER       UINT64_MAX

struct bcri_link;

enum bcri_link_outcome {
    BCRI_LINK_ARRIVED, /* the receiver's owner has the whole message */
    BCRI_LINK_REFUSED, /* the receiver's owner has refused it, and has nothing of it */
    BCRI_LINK_LOST     /* the link or the stream has ended, here or there; whether it arrived is not known */
};

enum bcri_link_verdict {
    BCRI_LINK_TAKE,   /* the body goes to `memory`, which may be NULL if it has no bytes */
    BCRI_LINK_REFUSE, /* the sender is told; `arrived` is not called */
    BCRI_LINK_PAUSE   /* nothing of this stream is begun until bcri_link_resume; then it is asked again */
};

/* A message whose header has come. `header` is valid during the call only. */
struct bcri_link_message {
    uint32_t source, target; /* the stream */
    uint32_t header_bytes;
    uint32_t body_bytes;
    const uint8_t *header;
    void *memory; /* set by the owner: body_bytes bytes that the engine may write until `arrived` or
                     `dropped` */
    void *cookie; /* set by the owner: what those two are called with */
    /* Set by the owner: what the message carries changes hands when it has arrived. From then on nothing goes to its
     * sender but with the word that it has, or behind it: if the link ends before that word has come, nothing has
     * come either of what was done with it. */
    bool changes_hands;
};

/* What the engine tells its owner, from within bcri_link_receive, _resume, _fill, _end_stream and
 * _free. None of these may call the link again but for bcri_link_send. */
struct bcri_link_events {
    /* May there be a stream from `source` there to `target` here? Asked when its first bytes come. If
     * not, the stream has ended: its sender's messages are LOST. It may be asked again, for late
     * packets and if the sender does not give up; the answer must stay the same. */
    bool (*accept)(void *owner, uint32_t source, uint32_t target);
    /* A message begins. Streams begin their messages in order; a message may begin before those
     * before it have arrived. */
    enum bcri_link_verdict (*begin)(void *owner, struct bcri_link_message *message);
    /* A message that was taken is there. In the order of its stream. */
    void (*arrived)(void *owner, uint32_t source, uint32_t target, void *cookie);
    /* A message that was taken will not come: the link or the stream has ended. */
    void (*dropped)(void *owner, uint32_t source, uint32_t target, void *cookie);
    /* A message that was sent is completed; its body is the owner's again. In the order of its stream. */
    void (*completed)(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome);
};

/* What carries the packets. */
struct bcri_link_carrier {
    uint32_t packet_max; /* bytes of a packet that it can carry at most */
    uint32_t room;       /* bytes that its receiving side holds for us, a packet counting as
                            BCRI_LINK_PACKET_COST more than it has: those in flight stay below */
};

struct bcri_link_config {
    uint32_t host, peer;   /* the numbers of the two hosts */
    uint16_t lane;         /* two hosts may have a link in each, with keys and numbers of its own */
    uint32_t packet_max;   /* the largest packet to send or accept; the smaller of both sides counts */
    uint64_t keepalive_ns; /* a link on which nothing was heard so long asks for an answer; 0: never */
    struct bcri_link_carrier carrier;
    const struct bcri_seal_secret *secret; /* the session's secret, the same on both sides; copied */
    uint64_t packets_per_key;              /* 0: BCRI_SEAL_PACKETS_PER_KEY */
    uint64_t forged_max;                   /* 0: bcri_seal_forged_max of the cipher */
};

/* Counted for people, and for tests. */
struct bcri_link_counts {
    uint64_t packets_sent, packets_received, bytes_sent, bytes_received;
    uint64_t refused;     /* packets that were not opened: short, long, foreign, altered, of an old key */
    uint64_t forged;      /* those of them that looked like the peer's until they were to be opened */
    uint64_t repeated;    /* packets that had come before, or were too old to tell */
    uint64_t malformed;   /* packets that opened and were nonsense */
    uint64_t lost;        /* packets that were declared lost */
    uint64_t probes;      /* times when no acknowledgement came in time */
    uint64_t resent;      /* bytes of streams that were sent again */
    uint64_t black_holes; /* times when large packets stopped passing */
    uint64_t rekeyed;     /* new keys for sending */
    uint64_t renewed;     /* other secrets */
};

/* Returns NULL if there is no memory. `events` and `owner` must outlive the link. */
struct bcri_link *bcri_link_new(const struct bcri_link_config *config, const struct bcri_link_events *events,
                                void *owner, uint64_t now);
/* Ends the link: messages that are not completed are LOST, those that are arriving are dropped. */
void bcri_link_free(struct bcri_link *link);

/* Queues a message. The header is copied; the body is borrowed until `completed`. Returns 0, -ENOMEM,
 * -EMSGSIZE if header or body are too long, or -ESHUTDOWN within bcri_link_free. */
int bcri_link_send(struct bcri_link *link, uint32_t source, uint32_t target, const void *header,
                   uint32_t header_bytes, const void *body, uint32_t body_bytes, void *cookie);
/* The receiver of a stream that it paused can take the next message: what has come begins. */
void bcri_link_resume(struct bcri_link *link, uint32_t source, uint32_t target, uint64_t now);
/* One of the stream's ends is no more: what is under way in it is LOST or dropped, here now, there
 * when the peer has learnt of it. The two ends may not be used again, and `accept` must refuse a stream
 * that was ended here. An owner whose ends have numbers that are used again does not end streams: it
 * says in the stream itself where one user's messages end. */
void bcri_link_end_stream(struct bcri_link *link, uint32_t source, uint32_t target);

/* Which host a packet says it is from, in `*host_out`: whose link it is to be given to. Nothing of it
 * is believed yet. Returns false if it is no packet of links. */
bool bcri_link_sender(const uint8_t *packet, size_t packet_bytes, uint32_t *host_out);
/* And for which lane, of such a packet. */
uint16_t bcri_link_lane(const uint8_t *packet);
/* Takes a packet that came; it is opened where it lies. Packets that are not the peer's, or that have
 * come before, change nothing but counts. Returns whether it is the peer's, and later than all that
 * came: then the peer is where it came from. Of a late packet that is not known: a stranger may
 * have kept it, and sent it from elsewhere. */
bool bcri_link_receive(struct bcri_link *link, uint8_t *packet, size_t packet_bytes, uint64_t now);
/* Writes the next packet to send into `packet`, which has BCRI_LINK_PACKET_MAX bytes, and returns
 * its length; 0 if there is nothing to send now. To be called until it returns 0 after each batch of
 * packets received, after sends, and when the deadline has come. */
size_t bcri_link_fill(struct bcri_link *link, uint8_t *packet, uint64_t now);
/* Writes a packet of BCRI_LINK_PACKET_MIN bytes that asks for an answer and carries nothing but answers: an owner sends it by
 * a way that it does not use, to see whether that carries the least. Returns its length; 0: not now. */
size_t bcri_link_try(struct bcri_link *link, uint8_t *packet, uint64_t now);
/* Whether the last of these packets was answered, by whichever way. */
bool bcri_link_try_passed(const struct bcri_link *link);
/* When bcri_link_fill is to be called at the latest; BCRI_LINK_NEVER. */
uint64_t bcri_link_deadline(const struct bcri_link *link);

/* Another carrier takes over. What was in flight on the last one is sent again. */
void bcri_link_use_carrier(struct bcri_link *link, const struct bcri_link_carrier *carrier, uint64_t now);
/* The same carrier holds `room` bytes for this link from now on: more or fewer links share it. */
void bcri_link_set_room(struct bcri_link *link, uint32_t room);
/* The next packet wants an answer, whatever it carries. */
void bcri_link_ping(struct bcri_link *link);

/* The latest time that a caller told: in an event, that of the call in which it happens, or a little more. */
uint64_t bcri_link_now(const struct bcri_link *link);
/* When the last packet that opened came; the time of its making before that. */
uint64_t bcri_link_heard_at(const struct bcri_link *link);
/* When the oldest packet was sent that wants an answer and has none; NEVER: all are answered. If that
 * is long ago, and nothing was heard since, the path is silent. */
uint64_t bcri_link_waits_since(struct bcri_link *link);
/* Whether so many forged packets came that the keys are not to be trusted further. Nothing is opened
 * any more until the link has others. */
bool bcri_link_is_worn_out(const struct bcri_link *link);
/* Whether half as many came: the two hosts should be introduced anew. */
bool bcri_link_wears_out(const struct bcri_link *link);
/* The two hosts were introduced anew: keys of another secret, here now, there at about the same time. What
 * is sealed with keys that the receiver has not, or not any more, is sent again. 0, or -ENOMEM: all is
 * as before. */
int bcri_link_renew(struct bcri_link *link, const struct bcri_seal_secret *secret, uint64_t now);
/* Bytes that the engine has for this link, its keys included. */
size_t bcri_link_memory(const struct bcri_link *link);
/* Whether everything sent is completed. */
bool bcri_link_is_idle(const struct bcri_link *link);
/* The packet size in use. */
uint32_t bcri_link_packet_bytes(const struct bcri_link *link);
/* Bytes of the largest packet that the path carries, if it was found to be less than BCRI_LINK_PACKET_BASE; else 0. */
uint32_t bcri_link_path_bytes(const struct bcri_link *link);
/* Whether the path carries small packets, but not those of BCRI_LINK_PACKET_MIN: another carrier is to take over. */
bool bcri_link_is_narrow(const struct bcri_link *link);
const struct bcri_link_counts *bcri_link_counts(const struct bcri_link *link);

#endif
