/* SPDX-License-Identifier: MIT */
/* The eventfds by which this CCE wakes others (bcr_fd, bcr_wakefd).
 *
 * The daemon has all of them. A CCE that meets one for the first time tells the daemon, which writes it. If it meets
 * the same one again, it asks the daemon for a copy of the descriptor, and from then on writes it itself: so one that
 * wakes a thousand others once each keeps none, and one that wakes the same few goes no way round. It keeps at most
 * BCRI_EVENTFDS_KEPT; the one that it has not written for longest goes first.
 *
 * A number (a cell's reference, or a record's) is given out again, and then means another eventfd. So each is kept
 * with its generation: the cell's, which the putter reads under the cell's locks together with ARMED, or a part of the
 * CCE's identity that differs from CCE to CCE. What is kept for another generation is of no use, and goes.
 *
 * The caller rings before it makes the arming over (both_locks.c, bell.h), so if it dies in between, or in here, the
 * daemon's repair finds it armed and rings. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "bcri/client.h"
#include "bcri/descriptor.h"
#include "bcri/private.h"

enum { BCRI_EVENTFDS_KEPT = 64 };

struct kept {
    bcri_ref number; /* BCRI_REF_NONE: unused */
    uint64_t generation;
    uint64_t used; /* when it was rung last, by bcri_client_eventfds.turn */
    int fd;        /* -1: it was met once */
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

static void forget(struct kept *kept)
{
    if (kept->number != BCRI_REF_NONE && kept->fd >= 0)
        close(kept->fd);
    *kept = (struct kept){.number = BCRI_REF_NONE, .fd = -1};
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

/* A copy of the daemon's descriptor; -1: it has none any more, or this process has no number left for it. */
static int ask_for_copy(struct bcri_client *client, bcri_ref number)
{
    struct bcri_control request = {.type = BCRI_MSG_fd_get, .present = BCRI_HAS(cell), .cell = number};
    struct bcri_incoming in;
    if (bcri_client_call(client, &request, -1, &in) != 0)
        return -1;
    const int fd = bcri_incoming_take(&in, 0);
    bcri_incoming_close(&in);
    return bcri_descriptor_aside(fd);
}

/* Whether the eventfd was written by this CCE. */
static bool ring_directly(struct bcri_client *client, bcri_ref number, uint64_t generation)
{
    static const uint64_t one = 1;
    if (client->eventfds == NULL &&
        (client->eventfds = bcri_private_zeroed(1, sizeof *client->eventfds)) == NULL)
        return false;
    bool met;
    struct kept *const kept = look_up(client->eventfds, number, generation, &met);
    if (!met) {
        forget(kept);
        kept->number = number;
        kept->generation = generation;
    } else if (kept->fd < 0 && (kept->fd = ask_for_copy(client, number)) < 0) {
        forget(kept);
        return false;
    }
    kept->used = ++client->eventfds->turn;
    if (kept->fd < 0)
        return false;
    if (!bcri_client_has_socket(client)) {
        /* The program closes descriptors that are not its own: this one may be another file by now, too. */
        kept->fd = -1;
        return false;
    }
    if (write(kept->fd, &one, sizeof one) < 0)
        (void)0; /* its counter is full: then it is readable */
    return true;
}

static void ring(void *up, bcri_ref number, uint64_t generation)
{
    const struct bcri_control ring = {.type = BCRI_MSG_fd_ring, .present = BCRI_HAS(cell), .cell = number};
    if (!ring_directly(up, number, generation))
        bcri_client_tell(up, &ring, true);
}

const struct bcri_fd_upcalls bcri_client_fd_upcalls = {fd_of_cell, ring};
