/* SPDX-License-Identifier: MIT */
/* The registry's own memory; host.c, host_segments.c and host_pages.c only. The daemon relies on
 * this, not on the shared tables, which every CCE can write. */
#ifndef BCR_HOST_PRIVATE_H
#define BCR_HOST_PRIVATE_H

#include <pthread.h>
#include <stddef.h>

#include "bcri/ctx.h"
#include "bcri/host.h"

#define BCRI_HOST_PAGE 4096u

/* LIVE: the segment is in use. GONE: no process needs it, but one may still be about to touch it.
 * IDLE: no process will touch it, and its number can be given out again. A number whose file was
 * closed is OWN_NONE here and stays GONE in the shared table. */
enum own_state { OWN_NONE, OWN_LIVE, OWN_GONE, OWN_IDLE };

struct own_segment {
    int fd; /* -1: there is none */
    enum own_state state;
    uint32_t kind, owner;
    uint32_t next_idle; /* IDLE: the next one of its sort; 0: none */
    uint64_t size_bytes;
};

/* Segments that can be given out again, by kind and size. */
struct idle_sort {
    uint32_t kind;
    uint32_t first; /* 0: none */
    uint64_t size_bytes;
};

struct pages; /* host_pages.c */

struct bcri_host {
    struct bcri_ctx ctx;
    pthread_mutex_t mutex; /* segments, pages, numbers, free lists; the shared tables' writers */
    struct bcri_host_shm *shared;
    struct own_segment *segments; /* by number */
    size_t segment_room;
    uint32_t segment_count, record_count; /* given out; published in `shared` */
    uint32_t open_files;                  /* of segments */
    uint32_t number;                      /* of this host in its program */
    uint64_t table_reserved;              /* bytes of the host segment that are reserved */
    struct idle_sort *idle;
    size_t idle_count, idle_room;
    uint32_t idle_segments;
    struct pages *pages;
    struct bcri_record_shm *records[BCRI_RECORD_SEGS];
    uint32_t record_seg[BCRI_RECORD_SEGS]; /* their segments */
    uint32_t *free_records;
    size_t free_count, free_room;
    struct bcri_eventfds *eventfds;
};

/* Call these with the mutex held, or before any other thread knows the registry. */
int bcri_host_room_for_number(struct bcri_host *host, uint32_t seg);
void bcri_host_publish(struct bcri_host *host, uint32_t seg, int fd, uint64_t size_bytes,
                       enum bcri_seg_kind kind, uint32_t owner);
int bcri_host_add_locked(struct bcri_host *host, int fd, uint64_t size_bytes, enum bcri_seg_kind kind,
                         uint32_t owner, uint32_t *seg_out);
/* Gives the pages of a range back; the range then reads as zero. False: the system refuses. */
bool bcri_host_punch(const struct bcri_host *host, uint32_t seg, uint64_t offset_bytes,
                     uint64_t length_bytes);

struct pages *bcri_pages_init(void);
void bcri_pages_fini(struct pages *pages);

#endif
