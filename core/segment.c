/* SPDX-License-Identifier: MIT */
/* Segments: see segment.h. Linux only: memfd_create(2), file seals, fallocate(2). */
#include "bcri/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/ctx.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Reservations below this are not worth reading /proc for: fallocate itself refuses when memory is really out. */
#define ASK_FROM_BYTES (UINT64_C(256) << 10)

/* A file size limit (ulimit -f) holds for memory files too, and going beyond it raises a signal: that is to be an
 * error of one call, not the end of the process. The signal comes to this thread, before ftruncate returns. */
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
    int fd = memfd_create("bcr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -bcrE_NOMEM;
    if (set_size(fd, size_bytes) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
        close(fd);
        return -bcrE_NOMEM;
    }
    return fd;
}

/* The first number behind `key` in a small kernel file (the whole file's number for key ""), in units of one; UINT64_MAX
 * if there is none ("max", a missing file). */
static uint64_t kernel_number(const char *path, const char *key)
{
    char text[8192];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return UINT64_MAX;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return UINT64_MAX;
    text[got] = '\0';
    const char *at = *key != '\0' ? strstr(text, key) : text;
    if (at == NULL)
        return UINT64_MAX;
    char *end = NULL;
    unsigned long long value = strtoull(at + strlen(key), &end, 10);
    return end == at + strlen(key) ? UINT64_MAX : value;
}

/* A memory controller, of version 2 or 1 of the control groups. */
struct memory_controller {
    const char *mount, *limit, *used;
};
static const struct memory_controller unified = {"/sys/fs/cgroup", "memory.max", "memory.current"};
static const struct memory_controller legacy = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                                "memory.usage_in_bytes"};

/* What the group at `group` and all above it may still take. Cuts `group` short. */
static uint64_t group_left(const struct memory_controller *controller, char *group)
{
    uint64_t left = UINT64_MAX;
    for (;;) {
        char path[4200];
        snprintf(path, sizeof path, "%s%s/%s", controller->mount, group, controller->limit);
        uint64_t limit = kernel_number(path, "");
        snprintf(path, sizeof path, "%s%s/%s", controller->mount, group, controller->used);
        uint64_t used = kernel_number(path, "");
        if (limit != UINT64_MAX && used != UINT64_MAX) {
            uint64_t room = limit > used ? limit - used : 0;
            left = room < left ? room : left;
        }
        char *parent = strrchr(group, '/');
        if (parent == NULL || *group == '\0')
            return left;
        *parent = '\0';
    }
}

/* What the control groups that this process is in may still take. */
static uint64_t cgroup_left(void)
{
    char line[4096];
    uint64_t left = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL)
        return left;
    while (fgets(line, sizeof line, file) != NULL) {
        char *group = strchr(line, ':');
        group = group != NULL ? strchr(group + 1, ':') : NULL;
        if (group == NULL)
            continue;
        bool is_unified = strncmp(line, "0::", 3) == 0;
        if (!is_unified && strstr(line, ":memory:") == NULL)
            continue;
        group++;
        group[strcspn(group, "\n")] = '\0';
        if (strcmp(group, "/") == 0)
            *group = '\0';
        uint64_t room = group_left(is_unified ? &unified : &legacy, group);
        left = room < left ? room : left;
    }
    fclose(file);
    return left;
}

int bcri_segment_reserve(int fd, uint64_t offset_bytes, uint64_t length_bytes)
{
    if (length_bytes == 0)
        return 0;
    if (length_bytes >= ASK_FROM_BYTES) {
        uint64_t available_kb = kernel_number("/proc/meminfo", "MemAvailable:");
        if (available_kb != UINT64_MAX && length_bytes > available_kb * 1024)
            return bcrE_NOMEM;
        if (length_bytes > cgroup_left())
            return bcrE_NOMEM;
    }
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)offset_bytes, (off_t)length_bytes);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : bcrE_NOMEM;
}

static void mapped(struct bcri_ctx *ctx, uint32_t seg, void *base, uint64_t size_bytes)
{
    ctx->map[seg] = (struct bcri_mapping){base, size_bytes / BCRI_REF_UNIT};
}

void *bcri_segment_map_fd(struct bcri_ctx *ctx, uint32_t seg, int fd, uint64_t size_bytes)
{
    struct stat status;
    if (size_bytes == 0 || size_bytes > SIZE_MAX)
        return NULL;
    /* Behind the end of the file nothing can be touched. Files do not change in size. */
    if (fstat(fd, &status) != 0 || (uint64_t)status.st_size != size_bytes) {
        ctx->damaged = true;
        return NULL;
    }
    void *base = mmap(NULL, (size_t)size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
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

int bcri_segment_new(struct bcri_ctx *ctx, enum bcri_seg_kind kind, uint64_t size_bytes,
                     uint64_t reserve_bytes, uint32_t *seg_out)
{
    int fd = bcri_segment_create(size_bytes);
    if (fd < 0)
        return -fd;
    int error = bcri_segment_reserve(fd, 0, reserve_bytes);
    if (error != 0)
        goto close_fd;
    void *base = mmap(NULL, (size_t)size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
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
    munmap(base, (size_t)size_bytes);
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

void bcri_segment_discard(struct bcri_ctx *ctx, uint32_t seg, uint64_t offset_bytes, uint64_t length_bytes)
{
    if (length_bytes == 0)
        return;
    /* MADV_REMOVE needs no descriptor, but refuses memory that is locked, and qemu-user says yes and does nothing. */
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
    munmap(map->base, (size_t)(map->units * BCRI_REF_UNIT));
    *map = (struct bcri_mapping){NULL, 0};
}

void bcri_segment_unmap_all(struct bcri_ctx *ctx)
{
    for (uint32_t seg = 0; seg < BCRI_SEG_MAX; seg++)
        bcri_segment_unmap(ctx, seg);
}
