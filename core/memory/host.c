/* SPDX-License-Identifier: MIT */
/* The registry of one group: host.h. One mutex serves the daemon's threads; CCEs read the shared
 * tables without it. */
#include "bcri/host.h"
#include "bcri/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/archtype.h"
#include "bcri/eventfds.h"
#include "bcri/failure.h"
#include "bcri/machine.h"
#include "bcri/private.h"
#include "bcri/segment.h"
#include "host_private.h"

#define RECORD_SEG_BYTES ((uint64_t)BCRI_RECORDS_PER_SEG * BCRI_RECORD_BYTES)

static int up_segment_again(void *up, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_again(up, size_bytes, kind, BCRI_ENL_INDEX, seg_out) ? 0 : bcrE_NOCELL;
}
static int up_segment_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_add(up, fd, size_bytes, kind, BCRI_ENL_INDEX, seg_out);
}
/* The descriptor is lent, not copied, so that the daemon can repair even when it has no descriptor
 * to spare. This is safe, because only the worker's thread drops segments, and that thread is the
 * one that asks here. */
static int up_segment_fd(void *up, uint32_t seg)
{
    int fd = bcri_host_segment_fd(up, seg);
    return fd >= 0 ? fd : -bcrE_NOMEM;
}
static void up_segment_fd_back(void *up, int fd)
{
    (void)up;
    (void)fd;
}
static int up_pages_take(void *up, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                         struct bcri_pages *out)
{
    return bcri_host_pages_take(up, owner, pages, out);
}
static void up_pages_back(void *up, const bcri_ref ref[BCRI_PAGE_SORTS])
{
    bcri_host_pages_back(up, BCRI_ENL_INDEX, ref);
}
static const struct bcri_upcalls own_upcalls = {.segment_add = up_segment_add,
                                                .segment_again = up_segment_again,
                                                .segment_fd = up_segment_fd,
                                                .segment_fd_back = up_segment_fd_back,
                                                .pages_take = up_pages_take,
                                                .pages_back = up_pages_back,
                                                .of_daemon = true};

static int up_fd_set(void *up, bcri_ref cell, int fd)
{
    (void)up;
    (void)cell;
    (void)fd;
    return bcrE_ACCESS; /* the daemon has no cells of its own */
}
static void up_fd_ring(void *up, bcri_ref cell, uint64_t generation)
{
    (void)generation; /* the table has today's */
    bcri_eventfds_ring(((struct bcri_host *)up)->eventfds, cell);
}
static const struct bcri_fd_upcalls own_fd_upcalls = {up_fd_set, up_fd_ring};

/* Makes sure that the page range of record `index` exists and is reserved. */
static int record_room(struct bcri_host *host, uint32_t index)
{
    uint32_t group = index / BCRI_RECORDS_PER_SEG;
    uint64_t offset = (uint64_t)(index % BCRI_RECORDS_PER_SEG) * BCRI_RECORD_BYTES;
    if (host->records[group] == NULL) {
        int fd = bcri_segment_create(RECORD_SEG_BYTES);
        if (fd < 0)
            return bcrE_NOMEM;
        void *base = mmap(NULL, RECORD_SEG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        uint32_t seg;
        if (base == MAP_FAILED)
            bcri_failure_note("mmap");
        if (base == MAP_FAILED ||
            bcri_host_add_locked(host, fd, RECORD_SEG_BYTES, BCRI_SEG_RECORDS, BCRI_ENL_INDEX, &seg) != 0) {
            if (base != MAP_FAILED)
                munmap(base, RECORD_SEG_BYTES);
            close(fd);
            return bcrE_NOMEM;
        }
        host->records[group] = base;
        host->record_seg[group] = seg;
        bcri_store_release(&host->shared->record_seg[group], seg);
    }
    return bcri_segment_reserve(host->segments[host->record_seg[group]].fd, offset, BCRI_RECORD_BYTES);
}

static int fill_identity(struct bcri_identity_shm *id, uint32_t host_number, uint32_t index)
{
    if (getrandom(id->identity, BCRI_IDENTITY_BYTES, 0) != BCRI_IDENTITY_BYTES) {
        bcri_failure_note("getrandom");
        return bcrE_NOMEM;
    }
    bcri_identity_name(id->identity, host_number, index);
    return 0;
}

/* Makes a record as good as new. The worker may be walking the list of areas of this record
 * meanwhile, as it walks those of all records. From here on it finds no area, or it finds another
 * version and looks again; so the version must change after the list's head and before the rest.
 * The version and lock_event go on counting, so that no CCE takes the new CCE for the old one. */
static void clear_record(struct bcri_record_shm *record)
{
    enum { WORDS = sizeof *record / sizeof(uint32_t) };
    const size_t version = offsetof(struct bcri_record_shm, id.version) / sizeof(uint32_t);
    const size_t event = offsetof(struct bcri_record_shm, bell.lock_event) / sizeof(uint32_t);
    _Atomic uint32_t *words = (_Atomic uint32_t *)(void *)record;
    bcri_store(&record->id.first_area, BCRI_REF_NONE);
    atomic_store_explicit(&record->id.version, (bcri_load(&record->id.version) + 2u) & ~1u,
                          memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    for (size_t i = 0; i < WORDS; i++)
        if (i != version && i != event)
            bcri_store(&words[i], 0);
    atomic_fetch_add_explicit(&record->bell.lock_event, 1, memory_order_seq_cst);
}

int bcri_host_cce_add(struct bcri_host *host, uint32_t ordinal, uint32_t *index_out)
{
    pthread_mutex_lock(&host->mutex);
    uint32_t index = host->free_count != 0 ? host->free_records[host->free_count - 1] : host->record_count;
    int error = index < BCRI_CCE_MAX ? record_room(host, index) : bcrE_NOMEM;
    struct bcri_record_shm *record = error == 0 ? bcri_host_record(host, index) : NULL;
    if (record != NULL) {
        clear_record(record);
        error = fill_identity(&record->id, host->number, index);
        record->id.index = index;
        record->id.ordinal = ordinal;
        record->id.archtype = host->shared->archtype;
        if (error == 0) {
            bcri_store_release(&record->id.state, BCRI_CCE_STARTING);
            if (host->free_count != 0)
                host->free_count--;
            else
                bcri_store_release(&host->shared->record_count, host->record_count = index + 1);
            *index_out = index;
        }
    }
    pthread_mutex_unlock(&host->mutex);
    return error;
}

void bcri_host_cce_release(struct bcri_host *host, uint32_t index)
{
    pthread_mutex_lock(&host->mutex);
    if (host->free_count == host->free_room) {
        size_t room = host->free_room != 0 ? host->free_room * 2 : 64;
        uint32_t *list = bcri_private_resize(host->free_records, room * sizeof *list);
        if (list != NULL) {
            host->free_records = list;
            host->free_room = room;
        }
    }
    if (host->free_count < host->free_room) { /* without room the record is not used again */
        bcri_store_release(&bcri_host_record(host, index)->id.state, BCRI_CCE_FREE);
        host->free_records[host->free_count++] = index;
    }
    pthread_mutex_unlock(&host->mutex);
}

struct bcri_record_shm *bcri_host_record(struct bcri_host *host, uint32_t index)
{
    if (index >= BCRI_CCE_MAX || host->records[index / BCRI_RECORDS_PER_SEG] == NULL)
        return NULL;
    return &host->records[index / BCRI_RECORDS_PER_SEG][index % BCRI_RECORDS_PER_SEG];
}

struct bcri_eventfds *bcri_host_eventfds(struct bcri_host *host)
{
    return host->eventfds;
}

struct bcri_ctx *bcri_host_ctx(struct bcri_host *host)
{
    return &host->ctx;
}
const struct bcri_host_shm *bcri_host_shared(struct bcri_host *host)
{
    return host->shared;
}

/* Segment 0, and entry 0 of the table in it. */
static int make_host_segment(struct bcri_host *host, const char *program, uint32_t layout)
{
    uint64_t first = (offsetof(struct bcri_host_shm, segments) + BCRI_HOST_PAGE);
    int fd = bcri_segment_create(sizeof(struct bcri_host_shm));
    if (fd < 0)
        return bcrE_NOMEM;
    void *base = MAP_FAILED;
    if (bcri_segment_reserve(fd, 0, first) == 0)
        base = mmap(NULL, sizeof(struct bcri_host_shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        if (bcri_failure_errno() == 0)
            bcri_failure_note("mmap");
        close(fd);
        return bcrE_NOMEM;
    }
    host->shared = base;
    host->table_reserved = first;
    if (bcri_host_room_for_number(host, BCRI_HOST_SEG) != 0) {
        close(fd);
        return bcrE_NOMEM;
    }
    host->shared->magic = BCRI_HOST_MAGIC;
    host->shared->layout = layout;
    host->shared->number = host->number;
    host->shared->archtype = (uint32_t)bcri_archtype_native();
    host->shared->enl_pid = (uint32_t)getpid();
    bcri_store(&host->shared->cpus, bcri_machine_cpus());
    bcri_store(&host->shared->start_ns, bcri_clock_unix_ns());
    strcpy(host->shared->program, program);
    bcri_host_publish(host, BCRI_HOST_SEG, fd, sizeof(struct bcri_host_shm), BCRI_SEG_HOST, BCRI_ENL_INDEX);
    return 0;
}

int bcri_host_init(const char *program, uint32_t number, uint32_t layout, struct bcri_host **host_out)
{
    if (strlen(program) >= BCRI_PROGRAM_NAME_MAX || number > BCRI_HOST_NUMBER_MAX)
        return bcrE_ARG;
    struct bcri_host *host = bcri_ctx_alloc(sizeof *host);
    if (host == NULL)
        return bcrE_NOMEM;
    host->number = number;
    pthread_mutex_init(&host->mutex, NULL);
    host->eventfds = bcri_eventfds_init();
    host->pages = bcri_pages_init();
    int error =
        host->eventfds != NULL && host->pages != NULL ? make_host_segment(host, program, layout) : bcrE_NOMEM;
    uint32_t index = 0;
    if (error == 0)
        error = bcri_host_cce_add(host, 0, &index);
    if (error == 0)
        error =
            bcri_ctx_init(&host->ctx, host->segments[BCRI_HOST_SEG].fd, index, layout, &own_upcalls, host);
    if (error != 0) {
        bcri_host_fini(host);
        return error;
    }
    host->ctx.fd_upcalls = &own_fd_upcalls;
    bcri_store(&host->ctx.record->id.pid, (uint32_t)getpid());
    bcri_store_release(&host->ctx.record->id.state, BCRI_CCE_ALIVE);
    *host_out = host;
    return 0;
}

void bcri_host_set_name(struct bcri_host *host, const char *name)
{
    snprintf(host->shared->name, sizeof host->shared->name, "%s", name);
}

void bcri_host_count_end(struct bcri_host *host, bool failed, bool crashed)
{
    struct bcri_host_shm *shared = host->shared;
    bcri_store(&shared->ended, bcri_load(&shared->ended) + 1);
    bcri_store(&shared->failed, bcri_load(&shared->failed) + failed);
    bcri_store(&shared->crashed, bcri_load(&shared->crashed) + crashed);
}

void bcri_host_fini(struct bcri_host *host)
{
    if (host == NULL)
        return;
    bcri_ctx_fini(&host->ctx);
    for (size_t i = 0; i < BCRI_RECORD_SEGS; i++)
        if (host->records[i] != NULL)
            munmap(host->records[i], RECORD_SEG_BYTES);
    if (host->shared != NULL)
        munmap(host->shared, sizeof(struct bcri_host_shm));
    for (size_t i = 0; i < host->segment_room; i++)
        if (host->segments[i].fd >= 0)
            close(host->segments[i].fd);
    bcri_eventfds_fini(host->eventfds);
    bcri_pages_fini(host->pages);
    bcri_private_free(host->idle);
    bcri_private_free(host->segments);
    bcri_private_free(host->free_records);
    pthread_mutex_destroy(&host->mutex);
    bcri_private_free(host);
}
