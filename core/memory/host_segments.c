/* SPDX-License-Identifier: MIT */
/* Numbers of segments: host.h.
 *
 *   --add--> LIVE --drop--> GONE --reuse--> IDLE --again--> LIVE
 *
 * A number keeps its file for the life of the program: a process that has mapped it in an earlier
 * use of the number has mapped the right file. Only the file's pages are given back: at drop, and
 * once more at reuse, since a transaction that was under way at the drop may have stored there. The
 * caller must make sure that a segment may be reused (cells/reclaim.h). */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/private.h"
#include "bcri/segment.h"
#include "host_private.h"

int bcri_host_room_for_number(struct bcri_host *host, uint32_t seg)
{
    if (seg >= host->segment_room) {
        size_t room = host->segment_room != 0 ? host->segment_room * 2 : 64;
        struct own_segment *segments = bcri_private_resize(host->segments, room * sizeof *segments);
        if (segments == NULL)
            return bcrE_NOMEM;
        for (size_t i = host->segment_room; i < room; i++)
            segments[i] = (struct own_segment){.fd = -1};
        host->segments = segments;
        host->segment_room = room;
    }
    uint64_t end =
        offsetof(struct bcri_host_shm, segments) + (uint64_t)(seg + 1) * sizeof(struct bcri_segment_shm);
    if (end > host->table_reserved) {
        uint64_t more = (end - host->table_reserved + BCRI_HOST_PAGE - 1) / BCRI_HOST_PAGE * BCRI_HOST_PAGE;
        int error = bcri_segment_reserve(host->segments[BCRI_HOST_SEG].fd, host->table_reserved, more);
        if (error != 0)
            return error;
        host->table_reserved += more;
    }
    return 0;
}

void bcri_host_publish(struct bcri_host *host, uint32_t seg, int fd, uint64_t size_bytes,
                       enum bcri_seg_kind kind, uint32_t owner)
{
    struct bcri_segment_shm *entry = &host->shared->segments[seg];
    host->segments[seg] = (struct own_segment){
        .fd = fd, .state = OWN_LIVE, .kind = kind, .owner = owner, .size_bytes = size_bytes};
    host->segment_count = seg + 1;
    host->open_files++;
    entry->kind = kind;
    entry->owner = owner;
    entry->size_bytes = size_bytes;
    bcri_store_release(&entry->state, BCRI_SEG_LIVE);
    bcri_store_release(&host->shared->segment_count, seg + 1);
}

int bcri_host_add_locked(struct bcri_host *host, int fd, uint64_t size_bytes, enum bcri_seg_kind kind,
                         uint32_t owner, uint32_t *seg_out)
{
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &status) != 0 ||
        (uint64_t)status.st_size != size_bytes || size_bytes == 0)
        return bcrE_ARG;
    uint32_t seg = host->segment_count;
    if (seg >= BCRI_SEG_MAX)
        return bcrE_NOMEM;
    int error = bcri_host_room_for_number(host, seg);
    if (error != 0)
        return error;
    bcri_host_publish(host, seg, fd, size_bytes, kind, owner);
    *seg_out = seg;
    return 0;
}

int bcri_host_segment_add(struct bcri_host *host, int fd, uint64_t size_bytes, enum bcri_seg_kind kind,
                          uint32_t owner, uint32_t *seg_out)
{
    pthread_mutex_lock(&host->mutex);
    int error = bcri_host_add_locked(host, fd, size_bytes, kind, owner, seg_out);
    pthread_mutex_unlock(&host->mutex);
    return error;
}

static int fd_of(const struct bcri_host *host, uint32_t seg)
{
    return seg < host->segment_room && host->segments[seg].state == OWN_LIVE ? host->segments[seg].fd : -1;
}

int bcri_host_segment_fd(struct bcri_host *host, uint32_t seg)
{
    pthread_mutex_lock(&host->mutex);
    int fd = fd_of(host, seg);
    pthread_mutex_unlock(&host->mutex);
    return fd;
}

void bcri_host_segments_of(struct bcri_host *host, uint32_t owner,
                           void (*visit)(void *arg, uint32_t seg, enum bcri_seg_kind kind), void *arg)
{
    pthread_mutex_lock(&host->mutex);
    for (uint32_t seg = 0; seg < host->segment_count; seg++)
        if (host->segments[seg].state == OWN_LIVE && host->segments[seg].owner == owner)
            visit(arg, seg, (enum bcri_seg_kind)host->segments[seg].kind);
    pthread_mutex_unlock(&host->mutex);
}

uint32_t bcri_host_segment_count(struct bcri_host *host)
{
    pthread_mutex_lock(&host->mutex);
    uint32_t count = host->segment_count;
    pthread_mutex_unlock(&host->mutex);
    return count;
}

int bcri_host_segment_dup(struct bcri_host *host, uint32_t seg)
{
    pthread_mutex_lock(&host->mutex);
    int fd = fd_of(host, seg);
    int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    pthread_mutex_unlock(&host->mutex);
    return copy;
}

bool bcri_host_punch(const struct bcri_host *host, uint32_t seg, uint64_t offset_bytes, uint64_t length_bytes)
{
    int rc;
    do
        rc = fallocate(host->segments[seg].fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       (off_t)offset_bytes, (off_t)length_bytes);
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

/* After this the number has no file, and is never given out again. */
static void close_file(struct bcri_host *host, uint32_t seg)
{
    struct own_segment *own = &host->segments[seg];
    close(own->fd);
    *own = (struct own_segment){.fd = -1};
    host->open_files--;
}

/* Files that are kept for another use must not take the descriptors that CCEs need now. Each CCE
 * costs the daemon more other descriptors than it makes segments. So segments that can all be in
 * use at the same time take fewer than half of the descriptors, and only beyond half files are
 * closed. */
static bool too_many_files(const struct bcri_host *host)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && host->open_files > limit.rlim_cur / 2;
}

void bcri_host_segment_drop(struct bcri_host *host, uint32_t seg, bool keep)
{
    pthread_mutex_lock(&host->mutex);
    if (seg != BCRI_HOST_SEG && fd_of(host, seg) >= 0) {
        struct own_segment *own = &host->segments[seg];
        bcri_store_release(&host->shared->segments[seg].state, BCRI_SEG_GONE);
        own->state = OWN_GONE;
        if (!bcri_host_punch(host, seg, 0, own->size_bytes) || !keep || too_many_files(host))
            close_file(host, seg);
    }
    pthread_mutex_unlock(&host->mutex);
}

/* The list of idle segments of this kind and size. NULL: there is none, or no memory to make
 * one. */
static struct idle_sort *sort_of(struct bcri_host *host, uint32_t kind, uint64_t size_bytes, bool make)
{
    for (size_t i = 0; i < host->idle_count; i++)
        if (host->idle[i].kind == kind && host->idle[i].size_bytes == size_bytes)
            return &host->idle[i];
    if (!make)
        return NULL;
    if (host->idle_count == host->idle_room) {
        size_t room = host->idle_room != 0 ? host->idle_room * 2 : 8;
        struct idle_sort *idle = bcri_private_resize(host->idle, room * sizeof *idle);
        if (idle == NULL)
            return NULL;
        host->idle = idle;
        host->idle_room = room;
    }
    host->idle[host->idle_count] = (struct idle_sort){.kind = kind, .size_bytes = size_bytes};
    return &host->idle[host->idle_count++];
}

static void count_idle(struct bcri_host *host, uint32_t more)
{
    host->idle_segments += more;
    bcri_store(&host->shared->idle_segments, host->idle_segments);
}

void bcri_host_segment_reuse(struct bcri_host *host, uint32_t seg)
{
    pthread_mutex_lock(&host->mutex);
    if (seg < host->segment_room && host->segments[seg].state == OWN_GONE) {
        struct own_segment *own = &host->segments[seg];
        struct idle_sort *sort = sort_of(host, own->kind, own->size_bytes, true);
        if (sort == NULL || !bcri_host_punch(host, seg, 0, own->size_bytes)) {
            close_file(host, seg);
        } else {
            own->state = OWN_IDLE;
            own->next_idle = sort->first;
            sort->first = seg;
            count_idle(host, 1);
        }
    }
    pthread_mutex_unlock(&host->mutex);
}

bool bcri_host_segment_again(struct bcri_host *host, uint64_t size_bytes, enum bcri_seg_kind kind,
                             uint32_t owner, uint32_t *seg_out)
{
    pthread_mutex_lock(&host->mutex);
    struct idle_sort *sort = sort_of(host, kind, size_bytes, false);
    uint32_t seg = sort != NULL ? sort->first : 0;
    if (seg != 0) {
        struct own_segment *own = &host->segments[seg];
        sort->first = own->next_idle;
        own->state = OWN_LIVE;
        own->owner = owner;
        host->shared->segments[seg].owner = owner;
        bcri_store_release(&host->shared->segments[seg].state, BCRI_SEG_LIVE);
        count_idle(host, UINT32_MAX);
        *seg_out = seg;
    }
    pthread_mutex_unlock(&host->mutex);
    return seg != 0;
}
