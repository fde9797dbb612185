/* SPDX-License-Identifier: MIT */
/* Control messages through a socket: one message a record, descriptors and the sender's credentials
 * beside it. */
#ifndef BCRI_CHANNEL_H
#define BCRI_CHANNEL_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "bcri/control.h"

/* A message that came. `message` has views into `bytes`. Descriptors are the receiver's,
 * close-on-exec, -1 where none came. */
struct bcri_incoming {
    struct bcri_control message;
    int fds[BCRI_CONTROL_FDS_MAX];
    pid_t pid; /* of the sender, if the socket has SO_PASSCRED; else 0 */
    uid_t uid;
    const char *wrong; /* why the message is malformed; NULL: it is not */
    bool poor;         /* only because this process has no number left for the descriptors that it brings */
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
};

/* A connected pair: [0] the daemon's end, close-on-exec, asking for credentials; [1] close-on-exec
 * too. Returns 0 or -errno. */
int bcri_channel_pair(int fds_out[2]);

/* The abstract address of program `program` of user `uid`. Returns its length, 0 if the name is too
 * long. */
socklen_t bcri_channel_address(struct sockaddr_un *address, uid_t uid, const char *program);
/* The prefix of the addresses of that user's programs, without the leading NUL, as /proc/net/unix
 * shows it. */
int bcri_channel_prefix(uid_t uid, char *out, size_t capacity);

/* Connects to a program's daemon and checks that it runs under this user (or root). Waits at most
 * `patience_ms` (not 0) while many others wait to be accepted, as they do if a daemon is stopped.
 * Returns the descriptor, -ECONNREFUSED if there is no such program, -EAGAIN if time is up, or
 * another -errno. */
int bcri_channel_connect(const char *program, unsigned patience_ms);

/* Sends `message` with `fd_count` descriptors (borrowed). With `wait` it blocks while the socket is
 * full. Returns 0; -EMSGSIZE: the message cannot be encoded; -EPIPE or another -errno. EINTR is
 * never returned, SIGPIPE never raised. */
int bcri_channel_send(int fd, const struct bcri_control *message, const int *fds, unsigned fd_count,
                      bool wait);

/* Sends an encoded message; otherwise the same. For a signal handler, which has a small stack: the message may
 * lie elsewhere. */
int bcri_channel_send_bytes(int fd, const uint8_t *bytes, size_t length, const int *fds, unsigned fd_count,
                            bool wait);

/* Receives one message. Returns 1; 0 at the end of the connection; -EAGAIN (only without `wait`),
 * or another -errno. The end comes behind all that the peer has sent, whatever that had not read.
 * More descriptors than the type allows are closed and make the message malformed. */
int bcri_channel_recv(int fd, struct bcri_incoming *in, bool wait);

/* Closes the descriptors that are left in `in`. */
void bcri_incoming_close(struct bcri_incoming *in);
/* Takes descriptor `which` out of `in`. */
int bcri_incoming_take(struct bcri_incoming *in, unsigned which);

#endif
