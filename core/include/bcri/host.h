/* SPDX-License-Identifier: MIT */
/* The host segment: what all CCEs of a group (one program, one host, one archtype) map first.
 *
 *   off        part
 *     0        header: magic, layout signature, sizes, program name
 *   4096       record directory: segment number of each record segment (0: none yet)
 *   8192       segment table: one entry per segment number ever given out
 *
 * Only the daemon writes it, except for `area_gen` and for the frees that CCEs count in an entry.
 * Storing its `state` makes an entry visible. A segment number keeps its file, kind and size for
 * ever. The daemon gives it out again when no process can name anything in the segment any more.
 * The daemon reserves pages of the segment table before it uses an entry on them. All other
 * segments (records, cells, heaps, region IDs) are made by the process that needs them, sealed
 * against shrinking, and registered with the daemon, which keeps one descriptor of each and hands
 * out copies. */
#ifndef BCRI_HOST_H
#define BCRI_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/record.h"
#include "bcri/ref.h"

#define BCRI_HOST_MAGIC       0x42435231u /* "BCR1" */
#define BCRI_LAYOUT_VERSION   1u
#define BCRI_PROGRAM_NAME_MAX 128u
#define BCRI_HOST_NAME_MAX    64u
#define BCRI_HOST_SEG         0u

enum bcri_seg_kind {
    BCRI_SEG_HOST = 1, /* segment 0 */
    BCRI_SEG_RECORDS,
    BCRI_SEG_CELLS,  /* pages of headers of areas and cells, or of rings and nodes: enum bcri_page_sort */
    BCRI_SEG_HEAP,   /* region headers and data */
    BCRI_SEG_SLOTS,  /* region IDs beyond a record's first ones */
    BCRI_SEG_OUTBOX, /* what a CCE orders of the agent (cells/: outbox.h) */
};
enum bcri_seg_state { BCRI_SEG_UNUSED = 0, BCRI_SEG_LIVE, BCRI_SEG_GONE };

struct bcri_segment_shm {
    _Atomic uint32_t state;
    uint32_t kind;
    uint32_t owner;           /* index of the CCE that made it */
    _Atomic uint32_t awaited; /* written by enl, to be told when the low half of `frees` is this */
    uint64_t size_bytes;
    _Atomic uint64_t frees; /* blocks freed since the CCE that owns them ended */
};
static_assert(sizeof(struct bcri_segment_shm) == 32, "docs/layout/host.md");

struct bcri_host_shm {
    uint32_t magic;
    uint32_t layout; /* the daemon's layout signature (layout.h) */
    uint32_t archtype;
    uint32_t enl_pid;
    _Atomic uint32_t record_count; /* highest index given out + 1 */
    _Atomic uint32_t segment_count;
    _Atomic uint32_t cpus; /* on which the program's CCEs may run at the same time */
    uint32_t number;       /* of this host in its program, for identities (record.h); the root's has 0 */
    char program[BCRI_PROGRAM_NAME_MAX];
    _Atomic uint32_t area_gen; /* the generation that an area got last; CCEs count it up (cells/area.c) */
    _Atomic uint32_t idle_segments; /* numbers to give out again; if 0, CCEs do not ask */
    _Atomic uint32_t agent;         /* index of the agent's record; 0: no other host can be reached */
    char name[BCRI_HOST_NAME_MAX];  /* of this host, as people are told */
    _Atomic uint32_t ended;         /* CCEs here that have ended in whatever way */
    _Atomic uint64_t start_ns;      /* when the daemon began: nanoseconds since 1970 */
    _Atomic uint32_t failed;        /* of the ended, those whose end was abnormal */
    _Atomic uint32_t crashed;       /* of the failed, those that SIGSEGV or the like has ended */
    unsigned char pad[4096 - 64 - BCRI_PROGRAM_NAME_MAX - BCRI_HOST_NAME_MAX];
    _Atomic uint32_t record_seg[BCRI_RECORD_SEGS];
    struct bcri_segment_shm segments[BCRI_SEG_MAX];
};
/* How many records and segments have been given out. The result is within the tables even if the
 * shared count is corrupt. */
static inline uint32_t bcri_host_records(const struct bcri_host_shm *host)
{
    uint32_t count = bcri_load_acquire(&host->record_count);
    return count < BCRI_CCE_MAX ? count : BCRI_CCE_MAX;
}
static inline uint32_t bcri_host_segments(const struct bcri_host_shm *host)
{
    uint32_t count = bcri_load_acquire(&host->segment_count);
    return count < BCRI_SEG_MAX ? count : BCRI_SEG_MAX;
}
static_assert(offsetof(struct bcri_host_shm, record_seg) == 4096, "docs/layout/host.md");
static_assert(offsetof(struct bcri_host_shm, segments) == 8192, "docs/layout/host.md");
static_assert(BCRI_RECORD_SEGS * BCRI_RECORDS_PER_SEG >= BCRI_CCE_MAX, "record directory too small");

struct bcri_ctx;
struct bcri_eventfds;

/* The daemon's side: the registry of one group. Used by enl and, in one process, by the tests'
 * groups of threads. */
struct bcri_host;

/* Makes the host segment of host `number` of the program, with the layout signature that its CCEs
 * must have, and record 0 (the daemon's own). `*host_out` is given; bcri_host_fini() releases it.
 * Returns 0, bcrE_ARG (name too long, or no such number) or bcrE_NOMEM. */
int bcri_host_init(const char *program, uint32_t number, uint32_t layout, struct bcri_host **host_out);
void bcri_host_fini(struct bcri_host *host);
/* How sentences name this host (bcri_cce_text). To be called before any CCE maps the segment. */
void bcri_host_set_name(struct bcri_host *host, const char *name);

/* Counts a CCE that has ended, for those who look. */
void bcri_host_count_end(struct bcri_host *host, bool failed, bool crashed);

/* The daemon's own context (index 0), usable for cell and region operations on its thread.
 * Borrowed. */
struct bcri_ctx *bcri_host_ctx(struct bcri_host *host);
const struct bcri_host_shm *bcri_host_shared(struct bcri_host *host);

/* Registers a segment. Takes `fd` on success. The seals are checked (no shrink), and the size
 * against `size_bytes`: the descriptor may come from another process. Returns 0; bcrE_ARG;
 * bcrE_NOMEM (numbers or descriptors used up). */
int bcri_host_segment_add(struct bcri_host *host, int fd, uint64_t size_bytes, enum bcri_seg_kind kind,
                          uint32_t owner, uint32_t *seg_out);
/* The daemon's descriptor of a segment, borrowed; -1 if there is none. Not to be used while another
 * thread may drop the segment. */
int bcri_host_segment_fd(struct bcri_host *host, uint32_t seg);
/* Calls `visit`, with the registry locked, for each segment that a CCE has made and that still
 * exists. It goes by the daemon's private table, not by the shared one, which any CCE could have
 * overwritten. */
void bcri_host_segments_of(struct bcri_host *host, uint32_t owner,
                           void (*visit)(void *arg, uint32_t seg, enum bcri_seg_kind kind), void *arg);
/* How many numbers there are. At BCRI_SEG_MAX no segment can be added, but idle ones can be given
 * out again. */
uint32_t bcri_host_segment_count(struct bcri_host *host);
/* A copy of the segment's descriptor, which the caller closes; -1 if there is none. */
int bcri_host_segment_dup(struct bcri_host *host, uint32_t seg);
/* Gives back the pages of a segment that no process needs any more. A process that has it mapped
 * may still touch it; it reads as zero. With `keep` the segment can be reused later. Otherwise, or
 * if descriptors are short, its file is closed, and the number is lost to this program. */
void bcri_host_segment_drop(struct bcri_host *host, uint32_t seg, bool keep);
/* Makes a dropped segment available again: no process will touch it any more, and nothing names
 * anything in it. What was stored there meanwhile is discarded. */
void bcri_host_segment_reuse(struct bcri_host *host, uint32_t seg);
/* Gives out a number again, with its file, for a segment of exactly this kind and size. The segment
 * reads as zero, and nothing in it is reserved. False: there is none. */
bool bcri_host_segment_again(struct bcri_host *host, uint64_t size_bytes, enum bcri_seg_kind kind,
                             uint32_t owner, uint32_t *seg_out);

/* Pages of cells, in segments of the daemon. HEADERS pages hold headers of areas and cells, always
 * at the same offsets in each page (cells/: cell.h), so a word that was a lock once never becomes
 * anything else. RINGS pages hold what belongs to a cell beside its header; a page of them may
 * later be used for any other of these purposes. */
enum bcri_page_sort { BCRI_PAGE_HEADERS, BCRI_PAGE_RINGS, BCRI_PAGE_SORTS };
#define BCRI_PAGE_BYTES 4096u
#define BCRI_PAGES_MAX  (1u << 25) /* in one run: as many as a reference can reach */
struct bcri_pages {
    bcri_ref ref[BCRI_PAGE_SORTS]; /* where each run begins; BCRI_REF_NONE: none was asked for */
    int fd[BCRI_PAGE_SORTS];       /* of their segments; -1: none */
};
/* Gives CCE `owner` a run of pages of each sort, as many as `pages` says. None of them is reserved.
 * They read as zero, except that a CCE with an outdated resolved cell may lock words of HEADERS
 * pages. The descriptors are borrowed, as by bcri_host_segment_fd. Returns 0; bcrE_ARG;
 * bcrE_NOMEM. */
int bcri_host_pages_take(struct bcri_host *host, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                         struct bcri_pages *out);
/* Takes back runs that CCE `owner` does not need any more. Their memory goes at once, and any CCE
 * may get them next. A run that does not belong to `owner` is left alone. */
void bcri_host_pages_back(struct bcri_host *host, uint32_t owner, const bcri_ref ref[BCRI_PAGE_SORTS]);
bool bcri_host_has_pages(struct bcri_host *host, uint32_t owner);
/* Empties all pages that a CCE has. */
void bcri_host_pages_discard(struct bcri_host *host, uint32_t owner);
/* Makes the pages of an ended CCE available again. Only CCEs with an outdated resolved cell can
 * still name a cell there, and they find another generation. */
void bcri_host_pages_reuse(struct bcri_host *host, uint32_t owner);

/* The descriptors of armed cells, for the daemon's side of bcr_fd. Borrowed. */
struct bcri_eventfds *bcri_host_eventfds(struct bcri_host *host);

/* Gives out a record in state STARTING with a new identity. Returns 0; bcrE_NOMEM. It takes
 * constant time, however many records there are. */
int bcri_host_cce_add(struct bcri_host *host, uint32_t ordinal, uint32_t *index_out);
/* Gives a record back whose CCE is DEAD and repaired (or never came to life). */
void bcri_host_cce_release(struct bcri_host *host, uint32_t index);
/* The record of a CCE, or NULL if `index` was never given out. */
struct bcri_record_shm *bcri_host_record(struct bcri_host *host, uint32_t index);

#endif
