/* SPDX-License-Identifier: MIT */
/* How the members of a team that nobody starts (BCR_AWAIT) and the daemons of their hosts meet, whichever comes first.
 *
 *   bcr-await-UID-KEY-RANK   a member listens there until its daemon has connected
 *   bcr-claim-UID-KEY-RANK   the daemon listens there, for as long as it has or awaits that member
 *   bcr-taken-UID-KEY-RANK   the member has this one as long as it lives; no process connects to it
 *
 * Each makes its own address first, and then connects to the other's, once: the member only to be noticed, whereupon
 * the daemon tries again. Of the two that look the later one finds the other's address there. So neither looks again
 * and again, and whoever is killed leaves nothing, since these addresses go with their processes. That an address can
 * be made once (claim, taken) tells of a second process with the same rank, and of a second program with the same key.
 *
 * Any user's process can make such addresses, and connect to them: each side looks at the other's user, as the
 * kernel has it, before it reads or writes a byte. */
#ifndef BCRI_RENDEZVOUS_H
#define BCRI_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#define BCRI_AWAIT_KEY_MAX 48u

enum bcri_rendezvous_side { BCRI_RENDEZVOUS_MEMBER, BCRI_RENDEZVOUS_DAEMON, BCRI_RENDEZVOUS_TAKEN };

/* Whether that is a key: 1 to BCRI_AWAIT_KEY_MAX letters, digits, dots, underscores and hyphens. */
bool bcri_rendezvous_is_key(const char *text);

/* Listens at that side's address. Returns the socket, which does not block, or -errno; -EADDRINUSE: another process does. */
int bcri_rendezvous_listen(enum bcri_rendezvous_side side, const char *key, uint32_t rank);

/* Connects to that side's address, without waiting. Returns the socket, which brings credentials, or -errno;
 * -ECONNREFUSED: nobody listens there; -EAGAIN: too many wait there; -EPERM: a process of another user does. */
int bcri_rendezvous_connect(enum bcri_rendezvous_side side, const char *key, uint32_t rank);

/* Takes a connection of a process of this user, or of root. Returns it, or -errno; -EAGAIN: none is there; -EPERM: it was
 * another user's. */
int bcri_rendezvous_accept(int listening);

#endif
