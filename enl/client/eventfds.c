/* SPDX-License-Identifier: MIT */
/* The eventfds by which this CCE wakes others (bcr_fd, bcr_wakefd).
 *
 * The daemon has all of them. A CCE that meets one for the first time tells the daemon, which writes it. If it meets
 * the same one again, it asks the daemon for a copy of the descriptor, too, and from then on writes it itself: so one that
 * wakes a thousand others once each keeps none, and one that wakes the same few goes no way round. It keeps at most
 * BCRI_EVENTFDS_KEPT; the one that it has not written for longest goes first.
 *
 * It does not wait for the copy, since it may hold the locks of the cell: then a daemon that is busy, or stopped, would hold up
 * the cell's owner. It asks before it tells, so when the wake has come its answer has, and the next ring finds it.
 *
 * A number (a cell's reference, or a record's) is given out again, and then means another eventfd. So each is kept
 * with its generation: the cell's, which the putter reads under the cell's locks together with ARMED, or a part of the
 * CCE's identity that differs from CCE to CCE. What is kept for another generation is of no use, and goes.
 *
 * The caller rings before it makes the arming over (both_locks.c, bell.h), so if it dies in between, or in here, the
 * daemon's repair finds it armed and rings. */
#include <errno.h>
#include <unistd.h>

#include "bcri/client.h"
#include "bcri/private.h"

enum { BCRI_EVENTFDS_KEPT = 64 };

struct kept {
    bcri_ref number; /* BCRI_REF_NONE: unused */
    uint64_t generation;
    uint64_t used;                /* when it was rung last, by bcri_client_eventfds.turn */
    bool asked;                   /* false: it was met once */
    struct bcri_client_call call; /* for the copy, which is its fd; -1: none yet */
};

struct bcri_client_eventfds {
    uint64_t turn;
    struct kept kept[BCRI_EVENTFDS_KEPT];
};

static int fd_of_cell(void *up, bcri_ref cell, int fd)
{
    struct bcri_control request = {.type = BCRI_MSG_fd_set, .present = BCRI_HAS(cell), .cell = cell};
    struct bcri_incoming in;
    return bcri_client_ask(up, &request, fd, &in);
}

static void forget(struct bcri_client *client, struct kept *kept)
{
    bcri_client_abandon(client, &kept->call);
    if (kept->number != BCRI_REF_NONE && kept->call.fd >= 0)
        close(kept->call.fd);
    *kept = (struct kept){.number = BCRI_REF_NONE, .call.fd = -1};
}

/* The entry of `number`, or the one that it may take; `met`: this generation has been met before. */
static struct kept *look_up(struct bcri_client_eventfds *fds, bcri_ref number, uint64_t generation, bool *met)
{
    struct kept *oldest = &fds->kept[0];
    for (int i = 0; i < BCRI_EVENTFDS_KEPT; i++) {
        struct kept *const kept = &fds->kept[i];
        if (kept->number == number) {
            *met = kept->generation == generation;
            return kept;
        }
        if (kept->used < oldest->used)
            oldest = kept;
    }
    *met = false;
    return oldest;
}

static bool ask_for_copy(struct bcri_client *client, struct kept *kept)
{
    struct bcri_control request = {.type = BCRI_MSG_fd_get, .present = BCRI_HAS(cell), .cell = kept->number};
    return bcri_client_begin(client, &kept->call, &request, NULL, 0) == 0;
}

/* Whether the copy is there. If the daemon has no such descriptor any more, or this process no number for it, that is
 * forgotten. */
static bool has_copy(struct bcri_client *client, struct kept *kept)
{
    if (!kept->call.answered && !kept->call.event.happened(&kept->call.event))
        return false;
    if (kept->call.fd < 0)
        forget(client, kept);
    return kept->call.fd >= 0;
}

/* Whether the eventfd was written by this CCE. */
static bool ring_directly(struct bcri_client *client, bcri_ref number, uint64_t generation)
{
    static const uint64_t one = 1;
    bool met;
    /* If the program closes descriptors that are not its own, these may be other files by now. */
    if (!bcri_client_has_socket(client))
        return false;
    if (client->eventfds == NULL &&
        (client->eventfds = bcri_private_zeroed(1, sizeof *client->eventfds)) == NULL)
        return false;
    struct kept *const kept = look_up(client->eventfds, number, generation, &met);
    if (!met) {
        forget(client, kept);
        kept->number = number;
        kept->generation = generation;
    }
    kept->used = ++client->eventfds->turn;
    if (met && !kept->asked)
        kept->asked = ask_for_copy(client, kept);
    else if (met && has_copy(client, kept))
        return write(kept->call.fd, &one, sizeof one) == sizeof one ||
               errno == EAGAIN; /* full: it is readable */
    return false;
}

static void ring(void *up, bcri_ref number, uint64_t generation)
{
    const struct bcri_control ring = {.type = BCRI_MSG_fd_ring, .present = BCRI_HAS(cell), .cell = number};
    if (!ring_directly(up, number, generation))
        bcri_client_tell(up, &ring, true);
}

const struct bcri_fd_upcalls bcri_client_fd_upcalls = {fd_of_cell, ring};
