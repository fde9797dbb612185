/* SPDX-License-Identifier: MIT */
/* Segments: see segment.h. Linux only: memfd_create(2), file seals, fallocate(2). */
#include "bcri/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/corrupt.h"
#include "bcri/ctx.h"
#include "bcri/descriptor.h"
#include "bcri/failure.h"
#include "bcri/machine.h"
#include "bcri/private.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* A reservation below this is not worth reading /proc: fallocate itself refuses when memory is
 * really out. */
#define ASK_FROM_BYTES (UINT64_C(256) << 10)

/* A file size limit (ulimit -f) holds for memory files too, and exceeding it raises SIGXFSZ. That
 * must be an error of one call, not the end of the process. The signal comes to this thread before
 * ftruncate returns. */
static int set_size(int fd, uint64_t size_bytes)
{
    sigset_t beyond, before;
    sigemptyset(&beyond);
    sigaddset(&beyond, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &beyond, &before);
    int rc = ftruncate(fd, (off_t)size_bytes);
    if (rc != 0 && errno == EFBIG && !sigismember(&before, SIGXFSZ))
        while (sigtimedwait(&beyond, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int bcri_segment_create(uint64_t size_bytes)
{
    if (size_bytes == 0 || size_bytes > (UINT64_C(1) << 32) * BCRI_REF_UNIT ||
        (uint64_t)(off_t)size_bytes != size_bytes)
        return -bcrE_NOMEM;
    int fd = bcri_descriptor_aside(memfd_create("bcr", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const char *failed = fd < 0                               ? "memfd_create"
                         : set_size(fd, size_bytes) != 0      ? "ftruncate"
                         : fcntl(fd, F_ADD_SEALS, SEALS) != 0 ? "fcntl"
                                                              : NULL;
    if (failed == NULL)
        return fd;
    bcri_failure_note(failed);
    if (fd >= 0)
        close(fd);
    return -bcrE_NOMEM;
}

int bcri_segment_reserve(int fd, uint64_t offset_bytes, uint64_t length_bytes)
{
    if (length_bytes == 0)
        return 0;
    if (length_bytes >= ASK_FROM_BYTES) {
        if (length_bytes > bcri_machine_memory_left(""))
            return bcrE_NOMEM;
    }
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)offset_bytes, (off_t)length_bytes);
    while (rc != 0 && errno == EINTR);
    if (rc != 0)
        bcri_failure_note("fallocate");
    return rc == 0 ? 0 : bcrE_NOMEM;
}

/* How much private memory lies behind each segment of the daemon. A corrupt reference may name the
 * last units of a segment, where an object of several units has no room. What the daemon then reads
 * beyond the end is zero at first, and what it stores there reaches no other segment. */
static uint64_t behind_bytes(const struct bcri_ctx *ctx)
{
    return ctx->upcalls->of_daemon ? BCRI_PAGE_BYTES : 0;
}

/* The file is mapped over the first part of the private memory. NULL: no room. */
static void *map_file(const struct bcri_ctx *ctx, int fd, uint64_t size_bytes)
{
    const uint64_t behind = behind_bytes(ctx);
    if (size_bytes > SIZE_MAX - behind)
        return NULL;
    unsigned char *room = NULL;
    if (behind != 0) {
        room = mmap(NULL, (size_t)(size_bytes + behind), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED) {
            bcri_failure_note("mmap");
            return NULL;
        }
    }
    void *base = mmap(room, (size_t)size_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (room != NULL ? MAP_FIXED : 0), fd, 0);
    if (base != MAP_FAILED)
        return base;
    bcri_failure_note("mmap");
    if (room != NULL)
        munmap(room, (size_t)(size_bytes + behind));
    return NULL;
}

static void unmap_file(const struct bcri_ctx *ctx, void *base, uint64_t size_bytes)
{
    munmap(base, (size_t)(size_bytes + behind_bytes(ctx)));
}

static void mapped(struct bcri_ctx *ctx, uint32_t seg, void *base, uint64_t size_bytes)
{
    ctx->map[seg] = (struct bcri_mapping){base, size_bytes / BCRI_REF_UNIT};
}

void *bcri_segment_map_fd(struct bcri_ctx *ctx, uint32_t seg, int fd, uint64_t size_bytes)
{
    struct stat status;
    if (size_bytes == 0)
        return NULL;
    /* A store behind the end of the file would raise SIGBUS, so the sizes must agree. The file's
     * size never changes. */
    if (fstat(fd, &status) != 0 || (uint64_t)status.st_size != size_bytes) {
        bcri_corrupt(ctx, "the entry of a segment", bcri_ref_make(seg, 0));
        return NULL;
    }
    void *base = map_file(ctx, fd, size_bytes);
    if (base == NULL)
        return NULL;
    mapped(ctx, seg, base, size_bytes);
    return base;
}

static void give_back(struct bcri_ctx *ctx, int fd)
{
    if (ctx->upcalls->segment_fd_back != NULL)
        ctx->upcalls->segment_fd_back(ctx->up, fd);
    else
        close(fd);
}

void *bcri_segment_map(struct bcri_ctx *ctx, uint32_t seg)
{
    if (seg >= BCRI_SEG_MAX)
        return NULL;
    if (ctx->map[seg].base != NULL)
        return ctx->map[seg].base;
    const struct bcri_segment_shm *entry = &ctx->host->segments[seg];
    if (seg >= bcri_host_segments(ctx->host) || bcri_load_acquire(&entry->state) != BCRI_SEG_LIVE)
        return NULL;
    int fd = ctx->upcalls->segment_fd(ctx->up, seg);
    if (fd < 0)
        return NULL;
    void *base = bcri_segment_map_fd(ctx, seg, fd, entry->size_bytes);
    give_back(ctx, fd);
    return base;
}

/* Remembers a segment for the next use. Without memory for that it stays unused until this CCE
 * ends. */
static void note_kept(struct bcri_ctx *ctx, uint32_t seg, enum bcri_seg_kind kind, uint64_t size_bytes)
{
    if (ctx->kept.count == ctx->kept.room) {
        size_t room = ctx->kept.room != 0 ? ctx->kept.room * 2 : 4;
        struct bcri_segment_kept *kept = bcri_private_resize(ctx->kept.list, room * sizeof *kept);
        if (kept == NULL)
            return;
        ctx->kept.list = kept;
        ctx->kept.room = room;
    }
    ctx->kept.list[ctx->kept.count++] =
        (struct bcri_segment_kept){.seg = seg, .kind = kind, .size_bytes = size_bytes};
}

void bcri_segment_keep(struct bcri_ctx *ctx, uint32_t seg, enum bcri_seg_kind kind, uint64_t size_bytes)
{
    bcri_segment_discard(ctx, seg, 0, size_bytes);
    note_kept(ctx, seg, kind, size_bytes);
}

static bool take_kept(struct bcri_ctx *ctx, enum bcri_seg_kind kind, uint64_t size_bytes, uint32_t *seg_out)
{
    for (size_t i = 0; i < ctx->kept.count; i++) {
        if (ctx->kept.list[i].kind != kind || ctx->kept.list[i].size_bytes != size_bytes)
            continue;
        *seg_out = ctx->kept.list[i].seg;
        ctx->kept.list[i] = ctx->kept.list[--ctx->kept.count];
        return true;
    }
    return false;
}

/* Gets a number that is used again. It still has its file, which may be mapped here since its last
 * use. */
static bool take_again(struct bcri_ctx *ctx, enum bcri_seg_kind kind, uint64_t size_bytes, uint32_t *seg_out)
{
    return take_kept(ctx, kind, size_bytes, seg_out) ||
           (ctx->upcalls->segment_again != NULL && bcri_load(&ctx->host->idle_segments) != 0 &&
            ctx->upcalls->segment_again(ctx->up, size_bytes, kind, seg_out) == 0);
}

static int use_again(struct bcri_ctx *ctx, enum bcri_seg_kind kind, uint64_t size_bytes,
                     uint64_t reserve_bytes, uint32_t seg)
{
    int fd = ctx->upcalls->segment_fd(ctx->up, seg), error = -fd;
    if (fd >= 0) {
        error = bcri_segment_reserve(fd, 0, reserve_bytes);
        if (error == 0 && ctx->map[seg].base == NULL && bcri_segment_map_fd(ctx, seg, fd, size_bytes) == NULL)
            error = bcrE_NOMEM;
        give_back(ctx, fd);
    }
    if (error != 0)
        note_kept(ctx, seg, kind, size_bytes);
    return error;
}

int bcri_segment_new(struct bcri_ctx *ctx, enum bcri_seg_kind kind, uint64_t size_bytes,
                     uint64_t reserve_bytes, uint32_t *seg_out)
{
    if (take_again(ctx, kind, size_bytes, seg_out))
        return use_again(ctx, kind, size_bytes, reserve_bytes, *seg_out);
    int fd = bcri_segment_create(size_bytes);
    if (fd < 0)
        return -fd;
    int error = bcri_segment_reserve(fd, 0, reserve_bytes);
    if (error != 0)
        goto close_fd;
    void *base = map_file(ctx, fd, size_bytes);
    if (base == NULL) {
        error = bcrE_NOMEM;
        goto close_fd;
    }
    uint32_t seg;
    error = ctx->upcalls->segment_add(ctx->up, fd, size_bytes, kind, &seg);
    if (error != 0)
        goto unmap;
    mapped(ctx, seg, base, size_bytes);
    *seg_out = seg;
    return 0;

unmap:
    unmap_file(ctx, base, size_bytes);
close_fd:
    close(fd);
    return error;
}

int bcri_segment_extend(struct bcri_ctx *ctx, uint32_t seg, uint64_t offset_bytes, uint64_t length_bytes)
{
    int fd = ctx->upcalls->segment_fd(ctx->up, seg);
    if (fd < 0)
        return bcrE_NOMEM;
    int error = bcri_segment_reserve(fd, offset_bytes, length_bytes);
    give_back(ctx, fd);
    return error;
}

void bcri_segment_pages_back(struct bcri_ctx *ctx, const bcri_ref ref[BCRI_PAGE_SORTS])
{
    ctx->upcalls->pages_back(ctx->up, ref);
}

int bcri_segment_pages_take(struct bcri_ctx *ctx, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                            bcri_ref ref_out[BCRI_PAGE_SORTS])
{
    struct bcri_pages got;
    int error = ctx->upcalls->pages_take(ctx->up, owner, pages, &got);
    if (error != 0)
        return error;
    for (int sort = 0; sort < BCRI_PAGE_SORTS; sort++) {
        const uint32_t seg = bcri_ref_seg(got.ref[sort]);
        if (got.fd[sort] >= 0 && error == 0)
            error = bcri_segment_reserve(got.fd[sort], bcri_ref_offset(got.ref[sort]),
                                         (uint64_t)pages[sort] * BCRI_PAGE_BYTES);
        if (got.fd[sort] >= 0 && error == 0 && ctx->map[seg].base == NULL &&
            bcri_segment_map_fd(ctx, seg, got.fd[sort], ctx->host->segments[seg].size_bytes) == NULL)
            error = bcrE_NOMEM;
        if (got.fd[sort] >= 0)
            give_back(ctx, got.fd[sort]);
        else if (pages[sort] != 0)
            error = bcrE_NOMEM; /* no descriptor came: this process may have none left */
    }
    if (error != 0 && owner == ctx->index)
        bcri_segment_pages_back(ctx, got.ref);
    for (int sort = 0; sort < BCRI_PAGE_SORTS && error == 0; sort++)
        ref_out[sort] = got.ref[sort];
    return error;
}

void bcri_segment_discard(struct bcri_ctx *ctx, uint32_t seg, uint64_t offset_bytes, uint64_t length_bytes)
{
    if (length_bytes == 0)
        return;
    /* MADV_REMOVE would need no descriptor, but it refuses locked memory, and qemu-user reports
     * success without doing anything. */
    int fd = ctx->upcalls->segment_fd(ctx->up, seg), rc = -1;
    if (fd >= 0) {
        do
            rc = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset_bytes,
                           (off_t)length_bytes);
        while (rc != 0 && errno == EINTR);
        give_back(ctx, fd);
    }
    unsigned char *base = rc != 0 ? bcri_segment_map(ctx, seg) : NULL;
    if (base != NULL)
        memset(base + offset_bytes, 0, (size_t)length_bytes);
}

/* Model: again.pml */
void bcri_segment_freed(struct bcri_ctx *ctx, uint32_t seg)
{
    struct bcri_segment_shm *entry = &ctx->host->segments[seg];
    uint64_t before = atomic_fetch_add_explicit(&entry->frees, 1, memory_order_seq_cst);
    uint32_t awaited = atomic_load_explicit(&entry->awaited, memory_order_seq_cst);
    if ((uint32_t)(before + 1) == awaited && ctx->upcalls->segment_freed != NULL)
        ctx->upcalls->segment_freed(ctx->up, seg);
}

void bcri_segment_unmap(struct bcri_ctx *ctx, uint32_t seg)
{
    struct bcri_mapping *map = &ctx->map[seg];
    if (map->base == NULL)
        return;
    unmap_file(ctx, map->base, map->units * BCRI_REF_UNIT);
    *map = (struct bcri_mapping){NULL, 0};
}

void bcri_segment_unmap_all(struct bcri_ctx *ctx)
{
    for (uint32_t seg = 0; seg < BCRI_SEG_MAX; seg++)
        bcri_segment_unmap(ctx, seg);
}
