/* SPDX-License-Identifier: MIT */
/* The two pipes to a neighbour in the tree of daemons: the one that has started this one, or one
 * that this one has started. What they carry is in frames (bcri/frames.h).
 *
 * A write never waits: libuv keeps what the pipe does not take. A neighbour that reads nothing until
 * forty megabytes wait loses the connection, as all peers do. What CCEs print waits in a list of its
 * own, of which one frame at a time is given to libuv when that has nothing else: control overtakes
 * output. The window of output.h bounds that list.
 *
 * A neighbour may also be reached by way of others (docs/protocol.md, "Routing"): such a peer has no pipes of
 * its own. What is sent to it goes into the pipe of another peer with the number of its host; what comes from it
 * the owner of that pipe gets.
 *
 * Or by the tree's lane (bcri/link_thread.h), a link to its host: then all of that goes there.
 *
 * What is sent to a peer may be numbered (sequence.h), so that it outlives the way that it takes.
 *
 * What brings the program key lies in secret memory (secret.h) until it is written; so does what has
 * come. Both are wiped. */
#ifndef ENL_PEER_H
#define ENL_PEER_H

#include <stdbool.h>

#include "bcri/frames.h"
#include "carry/carry.h"

struct enl_carry;
struct enl_peer;
struct enl_sequence;

struct enl_peer_ops {
    /* A message has come. Returns NULL, or why the connection must end. It may close the peer. */
    const char *(*came)(void *owner, const struct bcri_control *message);
    /* Nothing more comes, or what comes makes no sense: `why`, as the end of a sentence. The peer is
     * still there. */
    void (*ended)(void *owner, const char *why);
    /* Something could not be sent, so nothing is sent any more, and the pipe to it has been closed. NULL: nothing is done
     * about it, and the pipe stays. */
    void (*deaf)(void *owner);
};

/* What its command has printed where no daemon ever spoke, as a line "it printed: ..."; "" if it has not. */
#define ENL_PRINTED "it printed: "
enum { ENL_PRINTED_MAX = 320 };
void enl_peer_printed(const struct enl_peer *peer, char out[ENL_PRINTED_MAX]);

/* Takes both descriptors. `begun`: what has been read of the stream already; the magic word is
 * written. NULL: nothing is. Returns NULL if there is no memory or they are no pipes; they are
 * closed then. */
struct enl_peer *enl_peer_new(struct enl_carry *carry, int in, int out, const struct bcri_frames *begun,
                              const struct enl_peer_ops *ops, void *owner);
/* A peer that is reached by way of `via`, as host `to`. NULL: no memory. */
struct enl_peer *enl_peer_new_by(struct enl_carry *carry, struct enl_peer *via, uint32_t to);
/* A peer that is reached by the tree's lane to `host`. NULL: no memory. */
struct enl_peer *enl_peer_new_by_lane(struct enl_carry *carry, uint32_t host, const struct enl_peer_ops *ops,
                                      void *owner);
/* A message has come from it in the lane. */
void enl_peer_came(struct enl_peer *peer, const uint8_t *content, uint32_t bytes);
/* From now on what is sent is numbered by `sequence`, which the owner keeps; or its numbers go on by this peer. */
void enl_peer_number(struct enl_peer *peer, struct enl_sequence *sequence);
/* Copies of what was numbered may have been dropped: looks whether enl_peer_flush is done. */
void enl_peer_acknowledged(struct enl_peer *peer);
/* Changes the way; `via` NULL: there is none, and what is sent is dropped. */
void enl_peer_go_by(struct enl_peer *peer, struct enl_peer *via);
/* Whether something has come from there, or from a host that is reached by the same pipes, and is not read. */
bool enl_peer_has_unread(struct enl_peer *peer);
/* The peer whose pipes lead there; NULL: there is no way. */
struct enl_peer *enl_peer_pipes(struct enl_peer *peer);
void enl_peer_send(struct enl_peer *peer, const struct bcri_control *message);
/* Sends what may be overtaken: a CCE's output. */
void enl_peer_send_output(struct enl_peer *peer, const struct bcri_control *message);
/* Sends a packet of a link (tree/carried.h) likewise; drops it if much waits that may be overtaken. */
void enl_peer_send_packet(struct enl_peer *peer, const struct bcri_control *message);
/* Sends a message of another daemon's by whichever of these is right for its type. */
void enl_peer_forward(struct enl_peer *peer, const struct bcri_control *message);
/* The same for the message that has just come from `from`, byte for byte. */
void enl_peer_pass(struct enl_peer *peer, const struct enl_peer *from, enum bcri_control_type type);
/* Sends bytes that are no frame, before the first frame is sent; takes them (malloc). Calls `written` when
 * the pipe has taken them; with false, and for the last time, if it does not or the peer is closed. */
void enl_peer_send_raw(struct enl_peer *peer, char *bytes, size_t length,
                       void (*written)(void *data, bool goes_on), void *data);
/* Calls `done` when all is written (if it is numbered: when the other side has said that it has had it), or cannot
 * be; at once if nothing waits. */
void enl_peer_flush(struct enl_peer *peer, void (*done)(void *data), void *data);
/* Closes the pipes. Neither ops nor `done` is called any more. */
void enl_peer_close(struct enl_peer *peer);

#endif
