/* SPDX-License-Identifier: MIT */
/* See eventfds.h. A sorted array, because look-ups are far more frequent than additions: a cell is
 * armed many times but gets its descriptor once. */
#include "bcri/eventfds.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/private.h"

struct entry {
    bcri_ref cell;
    uint32_t owner;
    int fd;
};

struct bcri_eventfds {
    pthread_mutex_t mutex;
    struct entry *entry;
    size_t count, room;
};

struct bcri_eventfds *bcri_eventfds_init(void)
{
    struct bcri_eventfds *fds = bcri_private_zeroed(1, sizeof *fds);
    if (fds != NULL)
        pthread_mutex_init(&fds->mutex, NULL);
    return fds;
}

void bcri_eventfds_fini(struct bcri_eventfds *fds)
{
    if (fds == NULL)
        return;
    for (size_t i = 0; i < fds->count; i++)
        close(fds->entry[i].fd);
    bcri_private_free(fds->entry);
    pthread_mutex_destroy(&fds->mutex);
    bcri_private_free(fds);
}

/* Where `cell` is, or would be. */
static size_t find(const struct bcri_eventfds *fds, bcri_ref cell)
{
    size_t low = 0, high = fds->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fds->entry[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct bcri_eventfds *fds, size_t i, bcri_ref cell)
{
    return i < fds->count && fds->entry[i].cell == cell;
}

static void remove_at(struct bcri_eventfds *fds, size_t i)
{
    close(fds->entry[i].fd);
    fds->count--;
    memmove(&fds->entry[i], &fds->entry[i + 1], (fds->count - i) * sizeof fds->entry[0]);
}

static int insert_at(struct bcri_eventfds *fds, size_t i, struct entry entry)
{
    if (fds->count == fds->room) {
        size_t room = fds->room != 0 ? 2 * fds->room : 16;
        struct entry *list = bcri_private_resize(fds->entry, room * sizeof *list);
        if (list == NULL)
            return bcrE_NOMEM;
        fds->entry = list;
        fds->room = room;
    }
    memmove(&fds->entry[i + 1], &fds->entry[i], (fds->count - i) * sizeof fds->entry[0]);
    fds->entry[i] = entry;
    fds->count++;
    return 0;
}

int bcri_eventfds_set(struct bcri_eventfds *fds, bcri_ref cell, uint32_t owner, int fd)
{
    pthread_mutex_lock(&fds->mutex);
    size_t i = find(fds, cell);
    int error = 0;
    if (is_at(fds, i, cell))
        remove_at(fds, i);
    if (fd >= 0)
        error = insert_at(fds, i, (struct entry){cell, owner, fd});
    pthread_mutex_unlock(&fds->mutex);
    return error;
}

void bcri_eventfds_ring(struct bcri_eventfds *fds, bcri_ref cell)
{
    static const uint64_t one = 1;
    pthread_mutex_lock(&fds->mutex);
    size_t i = find(fds, cell);
    /* The eventfd does not block. If its counter is full the write fails, but then it is readable
     * already. */
    if (is_at(fds, i, cell) && write(fds->entry[i].fd, &one, sizeof one) < 0)
        (void)0;
    pthread_mutex_unlock(&fds->mutex);
}

int bcri_eventfds_dup(struct bcri_eventfds *fds, bcri_ref cell)
{
    pthread_mutex_lock(&fds->mutex);
    const size_t i = find(fds, cell);
    const int fd = is_at(fds, i, cell) ? fcntl(fds->entry[i].fd, F_DUPFD_CLOEXEC, 3) : -1;
    pthread_mutex_unlock(&fds->mutex);
    return fd;
}

void bcri_eventfds_drop(struct bcri_eventfds *fds, uint32_t owner)
{
    pthread_mutex_lock(&fds->mutex);
    for (size_t i = fds->count; i-- > 0;)
        if (fds->entry[i].owner == owner)
            remove_at(fds, i);
    pthread_mutex_unlock(&fds->mutex);
}
